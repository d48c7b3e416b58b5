# SPDX-License-Identifier: Apache-2.0
"""Why a kernel has its tile, from Python and from the command line."""

import json

import pytest

import tvm_ascend
from tvm_ascend import dev
from tvm_ascend import language as T
from tvm_ascend.__main__ import main
from tvm_ascend.demo.kernels import make_matmul
from tvm_ascend.hw import CHIPS
from tvm_ascend.schedule.tile_model import Problem
from tvm_ascend.schedule.tiling import choose_tiling

PROBLEM = Problem(batch=1, m=128, n=256, k=512, dtype="float16", out_dtype="float32")
FILE = """
from tvm_ascend.demo.kernels import make_matmul
matmul = make_matmul(128, 512, 256)
"""


@pytest.fixture(scope="module")
def matmul():
    return tvm_ascend.compile(make_matmul(128, 512, 256), out_idx=2)


def test_kernel_tells_the_tiling_it_was_compiled_with(matmul):
    assert matmul.tiling == choose_tiling(PROBLEM, CHIPS[matmul.artifact.chip], {})
    decisions = matmul.tiling.chosen.settled(PROBLEM).decisions()
    del decisions["k_steps"]  # follows from tile_k
    assert {k: matmul.artifact.decisions[k] for k in decisions} == decisions


def test_tiling_survives_the_cache(matmul):
    artifact = type(matmul.artifact).from_bytes(matmul.artifact.to_bytes())
    assert type(matmul)(artifact, matmul.out_idx, matmul.options).tiling == matmul.tiling


def test_text_holds_chosen_runners_up_and_reasons(matmul):
    head, chosen, *rest = dev.why_tile(matmul).splitlines()
    assert head.startswith("matmul: tiles of rule `matmul`; ")
    assert f"tile_m {matmul.tiling.chosen.tile_m}," in head
    assert chosen == f"  chosen: {matmul.tiling.estimate}"
    assert sum("runner-up (+" in line for line in rest) == len(matmul.tiling.runners_up) == 5
    dropped = [line for line in rest if line.startswith("  dropped: ")]
    assert len(dropped) == len(matmul.tiling.dropped)
    assert any("would need more than its" in line for line in dropped)


def test_overridden_tiles_are_the_only_ones_ranked():
    options = tvm_ascend.Options(overrides={"tile_m": 64})
    kernel = tvm_ascend.compile(make_matmul(128, 512, 256), out_idx=2, options=options)
    ranked = [kernel.tiling.estimate, *kernel.tiling.runners_up]
    assert {estimate.tile.tile_m for estimate in ranked} == {64}


def test_kernel_with_tiles_of_its_own_has_no_ranking():
    @T.prim_func
    def kernel(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_fragment((64,))
            T.copy(A, a)
            T.copy(a, B)

    compiled = tvm_ascend.compile(kernel)
    assert compiled.tiling is None
    assert "tiles as the kernel states them" in dev.why_tile(compiled)
    assert dev.why_tile(compiled).endswith("no other tile was ranked")


def test_command_line_prints_text_and_json(tmp_path, capsys, matmul):
    path = tmp_path / "kernels.py"
    path.write_text(FILE)
    assert main(["why-tile", f"{path}:matmul"]) == 0
    assert capsys.readouterr().out == dev.why_tile(matmul) + "\n"
    assert main(["why-tile", f"{path}:matmul", "--json"]) == 0
    fields = json.loads(capsys.readouterr().out)
    assert fields["tiling"]["dropped"] == dict(matmul.tiling.dropped)
    with pytest.raises(SystemExit, match="2"):
        main(["why-tile", f"{path}:nothing"])
    assert "defines no nothing" in capsys.readouterr().err
