# SPDX-License-Identifier: Apache-2.0
"""Writes the twin's instructions and structs: ``python -m tvm_ascend.isa.gen_twin --write``.

A wrapper has the vendor's declaration, read off the row's own ``emit`` text, and a last parameter
that no call passes: the line of the call. It hands operands and parameters to the simulator in the
order of the row.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tvm_ascend.isa.instr import Instr, Operand, Param, Space
from tvm_ascend.isa.structs import STRUCTS, Field, Struct
from tvm_ascend.isa.table import TABLE

OUT = Path(__file__).parents[2] / "src" / "twin"
HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from tvm_ascend/isa by `python -m tvm_ascend.isa.gen_twin --write`; do not edit.
"""
C_TYPES = {"float16": "half", "bfloat16": "bfloat16_t", "float32": "float", "bool": "bool"}
_HOLE = re.compile(r"\{(\w+)\}")
_CONSTANT = re.compile(r"AscendC::(\w+)::(\w+)")
_STRUCT = re.compile(r"AscendC::(\w+)(<[^()]*>)?\((.*)\)")
_CALL = re.compile(r"AscendC::(\w+)(?:<(.*?)>)?\((.*)\);")


@dataclass(frozen=True)
class Wrapper:
    """One declaration and the row it issues; ``condition`` tells rows of one declaration apart."""

    declaration: str
    row: Instr
    args: tuple[str, ...]
    condition: str


def split(text: str) -> list[str]:
    """Arguments of a call: split at the commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "(<{") - (char in ")>}")
        if char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _lower(name: str) -> str:
    return name[0].lower() + name[1:]


def _declared(row: Instr, member: Operand | Param) -> str:
    """The declaration of an operand or parameter that a call passes by itself."""
    if isinstance(member, Operand):
        kind = "GlobalTensor" if Space.GM in member.spaces else "LocalTensor"
        return f"const {kind}<{member.dtype}>& {member.name}"
    if member.declared:
        return f"{member.declared} {member.name}"
    if member.type in row.types:
        return f"const {member.type}& {member.name}"
    return f"const {member.type.removeprefix('enum:')} {member.name}"


def _value(param: Param, text: str) -> str:
    return f"twin::IndexOf({text})" if param.values else text


def wrapper(row: Instr, emit: str, template: str) -> Wrapper:
    """Read a call's text back into its declaration."""
    name, template_args, args = _CALL.fullmatch(emit).groups()  # type: ignore[union-attr]
    members: dict[str, Operand | Param] = {o.name: o for o in row.operands}
    members |= {p.name: p for p in row.params}
    where: dict[str, str] = {}
    params, conditions = [], []
    template_params = split(template)
    for text, declared in zip(split(template_args or ""), template_params, strict=False):
        if constant := _CONSTANT.fullmatch(text):
            conditions.append(f"{declared.split()[-1]} == {constant[1]}::{constant[2]}")
        elif (hole := _HOLE.fullmatch(text)) and hole[1] in members:
            where[hole[1]] = hole[1]
    for text in split(args):
        if hole := _HOLE.fullmatch(text):
            params.append(_declared(row, members[hole[1]]))
            where[hole[1]] = hole[1]
        elif constant := _CONSTANT.fullmatch(text):
            params.append(f"const {constant[1]}")
        else:
            struct, types, inner = _STRUCT.fullmatch(text).groups()  # type: ignore[union-attr]
            variable, values = _lower(struct), split(inner)
            params.append(f"const {struct}{(types or '').replace('{T}', 'T')}& {variable}")
            for field, value in zip(STRUCTS[struct].constructor(len(values)), values, strict=True):
                if hole := _HOLE.fullmatch(value):
                    where[hole[1]] = f"{variable}.{field.name}"
    ordered = [
        *(where[o.name] for o in row.operands),
        *(_value(p, where[p.name]) for p in row.params),
    ]
    params.append("const int line = __builtin_LINE()")
    head = f"template <{template}>\n__aicore__ inline void {name}({', '.join(params)})"
    return Wrapper(head, row, tuple(ordered), " && ".join(c for c in conditions if "CFG_" not in c))


def wrappers() -> Iterator[Wrapper]:
    """Every call that some CANN version has for a row."""
    for row in TABLE.values():
        if not _CALL.fullmatch(row.emit):
            continue
        plain = ", ".join(f"typename {t}" for t in row.types)
        yield wrapper(row, row.emit, row.template or plain)
        for later in row.renamed:
            yield wrapper(row, later.emit, later.template or row.template or plain)


def _ctype(dtype: str) -> str:
    return C_TYPES.get(dtype, f"{dtype}_t")


