# SPDX-License-Identifier: Apache-2.0
"""What the L2 cache holds, what HBM moves for it, and how cores share both."""

from __future__ import annotations

import numpy as np
import pytest
from sim.machine import At, Gm, Machine, ub

LINE, GROUP = 512, 2048
"""Bytes that a misaligned request moves at once, and that are replaced together."""


FAST = {"GM_READ_BYTES_PER_CYCLE": 1e6, "GM_ROW_CYCLES": 0, "GM_BURST_CYCLES": 1}
"""A core's own path is no limit."""


def machine_of(grid=1, bytes_=16 * GROUP, **constants):
    machine = Machine(grid=grid, constants=FAST | constants)
    machine.tensor("data", np.zeros(bytes_, "int8"))
    return machine


def load(machine, at, length, rows=1, gap=0):
    machine.issue(
        "data_copy_pad_in", "int8", ub(0), Gm("data", at), rows, length, gap, 0, 0, 0, 0, 0
    )
    machine.barrier("MTE2")


def store(machine, at, length):
    machine.issue("data_copy_pad_out", "int8", Gm("data", at), ub(0), 1, length, 0, 0)
    machine.barrier("MTE3")


def l2(machine):
    return machine.run(hazards=False, numerics=False)["l2"]


def test_the_second_read_hits():
    machine = machine_of()
    load(machine, 0, 4 * LINE)
    load(machine, LINE, LINE)
    found = l2(machine)
    assert (found["miss_bytes"], found["hit_bytes"]) == (4 * LINE, LINE)
    assert found["hbm_read_bytes"] == 4 * LINE
    assert found["hbm_written_bytes"] == 0


def test_a_core_hits_what_another_one_fetched():
    machine = machine_of(grid=3)
    load(machine, 0, 4 * LINE)
    found = l2(machine)
    assert (found["miss_bytes"], found["hit_bytes"]) == (4 * LINE, 8 * LINE)


def test_parts_of_a_line_come_one_by_one_and_are_read_again_from_l2():
    machine = machine_of()
    for at in (0, 128, 256, 384):
        load(machine, at, 128)
    load(machine, 0, LINE)
    found = l2(machine)
    assert (found["hbm_read_bytes"], found["hit_bytes"]) == (LINE, LINE)


def test_rows_that_start_inside_a_sector_cost_whole_lines():
    machine = machine_of()
    load(machine, 2, LINE)
    found = l2(machine)
    assert found["miss_bytes"] == LINE + 32
    assert found["hbm_read_bytes"] == 2 * LINE
    load(machine, 2, LINE)
    again = l2(machine)
    assert again["hbm_read_bytes"] == 2 * LINE, "and are there the second time"
    assert again["hit_bytes"] == LINE + 32


def test_rows_without_a_gap_are_one_run():
    machine = machine_of()
    load(machine, 2, 100, rows=10)
    found = l2(machine)
    assert found["hbm_read_bytes"] == 2 * LINE
    assert found["hit_bytes"] == 0


def test_the_group_that_was_used_longest_ago_makes_room():
    machine = machine_of(L2_BYTES=2 * GROUP)
    for group in (0, 1, 0, 2):
        load(machine, group * GROUP, GROUP)
    load(machine, 0, GROUP)
    assert l2(machine)["hit_bytes"] == 2 * GROUP, "group 0 was used after group 1"
    load(machine, GROUP, GROUP)
    assert l2(machine)["hit_bytes"] == 2 * GROUP


def test_a_loop_over_more_than_l2_holds_never_hits():
    machine = machine_of(L2_BYTES=3 * GROUP)
    for group in (0, 1, 2, 3) * 2:
        load(machine, group * GROUP, GROUP)
    assert l2(machine)["hit_bytes"] == 0


def test_written_bytes_are_written_back_when_they_make_room():
    machine = machine_of(L2_BYTES=2 * GROUP)
    store(machine, 0, 96)
    assert l2(machine)["hbm_written_bytes"] == 0
    for group in (1, 2):
        load(machine, group * GROUP, GROUP)
    found = l2(machine)
    assert (found["written_bytes"], found["hbm_written_bytes"]) == (96, 96)


def test_a_read_hits_what_was_written():
    machine = machine_of()
    store(machine, 0, LINE)
    machine.barrier()
    load(machine, 0, LINE)
    found = l2(machine)
    assert (found["hit_bytes"], found["hbm_read_bytes"]) == (LINE, 0)


def test_other_kernels_data_is_written_back_first():
    machine = machine_of(L2_BYTES=8 * GROUP, L2_DIRTY_SHARE=0.25)
    load(machine, 0, 4 * GROUP)
    assert l2(machine)["hbm_written_bytes"] == GROUP
    load(machine, 4 * GROUP, 8 * GROUP)
    assert l2(machine)["hbm_written_bytes"] == 2 * GROUP, "no more than L2 held"


def test_what_the_last_kernel_wrote_hits_and_is_dirty():
    machine = machine_of(L2_BYTES=4 * GROUP, L2_WARM_BYTES=2 * GROUP)
    load(machine, 0, 4 * GROUP)
    found = l2(machine)
    assert (found["hit_bytes"], found["miss_bytes"]) == (2 * GROUP, 2 * GROUP)
    assert found["hbm_written_bytes"] == 0
    load(machine, 4 * GROUP, 4 * GROUP)
    assert l2(machine)["hbm_written_bytes"] == 2 * GROUP


