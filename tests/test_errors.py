# SPDX-License-Identifier: Apache-2.0
"""An error keeps its class and its text on the way through C++, and names its place in one form."""

from __future__ import annotations

import inspect
import pickle
from types import SimpleNamespace

import pytest
import tvm
import tvm_ffi
from tvm.script import tirx as T

from tvm_ascend import errors
from tvm_ascend.errors import AscendError, UnknownChip, compiling

CLASSES = [
    cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, AscendError)
]


@T.prim_func
def nothing(A: T.Buffer((16,), "float32")):
    A[0] = T.float32(0)


def raise_it(*_):
    raise UnknownChip("999", ["910b1", "a3"])


def test_error_of_a_pass_keeps_class_and_text():
    complain = tvm.transform.module_pass(lambda mod, ctx: raise_it(), opt_level=0)
    nested = tvm.transform.Sequential([tvm.transform.Sequential([complain])])
    with pytest.raises(UnknownChip) as caught:
        nested(tvm.IRModule({"main": nothing}))
    assert str(caught.value) == str(UnknownChip("999", ["910b1", "a3"]))


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_class_survives_the_way_through_c(cls):
    def throw():
        raise cls.from_text("what is wrong; what to do.")

    with pytest.raises(cls) as caught:
        tvm_ffi.convert(throw)()
    assert str(caught.value) == "what is wrong; what to do."
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (cls, "what is wrong; what to do.")


def test_errors_are_no_runtime_errors():
    assert not any(issubclass(cls, RuntimeError) for cls in CLASSES)


SPAN = SimpleNamespace(source_name=SimpleNamespace(name="model.py"), line=7)
SAMPLES = {
    "str": "x",
    "object": "x",
    "int": 16,
    "int | None": 16,
    "list[str]": ["x"],
    "list[tuple[str, ...]]": [("x", "y")],
    "list[tuple[str, str]]": [("x", "y")],
}
SPANS = ("span", "reduction", "copy", "vector_span", "cube_span")


def sample(cls, span):
    """An error of a class, made of arguments of the right types."""
    signature = inspect.signature(cls.__init__, eval_str=False)
    values = []
    for name, parameter in list(signature.parameters.items())[1:]:
        kind = str(parameter.annotation)
        if name in SPANS:
            values.append(span)
        elif (cls.__name__, name) == ("ScopeContradiction", "first"):
            values.append(("copy", "l1", span))
        elif (cls.__name__, name) == ("ScopeContradiction", "second"):
            values.append(("add", "ub", span))
        elif kind in SAMPLES:
            values.append(SAMPLES[kind])
        else:
            values.append((1, 2))
    return cls(*values)


STATEMENTS = [
    cls
    for cls in CLASSES
    if cls.__name__ == "ScopeContradiction"
    or {*SPANS} & {*inspect.signature(cls.__init__).parameters}
]


@pytest.mark.parametrize("cls", STATEMENTS, ids=lambda cls: cls.__name__)
def test_place_is_the_line_or_the_function(cls):
    with compiling("gemm"):
        with_line, without = str(sample(cls, SPAN)), str(sample(cls, None))
    assert with_line.startswith("model.py:7: ")
    assert without.startswith("in function `gemm`: ")
    assert with_line.replace("model.py:7", "in function `gemm`") == without
    assert with_line.endswith(".")


def test_no_function_is_named_after_its_compilation():
    with compiling("f"):
        pass
    assert "`f`" not in str(sample(errors.LayoutContradiction, None))
