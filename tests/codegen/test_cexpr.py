# SPDX-License-Identifier: Apache-2.0
"""Printed C++ expressions give the bits that LLVM gives."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import tirx

from tvm_ascend.codegen.cexpr import C_TYPES, HELPERS, ExprPrinter, dtype_of, float_text
from tvm_ascend.errors import ScalarCodeError
from tvm_ascend.runtime.twin import find_compiler, twin_include_dirs

INPUTS = {
    "x": "float32",
    "y": "float32",
    "h": "float16",
    "g": "float16",
    "i": "int32",
    "j": "int32",
    "s": "int8",
    "u": "uint16",
    "w": "int64",
}
V = {name: tirx.Var(name, dtype) for name, dtype in INPUTS.items()}
x, y, h, g, i, j, s, u, w = V.values()


def _cast(dtype, value):
    return tirx.Cast(dtype, value)


EXPRESSIONS = {
    "float arithmetic": x * y + x / (y - x),
    "float functions": tirx.exp(x) + tirx.log(tirx.abs(y)) * tirx.sqrt(tirx.abs(x)),
    "lowered functions": tirx.tanh(x) + tirx.sigmoid(y) - tirx.erf(x),
    "rounding functions": tirx.floor(x) + tirx.ceil(y) + tirx.trunc(x) + tirx.round(y),
    "half rounds each time": h * g + h - g / (h + tirx.const(0.1, "float16")),
    "half functions": tirx.exp(h) * tirx.sqrt(tirx.abs(g)),
    "half from int": _cast("float16", i) + _cast("float16", s) + _cast("float16", u),
    "half to int": _cast("int32", h) + _cast("int32", x),
    "half compare": _cast("int32", h < g) + _cast("int32", tirx.Max(h, g) == h),
    "float minimum": tirx.Min(x, y) * tirx.Max(x, tirx.const(1.0, "float32")),
    "select": tirx.Select(i > j, x, y) + tirx.if_then_else(x < y, x, y * x),
    "select of halves": tirx.Select(i > j, h, g + h),
    "floor division": tirx.floordiv(i, 7) * tirx.floormod(j, -5) + tirx.floordiv(j, 3),
    "truncated division": tirx.truncdiv(i, 7) - tirx.truncmod(j, 5),
    "int8 wraps": s * s + s,
    "uint16 wraps": u * u - u,
    "int64": w * w + _cast("int64", i),
    "bits": (i << 3) ^ (j >> 2) | (i & j) + ~i,
    "precedence": (i - (j - i)) * (i + j) - (i - j - i),
    "logic": _cast("int32", tirx.any(tirx.all(x < y, i > 0), tirx.Not(j > 3))),
    "nan test": _cast("int32", tirx.isnan(tirx.log(x))),
    "literals": x + tirx.const(1e-5, "float32") + tirx.const(-0.1, "float32") * y,
    "negative operands": i - tirx.const(-3, "int32") - (tirx.const(-1, "int32") * j),
}


def printed(expr):
    """A C++ function of the inputs that stores an expression, and what it needs."""
    printer = ExprPrinter(lambda var: str(var.name), lambda load: "", tvm.sym.Analyzer())
    return printer.text(expr), printer.used


def cpp_results(data, folder):
    used, stores = set(), []
    for number, expr in enumerate(EXPRESSIONS.values()):
        text, needs = printed(expr)
        used |= needs
        ctype = C_TYPES[dtype_of(expr)]
        stores.append(f"    (({ctype}*)out[{number}])[k] = {text};")
    params = [
        f"    const {C_TYPES[d]} {n} = (({C_TYPES[d]}*)in[{p}])[k];"
        for p, (n, d) in enumerate(INPUTS.items())
    ]
    source = "\n".join(
        [
            '#include "kernel_operator.h"',
            "#include <cmath>",
            *(text for name, text in HELPERS.items() if name in used),
            'extern "C" void run(void** in, void** out, int count) {',
            "  for (int k = 0; k < count; ++k) {",
            *params,
            *stores,
            "  }",
            "}",
            "",
        ]
    )
    (folder / "t.cc").write_text(source)
    command = [*find_compiler(), "-std=c++17", "-O1", "-shared", "-fPIC", "-fwrapv"]
    command += ["-ffp-contract=off", "-Wall", "-Werror", "-Wno-parentheses", "-Wno-unused-variable"]
    command += [f"-I{d}" for d in twin_include_dirs()]
    command += ["-o", str(folder / "t.so"), str(folder / "t.cc")]
    subprocess.run(command, check=True)
    count = len(data["x"])
    outputs = [np.zeros(count, dtype_of(e)) for e in EXPRESSIONS.values()]
    run = ctypes.CDLL(str(folder / "t.so")).run
    run(addresses(data.values()), addresses(outputs), count)
    return dict(zip(EXPRESSIONS, outputs, strict=True))


def addresses(arrays):
    pointers = [a.ctypes.data for a in arrays]
    return (ctypes.c_void_p * len(pointers))(*pointers)


def llvm_results(data):
    count = len(data["x"])
    buffers = {n: tirx.decl_buffer((count,), d, n) for n, d in INPUTS.items()}
    outputs = [
        tirx.decl_buffer((count,), dtype_of(e), f"out{k}")
        for k, e in enumerate(EXPRESSIONS.values())
    ]
    k = tirx.Var("k", "int32")
    values = {V[n]: tirx.BufferLoad(b, [k]) for n, b in buffers.items()}
    stores = [
        tirx.BufferStore(out, substitute(e, values), [k])
        for out, e in zip(outputs, EXPRESSIONS.values(), strict=True)
    ]
    body = tirx.For(k, 0, count, tirx.ForKind.SERIAL, tirx.SeqStmt(stores))
    func = tirx.PrimFunc([*buffers.values(), *outputs], body).with_attr("global_symbol", "f")
    built = tvm.compile(func, target="llvm")
    arrays = [tvm.runtime.tensor(a) for a in data.values()]
    results = [tvm.runtime.empty((count,), dtype_of(e)) for e in EXPRESSIONS.values()]
    built(*arrays, *results)
    return dict(zip(EXPRESSIONS, (r.numpy() for r in results), strict=True))


def substitute(expr, values):
    return tvm_ffi.structural_map(expr, [(tvm.ir.Var, lambda v: values.get(v, v))], order="post")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rng = np.random.default_rng(0)
    count = 512
    data = {
        n: (rng.normal(size=count) * 4 if "float" in d else rng.integers(-90, 90, count)).astype(d)
        for n, d in INPUTS.items()
    }
    return cpp_results(data, tmp_path_factory.mktemp("cexpr")), llvm_results(data)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_bits_equal_llvm(results, name):
    ours, theirs = results[0][name], results[1][name]
    assert ours.tobytes() == theirs.tobytes(), (ours[:4], theirs[:4])


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1.0f"), (0.1, "0.1f"), (1e-5, "1e-05f"), (3e38, "3e+38f"), (16777216.0, "16777216.0f")],
)
def test_floats_print_shortest(value, text):
    assert float_text(value) == text


def test_floats_print_exactly():
    values = np.random.default_rng(1).integers(0, 2**32, 500, dtype=np.uint32).view(np.float32)
    for value in values[np.isfinite(values)]:
        assert np.float32(float_text(float(value))[:-1]) == value


def test_division_needs_no_helper_where_signs_are_known():
    analyzer = tvm.sym.Analyzer()
    printer = ExprPrinter(lambda var: str(var.name), lambda load: "", analyzer)
    with analyzer.constraint_scope(i >= 0):
        assert printer.text(tirx.floordiv(i, 4)) == "i / 4"
        assert not printer.used
    assert printer.text(tirx.floordiv(i, 4)) == "FloorDiv<int32_t>(i, 4)"


def test_a_function_that_cannot_be_computed_is_named():
    with pytest.raises(ScalarCodeError, match=r"`popcount`"):
        printed(tirx.popcount(i))
