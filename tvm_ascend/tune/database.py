# SPDX-License-Identifier: Apache-2.0
"""Tuned results on disk: MetaSchedule's JSON database, one per chip and versions."""

from __future__ import annotations

from pathlib import Path

import tvm
from tvm import tirx
from tvm.s_tir.meta_schedule.database import Database, JSONDatabase
from tvm.target import Target

import tvm_ascend
from tvm_ascend import cache
from tvm_ascend.build import one_function
from tvm_ascend.errors import DamagedDatabase, NoTuningRecord, WorkDirNotWritable
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.options import require
from tvm_ascend.target import as_target, chip_of
from tvm_ascend.tune.records import RECORDS, fault_of
from tvm_ascend.tune.space import Space


def key(chip: ChipSpec) -> str:
    """The name of the directory whose results hold for a chip, this package, TVM and CANN."""
    package = f"{tvm_ascend.__version__}.{cache.package_fingerprint()[:12]}"
    cann = cache.versions()["cann"]
    return f"{chip.name}-tvm_ascend-{package}-tvm-{tvm.__version__}-cann-{cann}"


def workload(func: tirx.PrimFunc) -> tvm.IRModule:
    """The module under which a function is stored: its name and target do not matter."""
    func = func.with_attr("global_symbol", "main").with_attr("tirx.noalias", True)
    return tvm.IRModule({"main": func.without_attr("target")})


def open_database(work_dir: str | Path, chip: ChipSpec) -> JSONDatabase:
    """The database of a chip in ``work_dir``, created when it does not exist."""
    require("work_dir", work_dir, (str, Path), "the path of a directory")
    directory = Path(work_dir) / key(chip)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as reason:
        raise WorkDirNotWritable(work_dir, reason) from reason
    return _load(directory)


def best(
    database: str | Path | Database,
    func: tirx.PrimFunc | tvm.IRModule,
    target: str | Target = "ascend",
) -> dict[str, int]:
    """The best stored choices for a function, as ``Options(overrides=...)`` takes them.

    Parameters
    ----------
    database : a ``work_dir`` of ``tune``, or a MetaSchedule database.
    func : the function that was tuned, unscheduled.
    target : the chip it was tuned for.

    Raises
    ------
    NoTuningRecord : when the database holds nothing for this function, chip and versions.
    """
    chip = chip_of(as_target(target))
    func = one_function(func)
    name = str(func.attrs["global_symbol"])
    found = database if isinstance(database, Database) else None
    if found is None:
        require("database", database, (str, Path), "a path or a MetaSchedule database")
        directory = Path(database) / key(chip)
        if not (directory / RECORDS).is_file():
            raise NoTuningRecord(name, database, key(chip))
        found = _load(directory)
    record = found.query_tuning_record(workload(func), as_target(target), name)
    if record is None:
        raise NoTuningRecord(name, database, key(chip))
    space = Space(func, chip)
    return space.overrides(space.decisions(record.trace))


def _load(directory: Path) -> JSONDatabase:
    fault = fault_of(directory)
    if fault is not None:
        raise DamagedDatabase(directory, fault)
    try:
        return JSONDatabase(work_dir=str(directory))
    except Exception as reason:
        raise DamagedDatabase(directory, str(reason).strip().splitlines()[-1]) from reason
