// The handler, and what polls do once it has run.
#include "base/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace numbus {

extern "C" {
__attribute__((visibility("hidden"))) std::atomic<uint32_t> numbus_interrupt_word{0};
}

namespace interrupt {

std::atomic<bool> pending{false};
thread_local const std::atomic<bool>* given_up = nullptr;

namespace {

constexpr uint32_t kSignal = 1, kRegion = 2;
// Array work that ends by itself within this time is let go on: so nothing is lost.
constexpr int64_t kGrace = 60'000'000;  // ns

Hooks hooks;
struct sigaction previous;
std::atomic<int> inside{0};      // scopes of the main thread
std::atomic<int> array_work{0};  // likewise
std::atomic<int64_t> since{0};   // when the first signal came in that is pending

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// Only what may be done in a handler: atomic steps and the clock. The handler that was there runs
// first, so that Python knows of the signal when a poll asks it.
void on_signal(int number, siginfo_t* info, void* context) {
  int saved = errno;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(number, info, context);
  } else if (previous.sa_handler != SIG_IGN && previous.sa_handler != SIG_DFL) {
    previous.sa_handler(number);
  }
  if (!pending.load(std::memory_order_relaxed)) since.store(now(), std::memory_order_relaxed);
  pending.store(true, std::memory_order_release);
  if (inside.load(std::memory_order_relaxed))
    numbus_interrupt_word.fetch_or(kSignal, std::memory_order_release);
  errno = saved;
}

// A child of fork has one thread, its main one.
thread_local int64_t known_process = 0;
thread_local bool known_main = false;

}  // namespace

void forget() {
  pending.store(false, std::memory_order_relaxed);
  numbus_interrupt_word.fetch_and(~kSignal, std::memory_order_relaxed);
}

void set_hooks(const Hooks& h) {
  hooks = h;
  struct sigaction installed;
  if (has_hooks() || sigaction(SIGINT, nullptr, &installed) != 0) return;
  if (installed.sa_flags & SA_SIGINFO && installed.sa_sigaction == &on_signal) {
    sigaction(SIGINT, &previous, nullptr);
    forget();
  }
}
bool has_hooks() { return hooks.run_handlers != nullptr; }

void chain_handler() {
  struct sigaction installed;
  if (sigaction(SIGINT, nullptr, &installed) != 0) return;
  bool function = installed.sa_flags & SA_SIGINFO ||
                  (installed.sa_handler != SIG_IGN && installed.sa_handler != SIG_DFL);
  if (!function || (installed.sa_flags & SA_SIGINFO && installed.sa_sigaction == &on_signal))
    return;
  previous = installed;
  struct sigaction ours = installed;
  ours.sa_sigaction = &on_signal;
  ours.sa_flags = installed.sa_flags | SA_SIGINFO;
  sigaction(SIGINT, &ours, nullptr);
}

bool on_main_thread() {
  static std::atomic<int64_t> process{0};
  static const bool once = [] {
    process = getpid();
    pthread_atfork(nullptr, nullptr, [] { process = getpid(); });
    return true;
  }();
  (void)once;
  int64_t current = process.load(std::memory_order_relaxed);
  if (known_process != current) {
    known_process = current;
    known_main = gettid() == current;
  }
  return known_main;
}

bool due() {
  if (given_up && given_up->load(std::memory_order_relaxed)) return true;
  if (!on_main_thread() || !pending.load(std::memory_order_acquire)) return false;
  if (array_work.load(std::memory_order_relaxed))
    return hooks.raises_only && now() - since.load(std::memory_order_relaxed) > kGrace &&
           hooks.raises_only();
  int scopes = inside.load(std::memory_order_relaxed);
  if (scopes == 0 || !hooks.run_handlers) return false;
  forget();
  // What a handler calls is not inside, unless it enters such code itself.
  inside.store(0, std::memory_order_relaxed);
  bool raised = hooks.run_handlers();
  inside.store(scopes, std::memory_order_relaxed);
  if (!raised && pending.load(std::memory_order_relaxed))
    numbus_interrupt_word.fetch_or(kSignal, std::memory_order_relaxed);
  return raised;
}

bool handlers_may_run() {
  return inside.load(std::memory_order_relaxed) && !array_work.load(std::memory_order_relaxed);
}

void raise_interrupted() { throw Error(ErrorKind::Interrupted, "interrupted by Ctrl-C"); }

Error not_computed() {
  return Error(ErrorKind::Runtime,
               "[array] has no values: Ctrl-C interrupted the work before they were computed; got "
               "an interrupted array; expected one that is computed anew");
}

Inside::Inside() : main_(on_main_thread()) {
  if (!main_) return;
  inside.fetch_add(1, std::memory_order_relaxed);
  if (pending.load(std::memory_order_relaxed))
    numbus_interrupt_word.fetch_or(kSignal, std::memory_order_relaxed);
}
Inside::~Inside() {
  if (main_ && inside.fetch_sub(1, std::memory_order_relaxed) == 1 &&
      numbus_interrupt_word.load(std::memory_order_relaxed) & kSignal)
    numbus_interrupt_word.fetch_and(~kSignal, std::memory_order_relaxed);
}

void give_up(std::atomic<bool>& region) {
  if (!region.exchange(true)) numbus_interrupt_word.fetch_add(kRegion, std::memory_order_release);
}
void end_region(std::atomic<bool>& region) {
  if (region.load(std::memory_order_relaxed) && region.exchange(false))
    numbus_interrupt_word.fetch_sub(kRegion, std::memory_order_relaxed);
}

// What came in before belongs to Python code: it has raised there, or does so after this work.
ArrayWork::ArrayWork() : main_(on_main_thread()) {
  if (main_ && array_work.fetch_add(1, std::memory_order_relaxed) == 0 &&
      pending.load(std::memory_order_relaxed))
    forget();
}
ArrayWork::~ArrayWork() {
  if (main_ && array_work.fetch_sub(1, std::memory_order_relaxed) == 1 &&
      pending.load(std::memory_order_relaxed))
    forget();
}

}  // namespace interrupt
}  // namespace numbus
