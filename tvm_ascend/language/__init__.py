# SPDX-License-Identifier: Apache-2.0
"""The tile language, ``from tvm_ascend import language as T``.

Everything in TVMScript's own ``T`` works here too; the names below are ours and win.
"""

from __future__ import annotations

from typing import Any

from tvm.script import tirx as _tvm_script

from tvm_ascend.language.entry import macro, prim_func
from tvm_ascend.language.kernel import (
    Kernel,
    Scope,
    Tensor,
    alloc_fragment,
    alloc_L0A,
    alloc_L0B,
    alloc_L0C,
    alloc_L1,
    alloc_shared,
    alloc_ub,
    symbolic,
)
from tvm_ascend.language.loops import (
    Parallel,
    Pipelined,
    grid,
    launch_thread,
    parallel,
    serial,
    unroll,
    vectorized,
)
from tvm_ascend.language.ops import ascend
from tvm_ascend.language.sync import (
    barrier_all,
    pipe_barrier,
    set_cross_flag,
    set_flag,
    sync_all,
    wait_cross_flag,
    wait_flag,
)
from tvm_ascend.language.tile import (
    atomic_add,
    clear,
    copy,
    fill,
    gemm,
    reduce_max,
    reduce_min,
    reduce_sum,
)

__all__ = [
    "Kernel",
    "Parallel",
    "Pipelined",
    "Scope",
    "Tensor",
    "alloc_L0A",
    "alloc_L0B",
    "alloc_L0C",
    "alloc_L1",
    "alloc_fragment",
    "alloc_shared",
    "alloc_ub",
    "ascend",
    "atomic_add",
    "barrier_all",
    "clear",
    "copy",
    "fill",
    "gemm",
    "grid",
    "launch_thread",
    "macro",
    "parallel",
    "pipe_barrier",
    "prim_func",
    "reduce_max",
    "reduce_min",
    "reduce_sum",
    "serial",
    "set_cross_flag",
    "set_flag",
    "symbolic",
    "sync_all",
    "unroll",
    "vectorized",
    "wait_cross_flag",
    "wait_flag",
]


def __getattr__(name: str) -> Any:
    return getattr(_tvm_script, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tvm_script)})
