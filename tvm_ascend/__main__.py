# SPDX-License-Identifier: Apache-2.0
"""``python -m tvm_ascend <verb>``; a wrong command line ends with exit code 2."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_KERNEL = "a PrimFunc, a compiled kernel, or a function without arguments that returns one"


def _doctor(arguments: argparse.Namespace) -> int:
    from .doctor import main

    return main(as_json=arguments.json)


def _demo(arguments: argparse.Namespace) -> int:
    from .demo import run
    from .errors import PathNotWritable

    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser().error(str(PathNotWritable("--out", arguments.out, error.strerror or error)))
    return run(arguments.out, trials=arguments.trials, as_json=arguments.json)


def _prove_sync(arguments: argparse.Namespace) -> int:
    from .dev.prove_main import main

    module, given = _named(arguments.kernel)
    return main(module, given, as_json=arguments.json)


def _why_tile(arguments: argparse.Namespace) -> int:
    from .dev.tiles import main

    _, given = _named(arguments.kernel)
    return main(given, as_json=arguments.json)


def _named(text: str) -> tuple[ModuleType, Any]:
    """The module and the value that ``FILE.py:NAME`` names."""
    from .dev.kernel_file import load, parse_place

    return load(parse_place(text))


def _positive(text: str) -> int:
    """A number of things to do."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no integer from 1 on")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line of the package."""
    top = argparse.ArgumentParser(prog="python -m tvm_ascend", description=__doc__)
    verbs = top.add_subparsers(dest="verb", required=True)
    doctor = verbs.add_parser("doctor", help="what this machine has, and what mends what it lacks")
    doctor.set_defaults(run=_doctor)
    demo = verbs.add_parser("demo", help="compile, run, tune and explain real kernels")
    demo.add_argument("--out", type=Path, default=Path("build/demo"), help="folder for the results")
    demo.add_argument("--trials", type=_positive, default=64, help="candidates the tuner measures")
    demo.set_defaults(run=_demo)
    prove = verbs.add_parser("prove-sync", help="show that every flag and barrier is needed")
    prove.add_argument(
        "kernel",
        metavar="FILE.py:NAME",
        help=f"{_KERNEL}; a function `inputs` of the file gives the arguments, else they are "
        "random",
    )
    prove.set_defaults(run=_prove_sync)
    why = verbs.add_parser("why-tile", help="the chosen tile, the runners-up, and why not others")
    why.add_argument("kernel", metavar="FILE.py:NAME", help=_KERNEL)
    why.set_defaults(run=_why_tile)
    for verb in (doctor, demo, prove, why):
        verb.add_argument("--json", action="store_true", help="print JSON instead of text")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one verb and return its exit code: 1 where the package refuses, 2 for a wrong command."""
    chosen = parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except argparse.ArgumentTypeError as error:
        parser().error(str(error))
    except Exception as error:
        from .errors import AscendError

        if not isinstance(error, AscendError):
            raise
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
