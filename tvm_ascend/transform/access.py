# SPDX-License-Identifier: Apache-2.0
"""Where an element access lands: linear offsets, strides along loops, alignment."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend import sym
from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of

ZERO = tirx.IntImm("int32", 0)


def itemsize(dtype: object) -> int:
    """Bytes of one element."""
    return max(tvm.DataType(str(dtype)).itemsize, 1)


def dtype_of(buffer: tvm.ir.Var) -> str:
    """Element dtype of a buffer."""
    return str(buffer.ty.dtype)


def constant(expr: object) -> int | None:
    """Return the value of an integer literal, else None."""
    if isinstance(expr, int):
        return expr
    return int(expr.value) if isinstance(expr, tirx.IntImm) else None


def substitute(expr: tvm.ir.Expr, values: dict) -> tvm.ir.Expr:
    """Replace variables in an expression."""
    if not values:
        return expr
    return tvm_ffi.structural_map(expr, [(tvm.ir.Var, lambda v: values.get(v, v))])


def strides_of(buffer: tvm.ir.Var) -> list:
    """Elements between neighbours along every dimension."""
    if len(buffer.ty.strides):
        return list(buffer.ty.strides)
    strides = [tirx.IntImm("int32", 1)]
    for extent in reversed(list(buffer.ty.shape)[1:]):
        strides.append(strides[-1] * extent)
    return strides[::-1][: len(buffer.ty.shape)]


def offset_of(buffer: tvm.ir.Var, indices: list) -> tvm.ir.Expr:
    """Linear element offset of an index vector."""
    total: tvm.ir.Expr = ZERO
    for index, stride in zip(indices, strides_of(buffer), strict=True):
        total = total + index * stride
    return total


@dataclass(frozen=True)
class Access:
    """One buffer access inside a nest of loops.

    ``strides[v]`` is how many elements the address moves per step of loop variable ``v``; a
    variable that is absent does not move it.
    """

    buffer: tvm.ir.Var
    indices: tuple
    strides: dict

    @property
    def dtype(self) -> str:
        """Element dtype."""
        return dtype_of(self.buffer)

    @property
    def space(self) -> Space | None:
        """Memory accessed."""
        return space_of(self.buffer)

    def stride(self, var: tvm.ir.Var | None) -> object:
        """Elements per step of a loop variable."""
        return self.strides.get(var, 0)

    def factors(self, var: tvm.ir.Var) -> list:
        """How far each index moves per step of a loop variable."""
        return [sym.detect_linear_equation(i, [var])[0] for i in self.indices]

    def at(self, values: dict, analyzer: sym.Analyzer) -> TensorLoad:
        """Return the address with loop variables replaced."""
        indices = [analyzer.simplify(substitute(i, values)) for i in self.indices]
        return tirx.BufferLoad(self.buffer, indices)

    def aligned(self, values: dict, analyzer: sym.Analyzer, bytes_: int) -> bool:
        """Whether the address is a multiple of ``bytes_`` whatever the other variables are."""
        offset = offset_of(self.buffer, [substitute(i, values) for i in self.indices])
        return divides(bytes_, offset * itemsize(self.dtype), analyzer)


def divides(factor: int, expr: tvm.ir.Expr | int, analyzer: sym.Analyzer) -> bool:
    """Whether an integer expression is provably a multiple of ``factor``."""
    if isinstance(expr, int):
        return expr % factor == 0
    form = analyzer.modular_set(analyzer.simplify(expr))
    return form.coeff % factor == 0 and form.base % factor == 0


def access_of(buffer: tvm.ir.Var, indices: list, loop_vars: list) -> Access | None:
    """Describe an access, or return None where it is not affine in the loop variables."""
    offset = offset_of(buffer, indices)
    form = sym.detect_linear_equation(offset, loop_vars)
    if len(form) == 0:
        return None
    strides = {}
    for var, factor in zip(loop_vars, form, strict=False):
        if constant(factor) != 0:
            strides[var] = constant(factor) if constant(factor) is not None else factor
    return Access(buffer, tuple(indices), strides)
