# SPDX-License-Identifier: Apache-2.0
"""Errors of `compile`, of calls of a kernel, and of the executors."""

from __future__ import annotations

from typing import Any

from tvm_ascend.errors.base import AscendError


class ArgumentCountError(AscendError):
    """A kernel called with too many or too few arguments."""

    def __init__(self, kernel: str, given: int, names: list[str]) -> None:
        super().__init__(
            f"`{kernel}` was called with {given} arguments; it takes {len(names)}: "
            f"{', '.join(names)}. Outputs named in out_idx are allocated and returned, do not pass "
            "them."
        )


class ArgumentTypeError(AscendError):
    """An argument that is no tensor, or one with another dtype than the kernel's."""

    def __init__(self, kernel: str, name: str, given: object, expected: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is {given}; the kernel was compiled for {expected}. "
            "Convert it first, or compile the kernel for another dtype."
        )


class MaskedArgument(AscendError):
    """A numpy array with a mask, which a kernel would not see."""

    def __init__(self, kernel: str, name: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is a masked array; kernels take plain arrays and "
            "compute every element, masked or not. Pass x.filled(value) or x.data."
        )


class ArgumentShapeError(AscendError):
    """An argument whose shape is not the kernel's."""

    def __init__(
        self, kernel: str, name: str, given: tuple[Any, ...], expected: tuple[Any, ...] | None
    ) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` has shape {given}; the kernel was compiled for "
            f"{expected}. Compile the kernel for this shape, or pass a tensor of that shape."
        )


class ArgumentLayoutError(AscendError):
    """An output argument that the kernel cannot write in place."""

    def __init__(self, kernel: str, name: str, why: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is {why}, so the kernel cannot write to it in place. "
            "Pass a contiguous, aligned, writable tensor, or name it in out_idx."
        )


class ArgumentRangeError(AscendError):
    """A scalar argument that its parameter's dtype cannot hold."""

    def __init__(self, kernel: str, name: str, given: object, dtype: str, allowed: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is {given}; a {dtype} holds {allowed}. "
            "Pass a value in that range, or give the parameter a wider dtype."
        )


class OptionError(AscendError):
    """An option with a value of the wrong kind."""

    def __init__(self, name: str, given: object, allowed: str) -> None:
        super().__init__(
            f"option `{name}` is {given!r}; it must be {allowed}. Correct it where it was given: "
            "in the call, in tvm_ascend.Options or in SimOptions."
        )


class KernelExpected(AscendError):
    """Developer mode was given something else than a compiled kernel."""

    def __init__(self, function: str, given: object) -> None:
        super().__init__(
            f"{function} looks at compiled kernels and was given a {type(given).__name__}. Pass "
            "what tvm_ascend.compile returns."
        )


class UnknownSyncError(AscendError):
    """An index that names no sync of a kernel."""

    def __init__(self, kernel: str, index: object, count: int) -> None:
        super().__init__(
            f"`{kernel}` has no sync number {index!r}; its {count} syncs are numbered from 0 to "
            f"{count - 1}. List them with tvm_ascend.dev.syncs(kernel)."
        )


class UnknownEventError(AscendError):
    """An event for which a kernel does not wait."""

    def __init__(self, kernel: str, event: object, events: list[str]) -> None:
        super().__init__(
            f"`{kernel}` waits for no event {event!r}; it waits for {', '.join(events) or 'none'}. "
            "Name one of these, or list its syncs with tvm_ascend.dev.syncs(kernel)."
        )


class OutIndexError(AscendError):
    """An ``out_idx`` that names no tensor parameter."""

    def __init__(self, kernel: str, index: object, names: list[str]) -> None:
        count = len(names)
        super().__init__(
            f"out_idx {index} does not name a tensor parameter of `{kernel}`; it has {count}: "
            f"{', '.join(f'{i} {n}' for i, n in enumerate(names))}. Use distinct integers from 0 "
            f"to {count - 1}, or from -{count} to -1."
        )


class SymbolicShapeError(AscendError):
    """A parameter whose shape is not a constant."""

    def __init__(self, kernel: str, name: str, shape: object) -> None:
        super().__init__(
            f"parameter `{name}` of `{kernel}` has the symbolic shape {shape}; shapes must be "
            "constants in this version. Compile one kernel per shape."
        )


class NotAKernelError(AscendError):
    """Something that ``compile`` cannot compile."""

    def __init__(self, given: object, allowed: str) -> None:
        super().__init__(f"cannot compile {given}; {allowed}.")


class UnknownExecutorError(AscendError):
    """An executor name outside the list, or one that is not available here."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(
            f"executor {name!r} cannot be used; {allowed}. Choose one with Options(executor=...)."
        )


class PathNotWritable(AscendError):
    """A place for results that cannot be written."""

    def __init__(self, what: str, path: object, reason: object) -> None:
        super().__init__(
            f"{what} cannot be written to {str(path)!r}: {reason}. Name a place where you may "
            "create files."
        )


class UnknownStageError(AscendError):
    """A stage name that the pipeline does not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f"there is no stage {name!r}; the stages are {', '.join(known)}. Name one of these."
        )


class UnknownOverrideError(AscendError):
    """An override that no choice of this kernel answers to."""

    def __init__(self, name: str, decisions: dict[str, object]) -> None:
        known = ", ".join(f"{k} (now {v})" for k, v in decisions.items()) or "none"
        super().__init__(
            f"override {name!r} names no choice of this kernel; its choices are {known}. Correct "
            "the name in Options(overrides=...)."
        )
        self.name = name


class NativeLibraryError(AscendError):
    """The simulator's shared library cannot be loaded."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"the native library {path} does not load: {reason}. Rebuild it with `cmake -S . -B "
            "build -G Ninja && cmake --build build`, or reinstall tvm_ascend; `python -m "
            "tvm_ascend doctor` says what is missing."
        )


class TwinCompilerMissing(AscendError):
    """The twin executor without a C++ compiler."""

    def __init__(self, command: str) -> None:
        super().__init__(
            f"the twin compiles the emitted Ascend C with `{command}`, which is no program on the "
            "PATH. Any C++17 compiler does: apt-get install g++, or set CXX to one; or use "
            "executor='simulator', which needs none."
        )


class TwinCompilerBroken(AscendError):
    """A C++ compiler that cannot even compile an empty program."""

    def __init__(self, command: str, output: str) -> None:
        super().__init__(
            f"the twin executor's compiler `{command}` makes no library of an empty C++17 program; "
            "any C++17 compiler with flags that it knows does. Correct CXX, or unset it to use "
            f"g++. It said:\n{output or 'nothing'}"
        )


class TwinCompileError(AscendError):
    """Emitted Ascend C that the C++ compiler refuses."""

    def __init__(self, kernel: str, source: object, output: str) -> None:
        super().__init__(
            f"the Ascend C of kernel `{kernel}` does not compile as a twin; the source is kept in "
            f"{source}. Emitted source always should, so this is a fault of tvm_ascend unless it "
            f"was edited. The compiler said:\n{output}"
        )
