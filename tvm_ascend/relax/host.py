# SPDX-License-Identifier: Apache-2.0
"""Split Ascend functions into a kernel and the host function that checks arguments and calls it."""

from __future__ import annotations

from itertools import chain, count

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
    arguments; the kernel must not. A kernel whose name is taken gets a number behind it.
    """
    rest, kernels = {}, {}
    taken = {_name(var, func) for var, func in mod.functions.items()}
    taken |= {str(var.name_hint) for var in mod.functions}
    for var, func in mod.functions.items():
        target = func.attrs.get("target", None) if func.attrs else None
        if not isinstance(func, tirx.PrimFunc) or not is_ascend(target):
            rest[var] = func
            continue
        name = _name(var, func)
        kernel = _free(name + KERNEL_SUFFIX, taken)
        rest[var] = _host(func, name, kernel)
        kernels[tvm.ir.GlobalVar(kernel)] = _kernel(func, name, target)
    return tvm.IRModule(rest, attrs=mod.attrs), tvm.IRModule(kernels)


def _name(var: tvm.ir.GlobalVar, func: tvm.ir.BaseFunc) -> str:
    return str((func.attrs or {}).get("global_symbol", var.name_hint))


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}_{number}" for number in count(1))
    found = next(each for each in chain([name], numbered) if each not in taken)
    taken.add(found)
    return found


def _host(func: tirx.PrimFunc, name: str, kernel: str) -> tirx.PrimFunc:
    arguments = [p.data if tirx.is_buffer_var(p) else p for p in func.params]
    call = tirx.call_packed(kernel, *arguments)
    body = tirx.Evaluate(call, span=func.span)
    return func.with_body(body).with_attr("global_symbol", name)


def _kernel(func: tirx.PrimFunc, name: str, target: Target) -> tirx.PrimFunc:
    without_host = {k: v for k, v in target.export().items() if k != "host"}
    return func.with_attr({"global_symbol": name, "target": Target(without_host)})
