// Functions of tensors: their calls on arrays, recorded or not.
#include <array>
#include <optional>
#include <span>

#include "array/placement.h"
#include "numpy_objects.h"
#include "quick.h"
#include "recipes.h"
#include "structmember.h"
#include "tensors.h"

namespace numbus::bindings {

namespace {

// The arrays of a result as tensors.
nb::object wrapped_all(PyObject* o, bool recorded) {
  if (is_array(o) || is_generic(o)) return nb::steal(wrap_tensor(o, recorded));
  if (o == Py_None || PyBool_Check(o) || PyLong_CheckExact(o) || PyFloat_CheckExact(o) ||
      PyUnicode_CheckExact(o) || PyComplex_CheckExact(o))
    return nb::borrow(o);
  if (PyTuple_Check(o)) {
    const Py_ssize_t n = PyTuple_Size(o);
    nb::object made = nb::steal(PyTuple_New(n));
    for (Py_ssize_t k = 0; k < n; ++k)
      PyTuple_SetItem(made.ptr(), k, wrapped_all(PyTuple_GetItem(o, k), recorded).release().ptr());
    if (PyTuple_CheckExact(o)) return made;
    return nb::steal(PyObject_CallObject(reinterpret_cast<PyObject*>(Py_TYPE(o)), made.ptr()));
  }
  if (PyList_CheckExact(o)) {
    nb::list made;
    for (Py_ssize_t k = 0; k < PyList_Size(o); ++k)
      made.append(wrapped_all(PyList_GetItem(o, k), recorded));
    return made;
  }
  if (is_numpys(o)) return nb::steal(wrap_tensor(o, recorded));
  return nb::borrow(o);
}

// Gives masked values among results their own elements while the tape sees it.
void settle(PyObject* made) {
  if (is_array(made)) {
    as_array(made);
  } else if (PyTuple_Check(made)) {
    for (Py_ssize_t n = 0; n < PyTuple_Size(made); ++n) settle(PyTuple_GetItem(made, n));
  } else if (PyList_Check(made)) {
    for (Py_ssize_t n = 0; n < PyList_Size(made); ++n) settle(PyList_GetItem(made, n));
  }
}

// The arrays in place of the tensors among arguments.
struct Plain {
  bool any = false, needs = false;
  // Constants in memory that the tape knows: met, and whether they are given as copies.
  bool constants = false, copies = false;

  nb::object of(PyObject* o) {
    if (is_tensor(o)) {
      TensorObject& t = as_tensor(o);
      any = true;
      note_use(o);
      see_through(t);
      if (recording) expect_known(t);
      if (requires_gradient(t)) {
        needs = true;
      } else if (recording && t.constant && t.storage->active()) {
        constants = true;
        if (!copies) return nb::borrow(t.array);
        // Its elements as they are: what is recorded is known by its memory.
        const Unobserved alone;
        const Array& a = as_array(t.array);
        return nb::steal(wrap(copy(a, a.dtype)));
      }
      return nb::borrow(t.array);
    }
    if (PyTuple_CheckExact(o)) return sequence<PyTuple_Size, PyTuple_GetItem>(o, true);
    if (PyList_CheckExact(o)) return sequence<PyList_Size, PyList_GetItem>(o, false);
    if (PyDict_CheckExact(o)) {
      nb::dict made;
      bool changed = false;
      for (auto [key, value] : nb::borrow<nb::dict>(o)) {
        nb::object x = of(value.ptr());
        changed = changed || x.ptr() != value.ptr();
        made[key] = x;
      }
      return changed ? nb::object(made) : nb::borrow(o);
    }
    if (PySlice_Check(o)) {
      nb::handle s(o);
      nb::object start = of(nb::object(s.attr("start")).ptr()),
                 stop = of(nb::object(s.attr("stop")).ptr()),
                 step = of(nb::object(s.attr("step")).ptr());
      return nb::steal(PySlice_New(start.ptr(), stop.ptr(), step.ptr()));
    }
    return nb::borrow(o);
  }

