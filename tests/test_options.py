# SPDX-License-Identifier: Apache-2.0
"""Options are checked when they are made, not at the first launch."""

import pytest

from tvm_ascend import Options, SimOptions, compile
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.errors import OptionError, UnknownExecutorError


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
