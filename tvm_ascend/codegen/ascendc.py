# SPDX-License-Identifier: Apache-2.0
"""Print a final function as readable Ascend C; every instruction's text comes from its row."""

from __future__ import annotations

import functools
import json
import re
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath

from tvm import tirx
from tvm.ir import TensorLoad

from tvm_ascend import sym
from tvm_ascend.codegen import walk
from tvm_ascend.codegen.cexpr import C_TYPES, HELPERS, ExprPrinter, has_load
from tvm_ascend.codegen.ctext import NameTable, wrap
from tvm_ascend.codegen.walk import dtype_of
from tvm_ascend.errors import NeedsNewerCann, at
from tvm_ascend.hw.chip import VECTOR_CORES
from tvm_ascend.isa.cann import OLDEST_CANN, version
from tvm_ascend.isa.instr import CoreType, Instr, Param, Space
from tvm_ascend.isa.scalar import ELEMENT_READ, ELEMENT_WRITE
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.core_sides import MIX

_CORES = {"AIV": "vector core", "AIC": "Cube core", MIX: "AI Core"}
# The TPosition whose TBuf stands for the whole of a memory [doc: ASCEND 3.12].
_POSITION = {
    Space.UB: "VECCALC",
    Space.L1: "A1",
    Space.L0A: "A2",
    Space.L0B: "B2",
    Space.L0C: "CO1",
    Space.BT: "C2",
    Space.FB: "C2PIPE2GM",
}
_WORD = 2**64 - 1
_FRAME = "GM_ADDR\nAscendC::\nKERNEL_TASK_TYPE_DEFAULT("
_JUMPS = {"break_loop": "break;", "continue_loop": "continue;"}


def emit(func: tirx.PrimFunc, cann: str = OLDEST_CANN) -> str:
    """The Ascend C source of a final function, with the call names of a CANN version."""
    return _Emitter(walk.read_kernel(func), cann).source()


def row_text(row: Instr, cann: str) -> str:
    """The statement of a row as a CANN version names it."""
    given = version(cann)
    texts = [row.emit, *(r.emit for r in row.renamed if version(r.cann) <= given)]
    return texts[-1]


def _end(placed: walk.Placed) -> int:
    """The first byte after an on-chip buffer."""
    assert placed.elements is not None, f"{placed.name} has no static shape"
    return placed.address + placed.elements * placed.itemsize


@dataclass(frozen=True)
class _Element:
    """An operand as the rows' texts see it."""

    tensor: str
    offset: str

    def __str__(self) -> str:
        return self.tensor if self.offset == "0" else f"{self.tensor}[{self.offset}]"


@functools.cache
def own_names() -> frozenset[str]:
    """The names that emitted text uses unqualified: of types, of our functions, of the rows."""
    texts = [_FRAME, *C_TYPES.values(), *HELPERS]
    texts += [f"ASCEND_IS_{core.value}" for core in CoreType]
    texts += [f"KERNEL_TYPE_{name}" for name in walk.KERNEL_TYPES]
    for row in TABLE.values():
        texts += [row.emit, *(r.emit for r in row.renamed)]
    names = set(re.findall(r"(?<![\w:.{])[A-Za-z_]\w*", "\n".join(texts)))
    for param in (p for row in TABLE.values() for p in row.params):
        spelled = [param.spelling.format(value) for value in param.values]
        if not param.spelling.startswith("AscendC::"):  # enumerators at file scope
            names.update(*(re.findall(r"[A-Za-z_]\w*", text) for text in spelled))
    return frozenset(names)


