// An own thread pool whose workers are awake within a microsecond of the last call.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <type_traits>

namespace numbus {

// Called for chunks [begin, end) of at most `grain` units; begin is a multiple of the grain, so the
// chunks do not depend on the number of threads. `worker` is unique among the threads of one call
// and below num_threads(): use it to index scratch that belongs to the call.
using ChunkFunction = void (*)(void* context, int64_t begin, int64_t end, int worker);

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // the calling thread counts as one of them
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns when all units are done. The first exception is rethrown here, and chunks that nobody
  // has begun by then are dropped. A call from inside a chunk, or while another thread uses the
  // pool, runs on the calling thread alone. Ctrl-C (base/interrupt.h) is such an exception, which
  // the main thread raises between chunks and while it waits; chunks that run long look at the
  // word. `expected`: how many nanoseconds the work will take one thread, 0 where nobody knows.
  // Little work that comes by itself does not wake threads that sleep.
  void parallel_for(int64_t units, ChunkFunction function, void* context, int64_t grain,
                    int64_t expected = 0);

  int num_threads() const { return threads_; }

 private:
  friend void prepare_fork();
  friend void resume_parent();
  friend void resume_child();

  // Each thread begins in its own contiguous range, so that repeated sweeps over the same arrays
  // find them in the same core's cache, and then helps the others.
  struct alignas(64) Range {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  // Where a sleeping worker lies.
  struct Bed {
    std::atomic<int> thread{0};  // as the kernel numbers it
    std::atomic<int> cpu{-1};
  };
  struct Team;  // the threads; forgotten, never joined, in a forked child

  void start();
  void work(int worker);
  bool enter();
  void leave();
  void run_chunks(int worker);
  void run_serially(int64_t units, ChunkFunction function, void* context, int64_t grain,
                    int worker);
  void wait_for_workers();
  void sleep(int worker, uint32_t seen);
  void wake(int count);
  bool is_not_worth_waking(int64_t expected) const;
  void clear_cpu();
  void record_failure();

  const int threads_;
  std::mutex submit_;
  Team* team_ = nullptr;
  std::unique_ptr<Range[]> ranges_;
  std::unique_ptr<Bed[]> beds_;
  bool one_cpu_each_ = false;  // no more threads than processors

  // The current call. Written only while state_ is closed and no worker is inside.
  ChunkFunction function_ = nullptr;
  void* context_ = nullptr;
  int64_t units_ = 0, grain_ = 1;
  int active_ = 1;  // threads that may take part
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> given_up_{false};  // Ctrl-C has ended the call

  alignas(64) std::atomic<uint32_t> epoch_{0};  // one more per call; workers sleep on it
  alignas(64) std::atomic<uint32_t> state_{0};  // open bit, waiting bit, workers inside
  alignas(64) std::atomic<int32_t> sleepers_{0};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> last_end_{0};  // of a call that was shared out or might have been
};

// The process-wide pool of NUMBUS_NUM_THREADS threads. It survives fork: the child starts its own
// threads at first use.
ThreadPool& thread_pool();

// Calls of this Python thread use so many threads from here on; what was in force. At least one, at
// most num_threads(), which zero asks for. Inside of a chunk it says nothing.
int64_t limit_threads(int64_t count);
int64_t thread_limit();
// Which thread of a running call this one is; 0 outside of calls.
int64_t thread_of_call();

inline int num_threads() { return thread_pool().num_threads(); }

inline void parallel_for(int64_t units, ChunkFunction function, void* context, int64_t grain) {
  thread_pool().parallel_for(units, function, context, grain);
}

// For callables: body(begin, end, worker).
template <class Body>
void parallel_for_each(int64_t units, int64_t grain, Body&& body, int64_t expected = 0) {
  using Plain = std::remove_reference_t<Body>;
  thread_pool().parallel_for(
      units,
      [](void* context, int64_t begin, int64_t end, int worker) {
        (*static_cast<Plain*>(context))(begin, end, worker);
      },
      const_cast<void*>(static_cast<const void*>(&body)), grain, expected);
}

}  // namespace numbus
