# SPDX-License-Identifier: Apache-2.0
"""Flags without partner on ways that a run did not go are hazards of the run."""

import importlib.util
import textwrap

import numpy as np
import pytest

from tests.dev.test_proof_ways import by_core, by_data
from tests.mixed_kernels import matmul_bias_relu
from tvm_ascend import Options, SimOptions, compile
from tvm_ascend import language as T
from tvm_ascend.build import rebuild
from tvm_ascend.errors import FlagProtocolError
from tvm_ascend.transform.sync import flag_way, untaken
from tvm_ascend.transform.sync.flag_way import FlagWay
from tvm_ascend.transform.sync.untaken import unmatched_flags
from tvm_ascend.transform.sync_edit import sync_statements, without_statement

KIND = "unmatched_flag_in_untaken_branch"
SOURCE = """
from tvm_ascend import language as T


@T.prim_func
def kernel(A: T.Tensor((64,), "float32"), N: T.Tensor((4,), "int32"), n: T.int32,
           B: T.Tensor(({cores} * 64,), "float32")):
    with T.Kernel({cores}) as bx:
        a = T.alloc_ub((64,), "float32")
        T.ascend.data_copy_pad_in(a[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.set_flag("MTE2_MTE3", 0)
        T.ascend.wait_flag("MTE2_MTE3", 0)
{body}
        T.ascend.data_copy_pad_out(B[bx * 64], a[0], 1, 256, 0, 0)
"""
IDLE = 'T.ascend.pipe_barrier("V")'
SET, WAIT = 'T.ascend.set_flag("MTE2_V", 1)', 'T.ascend.wait_flag("MTE2_V", 1)'
# Where the flag is used again the wait has to be over.
BACK = 'T.ascend.set_flag("V_MTE2", 2)\nT.ascend.wait_flag("V_MTE2", 2)'
AGAIN = {4: textwrap.indent(BACK, " " * 4).lstrip(), 8: textwrap.indent(BACK, " " * 8).lstrip()}
MORE = "\n    " + AGAIN[4]

