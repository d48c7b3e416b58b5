# SPDX-License-Identifier: Apache-2.0
"""Every error a user can cause: one class per situation, text in one place.

The form is always: what is wrong - where - what is allowed - what to do, with the values.
``AscendError`` must not derive from RuntimeError: the TVMScript parser keeps only the last line of those.
"""

from __future__ import annotations

from dataclasses import dataclass


class AscendError(Exception):
    """Base of every error that tvm_ascend raises for a user's mistake."""

    @classmethod
    def from_text(cls, text: str) -> AscendError:
        """An error of this class whose text is already made, as when it crossed a process or C++."""
        error = cls.__new__(cls)
        Exception.__init__(error, text)
        return error

    def __reduce__(self) -> tuple:
        return type(self).from_text, (str(self),)


def at(span) -> str:
    """Render a TVM span as ``file:line``, or an empty string when the statement carries none."""
    if span is None:
        return ""
    return f"{span.source_name.name}:{span.line}"


class UnknownTarget(AscendError):
    """A target name that TVM cannot resolve."""

    def __init__(self, name: str, known: list[str], reason: str = "") -> None:
        detail = f" ({reason})" if reason else ""
        super().__init__(
            f"target {name!r} does not exist{detail}; Ascend targets are "
            f"{', '.join(known)}. Pass one of these, or tvm.target.Target(name, host=...)."
        )


class NotAnAscendTarget(AscendError):
    """A target of another kind, or a function without a target, where an Ascend one is needed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} is not an Ascend target (its keys must contain 'ascend'). "
            "Bind one first: tirx.transform.BindTarget(tvm.target.Target('ascend'))."
        )


class UnknownChip(AscendError):
    """A target whose ``model`` is not in the chip table."""

    def __init__(self, model: object, known: list[str]) -> None:
        super().__init__(
            f"the target's model {model!r} is not in the chip table; known models are "
            f"{', '.join(known)}. Use a tag such as 'huawei/ascend-{known[0]}'."
        )


class ScriptError(AscendError):
    """A kernel that TVMScript cannot parse."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: the kernel does not parse: {message}")


class OperandExpected(AscendError):
    """A tile operation was given something that is no buffer, slice or element."""

    def __init__(self, op: str, name: str, value: object) -> None:
        super().__init__(
            f"T.{op}: `{name}` is a {type(value).__name__} ({value}); allowed are a buffer `A`, a slice `A[i, :]` or "
            "the first element of a tile `A[i, j]`. Pass one of these."
        )


class RowLongerThanTile(AscendError):
    """A copy of a whole row into a tile that holds only part of it."""

    def __init__(self, op: str, tensor: str, row: object, tile: str, block: object) -> None:
        super().__init__(
            f"T.{op}: `{tensor}` is {row} elements long here but `{tile}` holds {block}: a loop is missing, `for` over "
            f"the row in steps of {block}. Write `for k in T.serial(T.ceildiv({row}, {block})):` and copy "
            f"`{tensor}` from element `k * {block}` on, or make the tile {row} elements long."
        )


class RowShorterThanTile(AscendError):
    """A copy whose slice does not fill the tile, so that part of the tile would be undefined."""

    def __init__(self, op: str, tensor: str, row: object, tile: str, block: object) -> None:
        super().__init__(
            f"T.{op}: `{tensor}` is {row} elements long here but `{tile}` holds {block}: the last {block} - {row} "
            f"elements of the tile would be undefined. Make the tile exactly {row} elements long (any length is "
            "allowed, tails are handled), or name only the first element of the slice to have the rest filled with 0."
        )


class ShapeMismatch(AscendError):
    """Operands of a tile operation whose shapes do not fit together."""

    def __init__(self, op: str, first: str, first_shape: object, second: str, second_shape: object, rule: str) -> None:
        super().__init__(
            f"T.{op}: `{first}` has shape {first_shape} and `{second}` has shape {second_shape}; {rule}."
        )


class ReduceAxis(AscendError):
    """A reduction over an axis that the source does not have."""

    def __init__(self, op: str, dim: int, rank: int) -> None:
        super().__init__(f"T.{op}: dim={dim} is no axis of a source with {rank} dimensions; allowed {-rank}..{rank - 1}.")


class AtomicOnGlobal(AscendError):
    """An atomic update of a tensor in global memory."""

    def __init__(self, tensor: str) -> None:
        super().__init__(
            f"T.atomic_add: `{tensor}` is in global memory, where several cores would add at once; only on-chip "
            f"fragments are allowed. Add into a `T.alloc_fragment` tile and copy it to `{tensor}` at the end."
        )


