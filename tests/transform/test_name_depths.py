# SPDX-License-Identifier: Apache-2.0
"""Pipelined loops carry the name of the override that replaces their depth."""

import pytest
import tvm
from tvm.ir import assert_structural_equal

from tvm_ascend import language as T
from tvm_ascend.errors import BadTile
from tvm_ascend.transform.choices import with_overrides
from tvm_ascend.transform.name_depths import NameDepths


def named(func, ruled=(), **overrides):
    func = with_overrides(func, overrides, dict.fromkeys(ruled, 2))
    return NameDepths()(tvm.IRModule({"main": func}))["main"]


@T.prim_func
def one(A: T.Tensor((8,), "float32")):
    for k in T.serial(8, annotations={"ascend.num_stages": 2}):
        A[k] = 1.0


def test_a_single_loop_has_the_plain_name_and_obeys():
    @T.prim_func
    def after(A: T.Tensor((8,), "float32")):
        for k in T.serial(
            8, annotations={"ascend.num_stages": 3, "ascend.stages_choice": "num_stages"}
        ):
            A[k] = 1.0

    assert_structural_equal(named(one, num_stages=3).body, after.body, map_free_vars=True)


def test_several_loops_are_named_by_their_variables():
    @T.prim_func
    def several(A: T.Tensor((8,), "float32")):
        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            for j in T.serial(2, annotations={"ascend.num_stages": 1}):
                A[k] = T.float32(j)
        for k in T.serial(8, annotations={"ascend.num_stages": 4}):
            A[k] = 1.0

    text = named(several, **{"num_stages.j": 5}).script()
    for name, depth in (("num_stages.k", 2), ("num_stages.j", 5), ("num_stages.k_2", 4)):
        assert f'"ascend.num_stages": {depth}, "ascend.stages_choice": "{name}"' in text


def test_loops_of_a_schedule_with_its_own_choice_stay():
    assert_structural_equal(named(one, ruled=("num_stages",)).body, one.body, map_free_vars=True)


@pytest.mark.parametrize("depth", [0, 17])
def test_no_tile_has_so_many_versions(depth):
    with pytest.raises(BadTile, match=f"`num_stages` = {depth}"):
        named(one, num_stages=depth)
