# SPDX-License-Identifier: Apache-2.0
"""Tensors and scalars of bool: every operation on both executors, and bytes that are not 0 or 1."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import tvm
from tvm import te, topi

from tvm_ascend import compile
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.errors import ArgumentRangeError, ArgumentTypeError, ScalarCodeError

X, Y = (np.array(c, bool) for c in zip(*itertools.product((0, 1), repeat=2), strict=True))
A, B = np.tile(X, 10), np.tile(Y, 10)
F = (np.arange(40, dtype="float32") % 7) - 3
F[5] = np.nan


def run_both(kernel, *inputs, out=None):
    """The answer of both executors, which took the same time."""
    built = compile(kernel, out_idx=len(inputs) if out is None else out)
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    (ours,), report = built.run(*inputs)
    (theirs,), twin_report = twin.run(*inputs)
    assert ours.tobytes() == theirs.tobytes()
    assert report.cycles == twin_report.cycles
    return ours


OPERATIONS = {
    "==": (lambda a, b: a == b, np.equal),
    "!=": (lambda a, b: a != b, np.not_equal),
    "<": (lambda a, b: a < b, np.less),
    "<=": (lambda a, b: a <= b, np.less_equal),
    ">": (lambda a, b: a > b, np.greater),
    ">=": (lambda a, b: a >= b, np.greater_equal),
    "and": (T.And, np.logical_and),
    "or": (T.Or, np.logical_or),
    "not": (lambda a, b: T.Not(a), lambda a, b: ~a),
    "&": (T.bitwise_and, np.bitwise_and),
    "|": (T.bitwise_or, np.bitwise_or),
    "^": (T.bitwise_xor, np.bitwise_xor),
    "~": (lambda a, b: T.bitwise_not(a), lambda a, b: ~a),
    "select": (lambda a, b: T.Select(a, b, T.Not(b)), lambda a, b: np.where(a, b, ~b)),
    "if_then_else": (lambda a, b: T.if_then_else(a, b, T.Not(b)), lambda a, b: np.where(a, b, ~b)),
    "likely": (lambda a, b: T.likely(b), lambda a, b: b),
    "through int": (lambda a, b: T.cast(T.cast(a, "int32"), "bool"), lambda a, b: a),
    "through half": (lambda a, b: T.cast(T.cast(a, "float16"), "bool"), lambda a, b: a),
    "through bfloat16": (lambda a, b: T.cast(T.cast(a, "bfloat16"), "bool"), lambda a, b: a),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_bools(name):
    operation, exact = OPERATIONS[name]

    @T.prim_func
    def kernel(P: T.Tensor((4,), "bool"), Q: T.Tensor((4,), "bool"), R: T.Tensor((3, 4), "bool")):
        with T.Kernel(1):
            for i in T.serial(4):
                R[0, i] = operation(P[i], Q[i])
                R[1, i] = False
                if operation(P[i], Q[i]):
                    R[1, i] = True
                R[2, i] = T.Select(operation(P[i], Q[i]), 1, 0) > 0

    assert run_both(kernel, X, Y).tolist() == [exact(X, Y).tolist()] * 3


PLAIN = {
    "greater": (topi.greater, np.greater, [F, np.flip(F).copy()]),
    "not": (topi.logical_not, np.logical_not, [A]),
    "and": (topi.logical_and, np.logical_and, [A, B]),
    "xor": (topi.logical_xor, np.logical_xor, [A, B]),
    "where": (topi.where, np.where, [A, F, np.flip(F).copy()]),
    "to float": (lambda a: topi.cast(a, "float32"), lambda a: a.astype("float32"), [A]),
    "to bool": (lambda a: topi.cast(a, "bool"), lambda a: a.astype(bool), [F]),
    "isnan": (topi.isnan, np.isnan, [F]),
    "identity": (topi.identity, lambda a: a, [A]),
    "any": (lambda a: topi.any(a, 0, keepdims=True), lambda a: np.any(a, 0, keepdims=True), [A]),
    "all": (lambda a: topi.all(a, 0, keepdims=True), lambda a: np.all(a, 0, keepdims=True), [A]),
    "reshape": (lambda a: topi.reshape(a, (5, 8)), lambda a: a.reshape(5, 8), [A]),
}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_functions_of_bools(name):
    operation, exact, inputs = PLAIN[name]
    given = [te.placeholder(x.shape, str(x.dtype), f"x{k}") for k, x in enumerate(inputs)]
    func = te.create_prim_func([*given, operation(*given)])
    expected = exact(*inputs)
    assert run_both(func, *inputs).tobytes() == expected.tobytes()


def through_tiles(source, middle, target, count=40):
    @T.prim_func
    def copy(P: T.Tensor((count,), source), R: T.Tensor((count,), target)):
        with T.Kernel(2) as block:
            tile = T.alloc_shared((32,), middle)
            T.copy(P[block * 32 : block * 32 + 32], tile)
            T.copy(tile, R[block * 32 : block * 32 + 32])

    return copy


@pytest.mark.parametrize("middle", ["bool", "float32"])
@pytest.mark.parametrize("source", ["bool", "float32"])
@pytest.mark.parametrize("target", ["bool", "float32"])
def test_tiles_are_copied_and_cast(source, middle, target):
    values = np.where(np.isnan(F), 1, F).astype(source)
    expected = values.astype(middle).astype(target)
    assert run_both(through_tiles(source, middle, target), values).tobytes() == expected.tobytes()


def test_a_copy_of_bools_takes_one_transfer_each_way():
    built = compile(through_tiles("bool", "bool", "bool", 64), out_idx=1)
    assert not built.artifact.notes
    assert "GlobalTensor<uint8_t>" in built.source


def test_elements_of_tiles_between_vector_code():
    @T.prim_func
    def kernel(P: T.Tensor((64,), "float32"), R: T.Tensor((64,), "bool")):
        with T.Kernel(1):
            x = T.alloc_shared((64,), "float32")
            positive = T.alloc_shared((64,), "bool")
            inverse = T.alloc_shared((64,), "bool")
            T.copy(P[0:64], x)
            T.clear(positive)
            T.fill(inverse, True)
            for i in T.Parallel(64):
                x[i] = x[i] * 2.0
            for i in T.Parallel(64):
                positive[i] = x[i] > 1.0
            for i in T.serial(32):
                if positive[i]:
                    inverse[i] = False
            T.copy(inverse, R[0:64])

    values = np.arange(64, dtype="float32") % 5 - 2
    expected = np.r_[values[:32] * 2 <= 1, np.ones(32, bool)]
    assert run_both(kernel, values).tolist() == expected.tolist()


def test_any_byte_but_0_is_true_and_only_computed_bools_become_1():
    raw = np.array([0, 1, 2, 255, 128, 3, 0, 7], "uint8")

    @T.prim_func
    def kernel(P: T.Tensor((8,), "bool"), R: T.Tensor((4, 8), "bool")):
        with T.Kernel(1):
            tile = T.alloc_shared((8,), "bool")
            T.copy(P[0:8], tile)
            T.copy(tile, R[0, 0:8])
            for i in T.serial(8):
                R[1, i] = P[i]
                R[2, i] = T.Not(T.Not(P[i]))
                R[3, i] = T.cast(P[i], "float32") == 1.0

    found = run_both(kernel, raw.view(bool)).view("uint8")
    assert found.tolist() == [raw.tolist()] * 2 + [(raw != 0).tolist()] * 2


@T.prim_func
def choose(C: T.bool, N: T.int32, R: T.Tensor((8,), "bool")):
    with T.Kernel(1):
        for i in T.serial(8):
            R[i] = T.Select(C, i < N, False)


@pytest.mark.parametrize("given", [True, False, np.True_, np.False_, 1, 0, np.int8(1)])
def test_a_bool_parameter_takes_every_truth(given):
    expected = [bool(given) and i < 5 for i in range(8)]
    assert run_both(choose, given, 5, out=2).tolist() == expected


def test_what_is_no_truth_is_refused():
    kernel = compile(choose, out_idx=2)
    with pytest.raises(ArgumentRangeError, match="a bool holds 0 to 1"):
        kernel(2, 5)
    for given in (1.0, "yes", None):
        with pytest.raises(ArgumentTypeError, match="argument `C`"):
            kernel(given, 5)
    for given in (True, np.True_):
        with pytest.raises(ArgumentTypeError, match="argument `N`"):
            kernel(True, given)


def test_functions_built_by_tvm_take_bools():
    device = tvm.device("ext_dev", 0)
    built = tvm.compile(choose, target="ascend")
    for given in (True, False):
        out = tvm.runtime.tensor(np.ones(8, bool), device)
        built["choose"](given, 5, out)
        assert out.numpy().tolist() == [given and i < 5 for i in range(8)]


ARITHMETIC = {"max": T.max, "add": lambda a, b: a + b, "mod": T.truncmod}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_bools_is_refused_wherever_it_stands(name):
    operation = ARITHMETIC[name]

    @T.prim_func
    def stored(P: T.Tensor((4,), "bool"), R: T.Tensor((4,), "bool")):
        with T.Kernel(1):
            R[0] = operation(P[0], P[1])

    @T.prim_func
    def tested(P: T.Tensor((4,), "bool"), R: T.Tensor((4,), "bool")):
        with T.Kernel(1):
            if operation(P[0], P[1]):
                R[0] = True

    for kernel in (stored, tested):
        with pytest.raises(ScalarCodeError, match=rf"test_bools.py:\d+.*`{name} of bool`"):
            compile(kernel)
