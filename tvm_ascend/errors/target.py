# SPDX-License-Identifier: Apache-2.0
"""Errors of targets and chips."""

from __future__ import annotations

from tvm_ascend.errors.base import AscendError, place


class UnknownTarget(AscendError):
    """A target name that TVM cannot resolve."""

    def __init__(self, name: str, known: list[str], reason: str = "") -> None:
        detail = f" ({reason})" if reason else ""
        super().__init__(
            f"target {name!r} does not exist{detail}; Ascend targets are {', '.join(known)}. Pass "
            "one of these, or tvm.target.Target(name, host=...)."
        )


class NotAnAscendTarget(AscendError):
    """A target of another kind, or a function without a target, where an Ascend one is needed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not an Ascend target (its keys must contain 'ascend'). Bind one first: "
            "tirx.transform.BindTarget(tvm.target.Target('ascend'))."
        )


class UnknownChip(AscendError):
    """A target whose ``model`` is not in the chip table."""

    def __init__(self, model: object, known: list[str]) -> None:
        super().__init__(
            f"the target's model {model!r} is not in the chip table; known models are "
            f"{', '.join(known)}. Use a tag such as 'huawei/ascend-{known[0]}'."
        )


class NeedsNewerCann(AscendError):
    """A call that the headers of the CANN version do not have."""

    def __init__(self, name: str, since: str, cann: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{name}` is in the headers of CANN {since} and later, and code for CANN "
            f"{cann} was asked for. Leave the call out, or pass options=Options(cann={since!r})."
        )


class AbsentInstruction(AscendError):
    """An instruction that the chip of the target does not have."""

    def __init__(self, name: str, row: str, chip: str, span: object) -> None:
        super().__init__(
            f"{place(span)}the {chip} has no `{name}` of this form ({row}). Rewrite the statement "
            "without it, or compile for a chip that has it, such as target='ascend'."
        )


class ChipNotModelled(AscendError):
    """A kernel for a chip that kernels are checked for, but not compiled."""

    def __init__(self, kernel: str, chip: str, missing: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{kernel}` fits the memories of the {chip} and uses instructions that "
            f"it has, but cannot be compiled for it: not modelled are {missing}. "
            "Compile with target='ascend' (910B1) or another tag of the 910B family."
        )
