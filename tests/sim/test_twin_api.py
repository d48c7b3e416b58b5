# SPDX-License-Identifier: Apache-2.0
"""The C interface of twins, driven by small libraries that this test compiles."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tvm_ffi
from sim.machine import Gm, Machine, ub

SIM = Path(__file__).parents[2] / "src" / "sim"
COMPILER = shutil.which("g++") or shutil.which("c++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

PRELUDE = """
#include <cstring>
#include "twin_api.h"
static const TwinApi* api;
static int64_t bits(double x) { int64_t word; std::memcpy(&word, &x, 8); return word; }
extern "C" const char* tvm_ascend_twin_bind(const TwinApi* given) {
  api = given;
  return given->version == TVM_ASCEND_TWIN_VERSION ? nullptr : "other version";
}
extern "C" void tvm_ascend_twin_run(const int64_t* args) {
"""

ADD_ONE = """
  static const int32_t load = api->find("data_copy_pad_in", "float32");
  static const int32_t adds = api->find("adds", "float32");
  static const int32_t set = api->find("set_flag", "");
  static const int32_t wait = api->find("wait_flag", "");
  static const int32_t get = api->find("get_value", "float32");
  static const int32_t put = api->find("set_value", "float32");
  const uint8_t in[] = {kTwinUB, kTwinGM}, vec[] = {kTwinUB, kTwinUB};
  const int64_t copy[] = {0, args[0] + api->block_idx() * 256, 1, 256, 0, 0, 0, 0, 0, bits(0)};
  api->issue(load, in, nullptr, copy, 10, "kernel.cce:3");
  const int64_t flag[] = {api->enum_value(set, 0, "MTE2_V"), 0};
  SYNC
  const int64_t add[] = {512, 0, bits(1.0), 64};
  api->issue(adds, vec, nullptr, add, 4, "kernel.cce:5");
  const int64_t back[] = {api->enum_value(set, 0, "V_S"), 0};
  api->issue(set, nullptr, nullptr, back, 2, nullptr);
  api->issue(wait, nullptr, nullptr, back, 2, nullptr);
  for (int i = 0; i < 64; ++i) {
    const double x = api->get_float(get, kTwinUB, {}, 512 + 4 * i, "kernel.cce:8");
    api->set_float(put, kTwinGM, {}, args[0] + api->block_idx() * 256 + 4 * i, x, "kernel.cce:9");
  }
  CLEAN
"""
CLEAN = """
  static const int32_t clean = api->find("data_cache_clean", "float32");
  const uint8_t gm[] = {kTwinGM};
  const int64_t whole[] = {args[0], api->enum_value(clean, 0, "ENTIRE_DATA_CACHE")};
  api->issue(clean, gm, nullptr, whole, 2, nullptr);
"""
ADD_ONE = ADD_ONE.replace("CLEAN", CLEAN)
SYNC = """
  api->issue(set, nullptr, nullptr, flag, 2, nullptr);
  api->issue(wait, nullptr, nullptr, flag, 2, nullptr);
"""


def library(folder, body, prelude=PRELUDE):
    source, target = folder / "twin.cc", folder / "twin.so"
    source.write_text(prelude + body + "}\n")
    command = [COMPILER, "-shared", "-fPIC", "-O1", f"-I{SIM}", "-o", target, source]
    subprocess.run([str(part) for part in command], check=True)
    return str(target)


def run(path, machine, **options):
    prepare = tvm_ffi.get_global_func("tvm_ascend.sim.prepare_twin")
    args = [tvm_ffi.from_dlpack(array) for array in machine.arrays.values()]
    return json.loads(prepare(machine.json(), path)(args, json.dumps(options)))


def two_blocks():
    machine = Machine(grid=2)
    data = np.arange(128, dtype="float32")
    machine.tensor("data", data)
    return machine, data


def listed(grid=2):
    """The same instructions without a twin."""
    machine, data = two_blocks()
    for block in range(grid):
        gm = Gm("data", 64 * block)
        machine.load(ub(0), gm, 64, "float32")
        machine.sync("MTE2_V")
        machine.issue("adds", "float32", ub(512), ub(0), 1.0, 64)
        machine.sync("V_S")
        for i in range(64):
            machine.issue("get_value", "float32", ub(512 + 4 * i))
            value = float(64 * block + i + 1)
            machine.issue("set_value", "float32", Gm("data", 64 * block + i), value)
        machine.issue("data_cache_clean", "float32", Gm("data"), "ENTIRE_DATA_CACHE")
        if block == 0:
            machine.block()
    return machine, data


def test_a_twin_gives_the_bits_and_cycles_of_the_same_list(tmp_path):
    machine, data = two_blocks()
    report = run(library(tmp_path, ADD_ONE.replace("SYNC", SYNC)), machine)
    other, wanted = listed()
    want = other.clean()
    want.pop("values")
    assert np.array_equal(data, np.arange(128) + 1)
    assert np.array_equal(data, wanted)
    assert report == want


def test_a_hazard_names_the_places_in_the_source(tmp_path):
    machine, data = two_blocks()
    report = run(library(tmp_path, ADD_ONE.replace("SYNC", "")), machine)
    (hazard,) = report["hazards"]
    assert hazard["kind"] == "race"
    assert (hazard["first"]["where"], hazard["second"]["where"]) == ("kernel.cce:3", "kernel.cce:5")
    assert "`AscendC::Adds` (kernel.cce:5)" in hazard["message"]
    assert np.array_equal(data, np.arange(128))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("api->issue(-1, nullptr, nullptr, nullptr, 0, nullptr);", "the table does not have"),
        (
            'api->issue(api->find("set_flag", ""), nullptr, nullptr, nullptr, 0, nullptr);',
            "with 0 arguments, the row has 2",
        ),
        (
            """const uint8_t gm = kTwinGM; const int64_t words[] = {0, 0, 8};
            api->issue(api->find("duplicate", "float32"), &gm, nullptr, words, 3, nullptr);""",
            "operand dst of duplicate in a wrong memory",
        ),
    ],
)
def test_a_twin_that_misuses_the_interface_is_refused(tmp_path, body, text):
    machine, _ = two_blocks()
    with pytest.raises(ValueError, match=text):
        run(library(tmp_path, body), machine)


def test_look_ups_of_unknown_names_fail(tmp_path):
    machine, data = two_blocks()
    body = """
      const int32_t set = api->find("set_flag", "");
      const bool good = api->find("warp", "") == -1 && api->find("adds", "int8") == -1 &&
          api->enum_value(set, 0, "NONE") == -1 && api->enum_value(set, 1, "NONE") == -1 &&
          api->block_num() == 2;
      const int32_t put = api->find("set_value", "float32");
      api->set_float(put, kTwinGM, {}, args[0] + 4 * api->block_idx(), good ? -5 : -6, nullptr);
    """
    run(library(tmp_path, body + CLEAN), machine)
    assert data[:2].tolist() == [-5, -5]


@pytest.mark.parametrize(
    ("prelude", "text"),
    [
        ("void something_else() {", "exports no tvm_ascend_twin_bind"),
        (PRELUDE.replace("== TVM", "!= TVM"), "cannot run: other version"),
    ],
)
def test_a_library_that_is_no_twin(tmp_path, prelude, text):
    machine, _ = two_blocks()
    with pytest.raises(ValueError, match=text):
        run(library(tmp_path, "", prelude), machine)


def test_a_missing_library(tmp_path):
    machine, _ = two_blocks()
    with pytest.raises(ValueError, match="does not load"):
        run(str(tmp_path / "absent.so"), machine)
