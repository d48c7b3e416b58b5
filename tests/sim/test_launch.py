# SPDX-License-Identifier: Apache-2.0
"""Launching compiled control programs: arguments, faults, threads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tvm
import tvm_ffi
from sim.machine import SPACES, Gm, Machine, ub
from tvm import tirx
from tvm.script import tirx as T


def compiled(function):
    """Machine code of a control program."""
    target = tvm.target.Target("llvm", host="llvm")
    mod = tvm.IRModule({"control": function.with_attr("target", target)})
    passes = [
        tirx.transform.AnnotateEntryFunc(),
        tirx.transform.MakePackedAPI(),
        tirx.transform.LowerTVMBuiltin(),
        tirx.transform.LowerIntrin(),
    ]
    mod = tvm.ir.transform.Sequential(passes)(mod)
    build = tvm_ffi.get_global_func("target.build.llvm")
    return build(mod, tvm.target.Target("llvm"))["control"]


def row(data, block):
    """Address of a block's 64 elements."""
    return tirx.reinterpret("int64", data) + tirx.Cast("int64", block) * 256


@pytest.fixture(scope="module")
def doubling():
    """Scales `n` elements of each block's row; a scalar loop stores them."""

    @T.prim_func
    def control(block: T.int32, data: T.handle, n: T.int64, factor: T.float64):
        T.func_attr({"global_symbol": "control"})
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_2", 0, row(data, block), n * 4))
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_0", 1))
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_0", 2))
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_1", 3, T.reinterpret("int64", factor)))
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_0", 4))
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_0", 5))
        for i in range(n):
            T.evaluate(
                T.call_extern(
                    "int32",
                    "tvm_ascend_set_float",
                    7,
                    row(data, block) + i * 4,
                    T.call_extern("float64", "tvm_ascend_get_float", 6, i * 4 + 4096),
                )
            )
        T.evaluate(T.call_extern("int32", "tvm_ascend_issue_0", 8))

    return compiled(control)


def program(grid=3):
    machine = Machine(grid=grid)
    data = np.arange(64 * grid, dtype="float32")
    gm = machine.tensor("data", data)
    machine.load(ub(0), gm, 64, "float32")
    machine.sync("MTE2_V")
    machine.issue("muls", "float32", ub(4096), ub(0), 2.0, 64)
    machine.sync("V_S")
    machine.issue("get_value", "float32", ub(4096))
    machine.issue("set_value", "float32", gm, 0.0)
    machine.issue("data_cache_clean", "float32", gm, "ENTIRE_DATA_CACHE")
    sites = machine.sites
    sites[0]["args"][1], sites[0]["args"][3] = {"d": 0}, {"d": 1}
    sites[3]["args"][2] = {"d": 0}
    sites[6]["args"] = [{"d": 0}]
    sites[7]["args"] = [{"d": 0}, {"d": 1}]
    machine.program["params"] = [
        {"name": "data", "dtype": "float32", "kind": "tensor"},
        {"name": "n", "dtype": "int64", "kind": "scalar"},
        {"name": "factor", "dtype": "float32", "kind": "scalar"},
    ]
    return machine, data


def launch(machine, control, args, **options):
    prepare = tvm_ffi.get_global_func("tvm_ascend.sim.prepare")
    return json.loads(prepare(machine.json(), control)(args, json.dumps(options)))


def test_a_control_program_moves_data(doubling):
    machine, data = program()
    report = launch(machine, doubling, [tvm_ffi.from_dlpack(data), 64, 2.0])
    assert report["hazards"] == []
    assert np.array_equal(data, np.arange(192) * 2)
    assert report["instructions"]["get_value"] == 192
    assert [core["id"] for core in report["cores"]] == [0, 1, 2]


def test_a_hazard_leaves_the_control_program_at_once(doubling):
    machine, data = program()
    machine.sites[3]["args"][0] = {"c": SPACES["ub"]}
    report = launch(machine, doubling, [tvm_ffi.from_dlpack(data), 64, 2.0])
    assert [h["kind"] for h in report["hazards"]] == ["out_of_bounds"]
    assert "get_value" not in report["instructions"]
    assert [core["id"] for core in report["cores"]] == [0]
    assert np.array_equal(data, np.arange(192))


def test_launching_again_after_a_hazard_works(doubling):
    for _ in range(3):
        test_a_hazard_leaves_the_control_program_at_once(doubling)
        test_a_control_program_moves_data(doubling)


def test_the_same_launch_takes_the_same_cycles(doubling):
    reports = []
    for _ in range(3):
        machine, data = program()
        reports.append(launch(machine, doubling, [tvm_ffi.from_dlpack(data), 64, 2.0], trace=True))
    assert reports[0] == reports[1] == reports[2]


