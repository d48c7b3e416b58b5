# SPDX-License-Identifier: Apache-2.0
"""Compile a kernel and run it on the strict simulator, for tests of vector selection."""

from __future__ import annotations

import numpy as np
import tvm

import tvm_ascend
from tvm_ascend.target import as_target
from tvm_ascend.transform.infer_scope import InferScope
from tvm_ascend.transform.map_cores import MapCores
from tvm_ascend.transform.notes import notes_of
from tvm_ascend.transform.select_instructions import SelectInstructions


def run(kernel, *args):
    """Run on arrays, in place, and return the notes of the compiler."""
    compiled = tvm_ascend.compile(kernel, options=tvm_ascend.Options(cache=False))
    compiled(*args)
    return notes_of(compiled.stages["vectorized"])


def select(kernel, chip="ascend"):
    """Lower a kernel to the end of vector selection."""
    mod = tvm.IRModule({"main": kernel.with_attr("target", as_target(chip))})
    for step in (MapCores, InferScope, SelectInstructions):
        mod = step()(mod)
    return mod["main"]


def integers(rng, *shape, dtype="float32", low=-8, high=9):
    """Small integer values, which float arithmetic keeps exact."""
    return rng.integers(low, high, shape).astype(dtype)


def assert_equal(actual, expected):
    """Bit-exact for integer values."""
    np.testing.assert_array_equal(np.asarray(actual, "float64"), np.asarray(expected, "float64"))
