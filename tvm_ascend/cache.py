# SPDX-License-Identifier: Apache-2.0
"""A content-addressed store of compile results on disk.

One file per key, written beside its final name and renamed, so that a reader sees a whole file or
none and two processes may store the same key at once. Each file carries its key and a checksum: a
truncated, damaged or foreign file is reported, removed and counts as absent.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

MAGIC = b"TVMASCEND-CACHE-1\n"
SUFFIX = ".kernel"
MAX_BYTES = 512 * 1024 * 1024
_DIGEST_BYTES = 32


def directory() -> Path:
    """Where results are kept: ``TVM_ASCEND_CACHE_DIR``, else the user's cache directory."""
    chosen = os.environ.get("TVM_ASCEND_CACHE_DIR")
    if chosen:
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "tvm_ascend"


@functools.lru_cache(maxsize=1)
def package_fingerprint() -> str:
    """A digest of this package's own sources: an edited pass must not find old results."""
    root = Path(__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


@functools.lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Everything outside the kernel that decides what compiling it gives."""
    from .cann import find_cann

    return {
        "tvm_ascend": package_fingerprint(),
        "apache-tvm": _version("apache-tvm"),
        "apache-tvm-ffi": _version("apache-tvm-ffi"),
        "cann": cann.version if (cann := find_cann()) else "absent",
    }


def key(ir: str, chip: str, options: Mapping[str, Any]) -> str:
    """The address of a compile result: its IR (as JSON or text), chip, options and versions."""
    parts = {"ir": ir, "chip": chip, "options": dict(options), "versions": versions()}
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _path(name: str) -> Path:
    return directory() / name[:2] / (name + SUFFIX)


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_DIGEST_BYTES).digest()


def load(name: str) -> bytes | None:
    """The bytes stored under a key, or None when there are none that can be trusted."""
    path = _path(name)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as reason:
        warnings.warn(f"compile cache: cannot read {path} ({reason}); rebuilding", stacklevel=2)
        return None
    header = MAGIC + name.encode() + b"\n"
    payload = content[len(header) + _DIGEST_BYTES :]
    if not content.startswith(header):
        _discard(path, "is not a result stored under this key")
    elif content[len(header) : len(header) + _DIGEST_BYTES] != _checksum(payload):
        _discard(path, "is truncated or damaged")
    else:
        with contextlib.suppress(OSError):
            os.utime(path)
        return payload
    return None


def _discard(path: Path, why: str) -> None:
    warnings.warn(f"compile cache: {path} {why}; removed, rebuilding", stacklevel=3)
    with contextlib.suppress(OSError):
        path.unlink()


def store(name: str, payload: bytes) -> None:
    """Keep bytes under a key. A cache that cannot be written costs time, never the compile."""
    path = _path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(MAGIC + name.encode() + b"\n" + _checksum(payload) + payload)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as reason:
        warnings.warn(f"compile cache: cannot write {path} ({reason})", stacklevel=2)
        return
    trim(MAX_BYTES)


def trim(max_bytes: int) -> None:
    """Drop the least recently used results until at most ``max_bytes`` are kept."""
    entries = []
    for path in directory().glob(f"*/*{SUFFIX}"):
        with contextlib.suppress(OSError):  # another process may have trimmed it
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= max_bytes:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
