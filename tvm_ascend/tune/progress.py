# SPDX-License-Identifier: Apache-2.0
"""One live line about a running search."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

_BAR = 20


class Progress:
    """Prints one line that is rewritten on a terminal, and once a batch elsewhere.

    Parameters
    ----------
    kernel, trials : what is tuned and how many measurements there will be.
    show : None prints to stderr, False prints nothing, a function gets every line.
    """

    def __init__(
        self, kernel: str, trials: int, show: Callable[[str], None] | bool | None = None
    ) -> None:
        self.kernel, self.trials = kernel, trials
        self.compiled = 0
        self.failed = 0
        self.pruned = 0
        self.default: int | None = None
        self.best: int | None = None
        self._show = show
        self._start = time.perf_counter()
        self._live = show in (None, True) and sys.stderr.isatty()

    def started(self) -> None:
        """The search begins; what was compiled before it does not count."""
        self.compiled = 0
        self._print(self.line())

    def built(self) -> None:
        """One more candidate was compiled."""
        self.compiled += 1
        if self._live:
            self._print(self.line())

    def measured(self, cycles: list[int | None], pruned: int) -> None:
        """A batch was measured; None is a failure."""
        self.failed += cycles.count(None)
        self.pruned = pruned
        right = [c for c in [self.best, *cycles] if c is not None]
        self.best = min(right, default=None)
        self._print(self.line())

    def line(self) -> str:
        """The state as one line."""
        done = min(_BAR, _BAR * self.compiled // self.trials)
        bar = "#" * done + "." * (_BAR - done)
        parts = [f"tuning {self.kernel} [{bar}] {self.compiled}/{self.trials}"]
        if self.best is not None:
            parts.append(f"best {self.best:,} cycles")
        if self.default is not None:
            parts.append(f"default {self.default:,}")
        parts += [f"{self.failed} failed", f"{self.pruned} pruned"]
        return ", ".join(parts) + f", {time.perf_counter() - self._start:.1f} s"

    def say(self, text: str) -> None:
        """Another line, about what happens now."""
        self._print(f"tuning {self.kernel}: {text}")

    def close(self) -> None:
        """Leave the last line on the terminal."""
        if self._live:
            print(file=sys.stderr, flush=True)

    def _print(self, line: str) -> None:
        if callable(self._show):
            self._show(line)
        elif self._live:
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
        elif self._show is not False:
            print(line, file=sys.stderr, flush=True)
