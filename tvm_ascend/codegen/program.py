# SPDX-License-Identifier: Apache-2.0
"""A final function as a simulator program: a site table, and host code that issues the sites."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Call, Range, TensorLoad

from tvm_ascend import sym
from tvm_ascend.codegen import untaken, walk
from tvm_ascend.codegen.arithmetic import (
    DIVISIONS,
    FLOORED,
    SHIFTS,
    exact,
    lowered_call,
    may_fault,
    plain,
    shifts_within,
    truncates,
)
from tvm_ascend.codegen.bfloat16 import widen
from tvm_ascend.codegen.text import stmt_text
from tvm_ascend.errors import at
from tvm_ascend.hw.chip import VECTOR_CORES, ChipSpec
from tvm_ascend.isa.dtypes import is_float, is_int
from tvm_ascend.isa.formula import ITEMSIZE
from tvm_ascend.isa.instr import Space
from tvm_ascend.isa.scalar import TRAP

MAX_DYNAMIC = 16


@dataclass(frozen=True)
class Program:
    """``table``: the program JSON the simulator reads; ``control``: the lowered host module."""

    table: str
    control: tvm.IRModule


def build_program(func: tirx.PrimFunc, chip: ChipSpec, unmatched: Sequence[Any] = ()) -> Program:
    """Make the program of a final function on a chip; ``unmatched`` are its ``UnmatchedFlag``s."""
    kernel = walk.read_kernel(func)
    builder = _ControlBuilder(kernel)
    bodies, statements = [], []
    for side in kernel.sides:
        before = len(builder.sites)
        bodies.append(builder.stmt(side.body))
        statements.append(len(builder.sites) - before)
    place, body = _place(kernel, bodies)
    control = tirx.PrimFunc(
        [*place, *(builder.pointers.get(p, p) for p in kernel.params)], body, ret_type=None
    ).with_attr({"global_symbol": "control", "target": tvm.target.Target("llvm", host="llvm")})
    table = _table(kernel, chip, builder.sites, statements)
    table["untaken"] = untaken.hazards(unmatched, builder.sites_of)
    return Program(json.dumps(table), _lower(control))


def _place(kernel: walk.Kernel, bodies: list[tirx.Stmt]) -> tuple[list[tirx.Var], tirx.Stmt]:
    """The parameters that say which core it is, and what the core of that kind runs."""
    block = kernel.block_var if kernel.block_var is not None else tirx.Var("block_idx", "int32")
    if not kernel.mixed:
        return [block], bodies[0]
    sub = kernel.sub_var if kernel.sub_var is not None else tirx.Var("sub_block_idx", "int32")
    vector = tirx.Var("is_vector", "int32")
    cube_body, vector_body = bodies
    return [block, sub, vector], tirx.IfThenElse(vector != 0, vector_body, cube_body)


def _constants(kernel: walk.Kernel, chip: ChipSpec, statements: list[int]) -> dict:
    """Of the launch and its first kind of core, and of the Vector cores of a mixed kernel."""
    if not kernel.mixed:
        return {"constants": chip.timing_constants(kernel.core_type, kernel.grid, statements[0])}
    cube, vector = statements
    aic = chip.timing_constants("AIC", kernel.grid, cube, kernel.core_type)
    aiv = chip.timing_constants("AIV", kernel.grid * VECTOR_CORES, vector, kernel.core_type)
    return {"constants": aic, "aiv_constants": aiv}


def _table(kernel: walk.Kernel, chip: ChipSpec, sites: list[dict], statements: list[int]) -> dict:
    return {
        "kernel": kernel.name,
        "core_type": kernel.core_type,
        "kernel_type": kernel.kernel_type,
        "grid": kernel.grid,
        "cores": {"AIC": chip.aic_cores, "AIV": chip.aiv_cores},
        "vector_cores": VECTOR_CORES,
        "spaces": {s.value: chip.physical_bytes(s.value) for s in Space if s is not Space.GM},
        **_constants(kernel, chip, statements),
        "vector_timing": {name: asdict(timing) for name, timing in chip.vector.items()},
        "ub_banks": {
            "groups": chip.ub_bank_groups,
            "bank_bytes": chip.ub_bank_bytes,
            "write_depth": chip.ub_write_depth,
        },
        "clock_hz": chip.clock_hz,
        "event_ids": chip.event_ids,
        "usable_event_ids": chip.usable_event_ids,
        "cross_core_ids": chip.cross_core_ids,
        "usable_cross_core_ids": chip.usable_cross_core_ids,
        "cross_core_depth": chip.cross_core_depth,
        "params": [_param(p) for p in kernel.params],
        "buffers": _buffers(kernel, chip),
        "dynamic_max": MAX_DYNAMIC,
        "sites": sites,
    }


def _buffers(kernel: walk.Kernel, chip: ChipSpec) -> dict:
    """On-chip buffers by name, in whole blocks as memory is planned; all versions count."""
    block = chip.block_bytes
    return {
        p.name: {"address": p.address, "bytes": -(-p.elements * p.itemsize // block) * block}
        for p in kernel.buffers.values()
        if p.space is not Space.GM and p.elements is not None
    }


def _param(var: tirx.Var) -> dict:
    tensor = tirx.is_buffer_var(var)
    dtype = var.dtype if tensor else var.ty
    return {
        "name": str(var.name),
        "dtype": str(dtype).strip('"'),
        "kind": "tensor" if tensor else "scalar",
    }


def _lower(control: tirx.PrimFunc) -> tvm.IRModule:
    """Lower for LLVM; nothing here simplifies, for that may copy an element load and its cycles."""
    control = control.with_body(plain(control.body))
    lowered = tirx.transform.LowerIntrin()(tvm.IRModule({"control": control}))["control"]
    mod = tvm.IRModule({"control": lowered.with_body(exact(lowered.body))})
    passes = [
        tirx.transform.AnnotateEntryFunc(),
        tirx.transform.MakePackedAPI(),
        tirx.transform.LowerTVMBuiltin(),
        tirx.transform.LowerIntrin(),
    ]
    return tvm.ir.transform.Sequential(passes)(mod)


@dataclass
class _ControlBuilder:
    """Rewrites instruction TIR into calls of the simulator's entry points."""

    kernel: walk.Kernel
    sites: list[dict] = field(default_factory=list)
    sites_of: dict[tirx.Stmt, list[int]] = field(default_factory=dict)
    pointers: dict[tirx.Var, tirx.Var] = field(init=False)
    analyzer: sym.Analyzer = field(default_factory=sym.Analyzer)

    def __post_init__(self):
        if self.kernel.block_var is not None:
            self.analyzer.bind(self.kernel.block_var, Range(0, self.kernel.grid))
        self.pointers = {
            p: tirx.Var(str(p.name), "handle") for p in self.kernel.params if tirx.is_buffer_var(p)
        }

    def stmt(self, node: tirx.Stmt) -> tirx.Stmt:
        """Rewrite one statement of the closed set that final TIR may hold."""
        if isinstance(node, tirx.SeqStmt):
            return tirx.SeqStmt([self.stmt(s) for s in node.seq])
        if isinstance(node, tirx.For):
            low, extent = self.expr(node.min, node), self.expr(node.extent, node)
            span = tirx.all(node.loop_var >= node.min, node.loop_var < node.min + node.extent)
            with self.analyzer.constraint_scope(span):
                body = self.stmt(node.body)
            return tirx.For(node.loop_var, low, extent, tirx.ForKind.SERIAL, body)
        if isinstance(node, tirx.While):
            return tirx.While(self.expr(node.condition, node), self.stmt(node.body))
        if isinstance(node, tirx.IfThenElse):
            other = None if node.else_case is None else self.stmt(node.else_case)
            return tirx.IfThenElse(
                self.expr(node.condition, node), self.stmt(node.then_case), other
            )
        if isinstance(node, tirx.Bind):
            return tirx.Bind(node.var, self.expr(node.value, node))
        if isinstance(node, tirx.BufferStore):
            return self._store(node)
        if isinstance(node, tirx.Evaluate):
            return self._evaluate(node)
        if isinstance(node, tirx.AllocBuffer):
            return tirx.Evaluate(0)
        if isinstance(node, tirx.AttrStmt):
            return self.stmt(node.body)
        raise AssertionError(f"final TIR holds a {type(node).__name__}: {node}")

    def expr(self, value, owner: tirx.Stmt):
        """Replace element loads by calls of the scalar unit."""
        loaded = tvm_ffi.structural_map(
            value, [(TensorLoad, lambda load: self._load(load, owner))], order="post"
        )
        guards = [
            (kind, lambda node, mutator: self._divide(node, mutator, owner)) for kind in DIVISIONS
        ]
        guards += [(SHIFTS, self._shift), (tirx.Cast, _truncate), (Call, _lower_call)]
        return widen(tvm_ffi.structural_mutate(loaded, guards))

    def _divide(self, node, mutator, owner: tirx.Stmt):
        """An integer division by a run-time value asks the simulator: a host would fault."""
        dtype, kind = walk.dtype_of(node), type(node)
        if is_float(dtype):
            return mutator.default_mutate(node)
        sign = "u" if dtype.startswith("u") else ""
        if kind in FLOORED and (sign or truncates(self.analyzer, node)):
            kind = FLOORED[kind]
        values = [mutator.mutate(e) for e in (node.a, node.b)]
        if kind not in FLOORED and not may_fault(node):
            return kind(*values)
        site = self._site(TRAP.key, (), (), [], owner)
        name = f"tvm_ascend_{sign}{kind.__name__.lower()}"
        values = [tirx.Cast(f"{sign}int64", v) for v in values]
        return tirx.Cast(dtype, tirx.call_extern(f"{sign}int64", name, site, *values))

    def _shift(self, node, mutator):
        """A shift that may be by the width or more; for the host that has no value."""
        if shifts_within(self.analyzer, node):
            return mutator.default_mutate(node)
        dtype = walk.dtype_of(node)
        sign = "u" if dtype.startswith("u") else ""
        name = f"tvm_ascend_{sign}{type(node).__name__.lower()}"
        values = [tirx.Cast(f"{sign}int64", mutator.mutate(e)) for e in (node.a, node.b)]
        return tirx.Cast(dtype, tirx.call_extern(f"{sign}int64", name, *values))

    def _evaluate(self, node: tirx.Evaluate) -> tirx.Stmt:
        row = walk.row_of(node.value)
        if row is None:
            return tirx.Evaluate(self.expr(node.value, node))
        issue = walk.resolve(self.kernel, node.value)
        values = [self._byte_address(a, node) for a in issue.operands]
        for param, value in zip(row.params, issue.params, strict=True):
            name = walk.enum_name(value)
            if param.values:
                values.append(param.values.index(name))
            else:
                values.append(name if name is not None else self._slot(value, node))
        args, dynamic = _split_dynamic(values)
        assert len(dynamic) <= MAX_DYNAMIC, f"{row.key} has {len(dynamic)} run-time arguments"
        site = self._site(row.key, issue.dtypes, issue.operands, args, node)
        return tirx.Evaluate(
            tirx.call_extern("int32", f"tvm_ascend_issue_{len(dynamic)}", site, *dynamic)
        )

    def _slot(self, value, node: tirx.Stmt):
        if isinstance(value, (tirx.IntImm, tirx.FloatImm)):
            return value.value
        value = self.expr(value, node)
        if is_float(walk.dtype_of(value)):
            return tirx.reinterpret("int64", tirx.Cast("float64", value))
        return tirx.Cast("int64", value)

    def _byte_address(self, address: walk.Address, owner: tirx.Stmt):
        placed = address.placed
        offset = _wide(self.expr(address.offset, owner)) * placed.itemsize
        if placed.space is Space.GM:
            return tirx.reinterpret("int64", self.pointers[placed.buffer]) + offset
        return _SIMPLIFY.simplify(offset + placed.address)

    def _load(self, load: TensorLoad, owner: tirx.Stmt):
        address = self.kernel.address(load)
        dtype = address.placed.dtype
        site = self._site("get_value", (dtype,), (address,), [{"d": 0}], owner)
        where_ = self._byte_address(address, owner)
        wide, name = ("float64", "float") if is_float(dtype) else ("int64", "int")
        value = tirx.call_extern(wide, f"tvm_ascend_get_{name}", site, where_)
        return tirx.Cast(dtype, value)

    def _store(self, node: tirx.BufferStore) -> tirx.Stmt:
        placed = self.kernel.buffers[node.buffer]
        address = walk.Address(placed, walk.linear_offset(node.buffer, node.indices))
        value = self.expr(node.value, node)
        site = self._site("set_value", (placed.dtype,), (address,), [{"d": 0}, {"d": 1}], node)
        wide, name = ("float64", "float") if is_float(placed.dtype) else ("int64", "int")
        return tirx.Evaluate(
            tirx.call_extern(
                "int32",
                f"tvm_ascend_set_{name}",
                site,
                self._byte_address(address, node),
                tirx.Cast(wide, value),
            )
        )

    def _site(self, op: str, dtypes, operands, args: list[dict], stmt: tirx.Stmt):
        """Append a site, return its number; scalar accesses keep the text of their statement."""
        text = stmt_text(stmt) if isinstance(stmt, (tirx.Evaluate, tirx.BufferStore)) else op
        self.sites.append(
            {
                "op": op,
                "dtypes": list(dtypes),
                "operands": [
                    {"space": a.placed.space.value, "buffer": a.placed.name} for a in operands
                ],
                "args": args,
                "text": text,
                "where": at(stmt.span),
            }
        )
        self.sites_of.setdefault(stmt, []).append(len(self.sites) - 1)
        return tirx.const(len(self.sites) - 1, "int32")


