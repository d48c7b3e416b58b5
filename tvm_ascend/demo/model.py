# SPDX-License-Identifier: Apache-2.0
"""Step 7: a small Relax model on the Ascend device, saved, and loaded again by a fresh process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

from tvm_ascend.demo.check import Check

ROWS, IN, OUT = 126, 80, 159

RELOAD = """
import sys
import numpy as np
import tvm
import tvm_ascend
from tvm import relax

library, data, result = sys.argv[1:]
device = tvm.device("ext_dev", 0)
vm = relax.VirtualMachine(tvm.runtime.load_module(library), device)
inputs = np.load(data)
args = [tvm.runtime.tensor(inputs[name], device) for name in inputs.files]
np.save(result, vm["main"](*args).numpy())
"""


def make_model() -> tvm.IRModule:
    """Linear 80 -> 159 with bias, then layer norm, on 126 rows."""

    @I.ir_module
    class Model:
        @R.function
        def main(
            x: R.Tensor((ROWS, IN), "float16"),
            w: R.Tensor((IN, OUT), "float16"),
            bias: R.Tensor((OUT,), "float32"),
            gamma: R.Tensor((OUT,), "float32"),
            beta: R.Tensor((OUT,), "float32"),
        ):
            with R.dataflow():
                product = R.matmul(x, w, out_dtype="float32")
                linear = R.add(product, bias)
                out = R.nn.layer_norm(linear, gamma, beta, axes=[-1], epsilon=1e-5)
                R.output(out)
            return out

    return Model


def model_inputs() -> dict[str, np.ndarray]:
    """Small values, so that the float32 reference is tight."""
    rng = np.random.default_rng(2)
    return {
        "x": rng.normal(0, 1, (ROWS, IN)).astype("float16"),
        "w": rng.normal(0, 0.2, (IN, OUT)).astype("float16"),
        "bias": rng.normal(0, 1, OUT).astype("float32"),
        "gamma": rng.normal(1, 0.1, OUT).astype("float32"),
        "beta": rng.normal(0, 0.1, OUT).astype("float32"),
    }


def reference(v: dict[str, np.ndarray]) -> np.ndarray:
    """The model in float64 numpy."""
    wide = {name: value.astype("float64") for name, value in v.items()}
    linear = wide["x"] @ wide["w"] + wide["bias"]
    centred = linear - linear.mean(1, keepdims=True)
    scale = np.sqrt(linear.var(1, keepdims=True) + 1e-5)
    return centred / scale * wide["gamma"] + wide["beta"]


def run_model(out: Path) -> list[Check]:
    """Build, run on ``ext_dev``, export, reload in a fresh process, compare."""
    inputs = model_inputs()
    executable = relax.build(make_model(), "ascend")
    device = tvm.device("ext_dev", 0)
    vm = relax.VirtualMachine(executable, device)
    got = vm["main"](*(tvm.runtime.tensor(v, device) for v in inputs.values())).numpy()
    worst = float(np.abs(got - reference(inputs)).max())
    checks = [Check("relax linear + layer norm", worst <= 1e-4, f"max error {worst:.1e} (<= 1e-4)")]

    library, data, result = out / "model.so", out / "model_inputs.npz", out / "model_reloaded.npy"
    executable.export_library(str(library))
    arrays: dict[str, Any] = dict(inputs)
    np.savez(data, **arrays)
    command = [sys.executable, "-c", RELOAD, str(library), str(data), str(result)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return [*checks, Check("relax reload in a fresh process", False, " ".join(last))]
    same = np.load(result).tobytes() == got.tobytes()
    detail = "same bits" if same else "other bits"
    return [*checks, Check("relax reload in a fresh process", same, detail)]