class KernelExtents(AscendError):
    """A grid with no or too many dimensions."""

    def __init__(self, count: int) -> None:
        super().__init__(f"T.Kernel takes 1 to 3 extents, got {count}. Flatten the grid, or loop inside the kernel.")


class ParallelOutsideKernel(AscendError):
    """A nest of parallel loops in a function that our decorator does not parse."""

    def __init__(self) -> None:
        super().__init__(
            "T.Parallel over several extents works only under `T.prim_func` of tvm_ascend.language. Use that "
            "decorator, or nest one-extent T.Parallel loops."
        )


class HazardError(AscendError):
    """A kernel did something the chip does not define; raised by strict simulation."""

    def __init__(self, kernel: str, hazard) -> None:
        sides = [f"  {side}" for side in (hazard.first, hazard.second) if side is not None]
        place = f" of {hazard.space} bytes [{hazard.bytes[0]}, {hazard.bytes[1]})" if hazard.bytes else ""
        fix = [f"  what would order them: {hazard.fix}"] if hazard.fix else []
        head = f"{hazard.kind} in kernel `{kernel}` on core {hazard.core}{place}: {hazard.message}"
        super().__init__("\n".join([head, *sides, *fix]))
        self.hazard = hazard


class RaceError(HazardError):
    """Two accesses of the same bytes that nothing orders."""


class DeadlockError(HazardError):
    """A wait that nothing will ever satisfy."""


class FlagProtocolError(HazardError):
    """A flag set twice, or never consumed."""


class MemoryAccessError(HazardError):
    """Out of bounds, misaligned, overlapping, or bytes that nobody wrote."""


_HAZARD_CLASSES = {
    "race": RaceError,
    "wait_without_set": DeadlockError,
    "set_twice": FlagProtocolError,
    "unconsumed_flag": FlagProtocolError,
    "out_of_bounds": MemoryAccessError,
    "misaligned": MemoryAccessError,
    "poison": MemoryAccessError,
    "overlap": MemoryAccessError,
}


def hazard_error(kernel: str, hazard) -> HazardError:
    """The error class of a hazard's kind."""
    return _HAZARD_CLASSES.get(hazard.kind, HazardError)(kernel, hazard)


class ArgumentCountError(AscendError):
    """A kernel called with too many or too few arguments."""

    def __init__(self, kernel: str, given: int, names: list[str]) -> None:
        super().__init__(
            f"`{kernel}` was called with {given} arguments; it takes {len(names)}: {', '.join(names)}. "
            "Outputs named in out_idx are allocated and returned, do not pass them."
        )


class ArgumentTypeError(AscendError):
    """An argument that is no tensor, or one with another dtype than the kernel's."""

    def __init__(self, kernel: str, name: str, given: object, expected: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is {given}; the kernel was compiled for {expected}. "
            f"Convert it first, for example x.astype('{expected}'), or compile for another dtype."
        )