def cycles(machine):
    return machine.run(hazards=False, numerics=False)["cycles"]


def test_a_miss_takes_a_cores_own_time_and_a_hit_does_not():
    slow = {"GM_READ_BYTES_PER_CYCLE": 100, "GM_MISS_BYTES_PER_CYCLE": 10}
    machine = machine_of(**slow)
    load(machine, 0, 1000)
    once = cycles(machine)
    load(machine, 0, 1000)
    assert cycles(machine) - once == 1000 // 100 + machine_latency(machine)
    assert once == -(-1024 // 10) + machine_latency(machine)


def machine_latency(machine):
    return ({"GM_READ_LATENCY": 7} | machine.constants)["GM_READ_LATENCY"]


def test_short_packets_of_a_line_cost_more():
    slow = {"GM_MISS_BYTES_PER_CYCLE": 10, "GM_PACKET_CYCLES": 40}
    whole, parts = machine_of(**slow), machine_of(**slow)
    load(whole, 0, 4 * LINE)
    load(parts, 0, 128, rows=16, gap=384)
    assert cycles(parts) - cycles(whole) == 16 * 40 * 3 // 4


@pytest.mark.parametrize(("rate", "value"), [("HBM_BYTES_PER_CYCLE", 8), ("L2_BYTES_PER_CYCLE", 8)])
def test_cores_share_what_hbm_and_l2_deliver(rate, value):
    def run(grid):
        machine = machine_of(grid, 4 * GROUP, **{rate: value})
        load(machine, 0, 4 * GROUP)
        return cycles(machine) - machine_latency(machine)

    one, four = run(1), run(4)
    assert one == 4 * GROUP // value
    assert four == (one if rate == "HBM_BYTES_PER_CYCLE" else 4 * one)


def test_a_request_that_comes_late_finds_what_earlier_ones_left():
    """A store that waits does not hold up the loads behind it."""
    rates = {"HBM_BYTES_PER_CYCLE": 64, "L2_BYTES": GROUP, "L2_DIRTY_SHARE": 1}
    machine = machine_of(**rates)
    load(machine, 0, GROUP)
    alone = cycles(machine)
    waiting = machine_of(**rates)
    waiting.issue("adds", "int32", ub(8192), ub(8192), 1, 16384)
    waiting.sync("V_MTE3")
    store(waiting, 8 * GROUP, 32)
    load(waiting, 0, GROUP)
    report = waiting.run(hazards=False, numerics=False, trace=True)
    load_end = max(end for _, pipe, _, end, _ in report["trace"] if pipe == "MTE2")
    assert load_end <= alone


def test_more_data_is_never_faster_and_every_run_is_the_same():
    rates = {
        "HBM_BYTES_PER_CYCLE": 20,
        "L2_BYTES_PER_CYCLE": 90,
        "GM_MISS_BYTES_PER_CYCLE": 6,
        "L2_BYTES": 6 * GROUP,
        "L2_DIRTY_SHARE": 0.3,
    }

    def run(count):
        machine = machine_of(5, **rates)
        for i in range(8):
            load(machine, i * GROUP, count)
            store(machine, (i + 3) * GROUP, count)
        return machine.run(hazards=False, numerics=False)

    reports = [run(count) for count in range(32, GROUP, 96)]
    times = [report["cycles"] for report in reports]
    assert times == sorted(times)
    assert reports[-1] == run(range(32, GROUP, 96)[-1])


def test_no_launch_is_shorter_than_its_traffic_takes():
    machine = machine_of(4, HBM_BYTES_PER_CYCLE=3, L2_BYTES=2 * GROUP, L2_DIRTY_SHARE=0.5)
    for i in range(6):
        load(machine, i * GROUP, GROUP)
        store(machine, i * GROUP, GROUP)
    report = machine.run(hazards=False, numerics=False)
    assert report["cycles"] >= report["hbm_cycles"] > 0
    moved = report["l2"]["hbm_read_bytes"] + report["l2"]["hbm_written_bytes"]
    assert report["hbm_cycles"] == -(-moved // 3)


def test_arguments_have_lines_of_their_own_and_shared_memory_has_not():
    array = np.zeros(2 * LINE, "int8")
    apart = Machine()
    apart.tensor("data", array)
    apart.tensor("other", np.zeros(2 * LINE, "int8"))
    shared = Machine()
    shared.tensor("data", array)
    shared.tensor("other", array[LINE:])
    for machine, hits in ((apart, 0), (shared, LINE)):
        for name, at in (("data", LINE), ("other", 0)):
            machine.issue(
                "data_copy_pad_in", "int8", ub(0), Gm(name, at), 1, LINE, 0, 0, 0, 0, 0, 0
            )
            machine.barrier("MTE2")
        assert l2(machine)["hit_bytes"] == hits


def test_a_pipe_is_in_flight_until_its_results_are_there():
    machine = Machine(core_type="AIC", constants={"GM_READ_LATENCY": 500})
    machine.tensor("data", np.zeros(1024, "float32"))
    for _ in range(2):
        machine.issue("data_copy_in_count", "float32", At("l1", 0), Gm("data"), 1024)
    (core,) = machine.run(hazards=False, numerics=False)["cores"]
    assert core["in_flight"]["MTE2"] == core["busy"]["MTE2"] + 500, "latencies overlap"
