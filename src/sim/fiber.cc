// SPDX-License-Identifier: Apache-2.0
#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <new>
#include <utility>

namespace tvm_ascend::sim {

Fiber::Fiber(std::size_t stack_bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_bytes_ = (stack_bytes + page - 1) / page * page + page;
  void* memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = static_cast<char*>(memory);
  if (mprotect(memory_, page, PROT_NONE) != 0) {
    munmap(memory_, mapped_bytes_);
    throw std::bad_alloc();
  }
}

Fiber::~Fiber() { munmap(memory_, mapped_bytes_); }

void Fiber::enter(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  after_switch(nullptr, &self->outside_stack_);
  try {
    self->work_();
  } catch (...) {
    self->failure_ = std::current_exception();
  }
  self->abandon();
}

void Fiber::start(std::function<void()> work) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  work_ = std::move(work);
  failure_ = nullptr;
  paused_ = false;
  getcontext(&inside_);
  inside_stack_ = {memory_ + page, mapped_bytes_ - page};
  inside_.uc_stack.ss_sp = memory_ + page;
  inside_.uc_stack.ss_size = inside_stack_.bytes;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self),
              static_cast<unsigned>(self >> 32));
}

void Fiber::resume() {
  void* saved = nullptr;
  before_switch(&saved, inside_stack_);
  swapcontext(&outside_, &inside_);
  after_switch(saved, nullptr);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Fiber::pause() {
  void* saved = nullptr;
  paused_ = true;
  before_switch(&saved, outside_stack_);
  swapcontext(&inside_, &outside_);
  after_switch(saved, &outside_stack_);
  paused_ = false;
}

void Fiber::abandon() {
  before_switch(nullptr, outside_stack_);
  setcontext(&outside_);
  __builtin_unreachable();
}

}  // namespace tvm_ascend::sim
