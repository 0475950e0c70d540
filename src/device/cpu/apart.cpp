#include "device/cpu/apart.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/interrupt.h"
#include "device/cpu/memory.h"

namespace numbus {

std::atomic<int> abandoned_works{0};

namespace {

constexpr auto kLook = std::chrono::milliseconds(1);

struct Work {
  std::function<void()> run;
  std::vector<Reach> memory;
  std::shared_ptr<void> held;
  std::exception_ptr error;
  bool done = false;
  std::vector<std::pair<void*, size_t>> kept;  // to be freed at the end; has room for all of memory
};

// Leaked: threads of abandoned works may outlive everything.
struct Works {
  std::mutex mutex;
  std::condition_variable ended;
  std::vector<std::shared_ptr<Work>> abandoned, ended_late;
};
std::atomic<bool> any_ended_late{false};

Works& works() {
  static auto* all = [] {
    auto* w = new Works;
    // A child has no such thread; what they held is lost to it.
    pthread_atfork([] { works().mutex.lock(); }, [] { works().mutex.unlock(); },
                   [] {
                     works().mutex.unlock();
                     works().abandoned.clear();
                     abandoned_works = 0;
                   });
    return w;
  }();
  return *all;
}

bool meets(const Reach& r, const char* begin, size_t bytes) {
  return begin < r.begin + r.bytes && r.begin < begin + bytes;
}

void end(const std::shared_ptr<Work>& w) {
  Works& all = works();
  std::vector<std::pair<void*, size_t>> kept;
  {
    std::lock_guard<std::mutex> guard(all.mutex);
    w->done = true;
    if (std::erase(all.abandoned, w) > 0) {
      kept.swap(w->kept);
      --abandoned_works;
      all.ended_late.push_back(w);
      any_ended_late = true;
    }
    all.ended.notify_all();
  }
  // Another work may reach it, too.
  for (auto [block, bytes] : kept)
    if (abandoned_works == 0 || !keep_for_work(block, bytes)) cpu_memory_pool().free(block, bytes);
}

// Libraries tear down what their threads use when the process exits.
void wait_for_all() {
  Works& all = works();
  std::unique_lock<std::mutex> guard(all.mutex);
  all.ended.wait(guard, [&] { return all.abandoned.empty(); });
}

}  // namespace

void run_apart(std::function<void()> run, std::vector<Reach> memory, std::shared_ptr<void> held) {
  if (!interrupt::has_hooks() || !interrupt::on_main_thread()) return run();
  Works& all = works();
  auto w = std::make_shared<Work>();
  w->run = std::move(run);
  w->memory = std::move(memory);
  w->held = std::move(held);
  w->kept.reserve(w->memory.size());
  // Now, as there may be no memory later on; before it, no block of a work is kept.
  {
    std::lock_guard<std::mutex> guard(all.mutex);
    all.abandoned.reserve(all.abandoned.size() + 1);
    all.ended_late.reserve(all.ended_late.size() + all.abandoned.size() + 1);
  }
  try {
    std::thread([w] {
      try {
        w->run();
      } catch (...) {
        w->error = std::current_exception();
      }
      end(w);
    }).detach();
  } catch (const std::system_error&) {  // no thread to be had
    w->run();
    w->held.reset();
    return;
  }
  std::unique_lock<std::mutex> guard(all.mutex);
  while (!all.ended.wait_for(guard, kLook, [&] { return w->done; })) {
    guard.unlock();
    bool wanted = interrupt::wanted();
    guard.lock();
    if (!wanted || w->done) continue;
    all.abandoned.push_back(w);
    ++abandoned_works;
    guard.unlock();
    static const int once = std::atexit(wait_for_all);
    (void)once;
    interrupt::raise_interrupted();
  }
  guard.unlock();
  w->held.reset();  // here, and not where the thread ends
  if (w->error) std::rethrow_exception(w->error);
}

void release_ended_works() {
  if (!any_ended_late.load(std::memory_order_relaxed)) return;
  std::vector<std::shared_ptr<Work>> ended;
  {
    std::lock_guard<std::mutex> guard(works().mutex);
    ended.swap(works().ended_late);
    any_ended_late = false;
  }
  for (auto& w : ended) w->held.reset();
}

bool keep_for_work(void* block, size_t bytes) noexcept {
  std::lock_guard<std::mutex> guard(works().mutex);
  for (auto& w : works().abandoned)
    for (const Reach& r : w->memory)
      if (meets(r, static_cast<const char*>(block), bytes)) {
        w->kept.emplace_back(block, bytes);
        return true;
      }
  return false;
}

}  // namespace numbus