  // All of them; constants as copies where the call is recorded, else as they are, so that views
  // of them share their memory.
  std::vector<nb::object> given(PyObject* const* args, Py_ssize_t count, bool recorded) {
    std::vector<nb::object> all(static_cast<size_t>(count));
    for (Py_ssize_t k = 0; k < count; ++k) all[static_cast<size_t>(k)] = of(args[k]);
    if (!constants || !(needs || recorded || program::sees(program::Tape::get()))) return all;
    copies = true;
    for (Py_ssize_t k = 0; k < count; ++k) all[static_cast<size_t>(k)] = of(args[k]);
    return all;
  }

 private:
  template <auto size, auto item>
  nb::object sequence(PyObject* o, bool tuple) {
    nb::list made;
    bool changed = false;
    for (Py_ssize_t k = 0; k < size(o); ++k) {
      nb::object x = of(item(o, k));
      changed = changed || x.ptr() != item(o, k);
      made.append(x);
    }
    if (!changed) return nb::borrow(o);
    return tuple ? nb::object(nb::tuple(made)) : nb::object(made);
  }
};

// What plain calls are answered by: NumPy's function of ours, where its rule of dtypes is
// PyTorch's.
enum class Direct : int { None, Floats, Numbers };

struct FunctionObject {
  PyObject_HEAD;
  vectorcallfunc call;
  PyObject* body;    // of arrays
  PyObject* direct;  // or null
  int direct_for;    // Direct
  bool in_place;     // the body writes to its first argument, which is the result
  Quick quick;       // answers plain calls of arrays at rest in place of the body; or null
  Recipes* recipes;  // of a pure body: what its calls record; or null
  PyObject* attributes;
  PyObject* weak;
};

FunctionObject& as_function(PyObject* o) { return *reinterpret_cast<FunctionObject*>(o); }

bool answers(Direct what, PyObject* const* args, Py_ssize_t n) {
  if (n < 1 || n > 2) return false;
  const DType* type = nullptr;
  for (Py_ssize_t k = 0; k < n; ++k)
    if (is_array(args[k])) {
      const DType& t = as_masked(args[k]).full.dtype;
      if (type && *type != t) return false;
      type = &t;
    }
  if (!type || *type == DType::Bool || (what == Direct::Floats && !is_float(*type))) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    if (is_array(args[k])) continue;
    if (PyFloat_CheckExact(args[k]) ? !is_float(*type)
                                    : !PyLong_CheckExact(args[k]) || is_complex(*type))
      return false;
  }
  return true;
}

nb::object called(const FunctionObject& f, const Arguments& args, size_t nargs, PyObject* names) {
  std::array<PyObject*, 16> few;
  std::vector<PyObject*> many;
  PyObject** given = few.data();
  if (args.size() > few.size()) {
    many.resize(args.size());
    given = many.data();
  }
  for (size_t k = 0; k < args.size(); ++k) given[k] = args[k].ptr();
  const auto n = static_cast<Py_ssize_t>(PyVectorcall_NARGS(nargs));
  if (f.quick) {
    if (PyObject* made = f.quick({given, n, names})) return nb::steal(made);
    if (PyErr_Occurred()) throw nb::python_error();
  }
  PyObject* target = f.body;
  if (f.direct && !names && answers(static_cast<Direct>(f.direct_for), given, n)) target = f.direct;
  return nb::steal(PyObject_Vectorcall(target, given, static_cast<size_t>(n), names));
}

// The body's answer, which may be known by what it recorded for operands like these.
nb::object answered(const FunctionObject& f, const Arguments& args, size_t nargs, PyObject* names) {
  if (f.recipes) {
    std::array<PyObject*, 16> given;
    CallKey key;
    const auto n = static_cast<Py_ssize_t>(PyVectorcall_NARGS(nargs));
    if (args.size() <= given.size()) {
      for (size_t k = 0; k < args.size(); ++k) given[k] = args[k].ptr();
      if (key.read(given.data(), n, names))
        return f.recipes->answer(key, [&] { return called(f, args, nargs, names); });
    }
  }
  return called(f, args, nargs, names);
}

// While it lives, tensors are known to be made by the function.
class Making {
 public:
  explicit Making(const FunctionObject& f)
      : before_(std::exchange(making, f.attributes ? name_in(f.attributes) : nullptr)) {}
  ~Making() { making = before_; }
  Making(const Making&) = delete;

