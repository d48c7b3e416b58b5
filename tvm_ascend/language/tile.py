# SPDX-License-Identifier: Apache-2.0
"""Tile operations: copy, fill, reductions, matrix multiply and atomic updates of fragments."""

from __future__ import annotations

from typing import Any

import tvm
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.script import tirx as tvm_script

from tvm_ascend.errors import (
    AtomicOnGlobal,
    GemmDtypes,
    MatrixExpected,
    OperandExpected,
    ReduceAxis,
    ShapeMismatch,
)
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.numbers import condition, constant_integer, element, truth
from tvm_ascend.language.ops import call_expr
from tvm_ascend.language.region import complete_pair, extents, is_global, long_extents, region_of
from tvm_ascend.sym import Analyzer


def copy(src: object, dst: object) -> tvm.ir.Call:
    """Copy ``src`` to ``dst``, casting when their dtypes differ.

    An operand is a buffer, a slice (``A[i, :]``), or the first element of a tile
    (``A[i * 16, j * 32]``), whose shape is then that of the other operand. A tile that runs past
    the edge of a tensor loads zeros there and stores nothing.
    """
    return call_expr("tile_copy", *complete_pair("copy", ("src", "dst"), (src, dst)))


def fill(buffer: object, value: Any) -> tvm.ir.Call:
    """Set every element of a tile to ``value``."""
    region = region_of("fill", "buffer", buffer)
    dtype = region.source.ty.dtype
    value = element("T.fill", value, region.source.name, str(dtype))
    if value.ty.dtype != dtype:
        value = tirx.Cast(str(dtype), value)
    return call_expr("tile_fill", region, value)


def clear(buffer: object) -> tvm.ir.Call:
    """Set every element of a tile to zero."""
    return fill(buffer, 0)


def _reduce(kind: str, src: object, dst: object, dim: int, clear: bool) -> tvm.ir.Call:
    op = f"reduce_{kind}"
    source, target = region_of(op, "src", src), region_of(op, "dst", dst)
    rank = len(source.region)
    dim = constant_integer(f"T.{op}", "dim", dim)
    clear = truth(f"T.{op}", "clear", clear)
    if not -rank <= dim < rank:
        raise ReduceAxis(op, dim, rank)
    axis = dim % rank
    left = [
        e
        for k, e in enumerate(extents(source))
        if k != axis and not (isinstance(e, tirx.IntImm) and e.value == 1)
    ]
    right = long_extents(target)
    analyzer = Analyzer()
    if len(left) != len(right) or not all(
        analyzer.can_prove_equal(a, b) for a, b in zip(left, right, strict=True)
    ):
        raise ShapeMismatch(
            op,
            source.source.name,
            tuple(extents(source)),
            target.source.name,
            tuple(extents(target)),
            f"the second needs the shape of the first without dimension {axis}",
        )
    return call_expr("tile_reduce", target, source, kind, axis, clear)


def reduce_sum(src: object, dst: object, dim: int = -1, clear: bool = True) -> tvm.ir.Call:
    """Sum dimension ``dim`` of ``src`` into ``dst``; without ``clear`` the old ``dst`` is added."""
    return _reduce("sum", src, dst, dim, clear)


def reduce_max(src: object, dst: object, dim: int = -1, clear: bool = True) -> tvm.ir.Call:
    """Largest element along ``dim``; without ``clear`` the old ``dst`` takes part."""
    return _reduce("max", src, dst, dim, clear)


def reduce_min(src: object, dst: object, dim: int = -1, clear: bool = True) -> tvm.ir.Call:
    """Smallest element along ``dim``; without ``clear`` the old ``dst`` takes part."""
    return _reduce("min", src, dst, dim, clear)


def gemm(
    a: object,
    b: object,
    c: object,
    transpose_A: bool = False,
    transpose_B: bool = False,
    init: object = False,
) -> tvm.ir.Call:
    """Add ``a @ b`` to ``c`` on the Cube; where ``init`` is true ``c`` starts at zero.

    A transposed operand is stored ``[k, m]`` or ``[n, k]``.
    """
    left, right, out = (region_of("gemm", n, v) for n, v in (("a", a), ("b", b), ("c", c)))
    dtypes = tuple(str(x.source.ty.dtype) for x in (out, left, right))
    if dtypes not in TABLE["mmad"].dtypes:
        allowed = [f"{x} by {y} into {z}" for z, x, y in TABLE["mmad"].dtypes]
        raise GemmDtypes(dtypes[1], dtypes[2], dtypes[0], allowed)
    for operand in (left, right, out):
        if len(operand.region) < 2:
            raise MatrixExpected("gemm", operand.source.name, tuple(extents(operand)))
    transpose_A = truth("T.gemm", "transpose_A", transpose_A)
    transpose_B = truth("T.gemm", "transpose_B", transpose_B)
    init = condition("T.gemm", "init", init)
    (m, k), (k2, n) = extents(left)[-2:], extents(right)[-2:]
    m, k = (k, m) if transpose_A else (m, k)
    k2, n = (n, k2) if transpose_B else (k2, n)
    rows, columns = extents(out)[-2:]
    analyzer = Analyzer()
    for (first, x), (second, y), rule in (
        ((left, k), (right, k2), f"the k extents must agree, {k} is not {k2}"),
        ((left, m), (out, rows), f"the m extents must agree, {m} is not {rows}"),
        ((right, n), (out, columns), f"the n extents must agree, {n} is not {columns}"),
    ):
        if not analyzer.can_prove_equal(x, y):
            names = (
                first.source.name,
                tuple(extents(first)),
                second.source.name,
                tuple(extents(second)),
            )
            raise ShapeMismatch("gemm", *names, rule)
    return call_expr("tile_gemm", out, left, right, transpose_A, transpose_B, init)


def atomic_add(target: object, value: object) -> None:
    """Add ``value`` to an element of an on-chip tile; inside ``T.Parallel`` a reduction."""
    if not isinstance(target, TensorLoad):
        raise OperandExpected("atomic_add", "target", target)
    if is_global(target.source):
        raise AtomicOnGlobal(target.source.name)
    value = element("T.atomic_add", value, target.source.name, str(target.source.ty.dtype))
    tvm_script.buffer_store(target.source, target + value, list(target.indices))
