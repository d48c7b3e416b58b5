# SPDX-License-Identifier: Apache-2.0
"""Loads the native library: the simulator, the device and the runtime module."""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache
from pathlib import Path

from tvm_ascend.errors import NativeLibraryError

LIBRARY = Path(__file__).parents[1] / "lib" / "libtvm_ascend.so"


@lru_cache(maxsize=1)
def load() -> None:
    """Load the library once; its global functions are then found by name.

    Symbols are global, because compiled control programs look the simulator's entry points up in
    the process. TVM's runtime library is promoted the same way: ours derives from its classes.
    """
    if not LIBRARY.exists():
        raise NativeLibraryError(LIBRARY, "it is not there")
    try:
        _promote_runtime()
        ctypes.CDLL(str(LIBRARY), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
    except OSError as error:
        raise NativeLibraryError(LIBRARY, str(error)) from error


def _promote_runtime() -> None:
    import tvm

    runtime = Path(tvm.__file__).parent / "lib" / "libtvm_runtime.so"
    ctypes.CDLL(str(runtime), mode=os.RTLD_GLOBAL | os.RTLD_NOW)
