# SPDX-License-Identifier: Apache-2.0
"""Every combination of simulator options against the plain run: values, cycles, hazards, trace."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from mixed_kernels import matmul_bias_relu
from small_kernels import make_double

from tvm_ascend import Kernel, Options, SimOptions, compile
from tvm_ascend import language as T
from tvm_ascend.build import rebuild
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import HazardError, OptionError
from tvm_ascend.transform.sync_edit import without_sync

TILES = {"tile_m": 16, "tile_n": 16, "tile_k0": 16, "tile_k": 32}
UNTOUCHED = -77

BOOLS = ("numerics", "hazards", "strict", "trace", "redundant")


@T.prim_func
def idle(A: T.Tensor((4, 64), "float32"), B: T.Tensor((4, 64), "float32")):
    """A copy with a barrier that orders nothing."""
    with T.Kernel(4) as bx:
        a = T.alloc_ub((64,), "float32")
        T.ascend.data_copy_pad_in(a[0], A[bx, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
        T.set_flag("mte2", "mte3", 0)
        T.wait_flag("mte2", "mte3", 0)
        T.ascend.pipe_barrier("MTE2")
        T.ascend.data_copy_pad_out(B[bx, 0], a[0], 1, 256, 0, 0)


FUNCTIONS = {
    "idle": lambda: idle,
    "vector": lambda: make_double("float32"),
    "cube": lambda: make_matmul(48, 32, 16),
    "mixed": lambda: matmul_bias_relu(100, 48, 32),
}
SWITCHES = [
    switches
    for values in product(*[(True, False)] * 5, ("eager", "late"))
    if (switches := dict(zip((*BOOLS, "dma"), values, strict=True)))["hazards"]
    or not switches["redundant"]
]
names = pytest.mark.parametrize("name", FUNCTIONS)
executors = pytest.mark.parametrize(
    "executor", ["simulator", pytest.param("twin", marks=pytest.mark.slow)]
)


@cache
def kernel_of(name: str, executor: str = "simulator") -> Kernel:
    if executor == "twin":
        kernel = kernel_of(name)
        return Kernel(kernel.artifact, (), replace(kernel.options, executor="twin"))
    overrides = TILES if name == "cube" else {}
    return compile(FUNCTIONS[name](), options=Options(overrides=overrides, cache=False))


@cache
def racy(name: str) -> Kernel:
    """The kernel without one of its syncs."""
    kernel = kernel_of(name)
    return rebuild(kernel, without_sync(kernel.stages["final"], 0))


def arguments(kernel: Kernel) -> list[np.ndarray]:
    """Whole numbers in, and in the outputs what no kernel writes."""
    rng = np.random.default_rng(1)
    first_output = 1 if kernel.artifact.name in ("double", "idle") else 2
    args = []
    for i, param in enumerate(kernel.artifact.params):
        inputs = i < first_output or param.name == "bias"
        values = rng.integers(-3, 4, param.shape) if inputs else np.full(param.shape, UNTOUCHED)
        args.append(values.astype(param.dtype))
    return args


def launched(kernel: Kernel, sim: SimOptions):
    args = arguments(kernel)
    report = kernel.run(*args, sim=sim)[1]
    return args, report


@names
@executors
def test_switches_change_what_they_say_and_no_cycle(name, executor):
    kernel = kernel_of(name, executor)
    want, plain = launched(kernel, SimOptions())
    assert not any((a == UNTOUCHED).all() for a in want)
    redundant = launched(kernel, SimOptions(redundant=True))[1].redundant
    assert len(redundant) == (name == "idle")
    for switches in SWITCHES:
        args, report = launched(kernel, SimOptions(**switches))
        assert report.core_cycles == plain.core_cycles, switches
        assert (report.cycles, report.pipes) == (plain.cycles, plain.pipes)
        assert (report.instructions, report.bytes) == (plain.instructions, plain.bytes)
        assert bool(report.events) == switches["trace"]
        assert list(report.redundant) == (redundant if switches["redundant"] else [])
        assert report.hazards == []
        if switches["numerics"]:
            assert all(np.array_equal(a, b) for a, b in zip(args, want, strict=True)), switches


@names
def test_a_race_is_found_wherever_hazards_are_on(name):
    kernel = racy(name)
    _, plain = launched(kernel, SimOptions(strict=False))
    assert {h.kind for h in plain.hazards} >= {"race"}
    for switches in SWITCHES:
        sim = SimOptions(**switches)
        if sim.hazards and sim.strict:
            with pytest.raises(HazardError) as caught:
                launched(kernel, sim)
            assert caught.value.hazard == plain.hazards[0]
        else:
            found = launched(kernel, sim)[1].hazards
            assert found == (plain.hazards if sim.hazards else []), switches


def parts(name: str) -> list[tuple[str, int]]:
    """Every block and every core of a launch."""
    _, whole = launched(kernel_of(name), SimOptions())
    cores = len(whole.core_cycles)
    blocks = cores // 3 if name == "mixed" else cores
    return [("block", i) for i in range(blocks)] + [("core", i) for i in range(cores)]


@names
@executors
def test_blocks_alone_make_up_the_launch(name, executor):
    """Each writes its own part, in no more time than among the others, and all is written once."""
    kernel = kernel_of(name, executor)
    want, whole = launched(kernel, SimOptions())
    written = [np.zeros(a.shape, int) for a in want]
    ran: dict[str, int] = {}
    seen = []
    for option, number in parts(name):
        if option == "core":
            continue
        args, report = launched(kernel, SimOptions(block=number))
        for count, found, expected in zip(written, args, want, strict=True):
            mine = found != UNTOUCHED
            assert np.array_equal(found[mine], expected[mine])
            count += mine
        for row, n in report.instructions.items():
            ran[row] = ran.get(row, 0) + n
        for core, cycles in report.core_cycles.items():
            assert cycles <= whole.core_cycles[core]
            assert report.core_names[core] == whole.core_names[core]
        seen += report.core_cycles
    assert seen == list(whole.core_cycles)
    assert ran == whole.instructions
    blocks = len([option for option, _ in parts(name) if option == "block"])
    for param, before, expected, count in zip(
        kernel.artifact.params, arguments(kernel), want, written, strict=True
    ):
        is_input = not (before == UNTOUCHED).all()
        assert np.array_equal(
            count, np.where(expected != UNTOUCHED, blocks if is_input else 1, 0)
        ), param.name


@names
@executors
def test_one_core_alone_runs_what_it_ran_among_the_others(name, executor):
    kernel = kernel_of(name, executor)
    _, whole = launched(kernel, SimOptions())
    ran: dict[str, int] = {}
    for option, number in parts(name):
        if option == "block":
            continue
        _, report = launched(kernel, SimOptions(core=number))
        assert list(report.core_cycles) == [number]
        assert report.core_cycles[number] <= whole.core_cycles[number]
        for row, n in report.instructions.items():
            ran[row] = ran.get(row, 0) + n
    assert ran == whole.instructions


@names
def test_switches_change_no_cycle_of_a_part_either(name):
    kernel = kernel_of(name)
    for option, number in parts(name):
        want, plain = launched(kernel, SimOptions(**{option: number}))
        redundant = launched(kernel, SimOptions(redundant=True, **{option: number}))[1].redundant
        for switches in SWITCHES:
            args, report = launched(kernel, SimOptions(**switches, **{option: number}))
            assert report.core_cycles == plain.core_cycles, (option, number, switches)
            assert report.instructions == plain.instructions
            assert bool(report.events) == switches["trace"]
            assert list(report.redundant) == (redundant if switches["redundant"] else [])
            assert report.hazards == []
            if switches["numerics"]:
                assert all(np.array_equal(a, b) for a, b in zip(args, want, strict=True))


@names
@pytest.mark.parametrize("option", ["block", "core"])
def test_a_race_within_a_part_is_found_in_it(name, option):
    kernel = racy(name)
    with pytest.raises(HazardError, match="race"):
        launched(kernel, SimOptions(**{option: 0}))
    launched(kernel, SimOptions(**{option: 0}, hazards=False))


def test_what_other_blocks_write_is_not_missed():
    """With out_idx the launch looks for bytes that nobody wrote; a part of it cannot know."""
    kernel = compile(make_double("float32"), out_idx=1, options=Options(cache=False))
    a = np.arange(256, dtype="float32").reshape(4, 64)
    (found,), _ = kernel.run(a, sim=SimOptions(block=2))
    assert np.array_equal(found[2], 2 * a[2])


@executors
@pytest.mark.parametrize(
    ("name", "choice", "text"),
    [
        ("vector", {"block": 4}, r"`block` is 4; it must be at most 3: `double` runs on 4 blocks"),
        ("vector", {"core": 99}, r"`core` is 99; it must be at most 3: `double` runs on 4 cores"),
        ("mixed", {"block": 2}, r"`block` is 2; it must be at most 1: `fused` runs on 2 blocks"),
        ("mixed", {"core": 6}, r"`core` is 6; it must be at most 5: `fused` runs on 6 cores"),
    ],
)
def test_a_part_that_the_launch_does_not_have_is_refused(name, executor, choice, text):
    with pytest.raises(OptionError, match=text):
        launched(kernel_of(name, executor), SimOptions(**choice))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"block": -1}, "`block` is -1; it must be a number from 0"),
        ({"core": True}, "`core` is True; it must be a number from 0"),
        ({"core": "AIC"}, "`core` is 'AIC'"),
        ({"block": 0, "core": 0}, "`core` is 0; it must be None where `block` is given, here 0"),
    ],
)
def test_impossible_choices_are_refused_when_they_are_made(options, text):
    with pytest.raises(OptionError, match=text):
        SimOptions(**options)


def test_every_switch_of_the_options_is_in_the_combinations():
    assert set(SWITCHES[0]) | {"block", "core"} == set(SimOptions.__dataclass_fields__)
