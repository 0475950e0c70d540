// Ways out of generated host code: it is left at a poll, as by longjmp, since nothing in it needs
// to be undone but its memory: what a call allocated before it was interrupted is leaked today.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <type_traits>

#include "base/interrupt.h"

namespace numbus::compile {

// The status of code that Ctrl-C has ended, and of code whose calls have used up the stack.
constexpr int32_t kInterrupted = INT32_MIN, kTooDeep = INT32_MIN + 1;

// How code that calls itself knows that the stack ends: a word of the thread's control block, which
// the ABI has for split stacks and nothing else here uses, is 2^63 less the lowest address that it
// may use. While the stack pointer and that add up to a negative number there is room. The word is
// zero at first, and their sum positive, so that the first call goes to the poll, which sets it.
constexpr uint64_t kStackWord = 0x70;

namespace detail {
struct Landing {
  Landing();
  ~Landing();
  Landing(const Landing&) = delete;
  std::jmp_buf at;
  Landing* outer;
  interrupt::Inside inside;
};
}  // namespace detail

// Calls `code`, which gives a status, and gives that; or kInterrupted or kTooDeep. What `code` does
// outside of generated code must need no destructors.
template <class Code>
__attribute__((noinline)) int32_t interruptible(Code&& code) {
  detail::Landing landing;
  if (int why = setjmp(landing.at)) return why == 1 ? kInterrupted : kTooDeep;
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
