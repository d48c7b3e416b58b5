# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators with broadcasting: tiles through UB, double buffered, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import tvm
from tvm import tirx

from tvm_ascend import language as T
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.dtypes import is_float
from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.layout.fractal import ceildiv
from tvm_ascend.ops.broadcast import broadcast
from tvm_ascend.ops.op import Op, Shape, Signature, numpy_dtype
from tvm_ascend.ops.tiles import box_tile, piece, tiled

Compute = Callable[..., tvm.ir.Expr]

_RANK = 3
_VERSIONS = 2
_TEMPORARIES = 2
# Arithmetic is float32 where the chip has none of the dtype.
_WORKING = {"bfloat16": "float32", "int8": "float16", "uint8": "float16", "bool": "float16"}


class _Operand:
    """One tensor of a kernel: some dimensions of the box that the result is cut into."""

    def __init__(self, axes: Sequence[int], shape: Shape, tile: Shape) -> None:
        self.axes = tuple(axes)
        self.shape = tuple(shape[a] for a in axes) or (1,)
        self.tile = tuple(tile[a] for a in axes) or (1,)

    def at(self, *indices: object) -> list:
        """Own indices out of those of the box."""
        return [indices[a] for a in self.axes] or [0]

    def region(self, block: Sequence) -> list[slice]:
        """The block's part of the tensor."""
        own = zip(self.at(*block), self.shape, self.tile, strict=True)
        return [slice(b * t, b * t + piece(n, t, b)) for b, n, t in own]

    def used(self, block: Sequence) -> list[slice]:
        """The same part of the tile that holds it."""
        own = zip(self.at(*block), self.shape, self.tile, strict=True)
        return [slice(0, piece(n, t, b)) for b, n, t in own]


def _point(block: Any, grid: Sequence[int]) -> list:
    """A block's place in the grid; the last dimension varies fastest."""
    place: list = []
    for axis in reversed(range(len(grid))):
        outer = prod(grid[:axis])
        place.insert(0, 0 if grid[axis] == 1 else block if outer == 1 else block % grid[axis])
        if grid[axis] > 1 and outer > 1:
            block = block // grid[axis]
    return place


def _lane_bytes(dtypes: Sequence[str], work: Sequence[str]) -> int:
    """UB bytes of one lane: every tensor twice, converted once, and temporaries."""
    moved = _VERSIONS * sum(ITEMSIZE[d] for d in dtypes)
    return moved + sum(ITEMSIZE[w] for w in work) + _TEMPORARIES * max(ITEMSIZE[w] for w in work)


def kernel_of(
    name: str, compute: Compute | None, signature: Signature, chip: ChipSpec
) -> tirx.PrimFunc | None:
    """The kernel of ``out = compute(*inputs)`` for one or two inputs; None narrows int64."""
    (result,) = signature.outputs
    shapes = broadcast(signature.inputs, result)
    if shapes is None or len(shapes.shape) > _RANK or len(signature.inputs) > 2:
        return None
    dtypes = (*signature.dtypes, *signature.out_dtypes)
    work = tuple(_WORKING.get(d, d) for d in dtypes)
    item = max(ITEMSIZE[d] for d in (*dtypes, *work))
    missing = _RANK - len(shapes.shape)
    shape = (1,) * missing + shapes.shape
    tile = (1,) * missing + box_tile(shapes.shape, _lane_bytes(dtypes, work), item, chip)
    axes = [tuple(a + missing for a in own) for own in shapes.axes]
    operands = [_Operand(own, shape, tile) for own in (*axes, range(missing, _RANK))]
    grid = [ceildiv(n, t) for n, t in zip(shape, tile, strict=True)]
    if compute is None:
        func = _narrow(operands, grid, dtypes)
    else:
        func = (_unary, _binary)[len(axes) - 1](compute, operands, grid, dtypes, work)
    return tiled(func, *tile).with_attr("global_symbol", f"elementwise_{name}")


def _unary(compute, operands, grid, dtypes, work) -> tirx.PrimFunc:
    a, c = operands
    box = _Box(c, grid)

    @T.prim_func
    def kernel(A: T.Tensor(a.shape, dtypes[0]), C: T.Tensor(c.shape, dtypes[1])):
        with T.Kernel(prod(grid)) as bx:
            a_tile = T.alloc_fragment(a.tile, work[0])
            c_tile = T.alloc_fragment(c.tile, work[1])
            T.copy(A[a.region(box.at(bx))], a_tile[a.used(box.at(bx))])
            for i, j, k in T.Parallel(*box.extents(bx)):
                c_tile[c.at(i, j, k)] = compute(a_tile[a.at(i, j, k)])
            T.copy(c_tile[c.used(box.at(bx))], C[c.region(box.at(bx))])

    return kernel


