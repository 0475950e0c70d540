// Polls of generated code, and the way out.
#include "compile/leave.h"

#include <utility>

namespace numbus::compile {
namespace {

thread_local detail::Landing* innermost = nullptr;
thread_local void (*poll_of_fiber)() = nullptr;

}  // namespace

namespace detail {
Landing::Landing() : outer(std::exchange(innermost, this)) {}
Landing::~Landing() { innermost = outer; }
}  // namespace detail

PollsOfFibers::PollsOfFibers(void (*poll)()) : outer_(std::exchange(poll_of_fiber, poll)) {}
PollsOfFibers::~PollsOfFibers() { poll_of_fiber = outer_; }

void leave_generated_code() { std::longjmp(innermost->at, 1); }

extern "C" __attribute__((visibility("hidden"), used)) void numbus_poll() {
  if (poll_of_fiber) return poll_of_fiber();
  if (interrupt::due() && innermost) leave_generated_code();
}

// Saves all that a call may change: the general registers, and with XSAVE those of vectors (of
// which AMX tiles need no saving: numbus_poll uses none, and the kernel would have to make room for
// them). The area's part of 64 bytes behind the first 512 has to be zero.
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
