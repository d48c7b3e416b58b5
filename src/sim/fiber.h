// SPDX-License-Identifier: Apache-2.0
// A stack of its own for one block's program, so that it can be abandoned without unwinding through
// compiled frames.
#ifndef TVM_ASCEND_SIM_FIBER_H_
#define TVM_ASCEND_SIM_FIBER_H_

#include <ucontext.h>

#include <cstddef>
#include <exception>
#include <functional>

#include "sanitizer.h"

namespace tvm_ascend::sim {

class Fiber {
 public:
  // The stack has an inaccessible page below it.
  explicit Fiber(std::size_t stack_bytes);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Gives the fiber work; the stack may be used again once the last work is over.
  void start(std::function<void()> work);
  // Runs the work until it ends, pauses or abandons itself. Rethrows what it threw.
  void resume();
  // Whether the work paused, so that resume() goes on with it.
  bool paused() const { return paused_; }
  // From inside the work: goes back to resume() until the next one.
  void pause();
  // From inside the work: goes back to resume() for good. Nothing on the fiber's stack is
  // destroyed.
  [[noreturn]] void abandon();

 private:
  static void enter(unsigned low, unsigned high);

  char* memory_;
  std::size_t mapped_bytes_;
  ucontext_t inside_;
  ucontext_t outside_;
  StackBounds inside_stack_;
  StackBounds outside_stack_;
  std::function<void()> work_;
  std::exception_ptr failure_;
  bool paused_ = false;
};

}  // namespace tvm_ascend::sim

#endif  // TVM_ASCEND_SIM_FIBER_H_