 private:
  static PyObject* name_in(PyObject* attributes) {
    static PyObject* const name = PyUnicode_InternFromString("__name__");
    return PyDict_GetItemWithError(attributes, name);
  }

  PyObject* before_;
};

// Arguments of one number that lie on the host, from `first` on, go to the device of the others, as
// in PyTorch.
void bring_numbers(Arguments& args, size_t first) {
  Device* to = nullptr;
  bool any = false;
  auto is_number = [](const Array& a) {
    return a.ndim() == 0 && a.base->device->host_readable() && (!placement::on || a.base->pinned);
  };
  auto array = [](const nb::object& o) -> const Array* {
    return is_array(o.ptr()) && !as_masked(o.ptr()).mask ? &as_masked(o.ptr()).full : nullptr;
  };
  for (const nb::object& o : args) {
    const Array* const a = array(o);
    any = any || (a && is_number(*a));
    if (a && a->ndim() > 0 && !to) to = a->base->device;
  }
  if (!any || !to || to->host_readable()) return;
  for (size_t k = first; k < args.size(); ++k)
    if (const Array* const a = array(args[k]); a && is_number(*a))
      args[k] = nb::steal(wrap(to_device(*a, *to)));
}

// Records what the function does; tensors hold what it made when nothing else may be let go.
nb::object recorded(const FunctionObject& f, Arguments args, size_t nargs, PyObject* names,
                    bool wraps) {
  program::Tape& tape = program::Tape::get();
  const int64_t since = tape.now();
  nb::object made;
  {
    const Seen seen;
    bring_numbers(args, wraps ? 0 : 1);  // the first one may be written to
    made = wraps ? answered(f, args, nargs, names) : called(f, args, nargs, names);
    if (made.is_valid() && wraps) settle(made.ptr());
    if (made.is_valid() && wraps && has_empty(made.ptr(), args)) made = with_empty(made, args);
  }
  if (made.is_valid() && wraps) {
    const Making name(f);
    made = wrapped_all(made.ptr(), true);
  }
  if (made.is_valid()) {
    tape.settle(since);
  } else {
    const nb::error_scope scope;
    tape.settle(since);
  }
  return made;
}

// Whether a tensor lies in the memory of one whose derivative is asked for, which nothing recorded
// has written to since.
bool is_view_of_leaf(const TensorObject& t) {
  if (t.leaf || !requires_gradient(t) || program::Tape::get().writer(as_array(t.array)) >= 0)
    return false;
  for (const TensorObject* other = t.storage->first; other; other = other->next)
    if (other->leaf) return true;
  const nb::object of = nb::module_::import_("numbus.tensors._tensor").attr("leaves_of");
  return nb::len(of(t.storage->base())) > 0;
}

bool is_alone(const TensorObject& t) {
  return t.storage->first == &t && !t.next && !as_array(t.array).base->shared;
}

// Whether another constant may be a view of it, or it of that one: all but the memory's own tensor
// where it shows the same elements, as `x` does for `x.data`.
bool may_have_views(const TensorObject& t) {
  const Array& own = as_array(t.array);
  for (const TensorObject* other = t.storage->first; other; other = other->next) {
    if (other == &t || !other->constant) continue;
    const Array& a = as_array(other->array);
    if (!a.owns || a.offset != own.offset || a.layout.get() != own.layout.get()) return true;
  }
  return false;
}

// Has a constant that the tape knows the memory of leave it, so that it may depend on something.
void take_own_memory(PyObject* o) {
  TensorObject& t = as_tensor(o);
  const nb::module_ tensors = nb::module_::import_("numbus.tensors._tensor");
  nb::borrow(o).attr("_array") = tensors.attr("constant_copy")(nb::handle(t.array));
  t.constant = false;
}

PyObject* change(const FunctionObject& f, PyObject* const* args, size_t nargs, PyObject* names) {
  if (PyVectorcall_NARGS(nargs) < 1 || !is_tensor(args[0]))
    return PyObject_Vectorcall(f.body, args, nargs, names);
  TensorObject& target = as_tensor(args[0]);
  note_use(args[0]);
  bool alias = target.constant && target.storage->active();
  if (recording && !alias && (target.leaf || is_view_of_leaf(target)))
    raise(ErrorKind::Runtime, "in-place operation",
          target.leaf ? "a leaf that requires a gradient is changed in place"
                      : "a view of a leaf that requires a gradient is changed in place",
          "shape " + shape_string(*as_array(target.array).layout),
          "`with no_grad():`, or an operation that makes another tensor");
  const Py_ssize_t total = PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0);
  Plain plain;
  Arguments given = plain.given(args + 1, total - 1, !alias && requires_gradient(target));
  bool loses = false;
  if (target.constant && recording && plain.needs) {
    if (!is_alone(target)) {
      // A tensor of which it is a view depends on what is written, too.
      if (may_have_views(target)) raise_lost(target);
      // Others in its memory are to see what is written and not to depend on it, as those of
      // `x.data += y`. So nothing is recorded, and the tensor itself is of no more use.
      alias = loses = true;
    } else if (alias) {
      take_own_memory(args[0]);
      alias = false;
    }
  }
  see_through(target);
  given.insert(given.begin(), nb::borrow(target.array));
  nb::object made;
  if (target.constant && !alias) target.constant = false;  // nothing in its memory is known
  if (!recording || !(plain.needs || requires_gradient(target))) bring_numbers(given, 1);
  if (!alias && recording && (plain.needs || requires_gradient(target))) {
    made = recorded(f, std::move(given), nargs, names, false);
  } else if (program::Tape::get().keeps() || target.storage->active()) {
    const Quiet quiet;
    made = called(f, given, nargs, names);
  } else {
    made = called(f, given, nargs, names);
  }
  if (!made.is_valid()) return nullptr;
  if (loses) target.lost = true;
  return Py_NewRef(args[0]);
}

