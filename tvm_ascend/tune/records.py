# SPDX-License-Identifier: Apache-2.0
"""Check the two files of a tuning database before TVM reads them: it trusts every line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS = "database_tuning_record.json"
_WORKLOADS = "database_workload.json"


def fault_of(directory: Path) -> str | None:
    """What is wrong with the files of a database, with file and line, or None.

    Files that do not exist are empty.
    """
    workloads = _lines(directory / _WORKLOADS)
    for number, line in enumerate(workloads, 1):
        if not _is_workload(_parsed(line)):
            return f"line {number} of {_WORKLOADS} is no workload, [hash, text]"
    for number, line in enumerate(_lines(directory / RECORDS), 1):
        if not _is_record(_parsed(line), len(workloads)):
            return (
                f"line {number} of {RECORDS} is no record, [workload, [trace, seconds, target, "
                f"arguments]] of one of {len(workloads)} workloads"
            )
    return None


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _is_workload(value: Any) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value)
    )


def _is_record(value: Any, workloads: int) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], list):
        return False
    workload, record = value
    if type(workload) is not int or not 0 <= workload < workloads or len(record) != 4:
        return False
    trace, seconds, target, arguments = record
    return (
        _is_trace(trace)
        and (seconds is None or (isinstance(seconds, list) and all(_is_number(s) for s in seconds)))
        and (target is None or isinstance(target, dict))
        and (arguments is None or _is_lists(arguments))
    )


def _is_trace(trace: Any) -> bool:
    """Instructions of a name, inputs, attributes and outputs; decisions of an index and a value."""
    if not isinstance(trace, list) or len(trace) != 2 or not all(_is_lists(part) for part in trace):
        return False
    steps, decisions = trace
    return all(
        len(step) == 4 and isinstance(step[0], str) and all(isinstance(p, list) for p in step[1:])
        for step in steps
    ) and all(len(d) == 2 and type(d[0]) is int and 0 <= d[0] < len(steps) for d in decisions)


def _is_lists(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, list) for part in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