_SIMPLIFY = sym.Analyzer()


def _truncate(node: tirx.Cast, mutator):
    """A float becomes an integer as Cast does it: for most floats a host may do anything."""
    dtype, source = (walk.dtype_of(e) for e in (node, node.value))
    if not is_float(source) or not is_int(dtype):
        return mutator.default_mutate(node)
    value = tirx.Cast("float64", mutator.mutate(node.value))
    return tirx.Cast(dtype, tirx.call_extern("int64", "tvm_ascend_truncate", value, _number(dtype)))


def _number(dtype: str) -> tirx.IntImm:
    """The value of the simulator's ``DType``, which is generated from the same list."""
    return tirx.IntImm("int32", list(ITEMSIZE).index(dtype))


def _lower_call(node: Call, mutator):
    return lowered_call(mutator.default_mutate(node))


def _wide(offset):
    return tirx.Cast("int64", offset)


def _split_dynamic(values: list) -> tuple[list[dict], list]:
    """Constants go into the table; everything else becomes a run-time argument."""
    args, dynamic = [], []
    for value in values:
        constant = value.value if isinstance(value, (tirx.IntImm, tirx.FloatImm)) else value
        if isinstance(constant, (bool, int, float, str)):
            args.append({"c": constant})
        else:
            args.append({"d": len(dynamic)})
            dynamic.append(value)
    return args, dynamic