// Where new arrays of a body belong: the device of the first tensor; null: of none.
Device* device_of_tensors(PyObject* const* args, Py_ssize_t count) {
  for (Py_ssize_t k = 0; k < count; ++k) {
    if (is_tensor(args[k])) return as_array(as_tensor(args[k]).array).base->device;
    if (is_array(args[k])) return as_array(args[k]).base->device;
    if (!PyTuple_CheckExact(args[k]) && !PyList_CheckExact(args[k])) continue;
    nb::object first = nb::steal(PySequence_GetItem(args[k], 0));
    if (!first.is_valid())
      PyErr_Clear();
    else if (is_tensor(first.ptr()))
      return as_array(as_tensor(first.ptr()).array).base->device;
  }
  return nullptr;
}

// What a thread asks before calls of functions, if it casts their operands: null,
// or a Python function of the function, its arguments and its keywords that answers the call or
// gives None.
thread_local PyObject* caster = nullptr;

// Who does calls with `out=`.
PyObject* storing = nullptr;
PyObject* retyped = nullptr;

}  // namespace

bool watches_calls() { return caster != nullptr; }

// It becomes what `retyped` gives for it.
void retype_error() {
  if (!retyped ||
      !(PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_IndexError)))
    return;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace) PyException_SetTraceback(value, trace);
  PyObject* const other = PyObject_CallFunctionObjArgs(retyped, value, nullptr);
  if (other && other != Py_None) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(other)), other);
    Py_DECREF(type);
    Py_DECREF(value);
    Py_XDECREF(trace);
  } else if (other) {
    PyErr_Restore(type, value, trace);
  }
  Py_XDECREF(other);
}

