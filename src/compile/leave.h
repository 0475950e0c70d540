// Ways out of generated host code: it is left at a poll, as by longjmp, since nothing in it needs
// to be undone but its memory, which the call that is left gives back.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"

namespace numbus::compile {

// The status of code that Ctrl-C has ended, and of code whose calls have used up the stack.
constexpr int32_t kInterrupted = INT32_MIN, kTooDeep = INT32_MIN + 1;

// How code that calls itself knows that the stack ends: a word of the thread's control block, which
// the ABI has for split stacks and nothing else here uses, is 2^63 less the lowest address that it
// may use. While the stack pointer and that add up to a negative number there is room. The word is
// zero at first, and their sum positive, so that the first call goes to the poll, which sets it.
constexpr uint64_t kStackWord = 0x70;

struct Owner;

// A call of generated code on a thread, with the memory that it has allocated and not released.
class Landing {
 public:
  // `outer`: the call of another thread that this one is a part of, which waits for it.
  // `outside`: owners of lists and dicts that the caller has, which keep what this call puts into
  // them also where it is left.
  explicit Landing(Landing* outer = nullptr, const std::vector<int64_t>* outside = nullptr);
  // What is still there belongs to the result, or to the call that this one is a part of; where the
  // code has been left, nobody has it.
  ~Landing();
  Landing(const Landing&) = delete;

  static Landing* current();
  void add(Owner* o);
  // Of any thread: one that is not this call's is a part of it.
  static void remove(Owner* o);

  std::jmp_buf at;
  bool left = false;

 private:
  void keep(Owner* o);

  Landing *before_, *outer_;
  const std::vector<int64_t>* outside_;
  Owner* memory_ = nullptr;
  interrupt::Inside inside_;
};

// Calls `code`, which gives a status, and gives that; or kInterrupted or kTooDeep. What `code` does
// outside of generated code must need no destructors.
template <class Code>
__attribute__((noinline)) int32_t interruptible(Code&& code, Landing* outer = nullptr,
                                                const std::vector<int64_t>* outside = nullptr) {
  Landing landing(outer, outside);
  if (int why = setjmp(landing.at)) {
    landing.left = true;
    return why == 1 ? kInterrupted : kTooDeep;
  }
  return code();
}

// Ends the innermost call of interruptible() on this thread. No destructors are run.
[[noreturn]] void leave_generated_code(int32_t status = kInterrupted);

// While a thread runs a fiber: polls of its go to the scheduler, whose stack has room for handlers;
// `too_deep`: its stack, whose lowest address is given, is used up.
// What recursion leaves of a fiber's stack.
constexpr uint64_t kFiberReserve = 32 << 10;
class PollsOfFiber {
 public:
  PollsOfFiber(void (*poll)(bool too_deep), const void* stack);
  ~PollsOfFiber();
  PollsOfFiber(const PollsOfFiber&) = delete;

 private:
  void (*outer_)(bool);
  uint64_t limit_;
};

extern "C" {
// What a poll calls where the word is set. It changes no register, so that loops need not make room
// for a call.
void numbus_poll_entry();
// Ends code whose recursion has become a loop (recursion.h) that has gone on for too long.
[[noreturn]] void numbus_too_deep();
}

}  // namespace numbus::compile
