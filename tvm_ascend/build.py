# SPDX-License-Identifier: Apache-2.0
"""``compile``: from a function to a callable kernel, through the disk cache."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import tvm
from tvm import tirx
from tvm.target import Target

from tvm_ascend import cache
from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.codegen.program import build_program
from tvm_ascend.codegen.walk import dtype_of, written_params
from tvm_ascend.errors import (
    NotAKernelError,
    SymbolicShapeError,
    UnknownExecutorError,
    compiling,
)
from tvm_ascend.options import Options, SimOptions, options_or_default, require
from tvm_ascend.pipeline import lower
from tvm_ascend.runtime.arguments import ParamInfo, bind, check_out_idx
from tvm_ascend.runtime.report import Report
from tvm_ascend.runtime.simulator import SimulatorExecutor
from tvm_ascend.runtime.twin import TwinExecutor
from tvm_ascend.schedule.tiling import Tiling
from tvm_ascend.target import as_target, chip_of
from tvm_ascend.transform.sync.untaken import unmatched_flags

__all__ = ["Artifact", "Kernel", "compile"]


class Choices(NamedTuple):
    """What the compiler chose for a kernel: the rule, its decisions, and the tiles it ranked."""

    rule: str
    decisions: Mapping[str, Any]
    tiling: Mapping[str, Any] | None


@dataclass(frozen=True)
class Artifact:
    """Everything a compilation makes, as plain values that the disk cache can hold."""

    name: str
    chip: str
    params: tuple[ParamInfo, ...]
    stages: Mapping[str, str] = field(repr=False)
    source: str = field(repr=False)
    table: str = field(repr=False)
    control: str = field(repr=False)
    rule: str
    decisions: Mapping[str, Any]
    tiling: Mapping[str, Any] | None
    notes: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Serialize as JSON."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Artifact:
        """Inverse of ``to_bytes``."""
        fields = json.loads(data)
        for param in fields["params"]:
            param["shape"] = None if param["shape"] is None else tuple(param["shape"])
        fields["params"] = tuple(ParamInfo(**param) for param in fields["params"])
        fields["notes"] = tuple(fields["notes"])
        return Artifact(**fields)


class Kernel:
    """A compiled function; call it with tensors.

    Attributes
    ----------
    artifact : what the compiler made.
    out_idx : positions of the parameters that a call allocates and returns.
    """

    def __init__(self, artifact: Artifact, out_idx: tuple[int, ...], options: Options) -> None:
        self.artifact = artifact
        self.out_idx = out_idx
        self.options = options

    def __repr__(self) -> str:
        params = ", ".join(
            p.name + ("" if p.shape is None else f": {p.dtype}{list(p.shape)}")
            for p in self.artifact.params
        )
        return f"Kernel {self.artifact.name}({params}) for {self.artifact.chip}"

    def __reduce__(self) -> tuple:
        return Kernel, (self.artifact, self.out_idx, self.options)

    def __call__(self, *args: Any) -> Any:
        """Run; numpy in gives numpy out, torch CPU gives torch, tvm gives tvm.

        Returns
        -------
        The outputs of ``out_idx``: one tensor, a tuple, or None when every parameter was passed.
        """
        outputs, _ = self.run(*args)
        if not outputs:
            return None
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def profile(self, *args: Any, sim: SimOptions | None = None) -> Report:
        """Run with a trace and return the report.

        Parameters
        ----------
        sim : simulator options of this run; default: the kernel's own, with ``trace`` on.
        """
        if sim is None:
            sim = replace(self.options.sim, trace=True)
        return self.run(*args, sim=sim)[1]

    def run(self, *args: Any, sim: SimOptions | None = None) -> tuple[list, Report]:
        """Run once and return the outputs of ``out_idx`` together with the report."""
        options = self.options.sim if sim is None else sim
        require("sim", options, SimOptions, "a tvm_ascend.SimOptions or None")
        bound = bind(self.artifact.name, self.artifact.params, self.out_idx, args)
        return bound.outputs, self.executor.launch(bound.values, options, self.out_idx)

    @property
    def source(self) -> str:
        """The Ascend C text."""
        return self.artifact.source

    @cached_property
    def stages(self) -> dict[str, tirx.PrimFunc]:
        """Stage name -> the function at that stage, in order."""
        return {name: tvm.ir.load_json(text) for name, text in self.artifact.stages.items()}

    @cached_property
    def tiling(self) -> Tiling | None:
        """The tile the model chose, the runners-up and why the others lost; see its ``explain``.

        None where no tiles were ranked: other rules than "matmul", and kernels with their own.
        """
        fields = self.artifact.tiling
        return None if fields is None else Tiling.from_dict(fields)

    @cached_property
    def executor(self) -> SimulatorExecutor | TwinExecutor:
        """Where this kernel runs."""
        a = self.artifact
        if self.options.executor == "simulator":
            return SimulatorExecutor(a.table, a.control)
        return TwinExecutor(a.table, a.source, a.name, len(a.params))


def compile(
    func_or_module: tirx.PrimFunc | tvm.IRModule,
    target: str | Target = "ascend",
    out_idx: int | Sequence[int] | None = None,
    options: Options | None = None,
) -> Kernel:
    """Compile a function for an Ascend chip.

    A tensor of bool has one byte an element: 0 is False, any other byte True. Computed elements are
    stored as 0 or 1, copied ones keep their byte.

    Parameters
    ----------
    func_or_module : one PrimFunc, or a module that holds exactly one.
    target : ``"ascend"``, a chip tag such as ``"huawei/ascend-910b4"``, or a Target.
    out_idx : positions of the parameters that calls allocate and return; negative ones count from
        the end.
    options : see ``Options``.

    Raises
    ------
    AscendError : for anything that is the caller's mistake.
    """
    options = options_or_default(options)
    if options.executor == "npu":
        raise UnknownExecutorError("npu", "this version runs kernels on 'simulator' or 'twin'")
    target = as_target(target)
    func = one_function(func_or_module)
    func = func.with_attr("target", target)
    positions = check_out_idx(str(func.attrs["global_symbol"]), _params(func), out_idx)
    return Kernel(artifact_of(func, options), positions, options)


def artifact_of(func: tirx.PrimFunc, options: Options) -> Artifact:
    """What compiling a function with target and name makes, from the disk cache if there."""
    key = cache.key(tvm.ir.save_json(func), chip_of(func).name, options.compile_key())
    data = cache.load(key) if options.cache else None
    if data is not None:
        try:
            return Artifact.from_bytes(data)
        except (KeyError, TypeError, ValueError):
            warnings.warn(f"compile cache: {key} holds something else; rebuilding", stacklevel=3)
    artifact = build_artifact(func, _params(func), options)
    if options.cache:
        cache.store(key, artifact.to_bytes())
    return artifact


def build_artifact(
    func: tirx.PrimFunc, params: tuple[ParamInfo, ...], options: Options
) -> Artifact:
    """Run the whole compiler on one function that carries its target."""
    lowered = lower(func, options.overrides)
    stages = {name: tvm.ir.save_json(f) for name, f in lowered.stages.items()}
    tiling = None if lowered.tiling is None else lowered.tiling.as_dict()
    choices = Choices(lowered.rule, lowered.decisions, tiling)
    return _generate(lowered.final, params, stages, choices, options)


def rebuild(kernel: Kernel, final: tirx.PrimFunc) -> Kernel:
    """A kernel whose final function was edited: code is generated anew, earlier stages stay."""
    old = kernel.artifact
    stages = {**old.stages, "final": tvm.ir.save_json(final)}
    choices = Choices(old.rule, old.decisions, old.tiling)
    artifact = _generate(final, old.params, stages, choices, kernel.options)
    return Kernel(artifact, kernel.out_idx, kernel.options)


def _generate(
    final: tirx.PrimFunc,
    params: tuple[ParamInfo, ...],
    stages: Mapping[str, str],
    choices: Choices,
    options: Options,
) -> Artifact:
    """Run both code generators on a final function."""
    chip = chip_of(final)
    name = str(final.attrs["global_symbol"])
    with compiling(name):
        program = build_program(final, chip, unmatched_flags(final))
        source = emit(final, options.cann)
    written = written_params(final)
    params = tuple(replace(p, written=i in written) for i, p in enumerate(params))
    return Artifact(
        name=name,
        chip=chip.name,
        params=params,
        stages=stages,
        source=source,
        table=program.table,
        control=tvm.ir.save_json(program.control),
        rule=choices.rule,
        decisions=choices.decisions,
        tiling=choices.tiling,
        notes=tuple(str(n) for n in final.attrs.get("ascend.notes", ()) or ()),
    )


def one_function(given: Any) -> tirx.PrimFunc:
    """The PrimFunc given, or the only one of a module; it has a name."""
    if isinstance(given, tirx.PrimFunc):
        if given.attrs and "global_symbol" in given.attrs:
            return given
        return given.with_attr("global_symbol", "main")
    if isinstance(given, tvm.IRModule):
        funcs = {v.name_hint: f for v, f in given.functions.items() if isinstance(f, tirx.PrimFunc)}
        if len(funcs) != 1:
            names = ", ".join(sorted(funcs)) or "none"
            raise NotAKernelError(
                f"a module with {len(funcs)} functions ({names})",
                "pass one PrimFunc, such as mod['name']; relax.build takes whole modules",
            )
        ((name, func),) = funcs.items()
        return func.with_attr("global_symbol", name)
    raise NotAKernelError(f"a {type(given).__name__}", "pass a PrimFunc or a module that holds one")


def _params(func: tirx.PrimFunc) -> tuple[ParamInfo, ...]:
    result = []
    for param in func.params:
        name = str(param.name)
        if not tirx.is_buffer_var(param):
            result.append(ParamInfo(name, dtype_of(param), None))
            continue
        if not all(isinstance(e, tirx.IntImm) for e in param.shape):
            raise SymbolicShapeError(str(func.attrs["global_symbol"]), name, tuple(param.shape))
        result.append(ParamInfo(name, str(param.dtype), tuple(int(e) for e in param.shape)))
    return tuple(result)
