// What stands in for functions that SciPy calls back (python/numbus/loops/callbacks.py): their
// compiled form where it is certain, and the functions themselves where it is not.
//
// All of it is C, so that tracebacks meet no frame of ours.
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <new>
#include <string>
#include <utility>

#include "convert.h"
#include "loops/watching.h"
#include "numpy_objects.h"

namespace numbus::bindings {
namespace {

constexpr size_t kMost = 64;             // numbers that a function is given, and gives
constexpr int64_t kMostFailures = 1000;  // calls that Python had to carry out
constexpr int64_t kLook = 32;            // calls after which profilers are looked for again
constexpr double kExact = 9007199254740992.0;
constexpr double kTurn = 5e-3;  // seconds after which other threads of the program are let in

double wall_seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Lets other threads of the program run, and its handlers of signals, while SciPy calls compiled
// code only, of which Python's interpreter does not know.
struct Turns {
  int64_t left = 0, stretch = 0;   // calls until the next look at the clock
  double looked = 0, last = -1.0;  // when that was, and when the others were let in

  // Whether the others were let in; -1: a handler has raised.
  int next() {
    if (--left >= 0) return 0;
    const double now = wall_seconds();
    if (last < 0) last = looked = now;
    stretch = now - looked < kTurn / 10 ? std::min<int64_t>(2 * stretch + 1, 4096) : stretch / 2;
    left = stretch;
    looked = now;
    if (now - last < kTurn) return 0;
    Py_BEGIN_ALLOW_THREADS;
    Py_END_ALLOW_THREADS;
    last = looked = wall_seconds();
    return PyErr_CheckSignals() < 0 ? -1 : 1;
  }
};

// One call of a function of QUADPACK, which calls compiled code.
struct Integral {
  std::array<double, kMost> block;  // what that finds: whether it failed, numbers
  PyObject* function;
  Turns turns;
  PyObject* raised[3] = {nullptr, nullptr, nullptr};  // by a handler of a signal
};

// A function of the program's in compiled form, for arguments of certain types.
struct Native {
  PyObject_HEAD void* address;
  std::string kinds, more;  // of its arguments; of the numbers that it reads elsewhere
  PyObject* places;         // of these: a name of a global, (k,) of a cell, -k of a default
  PyObject* guards;         // as callback_reads.py notes them
  PyObject *globals, *capsule;
  int64_t failures, count;  // of results
  Integral* integral;       // the one that calls it now
  char result;              // their kind; '[' for several
};
Native& as_native(PyObject* o) { return *reinterpret_cast<Native*>(o); }

// A function of the program's that SciPy is to call.
struct Callback {
  PyObject_HEAD PyObject *original, *function;  // what SciPy was given; the program's own
  PyObject *state, *extra;                      // of callbacks.py; more arguments
  PyObject *natives, *counter;                  // a list of Native; an attribute, or None
  long long left, looked;                       // left: until Python is asked
  char zeros, watched;  // whether NaN is an error, as in functions that look for zeros
  Turns turns;
};
Callback& as_callback(PyObject* o) { return *reinterpret_cast<Callback*>(o); }

PyTypeObject *native_type = nullptr, *callback_type = nullptr;
PyObject* asked = nullptr;  // callbacks.asked

// The kind of a number and the number itself; 0 for what is none, or not exactly a double.
char number_of(PyObject* o, double& x) {
  if (PyFloat_CheckExact(o)) {
    x = PyFloat_AsDouble(o);
    return 'f';
  }
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    const long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
    x = static_cast<double>(i);
    return overflow || std::fabs(x) > kExact ? 0 : 'i';
  }
  if (Py_TYPE(o) == usual_of_numpy[0]) {
    x = *reinterpret_cast<double*>(reinterpret_cast<char*>(o) + kScalarValue);
    return 'F';
  }
  return 0;
}

// What a cell of a function holds: a new reference, or null.
// The code that a function runs, which reading its `__code__` would change: a new reference.
PyObject* code_that_runs(PyObject* function) {
  static auto* const of_loops = reinterpret_cast<PyObject* (*)(PyObject*)>(
      PyCapsule_Import("numbus._loops._running_code", 0));
  return of_loops ? of_loops(function) : nullptr;
}

PyObject* cell_of(PyObject* function, PyObject* number) {
  PyObject* cells = PyObject_GetAttrString(function, "__closure__");
  PyObject* cell = cells ? PyObject_GetItem(cells, number) : nullptr;
  PyObject* value = cell ? PyObject_GetAttrString(cell, "cell_contents") : nullptr;
  Py_XDECREF(cell);
  Py_XDECREF(cells);
  return value;
}

// Whether a function that is called has the code and the defaults that it had.
bool is_as_before(PyObject* guard) {
  static PyObject* const name = PyUnicode_InternFromString("__defaults__");
  PyObject* function = PyTuple_GetItem(guard, 0);
  PyObject* code = code_that_runs(function);
  PyObject* defaults = PyObject_GetAttr(function, name);
  const bool same = code == PyTuple_GetItem(guard, 1) && defaults == PyTuple_GetItem(guard, 2);
  Py_XDECREF(code);
  Py_XDECREF(defaults);
  PyErr_Clear();
  return same;
}

bool holds(PyObject* guards, PyObject* function) {
  for (Py_ssize_t k = 0, n = PyTuple_Size(guards); k < n; ++k) {
    PyObject *g = PyTuple_GetItem(guards, k), *first = PyTuple_GetItem(g, 0), *now, *wanted;
    if (PyLong_Check(first)) {
      now = cell_of(function, first);
      Py_XDECREF(now);  // the cell holds it
      wanted = PyTuple_GetItem(g, 1);
    } else if (PyTuple_Size(g) == 1) {
      now = code_that_runs(function);
      const int same = now ? PyObject_RichCompareBool(now, first, Py_EQ) : 0;
      Py_XDECREF(now);
      if (same != 1) return PyErr_Clear(), false;
      continue;
    } else if (!PyDict_Check(first)) {
      if (!PyLong_Check(PyTuple_GetItem(g, 1))) {
        if (!is_as_before(g)) return false;
        continue;
      }
      now = cell_of(first, PyTuple_GetItem(g, 1));
      Py_XDECREF(now);
      wanted = PyTuple_GetItem(g, 2);
    } else {
      now = PyDict_GetItemWithError(first, PyTuple_GetItem(g, 1));
      wanted = PyTuple_Size(g) > 2 ? PyTuple_GetItem(g, 2) : nullptr;
    }
    PyErr_Clear();
    if (now != wanted) return false;
  }
  return true;
}

// The numbers that a function reads besides its arguments, as they are now.
bool read_more(const Native& n, PyObject* function, double* to) {
  for (size_t k = 0; k < n.more.size(); ++k) {
    PyObject* place = PyTuple_GetItem(n.places, static_cast<Py_ssize_t>(k));
    PyObject* value = nullptr;
    if (PyUnicode_Check(place)) {
      value = Py_XNewRef(PyDict_GetItemWithError(n.globals, place));
    } else if (PyTuple_Check(place)) {
      value = cell_of(function, PyTuple_GetItem(place, 0));
    } else {
      PyObject* defaults = PyObject_GetAttrString(function, "__defaults__");
      value = defaults ? PyObject_GetItem(defaults, place) : nullptr;
      Py_XDECREF(defaults);
    }
    const bool fits = value && number_of(value, to[k]) == n.more[k];
    Py_XDECREF(value);
    PyErr_Clear();
    if (!fits) return false;
  }
  return true;
}

bool has_globals(const Native& n, PyObject* function) {
  PyObject* globals = PyObject_GetAttrString(function, "__globals__");
  const bool same = globals == n.globals;
  Py_XDECREF(globals);
  PyErr_Clear();
  return same;
}

// Calls compiled code with these arguments: whether it has a result, which may be null.
bool carried_out(Native& n, const Callback& c, PyObject* args, PyObject*& result) {
  const Py_ssize_t own = PyTuple_Size(args), extra = c.extra ? PyTuple_Size(c.extra) : 0;
  if (n.failures > kMostFailures || own + extra != static_cast<Py_ssize_t>(n.kinds.size()))
    return false;
  std::array<double, kMost> numbers, out;
  size_t at = 0;
  double* elements = nullptr;
  int64_t length = 0;
  for (Py_ssize_t k = 0; k < own + extra; ++k) {
    PyObject* a = k < own ? PyTuple_GetItem(args, k) : PyTuple_GetItem(c.extra, k - own);
    if (n.kinds[static_cast<size_t>(k)] == 'A') {
      if (!is_plain_numpy(a)) return false;
      const auto m = numpy_memory(a);
      if (!m || m->dtype != DType::F64 || m->shape.size() != 1 || !m->rows) return false;
      elements = reinterpret_cast<double*>(m->data);
      length = m->shape[0];
    } else if (number_of(a, numbers[at++]) != n.kinds[static_cast<size_t>(k)]) {
      return false;
    }
  }
  if (!holds(n.guards, c.function) || !read_more(n, c.function, &numbers[at])) return false;
  using Code = int64_t (*)(double*, double*, int64_t, double*);
  if (!reinterpret_cast<Code>(n.address)(numbers.data(), elements, length, out.data())) {
    ++n.failures;
    return false;
  }
  if (n.result == '[') {
    static PyObject* const empty =
        nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
    PyObject* count = PyLong_FromLongLong(n.count);
    result = count ? PyObject_CallFunctionObjArgs(empty, count, nullptr) : nullptr;
    Py_XDECREF(count);
    const auto m = result ? numpy_memory(result) : std::nullopt;
    if (m) std::copy_n(out.data(), n.count, reinterpret_cast<double*>(m->data));
    return true;
  }
  if (c.zeros && std::isnan(out[0])) return false;
  switch (n.result) {
    case 'i': result = PyLong_FromLongLong(static_cast<int64_t>(out[0])); break;
    case 'b': result = PyBool_FromLong(out[0] != 0); break;
    case 'f': result = PyFloat_FromDouble(out[0]); break;
    default:
      result = PyType_GenericAlloc(usual_of_numpy[0], 0);
      if (result)
        *reinterpret_cast<double*>(reinterpret_cast<char*>(result) + kScalarValue) = out[0];
  }
  return true;
}

// An exception without our frames; those of code that only looks are dropped, but for Ctrl-C.
bool interrupted() {
  if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
    PyErr_Clear();
    return false;
  }
  PyErr_Clear();
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  return true;
}

