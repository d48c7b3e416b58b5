# SPDX-License-Identifier: Apache-2.0
"""The twin's headers accept what Ascend C accepts and refuse wrong types."""

from __future__ import annotations

import subprocess

import pytest

from tvm_ascend.runtime.twin import find_compiler, twin_include_dirs

PROLOGUE = """\
#include "kernel_operator.h"
using namespace AscendC;
extern "C" __global__ __aicore__ void k(GM_ADDR a, int32_t n) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> ub;
  pipe.InitBuffer(ub, 4096);
  GlobalTensor<half> gm;
  gm.SetGlobalBuffer(reinterpret_cast<__gm__ half*>(a));
  LocalTensor<half> h = ub.GetWithOffset<half>(64, 0);
  LocalTensor<float> f = ub.GetWithOffset<float>(64, 128);
  LocalTensor<int32_t> i = ub.GetWithOffset<int32_t>(64, 512);
"""
ACCEPTED = {
    "count form": "Add(h, h, h, 64);",
    "mask form": "Add(f, f, f, 64, 1, BinaryRepeatParams(1, 1, 1, 8, 8, 8));",
    "explicit template": "Add<float, true>(f, f, f, 64, 1, BinaryRepeatParams());",
    "mask of the register": "Add<float, false>(f, f, f, MASK_PLACEHOLDER, 1,"
    " BinaryRepeatParams());",
    "mask of the register in a reduction": "WholeReduceSum<float, false>(f, f, 0, 1, 1, 1, 8);",
    "mask registers": "SetMaskCount(); SetVectorMask<half, MaskMode::COUNTER>(0, n); ResetMask();",
    "comparison into a register": "Compare(h, h, CMPMODE::GT, 64, BinaryRepeatParams());"
    " Select<half, SELMODE::VSEL_CMPMASK_SPR>(h, h, h, 1, BinaryRepeatParams());",
    "scalar of the element type": "Adds(h, h, static_cast<half>(1.0f), n);",
    "cast": "Cast(f, h, RoundMode::CAST_NONE, 64);",
    "load": "DataCopyPad(h, gm, DataCopyExtParams(1, 128, 0, 0, 0),"
    " DataCopyPadExtParams<half>(false, 0, 0, static_cast<half>(0.0f)));",
    "store": "DataCopyPad(gm, h, DataCopyExtParams(1, 128, 0, 0, 0));",
    "flags": "SetFlag<HardEvent::MTE2_V>(n);",
    "field names": "MmadParams p; p.m = 16; p.cmatrixInitVal = false; Nd2NzParams q; q.ndNum = 1;",
    "element access": "h.SetValue(0, static_cast<half>(f.GetValue(1)));",
}
REFUSED = {
    "two element types": "Add(h, h, f, 64);",
    "no such element type": "Div(i, i, i, 64);",
    "scalar of another type": "Adds(h, h, 1.0f, n);",
    "no cast between these": "Cast(i, gm, RoundMode::CAST_NONE, 64);",
    "global where local belongs": "Exp(gm, gm, 64);",
    "load into global": "DataCopyPad(gm, gm, DataCopyExtParams(1, 128, 0, 0, 0));",
    "parameters of another instruction": "Add(f, f, f, 64, 1, BrcbRepeatParams(1, 8));",
    "event of no 910B pipe pair": "SetFlag<HardEvent::FIX_FIX>(0);",
    "bits left to the register": "uint64_t m[2] = {0, 0};"
    " Add<float, false>(f, f, f, m, 1, BinaryRepeatParams());",
    "reduction of bits left to the register": "uint64_t m[2] = {0, 0};"
    " WholeReduceSum<float, false>(f, f, m, 1, 1, 1, 8);",
    "mask mode of no register": "SetVectorMask<half, 2>(0, 64);",
    "another bit of CTRL": "SetCtrlSpr<53, 53>(1);",
    "saturation of another kind": "SetSaturationFlag<SaturationMode::FLOAT>(true);",
    "mask of no element type": "SetVectorMask<bool>(0, 64);",
    "selection by an address": "Select<half, SELMODE::VSEL_TENSOR_TENSOR_MODE>(h, h, h, 1,"
    " BinaryRepeatParams());",
    "integers compared into a register": "Compare(i, i, CMPMODE::EQ, 64, BinaryRepeatParams());",
    "half without a cast": "h.SetValue(0, h.GetValue(0) + h.GetValue(1));",
    "element types of no Cube": "Mmad(i, h, h, MmadParams(16, 16, 16, 0, false, true));",
    "too few fields": "MmadParams(16, 16, 16, 0);",
}


def compiles(statement: str) -> subprocess.CompletedProcess:
    command = [*find_compiler(), "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    command += [f"-I{folder}" for folder in twin_include_dirs()]
    text = f"{PROLOGUE}  {statement}\n}}\n"
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_ascend_c_is_accepted():
    done = compiles("\n  ".join(f"{{ {s} }}" for s in ACCEPTED.values()))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("statement", REFUSED.values(), ids=list(REFUSED))
def test_wrong_types_are_refused(statement):
    assert compiles(statement).returncode != 0
