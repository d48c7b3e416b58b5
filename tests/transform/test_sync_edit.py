# SPDX-License-Identifier: Apache-2.0
"""Single syncs can be listed and taken out, presets and drains with them."""

import tvm
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.transform.insert_sync import InsertSync
from tvm_ascend.transform.sync_edit import (
    list_syncs,
    sync_statements,
    without_statement,
    without_sync,
)


@T.prim_func
def kernel(A: T.Buffer((9, 64), "float32"), B: T.Buffer((9, 64), "float32")):
    for k in range(9):
        x = T.alloc_buffer((2, 64), "float32", scope="shared.ub", annotations={"ascend.address": 0})
        T.ascend.data_copy_pad_in(x[k % 2, 0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.ascend.exp(x[k % 2, 0], x[k % 2, 0], 64)
        T.ascend.abs(x[k % 2, 0], x[k % 2, 0], 64)
        T.ascend.data_copy_pad_out(B[k, 0], x[k % 2, 0], 1, 256, 0, 0)


def synced():
    func = kernel.with_attr("target", tvm.target.Target("ascend"))
    return InsertSync()(tvm.IRModule({"main": func}))["main"]


def test_a_pair_holds_presets_and_drains():
    found = [(s.kind, s.event, len(s.statements)) for s in list_syncs(synced())]
    assert found == [
        ("flag", "MTE3_MTE2", 6),
        ("flag", "MTE2_V", 2),
        ("barrier", "V", 1),
        ("flag", "V_MTE3", 2),
    ]


def test_a_sync_names_the_instructions_it_orders():
    back = list_syncs(synced())[0]
    assert "data_copy_pad_out" in str(back.first)
    assert "data_copy_pad_in" in str(back.second)


def test_taking_a_pair_out_leaves_the_others():
    func = synced()
    for index, sync in enumerate(list_syncs(func)):
        left = list_syncs(without_sync(func, index))
        assert len(left) == 3
        assert len(sync_statements(without_sync(func, index))) == 11 - len(sync.statements)


def test_taking_one_statement_out():
    func = synced()
    count = len(sync_statements(func))
    assert count == 11
    for index in range(count):
        assert len(sync_statements(without_statement(func, index))) == count - 1


def test_functions_without_syncs_have_none():
    assert list_syncs(kernel) == []
