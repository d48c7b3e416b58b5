# SPDX-License-Identifier: Apache-2.0
"""An error keeps its class and its text on the way through C++ and between processes."""

from __future__ import annotations

import pickle

import pytest
import tvm
import tvm_ffi
from tvm.script import tirx as T

from tvm_ascend import errors
from tvm_ascend.errors import AscendError, UnknownChip

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
