# SPDX-License-Identifier: Apache-2.0
"""Give the buffers of pipelined loops several versions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import TensorLoad
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend import sym
from tvm_ascend.errors import StagesNotReached
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa import formula
from tvm_ascend.isa.instr import Pipe, Space
from tvm_ascend.language.loops import NUM_STAGES, STAGES_CHOICE
from tvm_ascend.target import chip_of
from tvm_ascend.transform.choices import decide, overrides_of
from tvm_ascend.transform.lifetime import VERSIONS, lifetimes
from tvm_ascend.transform.notes import note
from tvm_ascend.transform.plan_memory import plan
from tvm_ascend.transform.sync.access import number, placed_in
from tvm_ascend.transform.sync.tree import Loop, Seq, bodies, build, steps


@dataclass(frozen=True)
class Choice:
    """One buffer to multiply: allocated in the body of ``loop``, ``depth`` loops deep.

    Every version starts at a multiple of ``align`` bytes.
    """

    buffer: tirx.Var
    loop: tirx.For
    depth: int
    versions: int
    align: int


@prim_func_pass(opt_level=0, name="ascend.Pipeline")
class Pipeline:
    """Multi-buffer loops annotated ``ascend.num_stages``.

    Before::

        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            x = T.alloc_buffer((64,), "float32", scope="shared.ub")
            T.ascend.data_copy_pad_in(x[0], A[k, 0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.data_copy_pad_out(B[k, 0], x[0], 1, 256, 0, 0)

    After::

        for k in T.serial(8, annotations={"ascend.num_stages": 2}):
            x = T.alloc_buffer((2, 64), "float32", scope="shared.ub")
            T.ascend.data_copy_pad_in(x[k % 2, 0], A[k, 0], ...)
            T.ascend.data_copy_pad_out(B[k, 0], x[k % 2, 0], ...)

    A buffer gets versions if it is allocated in the body of the loop itself and one unit writes it
    while another reads it. Nothing has to move: the scalar unit only queues instructions, each
    queue runs in order and on its own, and what holds iteration k + 1 back is memory that iteration
    k still uses. With n versions the flags that InsertSync derives from the addresses let n
    iterations overlap. So there is no prologue or epilogue, and a loop of 0, 1 or 2 iterations
    means what it meant before.

    Where the versions do not fit on chip, outer loops give theirs up first, with a note. What a
    named loop got is a decision of the kernel. Runs after SelectInstructions, which decides the
    units, and before PlanMemory.

    Raises
    ------
    StagesNotReached : no buffer of a loop gets as many versions as an override asks for.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        chip = chip_of(func)
        tree = build(func.body)
        choices = asked = _choices(tree)
        wanted = {c.buffer: c.versions for c in choices}
        while True:
            result = _apply(func, choices)
            crowded = _crowded(result, chip)
            giving = [c for c in choices if placed_in(c.buffer) in crowded]
            if not giving:
                break
            choices = _give_up(choices, giving)
        got = {c.buffer: c.versions for c in choices}
        notes = {b: _note(b, n, got.get(b, 1)) for b, n in wanted.items()}
        depths: dict[str, int] = {}
        loops = list(_named(tree))
        for name, loop in loops:
            depth = max((got.get(c.buffer, 1) for c in asked if c.loop.same_as(loop)), default=1)
            depths[name] = max(depth, depths.get(name, 1))
        for name, loop in loops:
            given = overrides_of(func).get(name, 1)
            if depths[name] < given:
                why = [notes[c.buffer] for c in asked if c.loop.same_as(loop)]
                raise StagesNotReached(name, given, depths[name], why, loop.span)
        return note(decide(result, **depths), *notes.values())


def _named(seq: Seq) -> Iterator[tuple[str, tirx.For]]:
    """Every loop whose depth an override can replace, by the name of that."""
    for child in seq.children:
        if isinstance(child.stmt, tirx.For) and STAGES_CHOICE in child.stmt.annotations:
            yield str(child.stmt.annotations[STAGES_CHOICE]), child.stmt
        for body in bodies(child):
            yield from _named(body)


def _note(buffer: tirx.Var, wanted: int, got: int) -> str:
    if got == wanted:
        return f"Pipeline: `{buffer.name}` has {got} versions"
    space = placed_in(buffer).value
    return f"Pipeline: `{buffer.name}` has {got} of {wanted} versions, more do not fit in {space}"


def _choices(tree: Seq) -> list[Choice]:
    """Every buffer that pipelining multiplies, with the versions that the annotations ask for."""
    found: list[Choice] = []
    aligns = {life.buffer: life.align for life in lifetimes(tree)}
    _collect(tree, 0, sym.Analyzer(), aligns, found)
    return found


def _collect(
    seq: Seq, depth: int, analyzer: sym.Analyzer, aligns: dict, found: list[Choice]
) -> None:
    for child in seq.children:
        stmt = child.stmt
        inner = depth + isinstance(child, Loop)
        if isinstance(stmt, tirx.AttrStmt) and stmt.attr_key == "thread_extent":
            analyzer.bind(stmt.node.var, tvm.ir.Range(0, stmt.value))
        if isinstance(stmt, tirx.For):
            stages = int(stmt.annotations.get(NUM_STAGES, 1))
            trips = analyzer.const_int_bound(stmt.extent).max_value
            versions = min(stages, int(trips))
            if versions > 1:
                assert isinstance(child, Loop)
                buffers = _handed_over(child.body)
                found += [Choice(b, stmt, depth, versions, aligns[b]) for b in buffers]
            analyzer.bind(stmt.loop_var, tvm.ir.Range.from_min_extent(stmt.min, stmt.extent))
        for body in bodies(child):
            _collect(body, inner, analyzer, aligns, found)


def _handed_over(body: Seq) -> list[tirx.Var]:
    """Buffers of a loop body that one queue writes and another reads."""
    own = [c.stmt.buffer for c in body.children if isinstance(c.stmt, tirx.AllocBuffer)]
    writers: dict[tirx.Var, set[Pipe]] = {buffer: set() for buffer in own}
    readers: dict[tirx.Var, set[Pipe]] = {buffer: set() for buffer in own}
    for access in (a for step in steps(body) for a in step.accesses):
        # The scalar unit issues everything, so a version more would not let it run ahead.
        if access.buffer not in writers or access.pipe is Pipe.S:
            continue
        if access.writes:
            writers[access.buffer].add(access.pipe)
        if access.reads:
            readers[access.buffer].add(access.pipe)
    return [b for b in own if any(w is not r for w in writers[b] for r in readers[b])]


def _crowded(func: tirx.PrimFunc, chip: ChipSpec) -> set[Space]:
    """Memories that overflow, or fit only by sharing that undoes the pipelining."""
    placements = plan(func, chip)
    return {
        space
        for space, p in placements.items()
        if p.top > chip.capacity(space.value) or not p.freely
    }


def _give_up(choices: list[Choice], giving: list[Choice]) -> list[Choice]:
    """Take one version from the outermost loop's buffer that has most."""
    victim = min(giving, key=lambda c: (c.depth, -c.versions))
    fewer = replace(victim, versions=victim.versions - 1)
    kept = [fewer if c is victim else c for c in choices]
    return [c for c in kept if c.versions > 1]


def _apply(func: tirx.PrimFunc, choices: list[Choice]) -> tirx.PrimFunc:
    """The function with the chosen buffers multiplied."""
    chosen = {c.buffer: c for c in choices}
    fresh = {c.buffer: _multiplied(c) for c in choices}
    if not chosen:
        return func

    def version(buffer: tirx.Var) -> tvm.ir.Expr:
        loop = chosen[buffer].loop
        return tirx.floormod(loop.loop_var - loop.min, chosen[buffer].versions)

    def alloc(node: tirx.AllocBuffer) -> tirx.AllocBuffer:
        if node.buffer not in fresh:
            return node
        versions = tirx.IntImm("int32", chosen[node.buffer].versions)
        annotations = {**node.annotations, VERSIONS: versions}
        return tirx.AllocBuffer(fresh[node.buffer], annotations, node.span)

    def load(node: TensorLoad) -> TensorLoad:
        if node.source not in fresh:
            return node
        indices = [version(node.source), *node.indices]
        return tirx.BufferLoad(fresh[node.source], indices, span=node.span)

    def store(node: tirx.BufferStore) -> tirx.BufferStore:
        if node.buffer not in fresh:
            return node
        indices = [version(node.buffer), *node.indices]
        return tirx.BufferStore(fresh[node.buffer], node.value, indices, node.span)

    callbacks = [(tirx.AllocBuffer, alloc), (TensorLoad, load), (tirx.BufferStore, store)]
    return func.with_body(tvm_ffi.structural_map(func.body, callbacks, order="post"), func.span)


def _multiplied(choice: Choice) -> tirx.Var:
    """The buffer with a leading version dimension; every version starts aligned."""
    old = choice.buffer
    shape = [number(e) for e in old.shape]
    row = math.prod(shape[1:]) * formula.ITEMSIZE[str(old.dtype)]
    rows = choice.align // math.gcd(row, choice.align)
    shape[0] = -(-shape[0] // rows) * rows
    return tirx.decl_buffer([choice.versions, *shape], old.dtype, old.name, scope=old.scope())
