# SPDX-License-Identifier: Apache-2.0
"""Split Ascend functions into a kernel and the host function that checks arguments and calls it."""

from __future__ import annotations

import tvm
from tvm import tirx
from tvm.target import Target

from tvm_ascend.target import is_ascend

KERNEL_SUFFIX = "_kernel"


def split_kernels(mod: tvm.IRModule) -> tuple[tvm.IRModule, tvm.IRModule]:
    """The module with each Ascend function replaced by its host function, and the kernels.

    Before::

        def add(A: T.Buffer((16,)), B: T.Buffer((16,))):  # target ascend, host llvm
            ...

    After::

        def add(A: T.Buffer((16,)), B: T.Buffer((16,))):  # target ascend, host llvm
            T.call_packed("add_kernel", A.data, B.data)

        def add_kernel(A: T.Buffer((16,)), B: T.Buffer((16,))):  # target ascend
            ...

    The host function goes through TVM's own passes, which turn its signature into checks of the
    arguments; the kernel must not.
    """
    rest, kernels = {}, {}
    for var, func in mod.functions.items():
        target = func.attrs.get("target", None) if func.attrs else None
        if not isinstance(func, tirx.PrimFunc) or not is_ascend(target):
            rest[var] = func
            continue
        name = str(func.attrs.get("global_symbol", var.name_hint))
        rest[var] = _host(func, name)
        kernels[tvm.ir.GlobalVar(name + KERNEL_SUFFIX)] = _kernel(func, name, target)
    return tvm.IRModule(rest, attrs=mod.attrs), tvm.IRModule(kernels)


def _host(func: tirx.PrimFunc, name: str) -> tirx.PrimFunc:
    arguments = [p.data if tirx.is_buffer_var(p) else p for p in func.params]
    call = tirx.call_packed(name + KERNEL_SUFFIX, *arguments)
    body = tirx.Evaluate(call, span=func.span)
    return func.with_body(body).with_attr("global_symbol", name)


def _kernel(func: tirx.PrimFunc, name: str, target: Target) -> tirx.PrimFunc:
    without_host = {k: v for k, v in target.export().items() if k != "host"}
    return func.with_attr({"global_symbol": name, "target": Target(without_host)})
