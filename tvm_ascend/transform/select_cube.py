# SPDX-License-Identifier: Apache-2.0
"""Cube half of instruction selection: tile operations on L1, L0A, L0B and L0C."""

from __future__ import annotations

from dataclasses import dataclass

import tvm
from tvm import tirx
from tvm.ir import TensorRegion

from tvm_ascend import errors
from tvm_ascend.isa.cube import DRAINS
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.fractal import align, ceildiv
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import divides, dtype_of, strides_of
from tvm_ascend.transform.cube_tiles import CubeTile, CubeTiles
from tvm_ascend.transform.selection import Selection, limit, supports
from tvm_ascend.transform.tile_args import as_region, is_const, long_axes, proves


def select_cube(call: tvm.ir.Call, ctx: Selection, tiles: CubeTiles) -> list[tirx.Stmt] | None:
    """Instructions of one tile operation on the Cube's memories, or None for other calls."""
    key = key_of(call)
    if key == "tile_gemm":
        return _Selector(tiles, ctx).gemm(*call.args)
    if key != "tile_copy":
        return None
    src, dst = (as_region(arg) for arg in call.args)
    spaces = space_of(src.source), space_of(dst.source)
    if not any(region.source in tiles.tiles for region in (src, dst)):
        return None
    selector = _Selector(tiles, ctx)
    if spaces == (Space.GM, Space.L1):
        return selector.load(src, dst)
    if spaces[0] is Space.L1 and spaces[1] in (Space.L0A, Space.L0B):
        return selector.to_l0(src, dst)
    if spaces == (Space.L0C, Space.GM):
        return selector.store(src, dst)
    raise errors.NoCopyPath(src.source.name, spaces[0], dst.source.name, spaces[1], ctx.span)


