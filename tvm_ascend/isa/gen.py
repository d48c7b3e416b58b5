# SPDX-License-Identifier: Apache-2.0
"""Writes src/isa/*.inc from the instruction table: ``python -m tvm_ascend.isa.gen --write``."""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path

from tvm_ascend.hw import geometry
from tvm_ascend.isa import formula
from tvm_ascend.isa.instr import ALIGNMENT, CoreType, Instr, Param, Pipe, Space
from tvm_ascend.isa.registers import REGISTERS
from tvm_ascend.isa.table import TABLE

OUT = Path(__file__).parents[2] / "src" / "isa"
HEADER = (
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// Generated from tvm_ascend/isa by `python -m tvm_ascend.isa.gen --write`; do not edit.\n"
)
MAX_DYNAMIC = 16
MAX_LANE_SOURCES = 2
SYMBOL = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


def all_constants() -> list[str]:
    """Every timing constant a program must carry, sorted."""
    used = {name for row in TABLE.values() for name in formula.constants(row)}
    return sorted(used | set(formula.CORE_CONSTANTS))


def timing_keys() -> list[str]:
    """Every vector timing key, sorted."""
    return sorted({row.timing for row in TABLE.values() if row.timing})


def to_cpp(text: str, name: Callable[[str], str], literal: Callable[[int], str]) -> str:
    """The C++ text of an expression; ``name`` and ``literal`` render its leaves."""

    def render(node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int(value)):
                return literal(value)
            case ast.Name(id=text):
                return name(text)
            case ast.UnaryOp(operand=inner):
                return f"(-{render(inner)})"
            case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
                return f"floordiv({render(left)}, {render(right)})"
            case ast.BinOp(left=left, op=op, right=right):
                return f"({render(left)} {SYMBOL[type(op)]} {render(right)})"
            case ast.Call(func=ast.Name(id=callee), args=args):
                first = ["t"] if callee in formula.HELPER_CONSTANTS else []
                return f"{callee}({', '.join([*first, *map(render, args)])})"
        raise AssertionError(ast.dump(node))

    return render(formula.parse(text))


def _enum(name: str, values: Iterable[str], kind: str = "uint8_t") -> str:
    return f"enum class {name} : {kind} {{ {', '.join(values)} }};\n"


def _strings(name: str, values: Iterable[str]) -> str:
    return f"constexpr const char* {name}[] = {{{', '.join(json.dumps(v) for v in values)}}};\n"


def names_inc() -> str:
    """Enumerations: pipes, spaces, dtypes, constants."""
    dtypes, constants = list(formula.ITEMSIZE), all_constants()
    return HEADER + "".join(
        (
            _enum("Pipe", [p.value for p in Pipe]),
            _strings("kPipeNames", [p.value for p in Pipe]),
            _enum("Space", [s.value.upper() for s in Space]),
            _strings("kSpaceNames", [s.value for s in Space]),
            _enum("DType", dtypes).replace("bool }", "boolean }"),
            _strings("kDTypeNames", dtypes),
            f"constexpr int kItemSizes[] = {{{', '.join(map(str, formula.ITEMSIZE.values()))}}};\n",
            _enum("Constant", constants),
            _strings("kConstantNames", constants),
            _strings("kTimingNames", timing_keys()),
            _enum("Register", REGISTERS),
            f"constexpr int kPipes = {len(Pipe)};\n",
            f"constexpr int kSpaces = {len(Space)};\n",
            f"constexpr int kConstants = {len(constants)};\n",
            f"constexpr int kTimings = {len(timing_keys())};\n",
            f"constexpr int kRegisters = {len(REGISTERS)};\n",
            f"constexpr int64_t kFirstValues[] = {{{', '.join(map(str, REGISTERS.values()))}}};\n",
            f"constexpr int kMaxOperands = {max(len(r.operands) for r in TABLE.values())};\n",
            f"constexpr int kMaxParams = {max(len(r.params) for r in TABLE.values())};\n",
            f"constexpr int kMaxDynamic = {MAX_DYNAMIC};\n",
            f"constexpr int64_t kBlockBytes = {geometry.BLOCK_BYTES};\n",
            f"constexpr int64_t kLineBytes = {geometry.LINE_BYTES};\n",
            f"constexpr int64_t kSectorBytes = {geometry.SECTOR_BYTES};\n",
            f"constexpr int64_t kFractalBytes = {geometry.FRACTAL_BYTES};\n",
            f"constexpr int64_t kRepeatBytes = {geometry.REPEAT_BYTES};\n",
            f"constexpr int64_t kCubeSide = {geometry.CUBE_SIDE};\n",
        )
    )


