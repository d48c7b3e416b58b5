# SPDX-License-Identifier: Apache-2.0
"""Wrap TVM's default pipelines so that Ascend functions take ours and all others pass through.

TVM has no hook by target: ``tvm.compile`` and ``relax.build`` look "default" up in two tables, and
these are what is wrapped. The same pipelines are registered under the name "ascend".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvm
from tvm.relax import pipeline as relax_pipelines
from tvm.target import Target
from tvm.tirx import compilation_pipeline as tir_pipelines

from tvm_ascend.target import is_ascend

PipelineFactory = Callable[..., Any]


def install() -> None:
    """Register the pipelines and the code generator; runs once per process, at `import tvm`."""
    for name in ("s_tir", "tirx"):
        wrapped = tir_pipeline(tir_pipelines.PIPELINE_MAP[name])
        tir_pipelines.register_tir_pipeline(name, wrapped)
    tir_pipelines.register_tir_pipeline("ascend", tir_pipelines.PIPELINE_MAP["s_tir"])
    stock = relax_pipelines.PIPELINE_MAP["default"]
    relax_pipelines.PIPELINE_MAP["default"] = relax_pipeline(stock)
    relax_pipelines.PIPELINE_MAP["ascend"] = relax_pipelines.PIPELINE_MAP["default"]
    tvm.register_global_func("target.build.ext_dev", _build_device_module)


def _build_device_module(mod: tvm.IRModule, target: Target) -> Any:
    from tvm_ascend.relax.device import build

    return build(mod, target)


def tir_pipeline(stock: PipelineFactory) -> PipelineFactory:
    """A factory like ``stock`` that keeps Ascend kernels away from the stock passes."""

    def factory(**options: Any) -> tuple[Any, Any, Any]:
        pipeline, finalize_host, finalize_device = stock(**options)

        @tvm.transform.module_pass(opt_level=0, name="ascend.BuildTIR")
        def with_kernels(mod: tvm.IRModule, _ctx: Any) -> tvm.IRModule:
            if not any(_is_kernel(func) for func in mod.functions.values()):
                return pipeline(mod)
            from tvm_ascend.relax.host import split_kernels

            rest, kernels = split_kernels(mod)
            result = pipeline(rest)
            result.update(kernels)
            return result

        return with_kernels, finalize_host, lambda: _unless_kernels(finalize_device())

    return factory


def _is_kernel(func: Any) -> bool:
    is_tir = isinstance(func, tvm.tirx.PrimFunc)
    return is_tir and is_ascend(func.attrs.get("target", None) if func.attrs else None)


def _unless_kernels(finalize: Any) -> Any:
    @tvm.transform.module_pass(opt_level=0, name="ascend.FinalizeDevice")
    def finalize_others(mod: tvm.IRModule, _ctx: Any) -> tvm.IRModule:
        ours = any(_is_kernel(func) for func in mod.functions.values())
        return mod if ours else finalize(mod)

    return finalize_others


def relax_pipeline(stock: PipelineFactory) -> PipelineFactory:
    """A factory like ``stock`` that prepares the module first when the current target is Ascend."""

    def factory(**options: Any) -> Any:
        pipeline = stock(**options)

        @tvm.transform.module_pass(opt_level=0, name="ascend.BuildRelax")
        def with_preparation(mod: tvm.IRModule, _ctx: Any) -> tvm.IRModule:
            if is_ascend(Target.current(allow_none=True)):
                from tvm_ascend.relax.pipeline import prepare

                mod = prepare()(mod)
            return pipeline(mod)

        return with_preparation

    return factory
