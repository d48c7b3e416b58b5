# SPDX-License-Identifier: Apache-2.0
"""PlanMemory: addresses, sharing only when needed, banks, and the report of an overflow."""

import itertools

import hypothesis
import pytest
import tvm
from hypothesis import strategies as st
from tvm import tirx
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend.errors import OnChipOverflow
from tvm_ascend.hw import CHIPS
from tvm_ascend.language.ops import call
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.plan_memory import PlanMemory, memory_map

CHIP = CHIPS["910b1"]
TARGET = {"target": tvm.target.Target("ascend"), "global_symbol": "kernel"}


def run(func):
    return PlanMemory()(tvm.IRModule({"main": func.with_attr(TARGET)}))["main"]


def addresses(func):
    return {e.name: e.address for e in memory_map(run(func))}


def test_every_memory_has_its_own_addresses():
    @T.prim_func
    def before():
        a = T.alloc_buffer((24,), "float16", scope="shared.l1")
        b = T.alloc_buffer((256,), "float16", scope="shared.l1")
        c = T.alloc_buffer((256,), "float16", scope="local.l0a")
        T.ascend.load_data_2d(c[0], b[0], 0, 1, 1, 0, False)
        T.ascend.fill_l1(a[0], 1, 1, 0, T.float16(0))

    @T.prim_func
    def after():
        a = T.alloc_buffer((24,), "float16", scope="shared.l1", annotations={"ascend.address": 0})
        b = T.alloc_buffer((256,), "float16", scope="shared.l1", annotations={"ascend.address": 64})
        c = T.alloc_buffer((256,), "float16", scope="local.l0a", annotations={"ascend.address": 0})
        T.ascend.load_data_2d(c[0], b[0], 0, 1, 1, 0, False)
        T.ascend.fill_l1(a[0], 1, 1, 0, T.float16(0))

    assert_structural_equal(run(before).body, after.body, map_free_vars=True)


def test_a_buffer_is_as_aligned_as_its_instructions_ask_for():
    @T.prim_func
    def func():
        a = T.alloc_buffer((256,), "float16", scope="local.l0a")
        b = T.alloc_buffer((256,), "float16", scope="local.l0b")
        c = T.alloc_buffer((16,), "float32", scope="local.l0c")
        d = T.alloc_buffer((256,), "float32", scope="local.l0c")
        T.ascend.mmad(c[0], a[0], b[0], 16, 16, 16, True)
        T.ascend.mmad(d[0], a[0], b[0], 16, 16, 16, True)

    assert addresses(func)["d"] == 1024


def test_functions_without_on_chip_buffers_are_left_alone():
    @T.prim_func
    def func(A: T.Buffer((8,), "float32")):
        A[0] = A[1]

    assert_structural_equal(run(func).body, func.body)


def test_sources_of_one_instruction_lie_in_different_banks():
    @T.prim_func
    def func():
        a = T.alloc_buffer((128,), "float32", scope="shared.ub")
        b = T.alloc_buffer((128,), "float32", scope="shared.ub")
        c = T.alloc_buffer((128,), "float32", scope="shared.ub")
        T.ascend.add(c[0], a[0], b[0], 128)

    at = addresses(func)
    assert (at["a"] - at["b"]) % 512 == 256


