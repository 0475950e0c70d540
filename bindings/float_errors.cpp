// np.errstate: what asks NumPy, and when warnings are given.
#include "float_errors.h"

#include <dlfcn.h>

#include "errstate.h"

namespace numbus::bindings {

using float_errors::state;

bool sets_errstate = false;

namespace {

// Of this thread: what the variable held when the state was taken over, kept alive as its address
// is compared; null: it is to be looked at.
thread_local PyObject* seen = nullptr;

// PyContextVar_Get(), which the stable ABI does not declare but every interpreter has had
// since 3.7; null: this one no longer exports it.
using VariableGet = int (*)(PyObject*, PyObject*, PyObject**);
VariableGet variable_get() {
#ifdef Py_LIMITED_API
  return reinterpret_cast<VariableGet>(dlsym(RTLD_DEFAULT, "PyContextVar_Get"));
#else
  return PyContextVar_Get;
#endif
}

PyObject* held_now() {
  static PyObject* const variable =
      nb::module_::import_("numpy._core.umath").attr("_extobj_contextvar").inc_ref().ptr();
  static const VariableGet get = variable_get();
  PyObject* now = nullptr;
  if (!get)
    now = PyObject_CallMethod(variable, "get", nullptr);
  else if (get(variable, nullptr, &now) < 0)
    now = nullptr;
  if (!now) throw nb::python_error();
  return now;
}

void see(PyObject* now) {
  PyObject* const before = std::exchange(seen, now);
  Py_XDECREF(before);
}

}  // namespace

void follow_context() noexcept {
  // What a function's body records is the function's, whose state was looked at when it began.
  if (state.asking || state.watched || state.of_tensors) return;
  try {
    PyObject* const now = held_now();
    Py_XDECREF(now);  // the context goes on holding it
    if (now == seen) return;
    const nb::error_scope raised;
    nb::module_::import_("numbus.core.float_errors").attr("follow")();
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("numpy.errstate");
  }
}

bool is_recorded(PyObject* result) {
  if (is_array(result)) return as_masked(result).full.base->pending();
  if (!is_generic(result)) return false;
  const Generic& g = as_generic(result);
  return !g.known && g.array.base.get() && g.array.base->pending();
}

PyObject* check(const char* name, nb::handle arguments) {
  const Unchecked inner;
  const flags::Apart apart;  // NumPy leaves flags as it found reason for
  static nb::object* module = nullptr;
  if (!module) module = new nb::object(nb::module_::import_("numbus.core.float_errors"));
  const nb::object function = module->attr(name);
  return PyObject_CallObject(function.ptr(), arguments.ptr());
}

ToldAlready::ToldAlready()
    : ignoring_(nb::module_::import_("numpy").attr("errstate")(nb::arg("all") = "ignore")) {
  ignoring_.attr("__enter__")();
}

ToldAlready::~ToldAlready() {
  const nb::error_scope raised;
  try {
    ignoring_.attr("__exit__")(nb::none(), nb::none(), nb::none());
  } catch (nb::python_error& e) {
    e.discard_as_unraisable("numpy.errstate");
  }
}

PyObject* warned(PyObject* result, const char* name, nb::handle arguments) {
  float_errors::forget_complex();
  PyObject* told = guarded([&] { return check(name, arguments); });
  flags::clear();
  if (!told) {
    Py_DECREF(result);
    return nullptr;
  }
  Py_DECREF(told);
  return result;
}

PyObject* tell_findings(PyObject* result) {
  nb::list all;
  PyObject* told = guarded([&]() -> PyObject* {
    std::vector<float_errors::Finding> found;
    std::swap(found, float_errors::findings());
    float_errors::any_found = false;
    for (const float_errors::Finding& f : found) {
      nb::list operands;
      for (const auto& [type, bytes] : f.operands)
        operands.append(
            nb::make_tuple(nb::handle(dtype_object(type)), nb::bytes(bytes.data(), bytes.size())));
      const SourceLine at = describe_line(f.line);
      all.append(nb::make_tuple(f.name, f.shown, static_cast<int>(f.kinds), at.file, at.line,
                                f.by_name ? static_cast<int>(f.kinds_met) : 0,
                                nb::handle(dtype_object(f.loop)), nb::handle(dtype_object(f.out)),
                                operands,
                                nb::make_tuple(f.product[0], f.product[1], f.product[2])));
    }
    return check("tell", nb::make_tuple(all));
  });
  if (told) {
    Py_DECREF(told);
    return result;
  }
  if (result && result != Py_None) Py_DECREF(result);
  return nullptr;
}

void bind_float_errors(nb::module_& m) {
  m.def(
      "check_float_errors",
      [](bool checked, int warned) {
        const int before = state.told << 16 | state.warned << 8 | (state.checked ? 1 : 0);
        // NumPy, which has been asked, has errstates of its own.
        if (state.asking) return before;
        state.checked = checked;
        state.warned = static_cast<uint8_t>(warned);
        state.told = 0;
        see(held_now());
        sets_errstate = true;
        return before;
      },
      nb::arg("checked"), nb::arg("warned"),
      "Whether NumPy does this thread's operations first, for what np.errstate asks for, and the "
      "kinds to be warned of: 1 invalid values, 4 divisions by zero, 8 overflows. Returns what was "
      "asked for before.");
  m.def("restore_float_errors", [](int before) {
    state.checked = (before & 1) != 0;
    state.warned = static_cast<uint8_t>(before >> 8);
    state.told = static_cast<uint8_t>(before >> 16);
    see(nullptr);  // another task may have entered and left its own in between
  });
  m.def(
      "give_warnings",
      [] {
        flush_told("warnings");
        if (float_errors::any_found && !tell_findings(Py_None)) throw nb::python_error();
      },
      "Carries out what is pending where it may warn, and gives the warnings.");
  m.def("raise_dropped", [](nb::handle a) { raise_dropped(a.ptr()); });
  m.def("checks_float_errors", [] { return state.checked; });
  m.def("warns_of", [] { return static_cast<int>(state.warned); });
}

}  // namespace numbus::bindings
