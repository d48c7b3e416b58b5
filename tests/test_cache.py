# SPDX-License-Identifier: Apache-2.0
"""The disk cache returns what was stored, or nothing; never something else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import pytest

from tvm_ascend import cache

KEY = cache.key("ir", "910b1", {"num_stages": 2})


@pytest.fixture(autouse=True)
def cache_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("TVM_ASCEND_CACHE_DIR", str(tmp_path))
    return tmp_path


def only_file(folder):
    (path,) = folder.glob(f"*/*{cache.SUFFIX}")
    return path


def test_absent_then_stored(cache_dir):
    assert cache.load(KEY) is None
    cache.store(KEY, b"result")
    assert cache.load(KEY) == b"result"
    assert [path.name for path in cache_dir.rglob(".new-*")] == []


def test_key_depends_on_every_part(monkeypatch):
    keys = {
        KEY,
        cache.key("other ir", "910b1", {"num_stages": 2}),
        cache.key("ir", "910b4", {"num_stages": 2}),
        cache.key("ir", "910b1", {"num_stages": 3}),
    }
    monkeypatch.setattr(cache, "versions", lambda: {"tvm_ascend": "edited"})
    keys.add(cache.key("ir", "910b1", {"num_stages": 2}))
    assert len(keys) == 5


def test_key_ignores_the_order_of_options():
    assert cache.key("ir", "a3", {"a": 1, "b": 2}) == cache.key("ir", "a3", {"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-1], "truncated or damaged"),
        (lambda content: content[:-1] + b"!", "truncated or damaged"),
        (lambda content: content[:30], "not a result stored under this key"),
        (lambda _: b"", "not a result stored under this key"),
        (lambda _: b"\x7fELF a foreign file", "not a result stored under this key"),
    ],
)
def test_damaged_file_is_removed_with_a_warning(cache_dir, damage, message):
    cache.store(KEY, b"result")
    path = only_file(cache_dir)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match=message):
        assert cache.load(KEY) is None
    assert not path.exists()
    cache.store(KEY, b"rebuilt")
    assert cache.load(KEY) == b"rebuilt"


def test_result_of_another_key_is_refused(cache_dir):
    cache.store(KEY, b"result")
    other = KEY[:2] + "0" * 62
    only_file(cache_dir).rename(cache_dir / KEY[:2] / (other + cache.SUFFIX))
    with pytest.warns(UserWarning, match="not a result stored under this key"):
        assert cache.load(other) is None


def test_unusable_directory_warns_and_goes_on(cache_dir, monkeypatch):
    (cache_dir / "file").write_text("not a directory")
    monkeypatch.setenv("TVM_ASCEND_CACHE_DIR", str(cache_dir / "file"))
    with pytest.warns(UserWarning, match="cannot write"):
        cache.store(KEY, b"result")
    with pytest.warns(UserWarning, match="cannot read"):
        assert cache.load(KEY) is None


def test_least_recently_used_goes_first(cache_dir):
    keys = [cache.key(str(index), "a3", {}) for index in range(3)]
    for age, name in zip((30, 20, 10), keys, strict=True):
        cache.store(name, bytes(1000))
        stamp = time.time() - age
        os.utime(cache._path(name), (stamp, stamp))
    cache.load(keys[0])
    cache.trim(2500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [cache.load(name) is None for name in keys] == [False, True, False]


WRITER = """
import sys
from tvm_ascend import cache
key = sys.argv[1]
for turn in range(200):
    cache.store(key, bytes([turn % 251]) * 4096)
    found = cache.load(key)
    assert found is not None and len(found) == 4096 and len(set(found)) == 1, turn
"""


def test_two_processes_never_see_half_a_file():
    command = [sys.executable, "-W", "error", "-c", WRITER, KEY]
    writers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert writer.returncode == 0, errors.decode()
    assert len(cache.load(KEY)) == 4096


COMPILE = """
import sys
import numpy as np
import tvm_ascend
from tvm_ascend.demo.kernels import make_layer_norm
print("ready", flush=True)
sys.stdin.readline()
kernel = tvm_ascend.compile(make_layer_norm(16, 64, 64), out_idx=[1, 2, 3])
out, mean, var = kernel(np.ones((16, 64), "float16"))
assert (mean == 1).all() and (var == 0).all() and (out == 0).all()
"""


def test_two_processes_compile_the_same_kernel_at_once(tmp_path):
    script = tmp_path / "compile_it.py"
    script.write_text(COMPILE)
    both = [
        subprocess.Popen(
            [sys.executable, "-W", "error::UserWarning", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    for process in both:
        assert process.stdout.readline() == b"ready\n", process.stderr.read().decode()
    for process in both:
        process.stdin.write(b"go\n")
        process.stdin.flush()
    for process in both:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert len(list(tmp_path.glob(f"*/*{cache.SUFFIX}"))) == 1


def test_compile_rebuilds_a_damaged_result(cache_dir):
    import tvm_ascend
    from tvm_ascend.demo.kernels import make_layer_norm

    first = tvm_ascend.compile(make_layer_norm(16, 64, 64))
    path = only_file(cache_dir)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="truncated or damaged; removed, rebuilding"):
        again = tvm_ascend.compile(make_layer_norm(16, 64, 64))
    assert again.source == first.source
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tvm_ascend.compile(make_layer_norm(16, 64, 64))
