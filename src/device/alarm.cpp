// The thread is made for the first call and waits for the next ones.
#include "device/alarm.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/signals.h"

namespace numbus {
namespace {

using Time = std::chrono::steady_clock::time_point;

struct Call {
  Time at;
  void (*call)(void*);
  void* of;
};

// Leaked: its thread outlives everything.
struct Calls {
  std::mutex mutex;
  std::condition_variable changed, idle;
  std::vector<Call> waiting;
  bool started = false, busy = false, ended = false;

  void work() {
    std::unique_lock<std::mutex> guard(mutex);
    while (true) {
      auto next = std::min_element(waiting.begin(), waiting.end(),
                                   [](const Call& a, const Call& b) { return a.at < b.at; });
      if (ended || next == waiting.end()) {
        changed.wait(guard);
      } else if (next->at > std::chrono::steady_clock::now()) {
        const Time at = next->at;  // the list may grow meanwhile
        changed.wait_until(guard, at);
      } else {
        const Call due = *next;
        waiting.erase(next);
        busy = true;
        guard.unlock();
        due.call(due.of);
        guard.lock();
        busy = false;
        idle.notify_all();
      }
    }
  }
};

Calls* all = nullptr;

Calls& calls() {
  static const bool made = [] {
    all = new Calls;
    // What a call locks is free in a child, which has no such thread.
    pthread_atfork(
        [] {
          std::unique_lock<std::mutex> guard(all->mutex);
          all->idle.wait(guard, [] { return !all->busy; });
          guard.release();
        },
        [] { all->mutex.unlock(); }, [] { all = new Calls; });
    // Libraries that a call uses are torn down when the process exits.
    std::atexit([] {
      std::unique_lock<std::mutex> guard(all->mutex);
      all->ended = true;
      all->idle.wait(guard, [] { return !all->busy; });
    });
    return true;
  }();
  (void)made;
  return *all;
}

}  // namespace

void call_at(Time at, void (*call)(void*), void* of) noexcept {
  try {
    Calls& c = calls();
    std::lock_guard<std::mutex> guard(c.mutex);
    if (c.ended) return;
    if (!c.started) {
      const SignalsBlocked blocked;
      std::thread([&c] { c.work(); }).detach();
      c.started = true;
    }
    c.waiting.push_back({at, call, of});
    c.changed.notify_one();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // What was to be called is a kindness to others.
  }
}

}  // namespace numbus
