# SPDX-License-Identifier: Apache-2.0
"""The ``T.prim_func`` of the tile language: TVMScript's parser with our name look-up and errors."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from types import FrameType, FunctionType

import tvm_ffi
from tvm import tirx
from tvm.error import DiagnosticError
from tvm.script import tirx as tvm_script
from tvm.script.parser._core import Parser, dispatch, doc, parse
from tvm.script.parser.core.utils import get_func_nonlocals, is_defined_in_class

from tvm_ascend.errors import ArgumentKind, AscendError, ScriptError, SourceMissing
from tvm_ascend.language.caller import PARSING, called_from
from tvm_ascend.language.loops import PARALLEL, collect_parallel_vars
from tvm_ascend.language.numbers import integer, truth

_LOCATION = re.compile(r"^ --> (.*):(\d+):\d+$", re.MULTILINE)


def _captured(func: Callable, frame: FrameType | None) -> dict[str, object]:
    """Names that ``func`` sees, innermost scope last.

    Names used only in annotations are in no closure; the enclosing frames are asked before the
    module globals, which would otherwise win silently over a factory's parameter of the same name.
    """
    scopes = []
    enclosing = [part for part in func.__qualname__.split(".")[:-1] if part != "<locals>"]
    while frame is not None and enclosing:
        if frame.f_code.co_name == enclosing[-1]:
            scopes.append(frame.f_locals)
            enclosing.pop()
        frame = frame.f_back
    names = dict(func.__globals__)
    for scope in reversed(scopes):
        names.update(scope)
    names.update(get_func_nonlocals(func))
    return names


def _located(err: DiagnosticError) -> AscendError:
    """Turn a parser diagnostic into our error that names the user's line."""
    text = str(err)
    match = _LOCATION.search(text)
    where = f"{match[1]}:{match[2]}" if match else "<unknown>"
    cause: BaseException | None = err
    while cause is not None and not isinstance(cause, AscendError):
        cause = cause.__context__
    if isinstance(cause, AscendError):
        cause.args = (f"{where}: {cause}",)
        return cause
    return ScriptError(where, text.removeprefix("error: "))


def _annotate_parallel(func: tirx.PrimFunc, loop_vars: list) -> tirx.PrimFunc:
    """Mark the loops of each multi-extent T.Parallel, which the parser's frame cannot annotate."""
    if not loop_vars:
        return func

    def mark(loop: tirx.For) -> tirx.For:
        if not any(loop.loop_var.same_as(v) for v in loop_vars):
            return loop
        return tirx.For(
            loop.loop_var,
            loop.min,
            loop.extent,
            loop.kind,
            loop.body,
            loop.thread_binding,
            {**loop.annotations, PARALLEL: 1},
            loop.step,
            loop.span,
        )

    return func.with_body(tvm_ffi.structural_map(func.body, [(tirx.For, mark)]), func.span)


def _without_text_annotations(func: FunctionType) -> FunctionType:
    """A copy without the annotations that PEP 563 left as text.

    The parser falls back to them when the source of one raises, and so hides what was raised.
    """
    copy = FunctionType(
        func.__code__, func.__globals__, func.__name__, func.__defaults__, func.__closure__
    )
    copy.__qualname__ = func.__qualname__
    copy.__annotations__ = {
        name: value for name, value in func.__annotations__.items() if not isinstance(value, str)
    }
    return copy


_visit_for = dispatch.get(token="tirx", type_name="For")


@dispatch.register(token="tirx", type_name="For")
def _check_range(parser: Parser, node: doc.For) -> None:
    """TVM's parser reads ``range`` before names are looked up, so its bounds are checked here."""
    head = node.iter.func if isinstance(node.iter, doc.Call) else None
    if PARSING.get() and isinstance(head, doc.Name) and head.id == "range":
        for argument in node.iter.args:
            integer("range", "a bound", parser.eval_expr(argument))
    _visit_for(parser, node)


def _check_source(func: FunctionType) -> None:
    try:
        inspect.getsource(func)
    except OSError:
        raise SourceMissing(func.__name__, func.__code__.co_filename) from None


def _parse(func: FunctionType, frame: FrameType, check_well_formed: bool) -> tirx.PrimFunc:
    _check_source(func)
    names = _captured(func, frame)
    func = _without_text_annotations(func)
    token = PARSING.set(True)
    try:
        with collect_parallel_vars() as loop_vars:
            result = parse(func, names, check_well_formed=check_well_formed)
    except DiagnosticError as err:
        error = _located(err)
    else:
        result = _annotate_parallel(result, loop_vars)
        result.__name__ = func.__name__
        return result
    finally:
        PARSING.reset(token)
    raise error.with_traceback(None) from None


def prim_func(
    func: Callable | None = None,
    private: bool = False,
    check_well_formed: bool = True,
    s_tir: bool = False,
    persistent: bool = False,
) -> tirx.PrimFunc | Callable:
    """Parse a Python function as a kernel; keywords as in ``tvm.script.tirx.prim_func``."""
    del private, s_tir, persistent  # the parser reads them from the decorator's source
    frame = sys._getframe(1)

    def decorate(func: Callable) -> tirx.PrimFunc | Callable:
        if not inspect.isfunction(func):
            with called_from(frame):
                raise ArgumentKind("T.prim_func", "what it decorates", func, "functions")
        in_class_body = "__qualname__" in frame.f_locals
        if in_class_body and is_defined_in_class(inspect.stack()[1:], func):
            return func
        return _parse(func, frame, check_well_formed)

    if func is not None:
        return decorate(func)
    decorate.dispatch_token = "tirx"  # type: ignore[attr-defined]
    return decorate


prim_func.dispatch_token = "tirx"  # type: ignore[attr-defined]


def macro(func: Callable | None = None, *, hygienic: bool = True) -> Callable:
    """Make a Python function part of every kernel that calls it; as TVMScript's ``T.macro``.

    Raises
    ------
    ArgumentKind : what is decorated is no function.
    SourceMissing : the source of the function cannot be read.
    """
    frame = sys._getframe(1)

    def decorate(func: Callable) -> Callable:
        with called_from(frame):
            if not inspect.isfunction(func):
                raise ArgumentKind("T.macro", "what it decorates", func, "functions")
            _check_source(func)
            clean = truth("T.macro", "hygienic", hygienic)
        return tvm_script.macro(hygienic=clean)(func)

    return decorate if func is None else decorate(func)


macro.dispatch_token = tvm_script.macro.dispatch_token  # type: ignore[attr-defined]
