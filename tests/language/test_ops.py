# SPDX-License-Identifier: Apache-2.0
"""One TIR op per instruction row and tile operation."""

import pytest
import tvm
from tvm import tirx
from tvm.ir import Op
from tvm.script import tirx as T

from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import PREFIX, TILE_OPS, call, key_of


@pytest.mark.parametrize("key", [*TABLE, *TILE_OPS])
def test_op_is_registered_and_in_the_namespace(key):
    assert Op.get(PREFIX + key).name == PREFIX + key
    assert getattr(T.ascend, key).__doc__


def test_call_converts_python_values():
    buffer = tirx.decl_buffer((64,), "float32", "a", scope="shared.ub")
    stmt = call("duplicate", buffer, 1.5, 64)
    address, value, count = stmt.value.args
    assert key_of(stmt) == "duplicate"
    assert [int(x) for x in address.indices] == [0]
    assert str(value.ty.dtype) == "float32"
    assert int(count) == 64


def test_whole_buffer_of_a_tile_operation_is_a_region():
    buffer = tirx.decl_buffer((4, 8), "float32", "a", scope="shared.ub")
    region, _ = call("tile_fill", buffer, 0.0).value.args
    assert [int(r.extent) for r in region.region] == [4, 8]


def test_wrong_number_of_arguments_names_them():
    with pytest.raises(TypeError, match="count"):
        T.ascend.add(1)


def test_other_statements_have_no_key():
    assert key_of(tirx.Evaluate(0)) is None
    assert key_of(tvm.tirx.exp(tirx.Var("x", "float32"))) is None


def test_text_round_trip():
    @T.prim_func
    def kernel(A: T.Buffer((64,), "float32")):
        t = T.alloc_buffer((64,), "float32", scope="shared.ub")
        T.ascend.tile_copy(A[0:32], t[0:32])
        T.ascend.add(t[0], t[0], t[32], 32)
        T.ascend.cast(t[0], t[0], "CAST_RINT", 32)

    tvm.ir.assert_structural_equal(tvm.script.from_source(kernel.script()), kernel)