namespace {

nb::object asked_caster(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  const Py_ssize_t n = PyVectorcall_NARGS(nargs), more = names ? PyTuple_Size(names) : 0;
  nb::list given;
  for (Py_ssize_t k = 0; k < n; ++k) given.append(nb::handle(args[k]));
  nb::dict keywords;
  for (Py_ssize_t k = 0; k < more; ++k)
    keywords[nb::handle(PyTuple_GetItem(names, k))] = nb::handle(args[n + k]);
  return nb::handle(caster)(nb::handle(self), nb::tuple(given), keywords);
}

// NumPy's keywords, which PyTorch takes, too, as PyTorch's: `axis` is `dim`, `keepdims` `keepdim`.
// Null where there are none.
nb::object torch_names(PyObject* names) {
  struct Pair {
    PyObject *numpys, *torchs;
  };
  static const std::array<Pair, 2> pairs = {
      Pair{PyUnicode_InternFromString("axis"), PyUnicode_InternFromString("dim")},
      Pair{PyUnicode_InternFromString("keepdims"), PyUnicode_InternFromString("keepdim")}};
  nb::object made;
  const Py_ssize_t n = PyTuple_Size(names);
  for (Py_ssize_t k = 0; k < n; ++k)
    for (const Pair& pair : pairs) {
      PyObject* name = PyTuple_GetItem(names, k);
      if (name != pair.numpys && PyUnicode_Compare(name, pair.numpys) != 0) continue;
      if (!made.is_valid()) {
        made = nb::steal(PyTuple_New(n));
        for (Py_ssize_t j = 0; j < n; ++j) {
          PyObject* same = PyTuple_GetItem(names, j);
          Py_INCREF(same);
          PyTuple_SetItem(made.ptr(), j, same);
        }
      }
      Py_INCREF(pair.torchs);
      PyTuple_SetItem(made.ptr(), k, pair.torchs);
    }
  return made;
}

// A call whose results go into `out=`, or null where that is not there.
nb::object stored(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  static PyObject* const word = PyUnicode_InternFromString("out");
  const Py_ssize_t n = PyVectorcall_NARGS(nargs), more = PyTuple_Size(names);
  nb::object out;
  nb::dict rest;
  for (Py_ssize_t k = 0; k < more; ++k) {
    PyObject* const name = PyTuple_GetItem(names, k);
    const bool found = name == word || PyUnicode_Compare(name, word) == 0;
    if (found && !storing) return {};
    if (found)
      out = nb::borrow(args[n + k]);
    else
      rest[nb::handle(name)] = nb::handle(args[n + k]);
  }
  if (!out.is_valid()) return {};
  nb::list given;
  for (Py_ssize_t k = 0; k < n; ++k) given.append(nb::handle(args[k]));
  return nb::handle(storing)(nb::handle(self), nb::tuple(given), rest, out);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  nb::object renamed;
  if (names) renamed = torch_names(names);
  if (renamed.is_valid()) names = renamed.ptr();
  PyObject* const made = guarded([&]() -> PyObject* {
    const FunctionObject& f = as_function(self);
    if (names && !f.in_place) {
      nb::object made = stored(self, args, nargs, names);
      if (made.is_valid()) return made.release().ptr();
    }
    if (caster && !f.in_place) {
      nb::object answer = asked_caster(self, args, nargs, names);
      if (!answer.is_none()) return answer.release().ptr();
    }
    const NoWarnings silent;
    const DeviceOfNew follow(
        device_of_tensors(args, PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0)));
    if (f.in_place) return change(f, args, nargs, names);
    const Py_ssize_t total = PyVectorcall_NARGS(nargs) + (names ? PyTuple_Size(names) : 0);
    Plain plain;
    Arguments given = plain.given(args, total, false);
    if (!plain.any) return called(f, given, nargs, names).release().ptr();
    if (plain.needs && recording)
      return recorded(f, std::move(given), nargs, names, true).release().ptr();
    bring_numbers(given, 0);
    const nb::object made = answered(f, given, nargs, names);
    return made.is_valid() ? wrapped_all(made.ptr(), false).release().ptr() : nullptr;
  });
  if (!made) retype_error();
  return made;
}

