# SPDX-License-Identifier: Apache-2.0
"""Bank conflicts of UB: the documented layouts, and every count against an oracle."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from sim.machine import BANKS, RATE, Machine, ub

from tvm_ascend.hw import CHIPS
from tvm_ascend.isa import formula
from tvm_ascend.isa.table import TABLE

GROUPS, DEPTH = BANKS["groups"], BANKS["write_depth"]
ROW = GROUPS * BANKS["bank_bytes"] // 32


@dataclass(frozen=True)
class Stream:
    """Blocks of one operand: the first, then the strides."""

    first: int
    block: int = 1
    repeat: int = 8
    blocks: int = 8

    def cycles(self, repeat: int, base: int) -> list[tuple[set[int], set[int]]]:
        """Groups and banks of each cycle of a repeat."""
        out: list[tuple[set[int], set[int]]] = []
        for i in range(self.blocks if self.block else 1):
            block = self.first + repeat * self.repeat + i * self.block
            group, row = block % GROUPS, block // ROW
            full = not out or len(out[-1][0]) == -(-8 // base)
            if full or group in out[-1][0]:
                out.append((set(), set()))
            out[-1][0].add(group)
            out[-1][1].add(group + GROUPS * row)
        return out

    def follows(self, other: Stream) -> bool:
        """Whether both are in the same bank all the time."""
        steps = (self.block, self.repeat, self.blocks) == (other.block, other.repeat, other.blocks)
        phase = (self.first - other.first) % GROUPS == 0
        return steps and phase and self.first // ROW == other.first // ROW


def lost(dst: Stream, sources: list[Stream], repeats: int, base: int = 1) -> int:
    """Cycles beyond those of the repeats: the algorithm on sets of banks, cycle by cycle."""
    sources = list(dict.fromkeys(sources))
    later = any(dst.follows(source) for source in sources)
    now, written, writes = 0, -1, {}
    for repeat in range(repeats):
        # What stays the same from repeat to repeat is read once.
        parts = [s.cycles(repeat, base) if s.repeat or not repeat else [] for s in sources]
        reads: list[set[int]] = []
        for i in range(max(map(len, parts))):
            at = [part[i] for part in parts if i < len(part)]
            apart = len(at) == 2 and at[0][0] & at[1][0]
            reads += [b for _, b in at] if apart else [set().union(*(b for _, b in at))]
        reads += [set()] * (base - len(reads))
        write = [banks for _, banks in dst.cycles(repeat, base)]
        now += max(0, len(write) - len(reads))
        for banks in reads:
            while banks & writes.get(now, set()):
                now += 1
            now += 1
        start = now - 1 + DEPTH + later * len(reads)
        for i, banks in enumerate(write):
            written = max(written + 1, start + i)
            writes[written] = banks
    return now - repeats * base


def add(machine, dst, src0, src1, strides=(1, 1, 1, 8, 8, 8), repeats=64):
    machine.issue("add_repeat", "float32", ub(dst), ub(src0), ub(src1), 64, repeats, *strides)


def conflicts(dst, src0, src1, strides=(1, 1, 1, 8, 8, 8), repeats=64):
    machine = Machine()
    add(machine, dst, src0, src1, strides, repeats)
    return machine.inspect()[0]["conflicts"]


# 1000 Adds of 4096 floats, in ticks of 50 MHz on a chip of 1.85 GHz [measured: ASCEND 5.5].
MEASURED = {
    "apart": ((0x20000, 0, 0x10100), 8, 2390),
    "sources in a bank": ((0x10000, 0, 0x4000), 8, 4167),
    "sources in a group": ((0x14100, 0, 0x10000), 8, 4167),
    "dst follows src0": ((0x4000, 0, 0x10100), 8, 2389),
    "dst crosses src0": ((0x4020, 0, 0x10100), 8, 3751),
    "dst is src1": ((0x10100, 0, 0x10100), 8, 2390),
    "one block, the next one each repeat": ((0x10100, 0, 0x10100), 1, 3584),
    "one block, eight on each repeat": ((0x10100, 0, 0x10100), 8, 2389),
}


@pytest.mark.parametrize("case", MEASURED)
def test_measured_layouts(case):
    (dst, src0, src1), step, ticks = MEASURED[case]
    strides = (1, 0, 1, 8, step, 8) if case.startswith("one block") else (1, 1, 1, 8, step, 8)
    vadd = CHIPS["910b1"].vector["vadd"]
    cycles = vadd.head + 64 * vadd.b32 + vadd.tail + conflicts(dst, src0, src1, strides)
    assert cycles == pytest.approx(ticks / 50e6 / 1000 * 1.85e9, rel=0.025)


def test_the_layout_of_the_chip_is_the_one_of_the_tests():
    chip = CHIPS["910b1"]
    assert chip.ub_bank_groups == BANKS["groups"]
    assert chip.ub_bank_bytes == BANKS["bank_bytes"]
    assert chip.ub_write_depth == BANKS["write_depth"]


@pytest.mark.parametrize(("stride", "cycles"), [(1, 1), (2, 1), (4, 2), (8, 4), (16, 8)])
def test_strided_blocks_share_groups(stride, cycles):
    """Eight blocks in 16 / stride groups are read in that many turns [doc: ASCEND 1.7]."""
    machine = Machine()
    params = (1.0, 64, 10, 1, stride, 8, 8 * stride)
    machine.issue("adds_repeat", "float32", ub(0x20000), ub(0), *params)
    assert machine.inspect()[0]["conflicts"] == 10 * (cycles - 1)


def test_lanes_that_are_off_may_lie_below_zero():
    """The last lane alone is stored, so an address before the memory is no access: it wraps."""

    every_bank = ROW * 32 * 64 // GROUPS

    def lost(dst, offset):
        machine = Machine()
        src = 2 * every_bank + offset
        last = -(2**63)
        machine.issue("sqrt_bits", "float32", ub(dst), ub(src), last, 0, 64, 1, 1, 8, 8)
        return machine.inspect()[0]["conflicts"]

    offsets = range(-7 * 32, 0, 32)
    wrapped = [[lost(every_bank + dst, src) for src in offsets] for dst in offsets]
    assert [[lost(dst, src) for src in offsets] for dst in offsets] == wrapped
    assert len({count for row in wrapped for count in row}) > 1


def rows():
    """Rows whose operands the oracle knows: strided, with one or two sources."""
    for key, row in TABLE.items():
        names = [operand.name for operand in row.operands]
        if row.form == "repeat" and names in (["dst", "src"], ["dst", "src0", "src1"]):
            yield key


@pytest.mark.parametrize("key", list(rows()))
def test_conflicts_agree_with_the_oracle(key, rng):
    row = TABLE[key]
    base = int(rng.integers(1, 5))
    machine = Machine(rate=RATE | {"b8": base, "b16": base, "b32": base})
    want = []
    for _ in range(60):
        dtypes = row.dtypes[int(rng.integers(len(row.dtypes)))]
        size = {n: itemsize(row, n, dtypes) for n in [o.name for o in row.operands]}
        lanes = 256 // max(size.values())
        params = {p.name: 0 for p in row.params}
        params["mask"] = int(rng.integers(1, lanes + 1))
        params["repeat"] = int(rng.integers(1, 40))
        near = int(rng.integers(2))
        streams = []
        for name, bytes_ in size.items():
            first = int(rng.choice([0, 8, 16, 2048, 2056, 4096])) if near else 0
            first += int(rng.integers(64))
            steps = [1, 1, 1, 0, 2, 8, 16], [8, 8, 8, 0, 1, 16, 4]
            block, repeat = (int(rng.choice(s)) for s in steps)
            block = max(block, name == "dst")
            params[f"{name}_blk"], params[f"{name}_rep"] = block, repeat
            streams.append(Stream(first, block, repeat, -(-params["mask"] * bytes_ // 32)))
        operands = [ub(32 * s.first) for s in streams]
        machine.issue(key, dtypes, *operands, *literals(row, dtypes, params))
        want.append(lost(streams[0], streams[1:], params["repeat"], base))
    assert [entry["conflicts"] for entry in machine.inspect()] == want
    assert any(want)


def itemsize(row, name, dtypes):
    operand = next(o for o in row.operands if o.name == name)
    return formula.ITEMSIZE[formula.operand_dtype(row, operand, dtypes)]


def literals(row, dtypes, params):
    floats = [p.type in row.types and "float" in dtypes[-1] for p in row.params]
    return [float(v) if f else v for f, v in zip(floats, params.values(), strict=True)]


def test_count_forms_conflict_as_repeats_do(rng):
    for _ in range(20):
        places = [int(rng.integers(3)) * 0x10000 + 32 * int(rng.integers(32)) for _ in range(3)]
        counted = Machine()
        counted.issue("add", "float32", *map(ub, places), 64 * 40)
        assert counted.inspect()[0]["conflicts"] == conflicts(*places, repeats=40)


def test_conflicts_hold_the_pipe_and_are_reported_by_statement():
    def run(src1):
        machine = Machine()
        machine.issue("duplicate", "float32", ub(0), 1.0, 4096)
        machine.issue("duplicate", "float32", ub(src1), 1.0, 4096)
        machine.barrier("V")
        add(machine, 0x20000, 0, src1)
        return machine.clean()

    apart, together = run(0x10100), run(0x10000)
    assert apart["bank_conflicts"] == []
    assert together["bank_conflicts"] == [[3, 64]]
    assert together["cycles"] - apart["cycles"] == 64
    assert together["cores"][0]["busy"]["V"] - apart["cores"][0]["busy"]["V"] == 64


def test_a_layout_that_no_memory_has_is_refused():
    machine = Machine(program={"ub_banks": BANKS | {"groups": 0}})
    with pytest.raises(Exception, match="groups of ub_banks is 1 to 16, not 0"):
        machine.run()
