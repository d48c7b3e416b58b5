# SPDX-License-Identifier: Apache-2.0
"""What the passes refuse: scopes, layouts, instructions, memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tvm_ascend.errors.base import AscendError, place, where


class ScopeContradiction(AscendError):
    """A buffer whose uses need two different memories."""

    def __init__(self, name: str, first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
        uses = " and ".join(
            f"{space} by {what} ({where(span)})" for what, space, span in (first, second)
        )
        advice = "allocate a second tile and T.copy between the two"
        if {first[1], second[1]} == {"l0c", "ub"}:
            advice = (
                "the results of the Cube leave L0C only to global memory. T.copy the tile to a "
                "tensor, and do the vector work on it in a kernel of its own"
            )
        super().__init__(
            f"{place(first[2])}buffer `{name}` is needed in two memories: {uses}. A buffer lives "
            f"in one memory; {advice}."
        )


class ScalarCodeError(AscendError):
    """An expression that the scalar unit's code cannot hold."""

    def __init__(self, what: str, text: str, span: object) -> None:
        super().__init__(
            f"{place(span)}the scalar unit has no `{what}`, used in `{text}`. "
            "Arithmetic, comparisons and the C library's functions of floats are allowed; rewrite "
            "the expression with these, or compute it with vector operations."
        )


class TileByHand(AscendError):
    """A tile of the Cube in an instruction written by hand."""

    def __init__(self, key: str, buffer: str, span: object) -> None:
        super().__init__(
            f"{place(span)}T.ascend.{key} uses `{buffer}`, which tile operations use too: the "
            "compiler decides where the elements of such a tile are. Write all uses of it by hand, "
            "or none."
        )


