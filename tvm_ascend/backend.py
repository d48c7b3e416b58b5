# SPDX-License-Identifier: Apache-2.0
"""The entry point of the ``tvm.backends`` group: what `import tvm` needs to know about Ascend."""

from __future__ import annotations

_registered = False


def register() -> None:
    """Register target tags, error classes, pipelines and lazy loaders; loads no library."""
    import tvm  # noqa: F401  `import tvm` calls this function back through the entry point

    global _registered
    if _registered:
        return
    from . import errors, target

    errors_of_package = [
        cls
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.AscendError)
    ]
    import tvm_ffi

    for cls in errors_of_package:
        tvm_ffi.register_error(cls)
    target.register_tags()
    _registered = True