// A call that compiled code has carried out, which SciPy's function would have counted.
PyObject* counted(const Callback& c, PyObject* result) {
  if (!result || c.counter == Py_None) return result;
  PyObject* before = PyObject_GetAttr(c.original, c.counter);
  PyObject* one = PyLong_FromLong(1);
  PyObject* now = before && one ? PyNumber_Add(before, one) : nullptr;
  if (!now || PyObject_SetAttr(c.original, c.counter, now) != 0) Py_CLEAR(result);
  Py_XDECREF(before);
  Py_XDECREF(one);
  Py_XDECREF(now);
  return result;
}

PyObject* call_callback(PyObject* self, PyObject* args, PyObject* words) {
  Callback& c = as_callback(self);
  // SciPy calls on after a result that is no number.
  if (PyErr_Occurred()) return PyObject_Call(c.original, args, words);
  if (--c.looked < 0) {
    c.looked = kLook;
    const int watched = is_watched();
    if (watched < 0) return nullptr;
    c.watched = static_cast<char>(watched);
  }
  if (c.watched || (words && PyDict_Size(words))) return PyObject_Call(c.original, args, words);
  if (c.turns.next() < 0) return nullptr;
  PyObject* result = nullptr;
  for (Py_ssize_t k = 0; k < PyList_Size(c.natives); ++k) {
    if (!carried_out(as_native(PyList_GetItem(c.natives, k)), c, args, result)) continue;
    return counted(c, result);
  }
  if (--c.left < 0) {
    c.left = INT64_MAX;
    PyObject* done = PyObject_CallFunctionObjArgs(asked, self, args, nullptr);
    if (!done && interrupted()) return nullptr;
    Py_XDECREF(done);
  }
  return PyObject_Call(c.original, args, words);
}

