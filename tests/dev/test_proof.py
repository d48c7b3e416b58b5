# SPDX-License-Identifier: Apache-2.0
"""Each sync of a kernel is shown to be needed or redundant, and a checker that misses one fails."""

import json
import re
import subprocess
import sys

import pytest

from tvm_ascend import Options, compile, dev
from tvm_ascend import language as T
from tvm_ascend.__main__ import main
from tvm_ascend.build import rebuild
from tvm_ascend.demo import basics
from tvm_ascend.demo.kernels import make_layer_norm, make_matmul
from tvm_ascend.dev import proof
from tvm_ascend.errors import RaceError
from tvm_ascend.transform.sync.written import unordered
from tvm_ascend.transform.sync_edit import sync_statements, without_sync


@T.prim_func
def twice(A: T.Tensor((4, 256), "float32"), B: T.Tensor((4, 256), "float32")):
    with T.Kernel(1):
        a = T.alloc_fragment((256,), "float32")
        for i in T.Pipelined(4, num_stages=2):
            T.copy(A[i, 0], a)
            for j in T.Parallel(256):
                a[j] = T.exp(a[j]) + 1.0
            T.copy(a, B[i, 0])


def kernels():
    yield compile(make_layer_norm(128, 1024), out_idx=[1, 2, 3]), (basics.layer_norm_input(),)
    yield compile(make_matmul(126, 80, 159), out_idx=2), basics.matmul_inputs(126, 80, 159)
    kernel = compile(twice, out_idx=1)
    yield kernel, proof.random_inputs(kernel)
    # 49 tiles on 24 cores: cores differ in their trips, and each loads ahead for its next tile.
    tiles = {"tile_m": 16, "tile_n": 16, "tile_k0": 16, "tile_k": 32}
    kernel = compile(make_matmul(112, 128, 112), out_idx=2, options=Options(overrides=tiles))
    yield kernel, basics.matmul_inputs(112, 128, 112)
    kernel = compile(
        make_matmul(112, 128, 112), out_idx=2, options=Options(overrides={**tiles, "a_steps": 2})
    )
    yield kernel, basics.matmul_inputs(112, 128, 112)


@pytest.mark.parametrize("index", range(5))
def test_every_sync_of_the_compiler_is_needed(index):
    kernel, inputs = list(kernels())[index]
    found = dev.prove_sync(kernel, *inputs)
    assert found.holds
    assert len(found.verdicts) == len(dev.syncs(kernel)) > 0
    assert {v.verdict for v in found.verdicts} == {"reported"}
    assert all(len(v.statements) == 2 for v in found.verdicts)


@pytest.mark.parametrize("index", range(5))
def test_the_analysis_agrees_with_the_simulator(index):
    kernel, _ = list(kernels())[index]
    final = kernel.stages["final"]
    assert unordered(final) is None
    for sync in range(len(dev.syncs(kernel))):
        assert unordered(without_sync(final, sync)) is not None


