# SPDX-License-Identifier: Apache-2.0
"""What one operator of the library is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

import ml_dtypes
import numpy as np
from tvm import tirx

from tvm_ascend.hw.chip import ChipSpec

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Signature:
    """Shapes and dtypes of the inputs and outputs of one call."""

    inputs: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    outputs: tuple[Shape, ...]
    out_dtypes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Op:
    """One operator: its kernels, and what they compute in numpy.

    ``make`` returns the kernel for a signature with the default tiling of a chip, or None for a
    signature that the operator does not have. A kernel's parameters are the inputs, then the
    outputs, then ``workspaces`` tensors whose values do not matter; they may merge neighbouring
    dimensions, so reshape an argument to its parameter's shape, which copies nothing.
    ``reference`` returns the outputs for inputs and a signature.
    """

    name: str
    make: Callable[[Signature, ChipSpec], tirx.PrimFunc | None]
    reference: Callable[[Sequence[np.ndarray], Signature], tuple[np.ndarray, ...]]
    workspaces: int = 0

    def out_idx(self, signature: Signature) -> tuple[int, ...]:
        """Positions of the outputs among the kernel's parameters."""
        first = len(signature.inputs)
        return tuple(range(first, first + len(signature.outputs)))


def numpy_dtype(name: str) -> np.dtype:
    """The numpy dtype of a TIR dtype."""
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def rows_of(shape: Shape) -> tuple[int, int]:
    """A shape as rows of its last dimension."""
    return prod(shape[:-1]), shape[-1] if shape else 1
