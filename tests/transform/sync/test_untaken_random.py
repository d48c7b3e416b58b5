# SPDX-License-Identifier: Apache-2.0
"""Kernels with random nested branches against the simulator, which runs every outcome of data."""

import importlib.util
import itertools
import random
import textwrap

import numpy as np
import pytest

from tvm_ascend import Options, SimOptions, compile
from tvm_ascend.transform.sync.untaken import unmatched_flags

KIND = "unmatched_flag_in_untaken_branch"
SOURCE = """
from tvm_ascend import language as T


@T.prim_func
def kernel(N: T.Tensor((4,), "int32"), n: T.int32, W: T.Tensor((2,), "int32"),
           B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        a = T.alloc_ub((64,), "float32")
        T.ascend.duplicate(a[0], T.float32(1), 64)
        W[0] = N[0]
        W[1] = N[1] * 3 + 1
{body}
        T.ascend.set_flag("V_MTE3", 0)
        T.ascend.wait_flag("V_MTE3", 0)
        T.ascend.data_copy_pad_out(B[0], a[0], 1, 256, 0, 0)
"""
SET = ['T.ascend.set_flag("MTE2_V", 1)']
# Where the flag is used again the wait has to be over.
WAIT = [
    'T.ascend.wait_flag("MTE2_V", 1)',
    'T.ascend.set_flag("V_MTE2", 2)',
    'T.ascend.wait_flag("V_MTE2", 2)',
]
IDLE = ['T.ascend.pipe_barrier("V")']
# Conditions of one row are the same in other words.
CONDITIONS = [
    ("N[0] > 0", "N[0] >= 1", "W[0] > 0"),
    ("N[1] > 0", "W[1] > 3", "N[1] * 2 > 1"),
    ("N[0] == 1", "W[0] == 1"),
    ("n > 0", "n >= 1"),
    ("n == 2", "n > 1"),
]
EXTENTS = ["n", "N[1]", "2"]
# Of N[0], N[1] and n; every condition and every length above tells them apart.
OUTCOMES = list(itertools.product((0, 1, 2, 3), repeat=3))


def block(lines):
    return textwrap.indent("\n".join(lines), "    ").split("\n")


def balanced(rng, depth, up):
    """Lines that leave the flag as they find it, or raise or lower it as ``up`` says."""
    rule = rng.choice(["plain", "branch", "chain", "again", "loop"] if depth else ["plain"])
    if rule == "branch":
        condition = rng.choice(rng.choice(CONDITIONS))
        sides = [block(balanced(rng, depth - 1, up)) for _ in range(2)]
        return [f"if {condition}:", *sides[0], "else:", *sides[1]]
    if rule == "chain":
        first, second = (rng.choice(row) for row in rng.sample(CONDITIONS, 2))
        sides = [block(balanced(rng, depth - 1, up)) for _ in range(3)]
        return [f"if {first}:", *sides[0], f"elif {second}:", *sides[1], "else:", *sides[2]]
    if rule == "again" and up == 0:
        first, second = (rng.choice(row) for row in [rng.choice(CONDITIONS)] * 2)
        sides = [block(balanced(rng, depth - 1, net)) for net in (1, -1)]
        return [f"if {first}:", *sides[0], f"if {second}:", *sides[1]]
    if rule == "loop" and up == 0:
        body = balanced(rng, depth - 1, 0)
        return [f"for k{depth} in T.serial({rng.choice(EXTENTS)}):", *block(body)]
    return {0: rng.choice([IDLE, SET + WAIT]), 1: SET, -1: WAIT}[up]


def spoiled(rng, lines):
    """The lines with one flag statement of the generated ones replaced."""
    flags = [i for i, line in enumerate(lines) if '"MTE2_V"' in line]
    if not flags:
        return lines
    at = rng.choice(flags)
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    return [*lines[:at], margin + IDLE[0], *lines[at + 1 :]]


def build(tmp_path, seed):
    rng = random.Random(seed)
    lines = [line for _ in range(2) for line in balanced(rng, 3, 0)]
    if seed % 2:
        lines = spoiled(rng, lines)
    path = tmp_path / f"random_{seed}.py"
    path.write_text(SOURCE.format(body=textwrap.indent("\n".join(lines), " " * 8)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return compile(module.kernel, out_idx=[2, 3], options=Options(cache=False))


def hazards(kernel, outcome):
    """The kinds of what a run with an outcome reports."""
    first, second, n = outcome
    N = np.array([first, second, 0, 0], "int32")
    report = kernel.profile(N, n, sim=SimOptions(strict=False))
    return {h.kind for h in report.hazards if "cache" not in h.kind}


def compare(kernel):
    """How many outcomes are faulty; each other one says so if there is one."""
    found = [hazards(kernel, outcome) for outcome in OUTCOMES]
    faulty = [kinds - {KIND} for kinds in found]
    count = sum(map(bool, faulty))
    told = bool(unmatched_flags(kernel.stages["final"]))
    if count < len(OUTCOMES):
        assert told == (count > 0), f"{count} outcomes are faulty: {faulty}"
    for kinds, own in zip(found, faulty, strict=True):
        assert own or (KIND in kinds) == (count > 0)
    return count


@pytest.mark.parametrize("seed", range(10))
def test_the_faulty_kernels_are_those_that_some_outcome_of_data_breaks(tmp_path, seed):
    compare(build(tmp_path, seed))
