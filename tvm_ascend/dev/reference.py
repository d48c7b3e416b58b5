# SPDX-License-Identifier: Apache-2.0
"""Reference pages printed from the code: ``python -m tvm_ascend.dev.reference --out DIR``."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from tvm_ascend import errors
from tvm_ascend.hw import CHECKED_CHIPS, CHIPS
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Instr, Param
from tvm_ascend.isa.table import TABLE
from tvm_ascend.options import Options, SimOptions
from tvm_ascend.pipeline import STAGES
from tvm_ascend.target import MODEL_OF_TAG


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    escaped = [tuple(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows]
    lines = [head, tuple("---" for _ in head), *escaped]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _range(param: Param) -> str:
    if param.values:
        return ", ".join(param.values)
    if param.low is None and param.high is None:
        return "any"
    return f"{param.low} .. {param.high}"


def _instruction(row: Instr) -> str:
    operands = [
        (o.name, o.rw, ", ".join(space.value for space in o.spaces), o.dtype, f"`{o.span}`")
        for o in row.operands
    ]
    params = [(p.name, p.type, _range(p)) for p in row.params]
    dtypes = "; ".join(", ".join(choice) for choice in row.dtypes) or "none"
    cores = ", ".join(core.value for core in row.core)
    types = ", ".join(row.types) or "no types"
    arguments = ", ".join([o.name for o in row.operands] + [p.name for p in row.params])
    parts = [
        f"## {row.key}",
        row.doc,
        f"    T.ascend.{row.key}({arguments})",
        f"Ascend C: `{row.emit}`",
        *(f"From CANN {new.cann}: `{new.emit}`" for new in row.renamed),
        f"Pipe {row.pipe.value}, cores {cores}; {types}: {dtypes}.",
    ]
    if operands:
        head = ("operand", "access", "space", "dtype", "elements")
        parts.append(_table(head, operands))
    if params:
        parts.append(_table(("parameter", "type", "allowed"), params))
    if row.lane:
        parts.append(f"Meaning of a lane: `{row.lane}`.")
    timing = row.timing and f"vector timing `{row.timing}` of the chip"
    parts.append(f"Time: {timing or f'`{row.cycles}` cycles'}. Source: {row.source}.")
    return "\n\n".join(parts)


def instructions() -> str:
    """One section per row of the instruction table, grouped by pipe."""
    by_pipe: dict[str, list[Instr]] = {}
    for row in TABLE.values():
        by_pipe.setdefault(row.pipe.value, []).append(row)
    index = [
        (pipe, ", ".join(f"[{row.key}](#{row.key})" for row in rows))
        for pipe, rows in by_pipe.items()
    ]
    sections = [_instruction(row) for rows in by_pipe.values() for row in rows]
    return "\n\n".join(["# Instructions", _table(("pipe", "rows"), index), *sections])


def _tags_of(chip: ChipSpec) -> str:
    return ", ".join(f"`{tag}`" for tag, model in MODEL_OF_TAG.items() if model == chip.name)


def chips() -> str:
    """The chips and the tags that name them."""
    rows = [
        (
            chip.title,
            _tags_of(chip),
            str(chip.aic_cores),
            str(chip.aiv_cores),
            f"{chip.clock_hz / 1e6:.0f}",
            str(chip.ub_bytes),
            str(chip.l1_bytes),
            str(chip.l0c_bytes),
        )
        for chip in CHIPS.values()
    ]
    head = ("chip", "tags", "Cube cores", "Vector cores", "MHz", "UB", "L1", "L0C (bytes)")
    checked = [
        (
            chip.title,
            _tags_of(chip),
            *(str(chip.physical_bytes(space)) for space in ("ub", "l1", "l0c", "bt", "fb")),
            ", ".join(f"`{name}`" for name in chip.deltas.absent),
            "; ".join(chip.deltas.not_modelled),
        )
        for chip in CHECKED_CHIPS.values()
        if chip.deltas is not None
    ]
    checked_head = ("chip", "tag", "UB", "L1", "L0C", "BT", "FB (bytes)", "absent", "not modelled")
    return (
        f"# Chips\n\n{_table(head, rows)}\n\n## Checked only\n\nKernels are checked against the "
        "memories and instructions of these chips and then refused, because a part of them is not "
        f"modelled.\n\n{_table(checked_head, checked)}"
    )


def stages() -> str:
    """The stages in order, with the passes that lead to each and what they do."""
    parts = ["# Stages"]
    for stage, passes in STAGES.items():
        parts.append(f"## {stage}")
        parts += [f"### {make.__name__}\n\n{inspect.getdoc(make) or ''}" for make in passes]
    return "\n\n".join(parts)


def messages() -> str:
    """The errors a user can meet."""
    classes = [
        cls
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.AscendError)
    ]
    rows = [(cls.__name__, cls.__mro__[1].__name__, inspect.getdoc(cls) or "") for cls in classes]
    return f"# Errors\n\n{_table(('class', 'is a', 'raised for'), rows)}"


def settings() -> str:
    """The options of a compilation and of a simulation."""
    texts = {cls.__name__: inspect.getdoc(cls) or "" for cls in (Options, SimOptions)}
    parts = [f"## {name}\n\n{textwrap.indent(text, '    ')}" for name, text in texts.items()]
    return "\n\n".join(["# Options", *parts])


PAGES = {
    "instructions.md": instructions,
    "chips.md": chips,
    "stages.md": stages,
    "errors.md": messages,
    "options.md": settings,
}


def main() -> int:
    """Write every page."""
    parser = argparse.ArgumentParser(prog="python -m tvm_ascend.dev.reference", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/docs"), help="folder for the pages")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (out / name).write_text(make() + "\n")
    print(f"wrote {', '.join(PAGES)} to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
