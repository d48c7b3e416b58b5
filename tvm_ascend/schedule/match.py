# SPDX-License-Identifier: Apache-2.0
"""What a block computes: contraction, element-wise map, row reduction or plain copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.s_tir import SBlock, SBlockRealize

REDUCTION = 2  # IterVar.iter_type


def strip_casts(expr):
    """The expression below any number of casts."""
    while isinstance(expr, tirx.Cast):
        expr = expr.value
    return expr


def realizes(func: tirx.PrimFunc) -> list[SBlockRealize]:
    """Every block below the root, in program order."""
    found: list[SBlockRealize] = []
    tvm_ffi.structural_walk(func.body, [(SBlockRealize, found.append)], order="pre")
    return [r for r in found if r.block.name_hint != "root"]


def covers_domains(func: tirx.PrimFunc) -> bool:
    """Whether every block runs exactly once for every point of its axes, which rules take as given.

    So each axis is bound to a loop of its own from 0 over its whole extent, without conditions.
    """
    extents: dict[tvm.ir.Var, Any] = {}
    conditions: list[tirx.Stmt] = []

    def loop(node: tirx.For) -> None:
        if node.step is None and is_zero(node.min):
            extents[node.loop_var] = node.extent

    rules = [(tirx.For, loop), ((tirx.IfThenElse, tirx.While), conditions.append)]
    tvm_ffi.structural_walk(func.body, rules)
    return not conditions and all(_covers(r, extents) for r in realizes(func))


def _covers(realize: SBlockRealize, extents: dict) -> bool:
    bound = []
    for axis, value in zip(realize.block.iter_vars, realize.iter_values, strict=True):
        if is_zero(value) and _same_number(axis.dom.extent, tirx.const(1)):
            continue
        extent = extents.get(value) if isinstance(value, tvm.ir.Var) else None
        if extent is None or not _same_number(axis.dom.extent, extent) or value in bound:
            return False
        bound.append(value)
    return isinstance(realize.predicate, tirx.IntImm) and bool(realize.predicate.value)


def _same_number(a, b) -> bool:
    if isinstance(a, tirx.IntImm) and isinstance(b, tirx.IntImm):
        return a.value == b.value
    return tvm_ffi.structural_equal(a, b)


def variables(expr) -> set:
    """Loop or block variables an expression names; buffers are not among them."""
    found: set = set()
    tvm_ffi.structural_walk(
        expr, [(tirx.Var, lambda v: None if tirx.is_buffer_var(v) else found.add(v))]
    )
    return found


def loads(expr) -> list[TensorLoad]:
    """Every element read by an expression."""
    found: list[TensorLoad] = []
    tvm_ffi.structural_walk(expr, [(TensorLoad, found.append)])
    return found


def product_of_loads(block: SBlock) -> tuple[TensorLoad, TensorLoad] | None:
    """The factors of ``c[..] = c[..] + a[..] * b[..]``, casts ignored, or None."""
    store = block.body
    if not isinstance(store, tirx.BufferStore):
        return None
    total = strip_casts(store.value)
    if not isinstance(total, tirx.Add):
        return None
    for accumulator, product in ((total.a, total.b), (total.b, total.a)):
        accumulator, product = strip_casts(accumulator), strip_casts(product)
        if not isinstance(accumulator, TensorLoad) or not isinstance(product, tirx.Mul):
            continue
        same = accumulator.source.same_as(store.buffer) and all(
            tvm_ffi.structural_equal(i, j)
            for i, j in zip(accumulator.indices, store.indices, strict=True)
        )
        a, b = strip_casts(product.a), strip_casts(product.b)
        if same and isinstance(a, TensorLoad) and isinstance(b, TensorLoad):
            return a, b
    return None


def is_zero(expr) -> bool:
    """Whether an expression is the constant 0, casts ignored."""
    expr = strip_casts(expr)
    return isinstance(expr, (tirx.IntImm, tirx.FloatImm)) and float(expr.value) == 0.0


@dataclass(frozen=True)
class Contraction:
    """``C[batch.., m, n] += A[.., m, k] * B[.., k, n]``, either operand possibly transposed.

    ``m``, ``n``, ``k`` and ``batch`` are positions of the block's axes; ``a`` and ``b``
    those of the operands among the block's reads.
    """

    batch: tuple[int, ...]
    m: int
    n: int
    k: int
    a: int
    b: int
    transpose_a: bool
    transpose_b: bool
    extents: tuple[Any, ...]
    dtype: str
    out_dtype: str

    @property
    def sizes(self) -> tuple:
        """Extents of m, n and k."""
        return self.extents[self.m], self.extents[self.n], self.extents[self.k]

    @property
    def batch_size(self) -> int:
        """Product of the batch extents."""
        size = 1
        for axis in self.batch:
            size *= int(self.extents[axis])
        return size


def match_contraction(realize: SBlockRealize) -> Contraction | None:
    """Read a block as a matrix multiply, or return None."""
    block = realize.block
    factors = product_of_loads(block)
    if factors is None or block.init is None or not isinstance(block.init, tirx.BufferStore):
        return None
    axes = [axis.var for axis in block.iter_vars]
    reduce_axes = [i for i, axis in enumerate(block.iter_vars) if axis.iter_type == REDUCTION]
    if not is_zero(block.init.value) or len(reduce_axes) != 1 or not _simple(realize):
        return None
    out = _axes_of(block.body.indices, axes)
    if out is None or len(out) < 2 or out[-1] is None or out[-2] is None:
        return None
    m, n, k = out[-2], out[-1], reduce_axes[0]
    for first, second in (factors, factors[::-1]):
        ta, tb = _transposed(first, axes, m, k), _transposed(second, axes, k, n)
        if ta is None or tb is None:
            continue
        reads = [region.source for region in block.reads]
        a, b = (_position(reads, load.source) for load in (first, second))
        if a is None or b is None or a == b:
            return None
        batch = tuple(i for i in range(len(axes)) if i not in (m, n, k))
        extents = tuple(axis.dom.extent for axis in block.iter_vars)
        dtype = str(first.source.dtype)
        if dtype != str(second.source.dtype):
            return None
        out_dtype = str(block.body.buffer.dtype)
        return Contraction(batch, m, n, k, a, b, ta, tb, extents, dtype, out_dtype)
    return None


def _simple(realize: SBlockRealize) -> bool:
    """Whether every axis is bound to one loop of its own."""
    values = list(realize.iter_values)
    return all(isinstance(v, tvm.ir.Var) for v in values) and len(set(values)) == len(values)


def _axes_of(indices, axes) -> list[int | None] | None:
    """For each index the axis it is, None for a constant; None altogether for anything else."""
    result: list[int | None] = []
    for index in indices:
        at = next((i for i, axis in enumerate(axes) if axis.same_as(index)), None)
        if at is None and not isinstance(index, tirx.IntImm):
            return None
        result.append(at)
    return result


def _transposed(load: TensorLoad, axes, row: int, col: int) -> bool | None:
    """Whether the last two indices of a load are (col, row) instead of (row, col)."""
    found = _axes_of(load.indices, axes)
    if found is None or len(found) < 2 or any(i in (row, col) for i in found[:-2]):
        return None
    if found[-2:] == [row, col]:
        return False
    return True if found[-2:] == [col, row] else None


def _position(buffers, buffer) -> int | None:
    return next((i for i, b in enumerate(buffers) if b.same_as(buffer)), None)
