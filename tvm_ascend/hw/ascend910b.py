# SPDX-License-Identifier: Apache-2.0
"""The 910B family and A3: one literal per chip, every number with its source.

``[doc]`` is stated by a public source, ``[measured]`` was measured on a chip, ``[derived]`` is
arithmetic on such numbers, ``[fit: rows]`` was fitted on the measured rows that
``benchmarks/measured.py`` compares with, ``[guess]`` is neither. Section numbers are those of the
project's fact sheet.
"""

from __future__ import annotations

from dataclasses import replace

from tvm_ascend.hw.chip import ChipSpec, Curve, Paths, VectorTiming
from tvm_ascend.hw.geometry import (
    BLOCK_BYTES,
    CUBE_SIDE,
    FRACTAL_BYTES,
    LINE_BYTES,
    REPEAT_BYTES,
)


def _gigabytes(*points: tuple[float, float]) -> Curve:
    return tuple((cores, rate * 1e9) for cores, rate in points)


def _vector(head: float, tail: float, b16: float, b32: float) -> VectorTiming:
    return VectorTiming(head=head, tail=tail, b8=b16, b16=b16, b32=b32)


# Repeats: [doc: 5.1, throughput without bank conflicts]. Head and tail: [measured: 5.2, fitted on a
# 910B3], where 5.2 has no row [doc: 5.3]. Both agree with the 22 to 24 cycles that one Add costs
# beyond its repeats.
VECTOR = {
    "vadd": _vector(10, 14, 1, 1),
    "vsub": _vector(10, 14, 1, 1),
    "vmul": _vector(10, 15, 1, 1),
    "vdiv": _vector(11, 19, 4, 2),
    "vmax": _vector(10, 14, 1, 1),
    "vmin": _vector(10, 14, 1, 1),
    "vadds": _vector(13, 18, 1, 1),
    "vmuls": _vector(11, 15, 1, 1),
    "vmaxs": _vector(10, 13, 1, 1),
    "vmins": _vector(14, 16, 1, 1),
    "vexp": _vector(13, 18, 4, 2),
    "vln": _vector(13, 20, 4, 2),
    "vsqrt": _vector(14, 25, 4, 2),
    "vrsqrt": _vector(10, 14, 1, 1),
    "vrec": _vector(10, 14, 1, 1),  # head and tail [guess: as vrsqrt]
    "vabs": _vector(13, 16, 1, 1),
    "vrelu": _vector(10, 13, 1, 1),
    "vconv": _vector(14, 18, 1, 1),
    "vaddrelu": _vector(10, 14, 1, 1),  # head and tail [guess: as vadd]
    "vsubrelu": _vector(10, 14, 1, 1),  # head and tail [guess: as vsub]
    "vand": _vector(8, 12, 1, 1),
    "vor": _vector(8, 12, 1, 1),
    "vnot": _vector(8, 12, 1, 1),
    "vlrelu": _vector(11, 15, 1, 1),
    "vshl": _vector(10, 14, 1, 1),  # head and tail [guess: as vadd]
    "vshr": _vector(10, 14, 1, 1),  # head and tail [guess: as vadd]
    "vaxpy": _vector(22, 14, 1, 1),
    "vmla": _vector(10, 15, 2, 2),  # head and tail [guess: as vmul]
    "vmadd": _vector(10, 15, 1, 1),  # head and tail [guess: as vmul]
    "vmaddrelu": _vector(10, 15, 1, 1),  # head and tail [guess: as vmul]
    "vaddreluconv": _vector(14, 18, 1, 1),  # head and tail [guess: as vconv]
    "vsubreluconv": _vector(14, 18, 1, 1),  # head and tail [guess: as vconv]
    "vmulconv": _vector(14, 18, 1, 1),  # head and tail [guess: as vconv]
    # The library's vadd, vconv, 3 vmuls, vconv, vdup and vmax, the last two of half, with barriers
    # between them [derived: the rows above].
    "vadddeqrelu": _vector(200, 14, 7, 7),
    "vcmpv": _vector(14, 22, 1, 1),
    "vsel": _vector(13, 14, 1, 1),
    "vgather": _vector(24, 0, 25.6, 12.8),
    "vgatherb": _vector(6, 0, 128 / 42, 64 / 21),
    "vreducev2": _vector(14, 20, 2, 2),
    "vbitsort": _vector(14, 14, 16, 16),
    "vmrgsort4": _vector(20, 14, 16, 16),  # tail [doc: 5.3]
    "vtranspose": _vector(14, 15, 2, 2),
    "vnchwconv": VectorTiming(head=14, tail=15, b8=1, b16=2, b32=2),  # head, tail [guess: as above]
    "vdup": _vector(11, 13, 1, 1),
    # The adds of the library: 7 of a block, then one of each repeat, each behind a barrier.
    "vindex": _vector(13, 18, 1, 1),  # repeats [doc: 5.1], head and tail [guess: as vadds]
    "vcopy": _vector(11, 13, 1, 1),
    "vbrcb": _vector(0, 18, 1, 1),
    "vcadd": _vector(14, 32, 7, 7),
    "vcmax": _vector(14, 21, 7, 7),
    "vcmin": _vector(14, 21, 7, 7),
    "vcgadd": _vector(14, 24, 7, 1),
    "vcgmax": _vector(14, 17, 7, 1),
    "vcgmin": _vector(14, 17, 7, 1),
    "vcpadd": _vector(14, 24, 1, 1),  # head and tail [guess: as vcgadd]
}

