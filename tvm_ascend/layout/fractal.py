# SPDX-License-Identifier: Apache-2.0
"""ND, NZ, ZZ and ZN: where element (row, column) of a matrix sits in its physical buffer.

The four letters of the vendor's documents are read the same way everywhere here: the first is the
order of fractals, the second the order inside one (``N`` column first, ``Z`` row first), for the
matrix as the Cube sees it: A[m, k] in L0A is ZZ, B[k, n] in L0B is ZN, C[m, n] in L0C and every
operand in L1 is NZ [doc: ASCEND 2.2].
"""

from __future__ import annotations

from dataclasses import dataclass

from tvm import tirx

from tvm_ascend.hw.chip import ChipSpec
from tvm_ascend.isa.formula import ITEMSIZE

LAYOUTS = ("ND", "NZ", "ZZ", "ZN")


def ceildiv(a, b):
    """Quotient rounded up, of Python ints or TIR expressions."""
    return (a + (b - 1)) // b


def align(a, b):
    """The next multiple of ``b``, of Python ints or TIR expressions."""
    return ceildiv(a, b) * b


def c0_of(dtype: str, chip: ChipSpec) -> int:
    """Elements of one 32-byte block: the width of a fractal of L1, L0A and L0B."""
    return chip.block_bytes // ITEMSIZE[dtype]


@dataclass(frozen=True)
class Fractal:
    """The layout of a ``rows`` x ``cols`` matrix whose fractals are ``f_rows`` x ``f_cols``."""

    layout: str
    rows: int
    cols: int
    f_rows: int
    f_cols: int

    @property
    def padded(self) -> tuple[int, int]:
        """Rows and columns with whole fractals."""
        return align(self.rows, self.f_rows), align(self.cols, self.f_cols)

    @property
    def elements(self) -> int:
        """Elements of the physical buffer."""
        rows, cols = self.padded
        return rows * cols

    @property
    def fractal(self) -> int:
        """Elements of one fractal."""
        return self.f_rows * self.f_cols

    def offset(self, row, col):
        """Element offset of (row, col) in the physical buffer."""
        rows, cols = self.padded
        if self.layout == "ND":
            return row * cols + col
        major, minor = row // self.f_rows, col // self.f_cols
        if self.layout == "ZZ":
            block = major * (cols // self.f_cols) + minor
        elif self.layout == "NZ":
            block = minor * (rows // self.f_rows) + major
        else:
            block = major * (cols // self.f_cols) + minor
        inner_row, inner_col = row % self.f_rows, col % self.f_cols
        if self.layout == "ZN":
            return block * self.fractal + inner_col * self.f_rows + inner_row
        return block * self.fractal + inner_row * self.f_cols + inner_col

    def coordinates(self, offset):
        """The (row, col) stored at ``offset``: the inverse of :meth:`offset`."""
        rows, cols = self.padded
        if self.layout == "ND":
            return offset // cols, offset % cols
        block, inner = offset // self.fractal, offset % self.fractal
        if self.layout == "NZ":
            minor, major = block // (rows // self.f_rows), block % (rows // self.f_rows)
        else:
            major, minor = block // (cols // self.f_cols), block % (cols // self.f_cols)
        if self.layout == "ZN":
            inner_row, inner_col = inner % self.f_rows, inner // self.f_rows
        else:
            inner_row, inner_col = inner // self.f_cols, inner % self.f_cols
        return major * self.f_rows + inner_row, minor * self.f_cols + inner_col

    def index_map(self) -> tirx.IndexMap:
        """The map (row, col) -> physical offset, for TVM's own layout transformations."""
        return tirx.IndexMap.from_func(lambda r, c: [self.offset(r, c)], index_dtype="int32")


def fractal_of(layout: str, rows: int, cols: int, dtype: str, chip: ChipSpec) -> Fractal:
    """The layout of a ``rows`` x ``cols`` matrix of ``dtype`` as one memory of the Cube stores it.

    For ZN, rows is the reduction axis k, whose block is 32 bytes; for NZ and ZZ columns are. An
    accumulator in NZ is L0C's, whose fractals are 16 x 16 whatever the size of an element.
    """
    c0, block = c0_of(dtype, chip), chip.cube_block
    if layout == "ND":
        return Fractal("ND", rows, cols, 1, 1)
    if layout == "ZN":
        return Fractal("ZN", rows, cols, c0, block)
    return Fractal(layout, rows, cols, block, c0)


def accumulator_of(rows: int, cols: int, chip: ChipSpec) -> Fractal:
    """The NZ layout of L0C."""
    return Fractal("NZ", rows, cols, chip.cube_block, chip.cube_block)
