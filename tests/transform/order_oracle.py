# SPDX-License-Identifier: Apache-2.0
"""A checker that shares nothing with InsertSync: unroll everything and try all pairs.

Knows contiguous vector and copy instructions and scalar accesses, which is what the tests use.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad

SIZES = {"float32": 4, "float16": 2, "int32": 4}
PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
OPERATORS = {
    tirx.Add: lambda a, b: a + b,
    tirx.Sub: lambda a, b: a - b,
    tirx.Mul: lambda a, b: a * b,
    tirx.FloorDiv: lambda a, b: a // b,
    tirx.FloorMod: lambda a, b: a % b,
    tirx.Min: min,
    tirx.Max: max,
    tirx.EQ: lambda a, b: a == b,
    tirx.LT: lambda a, b: a < b,
    tirx.LE: lambda a, b: a <= b,
    tirx.GT: lambda a, b: a > b,
    tirx.And: lambda a, b: a and b,
    tirx.Or: lambda a, b: a or b,
}


@dataclass
class Entry:
    """One queue entry: pipe, bytes read and written, and what is known to have ended before."""

    kind: str
    pipe: str
    text: str
    reads: set = field(default_factory=set)
    writes: set = field(default_factory=set)
    ended: int = 0


class Unrolled:
    """Every queue entry of one core, in issue order, with the faults found on the way."""

    def __init__(self, func: tirx.PrimFunc, block: int = 0) -> None:
        self.entries: list[Entry] = []
        self.faults: list[str] = []
        self.addresses: dict = {}
        self.by_pipe: dict[str, list[int]] = {p: [] for p in PIPES}
        self.known: dict[str, int] = dict.fromkeys(PIPES, 0)
        self.up: dict[tuple, int] = {}
        self.last_wait: dict[tuple, int] = {}
        self.run(func.body, {}, block)
        self.faults += [f"flag {token} is left up" for token in self.up]
        self.races()

    def value(self, expr, env):
        if isinstance(expr, (int, bool)):
            return expr
        if isinstance(expr, tirx.IntImm):
            return int(expr.value)
        if isinstance(expr, tirx.FloatImm):
            return float(expr.value)
        if isinstance(expr, tirx.Cast):
            return self.value(expr.value, env)
        if isinstance(expr, tvm.ir.Var):
            return env.get(expr, 0)
        if isinstance(expr, TensorLoad):
            return 0
        return OPERATORS[type(expr)](self.value(expr.a, env), self.value(expr.b, env))

    def run(self, stmt, env, block):
        if isinstance(stmt, tirx.SeqStmt):
            for child in stmt.seq:
                self.run(child, env, block)
        elif isinstance(stmt, tirx.AttrStmt):
            self.run(stmt.body, {**env, stmt.node.var: block}, block)
        elif isinstance(stmt, tirx.For):
            low = self.value(stmt.min, env)
            for k in range(self.value(stmt.extent, env)):
                self.run(stmt.body, {**env, stmt.loop_var: low + k}, block)
        elif isinstance(stmt, tirx.IfThenElse):
            if self.value(stmt.condition, env):
                self.run(stmt.then_case, env, block)
            elif stmt.else_case is not None:
                self.run(stmt.else_case, env, block)
        elif isinstance(stmt, tirx.AllocBuffer):
            self.addresses[stmt.buffer] = int(stmt.annotations["ascend.address"])
        elif isinstance(stmt, (tirx.Bind, tirx.BufferStore)):
            self.scalar(stmt, env)
        else:
            self.call(stmt.value, env)

    def scalar(self, stmt, env):
        loads = loads_in(stmt.value)
        reads = set().union(*(self.place(x.source, x.indices, 1, env) for x in loads))
        writes = set()
        if isinstance(stmt, tirx.BufferStore):
            writes = self.place(stmt.buffer, stmt.indices, 1, env)
        if reads or writes:
            self.add(Entry("work", "S", str(stmt), reads, writes))

    def place(self, buffer, indices, count, env):
        offset = 0
        for index, extent in zip(indices, buffer.shape, strict=True):
            offset = offset * self.value(extent, env) + self.value(index, env)
        size = SIZES[str(buffer.dtype)]
        scope = buffer.scope()
        space = str(buffer.name) if scope in ("", "global") else scope
        start = self.addresses.get(buffer, 0) + offset * size
        return {(space, b) for b in range(start, start + int(count * size))}

    def call(self, call, env):
        key = call.op.name.removeprefix("tirx.ascend.")
        args = call.args
        if key in ("set_flag", "wait_flag"):
            self.flag(key, str(args[0].value), self.value(args[1], env))
        elif key == "pipe_barrier":
            pipe = str(args[0].value)
            entry = self.add(Entry("barrier", pipe, f"barrier {pipe}"))
            self.known[pipe] |= entry.ended | mask(self.by_pipe[pipe])
        else:
            self.work(key, args, env)

    def work(self, key, args, env):
        def operand(i, count):
            return self.place(args[i].source, args[i].indices, count, env)

        def number(i):
            return self.value(args[i], env)

        if key in ("data_copy_pad_in", "data_copy_pad_out"):
            size = SIZES[str(args[0].source.dtype)]
            assert number(2) == 1
            moved = number(3) // size
            pipe = "MTE2" if key.endswith("in") else "MTE3"
            self.add(Entry("work", pipe, f"{key} {args[0]}", operand(1, moved), operand(0, moved)))
        elif key in ("adds", "muls"):
            self.add(
                Entry("work", "V", f"{key} {args[0]}", operand(1, number(3)), operand(0, number(3)))
            )
        elif key == "add":
            reads = operand(1, number(3)) | operand(2, number(3))
            self.add(Entry("work", "V", f"{key} {args[0]}", reads, operand(0, number(3))))
        elif key == "duplicate":
            self.add(Entry("work", "V", f"{key} {args[0]}", set(), operand(0, number(2))))
        else:
            raise NotImplementedError(key)

    def add(self, entry):
        # The scalar unit issues everything, so what it waited for has ended before.
        self.known[entry.pipe] |= self.known["S"]
        entry.ended = self.known[entry.pipe]
        self.by_pipe[entry.pipe].append(len(self.entries))
        self.entries.append(entry)
        return entry

    def flag(self, key, event, number):
        source, target = event.split("_")
        token = (event, number)
        if not 0 <= number < 6:
            self.faults.append(f"{token} is no usable id")
        if key == "set_flag":
            entry = self.add(Entry("set", source, f"set {token}"))
            last = self.last_wait.get(token)
            if token in self.up:
                self.faults.append(f"{token} is set while it is up")
            elif last is not None and target != "S" and not entry.ended >> last & 1:
                self.faults.append(f"{token} is set before its last wait is known to be over")
            self.up[token] = entry.ended | mask(self.by_pipe[source])
        else:
            entry = self.add(Entry("wait", target, f"wait {token}"))
            self.last_wait[token] = len(self.entries) - 1
            if token not in self.up:
                self.faults.append(f"{token} is waited for and never set")
            self.known[target] |= self.up.pop(token, 0)

    def races(self):
        for j, later in enumerate(self.entries):
            for i, earlier in enumerate(self.entries[:j]):
                if later.ended >> i & 1:
                    continue
                clash = earlier.writes & (later.reads | later.writes)
                if earlier.pipe != later.pipe:
                    clash = clash or (earlier.reads & later.writes)
                elif earlier.pipe == "S":
                    clash = set()
                if clash:
                    self.faults.append(f"{earlier.text} and {later.text}")


def mask(numbers):
    out = 0
    for n in numbers:
        out |= 1 << n
    return out


def loads_in(expr):
    found: list = []
    tvm_ffi.structural_walk(expr, (TensorLoad, found.append))
    return found


def faults(func: tirx.PrimFunc, blocks: int = 1) -> list[str]:
    """Everything wrong with the order of a function, over the first cores."""
    return [fault for block in range(blocks) for fault in Unrolled(func, block).faults]
