// Whoever is told of each recorded instruction of a thread: gradients (program/).
#pragma once

#include <memory>
#include <span>

#include "lazy/window.h"

namespace numbus {

struct Array;

// How a result was made that has a derivative of its own.
struct HiddenWork {
  virtual ~HiddenWork() = default;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Before and after an instruction is recorded that is complete but for its operands.
  virtual void before(const Instr& i, const Array& out, std::span<const Window::Input> in) = 0;
  virtual void after(const Instr& i, const Array& out, std::span<const Window::Input> in) = 0;
  // Somebody is about to write to the memory of an array otherwise.
  virtual void before_write(const Array& a) = 0;
  // Somebody is about to look at elements; raises where that would go unseen.
  virtual void before_read(const Array& a) = 0;
  // Elements of `full` where `mask` holds have been put side by side in `dense`.
  virtual void selected(const Array& full, const Array& mask, const Array& dense) = 0;
  // A fresh array was made of the operands by instructions that are hidden.
  virtual void worked(const HiddenWork& w, std::span<const Array> operands,
                      const Array& result) = 0;
  // A copy of an array was made on another device.
  virtual void moved(const Array& from, const Array& to) = 0;
};

// How many threads have one: most programs have none, and ask no more than this.
extern constinit int observers;
extern constinit thread_local Observer* thread_observer;

// This thread's; null: nobody looks. While there is one, nothing is carried out at once, so that it
// sees all work. Guarded by Python's lock.
inline Observer* observer() { return observers == 0 ? nullptr : thread_observer; }
inline void observe(Observer* o) {
  observers += (o != nullptr) - (thread_observer != nullptr);
  thread_observer = o;
}

// Tells the observer, if there is one, and what captures this thread.
void tell_work(const std::shared_ptr<const HiddenWork>& w, std::span<const Array> operands,
               const Array& result);

// While it lives, nobody looks.
class Unobserved {
 public:
  Unobserved() : before_(observer()) { observe(nullptr); }
  ~Unobserved() { observe(before_); }
  Unobserved(const Unobserved&) = delete;

 private:
  Observer* before_;
};

}  // namespace numbus
