// Blocks of Python's in compiled functions: `with objmode(…)`.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdlib>

#include "base/host_call.h"
#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"

namespace numbus::bindings {

using frontend::Site;
using frontend::Type;

namespace {

// What a list that Python has been given holds: the function would not see it change.
bool has_lists(const Type& t) {
  return t.is(Type::Tag::List) || std::ranges::any_of(t.items, has_lists);
}

// A value of the function's; arrays in memory that something else holds stay there.
nb::object given(const Type& t, const int64_t*& words) {
  const int64_t* first = words;
  retain_owners(t, first);
  return to_python(t, words, Arguments());
}

// Raises where a block has kept an array whose memory Python does not own: it ends with the block.
void expect_let_go(const Type& t, const int64_t*& words, nb::handle value, Py_ssize_t least) {
  if (t.is(Type::Tag::Tuple)) {
    for (size_t k = 0; k < t.items.size(); ++k) {
      const nb::object item = nb::borrow<nb::tuple>(value)[k];
      expect_let_go(t.items[k], words, item, 2);  // `item` and the tuple
    }
    return;
  }
  if (t.is_array() && !words[1] && Py_REFCNT(value.ptr()) > least)
    raise(ErrorKind::NotImplemented, "objmode",
          "not yet: an array of the function's arguments that Python keeps", frontend::name(t),
          "a copy of it: x.copy()");
  words += frontend::words(t).size();
}

void run(const std::vector<Site>& sites, const int64_t* words) {
  const Site& asks = sites.at(static_cast<size_t>(words[2]));
  const Type& gives = sites.at(static_cast<size_t>(words[3])).argument;
  const nb::object block = nb::module_::import_("numbus.kernels._object_mode")
                               .attr("blocks")[std::atoi(asks.text.c_str())];
  const auto* from = reinterpret_cast<const int64_t*>(words[4]);
  nb::list args;
  const int64_t* at = from;
  for (const Type& t : asks.argument.items) args.append(given(t, at));
  nb::list before;
  at = from;
  for (const Type& t : asks.argument.items) {
    if (has_lists(t))
      before.append(given(t, at));
    else
      at += frontend::words(t).size(), before.append(nb::none());
  }
  nb::object result = nb::steal(PyObject_CallObject(block.ptr(), nb::tuple(args).ptr()));
  if (!result.is_valid()) throw nb::python_error();
  give_words(result, gives, "objmode", reinterpret_cast<int64_t*>(words[5]));
  result = nb::object();
  at = from;
  size_t k = 0;
  for (const Type& t : asks.argument.items) {
    const nb::object arg = args[k];
    if (has_lists(t) && !arg.equal(before[k]))
      raise(ErrorKind::NotImplemented, "objmode",
            "not yet: a list of the function's that Python changes", frontend::name(t),
            "a result of the block, or an array");
    expect_let_go(t, at, arg, 2);  // `arg` and the list
    ++k;
  }
}

// Set on errors that say "not yet": no program catches them.
constexpr const char* kNotYet = "_numbus_not_yet";

// 0, or the owner of what Python has raised.
int64_t object_mode(const int64_t* words) {
  nb::gil_scoped_acquire held;
  bool missing = false;
  try {
    try {
      if (!words[1])
        raise(ErrorKind::NotImplemented, "objmode", "not yet: a block of Python's here",
              "a function that no dispatcher runs", "a function of njit");
      run(*reinterpret_cast<const std::vector<Site>*>(words[1]), words);
    } catch (const Error& e) {
      missing = e.kind() == ErrorKind::NotImplemented;
      set_error(e);
      throw nb::python_error();
    }
  } catch (nb::python_error& e) {
    e.restore();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace) PyException_SetTraceback(value, trace);
    if (missing && PyObject_SetAttrString(value, kNotYet, Py_True) != 0) PyErr_Clear();
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return compile::numbus_foreign(value);
  }
  return 0;
}

}  // namespace

nb::object raised_in_object_mode(int64_t owner) {
  const auto* o = reinterpret_cast<const compile::Owner*>(owner);
  return nb::borrow(reinterpret_cast<PyObject*>(o->child));
}

namespace {

// Whether what Python has raised is of one of the classes that a handler names.
int64_t error_is_one(const int64_t* words) {
  if (!words[1]) return 0;
  nb::gil_scoped_acquire held;
  try {
    const auto& sites = *reinterpret_cast<const std::vector<Site>*>(words[1]);
    const nb::object error = raised_in_object_mode(words[3]);
    if (nb::hasattr(error, kNotYet)) return 0;
    const nb::object names = nb::str(sites.at(static_cast<size_t>(words[0])).text.c_str());
    return nb::cast<bool>(jit_errors().attr("is_one")(error, names)) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

}  // namespace

void bind_object_mode() {
  host_calls[static_cast<size_t>(HostCall::ObjectMode)] = object_mode;
  host_calls[static_cast<size_t>(HostCall::ErrorIsOne)] = error_is_one;
}

}  // namespace numbus::bindings
