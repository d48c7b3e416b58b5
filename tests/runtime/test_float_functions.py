# SPDX-License-Identifier: Apache-2.0
"""Functions of floats take arithmetic as arguments; both executors agree to the bit."""

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
import tvm
from tvm import te, tirx

from tvm_ascend import compile, errors
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.codegen.arithmetic import lowered_alone

ONE = (
    *("exp", "exp2", "exp10", "erf", "tanh", "sigmoid", "log", "log2", "log10", "log1p", "tan"),
    *("cos", "cosh", "acos", "acosh", "sin", "sinh", "asin", "asinh", "atan", "atanh", "sqrt"),
    *("rsqrt", "floor", "ceil", "trunc", "abs", "round", "nearbyint"),
)
TWO = ("atan2", "hypot", "copysign", "pow", "fmod")
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}
GIVEN = (0.1, 0.3, 0.7, 0.9, 0.999, 1.3, 2.7, 3.3, 11.1, -0.3, -0.7, -5.1)
# numpy computes these without rounding anything but the result.
EXACT = {"sqrt": np.sqrt, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "abs": np.abs}


def value(name, x):
    """A function of a sum of products, in another, which a fused multiply-add would change."""
    inner = x * x + x
    function = getattr(T, name)
    found = function(inner, x - x * x) if name in TWO else function(inner)
    return found * x + inner


def names_of(dtype):
    """TVM makes no power of bfloat16."""
    return [name for name in (*ONE, *TWO) if (name, dtype) != ("pow", "bfloat16")]


def functions(dtype):
    """A kernel that stores the value of every function, a row each."""
    given = te.placeholder((len(GIVEN),), dtype, name="given")

    def out(name):
        return te.compute(given.shape, lambda i: value(name, given[i]), name=f"of_{name}")

    outs = [out(name) for name in names_of(dtype)]
    return te.create_prim_func([given, *outs])


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_sums_of_products(dtype):
    given = np.array(GIVEN, DTYPES[dtype])
    names = names_of(dtype)
    built = compile(functions(dtype), out_idx=[1 + i for i in range(len(names))])
    assert built.artifact.rule == "scalar"
    twin = Kernel(built.artifact, built.out_idx, replace(built.options, executor="twin"))
    with np.errstate(invalid="ignore"):
        inner = given * given + given
    for name, simulated, again in zip(names, built(given), twin(given), strict=True):
        np.testing.assert_array_equal(simulated, again, err_msg=name)
        if name in EXACT:
            with np.errstate(invalid="ignore"):
                expected = EXACT[name](inner).astype(given.dtype) * given + inner
            np.testing.assert_array_equal(simulated, expected, err_msg=name)


def test_tvm_fuses_the_arithmetic_of_arguments():
    """Once it does not, lowering calls without their arguments is no longer needed."""
    x = tirx.Var("x", "float32")
    call = T.sqrt(x * x + x)
    func = tirx.PrimFunc([x], tirx.Evaluate(call)).with_attr(
        {"global_symbol": "f", "target": tvm.target.Target("llvm")}
    )
    fused = tirx.transform.LowerIntrin()(tvm.IRModule({"f": func}))["f"]
    assert "llvm.fmuladd" in str(fused)
    assert "llvm.fmuladd" not in str(lowered_alone(call))
    assert "llvm.sqrt" in str(lowered_alone(call))


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_host_program_fuses_nothing(dtype):
    control = tvm.ir.load_json(compile(functions(dtype)).artifact.control)
    assert "fmuladd" not in str(control)


def test_a_function_that_is_not_there_names_the_function_being_compiled():
    given = te.placeholder((4,), "float16", name="given")
    out = te.compute((4,), lambda i: tirx.nextafter(given[i], given[i]), name="out")
    func = te.create_prim_func([given, out]).with_attr("global_symbol", "stepper")
    with pytest.raises(errors.ScalarCodeError, match=r"in function `stepper`: the scalar unit has"):
        compile(func)


def test_a_function_that_is_not_there_names_the_line():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float16")):
        with T.Kernel(1):
            A[0] = T.nextafter(A[1], A[2])

    with pytest.raises(errors.ScalarCodeError, match=r"test_float_functions\.py:\d+: the scalar"):
        compile(kernel)


def nested(times):
    """A value of twice as many operations, each in the next."""
    given = te.placeholder((4,), "float32", name="given")

    def value(i):
        found = given[i]
        for _ in range(times):
            found = found * tirx.const(0.5, "float32") + given[i]
        return found

    func = te.create_prim_func([given, te.compute((4,), value, name="out")])
    return func.with_attr("global_symbol", "nest")


def test_an_expression_as_deep_as_is_allowed_runs():
    out = compile(nested(63), out_idx=1)(np.ones(4, "float32"))
    np.testing.assert_array_equal(out, 2)


@pytest.mark.parametrize("times", [64, 1000])
def test_a_deeper_expression_is_refused(times):
    with pytest.raises(errors.ExpressionTooDeep, match="in function `nest`: the value stored here"):
        compile(nested(times))
