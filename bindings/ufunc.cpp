// One Python object per published row of the table.
#include <algorithm>
#include <cstddef>

#include <structmember.h>

#include "array/at_once.h"
#include "array/at_once_calls.h"
#include "base/error.h"
#include "convert.h"
#include "errstate.h"
#include "float_errors.h"
#include "numpy_objects.h"
#include "scalars.h"

namespace numbus::bindings {
namespace {

struct Ufunc {
  PyObject_HEAD;
  vectorcallfunc call;
  Op op;
  PyObject* attributes;
};
PyTypeObject* ufunc_type = nullptr;

Op op_of(PyObject* o) { return reinterpret_cast<Ufunc*>(o)->op; }

// Arrays as they are, for they have to be boolean; anything else as booleans.
Array to_mask(PyObject* o) {
  const std::vector<PyObject*>& plain = plain_array_types();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  if (is_array(o) || is_generic(o) || is_numpy_scalar(o) ||
      std::find(plain.begin(), plain.end(), type) != plain.end())
    return to_array(o);
  static PyObject* const asarray =
      nb::object(nb::module_::import_("numbus.core.given").attr("host_array")).release().ptr();
  return to_array(nb::object(nb::handle(asarray)(nb::handle(o), nb::str("?"))).ptr());
}

// A result whose memory is laid out as `order` asks; 'A' is 'F' where all operands are.
Array in_order(const Array& a, const Arg* operands, int n, char order) {
  if (order == 'A') {
    bool all = true;
    for (int k = 0; k < n; ++k)
      all = all && (!operands[k].is_array() || operands[k].array()->layout->f_contiguous());
    order = all ? 'F' : 'C';
  }
  return has_order(a, order) ? a : copy_in_order(a, a.dtype, order);
}

// What a call of a row was given, beside its operands.
struct Given {
  PyObject* out = nullptr;
  Options options;
  Array where;
  char order = 'K';
};

// Reads a keyword; false where it is one that only NumPy has.
bool read_keyword(const Row& r, const std::string& k, PyObject* value, Given& given) {
  if (k == "out") {
    if (given.out)
      raise(ErrorKind::Type, std::string(r.name), "out given twice", "a position and a keyword",
            "one of them");
    given.out = value;
  } else if (k == "where") {
    if (value == Py_True) return true;
    given.where = to_mask(value);
    given.options.where = &given.where;
  } else if (k == "dtype") {
    if (value == Py_None) return true;
    given.options.dtype = find_dtype(value);
    if (!given.options.dtype) return false;
  } else if (k == "casting") {
    given.options.casting = to_casting(value);
  } else if (k == "order") {
    given.order = to_order(value, r.name, 'K');
  } else if (k == "subok") {
    // Subclasses go to NumPy, keyword and all: here it is known to say nothing.
    if (!PyBool_Check(value))
      raise(ErrorKind::Type, std::string(r.name), "subok must be a boolean",
            nb::cast<std::string>(nb::repr(nb::handle(value))), "True or False");
  } else if (k == "signature" || k == "sig") {
    return false;
  } else {
    raise(ErrorKind::Type, std::string(r.name), "unexpected keyword argument", k,
          "out, where, dtype, casting, order or subok");
  }
  return true;
}

// The result, or null where an operand or a type is one that only NumPy has.
PyObject* compute(Op op, PyObject* const* operands, Given& given) {
  const Row& r = row(op);
  Operands ops;
  Arg in[3];
  Options& o = given.options;
  Array out;
  PyObject* target = given.out;
  if (target && PyTuple_Check(target) && PyTuple_Size(target) == 1)
    target = PyTuple_GetItem(target, 0);
  if (target == Py_None) target = nullptr;
  if (target) {
    if (!is_array(target)) {
      // A real NumPy array may be the target: write through its own memory.
      if (owner_of(target) != Owner::Numbus || !has_format(target) ||
          !default_device().host_readable())
        return nullptr;
      out = import_numpy(target, false, true);
    } else {
      out = as_array(target);
    }
    o.out = &out;
  }
  for (int k = 0; k < r.nin; ++k)
    if (owner_of(operands[k]) != Owner::Numbus || !ops.convert(operands[k], in[k])) return nullptr;
  mark_line();
  Masked result = apply(op, {in, r.nin}, o);
  if (target) {
    Py_INCREF(target);
    return target;
  }
  if (given.order != 'K' && result.ndim() > 1)
    result = in_order(result.full, in, r.nin, given.order);
  return wrap_result(std::move(result));
}

// A ufunc's name, positional arguments and keywords; None in place of no keywords, where they may
// be left out.
nb::tuple arguments_of(Op op, PyObject* const* args, Py_ssize_t n, PyObject* names, bool always) {
  const std::string_view name = row(op).name;
  return nb::make_tuple(nb::str(name.data(), name.size()), positional_of(args, n),
                        names || always ? nb::object(keywords_of(args, n, names)) : nb::none());
}

// NumPy's ufunc of that name, with the same arguments.
PyObject* by_numpy(Op op, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  return fall_back("ufunc", arguments_of(op, args, n, names, false));
}

bool is_float64(PyObject* o) {
  return PyFloat_CheckExact(o) || Py_TYPE(o) == usual_scalars[0] || Py_TYPE(o) == usual_of_numpy[0];
}

// Of float64 numbers; null: there are others.
PyObject* of_numbers(Op op, PyObject* const* args) {
  double x[3];
  const int n = row(op).nin;
  for (int k = 0; k < n; ++k) {
    if (!is_float64(args[k])) return nullptr;
    x[k] = PyFloat_AsDouble(args[k]);
  }
  if (!default_device().host_readable()) return nullptr;
  const std::optional<double> made = number_at_once(op, x);
  return made ? scalar_of(DType::F64, &*made) : nullptr;
}

// Of arrays and numbers of which nothing but the result is asked; null: the usual way has to look.
PyObject* of_arrays(Op op, PyObject* const* args) {
  Arg in[3];
  const size_t n = row(op).nin;
  for (size_t k = 0; k < n; ++k) {
    if (is_array(args[k]))
      in[k] = Arg(&as_masked(args[k]));
    else if (is_float64(args[k]))
      in[k] = Arg(Scalar::from_float(PyFloat_AsDouble(args[k])), DType::F64);
    else
      return nullptr;
    // A number of Python's yields to the type of arrays.
    in[k].weak = !is_array(args[k]) && PyFloat_CheckExact(args[k]);
  }
  mark_line();
  std::optional<Array> made = map_alike_at_once(op, {in, n});
  return made ? wrap(std::move(*made)) : nullptr;
}

// Operands as they were before an `out` among them was written to: NumPy is asked with them.
class Before {
 public:
  Before(Op op, PyObject* const* args, Py_ssize_t all, const Given& given) {
    if (!given.out || !float_errors::state.warned) return;
    for (int k = 0; k < row(op).nin; ++k) {
      if (!is_array(args[k]) || as_masked(args[k]).mask) continue;
      const Array& a = as_masked(args[k]).full;
      if (!writes(given.out, a) || a.size() > Runtime::get().at_once || !readable_now(a)) continue;
      if (all_.empty()) all_.assign(args, args + all);
      copies_[k] = nb::steal(wrap(copy(a, a.dtype)));
      all_[k] = copies_[k].ptr();
    }
  }
  PyObject* const* operands(PyObject* const* args) const {
    return all_.empty() ? args : all_.data();
  }

