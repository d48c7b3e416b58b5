# SPDX-License-Identifier: Apache-2.0
"""Drives the simulator with hand-written instruction lists, without the compiler."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm_ffi

from tvm_ascend.isa.gen import all_constants, timing_keys
from tvm_ascend.isa.table import TABLE

SPACES = {
    "ub": 196608,
    "l1": 524288,
    "l0a": 65536,
    "l0b": 65536,
    "l0c": 131072,
    "bt": 1024,
    "fb": 7168,
}
# Test values on purpose: no chip has them.
CONSTANTS = dict.fromkeys(all_constants(), 7) | {
    "QUEUE_DEPTH": 32,
    "SCALAR_ISSUE": 1,
    "COUNT_FORM_ISSUE": 4,
    "CORE_START_CYCLES": 0,
    "LAUNCH_CYCLES": 0,
    "CROSS_CORE_LATENCY": 100,
    "SYNC_ISSUE": 1,
    "GM_LINE_BYTES": 1,
    "HBM_BYTES_PER_CYCLE": 1e9,
    "HBM_PACKET_BYTES": 0,
    "L2_BYTES": 1e9,
    "L2_BYTES_PER_CYCLE": 1e9,
    "L2_DIRTY_SHARE": 0,
    "L2_WARM_BYTES": 0,
    "GM_MISS_BYTES_PER_CYCLE": 1e9,
    "GM_PACKET_CYCLES": 0,
}
BANKS = {"groups": 16, "bank_bytes": 4096, "write_depth": 16}
RATE = {"head": 10, "tail": 14, "b8": 1, "b16": 1, "b32": 1}


@dataclass(frozen=True)
class At:
    """A byte address in an on-chip memory."""

    space: str
    byte: int
    name: str = ""


def ub(byte: int, name: str = "") -> At:
    return At("ub", byte, name)


@dataclass(frozen=True)
class Gm:
    """An element of a tensor argument."""

    name: str
    element: int = 0


def word(value: Any) -> int:
    """A scalar argument as the int64 that control programs pass."""
    if isinstance(value, float):
        return struct.unpack("<q", struct.pack("<d", value))[0]
    return int(value)


@dataclass
class Machine:
    """Collects instructions, then runs them on every block."""

    core_type: str = "AIV"
    grid: int = 1
    constants: dict = field(default_factory=dict)
    rate: dict = field(default_factory=dict)
    program: dict = field(default_factory=dict)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    sites: list = field(default_factory=list)
    blocks: list = field(default_factory=lambda: [[]])

    def tensor(self, name: str, array: np.ndarray) -> Gm:
        """Adds a tensor argument."""
        self.arrays[name] = array
        return Gm(name)

    def block(self) -> None:
        """Later instructions belong to the next core: AIC, AIV, AIV, AIC, ... of a mixed kernel."""
        self.blocks.append([])

    def issue(self, key: str, dtypes: Any, *args: Any) -> int:
        """Appends an instruction: operands (At or Gm), then parameters; returns its site."""
        row = TABLE[key]
        dtypes = (dtypes,) if isinstance(dtypes, str) else tuple(dtypes or ())
        operands, values = [], []
        for i, arg in enumerate(args):
            if isinstance(arg, Gm):
                array = self.arrays[arg.name]
                operands.append({"space": "gm", "buffer": arg.name})
                values.append({"c": array.ctypes.data + arg.element * array.itemsize})
            elif isinstance(arg, At):
                operands.append({"space": arg.space, "buffer": arg.name})
                values.append({"c": arg.byte})
            else:
                assert i >= len(row.operands), f"{key} operand {i}"
                values.append({"c": arg})
        site = len(self.sites)
        self.sites.append(
            {
                "op": key,
                "dtypes": list(dtypes),
                "operands": operands,
                "args": values,
                "text": f"{row.name} #{site}",
                "where": f"kernel.py:{site + 1}",
            }
        )
        self.blocks[-1].append([site])
        return site

    def set(self, event: str, event_id: int = 0) -> int:
        return self.issue("set_flag", None, event, event_id)

    def wait(self, event: str, event_id: int = 0) -> int:
        return self.issue("wait_flag", None, event, event_id)

    def sync(self, event: str, event_id: int = 0) -> None:
        self.set(event, event_id)
        self.wait(event, event_id)

    def barrier(self, pipe: str = "ALL") -> int:
        return self.issue("pipe_barrier", None, pipe)

    def cross_set(self, mode: int, pipe: str, flag_id: int) -> int:
        return self.issue("cross_core_set_flag", None, str(mode), pipe, flag_id)

    def cross_wait(self, flag_id: int) -> int:
        return self.issue("cross_core_wait_flag", None, flag_id)

    def json(self) -> str:
        """The program."""
        return json.dumps(
            {
                "kernel": "listed",
                "core_type": self.core_type,
                "grid": self.grid,
                "spaces": SPACES,
                "constants": CONSTANTS | self.constants,
                "aiv_constants": CONSTANTS | self.constants,
                "vector_timing": dict.fromkeys(timing_keys(), RATE | self.rate),
                "ub_banks": BANKS,
                "clock_hz": 1e9,
                "event_ids": 8,
                "usable_event_ids": 6,
                "params": [
                    {"name": name, "dtype": str(array.dtype), "kind": "tensor"}
                    for name, array in self.arrays.items()
                ],
                "sites": self.sites,
            }
            | self.program
        )

    def run(self, **options: Any) -> dict:
        """The report; hazards are collected unless ``strict`` says otherwise."""
        run_list = tvm_ffi.get_global_func("tvm_ascend.sim.run_list")
        args = [tvm_ffi.from_dlpack(bits(array)) for array in self.arrays.values()]
        options = {"strict": False} | options
        return json.loads(run_list(self.json(), json.dumps(self.blocks), args, json.dumps(options)))

    def clean(self, **options: Any) -> dict:
        """The report of a run that must find nothing."""
        report = self.run(**options)
        assert not report["hazards"], [h["message"] for h in report["hazards"]]
        return report

    def hazards(self, **options: Any) -> list[dict]:
        return self.run(**options)["hazards"]

    def inspect(self) -> list[dict]:
        """Timing and accesses of every instruction."""
        inspect = tvm_ffi.get_global_func("tvm_ascend.sim.inspect")
        calls = [call for block in self.blocks for call in block]
        return json.loads(inspect(self.json(), json.dumps(calls)))

    # Whole-tile copies that most tests need; `rows` of 32-byte-aligned bytes.

    def load(self, dst: At, src: Gm, count: int, dtype: str) -> int:
        """GM to UB, one row."""
        size = self.arrays[src.name].itemsize
        zero = 0.0 if "float" in dtype else 0
        return self.issue("data_copy_pad_in", dtype, dst, src, 1, count * size, 0, 0, 0, 0, 0, zero)

    def store(self, dst: Gm, src: At, count: int, dtype: str) -> int:
        """UB to GM, one row."""
        size = self.arrays[dst.name].itemsize
        return self.issue("data_copy_pad_out", dtype, dst, src, 1, count * size, 0, 0)


def bits(array: np.ndarray) -> np.ndarray:
    """The same memory in a dtype that DLPack carries."""
    return array.view("uint16") if str(array.dtype) == "bfloat16" else array
