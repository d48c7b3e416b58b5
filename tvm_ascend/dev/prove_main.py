# SPDX-License-Identifier: Apache-2.0
"""``python -m tvm_ascend prove-sync FILE.py:NAME``."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from tvm_ascend.dev.kernel_file import call, kernel_of
from tvm_ascend.dev.proof import prove_sync, random_inputs


def main(module: ModuleType, given: Any, *, as_json: bool) -> int:
    """Print the table of one kernel; 0 when every sync is explained."""
    kernel = kernel_of(given)
    inputs = call(module.inputs) if hasattr(module, "inputs") else random_inputs(kernel)
    proof = prove_sync(kernel, *(inputs if isinstance(inputs, (list, tuple)) else (inputs,)))
    print(json.dumps(proof.as_dict(), indent=2) if as_json else proof.text())
    return 0 if proof.holds else 1
