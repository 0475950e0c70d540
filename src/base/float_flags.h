// The processor's sticky flags of floating-point exceptions, of the calling thread: what an
// operation has raised since they were cleared, at the price of reading a register.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace numbus::flags {

// As in the processor's register (x86).
enum Kind : unsigned { Invalid = 1, Divide = 4, Overflow = 8 };
// What NumPy warns of by default. Underflow is not among them.
constexpr unsigned kAll = Invalid | Divide | Overflow;

#if defined(__x86_64__)
inline unsigned raised() { return _mm_getcsr() & kAll; }
// Writing the register takes longer than reading it.
inline void clear() {
  const unsigned now = _mm_getcsr();
  if (now & kAll) _mm_setcsr(now & ~kAll);
}
inline void raise(unsigned kinds) { _mm_setcsr(_mm_getcsr() | (kinds & kAll)); }
// The flags with the rest of the register, to be as they were again: for that it need not be read.
inline unsigned saved() { return _mm_getcsr(); }
inline void restore(unsigned saved, unsigned more) { _mm_setcsr(saved | more); }
#else
inline unsigned raised() {
  const int now = std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  return (now & FE_INVALID ? Invalid : 0u) | (now & FE_DIVBYZERO ? Divide : 0u) |
         (now & FE_OVERFLOW ? Overflow : 0u);
}
inline void clear() { std::feclearexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); }
inline unsigned saved() { return raised(); }
inline void raise(unsigned kinds) {
  std::feraiseexcept((kinds & Invalid ? FE_INVALID : 0) | (kinds & Divide ? FE_DIVBYZERO : 0) |
                     (kinds & Overflow ? FE_OVERFLOW : 0));
}
inline void restore(unsigned saved, unsigned more) {
  clear();
  if (saved | more) raise(saved | more);
}
#endif

// While it lives, what is raised is that of the work inside alone; afterwards the flags are as they
// were before.
class Apart {
 public:
  explicit Apart(bool wanted = true) : wanted_(wanted), before_(wanted ? flags::raised() : 0) {
    if (wanted) clear();
  }
  ~Apart() {
    if (!wanted_) return;
    clear();
    if (before_) raise(before_);
  }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  bool wanted_;
  unsigned before_;
};

}  // namespace numbus::flags
