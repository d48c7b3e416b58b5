# SPDX-License-Identifier: Apache-2.0
"""Every simulator test needs the native library."""

from __future__ import annotations

import pytest

from tvm_ascend.runtime import native


@pytest.fixture(autouse=True, scope="session")
def _library() -> None:
    native.load()