def _timing_name(row: Instr) -> Callable[[str], str]:
    operands = {operand.name: i for i, operand in enumerate(row.operands)}
    params = {param.name: i for i, param in enumerate(row.params)}

    def name(text: str) -> str:
        base, _, suffix = text.partition("_")
        if text in params:
            return f"t.p({params[text]})"
        if text in operands:
            return f"t.space({operands[text]})"
        if base in ("itemsize", "block", "fractal"):
            return f"t.{base}({operands[suffix] if suffix else 0})"
        if text in REGISTERS:
            return f"t.r(Register::{text})"
        return f"t.k(Constant::{text})"

    return name


def _number(value: int) -> str:
    return f"{value}.0"


def _cycles(row: Instr) -> str:
    out = ""
    texts = [("cycles", row.cycles or "0"), ("latency", row.latency)]
    if row.repeats:
        texts.append(("repeats", row.repeats))
    for kind, text in texts:
        body = to_cpp(text, _timing_name(row), _number)
        unnamed = "t" if "t." in body or "(t" in body else ""
        out += f"double {kind}_{row.key}(const TimingArgs& {unnamed}) {{ return {body}; }}\n"
    return out


def _bits(values: Iterable[Enum], order: type[Enum]) -> int:
    members = list(order)
    return sum(1 << members.index(value) for value in values)


def _align(text: str) -> int:
    """Bytes, elements as a negative number, or 0 for the rule of the space."""
    if not text or text.isdecimal():
        return int(text or 0)
    return -int(formula.evaluate(text, {"itemsize": 1}))


def _operands(row: Instr) -> str:
    return ", ".join(
        f'{{"{o.name}", {_bits(o.spaces, Space)}, {str("r" in o.rw).lower()}, '
        f"{str('w' in o.rw).lower()}, {_align(o.align)}}}"
        for o in row.operands
    )


def _kind(row: Instr, param: Param) -> str:
    if param.values:
        return "Enum"
    if param.type == "text":
        return "Text"
    return "Scalar" if param.type in row.types else "Integer"


def _bounds(param: Param) -> str:
    if param.values:
        return f"0LL, {len(param.values) - 1}LL"
    if param.low is None:
        return "INT64_MIN, INT64_MAX"
    return f"{param.low}LL, {param.high}LL"


def _params(row: Instr) -> str:
    out = ""
    for param in row.params:
        if param.values:
            values = ", ".join(f'"{value}"' for value in param.values)
            out += f"const char* const values_{row.key}_{param.name}[] = {{{values}}};\n"
    rows = [
        f'{{"{p.name}", ParamKind::{_kind(row, p)}, {_bounds(p)}, '
        f"{f'values_{row.key}_{p.name}' if p.values else 'nullptr'}}}"
        for p in row.params
    ]
    if rows:
        out += f"const ParamInfo params_{row.key}[] = {{{', '.join(rows)}}};\n"
    return out


def _dtype(name: str) -> str:
    return f"DType::{'boolean' if name == 'bool' else name}"


def _variants(row: Instr) -> str:
    scalars = [p.type for p in row.params if _kind(row, p) == "Scalar"]
    rows = []
    for dtypes in row.dtypes:
        by_type: Mapping[str, str] = dict(zip(row.types, dtypes, strict=True))
        operands = ", ".join(_dtype(formula.operand_dtype(row, o, dtypes)) for o in row.operands)
        scalar = _dtype(by_type[scalars[0]]) if scalars else "DType::int64"
        choices = _choices(row, dtypes)
        rows.append(f'{{"{",".join(dtypes)}", {{{operands}}}, {scalar}, {choices:#x}}}')
    return f"const Variant variants_{row.key}[] = {{{', '.join(rows)}}};\n"


