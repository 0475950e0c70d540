// Where np.errstate asks for more than warnings ("raise", "call", "print", "log"), NumPy does an
// operation first, on copies and under the same errstate, so that what it raises or tells is exact;
// then ours is recorded. For warnings ours comes first, and NumPy is asked where flags are set.
#pragma once

#include "convert.h"
#include "lazy/float_errors.h"

namespace numbus::bindings {

using FloatState = float_errors::State;

// While it lives, operations are parts of one that has been checked.
class Unchecked {
 public:
  Unchecked() : before_(float_errors::state) {
    float_errors::state = {};
    float_errors::state.warned = 0;
    float_errors::state.asking = true;
  }
  ~Unchecked() { float_errors::state = before_; }
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;

 private:
  FloatState before_;
};

// While it lives, an operation is done that NumPy has done and told of: nothing is told again, also
// where NumPy does it for us.
class ToldAlready {
 public:
  ToldAlready();
  ~ToldAlready();
  ToldAlready(const ToldAlready&) = delete;
  ToldAlready& operator=(const ToldAlready&) = delete;

 private:
  Unchecked inner_;
  nb::object ignoring_;
};

// Whether a result is still to be computed: what is recorded gives its warnings when it is carried
// out, and NumPy would give them a second time.
bool is_recorded(PyObject* result);

// One operation of the program, after which the flags are read. tells: what it records warns for
// itself. clears: the flags are its own; otherwise they may be set by what ran before, as nobody
// needs to know where NumPy looks again, and clearing them takes as long as reading them.
class Examined {
 public:
  Examined(bool tells, bool clears, const char* told_as = nullptr)
      : state_(float_errors::state),
        warned_(state_.warned),
        told_(state_.told),
        watched_(state_.watched),
        told_as_(state_.told_as) {
    if (!warned_) return;
    state_.told_as = told_as;
    state_.warned = 0;
    state_.told = tells ? warned_ : 0;
    state_.watched = true;
    if (clears) flags::clear();
  }
  ~Examined() {
    state_.warned = warned_;
    state_.told = told_;
    state_.watched = watched_;
    state_.told_as = told_as_;
  }
  Examined(const Examined&) = delete;
  Examined& operator=(const Examined&) = delete;
  // The kinds that were met and are to be warned of.
  unsigned raised() const { return warned_ ? flags::raised() & warned_ : 0; }
  // The same of an operation with this result, where flags may be set by what ran before.
  unsigned raised_for(PyObject* result) const {
    const unsigned kinds = raised();
    return kinds && !is_recorded(result) ? kinds : 0;
  }

 private:
  FloatState& state_;
  const uint8_t warned_, told_;
  const bool watched_;
  const char* const told_as_;
};

using float_errors::ToldAs;

// Python's function of that name in core/float_errors.py, called without further checks; null: it
// raised.
PyObject* check(const char* name, nb::handle arguments);

// `result`, after Python's function of that name has given the warnings; null where a warning is an
// error, and the result is let go.
PyObject* warned(PyObject* result, const char* name, nb::handle arguments);

}  // namespace numbus::bindings