int traverse_function(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  FunctionObject& f = as_function(o);
  Py_VISIT(f.body);
  Py_VISIT(f.direct);
  Py_VISIT(f.attributes);
  return 0;
}

int clear_function(PyObject* o) {
  FunctionObject& f = as_function(o);
  Py_CLEAR(f.body);
  Py_CLEAR(f.direct);
  Py_CLEAR(f.attributes);
  return 0;
}

void destroy_function(PyObject* o) {
  PyObject_GC_UnTrack(o);
  if (as_function(o).weak) PyObject_ClearWeakRefs(o);
  delete as_function(o).recipes;
  destroy_collected<clear_function>(o);
}

// Copied and pickled as a function of Python is: by its name.
PyObject* reduced(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef function_methods[] = {{"__reduce__", reduced, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak), READONLY, nullptr},
    {"on_arrays", T_OBJECT, offsetof(FunctionObject, body), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef function_properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind_method)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse_function)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear_function)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(destroy_function)},
                                {Py_tp_members, function_members},
                                {Py_tp_getset, function_properties},
                                {Py_tp_methods, function_methods},
                                {0, nullptr}};
PyType_Spec function_spec = {"numbus._core.TensorFunction", sizeof(FunctionObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             function_slots};

PyTypeObject* function_type = nullptr;

nb::object tensor_function(nb::object body, bool in_place, nb::object direct, int direct_for,
                           bool pure) {
  nb::object o = nb::steal(PyType_GenericAlloc(function_type, 0));
  if (!o.is_valid()) throw nb::python_error();
  FunctionObject& f = as_function(o.ptr());
  f.call = call;
  f.body = body.release().ptr();
  f.direct = direct.is_none() ? nullptr : direct.release().ptr();
  f.direct_for = direct_for;
  f.in_place = in_place;
  f.recipes = pure ? new Recipes : nullptr;
  const nb::object quick = nb::getattr(nb::handle(f.body), "quick", nb::none());
  f.quick = quick.is_none() ? nullptr : quick_named(nb::cast<std::string>(quick));
  return o;
}

}  // namespace

void bind_tensor_functions(nb::module_& m) {
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&function_spec));
  if (!function_type) throw nb::python_error();
  m.def("tensor_function", &tensor_function, nb::arg("body"), nb::arg("in_place"),
        nb::arg("direct").none(), nb::arg("direct_for"), nb::arg("pure"));
  m.def(
      "set_caster",
      [](nb::handle given) {
        nb::object before = caster ? nb::steal(caster) : nb::none();
        caster = given.is_none() ? nullptr : given.inc_ref().ptr();
        return before;
      },
      nb::arg("function").none(),
      "Has this thread ask a function, or None, before calls of functions of tensors: it answers a "
      "call or gives None. Returns what was asked before.");
  m.def(
      "set_retyping", [](nb::handle given) { retyped = given.inc_ref().ptr(); },
      nb::arg("function"),
      "Gives other errors for those that functions of tensors raise, or None.");
  m.def(
      "set_storing", [](nb::handle given) { storing = given.inc_ref().ptr(); }, nb::arg("function"),
      "Has a function called for calls of functions of tensors that have `out=`: with the "
      "function, "
      "the arguments, the keywords without it, and what it was.");
}

}  // namespace numbus::bindings
