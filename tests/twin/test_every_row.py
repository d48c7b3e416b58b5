# SPDX-License-Identifier: Apache-2.0
"""Every row in a kernel of its own: emitted Ascend C and LLVM path agree in bits and cycles."""

from __future__ import annotations

import json

import pytest
import tvm
from twin.row_kernels import SKIPPED, RowKernel

from tvm_ascend.codegen.ascendc import emit
from tvm_ascend.codegen.program import build_program
from tvm_ascend.hw import CHIPS, DEFAULT_CHIP
from tvm_ascend.isa.table import TABLE
from tvm_ascend.options import SimOptions
from tvm_ascend.runtime import twin
from tvm_ascend.runtime.launch import options_json, raise_hazards
from tvm_ascend.runtime.report import read_report
from tvm_ascend.runtime.simulator import SimulatorExecutor

CHIP, CANN = CHIPS[DEFAULT_CHIP], "9.1"
INCLUDE = '#include "kernel_operator.h"\n'
ARGUMENTS = 4
WHICH = {"name": "which", "dtype": "int32", "kind": "scalar"}
ROWS = [row for key, row in TABLE.items() if key not in SKIPPED]
FIRST = [(row, row.dtypes[0]) for row in ROWS]
OTHERS = [(row, dtypes) for row in ROWS for dtypes in row.dtypes[1:]]
BATCH = 100


class Batch:
    """Kernels that share one library, whose last argument says which of them runs."""

    def __init__(self, pairs):
        self.kernels = [RowKernel(*pair) for pair in pairs]

    def library(self):
        words = ", ".join(f"GM_ADDR a{i}" for i in range(ARGUMENTS))
        names = ", ".join(f"a{i}" for i in range(ARGUMENTS))
        declared = "".join(f'extern "C" void {k.name}({words});\n' for k in self.kernels)
        calls = (f"    case {i}: return {k.name}({names});\n" for i, k in enumerate(self.kernels))
        choose = (
            f'extern "C" __global__ __aicore__ void choose({words}, int32_t which) {{\n'
            f"  switch (which) {{\n{''.join(calls)}  }}\n}}\n"
        )
        bodies = "".join(emit(k.func, CANN).replace(INCLUDE, "") for k in self.kernels)
        return twin.build_twin(INCLUDE + declared + choose + bodies, "choose", ARGUMENTS + 1)

    def differences(self):
        """Kernels that fail, and those of which the two paths disagree, with what about it."""
        library, found = self.library(), {}
        for which, kernel in enumerate(self.kernels):
            try:
                ours, theirs = both_ways(kernel, library, which)
            except Exception as error:
                found[kernel.name] = str(error)
                continue
            wrong = [name for name, value in ours.items() if theirs[name] != value]
            if wrong:
                found[kernel.name] = f"differ in {', '.join(wrong)}"
        return found


def both_ways(kernel, library, which):
    program = build_program(kernel.func, CHIP)
    table = json.loads(program.table)
    with_choice = json.dumps(table | {"params": [*table["params"], WHICH]})
    llvm = SimulatorExecutor(program.table, tvm.ir.save_json(program.control))

    def by_twin(arrays):
        options = SimOptions()
        run = twin.prepare_twin(with_choice, library)
        raw = run([*arrays, which], options_json(options, ()))
        return raise_hazards(read_report(raw, table), options)

    return (
        seen(kernel, lambda arrays: llvm.launch(arrays, SimOptions())),
        seen(kernel, by_twin),
    )


def seen(kernel, launch):
    arrays = [tvm.runtime.tensor(array) for array in kernel.arrays()]
    report = launch(arrays)
    return {
        "bits": [a.numpy().tobytes() for a in arrays],
        "cycles": report.cycles,
        "bytes": report.bytes,
        "texts": [printed.text for printed in report.printed],
    }


def batches(pairs):
    return [pairs[i : i + BATCH] for i in range(0, len(pairs), BATCH)]


@pytest.mark.parametrize("pairs", batches(FIRST))
def test_twin_and_llvm_path_agree(pairs):
    assert Batch(pairs).differences() == {}


@pytest.mark.slow
@pytest.mark.parametrize("pairs", batches(OTHERS))
def test_twin_and_llvm_path_agree_for_every_dtype(pairs):
    assert Batch(pairs).differences() == {}


def test_a_difference_is_seen():
    """A library whose kernels are in another order."""
    batch = Batch([(TABLE["add"], ("float32",)), (TABLE["sub"], ("float32",))])
    library = batch.library()
    assert batch.differences() == {}
    ours, theirs = both_ways(batch.kernels[0], library, 1)
    assert ours["bits"] != theirs["bits"]
    assert ours["cycles"] == theirs["cycles"]


def test_results_come_out():
    """What a kernel brings out depends on what its row does, in every memory of the Cube."""
    for key in ("add", "load_data_2d", "data_copy_bt", "mmad", "fixpipe", "fill_l1", "fill_l0"):
        row = TABLE[key]
        kernel = RowKernel(row, row.dtypes[0])
        with_row = kernel.func
        without = RowKernel(row, row.dtypes[0], leave_out=True).func
        results = []
        for func in (with_row, without):
            program = build_program(func, CHIP)
            llvm = SimulatorExecutor(program.table, tvm.ir.save_json(program.control))
            results.append(
                seen(kernel, lambda arrays, run=llvm: run.launch(arrays, SimOptions()))["bits"]
            )
        assert results[0] != results[1], key
