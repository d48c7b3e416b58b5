# SPDX-License-Identifier: Apache-2.0
"""Write the scalar unit's data cache back where copies or the host need what it holds."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

from tvm_ascend.isa.cache import CACHE_CLEAN, WHOLE
from tvm_ascend.isa.instr import Pipe, Space
from tvm_ascend.language.core_sides import on_each_core
from tvm_ascend.language.ops import call, key_of
from tvm_ascend.transform.sync.access import Access, accesses_of
from tvm_ascend.transform.sync.tree import Branch, Loop, Node, Seq, Step, bodies, build, rebuild


@prim_func_pass(opt_level=0, name="ascend.CleanCache")
class CleanCache:
    """Insert ``data_cache_clean``.

    Before::

        B[0] = x[0]

    After::

        B[0] = x[0]
        T.ascend.data_cache_clean(B[0], "ENTIRE_DATA_CACHE")

    A kernel whose scalar code stores to GM ends with one, and has one before every flag or barrier
    that lets a copy follow the scalar unit. Where scalar code loads from GM, one follows every flag
    that lets it see what a copy stored.

    Runs after InsertSync, whose flags it looks for. A kernel that cleans by itself is left alone.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        return on_each_core(func, _cleaned)


def _cleaned(func: tirx.PrimFunc) -> tirx.PrimFunc:
    tree = build(func.body)
    nodes = list(_nodes(tree))
    scalar = [a for node in nodes for a in _accesses(node) if _is_cached(a)]
    own = any(key_of(node.stmt) == CACHE_CLEAN.key for node in nodes)
    if own or not scalar:
        return func
    stores = any(a.writes for a in scalar)
    buffer = next((a.buffer for a in scalar if a.writes), scalar[0].buffer)
    before: dict[Node, list] = {}
    after: dict[Node, list] = {}
    for step in (node for node in nodes if isinstance(node, Step) and node.sync):
        event = str(step.stmt.value.args[0].value)
        leaves, enters = event.startswith("S_") and step.sync == "set_flag", event == "ALL"
        if stores and (leaves or enters):
            before[step] = [_clean(buffer, step.stmt.span)]
        elif (event.endswith("_S") and step.sync == "wait_flag") or enters:
            after[step] = [_clean(buffer, step.stmt.span)]
    if stores:
        last = _outermost(tree).children[-1]
        after[last] = [*after.get(last, ()), _clean(buffer, last.stmt.span)]
    return func.with_body(rebuild(tree, before, after), func.span)


def _clean(buffer: tirx.Var, span: tvm.ir.Span | None) -> tirx.Stmt:
    return call(CACHE_CLEAN.key, buffer, WHOLE, span=span)


def _nodes(seq: Seq):
    for node in seq.children:
        yield node
        for body in bodies(node):
            yield from _nodes(body)


def _accesses(node: Node) -> list[Access]:
    """What a step touches, or the condition and bounds of what holds others."""
    if isinstance(node, Step):
        return node.accesses
    return accesses_of(node.stmt) if isinstance(node, (Branch, Loop)) else []


def _is_cached(access: Access) -> bool:
    return access.pipe is Pipe.S and access.space is Space.GM


def _outermost(seq: Seq) -> Seq:
    """The statements of one core: below the grid."""
    while len(seq.children) == 1 and not isinstance(seq.children[0], (Step, Loop, Branch)):
        (seq,) = bodies(seq.children[0])
    return seq
