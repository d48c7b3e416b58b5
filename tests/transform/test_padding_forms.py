# SPDX-License-Identifier: Apache-2.0
"""One meaning however it is written: equal kernels over tiles that overrun, against numpy.

Numpy sees the elements that exist and nothing else.
"""

import importlib.util
import textwrap

import numpy as np
import pytest
import tvm

from tests.transform.kernels import assert_equal, integers, run
from tvm_ascend import language as T
from tvm_ascend.errors import PaddingCounts
from tvm_ascend.transform.keep_padding_out import KeepPaddingOut

SIZE, TILE = 48, 32

SOURCE = """
from tvm_ascend import language as T


@T.prim_func
def kernel(A: T.Tensor((48,), "float32"), B: T.Tensor((2,), "float32")):
    with T.Kernel(2) as bx:
        a = T.alloc_fragment((32,))
        b = T.alloc_fragment((32,))
        s = T.alloc_fragment((1,))
        T.copy(A[bx * 32], a)
{body}
        T.copy(s, B[bx])
"""

# What is done to the elements of `a`, in every way to write it.
LOOPS = {
    "parallel": "T.Parallel(32)",
    "serial": "T.serial(32)",
    "unroll": "T.unroll(32)",
    "vectorized": "T.vectorized(32)",
}
GUARDED = {
    "guard": "if {c}:\n    a[j] = {v}",
    "choice": "a[j] = T.if_then_else({c}, {v}, a[j])",
    "turned": "a[j] = T.if_then_else(not ({c}), a[j], {v})",
    "nested": "if j >= 0:\n    if {c}:\n        a[j] = {v}",
    "else": "if not ({c}):\n    a[j] = a[j]\nelse:\n    a[j] = {v}",
    "other": "b[j] = T.if_then_else({c}, {v}, a[j])\na[j] = b[j]",
    "name": "x = a[j]\nif {c}:\n    x = {v}\na[j] = x",
}
RANGES = {
    "parallel": "for j in T.Parallel({n}):\n    a[j + {low}] = 3.0",
    "serial": "for j in T.serial({low}, {low} + {n}):\n    a[j] = 3.0",
    "backwards": "for j in T.serial({n}):\n    a[{low} + {n} - 1 - j] = 3.0",
    "fill": "T.fill(a[{low}:{low} + {n}], 3.0)",
    "copy": "T.fill(b, 3.0)\nT.copy(b[{low}:{low} + {n}], a[{low}:{low} + {n}])",
    "guard": "for j in T.Parallel(32):\n    if j >= {low} and j < {low} + {n}:\n        a[j] = 3.0",
}
REDUCTIONS = {
    "reduce": "T.reduce_{kind}(a, s, dim=0)",
    "kept": "T.fill(s, {start})\nT.reduce_{kind}(a, s, dim=0, clear=False)",
    "serial": "T.fill(s, {start})\nfor j in T.serial(32):\n    s[0] = {update}",
    "copied": "T.copy(a, b)\nT.reduce_{kind}(b, s, dim=0)",
}
COUNTS = {
    "guard": "T.clear(s)\nfor j in T.{loop}(32):\n    if a[j] > 2.0:\n        s[0] = s[0] + 1.0",
    "choice": "T.clear(s)\nfor j in T.{loop}(32):\n"
    "    T.atomic_add(s[0], T.if_then_else(a[j] > 2.0, 1.0, 0.0))",
    "guarded tile": "T.clear(b)\nfor j in T.{loop}(32):\n    if a[j] > 2.0:\n        b[j] = 1.0\n"
    "T.reduce_sum(b, s, dim=0)",
    "branched tile": "for j in T.{loop}(32):\n    if a[j] > 2.0:\n        b[j] = 1.0\n    else:\n"
    "        b[j] = 0.0\nT.reduce_sum(b, s, dim=0)",
    "chosen tile": "for j in T.{loop}(32):\n    b[j] = T.if_then_else(a[j] > 2.0, 1.0, 0.0)\n"
    "T.reduce_sum(b, s, dim=0)",
}
KINDS = {
    "sum": (np.sum, 0.0, "s[0] + a[j]"),
    "max": (np.max, -1000.0, "T.max(s[0], a[j])"),
    "min": (np.min, 1000.0, "T.min(s[0], a[j])"),
}


