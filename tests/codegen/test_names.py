# SPDX-License-Identifier: Apache-2.0
"""No name of a user means something else in emitted C++."""

import runpy
from dataclasses import replace

import numpy as np
import pytest

from tvm_ascend import compile, compiler
from tvm_ascend.build import Kernel
from tvm_ascend.codegen.c_names import C_NAMES
from tvm_ascend.codegen.ctext import NameTable
from tvm_ascend.codegen.gen_names import names_of_headers

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
