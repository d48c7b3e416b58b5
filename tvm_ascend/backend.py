# SPDX-License-Identifier: Apache-2.0
"""The entry point of the ``tvm.backends`` group: what `import tvm` needs to know about Ascend."""

from __future__ import annotations

_registered = False


def register() -> None:
    """Register target tags and error classes; loads no library and runs once."""
    import tvm  # noqa: F401  `import tvm` calls this function back through the entry point

    global _registered
    if _registered:
        return
    from . import target

    target.register_tags()
    _register_errors()
    _registered = True


def _register_errors() -> None:
    """Let our errors keep their class when they pass through C++.

    TVM makes an error anew by calling the registered class with the text alone, our classes make
    the text from values: so a subclass that takes the text is registered under the same name.
    """
    import tvm_ffi

    from . import errors

    for cls in list(vars(errors).values()):
        if isinstance(cls, type) and issubclass(cls, errors.AscendError):
            tvm_ffi.register_error(cls.__name__, cls)
            tvm_ffi.register_error(cls.__name__, _takes_text(cls))


def _takes_text(cls: type[Exception]) -> type[Exception]:
    body = {
        "__init__": lambda self, text: Exception.__init__(self, text),
        "__reduce__": lambda self: (cls.from_text, (str(self),)),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }
    return type(cls.__name__, (cls,), body)
