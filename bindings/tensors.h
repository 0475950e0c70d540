// Tensors for Python: objects that hold an array, and what the tape knows of its memory.
#pragma once

#include <utility>
#include <vector>

#include "given.h"
#include "lazy/float_errors.h"
#include "program/tape.h"

namespace numbus::bindings {

// What the tensors of one base share: while there is any, the tape keeps what made its elements.
class Storage {
 public:
  static Storage* of(uint64_t base);           // a new reference
  static const Storage* known(uint64_t base);  // null where no tensor has it
  uint64_t base() const { return base_; }
  bool active() const { return program::Tape::get().depends(base_); }
  void let_go();
  struct TensorObject* first = nullptr;  // of the tensors that have it

 private:
  explicit Storage(uint64_t base) : base_(base) { program::Tape::get().hold(base); }
  uint64_t base_;
  int count_ = 0;
};

struct TensorObject {
  PyObject_HEAD;
  PyObject* array;
  Storage* storage;
  PyObject* grad;
  PyObject* hooks;
  PyObject* maker;  // the name of the function that made it while it was recorded, or null
  bool constant;    // what is done with it is not recorded, whatever its memory is known for
  bool leaf;        // its derivative is asked for
  bool lost;        // it depends on something in a way that nothing has recorded
  TensorObject *next, *previous;  // of the storage's
};

extern PyTypeObject* tensor_base;
inline bool is_tensor(PyObject* o) { return PyObject_TypeCheck(o, tensor_base); }
inline TensorObject& as_tensor(PyObject* o) { return *reinterpret_cast<TensorObject*>(o); }
bool requires_gradient(const TensorObject& t);
[[noreturn]] void raise_lost(const TensorObject& t);
// Raises where a tensor's dependence was lost (`change` in tensor_functions.cpp).
inline void expect_known(const TensorObject& t) {
  if (t.lost) [[unlikely]]
    raise_lost(t);
}
// What is read of a tensor that is no view is read through its memory's own.
inline void see_through(const TensorObject& t) {
  Array& a = as_masked(t.array).full;
  if (a.through == 0) a.through = a.base->id;
}
// A tensor that holds an array; `constant` where its memory is known for more than it is.
PyObject* wrap_tensor(PyObject* array, bool recorded);

// An array of a number, of the shape, dtype and device of another.
Array filled_like(const Array& a, double value);

// 0-d values as arrays of the same memory, what NumPy made as ours.
nb::object array_object(PyObject* o);
bool is_numpys(PyObject* o);

// Of tensors without elements (tensors_empty.cpp): whether an array without any is among results or
// arguments, and results that depend on such arguments.
using Arguments = std::vector<nb::object>;
bool has_empty(PyObject* made, const Arguments& args);
nb::object with_empty(nb::object made, const Arguments& args);

extern constinit thread_local bool recording;  // Python's grad mode
// Where tensors are noted whose arrays are used; null: nowhere.
extern constinit thread_local std::vector<nb::object>* tensors_used;
// The same of those alone that require a gradient.
extern constinit thread_local std::vector<nb::object>* tensors_needed;
// The name of the function whose results are wrapped, or null.
extern constinit thread_local PyObject* making;
inline void note_use(PyObject* tensor) {
  if (tensors_used) [[unlikely]]
    tensors_used->push_back(nb::borrow(tensor));
  if (tensors_needed && requires_gradient(as_tensor(tensor))) [[unlikely]]
    tensors_needed->push_back(nb::borrow(tensor));
}
// Whether calls of functions are looked at before they are made, as autocast does.
bool watches_calls();
// Python's class of plain tensors.
PyObject* tensor_class();

// Functions of tensors do not warn of floating-point errors: PyTorch has no such warnings. Errors
// of what they record are theirs.
class NoWarnings {
 public:
  NoWarnings() : before_(float_errors::state) {
    float_errors::state.warned = float_errors::state.told = 0;
    float_errors::state.of_tensors = true;
  }
  ~NoWarnings() {
    float_errors::state.of_tensors = before_.of_tensors;
    float_errors::state.warned = before_.warned;
    float_errors::state.told = before_.told;
  }
  NoWarnings(const NoWarnings&) = delete;

 private:
  float_errors::State before_;
};

// While it lives, results are recorded on the tape that no tensor holds yet.
class Recording {
 public:
  Recording() { program::Tape::get().begin_recording(); }
  ~Recording() { program::Tape::get().end_recording(); }
  Recording(const Recording&) = delete;
};

// While it lives, Python's grad mode is off.
class NotRecording {
 public:
  NotRecording() : before_(std::exchange(recording, false)) {}
  ~NotRecording() { recording = before_; }
  NotRecording(const NotRecording&) = delete;

 private:
  bool before_;
};

// The tape sees what is recorded while it lives.
class Seen {
 public:
  Seen() : on_(!program::sees(program::Tape::get())) {
    if (on_) program::begin(program::Tape::get());
  }
  ~Seen() {
    if (on_) program::end(program::Tape::get());
  }
  Seen(const Seen&) = delete;

 private:
  bool on_;
};

// While it lives, what is done is constant, and values that the tape keeps are copied before they
// are overwritten.
class Quiet {
 public:
  Quiet() {
    if (program::Tape::get().keeps()) seen_.emplace();
    if (program::watching()) constant_.emplace();
  }
  Quiet(const Quiet&) = delete;

 private:
  std::optional<Seen> seen_;
  std::optional<program::Constant> constant_;
};

}  // namespace numbus::bindings