def _choices(row: Instr, dtypes: tuple[str, ...]) -> int:
    """One bit for each value of the row's enum (of any, if it has several) that dtypes allow."""
    values = max((p.values for p in row.params), key=len, default=())
    allowed = row.choices.get(dtypes, values)
    return sum(1 << values.index(value) for value in allowed)


def _settings(row: Instr) -> str:
    """What the row sets: register, and the parameter, operand or constant it is set to."""
    params = [param.name for param in row.params]
    operands = [operand.name for operand in row.operands]
    out = []
    for register, text in row.sets.items():
        if text in params:
            kind = row.params[params.index(text)].type
            source = f"From::{'Dtype' if kind == 'typename' else 'Param'}, {params.index(text)}"
        elif text in operands:
            source = f"From::Operand, {operands.index(text)}"
        elif text in row.types:
            source = f"From::Type, {row.types.index(text)}"
        else:
            source = f"From::Constant, {int(text)}"
        out.append(f"{{Register::{register}, {source}}}")
    return f"const Setting settings_{row.key}[] = {{{', '.join(out)}}};\n" if out else ""


def _used_constants(row: Instr) -> str:
    used = [f"Constant::{name}" for name in formula.constants(row)]
    return f"const Constant constants_{row.key}[] = {{{', '.join(used)}}};\n" if used else ""


def _index(row: Instr, name: str) -> int:
    return next((i for i, param in enumerate(row.params) if param.name == name), -1)


def _operand_params(row: Instr, suffix: str) -> str:
    return ", ".join(str(_index(row, f"{operand.name}_{suffix}")) for operand in row.operands)


def _scalar_index(row: Instr) -> int:
    return next((i for i, param in enumerate(row.params) if _kind(row, param) == "Scalar"), -1)


def _info(row: Instr) -> str:
    lane = _functor(row)
    fields = (
        f'"{row.key}"',
        f'"{row.name}"',
        f"Pipe::{row.pipe.value}",
        str(_bits(row.core, CoreType)),
        str(len(row.operands)),
        f"{{{_operands(row)}}}",
        str(len(row.params)),
        f"params_{row.key}" if row.params else "nullptr",
        str(len(row.dtypes)),
        f"variants_{row.key}",
        f"Form::{row.form.capitalize() or 'None'}",
        str(_index(row, "count")),
        str(max(_index(row, "mask"), _index(row, "mask_low"))),
        str(_index(row, "mask_low") >= 0).lower(),
        str(_index(row, "repeat")),
        str(_scalar_index(row)),
        f"{{{_operand_params(row, 'blk')}}}",
        f"{{{_operand_params(row, 'rep')}}}",
        str(timing_keys().index(row.timing) if row.timing else -1),
        f"repeats_{row.key}" if row.repeats else "nullptr",
        f"cycles_{row.key}",
        f"latency_{row.key}",
        f"constants_{row.key}" if formula.constants(row) else "nullptr",
        str(len(formula.constants(row))),
        str(row.accumulates).lower(),
        f"lanes_{lane}" if lane else "nullptr",
        f"&body_{row.body}" if row.body else "nullptr",
        f"settings_{row.key}" if row.sets else "nullptr",
        str(len(row.sets)),
    )
    return f"    {{{', '.join(fields)}}},\n"


def _functor(row: Instr) -> str:
    """Key of the first row with this lane text and these dtypes; rows of both forms share it."""
    same = (r for r in TABLE.values() if (r.lane, r.dtypes) == (row.lane, row.dtypes))
    return next(same).key if row.lane else ""


def table_inc() -> str:
    """Every row as data, with its timing functions."""
    rules = ", ".join(str(_align(rule)) for rule in ALIGNMENT.values())
    assert list(ALIGNMENT) == list(Space)
    lanes = sorted({_functor(row) for row in TABLE.values() if row.lane})
    bodies = sorted({row.body for row in TABLE.values() if row.body})
    out = HEADER + f"const int kSpaceAlign[kSpaces] = {{{rules}}};\n"
    out += "".join(f"extern const LaneFn lanes_{key}[];\n" for key in lanes)
    out += "".join(f"extern const Body body_{name};\n" for name in bodies)
    out += "namespace {\n"
    for row in TABLE.values():
        out += _cycles(row) + _params(row) + _variants(row) + _used_constants(row) + _settings(row)
    out += "}  // namespace\n"
    out += "const OpInfo kOps[] = {\n" + "".join(map(_info, TABLE.values())) + "};\n"
    return out + f"const int kOpCount = {len(TABLE)};\n"