def phases(first, second):
    """Two loops with a buffer each, in bytes."""
    a = tirx.decl_buffer((first // 4,), "float32", "a", scope="shared.ub")
    b = tirx.decl_buffer((second // 4,), "float32", "b", scope="shared.ub")
    body = [tirx.AllocBuffer(a), call("duplicate", a, 0.0, 8), call("abs", a, a, 8)]
    body += [tirx.AllocBuffer(b), call("duplicate", b, 0.0, 8), call("abs", b, b, 8)]
    return tirx.PrimFunc([], tirx.SeqStmt(body), ret_type=None)


def test_buffers_share_only_when_they_do_not_fit():
    half = CHIP.capacity("ub") // 2
    assert addresses(phases(half, half)) == {"a": 0, "b": half}
    shared = run(phases(half, half + 32))
    assert {e.address for e in memory_map(shared)} == {0}
    assert "share memory" in notes_of(shared)[0]


def test_a_buffer_used_in_a_loop_lives_as_long_as_the_loop():
    size = CHIP.capacity("ub") // 4 * 3 // 4

    @T.prim_func
    def func(A: T.Buffer((size,), "float32")):
        a = T.alloc_buffer((size,), "float32", scope="shared.ub")
        T.ascend.duplicate(a[0], T.float32(0), 8)
        for _ in range(4):
            T.ascend.abs(a[0], a[0], 8)
            b = T.alloc_buffer((size,), "float32", scope="shared.ub")
            T.ascend.duplicate(b[0], T.float32(0), 8)

    with pytest.raises(OnChipOverflow):
        run(func)


def test_overflow_lists_buffers_and_what_would_fit():
    @T.prim_func
    def func():
        tile = T.alloc_buffer((65536,), "float32", scope="shared.ub")
        small = T.alloc_buffer((64,), "float32", scope="shared.ub")
        T.ascend.duplicate(tile[0], T.float32(0), 65536)
        T.ascend.add(small[0], tile[0], small[0], 64)
        T.ascend.abs(tile[0], tile[0], 64)

    with pytest.raises(OnChipOverflow) as error:
        run(func)
    text = str(error.value)
    assert "kernel `kernel` needs 262,400 bytes of UB at once" in text
    assert f"has {CHIP.capacity('ub'):,}" in text
    assert "`tile` 262,144 bytes, lines" in text
    assert "now 65,536" in text


@st.composite
def programs(draw):
    """Random uses of buffers in nested loops."""
    count = draw(st.integers(2, 6))
    most = CHIP.capacity("ub") // 32
    buffers = [
        tirx.decl_buffer((8 * draw(st.integers(1, most)),), "float32", f"b{i}", scope="shared.ub")
        for i in range(count)
    ]
    body = [tirx.AllocBuffer(b) for b in buffers]

    def use():
        a, b = (draw(st.sampled_from(buffers)) for _ in range(2))
        return call("abs", a, b, 8)

    for _ in range(draw(st.integers(1, 5))):
        inner = [use() for _ in range(draw(st.integers(1, 3)))]
        if draw(st.booleans()):
            loop = tirx.SeqStmt(inner) if len(inner) > 1 else inner[0]
            inner = [tirx.For(tirx.Var("k", "int32"), 0, 3, tirx.ForKind.SERIAL, loop)]
        body += inner
    return tirx.PrimFunc([], tirx.SeqStmt(body), ret_type=None)


def live_ranges(func):
    """By brute force: the steps of the unrolled program between first and last use."""
    order, found = itertools.count(), {}

    def visit(stmt):
        if isinstance(stmt, tirx.SeqStmt):
            for child in stmt.seq:
                visit(child)
        elif isinstance(stmt, tirx.For):
            for _ in range(int(stmt.extent)):
                visit(stmt.body)
        elif isinstance(stmt, tirx.Evaluate):
            now = next(order)
            for load in stmt.value.args[:2]:
                first, _ = found.setdefault(str(load.source.name), (now, now))
                found[str(load.source.name)] = (first, now)

    visit(func.body)
    return found


@hypothesis.settings(max_examples=100)
@hypothesis.given(programs())
def test_live_buffers_never_share_bytes(func):
    try:
        entries = memory_map(run(func))
    except OnChipOverflow:
        return
    live = live_ranges(func)
    for a, b in itertools.combinations(entries, 2):
        assert a.address % 32 == 0
        assert a.address + a.bytes <= CHIP.capacity("ub")
        apart = a.address + a.bytes <= b.address or b.address + b.bytes <= a.address
        if a.name in live and b.name in live:
            (a0, a1), (b0, b1) = live[a.name], live[b.name]
            assert apart or a1 < b0 or b1 < a0
