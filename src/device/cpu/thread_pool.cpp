// The pool's protocol: publish a call, let workers enter while it is open, close it, wait for those
// inside.
//
// A worker that wakes too late finds the call closed and goes back to sleep, so the caller never
// waits for a thread that has not begun: small work costs no more than the caller's own time.
#include "device/cpu/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "base/signals.h"
#include "device/cpu/cpu_info.h"

namespace numbus {
namespace {

constexpr uint32_t kOpen = 1u << 31;
constexpr uint32_t kWaiting = 1u << 30;
constexpr uint32_t kInside = kWaiting - 1;

// Long enough to bridge the gap between two kernels of a Python loop, short enough not to show in
// `top`.
constexpr auto kSpin = std::chrono::microseconds(40);

// Less work than this is done sooner by one thread than by two of which one sleeps: on a virtual
// machine of two processors waking it costs 15 to 40 us (docs/performance.md).
constexpr int64_t kWorthWaking = 60'000;

int64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

// Which worker of a running call this thread is; -1 outside.
thread_local int current_worker = -1;

// How many threads calls of this thread may use; 0: all.
thread_local int limit = 0;

inline void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until done() or until the time is up; says whether done() held.
template <class Done>
bool spin_until(Done&& done) {
  for (int i = 0; i < 64; ++i) {
    if (done()) return true;
    pause_cpu();
  }
  auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

void futex_wait(std::atomic<uint32_t>* word, uint32_t expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// Returns after some milliseconds, too: a signal may have come in on another thread, or just
// before.
void futex_wait_shortly(std::atomic<uint32_t>* word, uint32_t expected) {
  timespec at_most{0, 10'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &at_most, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

class WorkerScope {
 public:
  explicit WorkerScope(int worker) : saved_(current_worker) { current_worker = worker; }
  ~WorkerScope() { current_worker = saved_; }

 private:
  int saved_;
};

}  // namespace

struct ThreadPool::Team {
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int threads)
    : threads_(std::max(threads, 1)),
      ranges_(new Range[std::max(threads, 1)]),
      beds_(new Bed[std::max(threads, 1)]) {}

ThreadPool::~ThreadPool() {
  if (team_ == nullptr) return;
  stop_.store(true);
  epoch_.fetch_add(1);
  futex_wake(&epoch_, INT_MAX);
  for (std::thread& thread : team_->threads) thread.join();
  delete team_;
}

void ThreadPool::start() {
  one_cpu_each_ = threads_ <= available_cpus();
  auto team = std::make_unique<Team>();
  const SignalsBlocked blocked;
  try {
    for (int i = 1; i < threads_; ++i) {
      team->threads.emplace_back([this, i] { work(i); });
    }
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // The system refuses more threads; the pool works with those it has, down to none.
  }
  team_ = team.release();
}

// Where one call follows another at once, threads are woken all the same: they stay awake then.
bool ThreadPool::is_not_worth_waking(int64_t expected) const {
  constexpr int64_t kRest = std::chrono::nanoseconds(kSpin).count();
  return expected > 0 && expected < kWorthWaking && sleepers_.load(std::memory_order_relaxed) > 0 &&
         nanoseconds_now() - last_end_.load(std::memory_order_relaxed) > kRest;
}

void ThreadPool::parallel_for(int64_t units, ChunkFunction function, void* context, int64_t grain,
                              int64_t expected) {
  if (units <= 0) return;
  grain = std::clamp<int64_t>(grain, 1, units);
  int64_t chunks = units / grain + (units % grain != 0);
  const int active = limit == 0 ? threads_ : std::min(limit, threads_);
  if (chunks == 1 || active == 1 || current_worker >= 0) {
    return run_serially(units, function, context, grain, std::max(current_worker, 0));
  }
  if (is_not_worth_waking(expected)) {
    run_serially(units, function, context, grain, 0);
    last_end_.store(nanoseconds_now(), std::memory_order_relaxed);
    return;
  }
  std::unique_lock<std::mutex> guard(submit_, std::try_to_lock);
  if (!guard.owns_lock()) return run_serially(units, function, context, grain, 0);
  if (team_ == nullptr) start();

  function_ = function;
  context_ = context;
  units_ = units;
  grain_ = grain;
  failed_.store(false, std::memory_order_relaxed);
  active_ = active;
  int64_t share = chunks / active, extra = chunks % active, begin = 0;
  for (int i = 0; i < active; ++i) {
    int64_t end = begin + share + (i < extra);
    ranges_[i].next.store(begin, std::memory_order_relaxed);
    ranges_[i].end = end;
    begin = end;
  }
  state_.store(kOpen, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  // Sleepers wake in the order in which they fell asleep: where not all may take part, all wake.
  wake(active < threads_ ? INT_MAX : static_cast<int>(std::min<int64_t>(chunks, threads_)) - 1);

  {
    // The wait counts as part of the call: a signal's handler may run in it and use the pool.
    WorkerScope scope(0);
    run_chunks(0);
    wait_for_workers();
  }
  interrupt::end_region(given_up_);
  if (expected > 0) last_end_.store(nanoseconds_now(), std::memory_order_relaxed);
  if (failed_.load(std::memory_order_relaxed)) {
    std::exception_ptr failure = std::move(failure_);
    failure_ = nullptr;
    guard.unlock();
    std::rethrow_exception(failure);
  }
}

void ThreadPool::run_serially(int64_t units, ChunkFunction function, void* context, int64_t grain,
                              int worker) {
  WorkerScope scope(worker);
  for (int64_t begin = 0; begin < units;) {
    if (interrupt::wanted()) interrupt::raise_interrupted();
    int64_t end = begin + std::min(grain, units - begin);
    function(context, begin, end, worker);
    begin = end;
  }
}

void ThreadPool::run_chunks(int worker) {
  try {
    for (int i = 0; i < active_; ++i) {
      Range& range = ranges_[(worker + i) % active_];
      while (range.next.load(std::memory_order_relaxed) < range.end) {
        int64_t chunk = range.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= range.end) break;
        if (interrupt::wanted()) interrupt::raise_interrupted();
        int64_t begin = chunk * grain_;
        function_(context_, begin, begin + std::min(grain_, units_ - begin), worker);
      }
    }
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Interrupted) interrupt::give_up(given_up_);
    record_failure();
  } catch (...) {
    record_failure();
  }
}

void ThreadPool::record_failure() {
  if (!failed_.exchange(true)) failure_ = std::current_exception();
  for (int i = 0; i < active_; ++i) {
    ranges_[i].next.store(ranges_[i].end, std::memory_order_relaxed);
  }
}

// A few threads are woken here and each wakes a few more while there is work left, so that the
// caller of a wide machine gets to its own share at once.
void ThreadPool::wake(int count) {
  if (sleepers_.load(std::memory_order_seq_cst) == 0) return;
  if (one_cpu_each_) clear_cpu();
  futex_wake(&epoch_, count == INT_MAX ? count : std::min(count, 4));
}

// Sends workers that fell asleep on this thread's processor elsewhere. Linux would wake them where
// they lie, and with two processors it then often looks for no idle one: measured, half of all
// calls after a 2 ms pause ran both threads on one processor, beside an idle one, for 0.5 ms.
void ThreadPool::clear_cpu() {
  int here = sched_getcpu();
  for (int i = 1; i < threads_; ++i) {
    Bed& bed = beds_[i];
    if (bed.cpu.load(std::memory_order_relaxed) != here) continue;
    cpu_set_t allowed;
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
      return;
    }
    CPU_CLR(here, &allowed);
    if (CPU_COUNT(&allowed) == 0) return;
    sched_setaffinity(bed.thread.load(std::memory_order_relaxed), sizeof(allowed), &allowed);
    bed.cpu.store(-1, std::memory_order_relaxed);
  }
}

void ThreadPool::wait_for_workers() {
  state_.fetch_and(~kOpen, std::memory_order_acq_rel);
  auto none_inside = [this] { return (state_.load(std::memory_order_acquire) & kInside) == 0; };
  if (!spin_until(none_inside)) {
    state_.fetch_or(kWaiting, std::memory_order_acq_rel);
    bool main = interrupt::on_main_thread();
    for (uint32_t state; ((state = state_.load(std::memory_order_acquire)) & kInside) != 0;) {
      if (!main) {
        futex_wait(&state_, state);
        continue;
      }
      if (!given_up_.load(std::memory_order_relaxed) && interrupt::wanted()) {
        interrupt::give_up(given_up_);
        try {
          interrupt::raise_interrupted();
        } catch (const Error&) {
          record_failure();
        }
      }
      futex_wait_shortly(&state_, state);
    }
  }
  state_.store(0, std::memory_order_relaxed);
}

bool ThreadPool::enter() {
  uint32_t state = state_.load(std::memory_order_relaxed);
  while (state & kOpen) {
    if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void ThreadPool::leave() {
  uint32_t before = state_.fetch_sub(1, std::memory_order_acq_rel);
  if ((before & kInside) == 1 && (before & kWaiting)) futex_wake(&state_, 1);
}

void ThreadPool::sleep(int worker, uint32_t seen) {
  Bed& bed = beds_[worker];
  bed.cpu.store(sched_getcpu(), std::memory_order_relaxed);
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  while (epoch_.load(std::memory_order_seq_cst) == seen) futex_wait(&epoch_, seen);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
  bed.cpu.store(-1, std::memory_order_relaxed);
}

void ThreadPool::work(int worker) {
  pthread_setname_np(pthread_self(), "numbus");
  beds_[worker].thread.store(gettid(), std::memory_order_relaxed);
  WorkerScope scope(worker);
  interrupt::given_up = &given_up_;
  uint32_t seen = 0;
  while (true) {
    auto called = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
    const bool slept = !spin_until(called);
    if (slept) sleep(worker, seen);
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_.load(std::memory_order_acquire)) return;
    if (enter()) {
      // Few chunks wake few threads: the others would only spin beside those that work.
      auto is_left = [](const Range& r) { return r.next.load(std::memory_order_relaxed) < r.end; };
      if (slept && threads_ > 5 && std::any_of(&ranges_[0], &ranges_[0] + active_, is_left))
        futex_wake(&epoch_, 2);
      if (worker < active_) run_chunks(worker);
      leave();
    }
  }
}

// The forking thread takes the pool, so that no call is half done in the child; workers that are
// idle do not matter, since the child forgets them.
void prepare_fork() {
  if (current_worker < 0) thread_pool().submit_.lock();
}

void resume_parent() {
  if (current_worker < 0) thread_pool().submit_.unlock();
}

void resume_child() {
  ThreadPool& pool = thread_pool();
  pool.team_ = nullptr;
  interrupt::end_region(pool.given_up_);
  pool.state_.store(0);
  pool.sleepers_.store(0);
  for (int i = 0; i < pool.threads_; ++i) pool.beds_[i].cpu.store(-1);
  if (current_worker < 0) pool.submit_.unlock();
}

int64_t limit_threads(int64_t count) {
  const int64_t before = thread_limit();
  limit = static_cast<int>(std::clamp<int64_t>(count, 0, num_threads()));
  return before;
}

int64_t thread_limit() { return limit == 0 ? num_threads() : limit; }

int64_t thread_of_call() { return std::max(current_worker, 0); }

ThreadPool& thread_pool() {
  // Never destroyed: workers may sleep on it until the process is gone.
  static ThreadPool* pool = [] {
    auto* made = new ThreadPool(configured_threads());
    pthread_atfork(prepare_fork, resume_parent, resume_child);
    return made;
  }();
  return *pool;
}

}  // namespace numbus
