# SPDX-License-Identifier: Apache-2.0
"""The entry point of the ``tvm.backends`` group: what `import tvm` needs to know about Ascend."""

from __future__ import annotations

from typing import Any

_registered = False


def register() -> None:
    """Register targets, errors, pipelines and lazy loaders; loads no library and runs once."""
    import tvm  # `import tvm` calls this function back through the entry point

    global _registered
    if _registered:
        return
    _register_errors()
    _register_lazy_loaders()
    if not tvm._RUNTIME_ONLY:
        from . import target
        from .relax import dispatch

        target.register_tags()
        dispatch.install()
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


def _takes_text(cls: Any) -> Any:
    body = {
        "__init__": lambda self, text: Exception.__init__(self, text),
        "__reduce__": lambda self: (cls.from_text, (str(self),)),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
    }
    return type(cls.__name__, (cls,), body)


def _register_lazy_loaders() -> None:
    """Load the native library when TVM first asks for the device or for a saved kernel module.

    The library defines global functions of the same names, which replace these.
    """
    import tvm_ffi

    for name in ("device_api.ext_dev", "ffi.Module.load_from_bytes.ascend"):
        tvm_ffi.register_global_func(name, _after_loading(name), override=True)
    tvm_ffi.register_global_func("tvm_ascend.runtime.raise_hazard", _raise_hazard, override=True)


def _after_loading(name: str) -> Any:
    def call(*arguments: Any) -> Any:
        import tvm_ffi

        from .runtime import native

        native.load()
        return tvm_ffi.get_global_func(name)(*arguments)

    return call


def _raise_hazard(kernel: str, report: str) -> None:
    from .runtime import module

    module.raise_hazard(kernel, report)