 private:
  static bool writes(PyObject* out, const Array& a) {
    if (PyTuple_Check(out) && PyTuple_Size(out) == 1) out = PyTuple_GetItem(out, 0);
    return is_array(out) && as_masked(out).full.base.get() == a.base.get();
  }
  std::vector<PyObject*> all_;
  nb::object copies_[3];
};

// The result of a call whose flags are set, after NumPy has looked.
[[gnu::cold, gnu::noinline]] PyObject* warn(Op op, PyObject* result, PyObject* const* args,
                                            Py_ssize_t n, PyObject* names) {
  return warned(result, "warn_ufunc", arguments_of(op, args, n, names, true));
}

PyObject* call_row(Op op, PyObject* const* args, Py_ssize_t n, PyObject* names) {
  follow_errstate();
  if (float_errors::state.checked) [[unlikely]] {
    PyObject* clean = check("by_ufunc", arguments_of(op, args, n, names, true));
    if (!clean) return nullptr;
    Py_DECREF(clean);
    const ToldAlready inner;
    return call_row(op, args, n, names);
  }
  const Row& r = row(op);
  if (n == r.nin && !names && is_float64(args[0])) {
    const Examined here(false, false);
    if (PyObject* result = of_numbers(op, args))
      return here.raised() ? warn(op, result, args, n, names) : result;
  }
  if (n == r.nin && !names) {
    const Examined here(true, false);
    if (PyObject* result = of_arrays(op, args))
      return here.raised_for(result) ? warn(op, result, args, n, names) : result;
  }
  const Py_ssize_t all = n + (names ? PyTuple_Size(names) : 0);
  Device* there = nullptr;
  for (Py_ssize_t k = 0; k < all && !there; ++k) there = device_of(args[k]);
  DeviceOfNew follow(there);
  try {
    Given given;
    bool known = true;
    if (n != r.nin && n != r.nin + 1) {
      raise(ErrorKind::Type, std::string(r.name), "wrong number of positional arguments",
            std::to_string(n), std::to_string(r.nin) + " (and an optional out)");
    }
    if (n == r.nin + 1) given.out = args[r.nin];
    for (Py_ssize_t k = n; k < all && known; ++k)
      known = read_keyword(r, nb::cast<std::string>(nb::handle(PyTuple_GetItem(names, k - n))),
                           args[k], given);
    const Before before(op, args, all, given);
    const Examined here(true, false);
    if (PyObject* result = known ? compute(op, args, given) : nullptr) {
      if (here.raised_for(result)) return warn(op, result, before.operands(args), n, names);
      // None says that this is meant.
      if (given.options.where && !given.out && !called_from_package()) [[unlikely]]
        return warned(result, "warn_where", nb::make_tuple());
      return result;
    }
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::NotImplemented) throw;
  }
  return by_numpy(op, args, n, names);
}

PyObject* call(PyObject* self, PyObject* const* args, size_t nargs, PyObject* names) {
  return guarded([&] {
    return call_row(op_of(self), args, PyVectorcall_NARGS(nargs),
                    names && PyTuple_Size(names) > 0 ? names : nullptr);
  });
}

PyObject* text(PyObject* self) {
  const std::string name(row(op_of(self)).name);
  return PyUnicode_FromFormat("<ufunc '%s'>", name.c_str());
}
PyObject* name_of(PyObject* self, void*) {
  const std::string_view name = row(op_of(self)).name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}
PyObject* inputs(PyObject* self, void*) { return PyLong_FromLong(row(op_of(self)).nin); }
PyObject* outputs(PyObject*, void*) { return PyLong_FromLong(1); }
PyObject* arguments(PyObject* self, void*) { return PyLong_FromLong(row(op_of(self)).nin + 1); }

int traverse(PyObject* o, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(o));
  Py_VISIT(reinterpret_cast<Ufunc*>(o)->attributes);
  return 0;
}
int clear(PyObject* o) {
  Py_CLEAR(reinterpret_cast<Ufunc*>(o)->attributes);
  return 0;
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Ufunc, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Ufunc, attributes), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef properties[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {"name", name_of, nullptr, nullptr, nullptr},
    {"nin", inputs, nullptr, nullptr, nullptr},
    {"nout", outputs, nullptr, nullptr, nullptr},
    {"nargs", arguments, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("An elementwise operation: a row of the table.")},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(text)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy_collected<clear>)},
    {Py_tp_members, members},
    {Py_tp_getset, properties},
    {0, nullptr}};