CONSTANTS = {
    # Mmad: 8 calls of 512 blocks take 53 to 69 cycles beyond the blocks, an isolated call 60
    # [measured: 5.4, 5.5b].
    "MMAD_ISSUE": 8,
    "MMAD_LATENCY": 52,
    # What each further part of AddDeqRelu costs beyond its repeats, as repeats [derived: its head
    # and tail over the cycles of a repeat].
    "DEQ_RELU_RESTART": 30,
    # Mmads of fewer 16x16 blocks into one L0C tile need a barrier between them [doc: 3.9].
    "MMAD_BARRIER_FRACTALS": 10,
    # 140-155 GB/s of 4-byte and 70-78 GB/s of 2-byte output a core: 35 to 39 G elements/s
    # [measured: MEASURED].
    "FIXPIPE_ELEMENTS_PER_CYCLE": 20,
    "FIXPIPE_L1_ELEMENTS_PER_CYCLE": 64,  # [doc: 5.4]
    "FIXPIPE_LATENCY": 26,  # 14 ns [doc: 5.4]
    "L0A_BYTES_PER_CYCLE": 256,  # [doc: 5.4]
    "L0B_BYTES_PER_CYCLE": 128,  # [doc: 5.4]
    "LOAD_DATA_ISSUE": 8,  # 7 to 8.5 cycles an instruction [derived: 5.5b]
    "LOAD_DATA_LATENCY": 20,  # [guess]
    # LoadData 3D with n filter rows and column stride s: 512 / (2 s + n) bytes a cycle, but 256 or
    # 128 for one row without stride, and at least 32 [doc: 5.4].
    "IMG2COL_BYTES_PER_CYCLE": 512,
    "IMG2COL_LEAST_BYTES_PER_CYCLE": 32,
    "CACHE_CLEAN_CYCLES": 100,  # [guess]
    "PRINT_CYCLES": 2000,  # text goes to GM byte by byte in scalar code [guess]
    "REGISTER_ISSUE": 1,  # [guess: as other scalar instructions]
    "TABLE_BYTES_PER_CYCLE": 32,  # L1 to BT and FB [doc: 5.4]
    "L1_TO_GM_BYTES_PER_CYCLE": 18.5,  # 32 GiB/s at 1.85 GHz [doc: 5.4]
    # 1024 GiB/s at 1.85 GHz is more than the 256 bytes that UB reads and writes in a cycle
    # [doc: 5.4], so the rate is that of Copy; head and tail [guess: as vdup].
    "UB_COPY_BYTES_PER_CYCLE": 256,
    "UB_COPY_ISSUE": 11,
    "UB_COPY_LATENCY": 13,
    "L1_FILL_BYTES_PER_CYCLE": 32,  # [guess: the rate of L1 to BT]
    # The smallest one-core kernel takes 1.36 us, of which launch 0.48, TPipe 0.3 and vector work
    # under 0.1 [derived: MEASURED]; how the rest divides between reading and writing is a [guess].
    "GM_READ_LATENCY": 500,
    "GM_WRITE_LATENCY": 300,
    "GM_LINE_BYTES": LINE_BYTES,  # a request that starts inside one moves all of it [doc: 1.4]
    "GM_BURST_CYCLES": 20,  # 128-byte packets leave every 20.6 cycles [measured: 5.5b]
    "SCALAR_ISSUE": 1,  # [doc: 5.4]
    "COUNT_FORM_ISSUE": 4,  # setting and restoring counter mode [doc: 5.4]
    "SYNC_ISSUE": 1,  # [doc: 5.4]
    # From the set to the core that waits; not documented [guess: an access that misses L2, 5.4].
    "CROSS_CORE_LATENCY": 200,
    # An fp16 add in scalar code takes 34 cycles an element [measured: 5.5].
    "SCALAR_LOAD": 10,
    "SCALAR_STORE": 10,
    "CORE_START_CYCLES": 540,  # TPipe set-up, 0.3 us [doc: 5.4]
}

