# SPDX-License-Identifier: Apache-2.0
"""Kernels below ``from __future__ import annotations``: their errors are the usual ones."""

from __future__ import annotations

import inspect

import pytest

from tvm_ascend import language as T
from tvm_ascend.errors import EmptyShape, NoUnitForDtype, ScriptError


def make(length, dtype):
    @T.prim_func
    def kernel(A: T.Tensor((length,), dtype)):
        with T.Kernel(1):
            A[0] = T.Cast(dtype, 1)

    return kernel


def line_of_signature():
    lines, start = inspect.getsourcelines(make)
    return start + next(k for k, line in enumerate(lines) if "def kernel" in line)


def test_names_of_the_factory_are_seen():
    (param,) = make(5, "float16").params
    assert (int(param.ty.shape[0]), str(param.ty.dtype)) == (5, "float16")


@pytest.mark.parametrize(
    ("length", "dtype", "error"), [(16, "complex64", NoUnitForDtype), (0, "float32", EmptyShape)]
)
def test_our_error_comes_out_unchanged_with_its_line(length, dtype, error):
    with pytest.raises(error) as caught:
        make(length, dtype)
    place = f"test_postponed_annotations.py:{line_of_signature()}: T.Tensor has "
    assert place in str(caught.value)


def test_other_faults_of_an_annotation_name_it():
    with pytest.raises(ScriptError, match="nowhere"):

        @T.prim_func
        def kernel(A: T.Tensor((nowhere,), "float32")):  # noqa: F821
            A[0] = 1.0
