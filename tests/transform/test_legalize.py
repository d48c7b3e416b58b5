# SPDX-License-Identifier: Apache-2.0
"""Legalize: one refused program per rule, and what is fine passes."""

import pytest
import tvm
from tvm.ir import assert_structural_equal
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.errors import (
    MisalignedOperand,
    ParameterOutOfRange,
    UnsupportedDtypes,
    WrongCore,
    WrongMemory,
)
from tvm_ascend.hw import CHIPS
from tvm_ascend.target import as_target
from tvm_ascend.transform.legalize import Legalize


def run(func, core="AIV"):
    func = func.with_attr({"ascend.core_type": core, "target": as_target("ascend")})
    return Legalize()(tvm.IRModule({"main": func}))["main"]


def unary(count=64, index=0, dtype="float32", mode="CAST_RINT", trips=2, step=8):
    @T.prim_func
    def func():
        x = T.alloc_buffer((512,), dtype, scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer(
            (512,), "float16", scope="shared.ub", annotations={"ascend.address": 2048}
        )
        for k in range(trips):
            T.ascend.cast(y[0], x[index + k * step], mode, count)

    return func


def test_legal_programs_pass_unchanged():
    func = unary()
    assert_structural_equal(run(func).body, func.body)


def test_parameters_stay_in_their_fields():
    with pytest.raises(ParameterOutOfRange, match="Cast has count = -1; allowed is 0 to"):
        run(unary(count=-1))
    with pytest.raises(
        ParameterOutOfRange, match="Cast has round_mode = CAST_UP; allowed is CAST_"
    ):
        run(unary(mode="CAST_UP"))


def test_a_parameter_that_is_out_of_range_in_every_iteration_is_refused():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((8,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        for k in range(8):
            T.ascend.data_copy_pad_in(x[0], A[0], k + 4096, 4, 0, 0, False, 0, 0, T.float32(0))

    with pytest.raises(ParameterOutOfRange, match=r"block_count = k \+ 4096; allowed is 0 to 4095"):
        run(func)


def test_dtypes_are_those_of_the_row():
    with pytest.raises(UnsupportedDtypes, match="does not exist for operands of float16, int64"):
        run(unary(dtype="int64"))


def test_operands_of_one_type_have_one_dtype():
    @T.prim_func
    def func():
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        y = T.alloc_buffer((64,), "float16", scope="shared.ub", annotations={"ascend.address": 256})
        T.ascend.add(x[0], x[0], y[0], 64)

    with pytest.raises(UnsupportedDtypes, match=r"Add does not exist for .* float32, float16"):
        run(func)


def test_addresses_are_aligned_in_every_iteration():
    with pytest.raises(MisalignedOperand, match="`src` of Cast starts at byte 4 of UB"):
        run(unary(index=1))
    with pytest.raises(MisalignedOperand, match=r"starts at byte 16 .* must be a multiple of 32"):
        run(unary(step=4))
    run(unary(step=4, trips=1))


def test_operands_are_in_a_memory_the_instruction_reaches():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.abs(x[0], A[0], 64)

    with pytest.raises(WrongMemory, match="Abs takes `src` from UB, but `A` is in GM"):
        run(func)


def test_the_scalar_unit_does_not_reach_l1():
    @T.prim_func
    def func(A: T.Buffer((64,), "float32")):
        x = T.alloc_buffer((64,), "float32", scope="shared.l1", annotations={"ascend.address": 0})
        A[0] = x[0]

    with pytest.raises(WrongMemory, match="GetValue takes `src` from GM or UB, but `x` is in L1"):
        run(func, "AIC")


def test_instructions_run_on_their_core():
    with pytest.raises(WrongCore, match=r"Cast cannot run on AIC, .* exists on AIV"):
        run(unary(), "AIC")


@pytest.mark.parametrize(
    ("statement", "free"),
    [
        (lambda: T.ascend.set_flag("V_MTE3", 99), CHIPS["910b1"].usable_event_ids),
        (
            lambda: T.ascend.cross_core_set_flag(2, "MTE3", 99),
            CHIPS["910b1"].usable_cross_core_ids,
        ),
    ],
    ids=["flag", "flag between cores"],
)
def test_flags_out_of_range_are_answered_with_those_that_are_free(statement, free):
    """Ids above are the chip's or the library's own: the launch would refuse them next."""

    @T.prim_func
    def func():
        T.evaluate(statement())

    with pytest.raises(ParameterOutOfRange, match=rf"= 99; allowed is 0 to {free - 1}\b"):
        run(func)
