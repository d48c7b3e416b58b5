# SPDX-License-Identifier: Apache-2.0
"""Element loops that are a tile of a tensor, the last of which may run past its end."""

from __future__ import annotations

import tvm
from tvm import tirx

from tvm_ascend import sym
from tvm_ascend.schedule.match import variables
from tvm_ascend.transform.access import constant, divides
from tvm_ascend.transform.tile_args import is_const


def is_tile(analyzer: sym.Analyzer, start: tvm.ir.Expr, extent: object) -> bool:
    """Whether elements from ``start`` on are one of the tiles that a tensor is cut into."""
    length = constant(extent)
    return length is not None and length > 0 and divides(length, start, analyzer)


def tail_start(
    analyzer: sym.Analyzer, index: tvm.ir.Expr, elements: list[tirx.For]
) -> tvm.ir.Expr | None:
    """Return where the tile starts that an index runs over in element loops, if it is one."""
    moving = [x for x in elements if x.loop_var in variables(index)]
    if len(moving) != 1:
        return None
    loop = moving[0]
    form = sym.detect_linear_equation(index, [loop.loop_var])
    if len(form) != 2 or not is_const(form[0], 1):
        return None
    start = analyzer.simplify(form[1] + loop.min)
    return start if is_tile(analyzer, start, loop.extent) else None
