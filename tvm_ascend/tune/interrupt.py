# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C during a search: end it at a safe point and keep what was found."""

from __future__ import annotations

import signal
import threading
from types import FrameType


class Interrupt:
    """While active, the first Ctrl-C only sets a flag; ``check`` ends the search when it is set.

    A KeyboardInterrupt that passes through TVM's callbacks would arrive as a RuntimeError of some
    Python function inside. Outside the main thread there is no Ctrl-C and nothing to do.
    """

    def __init__(self) -> None:
        self.requested = False
        self._handled = threading.current_thread() is threading.main_thread()

    def check(self) -> None:
        """Raise when Ctrl-C was pressed; TVM's search loop hands the error on."""
        if self.requested:
            raise InterruptedError("Ctrl-C")

    def __enter__(self) -> Interrupt:
        if self._handled:
            self._before = signal.signal(signal.SIGINT, self._request)
        return self

    def __exit__(self, kind: type | None, *_: object) -> bool:
        if self._handled:
            signal.signal(signal.SIGINT, self._before)
        return self.requested and kind is not None and issubclass(kind, Exception)

    def _request(self, _signal: int, _frame: FrameType | None) -> None:
        self.requested = True