PyObject* new_callback(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *original, *function, *state, *extra, *natives, *counter;
  int zeros;
  if (!PyArg_ParseTuple(args, "OOOOOOp", &original, &function, &state, &extra, &natives, &counter,
                        &zeros))
    return nullptr;
  PyObject* o = PyType_GenericAlloc(type, 0);
  if (!o) return nullptr;
  Callback& c = as_callback(o);
  c.original = Py_NewRef(original);
  c.function = Py_NewRef(function);
  c.state = Py_NewRef(state);
  c.extra = PyTuple_Check(extra) ? Py_NewRef(extra) : nullptr;
  c.natives = Py_NewRef(natives);
  c.counter = Py_NewRef(counter);
  c.zeros = static_cast<char>(zeros);
  new (&c.turns) Turns;
  return o;
}

int traverse_callback(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  const Callback& c = as_callback(o);
  for (PyObject* held : {c.original, c.function, c.state, c.extra, c.natives, c.counter})
    Py_VISIT(held);
  return 0;
}

int clear_callback(PyObject* o) {
  Callback& c = as_callback(o);
  Py_CLEAR(c.original);
  Py_CLEAR(c.function);
  Py_CLEAR(c.state);
  Py_CLEAR(c.extra);
  Py_CLEAR(c.natives);
  Py_CLEAR(c.counter);
  return 0;
}

