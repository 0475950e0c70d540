// One Python object per published row of the table.
#include <algorithm>

#include "base/error.h"
#include "convert.h"

namespace numbus::bindings {
namespace {

struct Ufunc {
  Op op;
};
PyTypeObject* ufunc_type = nullptr;

// Arrays as they are, for they have to be boolean; anything else as booleans.
Array to_mask(PyObject* o) {
  const std::vector<PyObject*>& plain = plain_array_types();
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(o));
  if (is_array(o) || is_generic(o) || is_numpy_scalar(o) ||
      std::find(plain.begin(), plain.end(), type) != plain.end())
    return to_array(o);
  static PyObject* const asarray =
      nb::object(nb::module_::import_("numpy").attr("asarray")).release().ptr();
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

// Reads the keywords; false where one of them is one that only NumPy has.
bool read_keywords(const Row& r, PyObject* kwargs, Given& given) {
  PyObject *key, *value;
  Py_ssize_t at = 0;
  while (PyDict_Next(kwargs, &at, &key, &value)) {
    std::string k = nb::cast<std::string>(nb::handle(key));
    if (k == "out") {
      if (given.out)
        raise(ErrorKind::Type, std::string(r.name), "out given twice", "a position and a keyword",
              "one of them");
      given.out = value;
    } else if (k == "where") {
      if (value == Py_True) continue;
      given.where = to_mask(value);
      given.options.where = &given.where;
    } else if (k == "dtype") {
      if (value == Py_None) continue;
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

// NumPy's ufunc of that name.
PyObject* by_numpy(Op op, PyObject* args, PyObject* kwargs) {
  std::string_view name = row(op).name;
  nb::object n = nb::str(name.data(), name.size());
  return fall_back("ufunc", nb::steal(PyTuple_Pack(3, n.ptr(), args, kwargs ? kwargs : Py_None)));
}

PyObject* call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Op op = nb::inst_ptr<Ufunc>(self)->op;
    const Row& r = row(op);
    Py_ssize_t n = PyTuple_Size(args);
    Device* there = n ? device_of(PyTuple_GetItem(args, 0), args) : nullptr;
    DeviceOfNew follow(there || !kwargs ? there : device_of(kwargs));
    try {
      Given given;
      bool known = true;
      if (n != r.nin && n != r.nin + 1) {
        raise(ErrorKind::Type, std::string(r.name), "wrong number of positional arguments",
              std::to_string(n), std::to_string(r.nin) + " (and an optional out)");
      }
      if (n == r.nin + 1) given.out = PyTuple_GetItem(args, n - 1);
      if (kwargs) known = read_keywords(r, kwargs, given);
      PyObject* operands[3];
      for (int k = 0; k < r.nin; ++k) operands[k] = PyTuple_GetItem(args, k);
      if (PyObject* result = known ? compute(op, operands, given) : nullptr) return result;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::NotImplemented) throw;
    }
    return by_numpy(op, args, kwargs);
  });
}

PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call)}, {0, nullptr}};

}  // namespace

int operands_of(PyObject* ufunc) {
  return Py_TYPE(ufunc) == ufunc_type ? row(nb::inst_ptr<Ufunc>(ufunc)->op).nin : 0;
}

PyObject* call_ufunc(PyObject* ufunc, PyObject* const* operands, PyObject* out) {
  return guarded([&]() -> PyObject* {
    Op op = nb::inst_ptr<Ufunc>(ufunc)->op;
    const int n = row(op).nin;
    Device* there = nullptr;
    for (int k = 0; k < n && !there; ++k) there = device_of(operands[k]);
    DeviceOfNew follow(there || !out ? there : device_of(out));
    Given given;
    given.out = out;
    try {
      if (PyObject* result = compute(op, operands, given)) return result;
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::NotImplemented) throw;
    }
    nb::object args = nb::steal(PyTuple_New(n)), kwargs;
    for (int k = 0; k < n; ++k) {
      Py_INCREF(operands[k]);
      PyTuple_SetItem(args.ptr(), k, operands[k]);
    }
    if (out) {
      kwargs = nb::steal(PyDict_New());
      PyDict_SetItemString(kwargs.ptr(), "out", out);
    }
    return by_numpy(op, args.ptr(), kwargs.ptr());
  });
}

Op row_of(PyObject* ufunc) { return nb::cast<Ufunc&>(nb::handle(ufunc)).op; }

void bind_ufuncs(nb::module_& m) {
  auto cls = nb::class_<Ufunc>(m, "ufunc", nb::type_slots(slots), nb::dynamic_attr(),
                               "An elementwise operation: a row of the table.");
  ufunc_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  cls.def_prop_ro("name", [](Ufunc& u) { return std::string(row(u.op).name); });
  cls.def_prop_ro("nin", [](Ufunc& u) { return static_cast<int>(row(u.op).nin); });
  cls.def_prop_ro("nout", [](Ufunc&) { return 1; });
  cls.def_prop_ro("nargs", [](Ufunc& u) { return static_cast<int>(row(u.op).nin) + 1; });
  cls.def("__repr__", [](Ufunc& u) { return "<ufunc '" + std::string(row(u.op).name) + "'>"; });
  cls.def("__reduce__", [](Ufunc& u) {
    return nb::make_tuple(
        nb::module_::import_("builtins").attr("getattr"),
        nb::make_tuple(nb::module_::import_("numbus._core"), std::string(row(u.op).name)));
  });
  nb::list table;
  for (int i = 0; i < kNumRows; ++i) {
    const Row& r = kRows[i];
    if (!r.published) continue;
    nb::object u = nb::inst_alloc(cls);
    new (nb::inst_ptr<Ufunc>(u)) Ufunc{static_cast<Op>(i)};
    nb::inst_mark_ready(u);
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
      [](Ufunc& u, int argument, nb::args operands) -> nb::object {
        mark_line();
        std::vector<Array> in;
        for (nb::handle o : operands) in.push_back(to_array(o.ptr()));
        std::optional<Array> d = partial_derivative(u.op, argument, in);
        return d ? nb::steal(wrap(std::move(*d))) : nb::none();
      },
      "The partial derivative of a ufunc by one of its arguments; None where it has none.");
  m.def("table", [m] { return m.attr("_table"); }, "The table of operations, one dict per row.");
}

}  // namespace numbus::bindings
