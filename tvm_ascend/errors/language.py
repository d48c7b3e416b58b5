# SPDX-License-Identifier: Apache-2.0
"""Errors of the tile language, raised while a kernel is parsed."""

from __future__ import annotations

import reprlib

from tvm_ascend.errors.base import AscendError, place, where


class ScriptError(AscendError):
    """A kernel that TVMScript cannot parse."""

    def __init__(self, line: str, message: str) -> None:
        super().__init__(
            f"{line}: the kernel does not parse: {message}\nAllowed is what TVMScript and "
            "tvm_ascend.language define. Correct this line, or compute the value outside of the "
            "kernel and use its name."
        )


class SourceMissing(AscendError):
    """A kernel whose source text cannot be read."""

    def __init__(self, name: str, file: str) -> None:
        super().__init__(
            f"the source of `{name}` in {file} cannot be read, and kernels and macros are "
            "parsed from their source; allowed are functions in a file or a notebook cell, not in "
            "exec, python -c or standard input. Put it into a file and import it."
        )


def _kind(value: object) -> str:
    dtype = getattr(getattr(value, "ty", None), "dtype", None)
    return type(value).__name__ if dtype is None else f"an expression of {dtype}"


class ArgumentKind(AscendError):
    """An argument of a kind that its parameter does not take."""

    def __init__(self, op: str, name: str, value: object, allowed: str) -> None:
        super().__init__(
            f"{op}: {name} is {reprlib.repr(value)} ({_kind(value)}); allowed are {allowed}. Pass "
            "one of these."
        )


class ValueOutsideDtype(AscendError):
    """A constant that the dtype of its tile does not hold."""

    def __init__(self, op: str, value: float, tile: str, dtype: str, allowed: str) -> None:
        super().__init__(
            f"{op}: {reprlib.repr(value)} is no value of {dtype}, the dtype of `{tile}`; allowed "
            f"are {allowed}. Convert the value yourself, or make the tile of another dtype."
        )


class IntegerTooLarge(AscendError):
    """An integer of more bits than its parameter has."""

    def __init__(self, op: str, name: str, value: int, bits: int) -> None:
        super().__init__(
            f"{op}: {name} is {reprlib.repr(value)}; allowed are integers that an int{bits} holds, "
            f"-2**{bits - 1}..2**{bits - 1} - 1. Pass a smaller one."
        )


class EmptySlice(AscendError):
    """A slice that ends where it starts, or before."""

    def __init__(self, op: str, buffer: str, axis: int, start: object, length: int) -> None:
        super().__init__(
            f"T.{op}: the slice of `{buffer}` holds {length} elements in dimension {axis}, from "
            f"{start} on; allowed are slices of at least one element, with the smaller bound "
            "first. Correct the bounds, or leave the operation out where there is nothing to do."
        )


class MatrixExpected(AscendError):
    """An operand of a matrix product that has one dimension."""

    def __init__(self, op: str, buffer: str, shape: tuple[object, ...]) -> None:
        super().__init__(
            f"T.{op}: `{buffer}` has shape ({', '.join(map(str, shape))}); allowed are matrices. "
            "Give it two dimensions; one of them may be 1."
        )


class OperandExpected(AscendError):
    """A tile operation was given something that is no buffer, slice or element."""

    def __init__(self, op: str, name: str, value: object) -> None:
        super().__init__(
            f"T.{op}: `{name}` is a {type(value).__name__} ({reprlib.repr(value)}); "
            "allowed are a buffer `A`, a slice `A[i, :]` or the first element of a tile "
            "`A[i, j]`. Pass one of these."
        )


class RowLongerThanTile(AscendError):
    """A copy of a whole row into a tile that holds only part of it."""

    def __init__(self, op: str, tensor: str, row: object, tile: str, block: object) -> None:
        super().__init__(
            f"T.{op}: `{tensor}` is {row} elements long here but `{tile}` holds {block}: a loop is "
            f"missing, `for` over the row in steps of {block}. Write `for k in "
            f"T.serial(T.ceildiv({row}, {block})):` and copy `{tensor}` from element `k * {block}` "
            f"on, or make the tile {row} elements long."
        )


