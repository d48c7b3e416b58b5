# SPDX-License-Identifier: Apache-2.0
"""Options are checked when they are made, not at the first launch."""

import pickle
import re

import numpy as np
import pytest

from tvm_ascend import Options, SimOptions, compile
from tvm_ascend.demo.kernels import make_layer_norm, make_matmul
from tvm_ascend.errors import BadTile, OptionError, PathNotWritable, UnknownExecutorError


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (Options, {"executor": "gpu"}),
        (Options, {"sim": None}),
        (Options, {"sim": {}}),
        (Options, {"overrides": None}),
        (Options, {"overrides": ["tile_m"]}),
        (Options, {"overrides": {"tile_m": 2.5}}),
        (Options, {"overrides": {"tile_m": True}}),
        (Options, {"cann": 8.3}),
        (Options, {"cann": "abc"}),
        (Options, {"cann": "7.0"}),
        (Options, {"cann": "٨.٣"}),
        (Options, {"cann": "99999999999999999999.0"}),
        (Options, {"overrides": {"tile_m": np.bool_(True)}}),
        (Options, {"overrides": {3: 3}}),
        (SimOptions, {"block": np.int64(-1)}),
        (SimOptions, {"core": True}),
        (Options, {"cache": "yes"}),
        (SimOptions, {"strict": "maybe"}),
        (SimOptions, {"dma": "slow"}),
    ],
)
def test_wrong_values_are_refused_by_name(kind, wrong):
    with pytest.raises(OptionError, match=next(iter(wrong))):
        kind(**wrong)


def test_later_cann_versions_are_accepted():
    assert Options(cann="10.0").cann == "10.0"


def test_compile_refuses_other_options_and_the_missing_executor():
    with pytest.raises(OptionError, match="Options"):
        compile(make_matmul(16, 16, 16), options={})
    with pytest.raises(UnknownExecutorError, match="simulator"):
        compile(make_matmul(16, 16, 16), options=Options(executor="npu"))


def test_options_keep_their_own_overrides():
    given = {"num_stages": 1}
    options = Options(overrides=given)
    given["num_stages"] = "many"
    assert options.overrides == {"num_stages": 1}
    with pytest.raises(TypeError):
        options.overrides["num_stages"] = "many"


def test_equal_options_are_one_key_and_survive_pickling():
    options = Options(overrides={"tile_m": 32, "tile_n": 16})
    same = Options(overrides={"tile_n": 16, "tile_m": 32})
    assert {options: "found"}[same] == "found"
    assert options != Options()
    assert pickle.loads(pickle.dumps(options)) == options


@pytest.mark.parametrize("stages", [0, -1, 17, 2**70])
def test_versions_that_no_tile_can_have_are_refused(stages):
    with pytest.raises(BadTile, match="up to 16"):
        compile(make_layer_norm(96, 64, 64), options=Options(overrides={"grid_stages": stages}))


@pytest.mark.parametrize("sim", [True, False, "x", {}, Options()])
@pytest.mark.parametrize("method", ["run", "profile"])
def test_a_call_refuses_other_simulator_options(method, sim):
    kernel = compile(make_matmul(16, 16, 16), out_idx=2)
    a = np.ones((16, 16), "float16")
    with pytest.raises(OptionError, match="option `sim`"):
        getattr(kernel, method)(a, a, sim=sim)


def test_a_timeline_that_cannot_be_written_names_the_path(tmp_path):
    kernel = compile(make_matmul(16, 16, 16), out_idx=2)
    a = np.ones((16, 16), "float16")
    with pytest.raises(PathNotWritable, match=re.escape(str(tmp_path))):
        kernel.profile(a, a).trace(tmp_path)


def test_integers_of_numpy_are_integers():
    options = Options(overrides={"num_stages": np.int64(2)})
    assert options == Options(overrides={"num_stages": 2})
    assert type(options.overrides["num_stages"]) is int
    assert type(SimOptions(block=np.int32(1)).block) is int