void destroy_callback(PyObject* o) {
  PyObject_GC_UnTrack(o);
  clear_callback(o);
  PyTypeObject* type = Py_TYPE(o);
  PyObject_GC_Del(o);
  Py_DECREF(type);
}

// What is sent to another process is the program's function.
PyObject* reduce(PyObject* o, PyObject*) {
  nb::object itself = nb::module_::import_("numbus.loops.callbacks").attr("itself");
  return nb::make_tuple(itself, nb::make_tuple(nb::handle(as_callback(o).original)))
      .release()
      .ptr();
}

// What QUADPACK calls: compiled code, and other threads in between.
double integrand(int n, double* x, void* held) {
  Native& native = *static_cast<Native*>(held);
  Integral* own = native.integral;
  auto& block = own->block;
  if (block[0] != 0) return 0.0;  // it will be computed again
  const int turn = own->turns.next();
  if (turn < 0) PyErr_Fetch(&own->raised[0], &own->raised[1], &own->raised[2]);
  if (turn != 0) {
    native.integral = own;  // others may have called it
    // The others may have changed what the function reads.
    if (turn < 0 || is_watched() != 0 || !holds(native.guards, own->function) ||
        !read_more(native, own->function, block.data() + 1)) {
      PyErr_Clear();
      block[0] = 1;
      return 0.0;
    }
  }
  using Code = double (*)(int, double*, double*);
  return reinterpret_cast<Code>(native.address)(n, x, block.data());
}

// Native(address, kinds, more, places, guards, globals, result, count), which lives for ever.
PyObject* new_native(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *address, *places, *guards, *globals;
  const char *kinds, *more, *result;
  long long count;
  if (!PyArg_ParseTuple(args, "OssOOOsL", &address, &kinds, &more, &places, &guards, &globals,
                        &result, &count))
    return nullptr;
  void* code = PyLong_AsVoidPtr(address);
  const size_t numbers = std::string_view(kinds).size() + std::string_view(more).size();
  if (!code || numbers + 1 > kMost || count > static_cast<long long>(kMost)) {
    PyErr_SetString(PyExc_ValueError, "[loops] too many numbers for a callback");
    return nullptr;
  }
  PyObject* o = PyType_GenericAlloc(type, 0);
  if (!o) return nullptr;
  Native& n = as_native(o);
  n.address = code;
  new (&n.kinds) std::string(kinds);
  new (&n.more) std::string(more);
  n.places = Py_NewRef(places);
  n.guards = Py_NewRef(guards);
  n.globals = Py_NewRef(globals);
  n.result = result[0];
  n.count = count;
  n.capsule =
      PyCapsule_New(reinterpret_cast<void*>(integrand), "double (int, double *, void *)", nullptr);
  if (n.capsule) PyCapsule_SetContext(n.capsule, &n);
  return Py_NewRef(o);  // SciPy may keep its address
}

// fits(function): whether everything that it reads is as it was when it was compiled.
PyObject* fits(PyObject* o, PyObject* function) {
  Native& n = as_native(o);
  std::array<double, kMost> numbers;
  const bool fit = has_globals(n, function) && holds(n.guards, function) &&
                   read_more(n, function, numbers.data());
  return PyBool_FromLong(fit);
}

// A function of SciPy's, in C or not, whose arguments are looked at first.
struct Hook {
  PyObject_HEAD PyObject *original, *look;
};
Hook& as_hook(PyObject* o) { return *reinterpret_cast<Hook*>(o); }

PyObject* timed(const Hook& h, PyObject* args, PyObject* words, PyObject* state) {
  const double start = seconds_now();
  PyObject* result = PyObject_Call(h.original, args, words);
  if (!result) return nullptr;
  PyObject* done = PyObject_CallMethod(state, "took", "d", seconds_now() - start);
  Py_XDECREF(done);
  if (!done && interrupted()) Py_CLEAR(result);
  return result;
}

