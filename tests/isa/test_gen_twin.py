# SPDX-License-Identifier: Apache-2.0
"""The twin's generated headers are those of the table, and the generator reads calls rightly."""

from __future__ import annotations

import pytest

from tvm_ascend.isa import gen_twin
from tvm_ascend.isa.table import TABLE


def test_generated_files_are_fresh():
    assert gen_twin.stale() == []


def test_the_freshness_check_sees_an_old_file(tmp_path, monkeypatch):
    monkeypatch.setattr(gen_twin, "OUT", tmp_path)
    assert gen_twin.main(["--check"]) == 1
    assert gen_twin.main(["--write"]) == 0
    name = next(iter(gen_twin.files()))
    (tmp_path / name).write_text("")
    assert gen_twin.stale() == [name]


def test_split_keeps_brackets_together():
    assert gen_twin.split("a, f(b, c), g<d, e>(h)") == ["a", "f(b, c)", "g<d, e>(h)"]
    assert gen_twin.split("") == []


def test_parameters_are_found_in_the_fields_of_their_struct():
    row = TABLE["mmad"]
    read = gen_twin.wrapper(row, row.emit, "typename C, typename A, typename B")
    assert read.args == (
        *("{0}", "{1}", "{2}", "{3}.m", "{3}.n", "{3}.k"),
        "{3}.cmatrixInitVal",
    )


def test_an_array_of_a_block_is_a_parameter():
    row = TABLE["relu_bits"]
    read = gen_twin.wrapper(row, row.emit, row.template)
    assert read.types[2] == "uint64_t[]"
    assert read.args[2:4] == ("{2}[0]", "{2}[1]")
    assert "uint64_t mask[], const uint8_t repeat" in read.declaration


def test_every_wrapper_passes_each_member_of_its_row_once():
    for wrapper in gen_twin.wrappers():
        row = wrapper.row
        assert len(wrapper.args) == len(row.operands) + len(row.params)
        assert len(set(wrapper.args)) == len(wrapper.args), row.key


def test_every_row_that_is_a_call_has_a_wrapper():
    wrapped = {w.row.key for w in gen_twin.wrappers()}
    assert set(TABLE) - wrapped == {"get_value", "set_value"}


def test_an_unknown_struct_is_an_error():
    with pytest.raises(KeyError):
        gen_twin.wrapper(TABLE["brcb"], "AscendC::Brcb({dst}, {src}, AscendC::Odd({repeat}));", "T")
