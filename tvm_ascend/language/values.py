# SPDX-License-Identifier: Apache-2.0
"""Values that are computed with and stored: never None, which TVM follows as a null pointer."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from tvm import tirx
from tvm.script.parser._core import doc, register_op
from tvm.tirx.script import builder

from tvm_ascend.errors import ValueMissing

_BINARY = {
    doc.Add: ("+", operator.add),
    doc.Sub: ("-", operator.sub),
    doc.Mult: ("*", operator.mul),
    doc.Div: ("/", operator.truediv),
    doc.FloorDiv: ("//", operator.floordiv),
    doc.Mod: ("%", operator.mod),
    doc.LShift: ("<<", operator.lshift),
    doc.RShift: (">>", operator.rshift),
    doc.BitOr: ("|", operator.or_),
    doc.BitXor: ("^", operator.xor),
    doc.BitAnd: ("&", operator.and_),
}


def present(what: str, values: Sequence[object]) -> None:
    """Refuse None among the values of an operation.

    Raises
    ------
    ValueMissing : one is None, or a slice without one of its ends.
    """
    for value in values:
        parts = (value.start, value.stop) if isinstance(value, slice) else (value,)
        if any(part is None for part in parts):
            raise ValueMissing(what)


def checked(function: Callable) -> Callable:
    """A function of expressions, one of TVM's, that refuses None among its arguments."""

    @functools.wraps(function)
    def call(*args: Any, **rest: Any) -> Any:
        named = [value for name, value in rest.items() if name != "span"]
        present(f"an argument of T.{function.__name__}", (*args, *named))
        return function(*args, **rest)

    return call


def _binary(sign: str, compute: Callable) -> Callable:
    def operation(left: Any, right: Any) -> Any:
        present(f"an operand of `{sign}`", (left, right))
        return compute(left, right)

    return operation


for _node, (_sign, _compute) in _BINARY.items():
    for _position in (0, 1):
        register_op(tirx.Expr, _node, _position)(_binary(_sign, _compute))

_store = builder.buffer_store


@functools.wraps(_store)
def buffer_store(buffer: Any, value: Any, indices: Any) -> None:
    present("the value of a store", (value,))
    listed = isinstance(indices, (list, tuple))
    present("an index of a store", indices if listed else (indices,))
    _store(buffer, value, indices)


# Every form of assignment of TVM's parser stores through this name.
builder.buffer_store = buffer_store
