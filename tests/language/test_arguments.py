# SPDX-License-Identifier: Apache-2.0
"""Every parameter of the tile language with values of every kind: it works, or names the line."""

import inspect
import re

import numpy as np
import pytest
from tvm import tirx

import tvm_ascend
from tests.transform.kernels import run
from tvm_ascend import errors
from tvm_ascend import language as T

VALUES = {
    "None": None,
    "float": 1.5,
    "NaN": float("nan"),
    "text": "x",
    "bool": True,
    "negative": -1,
    "zero": 0,
    "more than 32 bits": 2**40,
    "more than 64 bits": 2**70,
    "list": [1],
    "tuple": (1, 2),
    "numpy integer": np.int8(1),
    "numpy float": np.float32(1.5),
    "numpy bool": np.bool_(True),
    "array": np.ones(3),
    "class": np.float32,
    "object": object(),
    "float expression": tirx.const(1.5, "float32"),
    "integer expression": tirx.const(1, "int32"),
    "buffer": tirx.decl_buffer((64,), "float32", "other"),
}


class Operand(str):
    """An operand of the kernel that ``statement`` makes, as an expression."""


def statement(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            b = T.alloc_fragment((64,))
            one = T.alloc_fragment((1,))
            half = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64))
            call({"a": a, "b": b, "one": one, "half": half, "c": c})

    return kernel


