# SPDX-License-Identifier: Apache-2.0
"""Every chip has a tag that resolves after `import tvm` alone, and leads back to its ChipSpec."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tvm import tirx
from tvm.script import tirx as T
from tvm.target import Target

from tvm_ascend.errors import NotAnAscendTarget, UnknownChip, UnknownTarget
from tvm_ascend.hw import CHECKED_CHIPS, CHIPS, DEFAULT_CHIP
from tvm_ascend.target import ALL_CHIPS, MODEL_OF_TAG, as_target, chip_of, is_ascend


@T.prim_func
def nothing(A: T.Buffer((16,), "float32")):
    A[0] = T.float32(0)


def test_import_tvm_alone_resolves_every_tag():
    tags = ["ascend", *(f"huawei/ascend-{model}" for model in (*CHIPS, *CHECKED_CHIPS))]
    code = f"""
import sys
from tvm.target import Target
print([str(Target(tag).attrs["model"]) for tag in {tags!r}])
print([name for name in sys.modules if name in ("tvm_ascend.build", "tvm_ascend.runtime.native")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    models, loaded = done.stdout.splitlines()
    assert models == str([DEFAULT_CHIP, *CHIPS, *CHECKED_CHIPS])
    assert loaded == "[]"


@pytest.mark.parametrize("tag", MODEL_OF_TAG)
def test_tag_names_its_chip(tag):
    target = as_target(tag)
    assert is_ascend(target)
    chip = (CHIPS | CHECKED_CHIPS)[MODEL_OF_TAG[tag]]
    assert chip_of(target) is chip_of(target.with_host("llvm")) is chip


def test_chip_of_a_function():
    bound = nothing.with_attr("target", Target("huawei/ascend-910b4"))
    assert chip_of(bound) is CHIPS["910b4"]


def test_unknown_tag_lists_the_known_ones():
    with pytest.raises(UnknownTarget, match=r"'huawei/ascend-999' does not exist.*910b4-1"):
        as_target("huawei/ascend-999")


def test_unknown_model_lists_the_known_ones():
    config = {"kind": "ext_dev", "keys": ["ascend"], "model": "999"}
    with pytest.raises(UnknownChip, match="'999' is not in the chip table; known models are 910b1"):
        as_target(config)


def test_other_target_is_refused():
    with pytest.raises(NotAnAscendTarget, match="'llvm' is not an Ascend target"):
        as_target("llvm")
    with pytest.raises(NotAnAscendTarget, match="carries no target"):
        chip_of(tirx.PrimFunc([], tirx.Evaluate(0)))


def test_every_model_that_is_taken_is_known():
    with pytest.raises(UnknownChip) as caught:
        as_target({"kind": "ext_dev", "keys": ["ascend", "npu"], "device": "ascend", "model": "9"})
    for model in ALL_CHIPS:
        assert f" {model}," in str(caught.value) or f" {model}." in str(caught.value)
