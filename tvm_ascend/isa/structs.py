# SPDX-License-Identifier: Apache-2.0
"""The parameter structs of Ascend C that the rows' texts construct, as the vendor declares them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """One member, or one parameter of a constructor where the types of the two differ.

    The name of an array ends with its extent.
    """

    type: str
    name: str
    default: str = ""

    @property
    def plain_name(self) -> str:
        """The name without an extent."""
        return self.name.partition("[")[0]

    @property
    def extent(self) -> str:
        """The brackets of an array, else nothing."""
        return self.name.removeprefix(self.plain_name)


@dataclass(frozen=True)
class Struct:
    """Members in declaration order, and the parameter lists of the constructors that take any."""

    name: str
    fields: tuple[Field, ...]
    constructors: tuple[tuple[Field, ...], ...]
    template: bool = False

    def constructor(self, count: int) -> tuple[Field, ...]:
        """The constructor with ``count`` parameters."""
        (found,) = (c for c in self.constructors if len(c) == count)
        return found


def _struct(name: str, members: str, *constructors: str, template: bool = False) -> Struct:
    """Read ``type name = default; ...`` and lists of names, each with a type if it differs."""
    fields = []
    for member in members.split(";"):
        declared, _, default = (part.strip() for part in member.partition("="))
        kind, field = declared.split()
        fields.append(Field(kind, field, default))
    by_name = {f.plain_name: f for f in fields}

    def parameter(text: str) -> Field:
        *own_type, member = text.split()
        return Field(own_type[0], member) if own_type else by_name[member]

    lists = tuple(tuple(parameter(p) for p in c.split(",")) for c in constructors)
    return Struct(name, tuple(fields), lists, template)


STRUCTS: dict[str, Struct] = {
    s.name: s
    for s in (
        _struct(
            "BinaryRepeatParams",
            "uint32_t blockNumber = 8; uint8_t dstBlkStride = 1; uint8_t src0BlkStride = 1;"
            "uint8_t src1BlkStride = 1; uint8_t dstRepStride = 8; uint8_t src0RepStride = 8;"
            "uint8_t src1RepStride = 8; bool repeatStrideMode = false; bool strideSizeMode = false",
            "dstBlkStride, src0BlkStride, src1BlkStride,dstRepStride, src0RepStride, src1RepStride",
        ),
        _struct(
            "UnaryRepeatParams",
            "uint32_t blockNumber = 8; uint16_t dstBlkStride = 1; uint16_t srcBlkStride = 1;"
            "uint8_t dstRepStride = 8; uint8_t srcRepStride = 8; bool repeatStrideMode = false;"
            "bool strideSizeMode = false; bool halfBlock = false",
            "dstBlkStride, srcBlkStride, dstRepStride, srcRepStride",
            "dstBlkStride, srcBlkStride, dstRepStride, srcRepStride, halfBlock",
        ),
        _struct(
            "CopyRepeatParams",
            "uint16_t dstStride = 0; uint16_t srcStride = 0; uint16_t dstRepeatSize = 8;"
            "uint16_t srcRepeatSize = 8",
            "dstStride, srcStride, dstRepeatSize, srcRepeatSize",
        ),
        _struct(
            "BrcbRepeatParams",
            "uint32_t blockNumber = 8; uint16_t dstRepStride = 8; uint16_t dstBlkStride = 1;"
            "uint8_t src0BlkStride = 1; uint8_t src1BlkStride = 1; uint8_t src0RepStride = 8;"
            "uint8_t src1RepStride = 8; bool repeatStrideMode = false; bool strideSizeMode = false",
            "dstBlkStride, dstRepStride",
        ),
        _struct(
            "DataCopyParams",
            "uint16_t blockCount = 1; uint16_t blockLen = 0; uint16_t srcGap = 0;"
            "uint16_t dstGap = 0",
            "blockCount, blockLen, srcGap, dstGap",
        ),
        _struct(
            "GatherRepeatParams",
            "uint32_t blockNumber = 8; uint16_t dstRepStride = 8; uint8_t dstBlkStride = 1;"
            "uint8_t src0BlkStride = 1; uint8_t src1BlkStride = 1; uint8_t src0RepStride = 8;"
            "uint8_t src1RepStride = 8; bool repeatStrideMode = false; bool strideSizeMode = false",
            "dstBlkStride, uint8_t dstRepStride",
        ),
        _struct(
            "GatherMaskParams",
            "uint8_t src0BlockStride = 1; uint16_t repeatTimes = 0; uint16_t src0RepeatStride = 8;"
            "uint8_t src1RepeatStride = 8",
            "src0BlockStride, repeatTimes, src0RepeatStride, src1RepeatStride",
        ),
        _struct(
            "TransDataTo5HDParams",
            "bool dstHighHalf = false; bool srcHighHalf = false; uint8_t repeatTimes = 1;"
            "uint16_t dstRepStride = 0; uint16_t srcRepStride = 0",
            "dstHighHalf, srcHighHalf, repeatTimes, dstRepStride, srcRepStride",
        ),
        _struct(
            "MrgSort4Info",
            "uint16_t elementLengths[4] = {0}; bool ifExhaustedSuspension = false;"
            "uint16_t validBit = 0; uint8_t repeatTimes = 1",
            "elementLengths, ifExhaustedSuspension, validBit, uint16_t repeatTimes",
        ),
        _struct(
            "MrgSortSrcList",
            "LocalTensor<T> src1; LocalTensor<T> src2; LocalTensor<T> src3; LocalTensor<T> src4",
            "LocalTensor<T>& src1, LocalTensor<T>& src2, LocalTensor<T>& src3,LocalTensor<T>& src4",
            template=True,
        ),
        _struct(
            "DataCopyExtParams",
            "uint16_t blockCount = 1; uint32_t blockLen = 0; uint32_t srcStride = 0;"
            "uint32_t dstStride = 0; uint32_t rsv = 0",
            "blockCount, blockLen, srcStride, dstStride, rsv",
        ),
        _struct(
            "DataCopyPadExtParams",
            "bool isPad = false; uint8_t leftPadding = 0; uint8_t rightPadding = 0;"
            "T paddingValue = static_cast<T>(0.0f)",
            "isPad, leftPadding, rightPadding, paddingValue",
            template=True,
        ),
        _struct(
            "Nd2NzParams",
            "uint16_t ndNum = 0; uint16_t nValue = 0; uint16_t dValue = 0;"
            "uint16_t srcNdMatrixStride = 0; uint16_t srcDValue = 0; uint16_t dstNzC0Stride = 0;"
            "uint16_t dstNzNStride = 0; uint16_t dstNzMatrixStride = 0",
            "ndNum, nValue, dValue, srcNdMatrixStride, srcDValue, dstNzC0Stride, dstNzNStride,"
            "dstNzMatrixStride",
        ),
        _struct(
            "InitConstValueParams",
            "uint16_t repeatTimes = 0; uint16_t blockNum = 0; uint16_t dstGap = 0;"
            "T initValue = static_cast<T>(0.0f)",
            "repeatTimes, blockNum, dstGap, initValue",
            "repeatTimes, initValue",
            template=True,
        ),
        _struct(
            "LoadData2DParams",
            "uint16_t startIndex = 0; uint16_t dstGap = 0; uint16_t srcStride = 0;"
            "bool ifTranspose = 0; uint8_t repeatTimes = 0; uint8_t sid = 0; uint8_t addrMode = 0",
            "startIndex, repeatTimes, srcStride, sid, dstGap, ifTranspose, addrMode",
        ),
        _struct(
            "LoadData2dTransposeParams",
            "uint16_t startIndex = 0; uint8_t repeatTimes = 0; uint16_t srcStride = 0;"
            "uint16_t dstGap = 0; uint16_t dstFracGap = 0; uint8_t addrMode = 0",
            "startIndex, repeatTimes, srcStride, dstGap, dstFracGap, addrMode",
            "startIndex, repeatTimes, srcStride, dstGap, dstFracGap",
        ),
        _struct(
            "LoadData3DParamsV2Pro",
            "uint16_t channelSize = 0; bool enTranspose = false; bool enSmallK = false;"
            "bool filterSizeW = false; bool filterSizeH = false; bool fMatrixCtrl = false;"
            "uint64_t extConfig = 0; uint64_t filterConfig = 0x10101010101",
            "channelSize, enTranspose, enSmallK, filterSizeW, filterSizeH, fMatrixCtrl, extConfig,"
            "filterConfig",
        ),
        _struct(
            "MmadParams",
            "uint16_t m = 0; uint16_t n = 0; uint16_t k = 0; bool isBias = false;"
            "int32_t fmOffset = 0; bool enSsparse = false; bool enWinogradA = false;"
            "bool enWinogradB = false; uint8_t unitFlag = 0; bool kDirectionAlign = false;"
            "bool cmatrixSource = false; bool cmatrixInitVal = true",
            "m, n, k, isBias, fmOffset, enSsparse, enWinogradA, enWinogradB",
            "m, n, k, unitFlag, cmatrixSource, cmatrixInitVal",
        ),
        _struct(
            "DataCopyCO12DstParams",
            "uint8_t sid = 0; uint16_t nSize = 0; uint16_t mSize = 0; uint32_t dstStride = 0;"
            "uint16_t srcStride = 0; uint8_t unitFlag = 0; uint8_t clipReluPre = 0;"
            "uint8_t eltWiseOp = 0; QuantMode_t quantPre = QuantMode_t::NoQuant;"
            "uint8_t reluPre = 0; bool channelSplit = false; bool nz2ndEn = false",
            "nSize, mSize, dstStride, srcStride, quantPre, reluPre, channelSplit, nz2ndEn",
        ),
        _struct(
            "FixpipeParamsV220",
            "uint16_t nSize = 0; uint16_t mSize = 0; uint16_t srcStride = 0;"
            "uint32_t dstStride = 0; QuantMode_t quantPre = QuantMode_t::NoQuant;"
            "uint64_t deqScalar = 0; uint16_t ndNum = 1; uint16_t srcNdStride = 0;"
            "uint16_t dstNdStride = 0; bool reluEn = false; uint8_t unitFlag = 0;"
            "bool isChannelSplit = false",
            "nSize, mSize, srcStride, dstStride, reluEn",
            "nSize, mSize, srcStride, dstStride, reluEn, quantPre, int64_t deqScalar, ndNum,"
            "srcNdStride, dstNdStride, unitFlag",
            "nSize, mSize, srcStride, dstStride, reluEn, quantPre, int64_t deqScalar, ndNum,"
            "srcNdStride, dstNdStride, unitFlag, isChannelSplit",
        ),
    )
}
