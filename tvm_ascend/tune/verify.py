# SPDX-License-Identifier: Apache-2.0
"""The right answer of a function, computed by TVM on the host, and how a kernel compares."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import tvm
import tvm_ffi
from tvm import s_tir, tirx
from tvm.target import Target, codegen

from tvm_ascend.build import Kernel
from tvm_ascend.schedule.match import match_contraction, realizes

_WIDE_BYTES = 4


class Oracle:
    """Integer-valued inputs of a function and the outputs that TVM's CPU code gives for them.

    The inputs are small enough that every sum is exact in any order, so outputs must be
    equal bit by bit.

    Parameters
    ----------
    func : the function before scheduling; shapes are constants.
    seed : of the inputs.
    """

    def __init__(self, func: tirx.PrimFunc, seed: int = 0) -> None:
        self.func = func
        self.outputs = _written(func)
        rng = np.random.default_rng(seed)
        narrow = any(_itemsize(func.params[i]) < _WIDE_BYTES for i in self.outputs)
        self.inputs = [_integers(rng, param, narrow) for param in func.params]

    @cached_property
    def expected(self) -> list[np.ndarray]:
        """Every parameter after the call."""
        host = _quick(self.func.without_attr("target"))
        target = Target({"kind": "llvm", "mcpu": codegen.llvm_get_system_cpu()})
        module = tvm.compile(host.with_attr("global_symbol", "reference"), target=target)
        tensors = [tvm.runtime.tensor(array) for array in self.inputs]
        module["reference"](*tensors)
        return [tensor.numpy() for tensor in tensors]

    def disagreement(self, kernel: Kernel) -> str | None:
        """Run a kernel with every check on; what is wrong with its answer, or None."""
        given = [array.copy() for array in self.inputs]
        kernel(*given)
        for i in self.outputs:
            wrong = given[i] != self.expected[i]
            if wrong.any():
                at = tuple(int(x) for x in np.argwhere(wrong)[0])
                return (
                    f"{int(wrong.sum())} of {wrong.size} elements of `{self.func.params[i].name}` "
                    f"are wrong; at {at} it is {given[i][at]}, not {self.expected[i][at]}"
                )
        return None


def _quick(func: tirx.PrimFunc) -> tirx.PrimFunc:
    """The same function with the loops of its matrix multiplies in an order that CPUs like."""
    sch = s_tir.Schedule(func)
    for realize in realizes(func):
        found = match_contraction(realize)
        if found is not None:
            block = sch.get_sblock(realize.block.name_hint)
            loops = sch.get_loops(block)
            rows, cols, depth = (loops[axis] for axis in (found.m, found.n, found.k))
            sch.reorder(rows, depth, cols)
            sch.parallel(rows)
            sch.decompose_reduction(block, depth)
    return sch.mod["main"]


def _written(func: tirx.PrimFunc) -> list[int]:
    """Positions of the parameters that the function stores to."""
    stores: list[tirx.BufferStore] = []
    tvm_ffi.structural_walk(func.body, [(tirx.BufferStore, stores.append)])
    return [
        i for i, param in enumerate(func.params) if any(s.buffer.same_as(param) for s in stores)
    ]


def _integers(rng: np.random.Generator, param, narrow: bool) -> np.ndarray:
    """Small integers; sparse signs when sums are kept in a type exact only to a few hundred."""
    shape = tuple(int(extent) for extent in param.shape)
    low, high = (-1, 2) if narrow else (-4, 5)
    values = rng.integers(low, high, shape)
    if narrow:
        values *= rng.integers(0, 3, shape) == 0
    if str(param.dtype).startswith("uint"):
        values = np.abs(values)
    return values.astype(str(param.dtype))


def _itemsize(param) -> int:
    return tvm.DataType(param.dtype).itemsize
