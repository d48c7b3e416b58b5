# SPDX-License-Identifier: Apache-2.0
"""Flags without partner on ways that a run may leave out, as hazards of the program's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tvm import tirx

from tvm_ascend.codegen.text import stmt_text
from tvm_ascend.errors import at, unmatched_flag, unmatched_flag_fix, where

KIND = "unmatched_flag_in_untaken_branch"


def hazards(found: Sequence[Any], sites: Mapping[tirx.Stmt, Sequence[int]]) -> list[dict]:
    """A row for each ``UnmatchedFlag``; ``sites`` of the row are what only runs on its way."""
    return [_row(flag, sites) for flag in found]


def _row(flag: Any, sites: Mapping[tirx.Stmt, Sequence[int]]) -> dict:
    raises, partner = flag.problem == "set", flag.partner
    return {
        "kind": KIND,
        "message": _message(flag),
        "first": _side(flag.statement, raises),
        "second": None if partner is None else _side(partner, not raises),
        "fix": unmatched_flag_fix(raises, _event(flag.statement)),
        "sites": sorted(site for stmt in flag.side for site in sites.get(stmt, ())),
    }


def _message(flag: Any) -> str:
    what = "branch" if isinstance(flag.branch, tirx.IfThenElse) else "loop"
    return unmatched_flag(
        flag.problem == "set",
        _named(flag.statement),
        f"the {what} in {where(flag.branch.span)} {flag.way}",
        "" if flag.partner is None else _named(flag.partner),
    )


def _named(stmt: tirx.Stmt) -> str:
    return f"`{stmt_text(stmt)}` in {where(stmt.span)}"


def _side(stmt: tirx.Stmt, raises: bool) -> dict:
    source, target = _event(stmt).split("_")
    return {
        "text": stmt_text(stmt),
        "where": at(stmt.span),
        "pipe": source if raises else target,
    }


def _event(stmt: tirx.Stmt) -> str:
    return str(stmt.value.args[0].value)