def test_threads_launch_at_once(doubling):
    def one(seed):
        machine, data = program()
        data[:] = seed
        launch(machine, doubling, [tvm_ffi.from_dlpack(data), 64, 3.0])
        return (data == 3 * seed).all()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(40)))


def test_without_numerics_nothing_is_written(doubling):
    machine, data = program()
    report = launch(machine, doubling, [tvm_ffi.from_dlpack(data), 64, 2.0], hazards=False)
    timed = np.arange(192, dtype="float32")
    args = [tvm_ffi.from_dlpack(timed), 64, 2.0]
    assert launch(machine, doubling, args, numerics=False)["cycles"] == report["cycles"]


@pytest.mark.parametrize(
    ("args", "text"),
    [(lambda d: [d, 64], "takes 3 arguments, got 2"), (lambda d: [1, 64, 2.0], "is not a tensor")],
)
def test_wrong_arguments(doubling, args, text):
    machine, data = program()
    with pytest.raises(ValueError, match=text):
        launch(machine, doubling, args(tvm_ffi.from_dlpack(data)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda p: p["constants"].pop("GM_READ_LATENCY"), "no constant GM_READ_LATENCY"),
        (lambda p: p["vector_timing"].pop("vmuls"), "no vector timing vmuls"),
        (lambda p: p["sites"][0].update(op="warp"), 'no instruction "warp"'),
        (lambda p: p["sites"][0].update(dtypes=["complex64"]), "does not exist for dtypes"),
        (lambda p: p["sites"][0]["args"].pop(), "9 args, the row 10"),
        (
            lambda p: p["sites"][0]["operands"][0].update(space="l1"),
            "cannot take operand dst in l1",
        ),
        (lambda p: p.update(grid=0), "1 to 256 blocks"),
        (lambda p: p.update(core_type="GPU"), 'core type "GPU"'),
        (lambda p: p.pop("sites"), 'no "sites"'),
    ],
)
def test_a_wrong_program_is_refused_with_its_reason(doubling, change, text):
    machine, data = program()
    table = json.loads(machine.json())
    change(table)
    prepare = tvm_ffi.get_global_func("tvm_ascend.sim.prepare")
    with pytest.raises(ValueError, match=text):
        prepare(json.dumps(table), doubling)([tvm_ffi.from_dlpack(data), 64, 2.0], "{}")


@pytest.mark.parametrize(
    "text", ["", "{", '{"a":1', '{"a" 1}', "[1,]", '{"a":tru}', '"x', "[" * 99]
)
def test_text_that_is_no_json_says_where(text):
    run = tvm_ffi.get_global_func("tvm_ascend.sim.inspect")
    with pytest.raises(ValueError, match="wrong at byte"):
        run(text, "[]")


@pytest.mark.parametrize(("site", "text"), [(99, "site 99"), (0, "too few arguments to site 0")])
def test_a_control_program_that_does_not_match_its_table(site, text):
    machine, _data = program()
    machine.blocks = [[[site]]]
    machine.program["params"] = machine.program["params"][:1]
    with pytest.raises(ValueError, match=text):
        machine.run()


def test_entry_points_outside_a_launch_do_nothing():
    @T.prim_func
    def control(out: T.Buffer((1,), "int32")):
        T.func_attr({"global_symbol": "control"})
        out[0] = T.call_extern("int32", "tvm_ascend_issue_0", 0)

    out = np.zeros(1, "int32")
    compiled(control)(tvm_ffi.from_dlpack(out))
    assert out[0] == -1


def test_an_error_of_the_control_program_reaches_the_caller():
    machine, data = program(grid=1)

    def control(*_):
        raise KeyError("from the control program")

    with pytest.raises(KeyError, match="from the control program"):
        launch(machine, tvm_ffi.convert_func(control), [tvm_ffi.from_dlpack(data), 64, 2.0])


def test_late_copies_land_when_they_are_waited_for():
    def kernel(wait):
        machine = Machine()
        data, out = np.ones(64, "float32"), np.zeros(64, "float32")
        machine.tensor("data", data), machine.tensor("out", out)
        machine.load(ub(0), Gm("data"), 64, "float32")
        if wait:
            machine.sync("MTE2_V")
        machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
        machine.sync("V_MTE3")
        machine.store(Gm("out"), ub(512), 64, "float32")
        return machine, out

    for dma, wait, right in [("eager", 0, True), ("late", 0, False), ("late", 1, True)]:
        machine, out = kernel(wait)
        machine.run(dma=dma, hazards=False)
        assert (out == 2).all() == right, (dma, wait)
