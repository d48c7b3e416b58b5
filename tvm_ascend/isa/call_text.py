# SPDX-License-Identifier: Apache-2.0
"""Reads the Ascend C text of a row back into the vendor's declaration of its call.

What a call's parameters are to the row is found where the text names its operands and parameters;
what the text fixes instead becomes a condition, by which rows of one declaration are told apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tvm_ascend.isa.instr import Instr, Operand, Param, Space
from tvm_ascend.isa.structs import STRUCTS
from tvm_ascend.isa.table import TABLE

C_TYPES = {"float16": "half", "bfloat16": "bfloat16_t", "float32": "float", "bool": "bool"}
_HOLE = re.compile(r"\{(\w+)\}")
_CONSTANT = re.compile(r"AscendC::(\w+)::(\w+)")
_PLACEHOLDER = re.compile(r"(?:static_cast<(\w+)>\()?AscendC::MASK_PLACEHOLDER\)?")
_OBJECT = re.compile(r"AscendC::(CFG_\w+)")
_STRUCT = re.compile(r"AscendC::(\w+)(<[^()]*>)?\((.*)\)")
_LITERAL = re.compile(r"\d+|true|false")
_PACKED = re.compile(r"static_cast<uint64_t>\(\{(\w+)\}\)(?: << (\d+))?")
_CALL = re.compile(r"AscendC::(\w+)(?:<(.*?)>)?\((.*)\);")
_BLOCK = re.compile(r"\{\{\n(.*)\n  (AscendC::.*;)\n\}\}", re.DOTALL)
_DECLARED_LIST = re.compile(r" *AscendC::LocalTensor<\{T\}> \w+\[\d+\];")
_FILLED_LIST = re.compile(
    r" *for \(uint32_t (\w+) = 0; \1 < (\d+); \+\+\1\) (\w+)\[\1\] = (\w+)\[\1 \* (\w+)\];"
)
_NAMED_HOLE = re.compile(r" *const [\w:<>{}]+ (\w+) = \{(\w+)\};")
_DECLARED_RESULT = re.compile(r" *(\w+) (\w+) = 0;")
_DECLARED_STRUCT = re.compile(r" *AscendC::(\w+) (\w+)\((.*)\);")
_ASSIGNED = re.compile(r" *(\w+)\.(\w+) = (.*);")
_DECLARED_ARRAY = re.compile(r" *((?:const )?\w+) (\w+)\[\d+\] = \{\{(.*)\}\};")


@dataclass(frozen=True)
class Wrapper:
    """One declaration and the row it issues.

    ``args`` are the row's members as texts of the declaration's parameters, ``{0}`` the first.
    ``constants`` tells rows of one declaration apart at compile time, ``conditions`` at run time.
    ``result`` is the parameter that gets what the instruction counts.
    """

    name: str
    template: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    row: Instr
    args: tuple[str, ...]
    constants: str
    conditions: str
    result: str

    @property
    def signature(self) -> tuple[str, ...]:
        """What makes two declarations the same."""
        return (self.name, self.template, *map(_signature_type, self.types))

    @property
    def declaration(self) -> str:
        """The head of the function."""
        params = [_parameter(t, n) for t, n in zip(self.types, self.names, strict=True)]
        params.append("const twin::Line line = twin::Line(__builtin_LINE())")
        head = f"template <{self.template}>\n" if self.template else ""
        return f"{head}__aicore__ inline void {self.name}({', '.join(params)})"


def _signature_type(kind: str) -> str:
    """A type without the const that only the body of a function sees."""
    return kind if kind.endswith(("&", "*", "]")) else kind.removeprefix("const ")


def _parameter(kind: str, name: str) -> str:
    """A parameter; the name of an array stands before its brackets."""
    if "(&)" in kind:
        return kind.replace("(&)", f"(&{name})")
    return f"{kind.removesuffix('[]')} {name}{'[]' if kind.endswith('[]') else ''}"


def split(text: str) -> list[str]:
    """Arguments of a call: split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        shift = char == "<" and "<<" in text[max(0, at - 1) : at + 2]
        depth += (char in "(<{" and not shift) - (char in ")>}")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _declared(row: Instr, member: Operand | Param) -> str:
    """The declared type of an operand or parameter that a call passes by itself."""
    if isinstance(member, Operand):
        kind = "GlobalTensor" if Space.GM in member.spaces else "LocalTensor"
        dtype = member.dtype if member.dtype in row.types else ctype(member.dtype)
        return f"const {kind}<{dtype}>&"
    if member.declared:
        return member.declared
    if member.type == "text":
        return "const char*"
    if member.type in row.types:
        return f"const {member.type}&"
    return f"const {member.type.removeprefix('enum:')}"


