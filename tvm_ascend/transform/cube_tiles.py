# SPDX-License-Identifier: Apache-2.0
"""The physical buffers behind the tiles in the Cube's memories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.fractal import Fractal, accumulator_of, fractal_of
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import dtype_of
from tvm_ascend.transform.infer_layout import LAYOUT, TRANSPOSED
from tvm_ascend.transform.tile_args import as_region


@dataclass(frozen=True)
class CubeTile:
    """One on-chip matrix: its physical 1-D buffer and the layout of the elements inside.

    ``fractal`` describes the matrix as the Cube sees it; a ``transposed`` one is written by the
    program with rows and columns exchanged. ``k_rows`` tells that its rows are the reduction axis,
    ``m_rows`` that they are the rows of the product.
    """

    buffer: tvm.ir.Var
    fractal: Fractal
    transposed: bool = False
    k_rows: bool = False
    m_rows: bool = False

    def at(self, offset) -> tvm.ir.TensorLoad:
        """The address of a physical element."""
        return tirx.BufferLoad(self.buffer, [offset])


class CubeTiles:
    """Every Cube tile of a function."""

    def __init__(self, func: tirx.PrimFunc, chip: ChipSpec):
        self.chip = chip
        self.tiles: dict[tvm.ir.Var, CubeTile] = {}
        self.product_rows: dict[tvm.ir.Var, tvm.ir.Expr] = {}
        tvm_ffi.structural_walk(func.body, [(tirx.AllocBuffer, self._allocated)])
        tvm_ffi.structural_walk(func.body, [(tirx.Evaluate, self._used)])

    def _allocated(self, alloc: tirx.AllocBuffer) -> None:
        if TRANSPOSED not in alloc.annotations:  # no tile of the Cube, or one selected already
            return
        layout, space = alloc.annotations[LAYOUT], space_of(alloc.buffer)
        buffer, dtype = alloc.buffer, dtype_of(alloc.buffer)
        rows, cols = (int(extent) for extent in list(buffer.shape)[-2:])
        turned = bool(int(alloc.annotations[TRANSPOSED]))
        if turned:
            rows, cols = cols, rows
        if space is Space.L0C:
            fractal = accumulator_of(rows, cols, self.chip)
        else:
            fractal = fractal_of(str(layout), rows, cols, dtype, self.chip)
        physical = tirx.decl_buffer((fractal.elements,), dtype, buffer.name, scope=buffer.scope())
        k_rows = (space is Space.L0A and turned) or (space is Space.L0B and not turned)
        m_rows = space is Space.L0A and not turned
        self.tiles[buffer] = CubeTile(physical, fractal, turned, k_rows, m_rows)

    def _used(self, stmt: tirx.Evaluate) -> None:
        """An L1 tile has the orientation of the L0 tiles made from it."""
        if key_of(stmt) == "tile_gemm":
            c = as_region(stmt.value.args[0])
            self.product_rows.setdefault(c.source, list(c.region)[-2].extent)
        if key_of(stmt) != "tile_copy":
            return
        src, dst = (as_region(arg).source for arg in stmt.value.args)
        if space_of(dst) in (Space.L0A, Space.L0B) and src in self.tiles:
            l0 = self.tiles[dst]
            self.tiles[src] = replace(self.tiles[src], k_rows=l0.k_rows, m_rows=l0.m_rows)

    def allocation(self, alloc: tirx.AllocBuffer) -> tirx.AllocBuffer:
        """The allocation of the physical buffer; one that is no Cube tile comes back unchanged."""
        tile = self.tiles.get(alloc.buffer)
        if tile is None:
            return alloc
        kept = {k: v for k, v in alloc.annotations.items() if k != TRANSPOSED}
        return tirx.AllocBuffer(tile.buffer, kept, alloc.span)
