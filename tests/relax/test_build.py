# SPDX-License-Identifier: Apache-2.0
"""Plain ``tvm.compile`` and ``relax.build`` with an Ascend target, on the simulator."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest
import tvm
from tvm import relax, tirx
from tvm.ir import assert_structural_equal
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T
from tvm.target import Target

import tvm_ascend
from tvm_ascend.build import rebuild
from tvm_ascend.errors import HazardError, NotAnAscendTarget
from tvm_ascend.options import Options, SimOptions
from tvm_ascend.relax import host
from tvm_ascend.relax.device import saved_parts
from tvm_ascend.runtime import module
from tvm_ascend.transform.sync_edit import without_sync

DEVICE = tvm.device("ext_dev", 0)
M, K, N = 126, 80, 159


@I.ir_module
class Model:
    """A linear layer with bias, then layer_norm."""

    @R.function
    def main(
        x: R.Tensor((M, K), "float16"),
        weight: R.Tensor((K, N), "float16"),
        bias: R.Tensor((N,), "float32"),
        gamma: R.Tensor((N,), "float32"),
        beta: R.Tensor((N,), "float32"),
    ):
        with R.dataflow():
            product = R.matmul(x, weight, out_dtype="float32")
            linear = R.add(product, bias)
            normal = R.nn.layer_norm(linear, gamma, beta, axes=[-1])
            R.output(normal)
        return normal


@T.prim_func(s_tir=True)
def add(
    A: T.Buffer((48, 70), "float32"),
    B: T.Buffer((48, 70), "float32"),
    C: T.Buffer((48, 70), "float32"),
):
    for i, j in T.grid(48, 70):
        with T.sblock("add"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + B[vi, vj]


def model_inputs():
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, (M, K)).astype("float16")
    weight = rng.integers(-4, 5, (K, N)).astype("float16")
    vectors = [rng.standard_normal(N).astype("float32") for _ in range(3)]
    return [x, weight, *vectors]


def model_expected(x, weight, bias, gamma, beta):
    linear = x.astype("float64") @ weight.astype("float64") + bias
    centred = linear - linear.mean(-1, keepdims=True)
    return centred / np.sqrt(linear.var(-1, keepdims=True) + 1e-5) * gamma + beta


def on_device(*arrays):
    return [tvm.runtime.tensor(array, DEVICE) for array in arrays]


@pytest.fixture(scope="module")
def executable():
    return relax.build(Model, "ascend")


@pytest.fixture(scope="module")
def compiled_add():
    return tvm.compile(add, target="ascend")


def test_model_against_numpy(executable):
    inputs = model_inputs()
    result = relax.VirtualMachine(executable, DEVICE)["main"](*on_device(*inputs)).numpy()
    np.testing.assert_allclose(result, model_expected(*inputs), rtol=2e-4, atol=2e-4)


def test_every_kernel_of_the_model_reports(executable):
    machine = relax.VirtualMachine(executable, DEVICE)
    with module.observed() as reports:
        machine["main"](*on_device(*model_inputs()))
    assert [report.kernel for report in reports] == ["matmul", "add", "layer_norm"]
    assert all(report.cycles > 0 for report in reports)
    machine["main"](*on_device(*model_inputs()))
    assert len(reports) == 3


RELOAD = """
import sys
import numpy as np
import tvm
from tvm import relax
library, inputs, result = sys.argv[1:]
device = tvm.device("ext_dev", 0)
machine = relax.VirtualMachine(tvm.runtime.load_module(library), device)
given = np.load(inputs)
tensors = [tvm.runtime.tensor(given[name], device) for name in sorted(given.files)]
np.save(result, machine["main"](*tensors).numpy())
"""


def test_export_and_reload_in_a_fresh_process_gives_the_same_bits(executable, tmp_path):
    inputs = model_inputs()
    first = relax.VirtualMachine(executable, DEVICE)["main"](*on_device(*inputs)).numpy()
    files = [tmp_path / name for name in ("model.so", "inputs.npz", "result.npy")]
    executable.export_library(str(files[0]))
    np.savez(files[1], **{f"arg{index}": array for index, array in enumerate(inputs)})
    subprocess.run([sys.executable, "-c", RELOAD, *map(str, files)], check=True, timeout=120)
    assert np.load(files[2]).tobytes() == first.tobytes()


def test_loading_without_this_package_says_what_is_missing(executable, tmp_path, monkeypatch):
    executable.export_library(str(tmp_path / "model.so"))
    monkeypatch.setenv("TVM_DEVICE_BACKEND_AUTOLOAD", "0")
    code = "import sys, tvm; tvm.runtime.load_module(sys.argv[1])"
    command = [sys.executable, "-c", code, str(tmp_path / "model.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "a loader of that name is not registered" in done.stderr
    assert "ffi.Module.load_from_bytes.ascend" in done.stderr


RUN_ADD = """
import sys
import tvm
device = tvm.device("ext_dev", 0)
tensors = [tvm.runtime.empty((48, 70), "float32", device) for _ in range(3)]
tvm.runtime.load_module(sys.argv[1])["add"](*tensors)
"""


def test_running_without_the_compiler_library_says_what_is_missing(
    compiled_add, tmp_path, monkeypatch
):
    compiled_add.export_library(str(tmp_path / "add.so"))
    monkeypatch.setenv("TVM_USE_RUNTIME_LIB", "1")
    command = [sys.executable, "-W", "error", "-c", RUN_ADD, str(tmp_path / "add.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "kernel `add` cannot run: `target.build.llvm` is not in this process" in done.stderr


def test_plain_tvm_compile(compiled_add, rng):
    a, b = (rng.integers(-99, 99, (48, 70)).astype("float32") for _ in range(2))
    tensors = on_device(a, b, np.zeros_like(a))
    compiled_add(*tensors)
    np.testing.assert_array_equal(tensors[2].numpy(), a + b)


def test_named_pipeline_and_chip_tag(rng):
    library = tvm.compile(add, target="huawei/ascend-910b4", tir_pipeline="ascend")
    a, b = (rng.integers(-99, 99, (48, 70)).astype("float32") for _ in range(2))
    tensors = on_device(a, b, np.zeros_like(a))
    library(*tensors)
    np.testing.assert_array_equal(tensors[2].numpy(), a + b)


def test_source_of_a_library(compiled_add):
    (kernels,) = compiled_add.mod.imports
    assert kernels.kind == "ascend"
    assert "__aicore__" in kernels.inspect_source()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b, c: on_device(a, b), "Expected 3 arguments"),
        (lambda a, b, c: on_device(a, b, c[:47].copy()), r"Invalid C.shape\[0\]"),
        (lambda a, b, c: on_device(a, b, c.astype("float16")), "Mismatched C.dtype"),
        (lambda a, b, c: [*on_device(a, b), tvm.runtime.tensor(c)], "Mismatched C.device_type"),
    ],
)
def test_wrong_arguments_are_named(compiled_add, change, message):
    arrays = [np.zeros((48, 70), "float32") for _ in range(3)]
    with pytest.raises((TypeError, ValueError), match=message):
        compiled_add(*change(*arrays))


def test_foreign_memory_is_refused(compiled_add):
    (kernels,) = compiled_add.mod.imports
    arrays = [np.zeros((48, 70), "float32") for _ in range(3)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    with pytest.raises(ValueError, match=r"argument `A` of kernel `add` .* not memory of ext_dev"):
        kernels["add_kernel"](*pointers)
    with pytest.raises(TypeError, match="kernel `add` takes 3 arguments, got 2"):
        kernels["add_kernel"](*pointers[:2])


def test_options_reach_the_simulator(compiled_add):
    tensors = on_device(*(np.zeros((48, 70), "float32") for _ in range(3)))
    traced = SimOptions(trace=True)
    with module.simulated(traced), module.observed() as reports:
        compiled_add(*tensors)
    with module.observed() as quiet:
        compiled_add(*tensors)
    assert reports[0].events
    assert not quiet[0].events
    assert reports[0].cycles == quiet[0].cycles


def test_other_targets_pass_through_untouched():
    from tvm.s_tir.pipeline import default_s_tir_pipeline

    bound = tirx.transform.BindTarget(Target("llvm", host="llvm"))(tvm.IRModule({"add": add}))
    stock, _, _ = default_s_tir_pipeline()
    wrapped, _, _ = tirx.get_tir_pipeline("s_tir")
    assert_structural_equal(wrapped(bound), stock(bound))


def test_functions_of_two_targets_in_one_module():
    on_host = add.with_attr({"target": Target("llvm", host="llvm"), "global_symbol": "on_host"})
    on_chip = add.with_attr({"global_symbol": "on_chip"})
    library = tvm.compile(tvm.IRModule({"on_host": on_host, "on_chip": on_chip}), "ascend")
    arrays = [np.ones((48, 70), "float32") for _ in range(3)]
    for name, tensors in (
        ("on_host", [tvm.runtime.tensor(array) for array in arrays]),
        ("on_chip", on_device(*arrays)),
    ):
        library[name](*tensors)
        np.testing.assert_array_equal(tensors[2].numpy(), 2)


def test_split_leaves_a_call_of_the_kernel():
    target = Target("ascend", host="llvm")
    rest, kernels = host.split_kernels(tvm.IRModule({"add": add.with_attr("target", target)}))

    @T.prim_func(s_tir=True)
    def expected(
        A: T.Buffer((48, 70), "float32"),
        B: T.Buffer((48, 70), "float32"),
        C: T.Buffer((48, 70), "float32"),
    ):
        T.call_packed("add_kernel", A.data, B.data, C.data)

    assert_structural_equal(rest["add"].body, expected.body, map_free_vars=True)
    assert_structural_equal(kernels["add_kernel"].body, add.body, map_free_vars=True)
    assert kernels["add_kernel"].attrs["target"].host is None


def test_kernels_get_names_that_no_function_of_the_module_has():
    names = ("add", "add_kernel", "add_kernel_1")
    functions = {name: add.with_attr("global_symbol", name) for name in names}
    library = tvm.compile(tvm.IRModule(functions), "ascend")
    for name in names:
        tensors = on_device(*(np.ones((48, 70), "float32") for _ in range(3)))
        library[name](*tensors)
        np.testing.assert_array_equal(tensors[2].numpy(), 2)


def test_foreign_ext_dev_target_is_refused():
    with pytest.raises(NotAnAscendTarget, match="kind ext_dev"):
        tvm.get_global_func("target.build.ext_dev")(tvm.IRModule({}), Target("ext_dev"))


def test_hazard_in_a_module_is_our_error():
    """One wait too few: the error names both statements, and the module stays usable."""
    whole = tvm_ascend.compile(add, options=Options(cache=False))
    broken = rebuild(whole, without_sync(whole.stages["final"], 0))
    kernels = module.create(
        {"whole": saved_parts(whole.artifact), "broken": saved_parts(broken.artifact)}
    )
    tensors = on_device(*(np.ones((48, 70), "float32") for _ in range(3)))
    pointers = [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
    both_sides = r"(?s)in kernel `add`.*pipe MTE2.*pipe V.*HardEvent::MTE2_V"
    with pytest.raises(HazardError, match=both_sides):
        kernels["broken"](*pointers)
    with module.simulated(SimOptions(strict=False)), module.observed() as reports:
        kernels["broken"](*pointers)
    assert reports[0].hazards
    kernels["whole"](*pointers)
    np.testing.assert_array_equal(tensors[2].numpy(), 2)