def value_text(param: Param, text: str) -> str:
    """What the simulator gets for a parameter: of an enumerator or a type, its place."""
    if param.type == "typename":
        return f"twin::IndexOfType<{', '.join([text, *map(ctype, param.values)])}>()"
    return f"twin::IndexOf({text})" if param.values else text


@dataclass(frozen=True)
class _Array:
    """An array that a block declares before its call; ``type`` is how a parameter declares it."""

    type: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class _List:
    """An array of tensors at even distances, which a block fills in a loop."""

    type: str
    operand: str
    step: str


@dataclass(frozen=True)
class _Result:
    """A variable that a block declares for what the call counts."""

    type: str


@dataclass(frozen=True)
class _Object:
    """A parameter struct that a block declares and completes: its fields by name."""

    struct: str
    fields: dict[str, str]

    @property
    def type(self) -> str:
        """How a call takes it."""
        return f"const {self.struct}&"


_Declared = _Array | _List | _Result | _Object


def _constructed(struct: str, inner: str) -> dict[str, str]:
    """The fields that the arguments of a constructor set."""
    values = split(inner)
    fields = STRUCTS[struct].constructor(len(values))
    return {f.plain_name: v for f, v in zip(fields, values, strict=True)}


def read_block(emit: str) -> tuple[dict[str, _Declared], str]:
    """What a statement declares, by name, and its call."""
    block = _BLOCK.fullmatch(emit)
    if not block:
        return {}, emit
    declared: dict[str, _Declared] = {}
    holes: dict[str, str] = {}
    for line in block[1].splitlines():
        if array := _DECLARED_ARRAY.fullmatch(line):
            declared[array[2]] = _Array(f"{array[1]}[]", tuple(split(array[3])))
        elif filled := _FILLED_LIST.fullmatch(line):
            kind = f"const LocalTensor<T> (&)[{filled[2]}]"
            declared[filled[3]] = _List(kind, holes[filled[4]], holes[filled[5]])
        elif named := _NAMED_HOLE.fullmatch(line):
            holes[named[1]] = named[2]
        elif struct := _DECLARED_STRUCT.fullmatch(line):
            declared[struct[2]] = _Object(struct[1], _constructed(struct[1], struct[3]))
        elif assigned := _ASSIGNED.fullmatch(line):
            owner = declared[assigned[1]]
            assert isinstance(owner, _Object), line
            owner.fields[assigned[2]] = assigned[3]
        elif not _DECLARED_LIST.fullmatch(line):
            kind, name = _DECLARED_RESULT.fullmatch(line).groups()  # type: ignore[union-attr]
            declared[name] = _Result(f"{kind}&")
    return declared, block[2]


