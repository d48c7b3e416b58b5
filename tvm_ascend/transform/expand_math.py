# SPDX-License-Identifier: Apache-2.0
"""Write functions that no instruction computes in terms of those that one does."""

from __future__ import annotations

from collections.abc import Callable

import tvm
import tvm_ffi
from tvm import tirx
from tvm.tirx.transform.function_pass import prim_func_pass

# erf(x) = x P(x^2) / Q(x^2) for |x| <= 3.92, beyond which float32 rounds it to 1; coefficients from
# the highest power down, error below 3e-7 [measured: tests/transform/test_expand_math.py].
_ERF_RANGE = 3.92
_ERF_P = (0.053443748819, 7.5517016694, 101.62808918, 1393.8061484, 5063.7915060, 29639.384698)
_ERF_Q = (1.0, 31.212858877, 398.56963806, 3023.1248150, 13243.365831, 26267.224157)


def _polynomial(x, coefficients):
    value = tirx.const(coefficients[0], "float32")
    for coefficient in coefficients[1:]:
        value = value * x + tirx.const(coefficient, "float32")
    return value


def _erf(x):
    limit = tirx.const(_ERF_RANGE, "float32")
    x = tirx.max(tirx.min(x, limit), -limit)
    square = x * x
    return x * _polynomial(square, _ERF_P) / _polynomial(square, _ERF_Q)


def _one():
    return tirx.const(1.0, "float32")


EXPANSIONS: dict[str, Callable] = {
    "tirx.erf": _erf,
    "tirx.rsqrt": lambda x: _one() / tirx.sqrt(x),
    "tirx.sigmoid": lambda x: _one() / (_one() + tirx.exp(x * tirx.const(-1.0, "float32"))),
    "tirx.tanh": lambda x: (
        _one() - tirx.const(2.0, "float32") / (tirx.exp(x * tirx.const(2.0, "float32")) + _one())
    ),
}


@prim_func_pass(opt_level=0, name="ascend.ExpandMath")
class ExpandMath:
    """Expand ``rsqrt``, ``sigmoid``, ``tanh`` and ``erf``, computed in float32.

    Before::

        b[i] = T.rsqrt(a[i])

    After::

        b[i] = T.float32(1) / T.sqrt(a[i])

    Runs before SelectInstructions.
    """

    def transform_function(
        self, func: tirx.PrimFunc, _mod: tvm.IRModule, _ctx: object
    ) -> tirx.PrimFunc:
        body = tvm_ffi.structural_map(func.body, [(tvm.ir.Call, expand)])
        return func.with_body(body, func.span)


def expand(call: tvm.ir.Call):
    """The expansion of a call, or the call itself."""
    name = call.op.name if isinstance(call.op, tvm.ir.Op) else ""
    if name not in EXPANSIONS:
        return call
    dtype = str(call.ty.dtype)
    if dtype == "float32":
        return EXPANSIONS[name](call.args[0])
    return tirx.Cast(dtype, EXPANSIONS[name](tirx.Cast("float32", call.args[0])))
