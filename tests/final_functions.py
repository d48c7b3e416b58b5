# SPDX-License-Identifier: Apache-2.0
"""Hand-made final functions, as the code generators receive them."""

from __future__ import annotations

from tvm import tirx
from tvm.ir import StringImm
from tvm.script import tirx as T

from tvm_ascend.isa.instr import Instr, Space
from tvm_ascend.isa.scalar import ELEMENT_READ, ELEMENT_WRITE
from tvm_ascend.language.ops import call
from tvm_ascend.layout.scope import SPACE_OF_SCOPE

SCOPES = {space: scope for scope, space in SPACE_OF_SCOPE.items() if scope}


def _arguments(row: Instr, dtypes: dict[str, str], literal: bool, number: tirx.Var) -> list:
    """One value for each parameter: a legal literal, or an expression of the kernel's scalar."""
    values = []
    for param in row.params:
        if param.type == "text":
            values.append(StringImm('"%d"\n'))
        elif param.values:
            values.append(StringImm(param.values[-1]))
        elif param.type in dtypes:
            dtype = dtypes[param.type]
            value = tirx.const(1, dtype)
            values.append(value if literal else tirx.Cast(dtype, number))
        elif literal:
            values.append(tirx.IntImm("bool" if param.type == "bool" else "int32", 1))
        else:
            values.append(number > 0 if param.type == "bool" else number + 1)
    return values


def row_function(name: str, row: Instr, dtype_tuple: tuple[str, ...], literal: bool = True):
    """A final function that holds one instruction, with literal or run-time parameters."""
    dtypes = dict(zip(row.types, dtype_tuple, strict=True))
    number = tirx.Var("number", "int32")
    params, allocations, operands = [number], [], []
    for operand in row.operands:
        space = operand.spaces[0]
        buffer = tirx.decl_buffer(
            (4096,), dtypes.get(operand.dtype, operand.dtype), operand.name, scope=SCOPES[space]
        )
        if space is Space.GM:
            params.append(buffer)
        else:
            address = 16384 * len(allocations)
            allocations.append(tirx.AllocBuffer(buffer, {"ascend.address": address}))
        operands.append(tirx.BufferLoad(buffer, [0 if literal else number * 16]))
    values = _arguments(row, dtypes, literal, number)
    statement = _statement(row, operands, values)
    body = tirx.SeqStmt([*allocations, statement]) if allocations else statement
    return tirx.PrimFunc(params, body).with_attr(
        {
            "global_symbol": name,
            "ascend.core_type": row.core[-1].value,
            "ascend.grid": 2,
        }
    )


def _statement(row: Instr, operands: list, values: list) -> tirx.Stmt:
    if row is ELEMENT_READ:
        (load,) = operands
        return tirx.BufferStore(load.source, load, [1])
    if row is ELEMENT_WRITE:
        (load,), (value,) = operands, values
        return tirx.BufferStore(load.source, value, load.indices)
    return call(row.key, *operands, *values)


@T.prim_func
def vector_kernel(A: T.Buffer((8, 64), "float16"), B: T.Buffer((8, 64), "float32")):
    T.func_attr({"global_symbol": "twice", "ascend.core_type": "AIV", "ascend.grid": 4})
    with T.launch_thread("blockIdx.x", 4) as bx:
        tile = T.alloc_buffer(
            (2, 64), "float16", scope="shared.ub", annotations={"ascend.address": 0}
        )
        wide = T.alloc_buffer(
            (64,), "float32", scope="shared.ub", annotations={"ascend.address": 256}
        )
        for row in range(2):
            T.ascend.data_copy_pad_in(
                tile[row % 2, 0], A[bx * 2 + row, 0], 1, 128, 0, 0, False, 0, 0, 0.0
            )
            T.ascend.set_flag("MTE2_V", row % 2)
            T.ascend.wait_flag("MTE2_V", row % 2)
            if row > 0:
                T.ascend.set_flag("MTE3_V", 0)
                T.ascend.wait_flag("MTE3_V", 0)
            T.ascend.cast(wide[0], tile[row % 2, 0], "CAST_NONE", 64)
            T.ascend.pipe_barrier("V")
            T.ascend.muls(wide[0], wide[0], 2.0, 64)
            T.ascend.pipe_barrier("V")
            T.ascend.add_repeat(wide[0], wide[0], wide[0], 64, 1, 1, 1, 1, 8, 8, 8)
            T.ascend.set_flag("V_MTE3", 0)
            T.ascend.wait_flag("V_MTE3", 0)
            T.ascend.data_copy_pad_out(B[bx * 2 + row, 0], wide[0], 1, 256, 0, 0)