class _Reader:
    """Reads the arguments of one call back into parameters."""

    def __init__(self, row: Instr, declared: dict[str, _Declared]) -> None:
        self.row, self.declared = row, declared
        self.members: dict[str, Operand | Param] = {o.name: o for o in row.operands}
        self.members |= {p.name: p for p in row.params}
        self.where: dict[str, str] = {}
        self.types: list[str] = []
        self.names: list[str] = []
        self.conditions: list[str] = []
        self.result = ""

    def argument(self, text: str) -> None:
        place = f"{{{len(self.types)}}}"
        if hole := _HOLE.fullmatch(text):
            self._add(_declared(self.row, self.members[hole[1]]), hole[1])
            self.where[hole[1]] = place
        elif text in self.declared:
            found = self.declared[text]
            self._add(found.type, text)
            if isinstance(found, _Array):
                self._values(found.values, lambda i: f"{place}[{i}]")
            elif isinstance(found, _List):
                self.where[found.operand] = f"{place}[0]"
                self.where[found.step] = f"twin::StepOf({place})"
            elif isinstance(found, _Object):
                self._fields(found.struct, found.fields, place)
            else:
                self.result = place
        elif text in ("true", "false"):
            self._add("bool", f"flag{len(self.types)}")
            self.conditions.append(f"{place} == {text}")
        elif placeholder := _PLACEHOLDER.fullmatch(text):
            self._add(placeholder[1] or "uint64_t", "mask")
        elif constant := _CONSTANT.fullmatch(text):
            self._add(constant[1], _lower(constant[1]))
            self.conditions.append(f"{place} == {constant[1]}::{constant[2]}")
        else:
            struct, types, inner = _STRUCT.fullmatch(text).groups()  # type: ignore[union-attr]
            self._add(f"const {struct}{(types or '').replace('{T}', 'T')}&", _lower(struct))
            self._fields(struct, _constructed(struct, inner), place)

    def _fields(self, struct: str, given: dict[str, str], place: str) -> None:
        """Fields that other rows give a value keep their default in this one."""
        declared = STRUCTS[struct].fields
        kept = {f.name: f.default for f in declared if f.name in assigned_fields(struct)}
        values = {**kept, **given}
        names = list(values)
        self._values(list(values.values()), lambda i: f"{place}.{names[i]}")

    def _add(self, kind: str, name: str) -> None:
        self.types.append(kind)
        self.names.append(name)

    def _values(self, values: Sequence[str], place: Callable[[int], str]) -> None:
        for number, value in enumerate(values):
            if hole := _HOLE.fullmatch(value):
                self.where[hole[1]] = place(number)
            elif isinstance(found := self.declared.get(value), _Array):
                inside = place(number)
                self._values(found.values, lambda i, at=inside: f"{at}[{i}]")  # type: ignore[misc]
            elif _LITERAL.fullmatch(value):
                self.conditions.append(f"{place(number)} == {value}")
            else:
                self._unpack(value, place(number))

    def _unpack(self, text: str, place: str) -> None:
        """Members that share one word, each at its bit."""
        for part in text.split(" | "):
            name, shift = _PACKED.fullmatch(part).groups()  # type: ignore[union-attr]
            member = self.members[name]
            assert isinstance(member, Param), text
            self.where[name] = f"static_cast<{member.type}>({place} >> {shift or 0})"


@cache
def assigned_fields(struct: str) -> frozenset[str]:
    """The fields of a struct that the block of some row sets."""
    blocks = [read_block(row.emit)[0].values() for row in TABLE.values()]
    objects = [d for block in blocks for d in block if isinstance(d, _Object)]
    return frozenset(name for o in objects if o.struct == struct for name in o.fields)


def wrapper(row: Instr, emit: str, template: str) -> Wrapper:
    """Read a call's text back into its declaration."""
    declared_names, call = read_block(emit)
    name, template_args, args = _CALL.fullmatch(call).groups()  # type: ignore[union-attr]
    reader, constants = _Reader(row, declared_names), []
    for text, declared in zip(split(template_args or ""), split(template), strict=False):
        if constant := _CONSTANT.fullmatch(text):
            member = declared.split(" = ")[0].split()[-1]
            constants.append(f"{member} == {constant[1]}::{constant[2]}")
        elif _LITERAL.fullmatch(text):
            constants.append(f"{declared.split(' = ')[0].split()[-1]} == {text}")
        elif constant := _OBJECT.fullmatch(text):
            constants.append(f"&{declared.split(' = ')[0].split()[-1]} == &{constant[1]}")
        elif (hole := _HOLE.fullmatch(text)) and hole[1] in reader.members:
            reader.where[hole[1]] = hole[1]
    if "bool isSetMask" in template and row.form != "preset":
        constants.append("isSetMask")
    for text in split(args):
        reader.argument(text)
    ordered = [
        *(reader.where[o.name] for o in row.operands),
        *(value_text(p, reader.where[p.name]) for p in row.params),
    ]
    return Wrapper(
        name,
        template,
        tuple(reader.types),
        tuple(reader.names),
        row,
        tuple(ordered),
        " && ".join(constants),
        " && ".join(reader.conditions),
        reader.result,
    )


VIEW = "ReinterpretCast"
"""What a row passes as another dtype is declared by the row of that dtype."""


def wrappers() -> Iterator[Wrapper]:
    """Every call that some CANN version has for a row."""
    for row in TABLE.values():
        if not _CALL.fullmatch(read_block(row.emit)[1]) or VIEW in row.emit:
            continue
        plain = ", ".join(f"typename {t}" for t in row.types)
        yield wrapper(row, row.emit, row.template or plain)
        for later in row.renamed:
            yield wrapper(row, later.emit, later.template or row.template or plain)


def ctype(dtype: str) -> str:
    """The C++ type of a dtype."""
    return C_TYPES.get(dtype, f"{dtype}_t")
