# SPDX-License-Identifier: Apache-2.0
"""No name of a user means something else in emitted C++."""

import re
import runpy
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from final_functions import row_function

from tvm_ascend import compile, compiler
from tvm_ascend import language as T
from tvm_ascend.build import Kernel
from tvm_ascend.codegen.ascendc import emit, own_names
from tvm_ascend.codegen.c_names import C_NAMES
from tvm_ascend.codegen.ctext import NameTable
from tvm_ascend.codegen.gen_names import names_of_headers
from tvm_ascend.isa.table import TABLE
from tvm_ascend.runtime.twin import FLAGS, find_compiler, twin_include_dirs

KERNEL = """
from tvm_ascend import language as T

@T.prim_func
def {name}({a}: T.Tensor((8,), "float32"), {b}: T.Tensor((8,), "float32")):
    with T.Kernel(1):
        for {i} in T.serial(8):
            {b}[{i}] = T.exp({a}[{i}]) + T.fmod({a}[{i}], 2.0)
"""
LISTED = ("exp", "sqrt", "pow", "abs", "div", "exit", "printf", "memcpy", "std", "NULL", "errno")
# Functions the compiler knows without a header, names of ours, of the vendor's and of macros.
BUILT_IN = ("pow10", "gamma", "half", "AscendC", "Truncate", "static_cast", "GM_ADDR", "INT_MAX")


def load(tmp_path, **names):
    path = tmp_path / f"kernels_{'_'.join(names.values())}.py"
    path.write_text(KERNEL.format(**{"name": "k", "a": "A", "b": "B", "i": "i", **names}))
    return runpy.run_path(str(path))[names.get("name", "k")]


def twin_of(kernel, out_idx):
    return Kernel(kernel.artifact, out_idx, replace(kernel.options, executor="twin"))


@pytest.mark.parametrize("name", LISTED + BUILT_IN)
def test_a_kernel_of_any_name_runs_on_the_twin(tmp_path, name):
    kernel = compile(load(tmp_path, name=name), out_idx=1)
    values = np.arange(8, dtype="float32")
    ours, theirs = kernel(values), np.zeros(8, "float32")
    twin_of(kernel, ())(values, theirs)  # into an array of ours: what is not written stays 0
    assert ours.tobytes() == theirs.tobytes()
    assert ours[0] == 1


@pytest.mark.parametrize("which", ["a", "b", "i"])
@pytest.mark.parametrize("name", ["expf", "NULL", "errno", "std"])
def test_parameters_and_variables_may_have_any_name(tmp_path, which, name):
    kernel = compile(load(tmp_path, **{which: name}), out_idx=1)
    values = np.arange(8, dtype="float32")
    assert kernel(values).tobytes() == twin_of(kernel, (1,))(values).tobytes()


@pytest.mark.skipif(compiler.find() is None, reason="no C++ compiler")
def test_every_name_of_standard_c_is_known():
    assert not names_of_headers("-std=c11") - C_NAMES


def test_no_new_name_is_one_of_c():
    assert {"exp", "NULL", "EOF", "errno", "malloc"} <= C_NAMES
    table = NameTable()
    assert not {table.fresh(name) for name in C_NAMES} & C_NAMES


def test_a_name_that_is_free_stays():
    table = NameTable()
    assert [table.fresh(n) for n in ("layer_norm", "A", "gemm")] == ["layer_norm", "A", "gemm"]


HEADERS = [path for folder in twin_include_dirs() for path in folder.glob("*") if path.is_file()]
WORDS = sorted(set(re.findall(r"\b[A-Za-z]\w*", "".join(path.read_text() for path in HEADERS))))


def check_syntax(text, tmp_path):
    path = tmp_path / "names.cc"
    path.write_text(text)
    includes = [f"-I{folder}" for folder in twin_include_dirs()]
    command = [*find_compiler(), *FLAGS, "-fsyntax-only", *includes, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def test_every_word_of_the_headers_may_name_a_kernel(tmp_path):
    table = NameTable(own_names())
    kernels = [
        f'extern "C" __global__ __aicore__ void {table.fresh(word)}(GM_ADDR a) {{}}\n'
        for word in WORDS
    ]
    frame = '#include "kernel_operator.h"\n#include <cmath>\n{}#include "twin_main.h"\n'
    assert not check_syntax(frame.format("".join(kernels)), tmp_path)
    clashing = frame.format('extern "C" void twin(GM_ADDR a) {}\n')
    assert "twin" in check_syntax(clashing, tmp_path)


def test_every_word_of_the_headers_may_name_a_variable(tmp_path):
    """Around what every row emits are variables of all names that the table lets pass."""
    free = [word for word in WORDS if NameTable(own_names()).fresh(word) == word]
    assert "block" in free
    heads, bodies = set(), []
    for row in TABLE.values():
        source = emit(row_function("kernel", row, row.dtypes[0], literal=False), "9.1")
        head, kernel = source.split('extern "C" __global__ __aicore__ void kernel', 1)
        heads.add(head.partition("\n")[2])
        bodies.append(f"[]{kernel.rstrip()};\n")
    variables = [f"int {word} = 0;\n" for word in free]

    def text(*more):
        return "".join([*heads, "void all() {\n", *variables, *more, *bodies, "}\n"])

    assert not check_syntax(text(), tmp_path)
    assert "PIPE_S" in check_syntax(text("int PIPE_S = 0;\n"), tmp_path)


def test_a_loop_variable_is_not_the_one_inside_a_call():
    """TransDataTo5HD fills its lists in a loop of its own."""

    @T.prim_func
    def turn(A: T.Tensor((4, 256), "float16"), B: T.Tensor((4, 256), "float16")):
        with T.Kernel(1):
            source = T.alloc_ub((4, 256), "float16")
            target = T.alloc_ub((4, 256), "float16")
            T.copy(A, source)
            for i in T.serial(4):
                for entry in T.serial(1):
                    T.ascend.trans_data_to_5hd(
                        target[i + entry, 0], source[i, 0], 16, 16, False, False, 1, 0, 0
                    )
            T.copy(target, B)

    kernel = compile(turn, out_idx=1)
    values = np.arange(1024).reshape(4, 256).astype("float16")
    expected = values.reshape(4, 16, 16).transpose(0, 2, 1).reshape(4, 256)
    for run in (kernel, twin_of(kernel, (1,))):
        assert np.array_equal(run(values), expected)
