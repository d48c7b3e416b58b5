# SPDX-License-Identifier: Apache-2.0
"""What both code generators read from a final function: buffers and resolved instructions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Call, StringImm, TensorLoad

from tvm_ascend.hw.chip import VECTOR_CORES
from tvm_ascend.isa.cross_core import SCHEDULED
from tvm_ascend.isa.instr import CoreType, Instr, Space
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.core_sides import MIX, below_grid, core_type_of, is_sub_block, sides_of
from tvm_ascend.layout.scope import SPACE_OF_SCOPE

OP_PREFIX = "tirx.ascend."
_MIXED = f"MIX_AIC_1_{VECTOR_CORES}"
_SCHEDULED = {core: f"MIX_{core.value}_1_0" for core in CoreType}
_ALONE = {core: f"{core.value}_ONLY" for core in CoreType}
KERNEL_TYPES = (_MIXED, *_SCHEDULED.values(), *_ALONE.values())
"""What Ascend C calls the cores that a kernel may run on."""


@dataclass(frozen=True)
class Placed:
    """A buffer with a unique name and its byte address in its space (0 for GM, an argument)."""

    name: str
    buffer: tirx.Var
    space: Space
    address: int
    elements: int | None

    @property
    def dtype(self) -> str:
        return str(self.buffer.dtype)

    @property
    def itemsize(self) -> int:
        return tvm.DataType(self.dtype).itemsize


@dataclass(frozen=True)
class Address:
    """One element of a placed buffer, by its row-major element offset."""

    placed: Placed
    offset: tvm.ir.Expr


@dataclass(frozen=True)
class Issue:
    """One instruction statement: row, operands, parameters, dtypes bound to the row's types."""

    row: Instr
    operands: tuple[Address, ...]
    params: tuple[tvm.ir.Expr, ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """What one kind of core runs below the grid, and the on-chip buffers of it."""

    core: CoreType
    body: tirx.Stmt
    buffers: tuple[Placed, ...]


@dataclass(frozen=True)
class Kernel:
    """A final function, read once: parameters, buffers, and a program for each kind of core.

    ``grid`` counts blocks. ``sub_var`` is the number of the Vector core in a mixed kernel.
    """

    name: str
    core_type: str
    kernel_type: str
    grid: int
    block_var: tirx.Var | None
    sub_var: tirx.Var | None
    params: tuple[tirx.Var, ...]
    buffers: dict[tirx.Var, Placed]
    sides: tuple[Side, ...]

    @property
    def mixed(self) -> bool:
        """Whether a block runs on an AI Core: a Cube core and Vector cores."""
        return self.core_type == MIX

    def address(self, load: TensorLoad) -> Address:
        """Resolve an element access."""
        placed = self.buffers[load.source]
        return Address(placed, linear_offset(load.source, load.indices))


def row_of(call) -> Instr | None:
    """The instruction row of a call, or None when it is no instruction."""
    if not isinstance(call, Call) or not isinstance(call.op, tvm.ir.Op):
        return None
    return (
        TABLE.get(call.op.name.removeprefix(OP_PREFIX))
        if call.op.name.startswith(OP_PREFIX)
        else None
    )


def linear_offset(buffer: tirx.Var, indices) -> tvm.ir.Expr:
    """Element offset of ``buffer[indices]``, row-major or by the buffer's own strides."""
    strides = list(buffer.strides)
    if not strides:
        strides = [1]
        for extent in reversed(list(buffer.shape)[1:]):
            strides.insert(0, strides[0] * extent)
    offset = tirx.const(0, "int32")
    for index, stride in zip(indices, strides[: len(buffer.shape)], strict=True):
        offset = offset + index * stride
    return offset


def resolve(kernel: Kernel, call: Call) -> Issue:
    """Split a call's arguments by its row; type variables come from operands, else from scalars."""
    row = row_of(call)
    assert row is not None, f"not an instruction: {call}"
    count = len(row.operands)
    operands = tuple(kernel.address(load) for load in call.args[:count])
    bound = {p.type: dtype_of(v) for p, v in zip(row.params, call.args[count:], strict=True)}
    bound |= {o.dtype: a.placed.dtype for o, a in zip(row.operands, operands, strict=True)}
    return Issue(row, operands, tuple(call.args[count:]), tuple(bound[t] for t in row.types))


def read_kernel(func: tirx.PrimFunc) -> Kernel:
    """Read a final function (stage ``final`` or any from ``planned`` on)."""
    names: set[str] = set()
    buffers: dict[tirx.Var, Placed] = {}

    def place(buffer, address):
        name = _unique(str(buffer.name), names)
        shape = [int(e) if isinstance(e, tirx.IntImm) else None for e in buffer.shape]
        elements = None if None in shape else reduce(lambda a, b: a * b, shape, 1)
        buffers[buffer] = Placed(name, buffer, SPACE_OF_SCOPE[buffer.scope()], address, elements)

    for param in func.params:
        if tirx.is_buffer_var(param):
            place(param, 0)
        else:
            names.add(str(param.name))
    tvm_ffi.structural_walk(
        func.body,
        [(tirx.AllocBuffer, lambda a: place(a.buffer, int(a.annotations["ascend.address"])))],
    )
    axes, _ = below_grid(func.body)
    variables = {is_sub_block(axis): axis.node.var for axis in axes}
    return Kernel(
        name=str(func.attrs["global_symbol"]),
        core_type=core_type_of(func),
        kernel_type=_kernel_type(func),
        grid=int(func.attrs["ascend.grid"]),
        block_var=variables.get(False),
        sub_var=variables.get(True),
        params=tuple(func.params),
        buffers=buffers,
        sides=tuple(_side(core, body, buffers) for core, body in sides_of(func).items()),
    )


def _side(core: CoreType, body: tirx.Stmt, buffers: dict[tirx.Var, Placed]) -> Side:
    own: list[Placed] = []
    tvm_ffi.structural_walk(body, [(tirx.AllocBuffer, lambda a: own.append(buffers[a.buffer]))])
    return Side(core, body, tuple(own))


def _kernel_type(func: tirx.PrimFunc) -> str:
    """What Ascend C calls the cores a kernel runs on; signals between cores need a MIX type."""
    scheduled = []

    def instruction(node: Call) -> None:
        row = row_of(node)
        if row is not None and row.key in SCHEDULED:
            scheduled.append(node)

    tvm_ffi.structural_walk(func.body, [(Call, instruction)])
    core = core_type_of(func)
    return _MIXED if core == MIX else (_SCHEDULED if scheduled else _ALONE)[CoreType(core)]


def written_params(func: tirx.PrimFunc) -> frozenset[int]:
    """Positions of the parameters that a final function stores to."""
    written: set[tirx.Var] = set()

    def instruction(node: tirx.Evaluate) -> None:
        row = row_of(node.value)
        if row is None:
            return
        for operand, load in zip(row.operands, node.value.args, strict=False):
            if "w" in operand.rw:
                written.add(load.source)

    def store(node: tirx.BufferStore) -> None:
        written.add(node.buffer)

    tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, instruction), (tirx.BufferStore, store)])
    return frozenset(i for i, param in enumerate(func.params) if param in written)


def dtype_of(expr) -> str:
    """The dtype of an expression, as ``float32``."""
    return str(expr.ty).strip('"')


def enum_name(expr) -> str | None:
    """The text of an enum parameter, or None for a number."""
    return str(expr.value) if isinstance(expr, StringImm) else None


def _unique(name: str, taken: set[str]) -> str:
    candidate, number = name, 1
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    taken.add(candidate)
    return candidate
