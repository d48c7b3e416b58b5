# SPDX-License-Identifier: Apache-2.0
"""What the cost model sees of a candidate: operations, bytes and tile shapes of its tile program.

TVM's ``PerStoreFeature`` looks at stores inside loops; a tile operation is one call, so it would
see nothing of the copies and matrix steps that decide the time of a kernel.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range
from tvm.ir.utils import derived_object
from tvm.s_tir.meta_schedule.feature_extractor import PyFeatureExtractor

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.language.ops import key_of
from tvm_ascend.layout.fractal import ceildiv
from tvm_ascend.layout.scope import space_of
from tvm_ascend.sym import Analyzer
from tvm_ascend.transform.lower_blocks import lower_schedule
from tvm_ascend.tune.space import Space

_UNBOUNDED = 2**31
_STAGES = "ascend.num_stages"
_PATHS = ("gm_l1", "l1_l0a", "l1_l0b", "l0c_gm", "gm_ub", "ub_gm")
_INTO_L0 = ("l1_l0a", "l1_l0b")
_MEMORIES = ("l1", "l0a", "l0b", "l0c", "ub")
_PER_BLOCK = (
    *(f"{path}_{what}" for path in _PATHS for what in ("ops", "bytes", "rows")),
    *(f"gemm_{what}" for what in ("ops", "products", "m", "n", "k")),
    *("fill_ops", "reduce_ops", "reduce_elements", "scalar_stores"),
    *(f"{memory}_{what}" for memory in _MEMORIES for what in ("bytes", "copies")),
)
NAMES = (*_PER_BLOCK, *(f"{path}_per_load" for path in _INTO_L0), "grid", "waves", "idle_share")
"""Feature names, in the order of the vector that ``features_of`` returns."""


def features_of(func: tirx.PrimFunc, chip: ChipSpec) -> np.ndarray:
    """Features of one tile program.

    Amounts are those of one block of the grid, as log2(1 + x), so that a tree splits on ratios.
    Cube steps for one load of each operand into L1 are given as well: a tree that splits on one
    feature at a time needs many samples to find the ratio of two.
    """
    count = _Count()
    tvm_ffi.structural_visit(
        func.body,
        [
            (tirx.AttrStmt, count.grid_of),
            (tirx.For, count.loop),
            (tirx.AllocBuffer, count.allocation),
            (tirx.BufferStore, count.store),
            (tirx.Evaluate, count.operation),
        ],
    )
    cores = chip.cores("AIC" if count.amounts["gemm_ops"] else "AIV")
    waves = ceildiv(count.grid, cores)
    idle = 1 - count.grid / (waves * min(cores, count.grid))
    amounts = [math.log2(1 + count.amounts[name]) for name in _PER_BLOCK]
    ratios = [math.log2(count.per_load(path)) for path in _INTO_L0]
    blocks = math.log2(count.grid), math.log2(waves), idle
    return np.array([*amounts, *ratios, *blocks], dtype="float32")


class _Count:
    """Adds up operations while walking the loops of one block."""

    def __init__(self) -> None:
        self.amounts: dict[str, float] = defaultdict(float)
        self.grid = 1
        self._copies: dict[tuple[str, tirx.Var], int] = defaultdict(int)
        self._bounds = Analyzer()
        self._times = 1
        self._depth = 1

    def per_load(self, path: str) -> float:
        """Copies from L1 to L0 for each load of the tiles that they read; 1 if there are none."""
        tiles = {source: count for (way, source), count in self._copies.items() if way == path}
        loads = sum(self._copies["gm_l1", tile] for tile in tiles)
        return sum(tiles.values()) / loads if loads else 1.0

    def grid_of(self, stmt: tirx.AttrStmt, visitor) -> None:
        if stmt.attr_key == "thread_extent":
            self.grid *= self._size(stmt.value)
            self._bounds.bind(stmt.node.var, Range.from_min_extent(0, stmt.value))
        visitor.default_visit(stmt)

    def loop(self, stmt: tirx.For, visitor) -> None:
        outside = self._times, self._depth
        self._times *= self._size(stmt.extent)
        self._bounds.bind(stmt.loop_var, Range.from_min_extent(stmt.min, stmt.extent))
        if _STAGES in stmt.annotations:
            self._depth = int(stmt.annotations[_STAGES])
        visitor.default_visit(stmt)
        self._times, self._depth = outside

    def allocation(self, stmt: tirx.AllocBuffer, _visitor) -> None:
        memory = _memory(stmt.buffer)
        size = math.prod(self._size(n) for n in stmt.buffer.shape) * _itemsize(stmt.buffer)
        self.amounts[f"{memory}_bytes"] += self._depth * size
        self.amounts[f"{memory}_copies"] = max(self.amounts[f"{memory}_copies"], self._depth)

    def store(self, stmt: tirx.BufferStore, _visitor) -> None:
        self.amounts["scalar_stores"] += self._times

    def operation(self, stmt: tirx.Evaluate, _visitor) -> None:
        key = key_of(stmt)
        if key == "tile_copy":
            self._copy(*stmt.value.args)
        elif key == "tile_gemm":
            c, a, b, transpose_a = stmt.value.args[:4]
            self._gemm(c, a, b, bool(transpose_a))
        elif key == "tile_fill":
            self.amounts["fill_ops"] += self._times
        elif key == "tile_reduce":
            self.amounts["reduce_ops"] += self._times
            self.amounts["reduce_elements"] += self._times * math.prod(
                self._extents(stmt.value.args[1])
            )

    def _copy(self, src, dst) -> None:
        path = f"{_memory(src.source)}_{_memory(dst.source)}"
        shape = self._extents(src)
        outer = src if _memory(src.source) == "gm" else dst
        self._copies[path, (dst if path == "gm_l1" else src).source] += self._times
        self.amounts[f"{path}_ops"] += self._times
        self.amounts[f"{path}_bytes"] += self._times * math.prod(shape) * _itemsize(outer.source)
        self.amounts[f"{path}_rows"] += self._times * math.prod(shape[:-1])

    def _gemm(self, c, a, b, transpose_a: bool) -> None:
        m, n = self._extents(c)[-2:]
        k = self._extents(a)[-2 if transpose_a else -1]
        self.amounts["gemm_ops"] += self._times
        self.amounts["gemm_products"] += self._times * m * n * k
        for name, size in (("m", m), ("n", n), ("k", k)):
            self.amounts[f"gemm_{name}"] = max(self.amounts[f"gemm_{name}"], size)

    def _extents(self, operand) -> list[int]:
        """Extents of a region; an element is a region of one."""
        if isinstance(operand, tvm.ir.TensorLoad):
            return [1] * len(operand.indices)
        return [self._size(r.extent) for r in operand.region]

    def _size(self, value) -> int:
        """An extent, or the most it can be: a tile at a tensor's edge counts as a whole one."""
        most = int(self._bounds.const_int_bound(value).max_value)
        return most if most < _UNBOUNDED else 1


def _memory(buffer) -> str:
    space = space_of(buffer)
    return "ub" if space is None else space.name.lower()


def _itemsize(buffer) -> int:
    return tvm.DataType(buffer.dtype).itemsize


@derived_object
class TileFeatures(PyFeatureExtractor):
    """Extracts ``features_of`` and the closed form's cycles; the same decisions only once."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self._known: dict[tuple[int, ...], np.ndarray] = {}

    def extract_from(self, context, candidates) -> list[tvm.runtime.Tensor]:
        """One row of features for every candidate."""
        return [tvm.runtime.tensor(self._row(c.sch)) for c in candidates]

    def _row(self, sch) -> np.ndarray:
        decisions: Mapping[str, int] = self.space.decisions(sch.trace)
        key = tuple(decisions.values())
        if key not in self._known:
            func = lower_schedule(sch.mod["main"])
            estimate = math.log2(self.space.estimate(decisions))
            self._known[key] = np.append(features_of(func, self.space.chip), np.float32(estimate))
        return self._known[key][None, :]
