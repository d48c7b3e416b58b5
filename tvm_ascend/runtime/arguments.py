# SPDX-License-Identifier: Apache-2.0
"""Check and bind the arguments of a kernel call; allocate its outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import tvm
import tvm_ffi

from tvm_ascend.errors import (
    ArgumentCountError,
    ArgumentLayoutError,
    ArgumentRangeError,
    ArgumentShapeError,
    ArgumentTypeError,
    MaskedArgument,
    OutIndexError,
)
from tvm_ascend.isa.dtypes import is_float


@dataclass(frozen=True)
class ParamInfo:
    """One kernel parameter; ``shape`` is None for a scalar; ``written``: it is stored to."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    written: bool = False


@dataclass(frozen=True)
class Bound:
    """Arguments ready to launch, and what the call returns."""

    values: list
    outputs: list


def check_out_idx(kernel: str, params: Sequence[ParamInfo], out_idx) -> tuple[int, ...]:
    """Normalise ``out_idx`` to parameter positions; an int means one output."""
    if out_idx is None:
        return ()
    names = [p.name for p in params]
    given = list(out_idx) if isinstance(out_idx, (list, tuple)) else [out_idx]
    result: list[int] = []
    for index in given:
        legal = isinstance(index, (int, np.integer)) and not isinstance(index, bool)
        if not legal or not -len(names) <= index < len(names):
            raise OutIndexError(kernel, index, names)
        position = int(index) % len(names)
        if position in result or params[position].shape is None:
            raise OutIndexError(kernel, index, names)
        result.append(position)
    return tuple(result)


def bind(
    kernel: str, params: Sequence[ParamInfo], out_idx: Sequence[int], given: Sequence
) -> Bound:
    """Match the arguments of a call with the parameters; outputs are of the inputs' kind."""
    expected = [p for i, p in enumerate(params) if i not in out_idx]
    if len(given) != len(expected):
        raise ArgumentCountError(kernel, len(given), [p.name for p in expected])
    allocate = _allocator(given)
    rest = iter(given)
    values, outputs = [], {}
    for i, param in enumerate(params):
        if i in out_idx:
            outputs[i] = allocate(param)
            values.append(_view(outputs[i]))
        elif param.shape is None:
            values.append(_scalar(kernel, param, next(rest)))
        else:
            values.append(_tensor(kernel, param, next(rest)))
    return Bound(values, [outputs[i] for i in out_idx])


def _scalar(kernel: str, param: ParamInfo, value: Any) -> Any:
    floating = is_float(param.dtype)
    integers, floats = (int, np.integer), (float, np.floating)
    allowed: tuple[Any, ...] = integers + floats if floating else integers
    truth = isinstance(value, (bool, np.bool_))
    if param.dtype != "bool" if truth else not isinstance(value, allowed):
        given = f"{type(value).__name__} {value!r}"
        raise ArgumentTypeError(kernel, param.name, given, param.dtype)
    if isinstance(value, np.generic):
        value = value.item()  # numpy would cast the limits to the dtype of the value
    low, high = _range(param.dtype)
    if not (low <= value <= high or value != value or abs(value) == math.inf):
        raise ArgumentRangeError(kernel, param.name, value, param.dtype, f"{low} to {high}")
    return float(value) if floating else int(value)


def _range(dtype: str) -> tuple:
    if dtype == "bool":
        return 0, 1
    info = ml_dtypes.finfo if is_float(dtype) else ml_dtypes.iinfo
    limits = info(_numpy_dtype(dtype))
    return (float(limits.min), float(limits.max)) if is_float(dtype) else (limits.min, limits.max)


def _tensor(kernel: str, param: ParamInfo, value: Any) -> tvm_ffi.Tensor:
    """A DLPack view without a copy where the tensor is contiguous."""
    if not hasattr(value, "__dlpack__"):
        expected = f"{param.dtype} tensors (numpy, torch, tvm; anything with DLPack)"
        if isinstance(value, (bool, int, float, np.generic)):
            expected += f", and a number becomes one by np.asarray(x, {param.dtype!r})"
        raise ArgumentTypeError(kernel, param.name, f"a {type(value).__name__}", expected)
    if isinstance(value, np.ma.MaskedArray):
        raise MaskedArgument(kernel, param.name)
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype != param.dtype:
        raise ArgumentTypeError(kernel, param.name, f"a {dtype} tensor", param.dtype)
    if tuple(value.shape) != param.shape:
        raise ArgumentShapeError(kernel, param.name, tuple(value.shape), param.shape)
    fault = _layout_fault(value)
    if fault and param.written:
        raise ArgumentLayoutError(kernel, param.name, fault)
    return _view(_compact(value) if fault else value)


def _view(value: Any) -> tvm_ffi.Tensor:
    """A tensor over the same bytes; numpy exports no bfloat16, so that goes as its bit pattern."""
    if isinstance(value, np.ndarray) and value.dtype.name == "bfloat16":
        value = value.view(np.uint16)
    return tvm_ffi.from_dlpack(value)


def _layout_fault(value: Any) -> str:
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            return "not contiguous"
        if not value.flags.aligned:
            return "misaligned"
        return "" if value.flags.writeable else "read-only"
    contiguous = getattr(value, "is_contiguous", None)
    return "" if contiguous is None or contiguous() else "not contiguous"


def _compact(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.array(value, order="C", copy=True)
    return value.contiguous()


def _allocator(given: Sequence):
    """Outputs are of the first tensor's kind (torch or tvm), else numpy arrays."""
    first = next((g for g in given if hasattr(g, "__dlpack__")), None)
    if isinstance(first, tvm_ffi.Tensor):
        return lambda p: tvm.runtime.empty(p.shape, p.dtype)
    if type(first).__module__.partition(".")[0] == "torch":
        import torch

        return lambda p: torch.empty(p.shape, dtype=getattr(torch, p.dtype))
    return lambda p: np.empty(p.shape, _numpy_dtype(p.dtype))


def _numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)