def with_an_idle_barrier():
    """A kernel with a barrier between two instructions that share nothing."""

    @T.prim_func
    def idle(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            a = T.alloc_ub((64,), "float32")
            T.ascend.data_copy_pad_in(a[0], A[0], 1, 256, 0, 0, False, 0, 0, T.float32(0))
            T.ascend.pipe_barrier("MTE2")
            T.ascend.set_flag("MTE2_MTE3", 0)
            T.ascend.wait_flag("MTE2_MTE3", 0)
            T.ascend.data_copy_pad_out(B[0], a[0], 1, 256, 0, 0)

    return compile(idle, out_idx=1)


def test_a_redundant_sync_is_listed_with_its_cost():
    kernel = with_an_idle_barrier()
    barrier, flag = dev.prove_sync(kernel, *proof.random_inputs(kernel)).verdicts
    assert (barrier.kind, barrier.verdict) == ("barrier", "redundant")
    assert barrier.cycles is not None
    assert barrier.cycles >= 0
    assert (flag.kind, flag.verdict, flag.hazard) == ("flag", "reported", "race")


def test_a_run_that_misses_a_lost_order_is_a_failure(monkeypatch):
    kernel = compile(twice, out_idx=1)
    inputs = proof.random_inputs(kernel)
    blind = proof.SimOptions(hazards=False)
    monkeypatch.setattr(proof, "SimOptions", lambda: blind)
    found = dev.prove_sync(kernel, *inputs)
    assert not found.holds
    assert any("yet nothing orders" in v.why for v in found.verdicts)


def test_a_kernel_with_a_hazard_of_its_own_is_refused():
    kernel = compile(twice, out_idx=1)
    broken = rebuild(kernel, without_sync(kernel.stages["final"], 0))
    assert len(sync_statements(broken.stages["final"])) < len(
        sync_statements(kernel.stages["final"])
    )
    with pytest.raises(RaceError):
        dev.prove_sync(broken, *proof.random_inputs(kernel))


@T.prim_func
def by_parity(A: T.Tensor((5, 64), "float32"), B: T.Tensor((5, 64), "float32")):
    with T.Kernel(1):
        for r in T.serial(5):
            a = T.alloc_fragment((64,), "float32")
            T.copy(A[r, :], a)
            if r % 2 == 0:
                T.copy(a, B[r, :])
            else:
                for i in T.serial(64):
                    B[r, i] = a[i] - 1.0


def test_scalar_code_beside_a_flag_is_named():
    kernel = compile(by_parity, out_idx=1)
    found = dev.prove_sync(kernel, *proof.random_inputs(kernel))
    beside = {side for v in found.verdicts for side in v.between}
    assert "a_value = a[i] - 1" in beside
    lost = [v for v in found.verdicts if v.event in ("S_MTE2", "MTE2_S")]
    assert len(lost) == 2
    assert {v.verdict for v in lost} == {"reported"}
    assert "\n" not in "".join(v.why for v in found.verdicts)


FILE = """
from tvm_ascend import compile, language as T

@T.prim_func
def double(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
    with T.Kernel(1):
        for i in T.Parallel(64):
            B[i] = A[i] * 2.0

def compiled():
    return compile(double, out_idx=1)

def with_argument(x):
    return double

def breaks():
    return 1 // 0
"""


def prove(*arguments):
    command = [sys.executable, "-m", "tvm_ascend", "prove-sync", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["double", "compiled"])
def test_the_command_prints_the_table(tmp_path, name):
    file = tmp_path / "kernels.py"
    file.write_text(FILE)
    done = prove(f"{file}:{name}", "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["holds"]
    assert [v["event"] for v in table["verdicts"]] == ["MTE2_V", "V_MTE3"]


def test_the_command_uses_the_inputs_of_the_file(tmp_path):
    file = tmp_path / "kernels.py"
    file.write_text(FILE + "\ndef inputs():\n    return 'no tensor'\n")
    done = prove(f"{file}:compiled")
    assert done.returncode == 1
    assert "ArgumentTypeError" in done.stderr


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("{}/kernels.py:absent", "defines no absent"),
        ("{}/kernels.py", "not FILE.py:NAME"),
        ("x.py:a", "no file"),
        ("{}/kernels.txt:a", "no Python file"),
        ("{}/kernels.py:with_argument", "`with_argument` is called without arguments"),
        ("{}/kernels.py:breaks", r"ZeroDivisionError: .*kernels\.py:17"),
        ("{}/broken.py:a", r"SyntaxError: .*broken\.py:1"),
        ("{}/raising.py:a", r"ValueError: no, at .*raising\.py:2"),
    ],
)
@pytest.mark.parametrize("verb", ["prove-sync", "why-tile"])
def test_a_wrong_command_line_ends_with_2(tmp_path, capsys, verb, place, text):
    (tmp_path / "kernels.py").write_text(FILE)
    (tmp_path / "kernels.txt").write_text(FILE)
    (tmp_path / "broken.py").write_text("this is ( not Python")
    (tmp_path / "raising.py").write_text("\nraise ValueError('no')\n")
    with pytest.raises(SystemExit, match="2"):
        main([verb, place.format(tmp_path)])
    assert re.search(text, capsys.readouterr().err)


def test_inputs_that_are_no_function_end_with_2(tmp_path, capsys):
    file = tmp_path / "kernels.py"
    file.write_text(FILE + "\ninputs = 3\n")
    with pytest.raises(SystemExit, match="2"):
        main(["prove-sync", f"{file}:double"])
    assert "3 is no function" in capsys.readouterr().err
