# SPDX-License-Identifier: Apache-2.0
"""The analyzer knows integers, and leaves floats as they stand."""

import pytest
import tvm
from tvm import tirx
from tvm.ir import assert_structural_equal

from tvm_ascend import sym

X, Y = (tirx.Var(name, "float32") for name in "xy")
N = tirx.Var("n", "int32")
FLOATS = {
    "x != x": tirx.NE(X, X),
    "x == x": tirx.EQ(X, X),
    "not x < y": tirx.Not(X < Y),
    "no order": tirx.And(X < Y, X >= Y),
    "x - x": tirx.Cast("int32", X - X),
    "x + y - y": tirx.Cast("int32", X + Y - Y),
    "max": tirx.Select(tirx.EQ(tirx.max(X, Y), X), 1, 2),
}


@pytest.mark.parametrize("name", FLOATS)
def test_floats_stay(name):
    expr = FLOATS[name]
    assert_structural_equal(sym.Analyzer().simplify(expr), expr)


@pytest.mark.parametrize("name", ["x != x", "no order"])
def test_tvm_itself_takes_floats_for_real_numbers(name):
    """Once it does not, ours is no longer needed."""
    assert isinstance(tvm.sym.Analyzer().simplify(FLOATS[name]), tirx.IntImm)


def test_shifts_that_overflow_are_left_to_the_kernel():
    """TVM refuses these where it meets constants, in the middle of an analysis."""
    amount = N + 40 - N
    for shift in (tirx.LShift(tirx.const(1, "int32"), amount), tirx.RShift(N, amount)):
        found = sym.Analyzer().simplify(shift)
        assert type(found) is type(shift)
        assert found.b.value == 40
    with pytest.raises(tvm.error.InternalError, match="Shift amount"):
        tvm.sym.Analyzer().simplify(tirx.LShift(tirx.const(1, "int32"), amount))


def test_integers_beside_floats_are_simplified():
    found = sym.Analyzer().simplify(tirx.Cast("int32", X - X) + N * 4 - N * 4)
    assert_structural_equal(found, tirx.Cast("int32", X - X))


def test_nothing_follows_from_a_condition_on_floats():
    for condition in (tirx.NE(X, X), tirx.Not(tirx.EQ(X, X)), tirx.And(X < Y, X >= Y)):
        analyzer = sym.Analyzer()
        with analyzer.constraint_scope(condition):
            assert not analyzer.can_prove(N > 3)
            assert not analyzer.can_prove(N > 3, everything=True)
            assert not analyzer.can_prove_equal(N, 3)


def test_conditions_on_integers_are_used():
    analyzer = sym.Analyzer()
    with analyzer.constraint_scope(tirx.And(tirx.NE(X, X), N > 3)):
        assert analyzer.can_prove(N > 2)
    assert not analyzer.can_prove(N > 2)
    analyzer.bind(N, tvm.ir.Range(0, 8))
    assert analyzer.const_int_bound(N + 1).max_value == 8
    assert analyzer.modular_set(N * 4 + 1).coeff == 4


def test_linear_equations_keep_the_rest():
    rest = tirx.Cast("int32", tirx.EQ(X, X))
    factor, found = sym.detect_linear_equation(N * 3 + rest, [N])
    assert factor.value == 3
    assert_structural_equal(found, rest)


@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "bool"])
def test_nothing_follows_from_a_cast_that_may_wrap(target):
    analyzer, wide = sym.Analyzer(), tirx.Var("wide", "int64")
    analyzer.bind(N, tvm.ir.Range(0, 40000))
    for value in (N, wide, tirx.Cast("uint64", wide)):
        narrowed = tirx.Cast("int32", tirx.Cast(target, value))
        low = {"int8": 0, "int16": 0, "uint8": 1, "bool": 1}[target]
        assert not analyzer.can_prove(narrowed >= low)
        assert_structural_equal(analyzer.simplify(narrowed), narrowed)


def test_a_cast_that_holds_its_value_is_followed():
    analyzer = sym.Analyzer()
    analyzer.bind(N, tvm.ir.Range(0, 100))
    assert analyzer.can_prove(tirx.Cast("int32", tirx.Cast("int8", N)) < 100)
    assert analyzer.const_int_bound(tirx.Cast("int8", N + 28)).max_value == 127
    assert analyzer.const_int_bound(tirx.Cast("int8", N + 29)).min_value == -128


def test_tvm_itself_takes_a_cast_for_the_part_that_fits():
    """Once it does not, ours is no longer needed."""
    analyzer = tvm.sym.Analyzer()
    analyzer.bind(N, tvm.ir.Range(0, 130))
    assert analyzer.can_prove(tirx.Cast("int32", tirx.Cast("int8", N)) >= 0)
