# SPDX-License-Identifier: Apache-2.0
"""What instruction selection of one statement knows and collects."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import tvm
from tvm import tirx

from tvm_ascend import sym
from tvm_ascend.errors import innermost
from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.table import TABLE
from tvm_ascend.language.ops import call
from tvm_ascend.transform.access import itemsize


class NotVectorizable(Exception):
    """Internal: a statement goes to the scalar unit, for the reason given."""


def align_up(n: int, factor: int) -> int:
    """Next multiple of ``factor``."""
    return -(-n // factor) * factor


@dataclass
class Selection:
    """Context of the statement being selected: the chip, bounds of variables, temporaries made."""

    chip: ChipSpec
    analyzer: sym.Analyzer
    span: tvm.ir.Span | None = None
    room: int = 0
    """Bytes of UB that the function's own buffers leave for temporaries."""
    allocations: list[tirx.AllocBuffer] = field(default_factory=list)

    def alloc(
        self, shape: tuple, dtype: str, scope: str = "shared.ub", name: str = ""
    ) -> tvm.ir.Var:
        """Make a temporary whose allocation precedes the selected statements."""
        buffer = tirx.decl_buffer(shape, dtype, name or "tmp", scope=scope)
        self.allocations.append(tirx.AllocBuffer(buffer, {}, innermost(self.span)))
        return buffer

    def block(self, dtype: str) -> int:
        """Elements of one 32-byte block."""
        return self.chip.block_bytes // itemsize(dtype)

    @property
    def repeat_blocks(self) -> int:
        """Blocks of one repeat."""
        return self.chip.repeat_bytes // self.chip.block_bytes

    def lanes(self, dtype: str) -> int:
        """Elements of one repeat."""
        return self.chip.repeat_bytes // itemsize(dtype)

    def temporary_bytes(self) -> int:
        """Bytes of all temporaries made so far."""
        return sum(buffer_bytes(a.buffer) for a in self.allocations)

    def emit(self, key: str, *args: object) -> tirx.Evaluate:
        """Build one instruction at the current source line."""
        return call(key, *args, span=self.span)

    def simplify(self, expr: object) -> object:
        """Simplify an index expression; Python ints pass."""
        return expr if isinstance(expr, int) else self.analyzer.simplify(expr)

    def upper(self, expr: object) -> int | None:
        """Largest value of an integer expression, or None when it is unbounded."""
        if isinstance(expr, int):
            return expr
        bound = self.analyzer.const_int_bound(expr)
        return None if bound.max_value >= bound.POS_INF else int(bound.max_value)


def buffer_bytes(buffer: tvm.ir.Var) -> int:
    """Bytes of a buffer of constant shape."""
    return math.prod(int(n) for n in buffer.ty.shape) * itemsize(buffer.ty.dtype)


def supports(key: str, *dtypes: str) -> bool:
    """Whether an instruction exists for the dtypes."""
    return key in TABLE and tuple(dtypes) in TABLE[key].dtypes


def limit(key: str, name: str) -> int:
    """Largest value of an integer parameter."""
    return next(p.high for p in TABLE[key].params if p.name == name)
