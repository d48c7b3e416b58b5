// SPDX-License-Identifier: Apache-2.0
// TPipe hands out memory; TBuf is a piece of one memory. The simulator knows neither: both cost
// nothing here.
#ifndef TVM_ASCEND_TWIN_TPIPE_H_
#define TVM_ASCEND_TWIN_TPIPE_H_

#include <cstdint>

#include "tensor.h"

namespace AscendC {

template <TPosition pos = TPosition::LCM>
class TBuf {
 public:
  template <typename T>
  LocalTensor<T> Get() {
    return Get<T>(bufLen / static_cast<uint32_t>(sizeof(T)));
  }
  template <typename T>
  LocalTensor<T> Get(uint32_t len) {
    return GetWithOffset<T>(len, 0);
  }
  template <typename T>
  LocalTensor<T> GetWithOffset(uint32_t size, uint32_t bufOffset) {
    return LocalTensor<T>(pos, start + bufOffset, size);
  }

 private:
  friend class TPipe;
  uint32_t start = 0;
  uint32_t bufLen = 0;
};

class TPipe {
 public:
  void Init() {}
  void Destroy() {}

  template <TPosition pos>
  bool InitBuffer(TBuf<pos>& buf, uint32_t len) {
    uint32_t& next = next_[twin::SpaceOfPosition(pos)];
    buf.start = next;
    buf.bufLen = (len + 31) / 32 * 32;
    next += buf.bufLen;
    return true;
  }

 private:
  uint32_t next_[kTwinFB + 1] = {};
};

}  // namespace AscendC

#endif  // TVM_ASCEND_TWIN_TPIPE_H_
