# SPDX-License-Identifier: Apache-2.0
"""Arguments are checked by name, viewed without a copy, and outputs match the inputs' kind."""

import pickle

import ml_dtypes
import numpy as np
import pytest
import tvm
from small_kernels import make_double

from tvm_ascend import compile, errors
from tvm_ascend import language as T


@pytest.fixture(scope="module")
def kernel():
    return compile(make_double("float32"), out_idx=[1])


def numbers(dtype="float32"):
    return np.arange(256).reshape(4, 64).astype(dtype)


def test_numpy_in_numpy_out(kernel):
    out = kernel(numbers())
    assert isinstance(out, np.ndarray)
    assert np.array_equal(out, 2 * numbers())


def test_bfloat16_numpy_arrays():
    out = compile(make_double("bfloat16"), out_idx=1)(numbers(ml_dtypes.bfloat16))
    assert out.dtype == ml_dtypes.bfloat16
    assert np.array_equal(out.astype("float32"), 2 * numbers())


def test_tvm_in_tvm_out(kernel):
    out = kernel(tvm.runtime.tensor(numbers()))
    assert isinstance(out, tvm.runtime.Tensor)
    assert np.array_equal(out.numpy(), 2 * numbers())


def test_inputs_may_be_strided_or_read_only(kernel):
    wide = np.repeat(numbers(), 2, axis=1)[:, ::2]
    frozen = numbers()
    frozen.flags.writeable = False
    assert np.array_equal(kernel(wide), 2 * numbers())
    assert np.array_equal(kernel(frozen), 2 * numbers())


def misaligned():
    array = np.ndarray((4, 64), "float32", np.zeros(4 * 64 * 4 + 1, "uint8"), offset=1)
    array[:] = numbers()
    return array


def test_misaligned_inputs_are_copied_and_outputs_refused(kernel):
    assert np.array_equal(kernel(misaligned()), 2 * numbers())
    with pytest.raises(errors.ArgumentLayoutError, match="is misaligned"):
        compile(make_double("float32"))(numbers(), misaligned())


def test_without_out_idx_outputs_are_written_in_place():
    out = np.zeros((4, 64), "float32")
    assert compile(make_double("float32"))(numbers(), out) is None
    assert np.array_equal(out, 2 * numbers())
    with pytest.raises(errors.ArgumentLayoutError, match="not contiguous"):
        compile(make_double("float32"))(numbers(), np.zeros((4, 128), "float32")[:, ::2])


@pytest.mark.parametrize(
    ("args", "error", "text"),
    [
        ((), errors.ArgumentCountError, "it takes 1: A"),
        ((numbers(), numbers()), errors.ArgumentCountError, "with 2 arguments"),
        ((numbers("float64"),), errors.ArgumentTypeError, "float64 tensor"),
        (([1, 2],), errors.ArgumentTypeError, "a list"),
        ((np.ma.array(numbers(), mask=True),), errors.MaskedArgument, r"x\.filled\(value\)"),
        ((np.ma.array(numbers()),), errors.MaskedArgument, "argument `A`"),
        ((np.float32(1),), errors.ArgumentTypeError, r"np\.asarray\(x, 'float32'\)"),
        ((1.0,), errors.ArgumentTypeError, r"np\.asarray\(x, 'float32'\)"),
        ((np.zeros((4, 63), "float32"),), errors.ArgumentShapeError, r"\(4, 63\)"),
    ],
)
def test_wrong_arguments_are_named(kernel, args, error, text):
    with pytest.raises(error, match=text):
        kernel(*args)


@pytest.mark.parametrize("index", [2, -3, True, 1.5, [1, 1], [1, -1], "B"])
def test_wrong_out_idx_is_refused(index):
    with pytest.raises(errors.OutIndexError):
        compile(make_double("float32"), out_idx=index)


def test_negative_out_idx_counts_from_the_end():
    assert compile(make_double("float32"), out_idx=-1).out_idx == (1,)


@pytest.mark.parametrize(
    ("dtype", "value"), [("int32", 2**31), ("uint8", -1), ("uint8", 2**64), ("float16", 70000.0)]
)
def test_scalar_out_of_range_is_refused(dtype, value):
    @T.prim_func
    def scale(A: T.Tensor((64,), dtype), s: getattr(T, dtype)):
        with T.Kernel(1):
            A[0] = s

    kernel = compile(scale)
    with pytest.raises(errors.ArgumentRangeError, match="`s`"):
        kernel(np.zeros(64, dtype), value)
    a = np.zeros(64, dtype)
    kernel(a, 7)
    assert a[0] == 7


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.float16(2), np.float32(2), np.float64(2), np.int8(2)])
def test_scalars_of_numpy_are_taken_without_a_warning(value):
    @T.prim_func
    def scale(A: T.Tensor((64,)), s: T.float32):
        with T.Kernel(1):
            A[0] = s

    a = np.zeros(64, "float32")
    compile(scale)(a, value)
    assert a[0] == 2


def test_inputs_that_are_only_read_may_be_read_only_without_out_idx():
    frozen = numbers()
    frozen.flags.writeable = False
    out = np.zeros((4, 64), "float32")
    compile(make_double("float32"))(frozen, out)
    assert np.array_equal(out, 2 * numbers())


def test_kernels_pickle_and_print():
    kernel = compile(make_double("float32"), out_idx=1)
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again(numbers()), 2 * numbers())
    assert "A: float32[4, 64]" in repr(kernel)