# Rows of 512 bytes that L2 holds come to L1 in 6.2 cycles at 8192-cubed matmuls' 151 GB/s a core,
# rows of 2 KB in 20 [derived: 5.5b, 5.5]. Vector cores: rows of 128 bytes take 0.7 cycles more than
# their share of one piece [derived: 5.5, 531 against 488 cycles a tile of 64].
GM_ROW_CYCLES = {"AIC": 1.8, "AIV": 0.7}
# Lines that are not in L2, of which 128 bytes are read, leave every 5.4 cycles, whole ones every
# 16.6 [derived: 5.5, ND2NZ tiles of 64 and of 256 columns: 2 % off].
GM_PACKET_CYCLES = 1.7
# 48 Vector cores load tiles of 128-byte rows 8 % slower than of 2 KB [fit: 5.5, 2 % off].
HBM_PACKET_BYTES = 15

# What a launch finds in L2. In a model the kernel before it has just written what a Vector kernel
# reads, and the last of it is still there: casts and adds of up to 8 MB run faster than HBM, larger
# ones at its rate. A Cube kernel reads mostly weights, which were used long before [fit: rows,
# adds, casts and muls over 6.5 us 19 % off on average].
L2_WARM_BYTES = {"AIC": 0, "AIV": 7.5e6}
# The rest is other kernels' data, of which a third was written and not yet written back: what adds,
# of two operands into one result, leave [guess]. With it reads, adds, and adds past L2 of 300 to
# 400 MB agree on one HBM rate within 9 % [fit: 5.5].
L2_DIRTY_SHARE = 1 / 3

# The smallest casts and adds take 1.2 us on 1 core, 3.2 on 16, 7 on 48; Cube ones 6.2 us on 1 and
# 11 on 20 [fit: rows, casts 8 % off on average]. Only 2.5 to 4.1 us of 43 to 48 Vector cores lie
# outside of all cores [measured: MEASURED]; that cores start one after the other is a [guess].
LAUNCH_SECONDS = {
    "AIV": ((1, 0.55e-6), (48, 5.25e-6)),
    "AIC": ((1, 4.0e-6), (24, 4.25e-6)),
    # 4.9 to 10.7 us of 21 to 24 AI Cores, the middle [measured: MEASURED]; of one [guess: as AIC].
    "MIX": ((1, 4.0e-6), (24, 7.8e-6)),
}
# Instruction cache misses are 10 to 20 % of kernels under 10 us [measured: MEASURED]; that they
# grow with statements and cores is a [guess], the amounts [fit: rows: norms and swiglu 28 % off].
FETCH_SECONDS = ((1, 0.037e-6), (48, 0.08e-6))
FIRST_STATEMENTS = 9