class RowShorterThanTile(AscendError):
    """A copy whose slice does not fill the tile, so that part of the tile would be undefined."""

    def __init__(self, op: str, tensor: str, row: object, tile: str, block: object) -> None:
        super().__init__(
            f"T.{op}: `{tensor}` is {row} elements long here but `{tile}` holds {block}: the last "
            f"{block} - {row} elements of the tile would be undefined. Make the tile exactly {row} "
            "elements long (any length is allowed, tails are handled), or name only the first "
            "element of the slice: the rest is then filled with 0, counts in no reduction, and is "
            "dropped where the tile is stored past the end of a tensor."
        )


class ShapeMismatch(AscendError):
    """Operands of a tile operation whose shapes do not fit together."""

    def __init__(
        self, op: str, first: str, first_shape: object, second: str, second_shape: object, rule: str
    ) -> None:
        super().__init__(
            f"T.{op}: `{first}` has shape {first_shape} and `{second}` has shape {second_shape}; "
            f"{rule}. Change the slices or the tiles so that they agree."
        )


class ReduceAxis(AscendError):
    """A reduction over an axis that the source does not have."""

    def __init__(self, op: str, dim: int, rank: int) -> None:
        super().__init__(
            f"T.{op}: dim={dim} is no axis of a source with {rank} dimensions; allowed is "
            f"{-rank}..{rank - 1}. Name one of these."
        )


class AtomicOnGlobal(AscendError):
    """An atomic update of a tensor in global memory."""

    def __init__(self, tensor: str) -> None:
        super().__init__(
            f"T.atomic_add: `{tensor}` is in global memory, where several cores would add at once; "
            "only on-chip fragments are allowed. Add into a `T.alloc_fragment` tile and copy it "
            f"to `{tensor}` at the end."
        )