PyType_Spec spec = {"numbus._core.ufunc", sizeof(Ufunc), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

nb::object make_ufunc(Op op) {
  nb::object o = nb::steal(PyType_GenericAlloc(ufunc_type, 0));
  if (!o.is_valid()) throw nb::python_error();
  auto* u = reinterpret_cast<Ufunc*>(o.ptr());
  u->call = call;
  u->op = op;
  return o;
}

}  // namespace

nb::tuple positional_of(PyObject* const* args, Py_ssize_t n) {
  nb::object made = nb::steal(PyTuple_New(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    Py_INCREF(args[k]);
    PyTuple_SetItem(made.ptr(), k, args[k]);
  }
  return nb::borrow<nb::tuple>(made);
}

nb::dict keywords_of(PyObject* const* args, Py_ssize_t n, PyObject* names) {
  nb::dict made;
  for (Py_ssize_t k = 0; names && k < PyTuple_Size(names); ++k)
    PyDict_SetItem(made.ptr(), PyTuple_GetItem(names, k), args[n + k]);
  return made;
}

int operands_of(PyObject* ufunc) {
  return Py_TYPE(ufunc) == ufunc_type ? row(op_of(ufunc)).nin : 0;
}

PyObject* call_ufunc(PyObject* ufunc, PyObject* const* operands, PyObject* out) {
  return guarded([&] {
    static PyObject* const only_out = nb::make_tuple("out").release().ptr();
    const Op op = op_of(ufunc);
    const int n = row(op).nin;
    PyObject* args[4] = {};
    std::copy_n(operands, n, args);
    args[n] = out;
    return call_row(op, args, n, out ? only_out : nullptr);
  });
}

Op row_of(PyObject* ufunc) {
  if (Py_TYPE(ufunc) != ufunc_type)
    raise(ErrorKind::Type, "ufunc", "not an operation of the table",
          nb::cast<std::string>(nb::repr(nb::handle(ufunc))), "a ufunc");
  return op_of(ufunc);
}

void bind_ufuncs(nb::module_& m) {
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  ufunc_type = reinterpret_cast<PyTypeObject*>(type);
  m.attr("ufunc") = nb::handle(type);
  nb::list table;
  for (int i = 0; i < kNumRows; ++i) {
    const Row& r = kRows[i];
    if (!r.published) continue;
    const nb::object u = make_ufunc(static_cast<Op>(i));
    std::string name(r.name);
    u.attr("__name__") = name;
    u.attr("__doc__") = std::string(r.doc);
    m.attr(name.c_str()) = u;
    nb::dict d;
    d["name"] = name;
    d["nin"] = static_cast<int>(r.nin);
    d["rule"] = std::string(numbus::name(r.rule));
    d["doc"] = std::string(r.doc);
    d["domain"] = nb::make_tuple(r.low, r.high);
    d["ulp"] = r.ulp;
    d["also"] = nb::str(std::string(r.also).c_str()).attr("split")();
    d["libm"] = nb::str(std::string(r.libm).c_str()).attr("split")();
    d["differentiable"] = nb::make_tuple(r.differentiable[0], r.differentiable[1]);
    table.append(d);
  }
  m.attr("_table") = table;
  m.def(
      "partial",
      [](nb::handle u, int argument, nb::args operands) -> nb::object {
        mark_line();
        std::vector<Array> in;
        for (nb::handle o : operands) in.push_back(to_array(o.ptr()));
        std::optional<Array> d = partial_derivative(row_of(u.ptr()), argument, in);
        return d ? nb::steal(wrap(std::move(*d))) : nb::none();
      },
      "The partial derivative of a ufunc by one of its arguments; None where it has none.");
  m.def("table", [m] { return m.attr("_table"); }, "The table of operations, one dict per row.");
}

}  // namespace numbus::bindings