def _issue(w: Wrapper, indent: str) -> str:
    row, types = w.row, ", ".join(w.row.types)
    lines = []
    if row.types:
        legal = ", ".join(f"twin::Types<{', '.join(map(_ctype, d))}>" for d in row.dtypes)
        lines.append(f"static_assert(twin::kAmong<twin::Types<{types}>, {legal}>,")
        lines.append(f'              "{row.name} has no form for these element types");')
    if "isSetMask" in w.declaration:
        lines.append(
            'static_assert(isSetMask, "the twin sets the mask of every instruction itself");'
        )
    lines.append(f'static const int32_t row = twin::Find<{types}>("{row.key}");')
    in_template = [p.name for p in row.params if f" {p.name}>" in w.declaration]
    lines += [f'static_assert(twin::IndexOf({n}) >= 0, "no such {n} here");' for n in in_template]
    args = "".join(f", {a}" for a in w.args)
    lines.append(f"twin::Issue<{len(row.operands)}>(row, line{args});")
    return "".join(f"{indent}{line}\n" for line in lines)


def functions() -> str:
    """One function for each declaration; rows that share one are told apart at compile time."""
    groups: dict[str, list[Wrapper]] = {}
    for w in wrappers():
        groups.setdefault(w.declaration, []).append(w)
    out = []
    for declaration, members in groups.items():
        if len(members) == 1:
            body = _issue(members[0], "  ")
        else:
            arms = [f"if constexpr ({w.condition}) {{\n{_issue(w, '    ')}  }}" for w in members]
            body = "  " + " else ".join(arms) + "\n"
        out.append(f"{declaration} {{\n{body}}}\n")
    return "\n".join(out)


def indices() -> str:
    """From an enumerator to its place among the row's values."""
    enums: dict[str, Param] = {}
    for row in TABLE.values():
        for param in row.params:
            if param.values:
                same = enums.setdefault(param.type, param)
                assert same.values == param.values, f"two lists of values for {param.type}"
    out = []
    for kind, param in enums.items():
        name = kind.removeprefix("enum:")
        cases = "".join(
            f"    case {param.spelling.format(value)}: return {number};\n"
            for number, value in enumerate(param.values)
        )
        out.append(
            f"constexpr int64_t IndexOf({name} value) {{\n  switch (value) {{\n{cases}"
            "    default: return -1;\n  }\n}\n"
        )
    return "\n".join(out)


def _constructor(struct: Struct, fields: tuple[Field, ...]) -> str:
    params = ", ".join(f"const {f.type} {f.name}In" for f in fields)
    order = [f.name for f in struct.fields]
    by_place = sorted(fields, key=lambda f: order.index(f.name))
    inits = ", ".join(f"{f.name}({f.name}In)" for f in by_place)
    return f"  __aicore__ {struct.name}({params}) : {inits} {{}}\n"


def structs() -> str:
    """The vendor's parameter structs."""
    out = []
    for struct in STRUCTS.values():
        members = "".join(f"  {f.type} {f.name} = {f.default};\n" for f in struct.fields)
        constructors = "".join(_constructor(struct, c) for c in struct.constructors)
        head = "template <typename T>\n" if struct.template else ""
        default = f"  __aicore__ {struct.name}() {{}}\n"
        out.append(f"{head}struct {struct.name} {{\n{default}{constructors}{members}}};\n")
    return "\n".join(out)


def files() -> dict[str, str]:
    """Generated file name -> text."""
    struct_text = f"{HEADER}namespace AscendC {{\n\n{structs()}\n}}  // namespace AscendC\n"
    text = (
        f"{HEADER}namespace twin {{\n\nusing AscendC::HardEvent;\nusing AscendC::RoundMode;\n\n"
        f"{indices()}\n}}  // namespace twin\n\nnamespace AscendC {{\n\n{functions()}\n"
        "}  // namespace AscendC\n"
    )
    return {"ascendc_structs.inc": struct_text, "ascendc_functions.inc": text}


def stale() -> list[str]:
    """Names of generated files that differ from the table."""
    return [
        name
        for name, text in files().items()
        if not (OUT / name).exists() or (OUT / name).read_text() != text
    ]


def main(argv: list[str] | None = None) -> int:
    """Command line: 0 when the files are as they should be, 1 when stale."""
    parser = argparse.ArgumentParser(prog="python -m tvm_ascend.isa.gen_twin", description=__doc__)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true", help="fail when a generated file is stale")
    mode.add_argument("--write", action="store_true", help="write the generated files")
    if parser.parse_args(argv).write:
        for name, text in files().items():
            (OUT / name).write_text(text)
    for name in stale():
        print(f"{OUT / name} is stale; run python -m tvm_ascend.isa.gen_twin --write")
    return 1 if stale() else 0


if __name__ == "__main__":
    sys.exit(main())