class KernelExtents(AscendError):
    """A grid with no or too many dimensions."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"T.Kernel got {count} extents; allowed are 1 to 3. Flatten the grid, or loop inside "
            "the kernel."
        )


class ParallelOutsideKernel(AscendError):
    """A nest of parallel loops in a function that our decorator does not parse."""

    def __init__(self) -> None:
        super().__init__(
            "T.Parallel over several extents works only under `T.prim_func` of "
            "tvm_ascend.language. Use that decorator, or nest one-extent T.Parallel loops."
        )


class NestedGrid(AscendError):
    """A second grid inside a kernel."""

    def __init__(self, axis: str, span: object) -> None:
        super().__init__(
            f"{place(span)}a second grid ({axis}) starts inside the kernel; allowed is one grid "
            "around the whole body. Make one kernel per grid, or one T.Kernel with several extents."
        )


class NoThreads(AscendError):
    """A loop bound to threads of a block."""

    def __init__(self, axis: str, span: object) -> None:
        super().__init__(
            f"{place(span)}a loop is bound to {axis}, but an Ascend core runs one instruction "
            "stream and has no threads; allowed is blockIdx. Write T.Parallel for loops over "
            "elements."
        )


# Its Cube multiplies them and Cast converts them, two values in a byte [doc: ASCEND 3.5, 3.9].
PACKED = ("int4",)


class NoUnitForDtype(AscendError):
    """A tensor of a dtype that no unit of the chip has, or none that is modelled."""

    def __init__(self, what: str, dtype: str, allowed: list[str], span: object = None) -> None:
        why = (
            "two values of which share a byte; that the chip can do and is not modelled"
            if dtype in PACKED
            else "which no unit of an Ascend core has"
        )
        super().__init__(
            f"{place(span)}{what} has dtype {dtype!r}, {why}; "
            f"allowed are {', '.join(allowed)}. Convert the data before the kernel."
        )


class EmptyGrid(AscendError):
    """A grid without blocks."""

    def __init__(self, extents: object, span: object) -> None:
        super().__init__(
            f"{place(span)}the grid {extents} has no blocks; every extent must be at least 1. Do "
            "not launch the kernel for empty tensors."
        )


class IndexOutside(AscendError):
    """An index, a slice or the start of a tile that is outside its buffer."""

    def __init__(
        self, buffer: str, axis: int, low: object, high: object, size: int, span: object = None
    ) -> None:
        reach = low if low == high else f"{low}..{high}"
        super().__init__(
            f"{place(span)}index {reach} in dimension {axis} of `{buffer}` is outside; allowed is "
            f"0..{size - 1}. Shorten the loop or the slice, or put an `if` around the access."
        )


class PaddingCounts(AscendError):
    """A reduction over a tile of which it is not known how much lies past its tensor."""

    def __init__(self, tile: str, copy: object, reduction: object) -> None:
        super().__init__(
            f"{place(reduction)}this counts elements of `{tile}`, which the copy in "
            f"{where(copy)} may have filled past the end of its tensor by a length "
            "that is not known here; elements that do not exist would count. Reduce the tile in "
            "the loop iteration that copies it, or choose a tile size that divides the tensor."
        )


class PaddingDivides(AscendError):
    """An integer division by elements of which it is not known whether their tensor has them."""

    def __init__(self, tile: str, copy: object, span: object) -> None:
        super().__init__(
            f"{place(span)}this divides by elements of `{tile}`, which the copy in "
            f"{where(copy)} may have filled past the end of its tensor by a length "
            "that is not known here; a division by zero would stop the core. Divide in the loop "
            "iteration that copies the tile, choose a tile size that divides the tensor, or "
            f"divide by T.if_then_else(x != 0, x, 1) of an element x of `{tile}`."
        )


class EmptyShape(AscendError):
    """A tensor or tile without elements."""

    def __init__(self, what: str, shape: tuple[object, ...], span: object = None) -> None:
        super().__init__(
            f"{place(span)}{what} has shape ({', '.join(map(str, shape))}), which holds no "
            "element; every dimension must be at least 1. Do not launch the kernel for empty "
            "tensors."
        )


class DynamicTile(AscendError):
    """A tile whose size is known only at run time."""

    def __init__(self, name: str, shape: tuple[object, ...], span: object) -> None:
        super().__init__(
            f"{place(span)}tile `{name}` has shape ({', '.join(map(str, shape))}); on-chip memory "
            "is planned when the kernel is compiled, so every dimension must be a constant. "
            "Allocate the largest tile needed and use a part of it."
        )


class UnknownScope(AscendError):
    """An allocation in a memory that the chip does not have."""

    def __init__(self, name: str, scope: str, allowed: list[str], span: object) -> None:
        super().__init__(
            f"{place(span)}`{name}` is allocated in scope {scope!r}, which an Ascend core does not "
            f"have; allowed are {', '.join(allowed)}. Use T.alloc_shared or T.alloc_fragment to "
            "leave the choice of memory to the compiler."
        )


class UnknownCoreScope(AscendError):
    """A ``T.Scope`` of no kind of core."""

    def __init__(self, name: object, allowed: list[str]) -> None:
        super().__init__(
            f"T.Scope({name!r}) names no kind of core; use "
            f"{' or '.join(repr(a) for a in allowed)}: the Cube core, or the Vector cores."
        )


class UnknownPipe(AscendError):
    """A flag or barrier of a pipe that no core has."""

    def __init__(self, op: str, name: object, allowed: list[str]) -> None:
        super().__init__(
            f"{op}: {name!r} is no pipe; the pipes of an Ascend core are {', '.join(allowed)}."
        )


class NotAnInstruction(AscendError):
    """A statement that no unit of a core executes."""

    def __init__(self, text: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{text}` cannot run on an Ascend core; allowed are stores, tile "
            "operations (T.copy, T.gemm, ...), the instructions of T.ascend, loops and conditions. "
            "Results leave a kernel through its tensors; take everything else out of it."
        )


class GridDtype(AscendError):
    """A grid whose extent could be more than an int32 counts."""

    def __init__(self, extent: object, dtype: str, span: object) -> None:
        super().__init__(
            f"{place(span)}the grid has extent {extent} of {dtype}; allowed are constants, and "
            f'expressions of int32, in which blocks are counted. Write T.Cast("int32", {extent}).'
        )


class GridTooLarge(AscendError):
    """A grid with more blocks than an int32 counts."""

    def __init__(self, extents: tuple[int, ...], most: int, span: object) -> None:
        super().__init__(
            f"{place(span)}the grid {extents} has more than {most:,} blocks, the most that can be "
            "counted. Give every block more to do, or launch the kernel several times."
        )


class StageCount(AscendError):
    """A pipelined loop that asks for an impossible number of versions."""

    def __init__(self, given: object, most: int) -> None:
        super().__init__(
            f"T.Pipelined: num_stages={given!r} is no number of versions that a tile can have; "
            f"allowed are integers from 1 (no overlap) to {most}. 2 overlaps the copies of one "
            "iteration with the compute of the one before."
        )


class IntegerExpected(AscendError):
    """An extent, a bound or an index that is no integer."""

    def __init__(self, op: str, name: str, value: object, span: object = None) -> None:
        super().__init__(
            f"{place(span)}{op}: {name} is {value} ({_kind(value)}); allowed are integers and "
            'integer expressions. Round a float yourself: int(x), or T.Cast("int32", x) in the '
            "kernel."
        )


class NoVectors(AscendError):
    """An expression of several lanes."""

    def __init__(self, text: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{text}` is a vector; vectors are not supported in expressions, where "
            "every value is one element. Write a loop over the elements, T.Parallel, which the "
            "compiler turns into vector instructions."
        )


class ExpressionTooDeep(AscendError):
    """An expression that is nested too deep for the compiler."""

    def __init__(self, most: int, span: object) -> None:
        super().__init__(
            f"{place(span)}the value stored here is nested more than {most} operations deep, the "
            "most that the compiler follows. Store part of it in a tile or tensor of its own, or "
            "write a loop."
        )


class LoopStep(AscendError):
    """A loop whose step is not known, or does not count up."""

    def __init__(self, name: str, step: object, span: object) -> None:
        super().__init__(
            f"{place(span)}the loop over `{name}` has step {step}; allowed are constant integers "
            "from 1. To count down, loop from 0 up and use `last - i`; for a step that is known "
            "at run time, loop over the number of iterations and multiply."
        )


class GemmDtypes(AscendError):
    """A gemm of dtypes that the Cube does not multiply."""

    def __init__(self, a: str, b: str, c: str, allowed: list[str]) -> None:
        super().__init__(
            f"T.gemm: the Cube cannot multiply {a} by {b} into {c}; allowed are "
            f"{'; '.join(allowed)}. Change the dtypes of the tiles; a tile in L0C can be stored as "
            "a narrower dtype, T.copy casts it."
        )


class RawPointer(AscendError):
    """A parameter that is an address without a shape."""

    def __init__(self, name: str, kernel: str, span: object) -> None:
        super().__init__(
            f"{place(span)}parameter `{name}` of `{kernel}` is a raw handle, whose shape and "
            "dtype are not known; allowed are tensors and scalars. Declare it as "
            f"`{name}: T.Tensor(shape, dtype)`, or match it to a buffer with T.match_buffer."
        )


class ScalarParameter(AscendError):
    """A scalar parameter of a dtype that no host passes."""

    def __init__(self, name: str, kernel: str, dtype: str, span: object) -> None:
        super().__init__(
            f"{place(span)}parameter `{name}` of `{kernel}` is a scalar of {dtype}, which cannot "
            "be passed to a kernel; allowed are bool, integers, float16 and float32. Pass it as "
            "float32 and cast it in the kernel."
        )
