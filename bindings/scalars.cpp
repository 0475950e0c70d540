// The types of the scalars, their operators, and how they are made.
#include "scalars.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "float_errors.h"
#include "plain_numbers.h"

namespace numbus::bindings {

namespace {

struct Type {
  PyTypeObject* own = nullptr;   // none for booleans, NumPy's for bfloat16
  PyTypeObject* base = nullptr;  // NumPy's
  Py_ssize_t size = 0;           // of an object
  hashfunc hash = nullptr;
};
Type types[kNumDTypes];
bool generics_only = false;

const Type& type_of(DType t) { return types[static_cast<int>(t)]; }
char* value_at(PyObject* o) { return reinterpret_cast<char*>(o) + kScalarValue; }

// Objects of 8 bytes' scalars that nobody holds any more, used again: element loops make and drop
// one for each step. Each keeps its hold on its type.
struct Spare {
  static constexpr int kMost = 64;
  PyObject* held[kMost];
  int count = 0;
};
Spare spare[2];  // of float64 and int64
Spare* spare_of(const PyTypeObject* type) {
  return type == usual_scalars[0] ? &spare[0] : type == usual_scalars[1] ? &spare[1] : nullptr;
}

PyObject* make_scalar(DType t, const void* at) {
  if (t == DType::Bool) return numpy_bool(*static_cast<const uint8_t*>(at) != 0);
  const Type& type = type_of(t);
  const bool usual = t == DType::F64 || t == DType::I64;
  if (Spare& s = spare[t == DType::I64]; usual && s.count > 0) {
    PyObject* o = s.held[--s.count];
    Py_SET_REFCNT(o, 1);
    std::memcpy(value_at(o), at, 8);
    return o;
  }
  auto* o = static_cast<PyObject*>(PyObject_Malloc(static_cast<size_t>(type.size)));
  if (!o) return PyErr_NoMemory();
  PyObject_Init(o, type.own);
  std::memcpy(value_at(o), at, static_cast<size_t>(itemsize(t)));
  return o;
}
template <class T>
PyObject* make(DType t, T value) {
  return make_scalar(t, &value);
}
PyObject* boolean(bool value) { return make(DType::Bool, value); }

// The dtype of one of these scalars.
std::optional<DType> dtype_of(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  for (int t = kNumDTypes; t-- > 0;)
    if (types[t].own == type) return static_cast<DType>(t);
  return std::nullopt;
}

}  // namespace

nb::object plain_scalar(PyObject* o) {
  auto t = dtype_of(o);
  if (!t) return nb::borrow(o);
  static const auto allocate =
      reinterpret_cast<allocfunc>(PyType_GetSlot(type_of(DType::F64).base, Py_tp_alloc));
  PyObject* made = allocate(type_of(*t).base, 0);
  if (!made) throw nb::python_error();
  std::memcpy(value_at(made), value_at(o), static_cast<size_t>(itemsize(*t)));
  return nb::steal(made);
}

namespace {

// A result of NumPy's as a scalar of ours.
PyObject* taken(PyObject* result) {
  if (!result) throw nb::python_error();
  auto t = numpy_scalar_dtype(Py_TYPE(result));
  if (!t || *t == DType::Bool || types[static_cast<int>(*t)].base != Py_TYPE(result)) return result;
  PyObject* made = make_scalar(*t, value_at(result));
  Py_DECREF(result);
  return made;
}

// Null where NumPy has to do it: other operations, and what warns.
inline PyObject* quick(Op op, const PlainNumber& x, const PlainNumber& y) {
  int64_t i;
  double f;
  const bool whole = x.whole && y.whole;
  auto compare = [&](auto holds) {
    // NumPy compares an int64 with a float as floats.
    return boolean(whole ? holds(x.i, y.i) : holds(x.f, y.f));
  };
  switch (op) {
    case Op::add:
      if (whole) return __builtin_add_overflow(x.i, y.i, &i) ? nullptr : make(DType::I64, i);
      f = x.f + y.f;
      break;
    case Op::subtract:
      if (whole) return __builtin_sub_overflow(x.i, y.i, &i) ? nullptr : make(DType::I64, i);
      f = x.f - y.f;
      break;
    case Op::multiply:
      if (whole) return __builtin_mul_overflow(x.i, y.i, &i) ? nullptr : make(DType::I64, i);
      f = x.f * y.f;
      if (!std::isnormal(f) && x.f != 0 && y.f != 0) return nullptr;
      break;
    case Op::divide:
      if (y.f == 0) return nullptr;
      f = x.f / y.f;
      if (!std::isnormal(f) && x.f != 0) return nullptr;
      break;
    case Op::less: return compare([](auto a, auto b) { return a < b; });
    case Op::less_equal: return compare([](auto a, auto b) { return a <= b; });
    case Op::equal: return compare([](auto a, auto b) { return a == b; });
    case Op::not_equal: return compare([](auto a, auto b) { return a != b; });
    case Op::greater: return compare([](auto a, auto b) { return a > b; });
    case Op::greater_equal: return compare([](auto a, auto b) { return a >= b; });
    default: return nullptr;
  }
  return std::isfinite(f) ? make(DType::F64, f) : nullptr;
}

// Whether the result with this operand is an array of ours, or a value that is still to be
// computed.
bool makes_array(PyObject* o) {
  return is_array(o) || is_generic(o) || PyList_CheckExact(o) || PyTuple_CheckExact(o) ||
         numpy_memory(o);
}

// by_numpy: Python's operator for objects of NumPy's own types.
template <class F>
PyObject* operate(Op op, PyObject* x, PyObject* y, F&& by_numpy) {
  PlainNumber a, b;
  if (a.read(x) && b.read(y))
    if (PyObject* result = quick(op, a, b)) return result;
  if (makes_array(x) || makes_array(y)) return binary(op, x, y);
  // Inside of a function's body it is the function that warns, by its flags.
  if (float_errors::state.watched && !float_errors::state.warned) [[unlikely]]
    return guarded([&] {
      const std::string_view name = op_name(op);
      const auto met =
          nb::steal<nb::tuple>(check("number", nb::make_tuple(nb::str(name.data(), name.size()),
                                                              plain_scalar(x), plain_scalar(y))));
      flags::raise(static_cast<unsigned>(nb::cast<int>(met[1])));
      return taken(nb::object(met[0]).release().ptr());
    });
  return guarded([&] { return taken(by_numpy(plain_scalar(x).ptr(), plain_scalar(y).ptr())); });
}

template <Op op, PyObject* (*by_numpy)(PyObject*, PyObject*)>
PyObject* binary_slot(PyObject* x, PyObject* y) {
  return operate(op, x, y, by_numpy);
}
PyObject* power_slot(PyObject* x, PyObject* y, PyObject*) {
  return operate(Op::power, x, y,
                 [](PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); });
}
PyObject* compare_slot(PyObject* x, PyObject* y, int how) {
  static constexpr Op kOps[] = {Op::less,      Op::less_equal, Op::equal,
                                Op::not_equal, Op::greater,    Op::greater_equal};
  return operate(kOps[how], x, y,
                 [&](PyObject* a, PyObject* b) { return PyObject_RichCompare(a, b, how); });
}

template <Op op, PyObject* (*by_numpy)(PyObject*)>
PyObject* unary_slot(PyObject* o) {
  PlainNumber n;
  if (op != Op::invert && n.read(o)) {
    if (!n.whole)
      return make(DType::F64, op == Op::negative   ? -n.f
                              : op == Op::absolute ? std::fabs(n.f)
                                                   : n.f);
    if (n.i != std::numeric_limits<int64_t>::min())
      return make(DType::I64, op == Op::negative || (op == Op::absolute && n.i < 0) ? -n.i : n.i);
  }
  return guarded([&] { return taken(by_numpy(plain_scalar(o).ptr())); });
}

Py_hash_t hash_slot(PyObject* o) { return type_of(*dtype_of(o)).hash(o); }
PyObject* text_slot(PyObject* o) {
  return guarded([&] { return PyObject_Repr(plain_scalar(o).ptr()); });
}
void destroy(PyObject* o) {
  PyTypeObject* type = Py_TYPE(o);
  if (Spare* s = spare_of(type); s && s->count < Spare::kMost) {
    s->held[s->count++] = o;
    return;
  }
  PyObject_Free(o);
  Py_DECREF(type);
}

PyType_Slot slots[] = {
#define BINARY(slot, op, function) \
  {Py_nb_##slot, reinterpret_cast<void*>(binary_slot<Op::op, PyNumber_##function>)},
    BINARY(add, add, Add) BINARY(subtract, subtract, Subtract) BINARY(multiply, multiply, Multiply)
        BINARY(true_divide, divide, TrueDivide) BINARY(floor_divide, floor_divide, FloorDivide)
            BINARY(remainder, remainder, Remainder) BINARY(and, bitwise_and, And)
                BINARY(or, bitwise_or, Or) BINARY(xor, bitwise_xor, Xor)
                    BINARY(lshift, left_shift, Lshift) BINARY(rshift, right_shift, Rshift)
#undef BINARY
                        {Py_nb_power, reinterpret_cast<void*>(power_slot)},
    {Py_nb_negative, reinterpret_cast<void*>(unary_slot<Op::negative, PyNumber_Negative>)},
    {Py_nb_positive, reinterpret_cast<void*>(unary_slot<Op::positive, PyNumber_Positive>)},
    {Py_nb_absolute, reinterpret_cast<void*>(unary_slot<Op::absolute, PyNumber_Absolute>)},
    {Py_nb_invert, reinterpret_cast<void*>(unary_slot<Op::invert, PyNumber_Invert>)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare_slot)},
    {Py_tp_hash, reinterpret_cast<void*>(hash_slot)},
    {Py_tp_repr, reinterpret_cast<void*>(text_slot)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {0, nullptr}};

}  // namespace

PyObject* scalar_of(DType t, const void* at) {
  if (!generics_only) return make_scalar(t, at);
  Generic g;
  g.dtype = t;
  g.value = load_scalar(t, at);
  g.known = true;
  return wrap_generic(std::move(g));
}

PyObject* scalar_or_generic(Array&& a) {
  const Base& b = *a.base.get();
  if (!generics_only && b.device->host_readable() && b.data && !b.pending() && !b.failure &&
      !observer())
    return make_scalar(a.dtype, b.data + a.offset);
  Generic g;
  g.dtype = a.dtype;
  g.array = std::move(a);
  return wrap_generic(std::move(g));
}

nb::object library_number(nb::handle number) {
  PyObject* o = number.ptr();
  if (generics_only)
    if (auto t = numpy_scalar_dtype(Py_TYPE(o))) return nb::steal(scalar_of(*t, value_at(o)));
  return nb::borrow(number);
}

void bind_scalars(nb::module_& m) {
  nb::list made;
  // Pickle asks no class whose own class is `type` how it wants to be pickled.
  nb::handle any_type(reinterpret_cast<PyObject*>(&PyType_Type));
  nb::object kind_of_types = any_type("scalar_type", nb::make_tuple(any_type), nb::dict());
  m.attr("scalar_type") = kind_of_types;
  for (int k = 0; k < kNumDTypes; ++k) {
    const auto t = static_cast<DType>(k);
    Type& type = types[k];
    type.base = numpy_scalar_type(t);
    type.hash = reinterpret_cast<hashfunc>(PyType_GetSlot(type.base, Py_tp_hash));
    if (t == DType::Bool) continue;
    if (t == DType::BF16) {  // NumPy finds the dtype of ml_dtypes's own type alone
      type.own = type.base;
      type.size = nb::cast<Py_ssize_t>(
          nb::handle(reinterpret_cast<PyObject*>(type.base)).attr("__basicsize__"));
      continue;
    }
    nb::handle base(reinterpret_cast<PyObject*>(type.base));
    type.size = nb::cast<Py_ssize_t>(base.attr("__basicsize__"));
    // NumPy's name, under which Python pickles and prints the type.
    auto* name = new std::string("numpy." + std::string(kDTypes[k].name));
    PyType_Spec spec = {name->c_str(), 0, 0, Py_TPFLAGS_DEFAULT, slots};
    nb::object bases = nb::make_tuple(base);
    type.own = reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.ptr()));
    if (!type.own) throw nb::python_error();
    Py_SET_TYPE(reinterpret_cast<PyObject*>(type.own),
                reinterpret_cast<PyTypeObject*>(nb::object(kind_of_types).release().ptr()));
    add_scalar_type(type.own, t);
    made.append(nb::handle(reinterpret_cast<PyObject*>(type.own)));
  }
  m.attr("scalar_types") = nb::tuple(made);
  m.def(
      "keep_generics", [](bool on) { return std::exchange(generics_only, on); }, nb::arg("on"),
      "Whether from now on numbers read out of arrays are generics, for libraries that have no "
      "scalars; what was so before.");
  m.def(
      "set_generic",
      [](nb::handle number, nb::handle array) {
        Generic& g = as_generic(number.ptr());
        if (!generics_only)
          raise(ErrorKind::Type, "setitem", "numbers cannot be changed",
                "a number of " + std::string(name(g.dtype)), "an array");
        Array a = as_array(array.ptr());
        g.known = false;
        g.array = std::move(a);
      },
      nb::arg("number"), nb::arg("array"),
      "Gives a generic the value of a 0-d array of its dtype; TypeError without keep_generics().");
  m.def("library_number", library_number, nb::arg("number").none(),
        "A number that NumPy computed: itself, or a generic after keep_generics(). Other objects "
        "stay as they are.");
}

}  // namespace numbus::bindings