def _lane_functor(row: Instr) -> str:
    """The functor: lanes of dst have type T, those of the sources and the scalar type U."""
    dst, *sources = [o.name for o in row.operands]
    reads_dst = "r" in row.operands[0].rw
    assert len(sources) <= MAX_LANE_SOURCES, row.key
    used = formula.names(row.lane)
    names = [dst, *sources, *["-"] * (MAX_LANE_SOURCES - len(sources)), "scalar"]
    types = ["T", *["U"] * (MAX_LANE_SOURCES + 1)]
    args = ", ".join(f"{t} {n}" if n in used else t for t, n in zip(types, names, strict=True))
    body = to_cpp(row.lane, lambda n: n, lambda v: f"U({v})")
    return (
        f"struct Lane_{row.key} {{\n"
        f"  static constexpr int kSources = {len(sources)};\n"
        f"  static constexpr bool kReadsDst = {str(reads_dst).lower()};\n"
        f"  static constexpr bool kComputes = {str(not row.lane.isidentifier()).lower()};\n"
        f"  template <typename T, typename U>\n"
        f"  static T eval({args}) {{ return converted<T>({body}); }}\n}};\n"
    )


def lanes_inc() -> str:
    """Meaning of the lane-wise rows: one functor per lane text, one loop per dtype tuple."""
    out = HEADER
    for row in TABLE.values():
        if not row.lane or _functor(row) != row.key:
            continue
        loops = ", ".join(
            f"&run_lanes<Lane_{row.key}, {_dtype(d[0])}, {_dtype(d[-1])}>" for d in row.dtypes
        )
        out += (
            f"{_lane_functor(row)}"
            f"extern const LaneFn lanes_{row.key}[];\n"
            f"const LaneFn lanes_{row.key}[] = {{{loops}}};\n"
        )
    return out


def externs_inc() -> str:
    """The symbols that control programs call, one per number of dynamic arguments."""
    out = HEADER
    for n in range(MAX_DYNAMIC + 1):
        params = "".join(f", int64_t d{i}" for i in range(n))
        values = ", ".join(f"d{i}" for i in range(n)) or "0"
        out += (
            f'extern "C" TVM_ASCEND_EXPORT int32_t tvm_ascend_issue_{n}(int32_t site{params}) {{\n'
            f"  const int64_t values[] = {{{values}}};\n"
            f"  return issue(site, values, {n});\n}}\n"
        )
    return out


FILES: dict[str, Callable[[], str]] = {
    "isa_names.inc": names_inc,
    "isa_table.inc": table_inc,
    "isa_lanes.inc": lanes_inc,
    "isa_externs.inc": externs_inc,
}


def stale(out: Path = OUT) -> list[str]:
    """Names of generated files that differ from what the table says."""
    return [
        name
        for name, make in FILES.items()
        if not (out / name).exists() or (out / name).read_text() != make()
    ]


def main(argv: list[str] | None = None) -> int:
    """Command line: exit code 1 means stale."""
    parser = argparse.ArgumentParser(prog="python -m tvm_ascend.isa.gen", description=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="fail when a file is stale")
    action.add_argument("--write", action="store_true", help="rewrite stale files")
    action.add_argument("--constants", action="store_true", help="print the timing constants")
    options = parser.parse_args(argv)
    if options.constants:
        print("\n".join(all_constants()))
        return 0
    out_of_date = stale()
    for name in out_of_date:
        if options.write:
            OUT.mkdir(parents=True, exist_ok=True)
            (OUT / name).write_text(FILES[name]())
        print(f"{'wrote' if options.write else 'stale'}: src/isa/{name}")
    return int(bool(out_of_date) and options.check)


if __name__ == "__main__":
    sys.exit(main())
