// Where np.errstate asks for more than warnings ("raise", "call", "print", "log"), NumPy does an
// operation first, on copies and under the same errstate, so that what it raises or tells is exact;
// then ours is recorded.
#pragma once

#include "convert.h"

namespace numbus::bindings {

// Of this thread: whether the errstate in force asks for it, and no operation is under way that has
// been checked as a whole.
extern constinit thread_local bool errors_are_checked;

// While it lives, operations are parts of one that has been checked.
class Unchecked {
 public:
  Unchecked() : before_(errors_are_checked) { errors_are_checked = false; }
  ~Unchecked() { errors_are_checked = before_; }
  Unchecked(const Unchecked&) = delete;

 private:
  bool before_;
};

// Python's function of that name in core/float_errors.py, called without further checks; null: it
// raised.
PyObject* check(const char* name, nb::handle arguments);

}  // namespace numbus::bindings
