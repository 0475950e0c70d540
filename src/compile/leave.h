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

// How code that calls itself knows that the stack ends: the stack pointer is compared with the word
// of the thread's control block that the ABI has for split stacks, which nothing else here uses. It
// is zero at first; a stack pointer that is not up to kStackReach above it goes to the poll.
constexpr uint64_t kStackWord = 0x70, kStackReach = uint64_t{1} << 40;

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
// The error of code that was left as too deep.
[[noreturn]] void raise_too_deep();

// While a thread runs fibers: polls of theirs go to the scheduler, whose stack has room for
// handlers.
class PollsOfFibers {
 public:
  explicit PollsOfFibers(void (*poll)());
  ~PollsOfFibers();
  PollsOfFibers(const PollsOfFibers&) = delete;

 private:
  void (*outer_)();
  uint64_t stack_;
};

extern "C" {
// What a poll calls where the word is set. It changes no register, so that loops need not make room
// for a call.
void numbus_poll_entry();
}

}  // namespace numbus::compile