# Each goes with N = 0 and n = 0 where nothing is wrong, and is wrong elsewhere.
WRONG = {
    "set in a side": (f"if N[0] > 0:\n    {SET}", "raises a flag, and no wait", "is taken"),
    "wait in a side": (f"if n > 0:\n    {WAIT}", "nothing raises that flag", "is taken"),
    "set in the other side": (
        f"if N[0] <= 0:\n    {IDLE}\nelse:\n    {SET}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "wait in one side alone": (
        f"{SET}\nif n <= 0:\n    {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "of other data": (
        f"if N[0] > 0:\n    {SET}\nif n > 0:\n    {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "in a loop": (f"for i in T.serial(n):\n    {SET}", "raises a flag, and no wait", "runs"),
    "behind a jump": (
        f"for i in T.serial(3):\n    {SET}\n    if n > i:\n        break\n    {WAIT}{MORE}",
        "raises a flag, and no wait",
        "is taken",
    ),
    "nested": (
        f"if n > 0:\n    if N[1] > 0:\n        {SET}\n    {IDLE}",
        "raises a flag, and no wait",
        "is taken",
    ),
    "in no side of a chain": (
        f"if N[0] == 0:\n    {SET}\nelif N[0] > 1:\n    {SET}\n{WAIT}",
        "nothing raises that flag",
        "is not taken",
    ),
    "nested in the other side": (
        f"{SET}\nif n <= 0:\n    {WAIT}\nelse:\n    if N[0] > 0:\n        {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "a loop in the other side": (
        f"{SET}\nif n <= 0:\n    {WAIT}\nelse:\n    for i in T.serial(N[1]):\n        {WAIT}",
        "raises a flag, and no wait",
        "does not run",
    ),
    "related in linear arithmetic": (
        f"if N[0] > 0:\n    {SET}\nif N[0] > 3:\n    {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "stored": (
        f"N[2] = N[0]\nif N[2] > 0:\n    {SET}\nif N[1] > 0:\n    {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
    "on the sixth core": (
        f"{SET}\nif bx == 5:\n    if N[0] <= 0:\n        {WAIT}\nelse:\n    {WAIT}",
        "raises a flag, and no wait",
        "is not taken",
    ),
}
RIGHT = {
    "in the same side": f"if N[0] > 0:\n    {SET}\n    {WAIT}",
    "same condition": f"if N[0] > 0:\n    {SET}\n{IDLE}\nif N[0] > 0:\n    {WAIT}",
    "implied": f"if n > 0:\n    {SET}\nif n >= 1:\n    {WAIT}",
    "negated": f"if n > 0:\n    {SET}\nif n <= 0:\n    {IDLE}\nelse:\n    {WAIT}",
    "a set in each side": f"if n > 0:\n    {SET}\nelse:\n    {SET}\n{WAIT}",
    "every iteration": f"for i in T.serial(n):\n    {SET}\n    {WAIT}\n    {AGAIN[4]}",
    "across iterations": (
        f"for i in T.serial(n):\n    if i > 0:\n        {WAIT}\n        {AGAIN[8]}\n"
        f"    if i + 1 < n:\n        {SET}"
    ),
    "one iteration late": (
        f"if n > 0:\n    {SET}\nfor i in T.serial(n):\n    {WAIT}\n    {AGAIN[4]}\n"
        f"    if i + 1 < n:\n        {SET}"
    ),
    "each element": (
        f"for i in T.serial(4):\n    if N[i] > 0:\n        {SET}\n"
        f"    if N[i] > 0:\n        {WAIT}\n        {AGAIN[8]}"
    ),
    "a loop that ends": (
        f"for i in T.serial(4):\n    if N[i] > 0:\n        break\n    {SET}\n    {WAIT}\n"
        f"    {AGAIN[4]}"
    ),
    "stored": f"N[2] = N[0]\nif N[2] > 0:\n    {SET}\nif N[0] > 0:\n    {WAIT}",
    "stored in each side": (
        f"if N[0] > 0:\n    N[2] = 1\nelse:\n    N[2] = 0\nif N[2] == 1:\n    {SET}\n"
        f"if N[0] > 0:\n    {WAIT}"
    ),
    "stored elsewhere": (f"if N[0] > 0:\n    {SET}\nN[2] = 0\nif N[0] > 0:\n    {WAIT}"),
    "counted in memory": (
        f"N[2] = 0\nwhile N[2] < 3:\n    if N[0] > 0:\n        {SET}\n        {WAIT}\n"
        f"        {AGAIN[8]}\n    N[2] = N[2] + 1"
    ),
    "written by an instruction": (
        'c = T.alloc_ub((64,), "int32")\nT.ascend.duplicate(c[0], T.int32(1), 64)\n'
        'T.ascend.set_flag("V_S", 3)\nT.ascend.wait_flag("V_S", 3)\n'
        f"if c[0] == 1:\n    {SET}\n{WAIT}"
    ),
    "not a linear condition": (f"if N[0] * N[0] > 0:\n    {SET}\nif N[0] != 0:\n    {WAIT}"),
    "the same on every core": (
        f"{SET}\nif bx == 5:\n    if N[0] > 0:\n        {WAIT}\n    else:\n        {WAIT}\n"
        f"else:\n    {WAIT}"
    ),
    "two named": f"m = N[0] + n\nif m > 0:\n    {SET}\nif m > 0:\n    {WAIT}",
}


def build(tmp_path, body):
    path = tmp_path / "ways.py"
    cores = 8 if "bx" in body else 1
    path.write_text(SOURCE.format(body=textwrap.indent(body, " " * 8), cores=cores))
    spec = importlib.util.spec_from_file_location("ways", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return compile(module.kernel, out_idx=3, options=Options(cache=False))


def inputs(n=0, elements=0):
    return np.zeros(64, "float32"), np.full(4, elements, "int32"), n


@pytest.mark.parametrize("case", WRONG)
def test_a_way_that_the_run_did_not_go_is_reported(tmp_path, case):
    body, what, way = WRONG[case]
    kernel = build(tmp_path, body)
    report = kernel.profile(*inputs(), sim=SimOptions(strict=False))
    hazards = [h for h in report.hazards if h.kind == KIND]
    assert hazards
    assert len(hazards) == len(report.hazards)
    found = [h for h in hazards if what in h.message and f" {way}" in h.message]
    assert found, hazards
    assert "ways.py:" in found[0].first.where
    assert found[0].message.count("ways.py:") >= 2
    with pytest.raises(FlagProtocolError, match=KIND):
        kernel(*inputs())


@pytest.mark.parametrize("case", RIGHT)
def test_ways_whose_flags_match_are_not(tmp_path, case):
    kernel = build(tmp_path, RIGHT[case])
    assert unmatched_flags(kernel.stages["final"]) == []
    for values in (inputs(), inputs(1, 1), inputs(3, 1)):
        kernel(*values)


def test_a_run_that_goes_there_reports_what_happens(tmp_path):
    kernel = build(tmp_path, WRONG["set in a side"][0])
    report = kernel.profile(*inputs(0, 1), sim=SimOptions(strict=False))
    assert [h.kind for h in report.hazards] == ["unconsumed_flag"]


def test_the_statement_that_would_have_been_the_partner_is_named(tmp_path):
    kernel = build(tmp_path, WRONG["wait in one side alone"][0])
    (hazard,) = kernel.profile(*inputs(), sim=SimOptions(strict=False)).hazards
    assert (hazard.first.text, hazard.second.text) == (SET, WAIT)
    assert "WaitFlag<HardEvent::MTE2_V>" in hazard.fix


def test_the_ways_that_are_followed_are_limited(tmp_path, monkeypatch):
    sides = [f"    if N[{k % 4}] > {k}:\n        {IDLE}\n        {SET}\n" for k in range(8)]
    body = "if bx == 7:\n" + "".join(f"{side}        {WAIT}\n" for side in sides)
    kernel = build(tmp_path, body)
    final = kernel.stages["final"]
    followed = []
    run = FlagWay.run
    monkeypatch.setattr(FlagWay, "run", lambda way: followed.append(way) or run(way))
    assert unmatched_flags(final) == []
    every = len(followed)
    monkeypatch.setattr(untaken, "MOST_WAYS", 10)
    followed.clear()
    assert unmatched_flags(final) == []
    assert 10 <= len(followed) < 20 < every


LONG = {
    "values that double": """
s = T.alloc_fragment((1,), "int32")
s[0] = N[0]
for i in T.serial(200):
    s[0] = T.bitwise_xor(s[0], T.shift_left(s[0], T.int32(13)))
    s[0] = T.bitwise_xor(s[0], T.shift_right(s[0], T.int32(7)))
    if T.bitwise_and(s[0], 1) == 1:
        T.ascend.set_flag("MTE2_V", 1)
        T.ascend.wait_flag("MTE2_V", 1)
""",
    "facts that gather": """
c = T.alloc_fragment((1,), "int32")
c[0] = 0
for i in T.serial(3000):
    if N[i % 4] > i:
        c[0] = c[0] + 1
        T.ascend.set_flag("MTE2_V", 1)
        T.ascend.wait_flag("MTE2_V", 1)
""",
}


@pytest.mark.parametrize("form", LONG)
def test_the_work_for_a_program_is_limited(tmp_path, monkeypatch, form):
    """Values that double with every iteration made compiling never end."""
    spent = []
    spend = flag_way.Work.spend
    monkeypatch.setattr(flag_way.Work, "spend", lambda w, n: spent.append(n) or spend(w, n))
    build(tmp_path, LONG[form])
    assert 0 < sum(spent) < 2 * flag_way.Work().left


def test_nothing_is_said_without_hazards(tmp_path):
    kernel = build(tmp_path, WRONG["set in a side"][0])
    assert kernel.profile(*inputs(), sim=SimOptions(hazards=False)).hazards == []


@T.prim_func
def dynamic(A: T.Tensor((8, 256), "float32"), N: T.Tensor((8,), "int32"), n: T.int32,
            B: T.Tensor((8, 256), "float32")):  # fmt: skip
    with T.Kernel(2) as bx:
        a = T.alloc_fragment((256,))
        w = T.alloc_fragment((256,))
        T.copy(A[bx, 0], w)
        T.copy(A[bx, 0], a)
        for i in T.serial(n):
            if N[i] > 2:
                T.copy(A[i, 0], a)
                for j in T.Parallel(256):
                    a[j] = a[j] + w[j]
            if N[bx] > 0:
                T.copy(A[i, 0], w)
            if i + 1 < n:
                for j in T.Parallel(256):
                    w[j] = w[j] + a[j]
            T.copy(a, B[i, 0])
        if n > 3:
            T.copy(w, B[7, 0])


@pytest.mark.parametrize(
    "func",
    [by_core, by_data, dynamic, matmul_bias_relu(96, 32, 32)],
    ids=["by core", "by data", "dynamic", "mixed"],
)
def test_what_the_compiler_inserts_matches_on_every_way(func):
    final = compile(func, options=Options(cache=False)).stages["final"]
    assert unmatched_flags(final) == []


def test_each_flag_statement_taken_from_the_compiler_is_missed_without_going_there():
    kernel = compile(by_data, out_idx=2, options=Options(cache=False))
    final = kernel.stages["final"]
    inputs = (np.zeros((6, 256), "float32"), np.ones(6, "int32"))
    kernel(*inputs)
    kinds = []
    for index, statement in enumerate(sync_statements(final)):
        if "_flag" in str(statement):
            broken = rebuild(kernel, without_statement(final, index))
            hazards = broken.profile(*inputs, sim=SimOptions(strict=False)).hazards
            assert hazards, statement
            kinds.append(hazards[0].kind)
    assert KIND in kinds
    assert set(kinds) > {KIND}
