// Ways out of generated host code: it is left at a poll, as by longjmp, since nothing in it needs
// to be undone but its memory, which the call that is left gives back.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/interrupt.h"
#include "compile/runtime.h"
#include "device/cpu/apart.h"

namespace numbus::compile {

// The status of code that Ctrl-C has ended, and of code whose calls have used up the stack.
constexpr int32_t kInterrupted = INT32_MIN, kTooDeep = INT32_MIN + 1;

// How code that calls itself knows that the stack ends: a word of the thread's control block, which
// the ABI has for split stacks and nothing else here uses, is 2^63 less the lowest address that it
// may use. While the stack pointer and that add up to a negative number there is room. The word is
// zero at first, and their sum positive, so that the first call goes to the poll, which sets it.
constexpr uint64_t kStackWord = 0x70;

// Small blocks of memory that a call has let go of and takes again: only its thread sees them, so
// that they need no lock. At most so many of each size, a multiple of 64 bytes up to kLargest.
class SpareBlocks {
 public:
  ~SpareBlocks() { give_back(); }
  Owner* take(uint64_t bytes);  // null where there is none
  bool keep(Owner* o);          // false where it has to go to the pool
  void give_back();             // all of them, to the pool

 private:
  static constexpr uint64_t kStep = 64, kLargest = 1024;
  static constexpr int64_t kMost = 8;
  static unsigned number_of(uint64_t bytes) { return static_cast<unsigned>((bytes - 1) / kStep); }

  uint32_t any_ = 0;                // which sizes have a block
  Owner* first_[kLargest / kStep];  // of those: the newest, whose `count` says how many there are
};

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

  static Landing* current() { return innermost; }
  void add(Owner* o);
  // Of any thread: one that is not this call's is a part of it.
  static void remove(Owner* o);

  SpareBlocks spare;
  std::jmp_buf at;
  bool left = false;

 private:
  void keep(Owner* o);
  void unlink(Owner* o);
  static void remove_from_other(Owner* o);

  // At a fixed distance from the thread's pointer: a call that finds it takes longer than the rest.
  static constinit thread_local Landing* innermost __attribute__((tls_model("initial-exec")));

  Landing *before_, *outer_;
  const std::vector<int64_t>* outside_;
  Owner* memory_ = nullptr;
  interrupt::Inside inside_;
};

// Under ASan blocks go to the pool, which knows who may not touch them.
#if defined(__SANITIZE_ADDRESS__)
inline Owner* SpareBlocks::take(uint64_t) { return nullptr; }
inline bool SpareBlocks::keep(Owner*) { return false; }
#else
inline Owner* SpareBlocks::take(uint64_t bytes) {
  if (bytes > kLargest) return nullptr;
  const unsigned number = number_of(bytes);
  if (!(any_ >> number & 1)) return nullptr;
  Owner* o = first_[number];
  first_[number] = o->next;
  if (!o->next) any_ &= ~(1u << number);
  return o;
}

inline bool SpareBlocks::keep(Owner* o) {
  // Work that nobody waits for may still write to it: the pool's device knows.
  if (o->bytes > kLargest || abandoned_works.load(std::memory_order_acquire) != 0) return false;
  const unsigned number = number_of(o->bytes);
  o->next = any_ >> number & 1 ? first_[number] : nullptr;
  o->count = o->next ? o->next->count + 1 : 1;
  if (o->count > kMost) return false;
  first_[number] = o;
  any_ |= 1u << number;
  return true;
}
#endif

inline void Landing::add(Owner* o) {
  o->landing = this;
  o->previous = nullptr;
  o->next = memory_;
  if (memory_) memory_->previous = o;
  memory_ = o;
}

inline void Landing::unlink(Owner* o) {
  (o->previous ? o->previous->next : memory_) = o->next;
  if (o->next) o->next->previous = o->previous;
}

inline void Landing::remove(Owner* o) {
  if (o->landing != innermost) return remove_from_other(o);
  innermost->unlink(o);
}

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