def build(tmp_path, body, source=SOURCE):
    path = tmp_path / "forms.py"
    path.write_text(source.format(body=textwrap.indent(body, " " * 8)))
    spec = importlib.util.spec_from_file_location("forms", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def check(tmp_path, rng, body, meaning, reduce=np.sum):
    a, b = integers(rng, SIZE, low=1), np.zeros(2, "float32")
    run(build(tmp_path, body), a, b)
    assert_equal(b, [reduce(meaning(a[k : k + TILE].copy())) for k in range(0, SIZE, TILE)])


def put(elements, where, value):
    elements[where] = value
    return elements


@pytest.mark.parametrize(
    ("loop", "form"),
    [
        *((loop, form) for loop in ("parallel", "serial") for form in GUARDED),
        ("unroll", "guard"),
        ("unroll", "else"),
        ("vectorized", "guard"),
        ("vectorized", "choice"),
    ],
)
def test_a_guard_is_a_choice_that_keeps_the_old_value(tmp_path, rng, loop, form):
    body = f"for j in {LOOPS[loop]}:\n" + textwrap.indent(
        GUARDED[form].format(c="j >= 2", v="3.0"), " " * 4
    )
    check(tmp_path, rng, f"{body}\nT.reduce_sum(a, s, dim=0)", lambda x: put(x, slice(2, None), 3))


@pytest.mark.parametrize("form", GUARDED)
@pytest.mark.parametrize(("condition", "value"), [("a[j] > 2.0", "a[j] - 9.0"), ("bx == 1", "1.0")])
def test_guards_of_every_kind(tmp_path, rng, form, condition, value):
    body = "for j in T.Parallel(32):\n" + textwrap.indent(
        GUARDED[form].format(c=condition, v=value), " " * 4
    )
    a, b = integers(rng, SIZE, low=1), np.zeros(2, "float32")
    run(build(tmp_path, f"{body}\nT.reduce_sum(a, s, dim=0)"), a, b)
    expected = []
    for bx in range(2):
        x = a[bx * TILE : bx * TILE + TILE]
        names = {"a": x, "j": np.arange(len(x)), "bx": bx}
        numpy = [text.replace("[j]", "") for text in (condition, value)]
        yes, new = (eval(text, names) for text in numpy)
        expected.append(np.where(yes, new, x).sum())
    assert_equal(b, expected)


@pytest.mark.parametrize("form", RANGES)
@pytest.mark.parametrize(("low", "n"), [(2, 30), (0, 20)])
def test_part_of_a_tile(tmp_path, rng, form, low, n):
    body = RANGES[form].format(low=low, n=n) + "\nT.reduce_sum(a, s, dim=0)"
    check(tmp_path, rng, body, lambda x: put(x, slice(low, low + n), 3))


@pytest.mark.parametrize("form", REDUCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_reduction_after_a_guard(tmp_path, rng, form, kind):
    reduce, start, update = KINDS[kind]
    shift = "for j in T.Parallel(32):\n    a[j] = a[j] {} 20.0\n".format(
        "+" if kind == "min" else "-"
    )
    guard = "for j in T.Parallel(32):\n    if j >= 2:\n        a[j] = a[j] + 1.0\n"
    body = shift + guard + REDUCTIONS[form].format(kind=kind, start=start, update=update)
    sign = 1 if kind == "min" else -1

    def meaning(x):
        x += 20 * sign
        x[2:] += 1
        return x

    check(tmp_path, rng, body, meaning, reduce)


@pytest.mark.parametrize("form", COUNTS)
@pytest.mark.parametrize("loop", ["Parallel", "serial"])
def test_elements_that_do_not_exist_are_not_counted(tmp_path, rng, form, loop):
    lifted = "for j in T.Parallel(32):\n    a[j] = a[j] + 3.0\n"
    check(
        tmp_path,
        rng,
        lifted + COUNTS[form].format(loop=loop),
        lambda x: (x + 3 > 2).astype("float32"),
    )


@pytest.mark.parametrize(
    "form",
    [
        "T.fill(a, 2.0)",
        "for j in T.Parallel(32):\n    a[j] = 2.0",
        "for j in T.serial(32):\n    a[j] = 2.0",
        "for j in T.serial(32):\n    a[31 - j] = 2.0",
        "for j in T.serial(4):\n    T.fill(a[j * 8:j * 8 + 8], 2.0)",
        "for j in T.Parallel(32):\n    a[j] = T.if_then_else(j >= 2, 2.0, 2.0)",
        "for j in T.Parallel(32):\n    if j > 1:\n        a[j] = 2.\n    else:\n        a[j] = 2.",
    ],
)
def test_a_tile_that_is_written_whole_counts_whole(tmp_path, rng, form):
    body = f"{form}\nT.reduce_sum(a, s, dim=0)"
    check(tmp_path, rng, body, lambda x: np.full(TILE, 2.0))


def test_two_tiles_of_different_length_count_as_far_as_both_go(rng):
    @T.prim_func
    def kernel(A: T.Tensor((48,), "float32"), C: T.Tensor((40,), "float32"),
               B: T.Tensor((2,), "float32")):  # fmt: skip
        with T.Kernel(2) as bx:
            a = T.alloc_fragment((32,))
            c = T.alloc_fragment((32,))
            s = T.alloc_fragment((1,))
            T.copy(A[bx * 32], a)
            T.copy(C[bx * 32], c)
            for j in T.Parallel(32):
                a[j] = c[j] + a[j] + 1.0
            T.reduce_sum(a, s, dim=0)
            T.copy(s, B[bx])

    a, c, b = integers(rng, 48), integers(rng, 40), np.zeros(2, "float32")
    run(kernel, a, c, b)
    # In place only the elements of `a` change that have one of `c` beside them.
    changed = a.copy()
    changed[:40] += c + 1
    assert_equal(b, [changed[:32].sum(), changed[32:].sum()])


def test_rows_and_columns_keep_what_they_lack(rng):
    @T.prim_func
    def kernel(A: T.Tensor((13, 50), "float32"), R: T.Tensor((13,), "float32"),
               C: T.Tensor((50,), "float32")):  # fmt: skip
        with T.Kernel(1):
            a = T.alloc_fragment((16, 64))
            r = T.alloc_fragment((16,))
            c = T.alloc_fragment((64,))
            T.copy(A[0, 0], a)
            for i, j in T.Parallel(16, 64):
                if j > i:
                    a[i, j] = 1.0
            T.reduce_sum(a, r, dim=1)
            T.clear(c)
            for i in T.serial(16):
                for j in T.Parallel(64):
                    c[j] = c[j] + a[i, j] + 1.0
            T.copy(r, R[0])
            T.copy(c, C[0])

    a = integers(rng, 13, 50)
    r, c = np.zeros(13, "float32"), np.zeros(50, "float32")
    run(kernel, a, r, c)
    changed = np.where(np.arange(50) > np.arange(13)[:, None], 1, a)
    assert_equal(r, changed.sum(1))
    assert_equal(c, changed.sum(0) + 13)


PIECES = {
    "copies": "T.copy(A[bx * 16:bx * 16 + 16], a[0:16])\nT.copy(C, a[16:32])",
    "stores": "T.copy(A[bx * 16:bx * 16 + 16], a[0:16])\n"
    "for j in T.Parallel(16):\n    a[j + 16] = C[j]",
    "a guard": "T.copy(A[bx * 16:bx * 16 + 16], a[0:16])\n"
    "for j in T.Parallel(32):\n    if j >= 16:\n        a[j] = C[j - 16]",
    "a choice": "T.copy(A[bx * 16:bx * 16 + 16], a[0:16])\n"
    "for j in T.Parallel(32):\n    a[j] = T.if_then_else(j >= 16, C[j - 16], a[j])",
}


@pytest.mark.parametrize("form", PIECES)
def test_pieces_behind_one_that_may_be_short_are_not_dropped(tmp_path, form):
    source = SOURCE.replace("A: T.Tensor((48,)", 'C: T.Tensor((16,), "float32"), A: T.Tensor((30,)')
    source = source.replace("        T.copy(A[bx * 32], a)\n", "")
    body = PIECES[form] + "\nT.reduce_sum(a, s, dim=0)"
    with pytest.raises(PaddingCounts, match="counts elements of `a`"):
        KeepPaddingOut()(tvm.IRModule({"main": build(tmp_path, body, source)}))


def test_pieces_that_fill_just_what_is_missing_count(rng):
    @T.prim_func
    def kernel(A: T.Tensor((100,), "float32"), C: T.Tensor((28,), "float32"),
               B: T.Tensor((1,), "float32")):  # fmt: skip
        with T.Kernel(1):
            a = T.alloc_fragment((128,))
            s = T.alloc_fragment((1,))
            T.copy(A[0], a)
            for j in T.Parallel(128):
                if j >= 100:
                    a[j] = C[j - 100]
            T.reduce_sum(a, s, dim=0)
            T.copy(s, B)

    a, c, b = integers(rng, 100), integers(rng, 28), np.zeros(1, "float32")
    run(kernel, a, c, b)
    assert_equal(b, [a.sum() + c.sum()])


BRANCHES = {
    "other tile": "if bx > 0:\n    T.fill(b, 1.0)",
    "both sides": "if bx > 0:\n    T.fill(b, 1.0)\nelse:\n    T.fill(b, 2.0)",
    "even": "if bx % 2 == 0:\n    T.fill(b, 1.0)",
    "nested": "if bx > 0:\n    if bx < 5:\n        T.fill(b, 1.0)",
    "read": "if bx > 0:\n    T.copy(a, b)",
    "in a loop": "for t in T.serial(3):\n    if bx + t > 1:\n        T.fill(b, 1.0)",
    "kept whole": "if bx > 0:\n    T.fill(a[0:8], 3.0)\nelse:\n    T.fill(a[0:8], 3.0)",
}


@pytest.mark.parametrize("form", BRANCHES)
def test_a_branch_that_leaves_a_tile_as_it_is_says_nothing_about_it(tmp_path, rng, form):
    def meaning(elements):
        return put(elements, slice(0, 8), 3.0) if form == "kept whole" else elements

    check(tmp_path, rng, BRANCHES[form] + "\nT.reduce_sum(a, s, dim=0)", meaning)
