# SPDX-License-Identifier: Apache-2.0
"""Both executors compute every scalar operation exactly, at the edges of every dtype."""

import itertools
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from tvm.script import tirx as P

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.errors import ScriptError

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "bfloat16", "float32"]
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5)


def edges(dtype):
    info = np.iinfo(dtype)
    high, half = int(info.max), int(info.max) // 2
    low = int(info.min)
    wanted = (0, 1, 2, 3, 7, 100, -1, -2, -7, half, half + 1, high - 1, high, low, low + 1)
    return sorted({v for v in wanted if low <= v <= high})


def pairs(values, dtype):
    return tuple(np.array(column, dtype) for column in zip(*values, strict=True))


def wrap(value, dtype):
    info = np.iinfo(dtype)
    return (value - int(info.min)) % 2**info.bits + int(info.min)


def run_all(operations, a, b, out):
    """Results of up to six operations on each executor, and of numpy-free Python."""
    count, dtype = len(a), str(a.dtype)
    first, second, third, fourth, fifth, sixth = (*operations, *operations[:1] * 6)[:6]

    @T.prim_func
    def kernel(
        A: T.Tensor((count,), dtype), B: T.Tensor((count,), dtype), C: T.Tensor((6, count), out)
    ):
        with T.Kernel(1):
            for i in T.serial(count):
                C[0, i] = first(A[i], B[i])
                C[1, i] = second(A[i], B[i])
                C[2, i] = third(A[i], B[i])
                C[3, i] = fourth(A[i], B[i])
                C[4, i] = fifth(A[i], B[i])
                C[5, i] = sixth(A[i], B[i])

    return [found[: len(operations)] for found in run_both(kernel, a, b)]


def run_both(kernel, *inputs):
    built = compile(kernel, out_idx=len(inputs))
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    return built(*inputs), twin(*inputs)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


DIVISIONS = {
    T.floordiv: lambda a, b: a // b,
    T.floormod: lambda a, b: a % b,
    T.truncdiv: quotient,
    T.truncmod: lambda a, b: a - quotient(a, b) * b,
}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisions_of_every_integer(dtype):
    values = [(a, b) for a, b in itertools.product(edges(dtype), repeat=2) if b]
    expected = [[wrap(f(*v), dtype) for v in values] for f in DIVISIONS.values()]
    for found in run_all(list(DIVISIONS), *pairs(values, dtype), dtype):
        assert found.tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("divisor", [1, 3, 8, -1, -7])
def test_divisions_by_a_constant(dtype, divisor):
    if divisor < 0 and dtype.startswith("u"):
        divisor = min(int(np.iinfo(dtype).max), 2**63 - 1)  # the largest literal TIR writes
    constant = getattr(P, dtype)(divisor)
    values = [(a, a) for a in edges(dtype)]
    operations = [lambda a, b, f=f: f(a, constant) for f in DIVISIONS]
    expected = [[wrap(f(a, divisor), dtype) for a, _ in values] for f in DIVISIONS.values()]
    for found in run_all(operations, *pairs(values, dtype), dtype):
        assert found.tolist() == expected


# Each is different where the analyzer, or LLVM, takes an overflow for impossible.
OVERFLOWS = {
    "halved double": (lambda a, b, c: T.truncdiv(a * c(2), c(2))),
    "one more is greater": (lambda a, b, c: T.if_then_else(a + c(1) > a, c(1), c(0))),
    "floored": (lambda a, b, c: T.floordiv(a * c(8) + c(5), c(8))),
    "negative negation": (lambda a, b, c: T.if_then_else(c(0) - a < c(0), c(1), c(0))),
    "sum of two that are not negative": (
        lambda a, b, c: T.floordiv(T.max(a, c(0)) + T.max(b, c(0)), c(7))
    ),
    "product": (lambda a, b, c: T.if_then_else(a * b < a, c(1), c(0))),
}


