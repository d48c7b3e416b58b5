# SPDX-License-Identifier: Apache-2.0
"""Chains of casts between dtypes the chip does not convert directly."""

import pytest

from tvm_ascend.isa.table import TABLE
from tvm_ascend.transform.cast_path import cast_path


def test_same_dtype_needs_nothing():
    assert cast_path("float16", "float16") == ()


def test_widening_is_exact():
    assert cast_path("float16", "float32") == (("float32", "CAST_NONE"),)


def test_half_formats_meet_in_float32():
    assert cast_path("bfloat16", "float16") == (("float32", "CAST_NONE"), ("float16", "CAST_RINT"))


def test_float_is_not_rounded_before_it_becomes_an_int():
    (first, mode), *_ = cast_path("float32", "int8")
    assert (first, mode) == ("int16", "CAST_TRUNC")


@pytest.mark.parametrize(
    ("source", "target"),
    [("int32", "int8"), ("int32", "int16"), ("int8", "uint8"), ("uint8", "int8")],
)
def test_integers_only_widen(source, target):
    assert cast_path(source, target) is None


def test_unknown_dtype_has_no_path():
    assert cast_path("uint64", "float32") is None


def test_every_step_is_an_instruction():
    names = {dtype for pair in TABLE["cast"].dtypes for dtype in pair}
    for source in names:
        for target in names:
            at = source
            for dtype, _ in cast_path(source, target) or ():
                assert (dtype, at) in TABLE["cast"].dtypes
                at = dtype
