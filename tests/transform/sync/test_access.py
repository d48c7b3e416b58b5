# SPDX-License-Identifier: Apache-2.0
"""What statements read and write, and index expressions as numbers."""

import pytest
import tvm
import tvm_ffi
from hypothesis import given
from hypothesis import strategies as st
from tvm import tirx
from tvm.script import tirx as T

from tvm_ascend import language  # noqa: F401  registers T.ascend
from tvm_ascend.isa.instr import Pipe, Space
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import call
from tvm_ascend.layout.scope import SPACE_OF_SCOPE
from tvm_ascend.transform.sync.access import accesses_of
from tvm_ascend.transform.sync.affine import Interval, Reader
from tvm_ascend.transform.sync.overlap import rows_meet


def statement(func):
    return func.body.seq[-1]


def test_a_copy_reads_rows_with_gaps():
    @T.prim_func
    def func(A: T.Buffer((64, 100), "float16")):
        x = T.alloc_buffer((4, 32), "float16", scope="shared.ub")
        T.ascend.data_copy_pad_in(x[1, 0], A[2, 8], 3, 48, 152, 0, False, 0, 0, T.float16(0))

    dst, src = accesses_of(statement(func))
    assert (src.space, src.pipe, src.rw, src.offset) == (Space.GM, Pipe.MTE2, "r", 208)
    assert (src.count, src.pitch, src.length, src.span) == (3, 100, 24, 224)
    assert (dst.offset, dst.count, dst.pitch, dst.length) == (32, 3, 32, 32)


def test_lanes_that_a_mask_switches_off_are_not_touched():
    @T.prim_func
    def func():
        x = T.alloc_buffer((8, 104), "float32", scope="shared.ub")
        T.ascend.add_repeat(x[0, 64], x[0, 64], x[0, 64], 36, 8, 1, 1, 0, 13, 13, 1)

    dst, src0, src1 = accesses_of(statement(func))
    assert (dst.count, dst.pitch, dst.length) == (8, 104, 36)
    assert src0.length == 36
    assert (src1.pitch, src1.length) == (8, 8)


def test_reads_in_parameters_belong_to_the_scalar_unit():
    @T.prim_func
    def func():
        x = T.alloc_buffer((8,), "float32", scope="shared.ub")
        T.ascend.adds(x[0], x[0], x[3] * T.float32(2), 8)

    found = accesses_of(statement(func))
    assert [(a.pipe, a.rw) for a in found] == [(Pipe.S, "r"), (Pipe.V, "w"), (Pipe.V, "r")]
    assert found[0].offset == 3


def test_stores_are_the_scalar_unit():
    @T.prim_func
    def func(A: T.Buffer((8,), "float32")):
        x = T.alloc_buffer((8,), "float32", scope="shared.ub")
        x[2] = A[1]

    found = accesses_of(statement(func))
    assert [(str(a.buffer.name), a.pipe, a.rw) for a in found] == [
        ("A", Pipe.S, "r"),
        ("x", Pipe.S, "w"),
    ]


@pytest.mark.parametrize("key", sorted(k for k, row in TABLE.items() if row.operands))
def test_every_row_has_readable_spans(key):
    row = TABLE[key]
    scope = {space: name for name, space in SPACE_OF_SCOPE.items() if name}
    dtypes = dict(zip(row.types, row.dtypes[0], strict=True))
    operands = [
        tirx.decl_buffer((4096,), dtypes.get(o.dtype, o.dtype), o.name, scope=scope[o.spaces[0]])
        for o in row.operands
    ]
    params = [p.values[0] if p.values else max(2, p.low or 0) for p in row.params]
    params = [1 if p.type == "bool" else v for p, v in zip(row.params, params, strict=True)]
    found = accesses_of(call(key, *operands, *params))
    assert len(found) == len(row.operands)
    assert all(isinstance(a.span, int) and a.span >= 1 for a in found)


class Draw:
    """Random index expressions with their Python meaning."""

    def __init__(self, draw, variables):
        self.draw, self.variables = draw, variables

    def expr(self, depth):
        kind = self.draw(st.integers(0, 7)) if depth else self.draw(st.integers(0, 1))
        if kind == 0:
            return tirx.IntImm("int32", self.draw(st.integers(0, 40)))
        if kind == 1:
            return self.draw(st.sampled_from(self.variables))
        if kind in (2, 3):
            by = tirx.IntImm("int32", self.draw(st.integers(1, 7)))
            op = tirx.floordiv if kind == 2 else tirx.floormod
            return op(self.expr(depth - 1), by)
        a, b = self.expr(depth - 1), self.expr(depth - 1)
        return [a + b, a - b, a * b, tirx.min(a, b)][kind - 4]


@given(st.data())
def test_forms_mean_what_the_expression_means(data):
    variables = [tirx.Var(f"v{i}", "int32") for i in range(3)]
    expr = Draw(data.draw, variables).expr(3)
    reader = Reader()
    for var in variables:
        number = reader.counter(Interval(0, 9))
        reader.define(var, type(reader.read(0))(0, ((number, 1),)))
    form = reader.read(expr)
    values = [data.draw(st.integers(0, 9)) for _ in variables]
    env = {v: tirx.IntImm("int32", x) for v, x in zip(variables, values, strict=True)}
    exact = tvm.sym.Analyzer().simplify(
        tvm_ffi.structural_map(expr, [(tvm.ir.Var, lambda v: env.get(v, v))])
    )
    numbers = {f"v{i}": x for i, x in enumerate(values)}
    got = form.const + sum(f * numbers[f"v{n}"] for n, f in form.counters)
    got += sum(f * int(atom.value(numbers)) for atom, f in form.atoms)
    assert got == int(exact)
    bounds = reader.interval(form)
    assert bounds.low <= got <= bounds.high


rows = st.tuples(st.integers(0, 5), st.integers(0, 12), st.integers(0, 9))


@given(st.integers(-60, 60), rows, rows, st.booleans())
def test_rows_meet_only_where_bytes_do(gap, a, b, same_pitch):
    if same_pitch:
        b = (b[0], a[1], b[2])

    def touched(start, count, pitch, length):
        return {start + i * pitch + j for i in range(count) for j in range(length)}

    truth = bool(touched(0, *a) & touched(gap, *b))
    told = rows_meet(gap, a, b)
    assert told or not truth
    if a[1] == b[1] and a[1] > 0:
        assert told == truth