PATHS_910B1 = Paths(
    gm_to_ub=_gigabytes((1, 137)),  # [doc: 5.4, L2 to UB]
    # Up to 24 cores [doc: 5.4, table per number of cores]; beyond, that table shows what HBM takes.
    ub_to_gm=_gigabytes((1, 188.5), (2, 210.5), (4, 130.3), (8, 115.0), (16, 100.4), (24, 76.7)),
    gm_to_l1=_gigabytes((1, 221)),  # [doc: 5.4, L2 to L1]
    l0c_to_gm=_gigabytes((1, 155), (24, 140)),  # [measured: MEASURED, fixpipe]
    miss={
        # Up to 24 cores [doc: 5.4, table per number of cores]; beyond, that table shows HBM.
        "AIV": _gigabytes((1, 100.9), (2, 64.5), (4, 77.9), (8, 68.9), (16, 73.3), (24, 65.1)),
        # One core [doc: 5.4]; 24 cores load 300 to 1200 MB once [measured: 5.5, 2 % off].
        "AIC": _gigabytes((1, 135), (24, 57)),
    },
    gm_row_cycles=GM_ROW_CYCLES,
    packet_cycles=GM_PACKET_CYCLES,
    hbm_packet_bytes=HBM_PACKET_BYTES,
    l2_bytes_per_second=5.2e12,  # [doc: 1.4]
    # 1.6 to 1.8 TB/s [doc: 1.3]; the loads and adds of 5.5 are 1 to 9 % off [fit: 5.5].
    hbm_bytes_per_second=1.75e12,
)

PATHS_910B4 = Paths(
    # As on the 910B1: the documented 87 GB/s of one core [doc: 5.4] times 40 is less than what adds
    # of 9 MB get beyond launch [fit: rows].
    gm_to_ub=_gigabytes((1, 137)),
    ub_to_gm=_gigabytes((1, 131.3), (2, 146.7), (4, 90.8), (8, 80.2), (16, 70.0), (24, 53.4)),
    # The documented 135 GB/s of one core [doc: 5.4] cannot feed the 0.85 of the Cube's peak that
    # large matmuls reach on a 910B4-1. With 240, the table of the 910B4-1 says 270, six of over
    # 300 us whose k is an even number of tiles are 3 % off [fit: rows].
    gm_to_l1=_gigabytes((1, 240)),
    l0c_to_gm=_gigabytes((1, 155), (20, 140)),  # [measured: MEASURED, fixpipe]
    miss={
        "AIV": _gigabytes((1, 64.4), (2, 41.1), (4, 49.7), (8, 44.0), (16, 46.7), (24, 41.5)),
        # One core [doc: 5.4]; 20 cores read the weights of decode matmuls at 1.06 to 1.1 TB/s
        # [measured: MEASURED; fit: rows of 10 MB and more, 9 % off].
        "AIC": _gigabytes((1, 82.5), (20, 57)),
    },
    gm_row_cycles=GM_ROW_CYCLES,
    packet_cycles=GM_PACKET_CYCLES,
    hbm_packet_bytes=HBM_PACKET_BYTES,
    l2_bytes_per_second=5.2e12,  # [guess: as the 910B1]
    hbm_bytes_per_second=0.87e12,  # half of the 910B1 [doc: 1.3]
)

