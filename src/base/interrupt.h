// Ctrl-C: a signal handler sets a word, long work looks at it and ends where Python's own handler
// raises.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace numbus {

// What generated code looks at. The first bit: a signal came in while the main thread was inside
// such code. Above it: how many parallel regions are being given up.
extern "C" std::atomic<uint32_t> numbus_interrupt_word;

namespace interrupt {

// A signal came in that the main thread has not looked at yet.
extern std::atomic<bool> pending;

// How Python is asked; without these nothing is ever interrupted.
struct Hooks {
  // Runs the handlers of signals; true where one has raised.
  bool (*run_handlers)() = nullptr;
  // Whether Ctrl-C raises KeyboardInterrupt and runs no code of the user's.
  bool (*raises_only)() = nullptr;
};
void set_hooks(const Hooks& hooks);
bool has_hooks();

// Puts this library's handler before the one that is installed, if that one is a function; does
// nothing where ours is installed already.
void chain_handler();

// Forgets a signal that came in before: Python runs its handler before the caller goes on.
void forget();

// Whether this thread is the one that runs handlers.
bool on_main_thread();

// The slow path of a poll: whether the work of this thread has to end. Only the main thread runs
// handlers; a worker ends when its region is given up; all other threads go on.
bool due();

[[noreturn]] void raise_interrupted();
// What arrays hold that were not computed for it.
Error not_computed();

// The main thread is inside generated code, which looks at the word.
class Inside {
 public:
  Inside();
  ~Inside();
  Inside(const Inside&) = delete;

 private:
  bool main_;
};

// A region of work that several threads share: which flag says that it is given up. Null outside.
extern thread_local const std::atomic<bool>* given_up;
// Makes polls of all threads take the slow path until the region has ended.
void give_up(std::atomic<bool>& region);
void end_region(std::atomic<bool>& region);

// Array work: nothing of the user's may run in the middle of it, since it could record and read
// arrays. Ctrl-C ends it only if it goes on for longer than a moment, and only where all that the
// handler does is to raise.
class ArrayWork {
 public:
  ArrayWork();
  ~ArrayWork();
  ArrayWork(const ArrayWork&) = delete;

 private:
  bool main_;
};

// Whether handlers may run where the main thread is: inside, and not in array work.
bool handlers_may_run();

// For loops of the host: true where the work has to end. Outside of the scopes above it never has.
inline bool wanted() {
  return (pending.load(std::memory_order_relaxed) ||
          numbus_interrupt_word.load(std::memory_order_relaxed)) &&
         due();
}

}  // namespace interrupt
}  // namespace numbus
