# SPDX-License-Identifier: Apache-2.0
"""Generated files are fresh, and the generator and the formulas refuse what they cannot read."""

from __future__ import annotations

import pytest

from tvm_ascend.hw import CHIPS
from tvm_ascend.isa import formula, gen
from tvm_ascend.isa.instr import Space
from tvm_ascend.isa.table import TABLE


def test_generated_files_are_fresh():
    assert gen.stale() == []


def test_a_changed_file_is_stale(tmp_path):
    for name, make in gen.FILES.items():
        (tmp_path / name).write_text(make())
    assert gen.stale(tmp_path) == []
    (tmp_path / "isa_table.inc").write_text("// edited\n")
    (tmp_path / "isa_names.inc").unlink()
    assert gen.stale(tmp_path) == ["isa_names.inc", "isa_table.inc"]


def test_check_fails_when_stale(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gen, "OUT", tmp_path)
    monkeypatch.setattr(gen.stale, "__defaults__", (tmp_path,))
    assert gen.main(["--check"]) == 1
    assert "stale: src/isa/isa_names.inc" in capsys.readouterr().out
    assert gen.main(["--write"]) == 0
    assert gen.main(["--check"]) == 0


@pytest.mark.parametrize("chip", CHIPS.values(), ids=list(CHIPS))
@pytest.mark.parametrize("core_type", ["AIC", "AIV"])
def test_every_chip_has_every_constant(chip, core_type):
    known = chip.timing_constants(core_type, chip.cores(core_type))
    assert set(gen.all_constants()) <= set(known)
    assert set(gen.timing_keys()) <= set(chip.vector)


@pytest.mark.parametrize(
    ("text", "cpp"),
    [
        ("a + 2 * b", "(a + (2 * b))"),
        ("-(a - b) / c", "((-(a - b)) / c)"),
        ("a // b", "floordiv(a, b)"),
        ("max(a, ceildiv(b, 3))", "max(a, ceildiv(b, 3))"),
        ("gm_read(a, b, c)", "gm_read(t, a, b, c)"),
    ],
)
def test_texts_become_cpp(text, cpp):
    assert gen.to_cpp(text, lambda name: name, str) == cpp


OUTSIDE = ("a ** b", "a if b else c", "a[0]", "f(x=1)", "1.5", "'a'", "a.b", "a < b")


@pytest.mark.parametrize("text", OUTSIDE)
def test_what_is_outside_the_subset_is_refused(text):
    formula.parse.cache_clear()
    with pytest.raises((AssertionError, SyntaxError)):
        formula.parse(text)


@pytest.mark.parametrize(
    ("text", "value"), [("a // 4 * 4 + b", 10), ("ceildiv(a, 4)", 3), ("-a + 1 / 2", -8.5)]
)
def test_texts_evaluate(text, value):
    assert formula.evaluate(text, {"a": 9, "b": 2, "ceildiv": formula.ceildiv}) == value


def test_spans_evaluate_on_tir_expressions():
    import tvm
    from tvm import tirx

    row = TABLE["add_repeat"]
    n = tirx.Var("n", "int32")
    params = {p.name: 1 for p in row.params} | {"repeat": n, "dst_rep": 8}
    calls = {"ceildiv": tvm.tirx.ceildiv, "max": tvm.tirx.max, "min": tvm.tirx.min}
    span = formula.span(row, row.operands[0], ("float32",), params, calls)
    simplified = tvm.sym.Analyzer().simplify(span - n * 64)
    assert simplified.value == 0


def test_names_of_an_operand_dtype():
    row = TABLE["mmad"]
    assert formula.sizes("float16") == {"itemsize": 2, "block": 16, "fractal": 256}
    dtypes = ("float32", "bfloat16", "int8")
    assert formula.operand_dtype(row, row.operands[1], dtypes) == "bfloat16"
    assert "block_a" in formula.names(row.cycles)


def test_constants_include_those_of_helpers():
    assert "GM_ROW_CYCLES" in formula.constants(TABLE["fixpipe"])
    assert formula.constants(TABLE["add"]) == ()


def test_l0_helper_reads_the_rate_of_its_space():
    rates = {"L0A_BYTES_PER_CYCLE": 3, "L0B_BYTES_PER_CYCLE": 5}
    helper = formula.helpers(rates)["l0_bytes_per_cycle"]
    assert (helper(Space.L0A), helper(Space.L0B)) == (3, 5)
