#include "lazy/background.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/signals.h"
#include "device/cpu/cpu_info.h"

namespace numbus {

compile::Compiled CompilingKernel::take() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return std::move(result_);
}

void CompilingKernel::run() noexcept {
  try {
    result_ = compile_();
  } catch (...) {
    error_ = std::current_exception();
  }
  ended_.store(true, std::memory_order_release);
}

namespace {

// Leaked: its thread outlives everything.
struct Queue {
  std::mutex mutex;
  std::condition_variable came, idle;
  std::deque<std::shared_ptr<CompilingKernel>> waiting;
  std::atomic<bool> on{true};
  bool started = false, busy = false;

  void give_up_waiting() {
    for (auto& c : waiting) c->give_up();
    waiting.clear();
  }
  void work() {
    std::unique_lock<std::mutex> guard(mutex);
    while (true) {
      came.wait(guard, [&] { return !waiting.empty(); });
      std::shared_ptr<CompilingKernel> next = std::move(waiting.front());
      waiting.pop_front();
      busy = true;
      guard.unlock();
      next->run();
      next.reset();
      guard.lock();
      busy = false;
      if (waiting.empty()) idle.notify_all();
    }
  }
};

Queue* the_queue = nullptr;

Queue& queue() {
  static const bool made = [] {
    the_queue = new Queue;
    // The compiler's locks are free in a child: a fork waits for the kernel that is being compiled.
    // The child has no such thread, and a queue of its own, as the thread waits in this one.
    pthread_atfork(
        [] {
          std::unique_lock<std::mutex> guard(the_queue->mutex);
          the_queue->give_up_waiting();
          the_queue->idle.wait(guard, [] { return !the_queue->busy; });
          guard.release();
        },
        [] { the_queue->mutex.unlock(); },
        [] {
          const bool on = the_queue->on.load();
          the_queue = new Queue;
          the_queue->on = on;
        });
    return true;
  }();
  (void)made;
  return *the_queue;
}

bool start(Queue& q) {
  const SignalsBlocked blocked;
  try {
    std::thread([&q] { q.work(); }).detach();
    q.started = true;
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
  }
  return q.started;
}

}  // namespace

bool compiles_beside() {
  static const bool several = available_cpus() > 1;
  return several && queue().on;
}

std::shared_ptr<CompilingKernel> compile_beside(std::function<compile::Compiled()> compile) {
  if (!compiles_beside()) return nullptr;
  Queue& q = queue();
  auto made = std::make_shared<CompilingKernel>(std::move(compile));
  std::lock_guard<std::mutex> guard(q.mutex);
  if (!q.on || (!q.started && !start(q))) return nullptr;
  q.waiting.push_back(made);
  q.came.notify_one();
  return made;
}

bool set_compile_beside(bool on) {
  Queue& q = queue();
  std::lock_guard<std::mutex> guard(q.mutex);
  if (!on) q.give_up_waiting();
  return q.on.exchange(on);
}

void wait_for_compiling() {
  Queue& q = queue();
  std::unique_lock<std::mutex> guard(q.mutex);
  q.idle.wait(guard, [&] { return !q.busy && q.waiting.empty(); });
}

}  // namespace numbus
