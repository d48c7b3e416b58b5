# SPDX-License-Identifier: Apache-2.0
"""Calls are read back into declarations."""

from __future__ import annotations

import pytest

from tvm_ascend.isa import call_text
from tvm_ascend.isa.table import TABLE


def test_split_keeps_brackets_together():
    assert call_text.split("a, f(b, c), g<d, e>(h)") == ["a", "f(b, c)", "g<d, e>(h)"]
    assert call_text.split("") == []


def test_parameters_are_found_in_the_fields_of_their_struct():
    row = TABLE["mmad"]
    read = call_text.wrapper(row, row.emit, "typename C, typename A, typename B")
    assert read.args == (
        *("{0}", "{1}", "{2}", "{3}.m", "{3}.n", "{3}.k"),
        "{3}.cmatrixInitVal",
    )


def test_an_array_of_a_block_is_a_parameter():
    row = TABLE["relu_bits"]
    read = call_text.wrapper(row, row.emit, row.template)
    assert read.types[2] == "uint64_t[]"
    assert read.args[2:4] == ("{2}[0]", "{2}[1]")
    assert "uint64_t mask[], const uint8_t repeat" in read.declaration


def test_every_wrapper_passes_each_member_of_its_row_once():
    for wrapper in call_text.wrappers():
        row = wrapper.row
        assert len(wrapper.args) == len(row.operands) + len(row.params)
        assert len(set(wrapper.args)) == len(wrapper.args), row.key


def test_every_row_that_is_a_call_has_a_wrapper():
    wrapped = {w.row.key for w in call_text.wrappers()}
    views = {key for key, row in TABLE.items() if call_text.VIEW in row.emit}
    assert set(TABLE) - wrapped == {"get_value", "set_value", *views}


def test_an_unknown_struct_is_an_error():
    with pytest.raises(KeyError):
        call_text.wrapper(
            TABLE["brcb"], "AscendC::Brcb({dst}, {src}, AscendC::Odd({repeat}));", "T"
        )


def test_fixed_fields_are_conditions():
    read = call_text.wrapper(
        TABLE["mmad"], TABLE["mmad"].emit, "typename C, typename A, typename B"
    )
    assert read.conditions == (
        "{3}.unitFlag == 0 && {3}.kDirectionAlign == false && {3}.cmatrixSource == false"
    )


def test_members_packed_into_a_word_are_taken_out_of_it():
    row = TABLE["load_data_3d"]
    read = call_text.wrapper(row, row.emit, "typename T")
    words = dict(zip([p.name for p in row.params], read.args[2:], strict=True))
    assert words["m_start"] == "static_cast<uint16_t>({2}.extConfig >> 48)"
    assert words["stride_w"] == "static_cast<uint8_t>({2}.filterConfig >> 0)"


def test_a_struct_completed_in_a_block_is_a_parameter():
    row = TABLE["mmad_aligned"]
    read = call_text.wrapper(row, row.emit, "typename C, typename A, typename B")
    assert read.types[3] == "const MmadParams&"
    assert read.args[-1] == "{3}.kDirectionAlign"


def test_a_constant_of_the_template_tells_rows_apart():
    row = TABLE["fixpipe_nz"]
    assert call_text.wrapper(row, row.emit, row.template).constants == "&config == &CFG_NZ"
