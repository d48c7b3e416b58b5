# SPDX-License-Identifier: Apache-2.0
"""The scoreboard: properties of time, with constants that no chip has."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sim.machine import CONSTANTS, RATE, At, Gm, Machine, ub

from tvm_ascend.isa import formula
from tvm_ascend.isa.gen import timing_keys
from tvm_ascend.isa.instr import Space
from tvm_ascend.isa.table import TABLE


def ops(machine, n=1, count=640, base=0):
    """Independent vector instructions."""
    for i in range(n):
        machine.issue("duplicate", "float32", ub(base + 4096 * i), 1.0, count)


def cycles(machine, **options):
    return machine.clean(**options)["cycles"]


def test_one_instruction_takes_head_repeats_and_tail():
    machine = Machine()
    ops(machine)
    assert cycles(machine) == 4 + RATE["head"] + 10 + RATE["tail"]


def test_the_head_is_paid_once_while_the_pipe_stays_busy():
    machine = Machine()
    ops(machine, 3)
    assert cycles(machine) == 4 + RATE["head"] + 3 * 10 + RATE["tail"]


def test_a_barrier_costs_the_tail_and_the_next_head():
    machine = Machine()
    ops(machine)
    machine.barrier("V")
    ops(machine, base=65536)
    assert cycles(machine) == 4 + 2 * (RATE["head"] + 10 + RATE["tail"])


def test_short_instructions_are_bound_by_the_scalar_unit():
    machine = Machine(rate={"head": 0, "tail": 0})
    ops(machine, 40, count=64)
    assert cycles(machine) == 40 * 5  # four cycles of mask and one of issue each


def test_pipes_overlap():
    def kernel(load, add):
        machine = Machine()
        machine.tensor("data", np.zeros(4096, "float32"))
        for i in range(8):
            if load:
                machine.load(ub(16384 * 4 + 4096 * i), Gm("data"), 1024, "float32")
            if add:
                ops(machine, count=1024, base=4096 * i)
        return cycles(machine)

    both, load, add = kernel(1, 1), kernel(1, 0), kernel(0, 1)
    assert max(load, add) <= both < load + add


def test_a_flag_makes_the_consumer_wait_for_the_latency():
    machine = Machine(constants={"GM_READ_LATENCY": 500})
    machine.tensor("data", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("data"), 64, "float32")
    machine.sync("MTE2_V")
    machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
    report = machine.clean(trace=True)
    (load, add) = report["trace"]
    assert load[1] == "MTE2"
    assert add[1] == "V"
    assert add[2] == load[3] + 500


def test_a_full_queue_holds_the_scalar_unit():
    def finish(depth):
        machine = Machine(constants={"QUEUE_DEPTH": depth})
        ops(machine, 6, count=640)
        machine.issue("set_value", "float32", ub(190000), 1.0)
        return machine.clean(trace=True)["trace"][-1][2]

    assert finish(32) == 6 * 5
    assert finish(1) > finish(2) > finish(32)


def test_barrier_all_waits_for_every_pipe():
    machine = Machine(constants={"GM_READ_LATENCY": 500})
    machine.tensor("data", np.zeros(64, "float32"))
    machine.load(ub(0), Gm("data"), 64, "float32")
    machine.barrier()
    ops(machine, base=4096)
    trace = machine.clean(trace=True)["trace"]
    assert trace[1][2] >= trace[0][3] + 500


def test_the_slowest_core_and_the_launch_make_the_total():
    machine = Machine(grid=2, constants={"LAUNCH_CYCLES": 1000, "CORE_START_CYCLES": 50})
    ops(machine)
    machine.block()
    ops(machine, 5)
    report = machine.clean()
    first, second = (core["cycles"] for core in report["cores"])
    assert first == 50 + 4 + 10 + 10 + 14
    assert second == first + 40
    assert report["cycles"] == second + 1000
    assert report["time_us"] == pytest.approx(report["cycles"] / 1e3)


@pytest.mark.parametrize("option", ["block", "core"])
def test_one_block_or_core_only(option):
    machine = Machine(grid=4)
    ops(machine)
    assert [core["id"] for core in machine.clean(**{option: 3})["cores"]] == [3]
    with pytest.raises(ValueError, match=rf"`{option}` is 4, .* 4 {option}s; give one from 0 to 3"):
        machine.run(**{option: 4})


def test_busy_cycles_are_those_of_the_trace():
    machine = Machine()
    machine.tensor("data", np.zeros(4096, "float32"))
    for i in range(3):
        machine.load(ub(65536 + 4096 * i), Gm("data"), 512, "float32")
        ops(machine, base=4096 * i)
    report = machine.clean(trace=True)
    busy = dict.fromkeys(report["cores"][0]["busy"], 0)
    for _, pipe, start, end, _ in report["trace"]:
        busy[pipe] += end - start
    assert busy == report["cores"][0]["busy"]


def test_time_does_not_depend_on_numerics_hazards_or_trace():
    machine = Machine()
    machine.tensor("data", np.zeros(4096, "float32"))
    machine.load(ub(65536), Gm("data"), 512, "float32")
    machine.sync("MTE2_V")
    machine.issue("adds", "float32", ub(0), ub(65536), 1.0, 512)
    reports = [machine.clean(numerics=n, hazards=h) for n in (False, True) for h in (False, True)]
    for report in reports:
        report.pop("reached", None)  # of the watched statements, for hazards only
    assert all(report == reports[0] for report in reports)


def words_of(row, dtype, params):
    """Parameters as the site of a program carries them."""
    floats = [p.type in row.types and "float" in dtype for p in row.params]
    return [float(v) if f else v for f, v in zip(floats, params.values(), strict=True)]


def params_of(row, rng):
    out = {}
    for param in row.params:
        if param.type == "text":
            out[param.name] = "text"
        elif param.values:
            out[param.name] = int(rng.integers(len(param.values)))
        elif param.low is None and param.type not in row.types:
            out[param.name] = int(rng.integers(-(2**63), 2**63))
        elif param.low is not None:
            out[param.name] = int(rng.integers(param.low, min(param.high, 64) + 1))
        else:
            out[param.name] = 0
    return out


@pytest.mark.parametrize("key", TABLE)
def test_cycles_of_python_and_of_the_simulator_agree(key, rng):
    row = TABLE[key]
    constants = {name: float(rng.uniform(0.3, 90)) for name in CONSTANTS}
    rate = {name: float(rng.uniform(0.5, 8)) for name in RATE}
    machine = Machine(constants=constants, rate=rate)
    want = []
    for _ in range(20):
        dtypes = row.dtypes[int(rng.integers(len(row.dtypes)))]
        spaces = [o.spaces[int(rng.integers(len(o.spaces)))] for o in row.operands]
        params = params_of(row, rng)
        operands = [At(space.value, 0) for space in spaces]
        machine.issue(key, dtypes, *operands, *words_of(row, dtypes[-1] if dtypes else "", params))
        timings = dict.fromkeys(timing_keys(), rate)
        want.append(formula.cycles(row, dtypes, spaces, params, constants, timings))
    got = [entry["cycles"] for entry in machine.inspect()]
    assert got == want


@pytest.mark.parametrize("key", [k for k, r in TABLE.items() if r.operands])
def test_spans_of_the_rows_cover_what_the_simulator_touches(key, rng):
    row = TABLE[key]
    machine, want = Machine(), []
    for _ in range(30):
        dtypes = row.dtypes[int(rng.integers(len(row.dtypes)))]
        params = params_of(row, rng)
        if key == "fixpipe":
            params["quant_pre"] = {"float16": 1, "bfloat16": 2}.get(dtypes[0], 0)
        operands = [At(o.spaces[0].value, 0) for o in row.operands]
        machine.issue(key, dtypes, *operands, *words_of(row, dtypes[-1] if dtypes else "", params))
        want.append((dtypes, params))
    for (dtypes, params), entry in zip(want, machine.inspect(), strict=True):
        if entry["fault"]:
            continue
        for operand, _, _, end, _ in entry["accesses"]:
            info = row.operands[operand]
            size = formula.ITEMSIZE[formula.operand_dtype(row, info, dtypes)]
            if "extent" in formula.names(info.span):
                continue
            span = formula.span(row, info, dtypes, params)
            assert end <= span * size, (info.name, dtypes, params, json.dumps(entry))


def test_l0_rate_depends_on_the_space():
    assert Space.L0A != Space.L0B
    machine = Machine("AIC", constants={"L0A_BYTES_PER_CYCLE": 256, "L0B_BYTES_PER_CYCLE": 128})
    for space in ("l0a", "l0b"):
        machine.issue("load_data_2d", "float16", At(space, 0), At("l1", 0), 0, 64, 1, 0, 0)
    a, b = (entry["cycles"] for entry in machine.inspect())
    assert b - a == 64 * 512 // 256


def test_what_hbm_delivers_bounds_a_launch():
    def run(loads, warm):
        constants = {"HBM_BYTES_PER_CYCLE": 2, "L2_WARM_BYTES": warm, "CORE_START_CYCLES": 30}
        machine = Machine(constants=constants)
        machine.tensor("data", np.zeros(4096, "float32"))
        for _ in range(loads):
            machine.load(ub(0), Gm("data"), 4096, "float32")
            machine.barrier("MTE2")
        report = machine.clean()
        return report["cycles"], report["hbm_cycles"]

    latency = CONSTANTS["GM_READ_LATENCY"]
    assert run(1, 0) == (30 + 8192 + latency, 8192)
    assert run(2, 0)[1] == 8192, "the second time it comes from L2"
    assert run(1, 4096)[1] == 6144, "so does what is there before the launch"
    assert run(1, 10**6)[1] == 0


def test_rows_that_start_inside_a_line_move_whole_lines():
    line = {**CONSTANTS, "GM_LINE_BYTES": 512, "GM_ROW_CYCLES": 0, "GM_READ_BYTES_PER_CYCLE": 1}
    calls = formula.helpers(line)
    assert calls["gm_read"](10, 512, 512) == 5120
    assert calls["gm_read"](10, 512, 510) == 10 * (512 + 510)
    assert calls["gm_read"](10, 288, 0) == 2880, "rows without a gap are one"
    assert calls["gm_read_nd2nz"](10, 288, 288) == 10 * (288 + 480)
    assert calls["gm_read_nd2nz"](1, 288, 288) == 288
