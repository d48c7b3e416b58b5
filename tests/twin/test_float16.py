# SPDX-License-Identifier: Apache-2.0
"""The twin's 16-bit floats convert as IEEE 754 says, for every value."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest

from tvm_ascend.runtime.twin import find_compiler, twin_include_dirs

SOURCE = """\
#include "float16.h"
extern "C" {
void half_to_float(const uint16_t* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = twin::HalfValue(in[i]);
}
void float_to_half(const float* in, uint16_t* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = twin::HalfBits(in[i]);
}
void float_to_brain(const float* in, uint16_t* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = twin::BrainBits(in[i]);
}
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("float16")
    (folder / "t.cc").write_text(SOURCE)
    command = [*find_compiler(), "-std=c++17", "-O1", "-shared", "-fPIC"]
    command += [f"-I{path}" for path in twin_include_dirs()]
    subprocess.run([*command, "-o", folder / "t.so", folder / "t.cc"], check=True)
    return ctypes.CDLL(str(folder / "t.so"))


def run(function, values, dtype):
    out = np.zeros(len(values), dtype)
    function(values.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p), len(out))
    return out


def interesting_floats():
    """Random bits, every half, the ties between halves, and their neighbours."""
    rng = np.random.default_rng(0)
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    halves = halves[np.isfinite(halves)]
    ties = (halves[:-1] + halves[1:]) / 2
    near = [np.nextafter(ties, np.float32(side)) for side in (-np.inf, np.inf)]
    bits = rng.integers(0, 2**32, 100000, dtype=np.uint32).view(np.float32)
    edges = np.array([np.inf, -np.inf, 65519.0, 65520.0, 2.0**-25, 2.0**-24], np.float32)
    return np.concatenate([bits[~np.isnan(bits)], halves, ties, *near, edges])


def test_every_half_widens_exactly(library):
    bits = np.arange(2**16, dtype=np.uint16)
    wide = run(library.half_to_float, bits, np.float32)
    expected = bits.view(np.float16).astype(np.float32)
    assert wide.tobytes() == expected.tobytes()


def test_floats_round_to_the_nearest_half(library):
    values = interesting_floats()
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16).view(np.uint16)
    np.testing.assert_array_equal(run(library.float_to_half, values, np.uint16), expected)


def test_floats_round_to_the_nearest_brain_float(library):
    values = interesting_floats()
    bits = values.view(np.uint32).astype(np.uint64)
    expected = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    np.testing.assert_array_equal(run(library.float_to_brain, values, np.uint16), expected)


def test_nan_stays_nan(library):
    nan = np.array([0x7F800001, 0xFFC12345, 0x7FFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(run(library.float_to_half, nan, np.uint16).view(np.float16)).all()
    brain = run(library.float_to_brain, nan, np.uint16).astype(np.uint32) << 16
    assert np.isnan(brain.view(np.float32)).all()
