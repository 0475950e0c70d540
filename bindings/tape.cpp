// The tape of tensors for Python.
#include "program/tape.h"

#include <nanobind/stl/vector.h>

#include "convert.h"
#include "given.h"
#include "program/rules.h"

namespace numbus::bindings {
namespace {

using program::Tape;

// What the tensors of one base share: while it lives, the tape keeps what made their elements.
struct Storage {
  uint64_t base;

  explicit Storage(uint64_t id) : base(id) { Tape::get().hold(id); }
  ~Storage() {
    known().erase(base);
    Tape::get().release(base);
  }
  Storage(const Storage&) = delete;
  static std::unordered_map<uint64_t, PyObject*>& known() {
    static auto* const all = new std::unordered_map<uint64_t, PyObject*>;  // borrowed
    return *all;
  }
};

nb::object storage_of(nb::handle array) {
  const uint64_t id = given(array).base->id;
  const auto found = Storage::known().find(id);
  if (found != Storage::known().end()) return nb::borrow(found->second);
  nb::object made = nb::cast(new Storage(id), nb::rv_policy::take_ownership);
  Storage::known()[id] = made.ptr();
  return made;
}

// The tape sees what is recorded while it lives.
class Seen {
 public:
  Seen() : on_(!program::sees(Tape::get())) {
    if (on_) program::begin(Tape::get());
  }
  ~Seen() {
    if (on_) program::end(Tape::get());
  }
  Seen(const Seen&) = delete;

 private:
  bool on_;
};

// Gives masked values among results their own elements while the tape sees it.
void settle(PyObject* made) {
  if (is_array(made)) {
    as_array(made);
  } else if (PyTuple_Check(made) || PyList_Check(made)) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(made);
    for (Py_ssize_t n = 0; n < count; ++n) settle(PySequence_Fast_GET_ITEM(made, n));
  }
}

// wrap(function(*args, **keywords)), of which the tape sees the function.
nb::object record(nb::handle function, nb::handle args, nb::handle keywords, nb::handle wrap) {
  const int64_t since = Tape::get().now();
  nb::object made;
  {
    const Seen seen;
    made = nb::steal(
        PyObject_Call(function.ptr(), args.ptr(), keywords.is_none() ? nullptr : keywords.ptr()));
    if (made) settle(made.ptr());
  }
  if (!made) {
    nb::error_scope scope;
    Tape::get().settle(since);
  } else {
    made = nb::steal(PyObject_CallOneArg(wrap.ptr(), made.ptr()));
    Tape::get().settle(since);
  }
  if (!made) throw nb::python_error();
  return made;
}

// While it is entered, what is done is constant, and values that the tape keeps are copied before
// they are overwritten.
struct Quiet {
  std::unique_ptr<Seen> seen;
  std::unique_ptr<program::Constant> constant;

  void enter() {
    if (Tape::get().keeps()) seen = std::make_unique<Seen>();
    if (program::watching()) constant = std::make_unique<program::Constant>();
  }
  void leave() {
    constant.reset();
    seen.reset();
  }
};

struct Found {
  std::shared_ptr<program::Adjoints> adjoints;
};

nb::object backward(nb::handle outputs, nb::handle seeds, bool keep, bool again) {
  mark_line();
  const std::vector<Array> of = all_given(outputs), by = all_given(seeds);
  std::unique_ptr<Seen> seen;
  if (again) seen = std::make_unique<Seen>();
  return nb::cast(Found{Tape::get().backward(of, by, keep)});
}

void tell(int64_t writer, nb::handle array, nb::object function) {
  auto held = held_by_python(std::move(function));
  Tape::get().tell(writer, given(array), [held](const Array& g) -> std::optional<Array> {
    nb::object made = (*held)(wrapped(g));
    if (made.is_none()) return {};
    return given(made);
  });
}

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<Storage>(m, "Storage", "What the tensors of one piece of memory share.")
      .def_prop_ro(
          "active", [](const Storage& s) { return Tape::get().depends(s.base); },
          "Whether its elements depend on a tensor that requires a gradient.")
      .def_prop_ro("base", [](const Storage& s) { return s.base; });
  nb::class_<Quiet>(m, "quiet", "A block whose results are constants for all that watches.")
      .def(nb::init<>())
      .def("__enter__", &Quiet::enter)
      .def("__exit__", [](Quiet& q, nb::args) { q.leave(); });
  nb::class_<Found>(m, "Found", "Derivatives by the memory of tensors.")
      .def("bases", [](const Found& f) { return nb::tuple(nb::cast(f.adjoints->bases())); })
      .def("of", [](Found& f, nb::handle array) -> nb::object {
        mark_line();
        const Array a = given(array);
        const auto g = f.adjoints->of(program::Region(a.view()));
        if (!g) return nb::none();
        return nb::steal(wrap(program::own_copy(a, g)));
      });
  m.def(
      "lazy_array",
      [](nb::handle x) {
        if (is_array(x.ptr())) return nb::borrow(x);
        return nb::steal(wrap(Array(given(x))));
      },
      nb::arg("x"), "An array, or a 0-d value as an array of the same memory, pending or not.");
  m.def("storage_of", &storage_of, nb::arg("array"));
  m.def("record_on_tape", &record, nb::arg("function"), nb::arg("args"), nb::arg("keywords").none(),
        nb::arg("wrap"));
  m.def("tape_watch", [](nb::handle a) { Tape::get().watch(given(a)); }, nb::arg("array"));
  m.def("tape_unwatch", [](nb::handle a) { Tape::get().unwatch(given(a)); }, nb::arg("array"));
  m.def("tape_keeps", [] { return Tape::get().keeps(); });
  m.def(
      "tape_depends", [](nb::handle a) { return Tape::get().depends(given(a)); }, nb::arg("array"));
  m.def("tape_settle", [](int64_t since) { Tape::get().settle(since); }, nb::arg("since"));
  m.def("tape_now", [] { return Tape::get().now(); });
  m.def("tape_length", [] { return Tape::get().entries().size(); });
  m.def("tape_writer", [](nb::handle a) { return Tape::get().writer(given(a)); }, nb::arg("array"));
  m.def("tape_tell", &tell, nb::arg("writer"), nb::arg("array"), nb::arg("function"));
  m.def("tape_backward", &backward, nb::arg("outputs"), nb::arg("seeds"), nb::arg("keep"),
        nb::arg("again"));
  m.def("tape_text", [] { return program::print(Tape::get()); });
}

}  // namespace numbus::bindings
