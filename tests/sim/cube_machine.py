# SPDX-License-Identifier: Apache-2.0
"""Gets matrices into L1 and L0 and out of L0C by the shortest way, to look at one instruction."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from sim.machine import At, Gm, Machine

ACC = {"int8": "int32"}
L0_BYTES = 65536


def numpy_dtype(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def up(x, to):
    return -(-x // to) * to


def lanes(dtype):
    """Elements of 32 bytes."""
    return 32 // numpy_dtype(dtype).itemsize


def nz(matrix):
    """A matrix as columns of 32 bytes, rows padded to 16, as a flat array."""
    c0 = 32 // matrix.itemsize
    rows, columns = up(matrix.shape[0], 16), up(matrix.shape[1], c0)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows, columns // c0, c0).transpose(1, 0, 2).reshape(-1)


def zz(matrix, columns=0):
    """A matrix as L0A holds it; ``columns`` are at least so many."""
    c0 = 32 // matrix.itemsize
    rows, columns = up(matrix.shape[0], 16), up(max(matrix.shape[1], columns), c0)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows // 16, 16, columns // c0, c0).transpose(0, 2, 1, 3).reshape(-1)


def zn(matrix):
    """B[k, n] as L0B holds it."""
    c0 = 32 // matrix.itemsize
    rows, columns = up(matrix.shape[0], c0), up(matrix.shape[1], 16)
    padded = np.zeros((rows, columns), matrix.dtype)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    return padded.reshape(rows // c0, c0, columns).transpose(0, 2, 1).reshape(-1)


class CubeMachine(Machine):
    """A machine of one Cube core."""

    def __init__(self, **kwargs):
        super().__init__("AIC", **kwargs)

    def into_l1(self, name, data, byte):
        """Bytes as they are into L1."""
        size = up(data.nbytes, 32)
        raw = np.zeros(size, "uint8")
        raw[: data.nbytes] = np.ascontiguousarray(data).reshape(-1).view("uint8")
        self.tensor(name, raw.view(data.dtype) if size % data.itemsize == 0 else raw)
        dtype = str(data.dtype)
        self.issue("data_copy_in", dtype, At("l1", byte), Gm(name), 1, size // 32, 0, 0)

    def into_l0(self, space, name, data, l1_byte):
        """Fractals as they are into L0A or L0B, by way of L1."""
        self.into_l1(name, data, l1_byte)
        self.barrier()
        count = up(data.nbytes, 512) // 512
        self.issue(
            "load_data_2d", str(data.dtype), At(space, 0), At("l1", l1_byte), 0, count, 1, 0, 0
        )

    def multiply(self, dtype, m, n, k):
        """Mmad of what lies at the start of L0A and L0B."""
        self.barrier()
        dtypes = (ACC.get(dtype, "float32"), dtype, dtype)
        self.issue("mmad", dtypes, At("l0c", 0), At("l0a", 0), At("l0b", 0), m, n, k, 1)

    def out(self, name, m, n, dtype="float32"):
        """L0C into a new tensor."""
        self.barrier()
        result = np.zeros((m, n), dtype)
        self.tensor(name, result)
        dtypes = (dtype, "int32" if dtype == "int32" else "float32")
        self.issue("fixpipe", dtypes, Gm(name), At("l0c", 0), n, m, up(m, 16), n, 0, "NoQuant")
        return result


def of_l0a(machine, dtype, m, k):
    """The m x k matrix that L0A holds from its start, by a product with the identity."""
    machine.into_l0("l0b", "identity", zn(np.eye(k, dtype=numpy_dtype(dtype))), 262144)
    machine.multiply(dtype, m, k, k)
    return machine.out("seen", m, k, ACC.get(dtype, "float32"))


def of_l0b(machine, dtype, k, n):
    """The k x n matrix that L0B holds from its start."""
    machine.into_l0("l0a", "identity", zz(np.eye(k, dtype=numpy_dtype(dtype))), 262144)
    machine.multiply(dtype, k, n, k)
    return machine.out("seen", k, n, ACC.get(dtype, "float32"))