class LayoutContradiction(AscendError):
    """A tile used both as stored and transposed by matrix multiplies."""

    def __init__(self, buffer: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{buffer}` is an operand of a gemm both transposed and not; a tile in "
            "L0 has one layout. Use two tiles."
        )


class NotAMatrix(AscendError):
    """A buffer of the Cube's memories that has no two dimensions."""

    def __init__(self, buffer: str, shape: Iterable[Any], span: object) -> None:
        super().__init__(
            f"{place(span)}`{buffer}` has shape {tuple(int(x) for x in shape)} but lives in a "
            "memory of the Cube, where a tile is a matrix (rows, columns), leading dimensions "
            "being 1. Give it two dimensions."
        )


class NoCopyPath(AscendError):
    """A copy between two memories that no instruction connects."""

    def __init__(
        self, src: str, src_space: object, dst: str, dst_space: object, span: object
    ) -> None:
        from_, to = (getattr(space, "value", space) for space in (src_space, dst_space))
        super().__init__(
            f"{place(span)}there is no way from `{src}` in {from_} to `{dst}` in {to}; the paths "
            "of the Cube are gm -> l1, l1 -> l0a, l1 -> l0b and l0c -> gm. Go through one of "
            "these, or through a tensor in gm."
        )


class NoCastIntoL1(AscendError):
    """A copy into L1 that would have to cast."""

    def __init__(self, src: str, src_dtype: str, dst: str, dst_dtype: str, span: object) -> None:
        super().__init__(
            f"{place(span)}`{src}` holds {src_dtype} and `{dst}` {dst_dtype}, but a copy into L1 "
            f"moves bytes and cannot cast; allowed are equal dtypes. Pass `{src}` as {dst_dtype}, "
            "or cast it in a Vector kernel first."
        )


class NoFixpipeCast(AscendError):
    """A copy out of L0C to a dtype that Fixpipe cannot make."""

    def __init__(self, dst: str, src: str, allowed: list[tuple[str, str]], span: object) -> None:
        paths = ", ".join(f"{held} -> {stored}" for stored, held in allowed)
        super().__init__(
            f"{place(span)}L0C holds {src} and cannot be stored as {dst}; allowed are {paths}. "
            "Change the dtype of the output and cast in a Vector kernel."
        )


class FieldOverflow(AscendError):
    """An instruction field that a tile would overflow."""

    def __init__(self, key: str, name: str, value: object, most: int, span: object) -> None:
        super().__init__(
            f"{place(span)}field `{name}` of {key} would be "
            f"{value if value is not None else 'unbounded'}, allowed is up to {most}. Make the "
            "tile smaller along that axis."
        )


class CubeTileRule(AscendError):
    """A tile operation that the Cube's instructions cannot address."""

    def __init__(
        self, rule: str, span: object, advice: str = "Change the slice so that it does"
    ) -> None:
        super().__init__(
            f"{place(span)}this tile operation has no Cube instruction: {rule}. {advice}."
        )


class AccumulatorFill(AscendError):
    """A fill of L0C that is not the clearing before products."""

    def __init__(self, buffer: str, span: object) -> None:
        super().__init__(
            f"{place(span)}no instruction fills L0C, where `{buffer}` lives; allowed is to clear "
            "it with 0 right before the loops of one gemm into it, which runs at least once. Use "
            "the gemm's init instead."
        )


class LoopConditionOnChip(AscendError):
    """A while loop whose condition reads on-chip memory, where no flag can be placed."""

    def __init__(self, span: object) -> None:
        super().__init__(
            f"{place(span)}the condition of this `while` reads on-chip memory, which other units "
            "may still be writing; allowed are variables and tensors in global memory. Use a "
            "`for` loop with an upper bound and an `if`."
        )


class JumpInKernel(AscendError):
    """A break or continue in a loop that needs flags, whose sets and waits must stay balanced."""

    def __init__(self, span: object) -> None:
        super().__init__(
            f"{place(span)}`break` or `continue` leaves a loop whose instructions are ordered by "
            "flags, so that a flag would stay raised; allowed in loops of scalar code only. Guard "
            "the rest of the body with `if` instead."
        )


class TooManyEvents(AscendError):
    """More flags between two units than the chip has ids."""

    def __init__(self, usable: int) -> None:
        super().__init__(
            f"{place()}the kernel needs more than {usable} flags at once between two units; the "
            f"chip has {usable} usable ids per pair. Split the kernel in two, or pipeline fewer "
            "loops (num_stages=1)."
        )


class StagesNotReached(AscendError):
    """An overridden depth that a pipelined loop does not get."""

    def __init__(self, name: str, asked: int, got: int, notes: list[str], span: object) -> None:
        why = "; ".join(notes) or "no unit hands a tile of its own body to another"
        super().__init__(
            f"{place(span)}override `{name}` = {asked} cannot be used: this loop gets {got} "
            f"version(s) of its tiles ({why}), and no more than it has iterations. Allowed are 1 "
            f"to {got}; for more, make the tiles smaller or allocate them in the loop."
        )
        self.name = name


@dataclass(frozen=True)
class BufferLine:
    """One buffer in the report of an overflow; lines are those of its first and last use."""

    name: str
    bytes: int
    versions: int
    elements: int
    first_line: int
    last_line: int

    def __str__(self) -> str:
        copies = f" in {self.versions} copies" if self.versions > 1 else ""
        lines = f", lines {self.first_line}-{self.last_line}" if self.first_line else ""
        return f"`{self.name}` {self.bytes:,} bytes{copies}{lines}"


class OnChipOverflow(AscendError):
    """Buffers that are in use together and do not fit into an on-chip memory."""

    def __init__(
        self,
        kernel: str,
        space: str,
        chip: str,
        capacity: int,
        buffers: list[BufferLine],
        file: str = "",
    ) -> None:
        need = sum(b.bytes for b in buffers)
        largest = max(buffers, key=lambda b: b.bytes)
        single = sum(b.bytes // b.versions for b in buffers)
        fits = int(largest.elements * capacity / need)
        fits -= fits % 16 if fits > 16 else 0
        advice = [f"Make the tiles about {need / capacity:.2f} times smaller"]
        advice[0] += (
            f" (`{largest.name}`: at most about {fits:,} elements, now {largest.elements:,})"
        )
        if single <= capacity < need:
            advice.append(f"or set num_stages=1, which needs {single:,} bytes")
        super().__init__(
            f"{file and file + ': '}kernel `{kernel}` needs {need:,} bytes of {space.upper()} at "
            f"once, {chip} has {capacity:,}: {'; '.join(str(b) for b in buffers)}. "
            f"{', '.join(advice)}."
        )


class ScopeWithoutAiCore(AscendError):
    """A ``T.Scope`` in a kernel whose blocks run on one core."""

    def __init__(self, name: str, span: object) -> None:
        super().__init__(
            f"{place(span)}T.Scope({name!r}) in a kernel whose blocks run on one core each; write "
            "`with T.Kernel(..., is_npu=True) as (cid, vid)` for a Cube and two Vector cores a "
            "block."
        )


class UnscopedStatement(AscendError):
    """A statement of a mixed kernel that either kind of core could run."""

    def __init__(self, text: str, span: object) -> None:
        super().__init__(
            f"{place(span)}{text} stands in no T.Scope, and the Cube core as well as the Vector "
            'cores could run it. Put it into `with T.Scope("C")` or `with T.Scope("V")`.'
        )


class MixedKernel(AscendError):
    """A kernel that needs the Vector core and the Cube core."""

    def __init__(self, vector: str, vector_span: object, cube: str, cube_span: object) -> None:
        super().__init__(
            f"{place(vector_span)}{vector} ({where(vector_span)}) needs the Vector core and {cube} "
            f"({where(cube_span)}) the Cube core; a block runs on one of them. Write "
            "`with T.Kernel(..., is_npu=True) as (cid, vid)`, and the work of each in "
            '`T.Scope("V")` and `T.Scope("C")` with flags between them, or use two kernels.'
        )


class WrongCore(AscendError):
    """An instruction in a kernel of the other core kind."""

    def __init__(self, instruction: str, core: str, allowed: list[str], span: object) -> None:
        super().__init__(
            f"{place(span)}{instruction} cannot run on {core}, the core of this kernel; it exists "
            f"on {' and '.join(allowed)}. Move it into a kernel for that core."
        )


class WrongMemory(AscendError):
    """An operand in a memory that the instruction cannot reach."""

    def __init__(
        self,
        instruction: str,
        operand: str,
        buffer: str,
        space: str,
        allowed: list[str],
        span: object,
    ) -> None:
        super().__init__(
            f"{place(span)}{instruction} takes `{operand}` from "
            f"{' or '.join(s.upper() for s in allowed)}, but `{buffer}` is in {space.upper()}. "
            "Copy it there first, or allocate it in that memory."
        )


class UnsupportedDtypes(AscendError):
    """Operand dtypes that the instruction does not have."""

    def __init__(
        self, instruction: str, given: list[str], allowed: list[tuple[str, ...]], span: object
    ) -> None:
        known = "; ".join(", ".join(d) for d in allowed)
        super().__init__(
            f"{place(span)}{instruction} does not exist for operands of {', '.join(given)}; it "
            f"takes {known}. Cast the operands first."
        )


class ParameterOutOfRange(AscendError):
    """A parameter outside of its field."""

    def __init__(
        self, instruction: str, param: str, value: str, allowed: str, span: object
    ) -> None:
        super().__init__(
            f"{place(span)}{instruction} has {param} = {value}; allowed is {allowed}. Split the "
            "instruction into a loop, or pass a legal value."
        )


class MisalignedOperand(AscendError):
    """An on-chip operand whose address is not aligned."""

    def __init__(
        self,
        instruction: str,
        operand: str,
        buffer: str,
        space: str,
        address: int,
        align: int,
        span: object,
    ) -> None:
        super().__init__(
            f"{place(span)}operand `{operand}` of {instruction} starts at byte {address} of "
            f"{space.upper()} (in `{buffer}`); it must be a multiple of {align}. Pad the rows of "
            f"`{buffer}` to {align} bytes."
        )


class IssueAheadValue(AscendError):
    """A number of iterations that loads cannot be issued ahead."""

    def __init__(self, given: int) -> None:
        super().__init__(
            f"override `issue_ahead` = {given} cannot be used; allowed are 1 (the loads of L1 "
            "tiles are issued one iteration before their use) and 0 (in the iteration that uses "
            "them). Pass one of the two in Options(overrides=...)."
        )


class ProductTooLarge(AscendError):
    """A gemm whose operands no split of k brings into L0."""

    def __init__(self, product: str, rule: str, span: object) -> None:
        super().__init__(
            f"{place(span)}the operands of this gemm cannot be brought to L0A and L0B ({product}); "
            f"needed: {rule}. Use smaller tiles of m and n, or copy to T.alloc_L0A and "
            "T.alloc_L0B tiles yourself."
        )
