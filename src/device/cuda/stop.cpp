// The word is written through a stream of its own, since the others are busy.
#include "device/cuda/stop.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "base/interrupt.h"

namespace numbus::cuda {
namespace {

using Clock = std::chrono::steady_clock;

struct Stop {
  DevicePointer word = 0;
  std::optional<Stream> side;

  void write(unsigned char value) {
    NUMBUS_CUDA("telling kernels to end", cuMemsetD8Async, word, value, 4, side->handle());
    side->synchronize();
  }
};

std::mutex mutex;
std::map<ContextHandle, Stop>& stops() {
  static auto* all = new std::map<ContextHandle, Stop>;
  return *all;
}

void pause_cpu() { __builtin_ia32_pause(); }

template <class Done>
void stop_kernels(ContextHandle context, Done&& done) {
  std::lock_guard<std::mutex> guard(mutex);
  auto it = stops().find(context);
  if (it == stops().end() || it->second.word == 0) return;
  it->second.write(0xff);
  auto until = Clock::now() + std::chrono::seconds(1);
  while (!done() && Clock::now() < until) pause_cpu();
  it->second.write(0);
}

// The main thread asks again and again, as the driver itself does in a wait; asked once more, the
// driver then says what has failed.
template <class Done>
void until(ContextHandle context, Done&& done) {
  if (!interrupt::has_hooks() || !interrupt::on_main_thread() || done()) return;
  std::optional<interrupt::ArrayWork> work;
  if (!interrupt::handlers_may_run()) work.emplace();
  while (!done()) {
    if (interrupt::wanted()) {
      stop_kernels(context, done);
      interrupt::raise_interrupted();
    }
    pause_cpu();
  }
}

}  // namespace

DevicePointer stop_word(ContextHandle context) {
  std::lock_guard<std::mutex> guard(mutex);
  Stop& s = stops()[context];
  if (s.word) return s.word;
  ContextScope scope(context);
  s.side.emplace(context, true);
  NUMBUS_CUDA("making a word for Ctrl-C", cuMemAlloc, &s.word, 4);
  s.write(0);
  return s.word;
}

void wait_interruptibly(const Stream& stream) {
  ContextScope scope(stream.context());
  until(stream.context(),
        [&] { return driver().cuStreamQuery(stream.handle()) != kErrorNotReady; });
  stream.synchronize();
}

void wait_interruptibly(const Event& event) {
  ContextScope scope(event.context());
  Result seen = kErrorNotReady;  // until() asks in the main thread only
  until(event.context(), [&] {
    seen = driver().cuEventQuery(event.handle());
    return seen != kErrorNotReady;
  });
  if (seen != kSuccess) event.synchronize();  // and raises what has failed
}

bool wait_for_word(const Stream& stream, const int64_t* word, int64_t value) {
  constexpr int kLooks = 1024;  // some 50 us
  const auto written = [&] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; };
  int looks = 0;
  until(stream.context(), [&] {
    if (written()) return true;
    if (++looks % kLooks) return false;
    ContextScope scope(stream.context());
    return driver().cuStreamQuery(stream.handle()) != kErrorNotReady;
  });
  return written();
}

}  // namespace numbus::cuda
