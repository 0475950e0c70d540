// Functions in front of the driver's entry points that count and time the calls.
#include "device/cuda/driver_times.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace numbus::cuda {
namespace {

struct Sum {
  const char* name;
  std::atomic<int64_t> calls{0}, nanoseconds{0};
};

enum EntryNumber : int {
#define NUMBUS_NUMBER(member, symbol, arguments) kNumber_##member,
  NUMBUS_CUDA_ENTRY_POINTS(NUMBUS_NUMBER) NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(NUMBUS_NUMBER)
#undef NUMBUS_NUMBER
};

Sum sums[] = {
#define NUMBUS_SUM(member, symbol, arguments) {#member},
    NUMBUS_CUDA_ENTRY_POINTS(NUMBUS_SUM) NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(NUMBUS_SUM)
#undef NUMBUS_SUM
};

template <int number, class Entry>
struct Timed;

template <int number, class... Arguments>
struct Timed<number, Result (*)(Arguments...)> {
  static inline Result (*entry)(Arguments...) = nullptr;
  static Result call(Arguments... arguments) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const Result result = entry(arguments...);
    const std::chrono::nanoseconds taken = Clock::now() - start;
    sums[number].calls.fetch_add(1, std::memory_order_relaxed);
    sums[number].nanoseconds.fetch_add(taken.count(), std::memory_order_relaxed);
    return result;
  }
};

template <int number, class Entry>
void put_in_front(Entry* entry) {
  if (*entry == nullptr) return;
  Timed<number, Entry>::entry = *entry;
  *entry = Timed<number, Entry>::call;
}

void print() {
  std::vector<const Sum*> called;
  for (const Sum& s : sums)
    if (s.calls > 0) called.push_back(&s);
  std::sort(called.begin(), called.end(),
            [](const Sum* a, const Sum* b) { return a->nanoseconds > b->nanoseconds; });
  std::fprintf(stderr, "%9s %12s %10s  CUDA driver\n", "calls", "total ms", "each us");
  for (const Sum* s : called) {
    const auto total = static_cast<double>(s->nanoseconds), calls = static_cast<double>(s->calls);
    std::fprintf(stderr, "%9.0f %12.3f %10.2f  %s\n", calls, total / 1e6, total / calls / 1e3,
                 s->name);
  }
}

}  // namespace

void time_driver_where_asked(DriverApi* api) {
  const char* asked = std::getenv("NUMBUS_TIME_DRIVER");
  if (asked == nullptr || *asked == 0) return;
  static bool prints = false;
  if (!prints) std::atexit(print);
  prints = true;
#define NUMBUS_TIME(member, symbol, arguments) put_in_front<kNumber_##member>(&api->member);
  NUMBUS_CUDA_ENTRY_POINTS(NUMBUS_TIME)
  NUMBUS_CUDA_OPTIONAL_ENTRY_POINTS(NUMBUS_TIME)
#undef NUMBUS_TIME
}

}  // namespace numbus::cuda
