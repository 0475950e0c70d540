// Polls of generated code, and the way out.
#include "compile/leave.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "compile/runtime.h"
#include "device/device.h"
#include "ir/function.h"

namespace numbus::compile {
namespace {

// Of lists of memory that several threads change: while a call waits for its parts.
std::mutex parts_mutex;
thread_local void (*poll_of_fiber)(bool) = nullptr;

// What has to be left of a stack: for functions that do not look, and for what raises the error.
constexpr uint64_t kStackReserve = 256 << 10;
// Of a stack of which nothing is known.
constexpr uint64_t kNoLimit = 0;
constexpr uint64_t kSign = uint64_t{1} << 63;

// The lowest address that recursion may use; kSign where nobody has asked yet.
uint64_t stack_limit() {
  uint64_t word;
  asm volatile("movq %%fs:%c1, %0" : "=r"(word) : "i"(kStackWord));
  return kSign - word;
}
void set_stack_limit(uint64_t limit) {
  asm volatile("movq %0, %%fs:%c1" : : "r"(kSign - limit), "i"(kStackWord) : "memory");
}

uint64_t end_of_stack() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return kNoLimit;
  void* low = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  auto begin = reinterpret_cast<uint64_t>(low);
  auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return here - begin < size ? begin + std::min<uint64_t>(kStackReserve, size / 4) : kNoLimit;
}

bool too_deep() {
  if (stack_limit() == kSign) set_stack_limit(end_of_stack());
  return reinterpret_cast<uint64_t>(__builtin_frame_address(0)) < stack_limit();
}

}  // namespace

void SpareBlocks::give_back() {
  for (; any_; any_ &= any_ - 1) {
    for (Owner *o = first_[std::countr_zero(any_)], *next; o; o = next) {
      next = o->next;
      cpu_device().free(o, o->bytes);
    }
  }
}

constinit thread_local Landing* Landing::innermost = nullptr;

Landing::Landing(Landing* outer, const std::vector<int64_t>* outside)
    : before_(std::exchange(innermost, this)), outer_(outer), outside_(outside) {}

// What a list or dict of the caller's holds is no more this call's.
void Landing::keep(Owner* o) {
  if (o->landing) remove(o);
  o->landing = nullptr;
  if (o->item == kGenerator) {
    // What it holds may be this call's: it has ended.
    reinterpret_cast<Frame*>(o + 1)->state = static_cast<int64_t>(ir::Resumed::Ended);
    return;
  }
  for (int64_t held : {o->item == kForeign ? 0 : o->child, o->table})
    if (held) keep(reinterpret_cast<Owner*>(held));
  const uint32_t owners = o->item == kForeign ? 0 : ir::item_owners(o->item);
  if (!owners) return;
  const auto* list = reinterpret_cast<const List*>(o + 1);
  for (int64_t i = 0; i < list->length; ++i) {
    const auto* words = reinterpret_cast<const int64_t*>(list->data + i * ir::item_bytes(o->item));
    for (uint32_t left = owners; left; left &= left - 1)
      if (int64_t held = words[std::countr_zero(left)]) keep(reinterpret_cast<Owner*>(held));
  }
}

Landing::~Landing() {
  innermost = before_;
  if (!memory_) return;
  if (left && outside_)
    for (int64_t o : *outside_) keep(reinterpret_cast<Owner*>(o));
  if (outer_) {
    std::lock_guard<std::mutex> guard(parts_mutex);
    Owner* last = memory_;
    for (Owner* o = memory_; o; last = o, o = o->next) o->landing = outer_;
    last->next = outer_->memory_;
    if (last->next) last->next->previous = last;
    outer_->memory_ = memory_;
    return;
  }
  for (Owner *o = memory_, *next; o; o = next) {
    next = o->next;
    o->landing = nullptr;
    if (left) cpu_device().free(o, o->bytes);
  }
}

void Landing::remove_from_other(Owner* o) {
  std::lock_guard<std::mutex> guard(parts_mutex);
  o->landing->unlink(o);
}

PollsOfFiber::PollsOfFiber(void (*poll)(bool), const void* stack)
    : outer_(std::exchange(poll_of_fiber, poll)), limit_(stack_limit()) {
  set_stack_limit(reinterpret_cast<uint64_t>(stack) + kFiberReserve);
}
PollsOfFiber::~PollsOfFiber() {
  set_stack_limit(limit_);
  poll_of_fiber = outer_;
}

void leave_generated_code(int32_t status) {
  std::longjmp(Landing::current()->at, status == kInterrupted ? 1 : 2);
}

extern "C" __attribute__((visibility("hidden"), used)) void numbus_poll() {
  if (poll_of_fiber) return poll_of_fiber(too_deep());
  if (!Landing::current()) return;
  if (too_deep()) leave_generated_code(kTooDeep);
  if (interrupt::due()) leave_generated_code();
}

extern "C" void numbus_too_deep() {
  if (poll_of_fiber) poll_of_fiber(true);
  leave_generated_code(kTooDeep);
}

// Saves all that a call may change: the general registers, and with XSAVE those of vectors (of
// which AMX tiles need no saving: numbus_poll uses none, and the kernel would have to make room for
// them). The area's part of 64 bytes after the first 512 has to be zero.
#if defined(__x86_64__)
asm(R"(
.text
.globl numbus_poll_entry
.hidden numbus_poll_entry
.type numbus_poll_entry, @function
numbus_poll_entry:
  pushq %rbp
  movq %rsp, %rbp
  pushq %rax
  pushq %rcx
  pushq %rdx
  pushq %rbx
  pushq %rsi
  pushq %rdi
  pushq %r8
  pushq %r9
  pushq %r10
  pushq %r11
  andq $-64, %rsp
  subq $2752, %rsp
  movl $1, %eax
  cpuid
  movl %ecx, %ebx
  andl $0x08000000, %ebx
  jz 1f
  xorl %eax, %eax
  movq %rax, 512(%rsp)
  movq %rax, 520(%rsp)
  movq %rax, 528(%rsp)
  movq %rax, 536(%rsp)
  movq %rax, 544(%rsp)
  movq %rax, 552(%rsp)
  movq %rax, 560(%rsp)
  movq %rax, 568(%rsp)
  movl $0xe7, %eax
  xorl %edx, %edx
  xsave64 (%rsp)
  jmp 2f
1:
  fxsave64 (%rsp)
2:
  cld
  call numbus_poll
  testl %ebx, %ebx
  jz 3f
  movl $0xe7, %eax
  xorl %edx, %edx
  xrstor64 (%rsp)
  jmp 4f
3:
  fxrstor64 (%rsp)
4:
  leaq -80(%rbp), %rsp
  popq %r11
  popq %r10
  popq %r9
  popq %r8
  popq %rdi
  popq %rsi
  popq %rbx
  popq %rdx
  popq %rcx
  popq %rax
  popq %rbp
  ret
.size numbus_poll_entry, .-numbus_poll_entry
)");
#else
#error "polls are written for x86-64"
#endif

}  // namespace numbus::compile
