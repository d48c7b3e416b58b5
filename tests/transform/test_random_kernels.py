# SPDX-License-Identifier: Apache-2.0
"""Random expressions over tiles, rows, columns and single elements, exact against numpy."""

import importlib.util
import random

import numpy as np
import pytest

from tests.transform.kernels import assert_equal, integers, run

SOURCE = """
from tvm_ascend import language as T


@T.prim_func
def kernel(
    A: T.Tensor(({total}, {cols}), "{dtype}"),
    B: T.Tensor(({total}, {cols}), "{other}"),
    R: T.Tensor(({total},), "float32"),
    G: T.Tensor(({cols},), "float32"),
    S: T.Tensor((1,), "float32"),
    Out: T.Tensor(({total}, {cols}), "float32"),
    Sums: T.Tensor(({total},), "float32"),
):
    with T.Kernel({blocks}) as bx:
        a = T.alloc_fragment(({rows}, {cols}))
        r = T.alloc_fragment(({rows},))
        g = T.alloc_fragment(({cols},))
        s = T.alloc_fragment((1,))
        q = T.alloc_fragment(({rows},))
        T.copy(A[bx * {rows}, 0], a)
        T.copy(R[bx * {rows}], r)
        T.copy(G, g)
        T.copy(S, s)
        T.fill(q, 1.0)
        for i, j in T.Parallel({rows}, {cols}):
            a[i, j] = {first}
        for i, j in T.Parallel({rows}, {cols}):
            q[i] = {reduction}
        for i, j in T.Parallel({rows}, {cols}):
            Out[bx * {rows} + i, j] = {second}
        T.copy(q, Sums[bx * {rows}])
"""
LEAVES = ["a[i, j]", "r[i]", "g[j]", "s[0]", "2.0", "a[i, j]"]
REDUCE = {"sum": np.sum, "max": np.max, "min": np.min}
COMBINE = {"sum": np.add, "max": np.maximum, "min": np.minimum}


class Numpy:
    """What the expressions mean, with `T` as numpy."""

    max = staticmethod(np.maximum)
    min = staticmethod(np.minimum)

    @staticmethod
    def Cast(dtype, value):
        return value.astype(dtype)


class Whole:
    """An array that any index reads as a whole."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, _index):
        return self.values


def expression(choose, depth, leaves):
    if depth == 0 or choose.random() < 0.15:
        return choose.choice(leaves)
    op = choose.choice(["+", "-", "*", "max", "min"])
    a, b = (expression(choose, depth - 1, leaves) for _ in range(2))
    return f"T.{op}({a}, {b})" if op in ("max", "min") else f"({a} {op} {b})"


@pytest.mark.parametrize("seed", range(12))
def test_random_kernel(seed, tmp_path):
    choose, rng = random.Random(seed), np.random.default_rng(seed)
    rows, blocks = choose.choice([1, 2, 5, 8, 16, 33]), choose.choice([1, 3])
    cols, total = choose.choice([1, 3, 8, 37, 64, 65, 128, 200, 513]), rows * blocks
    dtype, other = (choose.choice(["float32", "float16"]) for _ in range(2))
    leaves = [*LEAVES, f'T.Cast("float32", B[bx * {rows} + i, j])']
    first = expression(choose, 2, leaves)
    second = expression(choose, 3, [*leaves, "q[i]"])
    kind, summed = choose.choice(list(REDUCE)), expression(choose, 1, leaves)
    reduction = f"q[i] + {summed}" if kind == "sum" else f"T.{kind}(q[i], {summed})"
    path = tmp_path / f"random_{seed}.py"
    path.write_text(SOURCE.format(**locals()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    shapes = [(total, cols), (total, cols), (total,), (cols,), (1,)]
    dtypes = [dtype, other, "float32", "float32", "float32"]
    inputs = [
        integers(rng, *s, dtype=d, low=-2, high=3) for s, d in zip(shapes, dtypes, strict=True)
    ]
    out, sums = np.zeros((total, cols), "float32"), np.zeros(total, "float32")
    run(module.kernel, *inputs, out, sums)

    a, b, r, g, s = (x.astype("float64") for x in inputs)
    names = {"T": Numpy, "i": 0, "j": 0, "bx": 0, "B": Whole(b)}
    names |= {"r": Whole(r[:, None]), "g": Whole(g[None]), "s": Whole(s[0]), "a": Whole(a)}

    def value(text):
        return np.broadcast_to(eval(text, names), (total, cols))

    names["a"] = Whole(value(first))
    q = COMBINE[kind](1.0, REDUCE[kind](value(summed), axis=1))
    names["q"] = Whole(q[:, None])
    assert_equal(sums, q)
    assert_equal(out, value(second))
