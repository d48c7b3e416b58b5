# SPDX-License-Identifier: Apache-2.0
"""MapCores: a grid of any size on the cores there are."""

import pytest
import tvm
from tvm.ir import assert_structural_equal

from tvm_ascend import language as T
from tvm_ascend.errors import NestedGrid, NoThreads, NoUnitForDtype
from tvm_ascend.target import as_target
from tvm_ascend.transform.map_cores import MapCores


def mapped(func, chip="ascend", **options):
    func = func.with_attr({"target": as_target(chip), "ascend.options": options})
    return MapCores()(tvm.IRModule({"main": func}))["main"]


def grid_of(blocks):
    @T.prim_func
    def kernel(A: T.Tensor((blocks,), "float32")):
        with T.Kernel(blocks) as bx:
            A[bx] = 1.0

    return kernel


def test_rest_of_the_grid_is_a_loop():
    @T.prim_func
    def after(A: T.Tensor((128,), "float32")):
        block = T.launch_thread("blockIdx.x", 48)
        for step in T.serial(
            (175 - block) // 48,
            annotations={"ascend.num_stages": 2, "ascend.stages_choice": "grid_stages"},
        ):
            A[block + step * 48] = 1.0

    func = mapped(grid_of(128))
    assert_structural_equal(func.body, after.body, map_free_vars=True)
    assert int(func.attrs["ascend.grid"]) == 48


def test_small_grid_needs_no_loop():
    func = mapped(grid_of(3))
    assert int(func.attrs["ascend.grid"]) == 3
    assert "for " not in func.script().split("launch_thread")[1]


def test_number_of_cores_is_the_chip_s():
    assert int(mapped(grid_of(128), "huawei/ascend-910b4").attrs["ascend.grid"]) == 40


def test_cube_kernels_run_on_cube_cores():
    @T.prim_func
    def kernel(A: T.Tensor((128, 16, 16), "float16")):
        with T.Kernel(128) as bx:
            a = T.alloc_L1((16, 16), "float16")
            T.copy(A[bx, 0, 0], a)

    assert int(mapped(kernel).attrs["ascend.grid"]) == 24


def test_depth_of_the_pipeline_is_an_option():
    func = mapped(grid_of(128), grid_stages=3)
    assert int(func.body.body.annotations["ascend.num_stages"]) == 3


def test_every_point_of_a_flattened_grid_is_visited_once():
    @T.prim_func
    def kernel(A: T.Tensor((3, 5, 7), "float32")):
        with T.Kernel(3, 5, 7) as (bx, by, bz):
            A[bx, by, bz] = 1.0

    func = mapped(kernel)
    store = func.body.body.body
    block, step = func.body.node.var, func.body.body.loop_var
    seen = set()
    for b in range(48):
        for s in range((3 * 5 * 7 - b + 47) // 48):
            values = {block: tvm.tirx.const(b, "int32"), step: tvm.tirx.const(s, "int32")}
            point = tuple(_value(i, values) for i in store.indices)
            assert point not in seen
            seen.add(point)
    assert len(seen) == 3 * 5 * 7


def _value(index, values):
    import tvm_ffi

    concrete = tvm_ffi.structural_map(index, [(tvm.ir.Var, lambda v: values.get(v, v))])
    return int(tvm.sym.Analyzer().simplify(concrete))


def test_function_without_a_grid_runs_on_one_core():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float32")):
        for i in range(4):
            A[i] = 1.0

    func = mapped(kernel)
    assert int(func.attrs["ascend.grid"]) == 1
    assert_structural_equal(func.body.body, kernel.body, map_free_vars=True)


def test_grid_inside_the_kernel_is_refused():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float32")):
        with T.Kernel(2) as bx:
            A[bx] = 1.0
            with T.Kernel(2) as by:
                A[by] = 2.0

    with pytest.raises(NestedGrid, match=r"test_map_cores.py:\d+"):
        mapped(kernel)


def test_dtype_of_no_unit_is_refused():
    from tvm.script import tirx

    @tirx.prim_func
    def kernel(A: tirx.Buffer((4,), "float64")):
        A[0] = tirx.float64(1)

    with pytest.raises(NoUnitForDtype, match="`A` has dtype 'float64'"):
        mapped(kernel)


def test_bound_loop_is_a_grid():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float32")):
        for b in T.thread_binding(4, thread="blockIdx.x"):
            A[b] = 1.0

    assert_structural_equal(mapped(kernel).body, mapped(grid_of(4)).body, map_free_vars=True)


def test_threads_are_refused():
    @T.prim_func
    def kernel(A: T.Tensor((4,), "float32")):
        for b in T.thread_binding(4, thread="threadIdx.x"):
            A[b] = 1.0

    with pytest.raises(NoThreads, match=r"threadIdx\.x"):
        mapped(kernel)