def _binary(compute, operands, grid, dtypes, work) -> tirx.PrimFunc:
    a, b, c = operands
    box = _Box(c, grid)

    @T.prim_func
    def kernel(
        A: T.Tensor(a.shape, dtypes[0]),
        B: T.Tensor(b.shape, dtypes[1]),
        C: T.Tensor(c.shape, dtypes[2]),
    ):
        with T.Kernel(prod(grid)) as bx:
            a_tile = T.alloc_fragment(a.tile, work[0])
            b_tile = T.alloc_fragment(b.tile, work[1])
            c_tile = T.alloc_fragment(c.tile, work[2])
            T.copy(A[a.region(box.at(bx))], a_tile[a.used(box.at(bx))])
            T.copy(B[b.region(box.at(bx))], b_tile[b.used(box.at(bx))])
            for i, j, k in T.Parallel(*box.extents(bx)):
                c_tile[c.at(i, j, k)] = compute(a_tile[a.at(i, j, k)], b_tile[b.at(i, j, k)])
            T.copy(c_tile[c.used(box.at(bx))], C[c.region(box.at(bx))])

    return kernel


class _Box:
    """The result cut into tiles."""

    def __init__(self, result: _Operand, grid: Sequence[int]) -> None:
        self.result, self.grid = result, grid

    def at(self, block: object) -> list:
        """A block's place in the grid."""
        return _point(block, self.grid)

    def extents(self, block: object) -> list:
        """Elements of a block in each of the three dimensions."""
        own = [s.stop for s in self.result.used(self.at(block))]
        return [1] * (_RANK - len(own)) + own


def _op(name: str, compute: Compute, reference: Callable) -> Op:
    def make(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
        return kernel_of(name, compute, signature, chip)

    def run(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
        wide = [x.astype("float32") if x.dtype.itemsize < 4 else x for x in inputs]
        return (reference(*wide).astype(numpy_dtype(signature.out_dtypes[0])),)

    return Op(name=name, make=make, reference=run)


def _scalar(name: str, compute: Compute, value: float, reference: Callable) -> Op:
    """An operator of a tensor and the number ``value``."""

    def apply(a):
        return compute(a, tirx.const(value, str(a.ty.dtype)))

    return _op(name, apply, lambda a: reference(a, a.dtype.type(value)))


def _magnitude(a: tvm.ir.Expr) -> tvm.ir.Expr:
    # Abs exists for floating point only [doc: ASCEND 3].
    return tirx.abs(a) if is_float(str(a.ty.dtype)) else tirx.max(a, a * -1)


def _narrow(operands, grid, dtypes) -> tirx.PrimFunc:
    """int64 to int32 as the chip does it: saturating."""
    a, c = operands
    box = _Box(c, grid)

    @T.prim_func
    def kernel(A: T.Tensor(a.shape, dtypes[0]), C: T.Tensor(c.shape, dtypes[1])):
        with T.Kernel(prod(grid)) as bx:
            a_tile = T.alloc_fragment(a.tile, dtypes[0])
            c_tile = T.alloc_fragment(c.tile, dtypes[1])
            T.copy(A[a.region(box.at(bx))], a_tile[a.used(box.at(bx))])
            T.ascend.cast(c_tile[0], a_tile[0], "CAST_NONE", prod(box.extents(bx)))
            T.copy(c_tile[c.used(box.at(bx))], C[c.region(box.at(bx))])

    return kernel


def _cast(signature: Signature, chip: ChipSpec) -> tirx.PrimFunc | None:
    (out,) = signature.out_dtypes
    if (*signature.dtypes, out) == ("int64", "int32"):
        return kernel_of("cast", None, signature, chip)
    return kernel_of("cast", lambda a: tirx.Cast(_WORKING.get(out, out), a), signature, chip)


def _cast_reference(inputs: Sequence[np.ndarray], signature: Signature) -> tuple[np.ndarray, ...]:
    (x,), out = inputs, numpy_dtype(signature.out_dtypes[0])
    if x.dtype == "int64" and out == "int32":
        x = x.clip(np.iinfo(out).min, np.iinfo(out).max)
    return (x.astype(out),)


ADD = _op("add", lambda a, b: a + b, np.add)
SUB = _op("sub", lambda a, b: a - b, np.subtract)
MUL = _op("mul", lambda a, b: a * b, np.multiply)
ABS = _op("abs", _magnitude, np.abs)
SIGMOID = _op("sigmoid", T.sigmoid, lambda a: 1 / (1 + np.exp(-a)))
ADDS = _scalar("adds", lambda a, s: a + s, 2.0, np.add)
SUBS = _scalar("subs", lambda a, s: a - s, 2.0, np.subtract)
MULS = _scalar("muls", lambda a, s: a * s, 2.0, np.multiply)
CAST = Op(name="cast", make=_cast, reference=_cast_reference)
