// SPDX-License-Identifier: Apache-2.0
#include "workers.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

namespace tvm_ascend::sim {

namespace {

// More threads wait for memory rather than compute.
constexpr int kMostThreads = 8;
// Instructions that are worth sharing follow each other closely, and waking a thread takes longer
// than waiting a little for the next one.
constexpr int kSpins = 20000;

class Workers {
 public:
  // Threads do not survive a fork, so each process has workers of its own. They are never
  // destroyed: threads may still wait in them when the process ends.
  static Workers& of_this_process() {
    static std::atomic<Workers*> current{nullptr};
    Workers* workers = current.load();
    if (workers != nullptr && workers->process_ == getpid()) return *workers;
    auto* fresh = new Workers();
    if (!current.compare_exchange_strong(workers, fresh)) {
      delete fresh;
      return *workers;
    }
    fresh->start();
    return *fresh;
  }

  void share(int64_t parts, void (*work)(void*, int64_t), void* context) {
    std::unique_lock<std::mutex> mine(in_use_, std::try_to_lock);
    if (!mine || threads_ == 0) {
      for (int64_t i = 0; i < parts; ++i) work(context, i);
      return;
    }
    work_ = work;
    context_ = context;
    done_ = 0;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      left_ = (left_ / kRound + 1) * kRound + static_cast<uint64_t>(parts);
    }
    wake_.notify_all();
    take_parts();
    while (done_ < parts) std::this_thread::yield();
  }

 private:
  static constexpr uint64_t kRound = uint64_t{1} << 32;

  void start() {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    try {
      for (int i = 1; i < std::min(cores, kMostThreads); ++i, ++threads_)
        std::thread([this] { serve(); }).detach();
    } catch (const std::system_error&) {  // the process may have no more threads: those made do
    }
  }

  void serve() {
    for (;;) {
      for (int i = 0; i < kSpins && left_ % kRound == 0; ++i) {
      }
      if (left_ % kRound == 0) {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return left_ % kRound != 0; });
      }
      take_parts();
    }
  }

  // A part that was taken keeps its call from returning, so what the call set stays as it is.
  void take_parts() {
    uint64_t left = left_;
    while (left % kRound != 0) {
      if (!left_.compare_exchange_weak(left, left - 1)) continue;
      work_(context_, static_cast<int64_t>(left % kRound) - 1);
      ++done_;
      left = left_;
    }
  }

  const pid_t process_ = getpid();
  std::atomic<int> threads_{0};
  std::mutex in_use_;  // by one call at a time
  std::mutex mutex_;
  std::condition_variable wake_;
  // Parts that nobody has taken, above them the number of the call: one who looked at an earlier
  // call cannot take a part of this one.
  std::atomic<uint64_t> left_{0};
  std::atomic<int64_t> done_{0};
  void (*work_)(void*, int64_t) = nullptr;
  void* context_ = nullptr;
};

}  // namespace

void share_work(int64_t parts, void (*work)(void*, int64_t), void* context) {
  Workers::of_this_process().share(parts, work, context);
}

}  // namespace tvm_ascend::sim
