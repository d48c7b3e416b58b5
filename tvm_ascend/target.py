# SPDX-License-Identifier: Apache-2.0
"""Target tags, one per chip, and the way back from a target to its chip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvm.target import Target, register_tag

from .errors import NotAnAscendTarget, UnknownChip, UnknownTarget
from .hw import CHECKED_CHIPS, CHIPS, DEFAULT_CHIP

if TYPE_CHECKING:
    from tvm.tirx import PrimFunc

    from .hw.chip import ChipSpec

DEFAULT_TAG = "ascend"
ALL_CHIPS = CHIPS | CHECKED_CHIPS
MODEL_OF_TAG = {DEFAULT_TAG: DEFAULT_CHIP} | {
    f"huawei/ascend-{model}": model for model in ALL_CHIPS
}


def register_tags() -> None:
    """Make ``Target("ascend")`` and one tag per chip resolve."""
    for tag, model in MODEL_OF_TAG.items():
        config = {"kind": "ext_dev", "keys": ["ascend", "npu"], "device": "ascend", "model": model}
        register_tag(tag, config, override=True)


def is_ascend(target: Target | None) -> bool:
    """Whether ``target`` is one of ours, whatever its chip."""
    return target is not None and DEFAULT_TAG in target.keys


def as_target(target: str | Target | dict) -> Target:
    """Resolve a name, a configuration or a Target to an Ascend Target of a known chip."""
    if not isinstance(target, Target):
        try:
            target = Target(target)
        except (ValueError, TypeError) as reason:
            raise UnknownTarget(str(target), list(MODEL_OF_TAG)) from reason
    chip_of(target)
    return target


def chip_of(target_or_func: Target | PrimFunc) -> ChipSpec:
    """The chip that a target, or the target attribute of a function, names."""
    target = target_or_func
    if not isinstance(target, Target):
        target = target_or_func.attrs.get("target", None) if target_or_func.attrs else None
        if target is None:
            name = target_or_func.attrs.get("global_symbol", "?") if target_or_func.attrs else "?"
            raise NotAnAscendTarget(f"function `{name}` carries no target and so")
    if not is_ascend(target):
        raise NotAnAscendTarget(f"target {target.kind.name!r}")
    model = str(target.attrs.get("model", ""))
    if model not in ALL_CHIPS:
        raise UnknownChip(model, list(ALL_CHIPS))
    return ALL_CHIPS[model]