class ArgumentShapeError(AscendError):
    """An argument whose shape is not the kernel's."""

    def __init__(self, kernel: str, name: str, given: tuple, expected: tuple) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` has shape {given}; the kernel was compiled for {expected}. "
            "Compile the kernel for this shape, or pass a tensor of that shape."
        )


class ArgumentLayoutError(AscendError):
    """An output argument that the kernel cannot write in place."""

    def __init__(self, kernel: str, name: str, why: str) -> None:
        super().__init__(
            f"argument `{name}` of `{kernel}` is {why}, so the kernel cannot write to it in place. "
            "Pass a contiguous, writable tensor, or name it in out_idx."
        )


class OutIndexError(AscendError):
    """An ``out_idx`` that names no tensor parameter."""

    def __init__(self, kernel: str, index: object, names: list[str]) -> None:
        count = len(names)
        super().__init__(
            f"out_idx {index} does not name a tensor parameter of `{kernel}`; it has {count}: "
            f"{', '.join(f'{i} {n}' for i, n in enumerate(names))}. "
            f"Use distinct integers from 0 to {count - 1}, or from -{count} to -1."
        )


class SymbolicShapeError(AscendError):
    """A parameter whose shape is not a constant."""

    def __init__(self, kernel: str, name: str, shape: object) -> None:
        super().__init__(
            f"parameter `{name}` of `{kernel}` has the symbolic shape {shape}; shapes must be constants "
            "in this version. Compile one kernel per shape."
        )


class NotAKernelError(AscendError):
    """Something that ``compile`` cannot compile."""

    def __init__(self, given: object, allowed: str) -> None:
        super().__init__(f"cannot compile {given}; {allowed}.")


class UnknownExecutorError(AscendError):
    """An executor name outside the list, or one that is not available here."""

    def __init__(self, name: str, allowed: str) -> None:
        super().__init__(f"executor {name!r} cannot be used; {allowed}.")


class NestedGrid(AscendError):
    """A second grid inside a kernel."""

    def __init__(self, axis: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: a second grid ({axis}) starts inside the kernel; allowed is one grid around the whole body. "
            "Make one kernel per grid, or one T.Kernel with several extents."
        )


class UnknownStageError(AscendError):
    """A stage name that the pipeline does not have."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"there is no stage {name!r}; the stages are {', '.join(known)}.")


class UnknownOverrideError(AscendError):
    """An override that no choice of this kernel answers to."""

    def __init__(self, name: str, decisions: dict[str, object]) -> None:
        known = ", ".join(f"{k} (now {v})" for k, v in decisions.items()) or "none"
        super().__init__(
            f"override {name!r} names no choice of this kernel; its choices are {known}. "
            "Correct the name in Options(overrides=...)."
        )


class BadTile(AscendError):
    """An overridden tile size that is misaligned or out of range."""

    def __init__(self, name: str, value: int, step: int, most: int | None) -> None:
        limit = f" up to {most}" if most is not None else ""
        near = max(step, value // step * step) if most is None else min(max(value, step), most)
        super().__init__(
            f"override `{name}` = {value} cannot be used: it must be a positive multiple of {step}{limit}. "
            f"Try {near}."
        )


class TileDoesNotFit(AscendError):
    """No tile agrees with the overrides and fits on the chip."""

    def __init__(self, overrides: dict[str, int], dropped: dict[str, int]) -> None:
        reasons = "; ".join(f"{count} tiles: {reason}" for reason, count in dropped.items())
        super().__init__(
            f"no tile agrees with the overrides {overrides} and fits ({reasons or 'nothing was left to try'}). "
            "Make an overridden size smaller, or drop one and let the model choose."
        )


class ScopeContradiction(AscendError):
    """A buffer whose uses need two different memories."""

    def __init__(self, name: str, first: tuple, second: tuple) -> None:
        uses = " and ".join(f"{space} by {at(span)} ({what})" for what, space, span in (first, second))
        super().__init__(
            f"buffer `{name}` is needed in two memories: {uses}. A buffer lives in one memory; "
            "allocate a second tile and T.copy between the two."
        )


class NothingToTune(AscendError):
    """A function without decisions that a search could take."""

    def __init__(self, kernel: str, why: str) -> None:
        super().__init__(
            f"`{kernel}` has nothing to tune: {why}. A tunable function is one s_tir block that the Cube can "
            "compute, C[.., m, n] += A[.., m, k] * B[.., k, n]. Compile it as it is, or tune its matrix multiply alone."
        )


class TrialCount(AscendError):
    """A search without trials."""

    def __init__(self, trials: object) -> None:
        super().__init__(
            f"trials={trials!r} gives the search nothing to measure; allowed are integers from 1 on. "
            "64 is a good start."
        )


class MissingPackage(AscendError):
    """A Python package that tuning needs and that is not installed."""

    def __init__(self, package: str, install: str) -> None:
        super().__init__(
            f"tuning needs the Python package `{package}`, which cannot be imported here. "
            f"Install it: pip install {install}"
        )


class WorkDirNotWritable(AscendError):
    """A directory for tuning records that cannot be written."""

    def __init__(self, path: object, reason: object) -> None:
        super().__init__(
            f"work_dir {str(path)!r} cannot be written ({reason}); tuning keeps its database there. "
            "Pass a directory that you may create files in, work_dir=..."
        )


class EveryCandidateFailed(AscendError):
    """A search in which no candidate ran and gave the right answer."""

    def __init__(self, kernel: str, tried: int, reasons: dict[str, int]) -> None:
        lines = [f"  {count} x {reason}" for reason, count in reasons.items()]
        super().__init__(
            "\n".join(
                [
                    f"none of the {tried} candidates for `{kernel}` compiles, runs and is right, for these reasons:",
                    *lines,
                    "Compile the function without tuning first, or fix fewer decisions in options.overrides.",
                ]
            )
        )


class NoTuningRecord(AscendError):
    """A database without a result for a function."""

    def __init__(self, kernel: str, database: object, key: str) -> None:
        super().__init__(
            f"{str(database)!r} holds no tuned result for `{kernel}` with these shapes and dtypes under {key}; results "
            "hold for one chip and one version of this package and TVM only. Tune it: tvm_ascend.tune.tune(func)."
        )


class NotAMatmulTile(AscendError):
    """A block marked as a Cube tile that is no matrix multiply of whole tiles."""

    def __init__(self, block: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: block `{block}` is marked ascend.op = 'gemm' but is not `c[i, j] += a[i, k] * b[k, j]` over "
            "three loops without a guard. Split with disable_predication=True, or drop the annotation."
        )


class ScalarCodeError(AscendError):
    """An expression that the scalar unit's code cannot hold."""

    def __init__(self, what: str, text: str, span: object) -> None:
        place = at(span)
        super().__init__(
            f"{place + ': ' if place else ''}the scalar unit has no `{what}`, used in `{text}`. Arithmetic, "
            "comparisons and the functions of the C library are allowed; rewrite the expression with these, or "
            "compute it with vector operations."
        )


class NativeLibraryError(AscendError):
    """The simulator's shared library cannot be loaded."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"the native library {path} does not load: {reason}. Rebuild it with "
            "`cmake -S . -B build -G Ninja && cmake --build build`, or reinstall tvm_ascend; "
            "`python -m tvm_ascend doctor` says what is missing."
        )


class TwinCompilerMissing(AscendError):
    """The twin executor without a C++ compiler."""

    def __init__(self, command: str) -> None:
        super().__init__(
            f"the twin compiles the emitted Ascend C with `{command}`, and no such program is on the PATH. Any "
            "C++17 compiler does: apt-get install g++, or set CXX to one; or use executor='simulator', which needs "
            "none."
        )


class TwinCompileError(AscendError):
    """Emitted Ascend C that the C++ compiler refuses."""

    def __init__(self, kernel: str, source: object, output: str) -> None:
        super().__init__(
            f"the Ascend C of kernel `{kernel}` does not compile as a twin; the source is kept in {source}. Emitted "
            f"source always should, so this is a fault of tvm_ascend unless it was edited. The compiler said:\n{output}"
        )


class DamagedDatabase(AscendError):
    """A tuning database that cannot be read."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"the tuning database in {str(path)!r} cannot be read ({reason}); allowed are the two JSON files that tune "
            "writes, one record a line. Remove the damaged lines or the directory; tuning makes it anew."
        )


class LayoutContradiction(AscendError):
    """A tile used both as stored and transposed by matrix multiplies."""

    def __init__(self, buffer: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: `{buffer}` is an operand of a gemm both transposed and not; a tile in L0 has one layout. "
            "Use two tiles."
        )


class NotAMatrix(AscendError):
    """A buffer of the Cube's memories that has no two dimensions."""

    def __init__(self, buffer: str, shape: list[object], span: object) -> None:
        super().__init__(
            f"{at(span)}: `{buffer}` has shape {tuple(int(x) for x in shape)} but lives in a memory of the Cube, where "
            "a tile is a matrix (rows, columns), leading dimensions being 1. Give it two dimensions."
        )


class NoCopyPath(AscendError):
    """A copy between two memories that no instruction connects."""

    def __init__(self, src: str, src_space: object, dst: str, dst_space: object, span: object) -> None:
        from_, to = (getattr(space, "value", space) for space in (src_space, dst_space))
        super().__init__(
            f"{at(span)}: there is no way from `{src}` in {from_} to `{dst}` in {to}; the paths of the Cube are "
            "gm -> l1, l1 -> l0a, l1 -> l0b and l0c -> gm. Go through one of these, or through a tensor in gm."
        )


class NoFixpipeCast(AscendError):
    """A copy out of L0C to a dtype that Fixpipe cannot make."""

    def __init__(self, src: str, dst: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: L0C holds {src} and cannot be stored as {dst}; allowed are float32 -> float32, float16 or "
            "bfloat16, and int32 -> int32. Change the dtype of the output and cast in a Vector kernel."
        )


class FieldOverflow(AscendError):
    """An instruction field that a tile would overflow."""

    def __init__(self, key: str, name: str, value: object, most: int, span: object) -> None:
        super().__init__(
            f"{at(span)}: field `{name}` of {key} would be {value if value is not None else 'unbounded'}, allowed is "
            f"up to {most}. Make the tile smaller along that axis."
        )


class CubeTileRule(AscendError):
    """A tile operation that the Cube's instructions cannot address."""

    def __init__(self, rule: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: this tile operation has no Cube instruction: {rule}. Change the slice so that it does."
        )


class AccumulatorFill(AscendError):
    """A fill of L0C that is not the clearing before products."""

    def __init__(self, buffer: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: no instruction fills L0C, where `{buffer}` lives; allowed is to clear it with 0 right before "
            "the loops of one gemm into it, which runs at least once. Use the gemm's init instead."
        )


class LoopConditionOnChip(AscendError):
    """A while loop whose condition reads on-chip memory, where no flag can be placed."""

    def __init__(self, span: object) -> None:
        super().__init__(
            f"{at(span)}: the condition of this `while` reads on-chip memory, which other units may still be writing; "
            "allowed are variables and tensors in global memory. Use a `for` loop with an upper bound and an `if`."
        )


class JumpInKernel(AscendError):
    """A break or continue in a loop that needs flags, whose sets and waits must stay balanced."""

    def __init__(self, span: object) -> None:
        super().__init__(
            f"{at(span)}: `break` or `continue` leaves a loop whose instructions are ordered by flags, so that a flag "
            "would stay raised; allowed in loops of scalar code only. Guard the rest of the body with `if` instead."
        )


class TooManyEvents(AscendError):
    """More flags between two units than the chip has ids."""

    def __init__(self, usable: int) -> None:
        super().__init__(
            f"this kernel needs more than {usable} flags at once between two units; the chip has {usable} usable ids "
            "per pair. Split the kernel in two, or pipeline fewer loops (num_stages=1)."
        )


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
        self, kernel: str, space: str, chip: str, capacity: int, buffers: list[BufferLine]
    ) -> None:
        need = sum(b.bytes for b in buffers)
        largest = max(buffers, key=lambda b: b.bytes)
        single = sum(b.bytes // b.versions for b in buffers)
        fits = int(largest.elements * capacity / need)
        fits -= fits % 16 if fits > 16 else 0
        advice = [f"Make the tiles about {need / capacity:.2f} times smaller"]
        advice[0] += f" (`{largest.name}`: at most about {fits:,} elements, now {largest.elements:,})"
        if single <= capacity < need:
            advice.append(f"or set num_stages=1, which needs {single:,} bytes")
        super().__init__(
            f"kernel `{kernel}` needs {need:,} bytes of {space.upper()} at once, {chip} has {capacity:,}: "
            f"{'; '.join(str(b) for b in buffers)}. {', '.join(advice)}."
        )


class MixedKernel(AscendError):
    """A kernel that needs the Vector core and the Cube core."""

    def __init__(self, vector: str, vector_span: object, cube: str, cube_span: object) -> None:
        super().__init__(
            f"{vector} ({at(vector_span) or 'no line'}) needs the Vector core and {cube} ({at(cube_span) or 'no line'}) "
            "the Cube core; a kernel runs on one of them in this version. Put the vector work into a kernel of its own."
        )


class WrongCore(AscendError):
    """An instruction in a kernel of the other core kind."""

    def __init__(self, instruction: str, core: str, allowed: list[str], span: object) -> None:
        super().__init__(
            f"{at(span)}: {instruction} cannot run on {core}, the core of this kernel; it exists on "
            f"{' and '.join(allowed)}. Move it into a kernel for that core."
        )


class WrongMemory(AscendError):
    """An operand in a memory that the instruction cannot reach."""

    def __init__(
        self, instruction: str, operand: str, buffer: str, space: str, allowed: list[str], span: object
    ) -> None:
        super().__init__(
            f"{at(span)}: {instruction} takes `{operand}` from {' or '.join(s.upper() for s in allowed)}, but "
            f"`{buffer}` is in {space.upper()}. Copy it there first, or allocate it in that memory."
        )


class UnsupportedDtypes(AscendError):
    """Operand dtypes that the instruction does not have."""

    def __init__(
        self, instruction: str, given: list[str], allowed: list[tuple[str, ...]], span: object
    ) -> None:
        known = "; ".join(", ".join(d) for d in allowed)
        super().__init__(
            f"{at(span)}: {instruction} does not exist for operands of {', '.join(given)}; it takes {known}. "
            "Cast the operands first."
        )


class ParameterOutOfRange(AscendError):
    """A parameter outside of its field."""

    def __init__(self, instruction: str, param: str, value: str, allowed: str, span: object) -> None:
        super().__init__(
            f"{at(span)}: {instruction} has {param} = {value}; allowed is {allowed}. Split the instruction into a loop, "
            "or pass a legal value."
        )


class MisalignedOperand(AscendError):
    """An on-chip operand whose address is not aligned."""

    def __init__(
        self, instruction: str, operand: str, buffer: str, space: str, address: int, align: int, span: object
    ) -> None:
        super().__init__(
            f"{at(span)}: operand `{operand}` of {instruction} starts at byte {address} of {space.upper()} (in "
            f"`{buffer}`); it must be a multiple of {align}. Pad the rows of `{buffer}` to {align} bytes."
        )