def value(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            x = call()  # noqa: F841
            A[0] = 1.0

    return kernel


def loop(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i in call():
                A[i] = 1.0

    return kernel


def loops(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1):
            for i, j in call():
                A[i + j] = 1.0

    return kernel


def grid(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with call():
            A[0] = 1.0

    return kernel


def scope(call):
    @T.prim_func
    def kernel(A: T.Tensor((64,))):
        with T.Kernel(1, is_npu=True) as (_cid, _vid), call():
            A[0] = 1.0

    return kernel


def annotation(call):
    @T.prim_func
    def kernel(A: call(), B: T.Tensor((64,))):
        with T.Kernel(1):
            B[0] = 1.0

    return kernel


def decorated(call):
    call()
    return value(lambda: 1)


def function():
    pass


ALLOCATION = {"shape": (64,), "dtype": "float32"}
BOUNDS = {"start": 0, "stop": 4}
REDUCTION = {"src": Operand("a"), "dst": Operand("one"), "dim": 0, "clear": True}
MATRICES = {"a": Operand("half"), "b": Operand("half"), "c": Operand("c")}
PIPES = {"source": "V", "target": "MTE3", "flag": 0}

CALLS = {
    "Kernel": (grid, {"extents": (1,), "threads": None, "is_npu": False}),
    "Tensor": (annotation, ALLOCATION),
    "symbolic": (value, {"name": "n", "dtype": "int32"}),
    "Scope": (scope, {"name": "V"}),
    **{name: (value, ALLOCATION) for name in T.__all__ if name.startswith("alloc_")},
    **{
        name: (loop, {**BOUNDS, "step": 1})
        for name in ("serial", "unroll", "vectorized", "parallel")
    },
    "grid": (loops, {"extents": (2, 3)}),
    "Parallel": (loops, {"extents": (2, 3)}),
    "Pipelined": (loop, {**BOUNDS, "num_stages": 2}),
    "launch_thread": (value, {"thread": "blockIdx.x", "extent": 4}),
    "copy": (statement, {"src": Operand("a"), "dst": Operand("b")}),
    "fill": (statement, {"buffer": Operand("a"), "value": 1}),
    "clear": (statement, {"buffer": Operand("a")}),
    **dict.fromkeys(("reduce_sum", "reduce_max", "reduce_min"), (statement, REDUCTION)),
    "gemm": (
        statement,
        {**MATRICES, "transpose_A": False, "transpose_B": False, "init": True},
    ),
    "atomic_add": (statement, {"target": Operand("a[0]"), "value": 1.0}),
    "set_flag": (statement, PIPES),
    "wait_flag": (statement, PIPES),
    "pipe_barrier": (statement, {"pipe": "V"}),
    "barrier_all": (statement, {}),
    "set_cross_flag": (statement, {"pipe": "MTE3", "flag": 0, "mode": 2}),
    "wait_cross_flag": (statement, {"flag": 0}),
    "sync_all": (statement, {"mix": False}),
    "prim_func": (decorated, {"func": value}),
    "macro": (decorated, {"func": function, "hygienic": True}),
}

# `T.ascend` holds instructions; test_values.py has what the parser itself stores by; the rest of a
# loop is the keywords of TVM's own loop; the parser reads these of `T.prim_func` from the source.
ELSEWHERE = {"buffer_store", "ascend"}
NOT_OURS = {"rest", "private", "check_well_formed", "s_tir", "persistent"}


def bound(call, arguments):
    def build(operands=None):
        given = {
            name: eval(x, {}, operands) if isinstance(x, Operand) else x
            for name, x in arguments.items()
        }
        return call(*given.pop("extents", ()), **given)

    return build


def fault(shape, call, arguments):
    """What is wrong with how a kernel is refused, or None."""
    try:
        tvm_ascend.compile(shape(bound(call, arguments)), options=tvm_ascend.Options(cache=False))
    except errors.ScriptError as err:
        return f"not met by a check of ours: {err}"
    except errors.AscendError as err:
        return None if re.search(r"test_arguments\.py:\d+", str(err)) else f"no line: {err}"
    except Exception as err:
        return f"escapes: {err!r}"
    return None


def test_every_parameter_of_every_call_is_swept():
    assert set(CALLS) == set(T.__all__) - ELSEWHERE
    for call, (_, swept) in CALLS.items():
        names = inspect.signature(getattr(T, call), follow_wrapped=False).parameters
        assert set(names) - NOT_OURS == set(swept), call


@pytest.mark.parametrize(
    ("call", "name"), [(call, name) for call, (_, names) in CALLS.items() for name in names]
)
def test_a_value_of_any_kind_works_or_is_refused_with_the_line(call, name):
    shape, arguments = CALLS[call]
    faults = {}
    for kind, x in VALUES.items():
        if kind == "buffer" and isinstance(arguments[name], Operand):
            continue  # of no kernel: TVM says so, of the whole kernel
        x = (*arguments[name][:-1], x) if name == "extents" else x
        faults[kind] = fault(shape, getattr(T, call), {**arguments, name: x})
    assert not {kind: text for kind, text in faults.items() if text}


def raises(error):
    def call(value):
        raise error

    return call


def test_the_sweep_sees_what_escapes_is_raw_or_has_no_line():
    assert "not met" in fault(statement, raises(TypeError("inside")), {"value": 1})
    assert "escapes" in fault(decorated, raises(AttributeError("inside")), {"value": 1})
    assert "no line" in fault(decorated, raises(errors.KernelExtents(4)), {"value": 1})
    assert fault(statement, raises(errors.KernelExtents(4)), {"value": 1}) is None


def line_of(text):
    lines, start = inspect.getsourcelines(inspect.currentframe().f_back.f_code)
    return start + next(k for k, line in enumerate(lines) if text in line)


def test_a_wrong_dtype_in_a_signature_is_named_with_its_line():
    with pytest.raises(errors.ArgumentKind, match=r"'flot32'.*float16, bfloat16") as err:

        @T.prim_func
        def kernel(
            A: T.Tensor((8,)),
            B: T.Tensor((8,), "flot32"),
        ):
            pass

    assert str(err.value).startswith(f"{__file__}:{line_of('B: T.Tensor((8,), ')}: T.Tensor: ")


def test_a_dtype_that_no_unit_has_is_another_error():
    for dtype in ("float64", "int4", np.float64, np.dtype("complex64")):
        with pytest.raises(errors.NoUnitForDtype, match=r"^\S+test_arguments\.py:\d+: "):
            T.Tensor((8,), dtype)


def test_dtypes_of_numpy_are_taken():
    @T.prim_func
    def kernel(A: T.Tensor((8,), np.float32), B: T.Tensor((8,), np.dtype("float32"))):
        with T.Kernel(1):
            a = T.alloc_fragment((8,), np.float32)
            T.fill(a, np.float32(2.5))
            T.copy(a, A)
            T.fill(a, np.int64(3))
            T.copy(a, B)

    a, b = np.zeros(8, "float32"), np.zeros(8, "float32")
    run(kernel, a, b)
    assert (a == 2.5).all()
    assert (b == 3).all()


def fill(dtype, x):
    @T.prim_func
    def kernel(A: T.Tensor((8,), dtype)):
        with T.Kernel(1):
            a = T.alloc_fragment((8,), dtype)
            T.fill(a, x)
            T.copy(a, A)

    return kernel


@pytest.mark.parametrize(
    ("dtype", "x"),
    [
        *[("int8", 128), ("int8", -129), ("uint8", -1), ("int32", 1.5), ("int32", float("nan"))],
        *[("int32", 2**31), ("bool", 2), ("float16", 1e6), ("float32", 1e39), ("float32", 2**2000)],
    ],
)
def test_a_value_that_the_tile_cannot_hold_is_refused_with_the_line(dtype, x):
    with pytest.raises(errors.ValueOutsideDtype, match=rf"arguments\.py:\d+: .* of {dtype}, .*`a`"):
        fill(dtype, x)


@pytest.mark.parametrize(
    ("dtype", "x"),
    [
        *[("int8", 127), ("int8", -128), ("uint8", 255), ("int32", 2.0), ("bool", True)],
        *[("float32", float("-inf")), ("float16", 65504), ("float32", 2**70)],
    ],
)
def test_a_value_that_the_tile_holds_fills_it(dtype, x):
    got = np.zeros(8, dtype)
    run(fill(dtype, x), got)
    assert (got == np.asarray(x, dtype)).all()


@pytest.mark.parametrize(("start", "stop"), [(8, 0), (4, 4)])
def test_a_slice_without_elements_is_refused_with_the_line(start, stop):
    with pytest.raises(errors.EmptySlice, match=rf"\.py:\d+: .*`A` holds {stop - start} elements"):

        @T.prim_func
        def kernel(A: T.Tensor((8,))):
            with T.Kernel(1):
                a = T.alloc_fragment((8,))
                T.copy(A[start:stop], a)


def test_a_product_of_rows_is_refused():
    with pytest.raises(
        errors.MatrixExpected, match=r"test_arguments\.py:\d+: .*`a` has shape \(64\)"
    ):

        @T.prim_func
        def kernel(A: T.Tensor((8,))):
            with T.Kernel(1):
                a = T.alloc_shared((64,), "float16")
                c = T.alloc_fragment((64, 64))
                T.gemm(a, a, c)


def test_a_macro_without_source_is_told_to_be_in_a_file():
    text = "@T.macro\ndef part(A):\n    A[0] = 1.0\n"
    with pytest.raises(errors.SourceMissing, match=r"<string>:1: the source of `part` in <string>"):
        exec(text, {"T": T})
