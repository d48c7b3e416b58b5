// SPDX-License-Identifier: Apache-2.0
// Feeds random programs to the simulator until the time is up. Every one must end in a report or in
// an InputError, soon; anything else stops with the seed that repeats it.
//
//   fuzz_simulator SECONDS [FIRST_SEED]     a line of counts each minute and at the end
//   fuzz_simulator --seed SEED              this stream alone, with its texts
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "../sim/inspect.h"
#include "../sim/launch.h"
#include "stream.h"

// The sanitizers call these two. A length that no host has is the program's mistake to report, not
// the sanitizer's.
extern "C" const char* __asan_default_options() {
  return "abort_on_error=1:allocator_may_return_null=1";
}
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

namespace {

using namespace tvm_ascend;  // NOLINT: a program, not a library

// Of one stream, a hundred times what the slowest takes: of its own, and on a busy machine.
constexpr unsigned kMostSeconds = 60;
constexpr unsigned kMostBusySeconds = 20 * kMostSeconds;
constexpr std::chrono::minutes kBetweenLines(1);

// A child runs the streams: however it ends, by a sanitizer or a signal, its parent knows the seed.
volatile uint64_t* current_seed = nullptr;

void too_long(int) {
  std::fprintf(stderr, "a stream runs for more than %u seconds\n", kMostSeconds);
  std::_Exit(1);
}

struct Counts {
  int64_t streams = 0;
  int64_t instructions = 0;
  int64_t clean = 0;    // reports without hazards
  int64_t hazards = 0;  // reports with
  int64_t refused = 0;  // no report, but a clear error
};

void show_counts(const Counts& counts) {
  std::printf("streams %lld instructions %lld clean %lld hazards %lld refused %lld\n",
              static_cast<long long>(counts.streams), static_cast<long long>(counts.instructions),
              static_cast<long long>(counts.clean), static_cast<long long>(counts.hazards),
              static_cast<long long>(counts.refused));
  std::fflush(stdout);
}

void run(fuzz::Stream& stream, Counts* counts) {
  const sim::Program program = sim::Program::parse(stream.program);
  const sim::Options options = sim::Options::parse(stream.options);
  std::vector<sim::CallList> lists;
  const sim::Json calls = sim::Json::parse(stream.calls);
  for (const sim::Json& list : calls.items()) lists.push_back(sim::parse_calls(list));
  sim::Context context(program, options, stream.args(), [] {});
  if (lists.size() != context.places.size()) throw sim::InputError("not a list per core");
  std::vector<int64_t> results;
  sim::run_blocks(
      context, [&](const sim::CorePlace& place) { sim::issue_list(lists[place.index], &results); });
  const sim::Json report = sim::Json::parse(sim::report_json(context));
  for (const sim::Json& hazard : report.at("hazards").items()) {
    if (hazard.at("message").as_string().empty()) throw std::logic_error("a hazard says nothing");
  }
  for (int64_t count : context.instructions) counts->instructions += count;
  ++(context.hazards.all().empty() ? counts->clean : counts->hazards);
}

// Whether the stream ended as it should.
bool one(uint64_t seed, bool show, Counts* counts) {
  *current_seed = seed;
  const itimerval own{{0, 0}, {kMostSeconds, 0}};
  setitimer(ITIMER_PROF, &own, nullptr);
  alarm(kMostBusySeconds);
  fuzz::Stream stream = fuzz::Generator(seed).stream();
  if (show)
    std::printf("%s\n%s\n%s\n", stream.program.c_str(), stream.calls.c_str(),
                stream.options.c_str());
  std::fflush(stdout);
  ++counts->streams;
  try {
    run(stream, counts);
  } catch (const sim::InputError& error) {
    ++counts->refused;
    if (show) std::printf("refused: %s\n", error.what());
    if (*error.what() != 0) return true;
    std::fprintf(stderr, "an error says nothing\n");
    return false;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "an exception that is no InputError: %s\n", error.what());
    return false;
  }
  return true;
}

int streams(const std::string& first, uint64_t seed) {
  Counts counts;
  bool good = true;
  if (first == "--seed") {
    good = one(seed, true, &counts);
  } else {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(std::atoll(first.c_str()));
    auto next_line = Clock::now() + kBetweenLines;
    for (uint64_t i = seed; good && Clock::now() < end; ++i) {
      good = one(i, false, &counts);
      if (Clock::now() < next_line) continue;
      next_line += kBetweenLines;
      show_counts(counts);
    }
  }
  show_counts(counts);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_simulator SECONDS [FIRST_SEED] | --seed SEED\n");
    return 2;
  }
  void* shared =
      mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    std::perror("mmap");
    return 2;
  }
  current_seed = static_cast<volatile uint64_t*>(shared);
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGALRM, too_long);
    std::signal(SIGPROF, too_long);
    return streams(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("the child that runs the streams");
    return 2;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  std::fprintf(stderr, "fuzz_simulator --seed %llu repeats it\n",
               static_cast<unsigned long long>(*current_seed));
  return 1;
}