class Exact:
    """The operations above over Python integers, which wrap after each."""

    def __init__(self, dtype):
        self.dtype = dtype

    def __call__(self, index, a, b):
        def w(value):
            return wrap(value, self.dtype)

        return (
            lambda: w(quotient(w(a * 2), 2)),
            lambda: int(w(a + 1) > a),
            lambda: w(w(w(a * 8) + 5) // 8),
            lambda: int(w(0 - a) < 0),
            lambda: w(w(max(a, 0) + max(b, 0)) // 7),
            lambda: int(w(a * b) < a),
        )[index]()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_around(dtype):
    values = list(itertools.product(edges(dtype), repeat=2))
    constant, exact = getattr(P, dtype), Exact(dtype)
    operations = [lambda a, b, f=f: f(a, b, constant) for f in OVERFLOWS.values()]
    expected = [[exact(k, a, b) for a, b in values] for k in range(len(operations))]
    for found in run_all(operations, *pairs(values, dtype), dtype):
        assert found.tolist() == expected


def test_the_smallest_literals_have_their_own_dtype():
    for dtype in ("int32", "int64"):
        low = int(np.iinfo(dtype).min)
        constant = getattr(P, dtype)
        values = [(a, a) for a in edges(dtype)]
        operations = [
            lambda a, b, c=constant, low=low: T.truncdiv(a - c(low), c(3)),
            lambda a, b, c=constant, low=low: T.if_then_else(a + c(low) > c(5), c(1), c(0)),
        ]
        expected = [
            [wrap(quotient(wrap(a - low, dtype), 3), dtype) for a, _ in values],
            [int(wrap(a + low, dtype) > 5) for a, _ in values],
        ]
        for found in run_all(operations, *pairs(values, dtype), dtype):
            assert found.tolist() == expected


COMPARISONS = {
    "==": (lambda a, b: a == b),
    "!=": (lambda a, b: a != b),
    "<": (lambda a, b: a < b),
    "<=": (lambda a, b: a <= b),
    ">": (lambda a, b: a > b),
    ">=": (lambda a, b: a >= b),
}
USES = {
    "if_then_else": lambda c: T.if_then_else(c, 1, 0),
    "not": lambda c: T.if_then_else(T.Not(c), 1, 0),
    "select": lambda c: T.Select(c, 1, 0),
    "cast": lambda c: T.Cast("int32", c),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_comparisons_of_every_float(dtype, use):
    numpy_dtype = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    a, b = pairs(itertools.product(SPECIAL, repeat=2), numpy_dtype)
    operations = [lambda a, b, f=f: USES[use](f(a, b)) for f in COMPARISONS.values()]
    truths = [f(a.astype("float32"), b.astype("float32")) for f in COMPARISONS.values()]
    expected = np.array(truths) != (use == "not")
    for found in run_all(operations, a, b, "int32"):
        assert np.array_equal(found.astype(bool), expected)


def test_a_while_loop_ends_at_nan():
    @T.prim_func
    def count(A: T.Tensor((8,), "float32"), N: T.Tensor((2,), "int32")):
        with T.Kernel(1):
            N[0] = 0
            while T.And(N[0] < 7, A[N[0]] == A[N[0]]):
                N[0] = N[0] + 1
            N[1] = 0
            while T.And(N[1] < 7, T.Not(A[N[1]] != A[N[1]])):
                N[1] = N[1] + 1

    for found in run_both(count, np.array([1, 2, 3, np.nan, 5, 6, 7, 8], "float32")):
        assert found.tolist() == [3, 3]


def test_fmod_is_computed():
    a, b = pairs(itertools.product((*SPECIAL, 5.5, -5.5), repeat=2), "float32")
    with np.errstate(invalid="ignore"):
        expected = np.fmod(a, b)
    for found in run_all([T.fmod], a, b, "float32"):
        assert np.array_equal(found[0], expected, equal_nan=True)


def test_both_executors_take_the_same_time_over_divisions():
    @T.prim_func
    def kernel(A: T.Tensor((8,), "int32"), B: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            for i in T.serial(8):
                B[i] = T.floordiv(A[i], 7) + T.floormod(A[7 - i], 8)

    built = compile(kernel, out_idx=1)
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    values = np.arange(-4, 4, dtype="int32")
    (ours,), our_report = built.run(values)
    (theirs,), their_report = twin.run(values)
    assert ours.tobytes() == theirs.tobytes()
    assert our_report.cycles == their_report.cycles


def shifted(value, amount, dtype, left):
    """As numpy does: by the width or more, or by less than 0, leaves nothing but the sign."""
    info = np.iinfo(dtype)
    if not 0 <= amount < info.bits:
        return -1 if value < 0 and not left else 0
    return wrap(value << amount, dtype) if left else value >> amount


AMOUNTS = (0, 1, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, -1, -31, -128)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_any_amount(dtype):
    info = np.iinfo(dtype)
    amounts = [n for n in (*AMOUNTS, int(info.max), int(info.min)) if info.min <= n <= info.max]
    values = list(itertools.product(edges(dtype), amounts))
    a, b = pairs(values, dtype)
    expected = [[shifted(x, n, dtype, left) for x, n in values] for left in (True, False)]
    with np.errstate(all="ignore"):
        assert [np.left_shift(a, b).tolist(), np.right_shift(a, b).tolist()] == expected
    operations = [lambda a, b: a << b, lambda a, b: a >> b]
    for found in run_all(operations, a, b, dtype):
        assert found.tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64"])
def test_shifts_by_a_constant_or_an_index_stay_operators(dtype):
    bits, constant = np.iinfo(dtype).bits, getattr(P, dtype)

    @T.prim_func
    def kernel(A: T.Tensor((bits,), dtype), B: T.Tensor((4, bits), dtype)):
        with T.Kernel(1):
            for i in T.serial(bits):
                B[0, i] = A[i] << constant(bits - 1)
                B[1, i] = A[i] >> constant(3)
                B[2, i] = A[i] << T.cast(i, dtype)
                B[3, i] = A[i] >> (A[i] & constant(7))

    values = np.array(([*edges(dtype), *range(1, 65)])[:bits], dtype)
    expected = [
        [shifted(x, bits - 1, dtype, True) for x in values.tolist()],
        [shifted(x, 3, dtype, False) for x in values.tolist()],
        [shifted(x, i, dtype, True) for i, x in enumerate(values.tolist())],
        [shifted(x, x & 7, dtype, False) for x in values.tolist()],
    ]
    for found in run_both(kernel, values):
        assert found.tolist() == expected
    assert "RightShift" not in compile(kernel).source


def test_shifts_decide_conditions_and_indices():
    @T.prim_func
    def kernel(n: T.int32, B: T.Tensor((8,), "int32")):
        with T.Kernel(1):
            for i in T.serial(8):
                B[i] = 0
            if (n >> n) == 0:
                B[0] = 1
            B[T.min((n << n) + 1, 7)] = 1
            for i in T.serial((n << (n + 31)) + 1):
                B[2 + i] = 1

    built = compile(kernel, out_idx=1)
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    for n, expected in (
        (40, [1, 1, 1, 0, 0, 0, 0, 0]),
        (0, [1, 1, 1, 0, 0, 0, 0, 0]),
        (1, [1, 0, 1, 1]),
    ):
        for run in (built, twin):
            assert run(n).tolist() == (expected + [0] * 8)[:8], n


def test_a_constant_shift_out_of_range_is_refused_at_its_line():
    def make():
        @T.prim_func
        def kernel(A: T.Tensor((8,), "int32")):
            with T.Kernel(1):
                A[0] = A[1] << 40

    with pytest.raises(ScriptError, match=r"test_scalar_values.py:\d+.*Shift amount"):
        make()
