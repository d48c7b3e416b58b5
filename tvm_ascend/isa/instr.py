# SPDX-License-Identifier: Apache-2.0
"""What one row of the instruction table holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Pipe(str, Enum):
    """A hardware queue of a core; in order, asynchronous to the others [doc: ASCEND 4.1]."""

    S = "S"
    V = "V"
    M = "M"
    MTE1 = "MTE1"
    MTE2 = "MTE2"
    MTE3 = "MTE3"
    FIX = "FIX"


class Space(str, Enum):
    """A memory an operand can live in; ``bt`` holds biases, ``fb`` the scales of Fixpipe."""

    GM = "gm"
    UB = "ub"
    L1 = "l1"
    L0A = "l0a"
    L0B = "l0b"
    L0C = "l0c"
    BT = "bt"
    FB = "fb"


ALIGNMENT = {
    Space.GM: "itemsize",
    Space.UB: "32",
    Space.L1: "32",
    Space.L0A: "512",
    Space.L0B: "512",
    Space.L0C: "64",
    Space.BT: "64",
    Space.FB: "128",
}
"""Bytes an operand's address is a multiple of, unless its row says otherwise [doc: ASCEND 1.6]."""


class CoreType(str, Enum):
    """The two core kinds of a split AI Core."""

    AIC = "AIC"
    AIV = "AIV"


@dataclass(frozen=True, kw_only=True)
class Operand:
    """One tensor operand: an element address in ``spaces``.

    ``dtype`` is a type variable of the row (``"T"``, ``"U"``) or a concrete dtype. ``span`` is the
    number of elements from the address to the end of the last element touched, an upper bound in
    the expression subset, in which ``extent`` stands for all that is left of its buffer. ``align``
    is the address alignment in bytes where it differs from that of the space. ``itemsize``,
    ``block`` and ``fractal`` in both texts are bytes per element, elements per 32 bytes and per 512
    bytes of this operand's dtype.
    """

    name: str
    spaces: tuple[Space, ...]
    rw: str  # "r", "w" or "rw"
    span: str
    dtype: str = "T"
    align: str = ""


@dataclass(frozen=True, kw_only=True)
class Param:
    """One scalar parameter.

    ``type`` is the C type, a type variable (a scalar of that dtype), ``enum:Name``, ``typename``
    for an element type that the call has as a template argument, one of the dtypes ``values``,
    or ``text`` for a constant string.
    ``low``/``high`` bound integer parameters inclusively; ``values`` lists the legal names of an
    enum and ``spelling`` is the C++ text of one, ``{}`` its name. ``declared`` is the type in the
    vendor's declaration where it is not ``const type`` (``const T&`` for a scalar of a type
    variable). An integer without bounds is a word of any 64 bits.
    """

    name: str
    type: str
    low: int | None = None
    high: int | None = None
    values: tuple[str, ...] = ()
    spelling: str = ""
    declared: str = ""


@dataclass(frozen=True, kw_only=True)
class Renamed:
    """A later name of a call: the CANN version that brought it and the texts from then on."""

    cann: str
    emit: str
    template: str = ""


@dataclass(frozen=True, kw_only=True)
class Instr:
    """One hardware instruction in one form; see DESIGN section 6 for what is generated from it.

    Arguments of the TIR op ``tirx.ascend.<key>``: the operands in order, then the parameters in
    order. ``lane`` gives the meaning of lane-wise rows over operand names, in the dtype of the
    sources; others name a C++ body file in ``body``. ``form``: ``count`` (contiguous, ``count``
    elements), ``repeat`` (the first ``mask`` lanes of each of ``repeat`` repeats, with strides),
    ``bits`` (lanes chosen by the words ``mask_low`` and ``mask_high``), ``preset`` (lanes, or in
    counter mode elements, chosen by the vector mask register) or ``""``.

    ``emit`` is the Ascend C statement; ``{x}`` is the rendered operand or parameter x, ``{T}`` a
    C++ type; an operand also has ``{x.tensor}`` and ``{x.offset}``. It is a call, or a block that
    declares arrays and ends with the call. ``template`` is the template parameter list of the
    vendor's declaration where it is not one ``typename`` for each of ``types``. ``renamed`` lists
    later names of the call, oldest first. ``choices`` names, for dtype tuples that allow only some
    values of the row's enum, those values.

    ``timing`` keys the vector timing of the chip, for each repeat of the widest operand: those of
    ``count`` elements, of the parameter ``repeat``, or as many as the text ``repeats`` says. Other
    pipes give occupancy in ``cycles`` over parameters and UPPER_CASE constants of the chip. In both
    texts ``itemsize``, ``block`` and ``fractal`` are those of the first operand, ``itemsize_x`` and
    so on those of operand x. ``accumulates``: in the repeat forms dst may be the last source with
    repeat stride 0, which adds up over repeats.

    ``sets``: registers (``registers.py``) that the instruction sets, each to a parameter, an
    operand's address, the dtype of the scalar (by its type variable) or an integer; a ``typename``
    gives the dtype. Such a row has
    neither ``lane`` nor ``body``. ``since``: the first CANN version whose headers have the call.
    """

    key: str
    name: str
    pipe: Pipe
    core: tuple[CoreType, ...]
    operands: tuple[Operand, ...]
    params: tuple[Param, ...]
    types: tuple[str, ...] = ("T",)
    dtypes: tuple[tuple[str, ...], ...]
    emit: str
    doc: str
    source: str
    lane: str = ""
    body: str = ""
    form: str = ""
    timing: str = ""
    repeats: str = ""
    cycles: str = ""
    latency: str = "0"
    accumulates: bool = False
    template: str = ""
    renamed: tuple[Renamed, ...] = field(default=())
    sets: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    choices: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
