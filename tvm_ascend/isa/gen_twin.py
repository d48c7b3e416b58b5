# SPDX-License-Identifier: Apache-2.0
"""Writes the twin's instructions and structs: ``python -m tvm_ascend.isa.gen_twin --write``.

A wrapper has the vendor's declaration, as ``call_text`` reads it off the row, and a last parameter
that no call passes: the line of the call. It hands operands and parameters to the simulator in the
order of the row.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tvm_ascend.isa.call_text import Wrapper, ctype, value_text, wrappers
from tvm_ascend.isa.instr import Instr, Param
from tvm_ascend.isa.structs import STRUCTS, Field, Struct
from tvm_ascend.isa.table import TABLE

OUT = Path(__file__).parents[2] / "src" / "twin"
HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Generated from tvm_ascend/isa by `python -m tvm_ascend.isa.gen_twin --write`; do not edit.
"""


def _legal(row: Instr) -> str:
    """Whether the element types are among those of a row."""
    legal = ", ".join(f"twin::Types<{', '.join(map(ctype, d))}>" for d in row.dtypes)
    return f"twin::kAmong<twin::Types<{', '.join(row.types)}>, {legal}>"


def _issue(w: Wrapper, names: tuple[str, ...], indent: str) -> str:
    row, types = w.row, ", ".join(w.row.types)
    lines = []
    lines.append(f'static const int32_t row = twin::Find<{types}>("{row.key}");')
    in_template = [p for p in row.params if re.search(rf" {p.name}(,|$)", w.template)]
    lines += [
        f'static_assert({value_text(p, p.name)} >= 0, "no such {p.name} here");'
        for p in in_template
    ]
    args = "".join(f", {a.format(*names)}" for a in w.args)
    target = f"{w.result.format(*names)} = " if w.result else ""
    lines.append(f"{target}twin::Issue<{len(row.operands)}>(row, line{args});")
    return "".join(f"{indent}{line}\n" for line in lines)


def _places(w: Wrapper, names: tuple[str, ...]) -> str:
    """Whether the operands are in memories of the row."""
    tests = []
    for operand, arg in zip(w.row.operands, w.args, strict=False):
        spaces = ", ".join(f"kTwin{s.name}" for s in operand.spaces)
        tests.append(f"twin::IsIn<{spaces}>({arg.format(*names)})")
    return " && ".join(tests)


def _known_types(members: list[Wrapper]) -> str:
    """An assertion that some row of a declaration has the element types."""
    row = members[0].row
    if not row.types:
        return ""
    legal = " ||\n                ".join(dict.fromkeys(_legal(w.row) for w in members))
    message = f'"{row.name} has no form for these element types"'
    return f"  static_assert({legal},\n                {message});\n"


def _mask_is_set(members: list[Wrapper]) -> str:
    """An assertion that the call sets its mask, where no row leaves that to the register."""
    if "bool isSetMask" not in members[0].template or any(m.row.form == "preset" for m in members):
        return ""
    message = "pass MASK_PLACEHOLDER to leave the mask to the register"
    return f'  static_assert(isSetMask, "{message}");\n'


def _fixed(w: Wrapper) -> str:
    """An assertion that the template arguments are those of the only row."""
    fixed = w.constants if w.constants != "isSetMask" else ""
    return f'  static_assert({fixed}, "{w.name} has no other form here");\n' if fixed else ""


def _body(members: list[Wrapper]) -> str:
    """The rows of one declaration, each behind what tells it apart."""
    names = members[0].names
    assertion = _known_types(members) + _mask_is_set(members)
    if len(members) == 1 and not members[0].conditions:
        return assertion + _fixed(members[0]) + _issue(members[0], names, "  ")
    spaces = {tuple(o.spaces for o in w.row.operands) for w in members}
    arms = []
    for w in members:
        known = _legal(w.row) if w.row.types else ""
        choose = " && ".join(filter(None, (known, w.constants))) or "true"
        tests = (w.conditions.format(*names), _places(w, names) if len(spaces) > 1 else "")
        run = " && ".join(filter(None, tests))
        if run:
            inner = f"if ({run}) {{\n{_issue(w, names, '      ')}      return;\n    }}\n"
        else:
            inner = f"{_issue(w, names, '    ')}    return;\n".removeprefix("    ")
        arms.append(f"  if constexpr ({choose}) {{\n    {inner}  }}\n")
    return assertion + "".join(arms) + "  twin::Issue<0>(-1, line);\n"


def functions() -> str:
    """One function for each declaration; its rows are told apart by constants or arguments."""
    groups: dict[tuple[str, ...], list[Wrapper]] = {}
    for w in wrappers():
        groups.setdefault(w.signature, []).append(w)
    return "\n".join(f"{g[0].declaration} {{\n{_body(g)}}}\n" for g in groups.values())


def indices() -> str:
    """From an enumerator to its place among the row's values."""
    enums: dict[str, Param] = {}
    for row in TABLE.values():
        for param in row.params:
            if param.values and param.type != "typename":
                same = enums.setdefault(param.type, param)
                assert same.values == param.values, f"two lists of values for {param.type}"
    out = []
    for kind, param in enums.items():
        name = kind.removeprefix("enum:")
        scope = param.spelling.removesuffix("{}").removesuffix("::")
        name = scope if scope.endswith(name) else name
        if name == "bool":
            out.append("constexpr int64_t IndexOf(bool value) { return value; }\n")
            continue
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
    params = ", ".join(f"const {f.type} {f.plain_name}In{f.extent}" for f in fields)
    order = [f.plain_name for f in struct.fields]
    by_place = sorted(fields, key=lambda f: order.index(f.plain_name))
    inits = ", ".join(f"{f.name}({f.name}In)" for f in by_place if not f.extent)
    copies = "".join(
        f" for (int i = 0; i < {f.extent[1:-1]}; ++i) {f.plain_name}[i] = {f.plain_name}In[i];"
        for f in by_place
        if f.extent
    )
    body = f"{{{copies} }}" if copies else "{}"
    return f"  __aicore__ {struct.name}({params}) : {inits} {body}\n"


def structs() -> str:
    """The vendor's parameter structs."""
    out = []
    for struct in STRUCTS.values():
        members = "".join(
            f"  {f.type} {f.name}{f' = {f.default}' if f.default else ''};\n" for f in struct.fields
        )
        constructors = "".join(_constructor(struct, c) for c in struct.constructors)
        head = "template <typename T>\n" if struct.template else ""
        default = f"  __aicore__ {struct.name}() {{}}\n"
        out.append(f"{head}struct {struct.name} {{\n{default}{constructors}{members}}};\n")
    return "\n".join(out)


def files() -> dict[str, str]:
    """Generated file name -> text."""
    struct_text = f"{HEADER}namespace AscendC {{\n\n{structs()}\n}}  // namespace AscendC\n"
    text = (
        f"{HEADER}namespace twin {{\n\n"
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