// Of `look`: None; (arguments,); (arguments, Native) whose block is to be filled; or the state.
PyObject* call_hook(PyObject* self, PyObject* args, PyObject* words) {
  const Hook& h = as_hook(self);
  const int watched = is_watched();
  if (watched < 0) return nullptr;
  if (watched) return PyObject_Call(h.original, args, words);
  PyObject* found = PyObject_Call(h.look, args, words);
  if (!found) return interrupted() ? nullptr : PyObject_Call(h.original, args, words);
  PyObject* result = nullptr;
  if (found == Py_None) {
    result = PyObject_Call(h.original, args, words);
  } else if (!PyTuple_Check(found)) {
    result = timed(h, args, words, found);
  } else if (PyTuple_Size(found) == 1) {
    result = PyObject_Call(h.original, PyTuple_GetItem(found, 0), words);
  } else {
    Native& n = as_native(PyTuple_GetItem(found, 1));
    Integral own;
    own.block[0] = 0;
    own.function = PyTuple_GetItem(args, 0);
    if (read_more(n, own.function, own.block.data() + 1)) {
      Integral* before = std::exchange(n.integral, &own);
      result = PyObject_Call(h.original, PyTuple_GetItem(found, 0), words);
      n.integral = before;
      if (own.raised[0]) {
        Py_CLEAR(result);
        PyErr_Restore(own.raised[0], own.raised[1], own.raised[2]);
      } else if (own.block[0] != 0) {  // it has no effects, and is done again
        ++n.failures;
        Py_CLEAR(result);
        PyErr_Clear();
        result = PyObject_Call(h.original, args, words);
      }
    } else {
      result = PyObject_Call(h.original, args, words);
    }
  }
  Py_DECREF(found);
  return result;
}

PyObject* new_hook(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject *original, *look;
  if (!PyArg_ParseTuple(args, "OO", &original, &look)) return nullptr;
  PyObject* o = PyType_GenericAlloc(type, 0);
  if (!o) return nullptr;
  as_hook(o).original = Py_NewRef(original);
  as_hook(o).look = Py_NewRef(look);
  return o;
}

PyMemberDef native_members[] = {
    {"capsule", T_OBJECT_EX, offsetof(Native, capsule), READONLY, nullptr},
    {"failures", T_LONGLONG, offsetof(Native, failures), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef native_methods[] = {
    {"fits", fits, METH_O, "Whether what it reads is as it was when it was compiled."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot native_slots[] = {
    {Py_tp_doc, const_cast<char*>("A function of the program's in compiled form.")},
    {Py_tp_new, reinterpret_cast<void*>(new_native)},
    {Py_tp_members, native_members},
    {Py_tp_methods, native_methods},
    {0, nullptr}};
PyType_Spec native_spec = {"numbus._core.Native", sizeof(Native), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, native_slots};

PyMemberDef callback_members[] = {
    {"left", T_LONGLONG, offsetof(Callback, left), 0, nullptr},
    {"state", T_OBJECT_EX, offsetof(Callback, state), READONLY, nullptr},
    {"function", T_OBJECT_EX, offsetof(Callback, function), READONLY, nullptr},
    {"extra", T_OBJECT, offsetof(Callback, extra), READONLY, nullptr},
    {"__wrapped__", T_OBJECT_EX, offsetof(Callback, original), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyMethodDef callback_methods[] = {{"__reduce__", reduce, METH_NOARGS, "The function itself."},
                                  {nullptr, nullptr, 0, nullptr}};
PyType_Slot callback_slots[] = {{Py_tp_doc, const_cast<char*>("A function that SciPy calls back.")},
                                {Py_tp_new, reinterpret_cast<void*>(new_callback)},
                                {Py_tp_call, reinterpret_cast<void*>(call_callback)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse_callback)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_callback)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy_callback)},
                                {Py_tp_members, callback_members},
                                {Py_tp_methods, callback_methods},
                                {0, nullptr}};
PyType_Spec callback_spec = {"numbus._core.Callback", sizeof(Callback), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                             callback_slots};

PyType_Slot hook_slots[] = {{Py_tp_doc, const_cast<char*>("A function whose arguments are looked "
                                                          "at first.")},
                            {Py_tp_new, reinterpret_cast<void*>(new_hook)},
                            {Py_tp_call, reinterpret_cast<void*>(call_hook)},
                            {0, nullptr}};
PyType_Spec hook_spec = {"numbus._core.Hook", sizeof(Hook), 0, Py_TPFLAGS_DEFAULT, hook_slots};

PyTypeObject* made(PyType_Spec& spec) {
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

void bind_callbacks(nb::module_& m) {
  native_type = made(native_spec);
  callback_type = made(callback_spec);
  m.attr("Native") = nb::borrow(reinterpret_cast<PyObject*>(native_type));
  m.attr("Callback") = nb::borrow(reinterpret_cast<PyObject*>(callback_type));
  m.attr("Hook") = nb::steal(reinterpret_cast<PyObject*>(made(hook_spec)));
  m.def(
      "compile_callbacks",
      [](nb::object look) {
        nb::object before = nb::steal(asked);
        asked = look.release().ptr();
      },
      "asked(callback, arguments): called when a callback was called so often as it said.");
  m.def("processor_seconds", seconds_now, "Of this thread's processor.");
}

}  // namespace numbus::bindings
