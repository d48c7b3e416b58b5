# SPDX-License-Identifier: Apache-2.0
"""Random programs: what InsertSync inserts is enough, and nothing of it can go."""

from __future__ import annotations

import functools

import hypothesis
import tvm
from hypothesis import strategies as st
from tvm import tirx

from tests.transform.order_oracle import faults
from tvm_ascend.language.ops import call
from tvm_ascend.transform import insert_sync
from tvm_ascend.transform.insert_sync import InsertSync
from tvm_ascend.transform.sync.program import read_program
from tvm_ascend.transform.sync_edit import list_syncs, without_sync

TILE = 16


def buffer(name, shape, scope):
    return tirx.decl_buffer(shape, "float32", name, scope=scope)


class Maker:
    """Builds a program from drawn numbers."""

    def __init__(self, draw, branches: bool, trips: int) -> None:
        self.draw, self.branches, self.trips = draw, branches, trips
        self.gm = [buffer(n, (4096,), "global") for n in "AB"]
        count = draw(st.integers(1, 4))
        self.ub = [buffer(f"u{i}", (8 * TILE,), "shared.ub") for i in range(count)]
        # Several tiles at the same or half overlapping addresses: planned reuse.
        places = st.integers(0, 6).map(lambda i: i * TILE * 2)
        self.addresses = [draw(places) for _ in self.ub]
        self.loads = 0

    def index(self, loops):
        """A tile number: fixed, cycling with a loop, or moving with it."""
        kind = self.draw(st.integers(0, 3)) if loops else 0
        if kind == 0:
            return tirx.const(self.draw(st.integers(0, 1)), "int32")
        loop = self.draw(st.sampled_from(loops))
        if kind == 1:
            return loop
        return tirx.floormod(loop, self.draw(st.integers(2, 3)))

    def tile(self, loops):
        return tirx.BufferLoad(self.draw(st.sampled_from(self.ub)), [self.index(loops) * TILE])

    def gm_tile(self, loops):
        place = tirx.const(self.draw(st.integers(0, 1)), "int32")
        for loop in loops:
            place = place * 8 + loop
        return tirx.BufferLoad(self.draw(st.sampled_from(self.gm)), [place * TILE])

    def work(self, loops):
        kind = self.draw(st.sampled_from(["in", "out", "adds", "adds", "add", "get", "set"]))
        if kind == "in":
            rest = (1, TILE * 4, 0, 0, False, 0, 0, 0.0)
            return call("data_copy_pad_in", self.tile(loops), self.gm_tile(loops), *rest)
        if kind == "out":
            return call(
                "data_copy_pad_out", self.gm_tile(loops), self.tile(loops), 1, TILE * 4, 0, 0
            )
        if kind == "adds":
            return call("adds", self.tile(loops), self.tile(loops), 1.0, TILE)
        if kind == "add":
            return call("add", self.tile(loops), self.tile(loops), self.tile(loops), TILE)
        tile = self.tile(loops)
        if kind == "set":
            return tirx.BufferStore(tile.source, tirx.FloatImm("float32", 1.0), tile.indices)
        return call("adds", self.tile(loops), self.tile(loops), tile, TILE)

    def block(self, loops, depth):
        out = []
        for _ in range(self.draw(st.integers(1, 4))):
            kind = self.draw(st.integers(0, 5)) if depth else 5
            if kind <= 1:
                var = tirx.Var(f"k{len(loops)}", "int32")
                body = self.block([*loops, var], depth - 1)
                trips = self.draw(st.integers(1, self.trips - 2 * len(loops)))
                out.append(tirx.For(var, 0, trips, tirx.ForKind.SERIAL, body))
            elif kind == 2 and self.branches and loops:
                guard = tirx.EQ(tirx.floormod(loops[-1], 2), tirx.const(0, "int32"))
                sides = [self.block(loops, 0) for _ in range(self.draw(st.integers(1, 2)))]
                out.append(tirx.IfThenElse(guard, sides[0], sides[1] if len(sides) > 1 else None))
            else:
                out.append(self.work(loops))
        return tirx.SeqStmt(out) if len(out) > 1 else out[0]

    def function(self):
        body = self.block([], 2)
        allocs = [
            tirx.AllocBuffer(b, {"ascend.address": a})
            for b, a in zip(self.ub, self.addresses, strict=True)
        ]
        func = tirx.PrimFunc(self.gm, tirx.SeqStmt([*allocs, body]), ret_type=None)
        return func.with_attr({"global_symbol": "f", "target": tvm.target.Target("ascend")})


@st.composite
def programs(draw, branches=False, trips=6):
    return Maker(draw, branches, trips).function()


def synced(func):
    return InsertSync()(tvm.IRModule({"f": func}))["f"]


@hypothesis.settings(max_examples=60)
@hypothesis.given(programs())
def test_inserted_syncs_are_enough_and_none_is_idle(func):
    after = synced(func)
    assert faults(after) == []
    for index, info in enumerate(list_syncs(after)):
        assert faults(without_sync(after, index)), f"{info.kind} {info.event} is not needed"


@hypothesis.settings(max_examples=40)
@hypothesis.given(programs(branches=True))
def test_inserted_syncs_are_enough_with_branches(func):
    assert faults(synced(func)) == []


@hypothesis.settings(
    max_examples=40, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture]
)
@hypothesis.given(programs(trips=9))
def test_a_few_iterations_decide_for_all(monkeypatch, func):
    few = functools.partial(read_program, most_instances=0)
    monkeypatch.setattr(insert_sync, "read_program", few)
    assert faults(synced(func)) == []


def test_the_checker_sees_a_missing_barrier():
    u = buffer("u", (64,), "shared.ub")
    add = call("adds", u, u, 1.0, 64)
    alloc = tirx.AllocBuffer(u, {"ascend.address": 0})
    func = tirx.PrimFunc([], tirx.SeqStmt([alloc, add, add]), ret_type=None)
    assert len(faults(func)) == 1
