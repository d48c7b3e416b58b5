# SPDX-License-Identifier: Apache-2.0
"""Errors of schedules and of tuning."""

from __future__ import annotations

from tvm_ascend.errors.base import AscendError, place


class BadTile(AscendError):
    """An overridden tile size that is misaligned or out of range."""

    def __init__(self, name: str, value: int, step: int, most: int | None) -> None:
        limit = f" up to {most}" if most is not None else ""
        near = max(step, value // step * step)
        near = near if most is None else min(near, max(step, most // step * step))
        super().__init__(
            f"{place()}override `{name}` = {value} cannot be used: it must be a positive multiple "
            f"of {step}{limit}. Try {near}."
        )


class TileDoesNotDivide(AscendError):
    """An overridden length of the pieces of a row that leaves a rest, or does not fit."""

    def __init__(self, name: str, value: int, whole: int, allowed: list[int]) -> None:
        lengths = ", ".join(str(a) for a in allowed) or "none"
        super().__init__(
            f"{place()}override `{name}` = {value} cannot be used: pieces of one length make up "
            f"the row of {whole} elements and fit in UB. Allowed are {lengths}."
        )


class ContradictingOverrides(AscendError):
    """Overrides of which one follows from the others, and differs."""

    def __init__(self, given: dict[str, int]) -> None:
        values = ", ".join(f"{name}={value}" for name, value in given.items())
        super().__init__(
            f"{place()}the overrides {values} contradict each other: tile_k = k_steps * tile_k0, "
            "with tile_k0 a multiple of the fractal's depth. Drop one of them; it follows from the "
            "others."
        )


class TileDoesNotFit(AscendError):
    """No tile agrees with the overrides and fits on the chip."""

    def __init__(self, overrides: dict[str, int], dropped: dict[str, int]) -> None:
        reasons = "; ".join(f"{count} tiles: {reason}" for reason, count in dropped.items())
        super().__init__(
            f"{place()}no tile agrees with the overrides {overrides} and fits "
            f"({reasons or 'nothing was left to try'}). Make an overridden size smaller, or drop "
            "one and let the model choose."
        )


class NothingToTune(AscendError):
    """A function without decisions that a search could take."""

    def __init__(self, kernel: str, why: str) -> None:
        super().__init__(
            f"`{kernel}` has nothing to tune: {why}. A tunable function is one s_tir block that "
            "the Cube can compute, C[.., m, n] += A[.., m, k] * B[.., k, n]. Compile it as it is, "
            "or tune its matrix multiply alone."
        )


class TrialCount(AscendError):
    """A search without trials."""

    def __init__(self, trials: object) -> None:
        super().__init__(
            f"trials={trials!r} gives the search nothing to measure; allowed are integers from 1 "
            "on. 64 is a good start."
        )


class MissingPackage(AscendError):
    """A Python package that tuning needs and that is not installed."""

    def __init__(self, package: str, install: str) -> None:
        super().__init__(
            f"tuning needs the Python package `{package}`, which cannot be imported here. Install "
            f"it: pip install {install}"
        )


class WorkDirNotWritable(AscendError):
    """A directory for tuning records that cannot be written."""

    def __init__(self, path: object, reason: object) -> None:
        super().__init__(
            f"work_dir {str(path)!r} cannot be written ({reason}); tuning keeps its database "
            "there. Pass a directory that you may create files in, work_dir=..."
        )


class EveryCandidateFailed(AscendError):
    """A search in which no candidate ran and gave the right answer."""

    def __init__(self, kernel: str, tried: int, reasons: dict[str, int]) -> None:
        lines = [f"  {count} x {reason}" for reason, count in reasons.items()]
        head = (
            f"none of the {tried} candidates for `{kernel}` compiles, runs and is right, for these "
            "reasons:"
        )
        tail = (
            "Compile the function without tuning first, or fix fewer decisions in "
            "options.overrides."
        )
        super().__init__("\n".join([head, *lines, tail]))


class NoTuningRecord(AscendError):
    """A database without a result for a function."""

    def __init__(self, kernel: str, database: object, key: str) -> None:
        super().__init__(
            f"{str(database)!r} holds no tuned result for `{kernel}` with these shapes and dtypes "
            f"under {key}; results hold for one chip and one version of this package and TVM only. "
            "Tune it: tvm_ascend.tune.tune(func)."
        )


class NotAMatmulTile(AscendError):
    """A block marked as a Cube tile that is no matrix multiply of whole tiles."""

    def __init__(self, block: str, span: object) -> None:
        super().__init__(
            f"{place(span)}block `{block}` is marked ascend.op = 'gemm' but is not `c[i, j] += "
            "a[i, k] * b[k, j]` over three loops without a guard. Split with "
            "disable_predication=True, or drop the annotation."
        )


class DamagedDatabase(AscendError):
    """A tuning database that cannot be read."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"the tuning database in {str(path)!r} cannot be read ({reason}); allowed are the two "
            "JSON files that tune writes, one record a line. Remove the damaged lines or the "
            "directory; tuning makes it anew."
        )