# The published table of the 910B4-1 doubles that of the 910B4 and contradicts what was measured on
# a 910B4-1: adds of 100 to 154 MB, 6 and 15 % off with this [fit: rows].
PATHS_910B4_1 = replace(PATHS_910B4, hbm_bytes_per_second=1.35e12)

ASCEND_910B1 = ChipSpec(
    name="910b1",
    title="Ascend 910B1",
    npu_arch="dav-2201",  # [doc: 1.1]
    aic_cores=24,  # [doc: 1.3]
    aiv_cores=48,  # [doc: 1.3]
    clock_hz=1.85e9,  # [doc: 1.3]
    l2_bytes=192 * 2**20,  # [doc: 1.3]
    l2_warm_bytes=L2_WARM_BYTES,
    l2_dirty_share=L2_DIRTY_SHARE,
    ub_bytes=192 * 1024,  # [doc: 1.2]
    ub_reserved_bytes=8 * 1024,  # framework scratch at the end of UB [doc: 1.2]
    ub_bank_groups=16,  # blocks of 32 bytes go to them in turn [doc: 1.7]
    ub_bank_bytes=4096,  # [doc: 1.7]
    # With it the eight address layouts of 64-repeat Adds take the measured cycles within 2 %; 14
    # and 18 are up to 5 % off [fit: 5.5, bank_conflict_ub].
    ub_write_depth=16,
    l1_bytes=512 * 1024,  # [doc: 1.2]
    l0a_bytes=64 * 1024,  # [doc: 1.2]
    l0b_bytes=64 * 1024,  # [doc: 1.2]
    l0c_bytes=128 * 1024,  # [doc: 1.2]
    bt_bytes=1024,  # [doc: 1.2]
    fb_bytes=7 * 1024,  # [doc: 1.2]
    block_bytes=BLOCK_BYTES,
    repeat_bytes=REPEAT_BYTES,
    max_repeat=255,  # [doc: 1.2]
    cube_block=CUBE_SIDE,
    fractal_bytes=FRACTAL_BYTES,
    event_ids=8,  # [doc: 4.2]
    usable_event_ids=6,  # 6 is reserved, 7 is TPipe's [doc: 4.2]
    cross_core_ids=16,  # [doc: 4.4]
    usable_cross_core_ids=11,  # 11 to 14 are SyncAll's [doc: 4.4]
    cross_core_depth=15,  # a counter of 4 bits [doc: 4.4]
    queue_depth=32,  # [doc: 1.2]
    vector=VECTOR,
    constants=CONSTANTS,
    paths=PATHS_910B1,
    launch_seconds=LAUNCH_SECONDS,
    first_statements=FIRST_STATEMENTS,
    fetch_seconds=FETCH_SECONDS,
)

ASCEND_910B2 = replace(
    ASCEND_910B1, name="910b2", title="Ascend 910B2", clock_hz=1.8e9
)  # [doc: 1.3]

# [doc: 1.3]
ASCEND_910B3 = replace(
    ASCEND_910B1, name="910b3", title="Ascend 910B3", aic_cores=20, aiv_cores=40, clock_hz=1.8e9
)

ASCEND_910B4 = replace(
    ASCEND_910B1,
    name="910b4",
    title="Ascend 910B4",
    aic_cores=20,  # [doc: 1.3]
    aiv_cores=40,  # [doc: 1.3]
    clock_hz=1.65e9,  # another source says 1.5 GHz [doc: 1.3, MEASURED]
    paths=PATHS_910B4,
)

ASCEND_910B4_1 = replace(ASCEND_910B4, name="910b4-1", title="Ascend 910B4-1", paths=PATHS_910B4_1)

# Measured A3 rows ran on 24 AIC and 48 AIV at 1.8 GHz, and the core is that of the 910B [measured:
# MEASURED].
ASCEND_A3 = replace(ASCEND_910B1, name="a3", title="Atlas A3 (910_93xx)", clock_hz=1.8e9)