@T.prim_func
def cube_kernel(
    A: T.Buffer((32, 16), "float16"),
    B: T.Buffer((16, 16), "float16"),
    C: T.Buffer((32, 16), "float32"),
):
    T.func_attr({"global_symbol": "gemm", "ascend.core_type": "AIC", "ascend.grid": 2})
    with T.launch_thread("blockIdx.x", 2) as bx:
        a1 = T.alloc_buffer((256,), "float16", scope="shared.l1", annotations={"ascend.address": 0})
        b1 = T.alloc_buffer(
            (256,), "float16", scope="shared.l1", annotations={"ascend.address": 512}
        )
        a2 = T.alloc_buffer((256,), "float16", scope="local.l0a", annotations={"ascend.address": 0})
        b2 = T.alloc_buffer((256,), "float16", scope="local.l0b", annotations={"ascend.address": 0})
        c1 = T.alloc_buffer((256,), "float32", scope="local.l0c", annotations={"ascend.address": 0})
        T.ascend.fill_l1(a1[0], 1, 16, 0, 0.0)
        T.ascend.pipe_barrier("MTE2")
        T.ascend.data_copy_nd2nz(a1[0], A[bx * 16, 0], 1, 16, 16, 0, 16, 16, 1, 0)
        T.ascend.data_copy_nd2nz(b1[0], B[0, 0], 1, 16, 16, 0, 16, 16, 1, 0)
        T.ascend.set_flag("MTE2_MTE1", 0)
        T.ascend.wait_flag("MTE2_MTE1", 0)
        T.ascend.load_data_2d(a2[0], a1[0], 0, 1, 1, 0, False)
        T.ascend.load_data_2d(b2[0], b1[0], 0, 1, 1, 0, True)
        T.ascend.set_flag("MTE1_M", 0)
        T.ascend.wait_flag("MTE1_M", 0)
        T.ascend.mmad(c1[0], a2[0], b2[0], 16, 16, 16, True)
        T.ascend.set_flag("M_FIX", 0)
        T.ascend.wait_flag("M_FIX", 0)
        T.ascend.fixpipe(C[bx * 16, 0], c1[0], 16, 16, 16, 16, False, "NoQuant")


@T.prim_func
def scalar_kernel(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float32"), n: T.int32):
    T.func_attr({"global_symbol": "main", "ascend.core_type": "AIV", "ascend.grid": 1})
    with T.launch_thread("blockIdx.x", 1) as bx:
        for i in range(n):
            if i % 2 == 0 and n > 3:
                A[i] = A[i] * T.float16(0.1) + T.Cast("float16", T.sqrt(T.abs(B[i])))
            else:
                B[(i - 5) // 3 + 2 + bx] = T.if_then_else(
                    i < 3, T.max(B[i], T.float32(0)), T.float32(1e-5)
                )
            B[i] = T.Select(i > 1, B[1], B[2]) + T.exp(B[3]) + T.tanh(B[i])
        while B[0] > T.float32(0):
            B[0] = B[0] - T.float32(1)
        T.ascend.data_cache_clean(B[0], "ENTIRE_DATA_CACHE")


@T.prim_func
def loaded_bounds(N: T.Buffer((4,), "int32"), B: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "bounds", "ascend.core_type": "AIV", "ascend.grid": 1})
    for i in range(N[0], N[1]):
        B[i] = T.float32(0)


@T.prim_func
def unknown_function(B: T.Buffer((64,), "float32")):
    T.func_attr({"global_symbol": "odd", "ascend.core_type": "AIV", "ascend.grid": 1})
    B[0] = T.Cast("float32", T.popcount(T.Cast("int32", B[1])))


@T.prim_func
def mixed_kernel(
    A: T.Buffer((2, 128), "float32"),
    W: T.Buffer((2, 128), "float32"),
    B: T.Buffer((2, 128), "float32"),
):
    T.func_attr({"global_symbol": "relay", "ascend.core_type": "MIX", "ascend.grid": 2})
    with T.launch_thread("blockIdx.x", 2) as bx, T.launch_thread("subBlockIdx", 2) as vid:
        with T.attr(0, "ascend.scope", "C"):
            a = T.alloc_buffer(
                (128,), "float32", scope="shared.l1", annotations={"ascend.address": 0}
            )
            T.ascend.data_copy_in_count(a[0], A[bx, 0], 128)
            T.ascend.set_flag("MTE2_MTE3", 0)
            T.ascend.wait_flag("MTE2_MTE3", 0)
            T.ascend.data_copy_l1_out_count(W[bx, 0], a[0], 128)
            T.ascend.cross_core_set_flag("2", "MTE3", 3)
        with T.attr(0, "ascend.scope", "V"):
            u = T.alloc_buffer(
                (64,), "float32", scope="shared.ub", annotations={"ascend.address": 0}
            )
            T.ascend.cross_core_wait_flag(3)
            T.ascend.data_copy_pad_in(u[0], W[bx, vid * 64], 1, 256, 0, 0, False, 0, 0, 0.0)
            T.ascend.set_flag("MTE2_MTE3", 0)
            T.ascend.wait_flag("MTE2_MTE3", 0)
            T.ascend.data_copy_pad_out(B[bx, vid * 64], u[0], 1, 256, 0, 0)
            T.ascend.sync_all()