class _Emitter:
    def __init__(self, kernel: walk.Kernel, cann: str) -> None:
        self.kernel, self.cann = kernel, cann
        self.names = NameTable(own_names())
        self.analyzer = sym.Analyzer()
        self.printer = ExprPrinter(self.names.of, self._load, self.analyzer)
        self.lines: list[str] = []
        self.depth = 1
        self.place = ""

    def source(self) -> str:
        """The whole file."""
        kernel = self.kernel
        signature = self._declare()
        with self._within(kernel.block_var, 0, kernel.grid):
            for side in kernel.sides:
                with self._block(f"if ASCEND_IS_{side.core.value}", kernel.mixed):
                    self._side(side)
        used = self.printer.used
        includes = ['#include "kernel_operator.h"']
        if "<cmath>" in used:
            includes.append("#include <cmath>")
        plural = "" if kernel.grid == 1 else "s"
        cores = f"{kernel.grid} {_CORES[kernel.core_type]}{plural}"
        return "\n".join(
            [
                f"// {kernel.name} on {cores}, CANN {self.cann}",
                *includes,
                "",
                *(text for name, text in HELPERS.items() if name in used),
                *wrap(signature, 0),
                *self.lines,
                "}",
                "",
            ]
        )

    def _declare(self) -> str:
        """Emit what precedes the body; returns the signature."""
        kernel, names = self.kernel, self.names
        tensors = [p for p in kernel.params if tirx.is_buffer_var(p)]
        on_chip = [b for b in kernel.buffers if b not in tensors]
        for var in (*kernel.params, *on_chip):
            names.declare(var)
        addresses = {p: names.fresh(f"{names.of(p)}_address") for p in tensors}
        self._line(f"KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_{kernel.kernel_type});")
        for param in tensors:
            ctype = C_TYPES[kernel.buffers[param].dtype]
            self._line(f"AscendC::GlobalTensor<{ctype}> {names.of(param)};")
            pointer = f"reinterpret_cast<__gm__ {ctype}*>({addresses[param]})"
            self._line(f"{names.of(param)}.SetGlobalBuffer({pointer});")
        args = ", ".join(
            f"GM_ADDR {addresses[p]}" if p in addresses else f"{C_TYPES[dtype_of(p)]} {names.of(p)}"
            for p in kernel.params
        )
        return f'extern "C" __global__ __aicore__ void {names.fresh(kernel.name)}({args}) {{'

    def _side(self, side: walk.Side) -> None:
        """What one kind of core runs."""
        kernel, vector = self.kernel, side.core is CoreType.AIV
        held_pipe = self._memories(side)
        if kernel.block_var is not None:
            # A mixed launch numbers the Vector cores through.
            through = vector and kernel.mixed
            block = "AscendC::GetBlockIdx()" + (" / AscendC::GetSubBlockNum()" if through else "")
            self._index(kernel.block_var, block)
        if kernel.sub_var is not None and vector:
            self._index(kernel.sub_var, "AscendC::GetSubBlockIdx()")
        with self._within(kernel.sub_var, 0, VECTOR_CORES):
            self._stmt(side.body)
        if held_pipe:
            self._line(f"{held_pipe}.Init();")

    def _index(self, var: tirx.Var, value: str) -> None:
        """Declare a variable that says which core it is."""
        ctype, name = C_TYPES[dtype_of(var)], self.names.declare(var)
        self._line(f"const {ctype} {name} = static_cast<{ctype}>({value});")

    def _memories(self, side: walk.Side) -> str:
        """One TBuf for each memory in use, as large as the plan, and the tensors in it.

        Returns the name of a pipe that has to be there again at the end.
        """
        placed = side.buffers
        if not placed:
            return ""
        pipe = self.names.fresh("tpipe")
        self._line(f"AscendC::TPipe {pipe};")
        for space, position in _POSITION.items():
            members = [p for p in placed if p.space is space]
            if not members:
                continue
            memory = self.names.fresh(space.value)
            size = max(_end(p) for p in members)
            self._line(f"AscendC::TBuf<AscendC::TPosition::{position}> {memory};")
            self._line(f"{pipe}.InitBuffer({memory}, {size});")
            for p in members:
                ctype = C_TYPES[p.dtype]
                view = f"{memory}.GetWithOffset<{ctype}>({p.elements}, {p.address})"
                self._line(f"AscendC::LocalTensor<{ctype}> {self.names.of(p.buffer)} = {view};")
        if side.core is CoreType.AIC:
            # On Cube cores a TPipe keeps flags M_MTE1 0 to 2 raised from Init to Destroy.
            self._line(
                "// Free the flags that TPipe holds; they are raised again for its destructor."
            )
            self._line(f"{pipe}.Destroy();")
            return pipe
        return ""

    # Statements

    def _line(self, text: str) -> None:
        self.lines += wrap(text, self.depth)

    def _comment(self, span) -> None:
        """Name the source line of what follows, once for a run of statements."""
        place = PurePath(at(span)).name
        if place and place != self.place:
            self.lines += wrap(f"// {place}", self.depth)
            self.place = place

    @contextmanager
    def _block(self, head: str, braces: bool = True):
        if not braces:
            yield
            return
        self._line(f"{head} {{")
        self.depth += 1
        with self.names.scope():
            yield
        self.depth -= 1
        self._line("}")

    def _within(self, var: tirx.Var | None, begin, end):
        """Know that ``begin <= var < end``, to simplify offsets and divisions."""
        if var is None:
            return nullcontext()
        return self.analyzer.constraint_scope(tirx.all(var >= begin, var < end))

    def _stmt(self, node: tirx.Stmt) -> None:
        if isinstance(node, tirx.SeqStmt):
            for child in node.seq:
                self._stmt(child)
            return
        if isinstance(node, tirx.AllocBuffer):
            return
        if isinstance(node, tirx.AttrStmt):
            self._stmt(node.body)
            return
        self._comment(node.span)
        self.printer.span = node.span
        if isinstance(node, tirx.For):
            self._for(node)
        elif isinstance(node, tirx.While):
            with self._block(f"while ({self.printer.text(node.condition)})"):
                self._stmt(node.body)
        elif isinstance(node, tirx.IfThenElse):
            self._if(node)
        elif isinstance(node, tirx.Bind):
            ctype = C_TYPES[dtype_of(node.var)]
            value = self.printer.text(node.value)
            self._line(f"const {ctype} {self.names.declare(node.var)} = {value};")
        elif isinstance(node, tirx.BufferStore):
            self._store(node)
        elif isinstance(node, tirx.Evaluate):
            self._evaluate(node)
        else:
            raise AssertionError(f"final TIR holds a {type(node).__name__}: {node}")

    def _for(self, node: tirx.For) -> None:
        begin, extent = node.min, node.extent
        if has_load(begin):
            begin = self._bind("begin", begin)
        if has_load(extent):
            extent = self._bind("extent", extent)
        end = self.analyzer.simplify(begin + extent)
        with self.names.scope():
            ctype, var = C_TYPES[dtype_of(node.loop_var)], self.names.declare(node.loop_var)
            first, last = self.printer.text(begin), self.printer.text(end, 10)
            head = f"for ({ctype} {var} = {first}; {var} < {last}; ++{var})"
            with self._block(head), self._within(node.loop_var, begin, end):
                self._stmt(node.body)

    def _bind(self, name: str, value) -> tirx.Var:
        """Evaluate an expression once, into a new constant."""
        var = tirx.Var(name, dtype_of(value))
        text = self.printer.text(value)
        self._line(f"const {C_TYPES[dtype_of(value)]} {self.names.declare(var)} = {text};")
        return var

    def _if(self, node: tirx.IfThenElse) -> None:
        with self._block(f"if ({self.printer.text(node.condition)})"):
            self._stmt(node.then_case)
        if node.else_case is not None:
            self.lines.pop()
            with self._block("} else"):
                self._stmt(node.else_case)

    def _evaluate(self, node: tirx.Evaluate) -> None:
        name = getattr(getattr(node.value, "op", None), "name", "").rpartition(".")[2]
        if name in _JUMPS:
            self._line(_JUMPS[name])
            return
        if walk.row_of(node.value) is None:
            assert isinstance(node.value, tirx.IntImm), f"not an instruction: {node}"
            return
        issue = walk.resolve(self.kernel, node.value)
        if issue.row.since and version(issue.row.since) > version(self.cann):
            raise NeedsNewerCann(issue.row.name, issue.row.since, self.cann, node.span)
        dtypes = dict(zip(issue.row.types, issue.dtypes, strict=True))
        texts: dict[str, object] = {t: C_TYPES[d] for t, d in dtypes.items()}
        for operand, address in zip(issue.row.operands, issue.operands, strict=True):
            texts[operand.name] = self._element(address)
        for param, value in zip(issue.row.params, issue.params, strict=True):
            texts[param.name] = self._param(param, value, dtypes)
        for line in row_text(issue.row, self.cann).format(**texts).splitlines():
            self._line(line)

    def _store(self, node: tirx.BufferStore) -> None:
        row = ELEMENT_WRITE
        placed = self.kernel.buffers[node.buffer]
        offset = walk.linear_offset(node.buffer, node.indices)
        element = self._element(walk.Address(placed, offset))
        value = self._scalar(node.value, placed.dtype)
        text = row_text(row, self.cann)
        self._line(text.format(**{row.operands[0].name: element, row.params[0].name: value}))

    # Expressions

    def _load(self, load: TensorLoad) -> str:
        row = ELEMENT_READ
        element = self._element(self.kernel.address(load))
        return row_text(row, self.cann).format(**{row.operands[0].name: element})

    def _element(self, address: walk.Address) -> _Element:
        offset = address.offset
        if not has_load(offset):
            offset = self.analyzer.simplify(offset)
        return _Element(self.names.of(address.placed.buffer), self.printer.text(offset))

    def _param(self, param: Param, value, dtypes: dict[str, str]) -> str:
        if param.type == "text":
            return json.dumps(walk.enum_name(value))
        if param.type == "typename":
            return C_TYPES[str(value.value)]
        if param.values:
            return param.spelling.format(walk.enum_name(value))
        literal = isinstance(value, (tirx.IntImm, tirx.FloatImm))
        if param.type in dtypes:
            return self._scalar(value, dtypes[param.type])
        if not literal:
            same = C_TYPES[dtype_of(value)] == param.type
            return self.printer.text(value) if same else self.printer.cast(value, param.type)
        if param.type == "bool":
            return str(bool(value.value)).lower()
        if param.low is None:
            return f"{value.value & _WORD:#x}"
        # A bare 0 would convert to the pointer form of a mask just as well.
        bare = value.value != 0 or param.type != "uint64_t"
        return str(int(value.value)) if bare else f"static_cast<{param.type}>(0)"

    def _scalar(self, value, dtype: str) -> str:
        """A value of exactly the C++ type of ``dtype``, as template deduction needs it."""
        if isinstance(value, (tirx.IntImm, tirx.FloatImm)):
            return self.printer.text(tirx.const(value.value, dtype))
        if dtype_of(value) == dtype:
            return self.printer.text(value)
        return self.printer.cast(value, C_TYPES[dtype])
