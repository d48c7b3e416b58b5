# SPDX-License-Identifier: Apache-2.0
"""Round the rows of UB buffers up to whole 32-byte blocks; a tile of no axes gets one."""

from __future__ import annotations

import tvm
import tvm_ffi
from tvm import tirx
from tvm.ir import Range, TensorLoad, TensorRegion

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.instr import Space
from tvm_ascend.layout.scope import space_of
from tvm_ascend.transform.access import ZERO, constant, dtype_of, itemsize


def pad_ub_rows(body: tirx.Stmt, chip: ChipSpec) -> tirx.Stmt:
    """Return the statement with the last dimension of every UB buffer padded; indices stay.

    Dimensions of extent 1 at the end do not count: a column vector stays contiguous. A buffer
    without dimensions becomes the first element of one block, and is accessed there.
    """
    padded: dict[tvm.ir.Var, tvm.ir.Var] = {}

    def pad(node: tirx.AllocBuffer) -> tirx.AllocBuffer:
        old = node.buffer
        block = max(chip.block_bytes // itemsize(dtype_of(old)), 1)
        shape = list(old.ty.shape) or [1]
        axis = max((k for k, n in enumerate(shape) if constant(n) != 1), default=len(shape) - 1)
        last = constant(shape[axis])
        if space_of(old) is not Space.UB or last is None or (last % block == 0 and old.ty.shape):
            return node
        shape[axis] = -(-last // block) * block
        padded[old] = tirx.decl_buffer(shape, dtype_of(old), old.name, scope=old.scope())
        return tirx.AllocBuffer(padded[old], node.annotations, node.span)

    def grows(buffer: tvm.ir.Var) -> bool:
        return buffer in padded and not len(buffer.ty.shape)

    def store(node: tirx.BufferStore) -> tirx.BufferStore:
        if not grows(node.buffer):
            return node
        return tirx.BufferStore(padded[node.buffer], node.value, [ZERO], node.span)

    def load(node: TensorLoad) -> TensorLoad:
        return tirx.BufferLoad(padded[node.source], [ZERO]) if grows(node.source) else node

    def region(node: TensorRegion) -> TensorRegion:
        if not grows(node.source):
            return node
        return tirx.BufferRegion(padded[node.source], [Range.from_min_extent(ZERO, 1)])

    return tvm_ffi.structural_map(
        body,
        [
            (tirx.AllocBuffer, pad),
            (tirx.BufferStore, store),
            (TensorLoad, load),
            (TensorRegion, region),
            (tvm.ir.Var, lambda v: padded.get(v, v)),
        ],
        order="pre",  # an allocation comes before its uses, so `padded` is filled in time
    )