@dataclass
class _Selector:
    """Builds the instructions of one operation."""

    cube: CubeTiles
    ctx: Selection

    def load(self, src: TensorRegion, dst: TensorRegion) -> list[tirx.Stmt]:
        """GM -> L1: ND2NZ of what is inside the tensor, zeros where products would read more."""
        dtypes = dtype_of(src.source), dtype_of(dst.source)
        if dtypes[0] != dtypes[1]:
            raise errors.NoCastIntoL1(
                src.source.name, dtypes[0], dst.source.name, dtypes[1], self.ctx.span
            )
        tile, s = self.cube.tiles[dst.source], self.simplify
        row_axis, col_axis = self.gm_axes(src, dst)
        row0, col0 = (r.min for r in list(dst.region)[-2:])
        rows, cols = (self.clipped(src, axis) for axis in (row_axis, col_axis))
        padded_rows, c0 = tile.fractal.padded[0], tile.fractal.f_cols
        self.require(divides(c0, col0, self.ctx.analyzer), "a tile in L1 starts at a whole fractal")
        whole = [src.region[axis].extent for axis in (row_axis, col_axis)]
        fills = self.fill(tile, row0, col0, rows, cols, whole)
        pitch = strides_of(src.source)[row_axis]
        start = [r.min for r in src.region]
        if self.fits("data_copy_nd2nz", "src_d_value", pitch):
            args = (1, rows, cols, 0, pitch, padded_rows, 1, 0)
            self.check("data_copy_nd2nz", n_value=rows, d_value=cols)
            where = tile.at(s(tile.fractal.offset(row0, col0)))
            return [*fills, self.emit("data_copy_nd2nz", where, load_at(src, start), *args)]
        row = tirx.Var("row", "int32")
        start[row_axis] = start[row_axis] + row
        where = tile.at(s(tile.fractal.offset(row0 + row, col0)))
        args = (1, 1, cols, 0, 1, padded_rows, 1, 0)
        one = self.emit("data_copy_nd2nz", where, load_at(src, start), *args)
        return [*fills, self.loop(row, rows, one)]

    def fill(self, tile: CubeTile, row0, col0, rows, cols, whole) -> list[tirx.Stmt]:
        """Zero what the copy leaves out of the fractals that a product reads to their end.

        ND2NZ itself zeroes the rest of its last column group. Missing rows matter where rows are
        the reduction axis, and for a single row, which the Cube would take for a plain vector.
        """
        block, s = tile.fractal.f_rows, self.simplify
        clipped = any(not self.proves_equal(x, y) for x, y in zip(whole, (rows, cols), strict=True))
        if clipped:
            return [self.zeros(tile, row0, col0, whole[0], whole[1])]
        single = tile.m_rows and not proves(self.ctx.analyzer, rows >= 2)
        if (tile.k_rows and not divides(block, rows, self.ctx.analyzer)) or single:
            missing = s(align(rows, block) - rows)
            return [self.zeros(tile, row0 + rows, col0, missing, cols)]
        return []

    def zeros(self, tile: CubeTile, row0, col0, rows, cols) -> tirx.Stmt:
        """Zero a box of an NZ tile: ``rows`` blocks of each column group."""
        fractal, s = tile.fractal, self.simplify
        where = tile.at(
            s((col0 // fractal.f_cols) * fractal.padded[0] * fractal.f_cols + row0 * fractal.f_cols)
        )
        gap = s(fractal.padded[0] - rows)
        groups, dtype = s(ceildiv(cols, fractal.f_cols)), dtype_of(tile.buffer)
        if supports("fill_l1_bytes", dtype):
            return self.emit("fill_l1_bytes", where, groups, s(rows), gap, 0)
        return self.emit("fill_l1", where, groups, s(rows), gap, tirx.const(0, dtype))

    def to_l0(self, src: TensorRegion, dst: TensorRegion) -> list[tirx.Stmt]:
        """L1 -> L0A or L0B: one LoadData a row or column of fractals, whichever are fewer."""
        source, target = (self.cube.tiles[r.source] for r in (src, dst))
        nz, s = source.fractal, self.simplify
        row0, col0 = (r.min for r in list(src.region)[-2:])
        rows, cols = (r.extent for r in list(dst.region)[-2:])
        for start, size in ((row0, nz.f_rows), (col0, nz.f_cols)):
            self.require(
                divides(size, start, self.ctx.analyzer), "a slice of L1 starts at a whole fractal"
            )
        self.require(all(is_const(r.min, 0) for r in dst.region), "a tile is loaded whole into L0")
        down, right = s(ceildiv(rows, nz.f_rows)), s(ceildiv(cols, nz.f_cols))
        # Fractals in L0A are ordered m, k and in L0B k, n: row first unless that axis is right.
        row_major = target.transposed is False
        into = (right, 1) if row_major else (1, down)
        steps = ((down, 1, into[0]), (right, nz.padded[0] // nz.f_rows, into[1]))
        # Only 16-bit fractals turn, and those are square.
        turn = target.k_rows
        square = nz.f_rows == nz.f_cols
        if turn and not square:
            name, wanted, flag = src.source.name, "[n, k]", "transpose_B=True"
            if target.buffer.scope() == "local.l0a":
                wanted, flag = "[m, k]", "transpose_A=False"
            raise errors.CubeTileRule(
                f"only 16-bit operands are transposed on the way to L0, and `{name}` is "
                f"{dtype_of(src.source)} stored with k as rows",
                self.ctx.span,
                f"Store `{name}` as {wanted} and pass {flag}",
            )
        base = s(nz.offset(row0, col0))
        return self.fractals(source, target, base, steps, turn)

    def fractals(self, source, target, base, steps, turn) -> list[tirx.Stmt]:
        s, upper = self.simplify, self.ctx.upper
        outer, inner = sorted(steps, key=lambda step: upper(step[0]) or 0)
        self.check("load_data_2d", repeat_times=inner[0])
        size = source.fractal.fractal

        def one(i):
            where = target.at(s(i * outer[2] * size)), source.at(s(base + i * outer[1] * size))
            return self.emit("load_data_2d", *where, 0, inner[0], inner[1], s(inner[2] - 1), turn)

        if is_const(outer[0], 1):
            return [one(0)]
        var = tirx.Var("fractal", "int32")
        return [self.loop(var, outer[0], one(var))]

    def gemm(self, c, a, b, transpose_a, transpose_b, init) -> list[tirx.Stmt]:
        """One Mmad of the whole operand tiles."""
        c, a, b = (as_region(x) for x in (c, a, b))
        (m, n), k = (
            (r.extent for r in list(c.region)[-2:]),
            list(a.region)[-2:][not int(transpose_a)].extent,
        )
        for operand in (a, b):
            self.require(
                all(is_const(r.min, 0) for r in operand.region), "a gemm operand starts at 0"
            )
        row0, col0 = (r.min for r in list(c.region)[-2:])
        into = self.cube.tiles[c.source]
        rows = self.cube.product_rows[c.source]
        self.require(
            self.proves_equal(rows, m), "all products into one L0C tile have the same rows"
        )
        self.require(is_const(row0, 0), "a gemm result starts at row 0")
        self.require(
            divides(into.fractal.f_cols, col0, self.ctx.analyzer),
            "a gemm result starts at a whole fractal",
        )
        self.check("mmad", m=m, n=n, k=k)
        # A single row would be read as a plain vector instead of fractals [doc: ASCEND 2.2].
        if not proves(self.ctx.analyzer, m >= 2):
            m = self.simplify(tirx.max(m, 2))
        where = into.at(self.simplify(col0 * align(m, into.fractal.f_rows)))
        left, right = (self.cube.tiles[x.source].at(0) for x in (a, b))
        return [self.emit("mmad", where, left, right, m, n, k, init)]

    def store(self, src: TensorRegion, dst: TensorRegion) -> list[tirx.Stmt]:
        """L0C -> GM through Fixpipe, clipped at the edges of the tensor."""
        tile = self.cube.tiles[src.source]
        row_axis, col_axis = self.gm_axes(dst, src)
        rows, cols = (self.clipped(dst, axis) for axis in (row_axis, col_axis))
        dtypes = dtype_of(dst.source), dtype_of(src.source)
        if dtypes not in DRAINS:
            raise errors.NoFixpipeCast(*dtypes, list(DRAINS), self.ctx.span)
        row0, col0 = (r.min for r in list(src.region)[-2:])
        # Mmad packs the fractals of the rows it computes, not those of the buffer.
        stride = self.simplify(align(self.product_rows_of(src), tile.fractal.f_rows))
        where = tile.at(self.simplify(col0 * stride + row0 * tile.fractal.f_cols))
        pitch = strides_of(dst.source)[row_axis]
        self.check("fixpipe", m_size=rows, n_size=cols)
        target = load_at(dst, [r.min for r in dst.region])
        return [
            self.emit("fixpipe", target, where, cols, rows, stride, pitch, False, DRAINS[dtypes])
        ]

    def product_rows_of(self, src: TensorRegion):
        """The rows that the products into an L0C tile compute, in terms known at its store."""
        named = list(src.region)[-2].extent
        rows = self.cube.product_rows.get(src.source, named)
        if isinstance(rows, tirx.IntImm):
            return rows
        self.require(
            self.proves_equal(rows, named), "a store from L0C names all rows of its products"
        )
        return named

    def gm_axes(self, gm: TensorRegion, tile: TensorRegion) -> tuple[int, int]:
        """The axes of the tensor that are rows and columns of the tile."""
        axes = long_axes(gm)
        last = len(gm.region) - 1
        if len(axes) == 2:
            row, col = axes
        else:
            row, col = last - 1, last
            self.require(
                last >= 1 and set(axes) <= {row, col}, "a Cube tile is a matrix of the tensor"
            )
        self.require(
            is_const(strides_of(gm.source)[col], 1), "columns of a Cube tile are contiguous in GM"
        )
        return row, col

    def clipped(self, gm: TensorRegion, axis: int):
        """Extent along an axis of the part inside the tensor."""
        r, shape = gm.region[axis], gm.source.shape[axis]
        if proves(self.ctx.analyzer, r.min + r.extent <= shape):
            return self.simplify(r.extent)
        return self.simplify(tirx.max(tirx.min(r.extent, shape - r.min), 0))

    def simplify(self, expr):
        return self.ctx.simplify(expr)

    def proves_equal(self, a, b) -> bool:
        return self.ctx.analyzer.can_prove_equal(a, b)

    def emit(self, key: str, *args) -> tirx.Stmt:
        return self.ctx.emit(key, *args)

    def loop(self, var, extent, body) -> tirx.Stmt:
        return tirx.For(var, 0, extent, tirx.ForKind.SERIAL, body, span=self.ctx.span)

    def fits(self, key: str, name: str, value) -> bool:
        upper = self.ctx.upper(value)
        return upper is not None and upper <= limit(key, name)

    def check(self, key: str, **fields) -> None:
        for name, value in fields.items():
            if not self.fits(key, name, value):
                raise errors.FieldOverflow(
                    key, name, self.ctx.upper(value), limit(key, name), self.ctx.span
                )

    def require(self, holds: bool, rule: str) -> None:
        if not holds:
            raise errors.CubeTileRule(rule, self.ctx.span)


def load_at(region: TensorRegion, indices) -> tvm.ir.TensorLoad:
    """The address of an element of a region's buffer."""
    return tirx.BufferLoad(region.source, list(indices))
