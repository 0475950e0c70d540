// The slots of ndarray and generic: operators, comparisons, conversions to Python numbers, lengths.
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "convert.h"
#include "errstate.h"
#include "float_errors.h"
#include "program/program.h"
#include "quick.h"

namespace numbus::bindings {

namespace {

// Known scalars of one 64-bit type compute at once: element loops in Python stay cheap.
bool known_scalars(Op op, PyObject* x, PyObject* y, Generic& r) {
  double f[2];
  int64_t i[2];
  bool floats = false, ints = true;
  PyObject* in[2] = {x, y};
  for (int k = 0; k < 2; ++k) {
    PyObject* o = in[k];
    if (PyFloat_CheckExact(o)) {
      f[k] = PyFloat_AsDouble(o);
      floats = true;
      ints = false;
      continue;
    }
    if (PyLong_CheckExact(o)) {
      int overflow;
      i[k] = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (overflow) return false;
      f[k] = static_cast<double>(i[k]);
      continue;
    }
    if (!is_generic(o)) return false;
    Generic& g = as_generic(o);
    if (!g.known) return false;
    if (g.dtype == DType::F64) {
      f[k] = g.value.f[0];
      floats = true;
      ints = false;
    } else if (g.dtype == DType::I64) {
      i[k] = g.value.i;
      f[k] = static_cast<double>(i[k]);
    } else {
      return false;
    }
  }
  bool compare = row(op).rule == Rule::Compare;
  r.known = true;
  if (compare) {
    r.dtype = DType::Bool;
    auto c = [&](auto a, auto b) {
      switch (op) {
        case Op::equal: return a == b;
        case Op::not_equal: return a != b;
        case Op::less: return a < b;
        case Op::less_equal: return a <= b;
        case Op::greater: return a > b;
        default: return a >= b;
      }
    };
    r.value = Scalar::from_bool(ints ? c(i[0], i[1]) : c(f[0], f[1]));
    return true;
  }
  r.dtype = floats || op == Op::divide ? DType::F64 : DType::I64;
  if (r.dtype == DType::F64) {
    switch (op) {
      case Op::add: r.value = Scalar::from_float(f[0] + f[1]); return true;
      case Op::subtract: r.value = Scalar::from_float(f[0] - f[1]); return true;
      case Op::multiply: r.value = Scalar::from_float(f[0] * f[1]); return true;
      case Op::divide: r.value = Scalar::from_float(f[0] / f[1]); return true;
      default: return false;
    }
  }
  auto wrap64 = [](uint64_t v) { return Scalar::from_int(static_cast<int64_t>(v)); };
  uint64_t a = static_cast<uint64_t>(i[0]), b = static_cast<uint64_t>(i[1]);
  switch (op) {
    case Op::add: r.value = wrap64(a + b); return true;
    case Op::subtract: r.value = wrap64(a - b); return true;
    case Op::multiply: r.value = wrap64(a * b); return true;
    default: return false;
  }
}

// Where NumPy takes a power, which differs from the root for -0 and for minus infinity.
PyObject* root_of_scalar(PyObject* a) {
  Operands ops;
  Arg x;
  ops.convert(a, x);
  auto number = [](double v) {
    Arg n;
    n.weak = true;
    n.scalar = Scalar::from_float(v);
    return n;
  };
  mark_line();
  Arg sum[2] = {x, number(0)}, lowest[2] = {x, number(-HUGE_VAL)};
  Array positive = apply(Op::add, sum), low = apply(Op::equal, lowest);
  Arg inner(&positive);
  Array root = apply(Op::sqrt, {&inner, 1});
  return wrap_result(select(Arg(&low), number(HUGE_VAL), Arg(&root)));
}

// NumPy's shortcuts for the ** operator with a plain number on the right.
bool power_shortcut(PyObject* a, PyObject* b, PyObject*& result) {
  double e;
  if (PyFloat_CheckExact(b))
    e = PyFloat_AsDouble(b);
  else if (PyLong_CheckExact(b)) {
    int overflow;
    e = static_cast<double>(PyLong_AsLongLongAndOverflow(b, &overflow));
    if (overflow) return false;
  } else {
    return false;
  }
  DType t = is_array(a)     ? as_masked(a).full.dtype
            : is_generic(a) ? as_generic(a).dtype
                            : DType::Bool;
  if (t == DType::Bool && (e != 2 || is_generic(a))) return false;
  bool inexact = is_inexact(t);
  if (!inexact && PyFloat_CheckExact(b)) return false;
  if (e == 2)
    result = unary(Op::square, a);
  else if (e == 1 && !is_complex(t))  // complex zeros lose their signs
    result = unary(Op::positive, a);
  else if (inexact && e == 0.5)
    result = is_generic(a) ? root_of_scalar(a) : unary(Op::sqrt, a);
  else if (inexact && e == -1)
    result = unary(Op::reciprocal, a, PyFloat_CheckExact(b) ? "power" : nullptr);
  else
    return false;
  return true;
}

}  // namespace

namespace {

// NumPy's operator for ours. `in_place`: the operator that assigns.
PyObject* by_numpy(Op op, PyObject* x, PyObject* y, bool in_place = false) {
  nb::object name = nb::str(op_name(op).data(), op_name(op).size());
  return fall_back("operate", nb::steal(PyTuple_Pack(4, name.ptr(), x, y ? y : Py_None,
                                                     in_place ? Py_True : Py_False)));
}

// Runs f, an operator of that name, after NumPy has looked for errors of floats.
template <class F>
PyObject* checked(std::string_view name, PyObject* x, PyObject* y, bool in_place, F&& f) {
  PyObject* clean = guarded([&] {
    return check("by_operator", nb::make_tuple(nb::str(name.data(), name.size()), nb::handle(x),
                                               nb::handle(y ? y : Py_None), in_place));
  });
  if (!clean) return nullptr;
  Py_DECREF(clean);
  const ToldAlready inner;
  return f();
}

// The left operand of an operator that assigns, as it was before: NumPy is asked with it. Sums,
// differences, products and quotients of one type need none, as their flags say all there is.
class Kept {
 public:
  Kept(Op op, PyObject* x, PyObject* y, bool in_place) {
    if (!in_place || !float_errors::state.warned) return;
    const bool basic =
        op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide;
    const Array* a = at_rest(x);
    if (!a || a->size() > Runtime::get().at_once) return;
    const bool too_large = a->dtype == DType::F32 && PyFloat_Check(y) &&
                           std::isinf(static_cast<float>(PyFloat_AsDouble(y)));
    if (basic && is_float(a->dtype) && !is_half(a->dtype) && !too_large &&
        (!is_array(y) || as_masked(y).full.dtype == a->dtype))
      return;
    copy_ = nb::steal(wrap(copy(*a, a->dtype)));
  }
  bool kept() const { return copy_.is_valid(); }
  PyObject* operand(PyObject* x) const { return kept() ? copy_.ptr() : x; }

 private:
  nb::object copy_;
};

// The result of an operator whose flags are set, after NumPy has looked. known: the flags are all
// there is to see.
[[gnu::cold, gnu::noinline]] PyObject* warn(Op op, PyObject* result, PyObject* x, PyObject* y,
                                            bool known, unsigned kinds) {
  const std::string_view name = op_name(op);
  return warned(result, "warn_operator",
                nb::make_tuple(nb::str(name.data(), name.size()), nb::handle(x),
                               nb::handle(y ? y : Py_None), known ? static_cast<int>(kinds) : 0));
}

// Runs f, which gives null where NumPy has to do the work.
template <class F>
PyObject* operate(Op op, PyObject* x, PyObject* y, bool in_place, F&& f) {
  follow_errstate();
  if (float_errors::state.checked) [[unlikely]]
    return checked(op_name(op), x, y, in_place, [&] { return operate(op, x, y, in_place, f); });
  return guarded([&]() -> PyObject* {
    DeviceOfNew follow(device_of(x, y));
    Owner a = owner_of(x), b = y ? owner_of(y) : Owner::Numbus;
    if (a == Owner::Operand || b == Owner::Operand) Py_RETURN_NOTIMPLEMENTED;
    if (a == Owner::Numbus && b == Owner::Numbus) {
      try {
        const Kept before(op, x, y, in_place);
        // NumPy's scalars say so, but not beside an array.
        const char* told_as = float_errors::state.told_as;
        if (!told_as && (is_generic(x) || (y && is_generic(y))) && !is_array(x) &&
            !(y && is_array(y)))
          told_as = "";
        const Examined here(true, in_place, told_as);
        PyObject* result = f();
        if (const unsigned kinds = result ? here.raised_for(result) : 0) [[unlikely]]
          return warn(op, result, before.operand(x), y, in_place && !before.kept(), kinds);
        if (result) return result;
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::NotImplemented) throw;
      }
    }
    return by_numpy(op, x, y, in_place);
  });
}

}  // namespace

PyObject* binary(Op op, PyObject* x, PyObject* y) {
  return operate(op, x, y, false, [&]() -> PyObject* {
    if (!is_array(x) && !is_array(y)) {
      Generic r;
      if (known_scalars(op, x, y, r)) return wrap_generic(std::move(r));
    }
    if (op == Op::power) {
      PyObject* r = nullptr;
      if (power_shortcut(x, y, r)) {
        if (!r) throw nb::python_error();  // null without an error is for NumPy
        return r;
      }
    }
    Operands ops;
    Arg args[2];
    if (!ops.convert(x, args[0]) || !ops.convert(y, args[1])) return nullptr;
    mark_line();
    return wrap_result(apply(op, args));
  });
}

PyObject* unary(Op op, PyObject* x, const char* told_as) {
  const ToldAs name(told_as);
  return operate(op, x, nullptr, false, [&]() -> PyObject* {
    Operands ops;
    Arg a;
    if (!ops.convert(x, a)) return nullptr;
    mark_line();
    return wrap_result(apply(op, {&a, 1}));
  });
}

namespace {

PyObject* in_place(Op op, PyObject* self, PyObject* y) {
  return operate(op, self, y, true, [&]() -> PyObject* {
    Operands ops;
    Arg args[2];
    args[0] = Arg(&as_masked(self));
    if (!ops.convert(y, args[1])) return nullptr;
    if (op == Op::power && args[1].weak && args[1].scalar.kind == Kind::Int &&
        args[1].scalar.i == 2) {
      op = Op::square;
    }
    const Scalar& e = args[1].scalar;
    const bool number = op == Op::power && args[1].weak && is_inexact(as_masked(self).full.dtype);
    const ToldAs name(!number                                  ? nullptr
                      : e.kind == Kind::Int && e.i == -1       ? "reciprocal"
                      : e.kind == Kind::Float && e.f[0] == 0.5 ? "sqrt"
                                                               : nullptr);
    Options o;
    o.into = &as_masked(self);  // stays on the full domain where it can
    mark_line();
    apply(op, {args, op == Op::square ? 1u : 2u}, o);
    Py_INCREF(self);
    return self;
  });
}

template <Op op>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(op, a, b);
}
template <Op op>
PyObject* unary_slot(PyObject* a) {
  return unary(op, a);
}
template <Op op>
PyObject* in_place_slot(PyObject* a, PyObject* b) {
  return in_place(op, a, b);
}
PyObject* power_slot(PyObject* a, PyObject* b, PyObject*) { return binary(Op::power, a, b); }
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject*) { return in_place(Op::power, a, b); }

PyObject* linear(const char* name, PyObject* a, PyObject* b) {
  if (float_errors::state.checked) [[unlikely]]
    return checked("matmul", a, b, false, [&] { return linear(name, a, b); });
  return guarded([&]() -> PyObject* {
    DeviceOfNew follow(device_of(a, b));
    if (owner_of(a) == Owner::Operand || owner_of(b) == Owner::Operand) Py_RETURN_NOTIMPLEMENTED;
    static nb::object* module = nullptr;
    if (!module) module = new nb::object(nb::module_::import_("numbus.functions.products"));
    return module->attr(name)(nb::handle(a), nb::handle(b)).release().ptr();
  });
}

// Runs f, a product of matrices.
template <class F>
PyObject* product(PyObject* a, PyObject* b, F&& f) {
  const Examined here(true, true, "matmul");
  PyObject* result = f();
  if (!result || !here.raised()) [[likely]]
    return result;
  return warned(result, "warn_operator", nb::make_tuple("matmul", nb::handle(a), nb::handle(b), 0));
}
PyObject* matmul_slot(PyObject* a, PyObject* b) {
  follow_errstate();
  if (float_errors::state.checked) [[unlikely]]
    return linear("matmul_operator", a, b);
  return product(a, b, [&] {
    PyObject* quick = guarded([&] { return quick_product(a, b); });
    return quick || PyErr_Occurred() ? quick : linear("matmul_operator", a, b);
  });
}
PyObject* in_place_matmul(PyObject* a, PyObject* b) { return linear("matmul_in_place", a, b); }

PyObject* compare_slot(PyObject* a, PyObject* b, int how) {
  static constexpr Op kOps[] = {Op::less,      Op::less_equal, Op::equal,
                                Op::not_equal, Op::greater,    Op::greater_equal};
  return binary(kOps[how], a, b);
}

Scalar the_value(PyObject* o) {
  if (is_generic(o)) return value_of(as_generic(o));
  Array& a = as_array(o);
  if (a.size() != 1) {
    raise(ErrorKind::Value, "truth",
          "the truth value of an array with more than one element is ambiguous",
          "shape " + shape_string(*a.layout), "a.any() or a.all(), or an array of one element");
  }
  return read_element(a, 0);
}
}  // namespace

Scalar number_value(PyObject* o) {
  if (is_array(o) && as_array(o).size() != 1) {
    raise(ErrorKind::Type, "scalar", "only arrays of one element can become Python numbers",
          "shape " + shape_string(*as_array(o).layout), "one element");
  }
  return the_value(o);
}

namespace {

int bool_slot(PyObject* o) {
  int result = -1;
  PyObject* ok = guarded([&]() -> PyObject* {
    const program::Constants steering;  // what is steered by a value has no derivative by it
    Scalar s = the_value(o);
    result = s.kind == Kind::Complex ? s.f[0] != 0 || s.f[1] != 0
             : s.kind == Kind::Float ? s.f[0] != 0
                                     : s.i != 0;
    return Py_None;
  });
  return ok ? result : -1;
}
PyObject* float_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    Scalar s = number_value(o);
    if (s.kind == Kind::Complex)
      raise(ErrorKind::Type, "float", "cannot convert", "a complex value",
            "a real one (see .real)");
    return PyFloat_FromDouble(s.real());
  });
}
PyObject* int_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    nb::object v = nb::steal(python_number(number_value(o)));
    return PyNumber_Long(v.ptr());
  });
}
PyObject* index_slot(PyObject* o) {
  return guarded([&]() -> PyObject* {
    DType t = is_generic(o) ? as_generic(o).dtype : as_array(o).dtype;
    if (!is_integer(t) || (is_array(o) && as_array(o).ndim() > 0)) {
      raise(ErrorKind::Type, "index", "only integer scalars can be an index", std::string(name(t)),
            "an integer type");
    }
    return python_number(number_value(o));
  });
}
Py_hash_t hash_slot(PyObject* o) {
  PyObject* v = guarded([&] { return python_number(value_of(as_generic(o))); });
  if (!v) return -1;
  Py_hash_t h = PyObject_Hash(v);
  Py_DECREF(v);
  return h;
}

Py_ssize_t length_slot(PyObject* o) {
  Py_ssize_t n = -1;
  guarded([&]() -> PyObject* {
    Array& a = as_array(o);
    if (a.ndim() == 0)
      raise(ErrorKind::Type, "len", "object has no length", "a 0-d array",
            "at least one dimension");
    n = a.layout->shape(0);
    return Py_None;
  });
  return PyErr_Occurred() ? -1 : n;
}
// As in NumPy an iterator asks for one element after the other, until there is none.
PyObject* iterator_slot(PyObject* o) {
  return guarded([&] {
    if (as_masked(o).ndim() == 0)
      raise(ErrorKind::Type, "iter", "iteration over a 0-d array", "0-d", "1-d or more");
    return PySeqIter_New(o);
  });
}

}  // namespace

// clang-format off: it never comes to rest on the macros.
PyType_Slot array_slots[] = {
#define BINARY(slot, op)                                        \
  {Py_nb_##slot, reinterpret_cast<void*>(binary_slot<Op::op>)}, \
      {Py_nb_inplace_##slot, reinterpret_cast<void*>(in_place_slot<Op::op>)},
#define NUMBERS                                                                                \
  BINARY(add, add)                                                                             \
  BINARY(subtract, subtract) BINARY(multiply, multiply) BINARY(true_divide, divide)            \
      BINARY(floor_divide, floor_divide) BINARY(remainder, remainder) BINARY(and, bitwise_and) \
          BINARY(or, bitwise_or) BINARY(xor, bitwise_xor) BINARY(lshift, left_shift)           \
              BINARY(rshift, right_shift)
    NUMBERS
#undef BINARY
    {Py_nb_power, reinterpret_cast<void*>(power_slot)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(in_place_power)},
    {Py_nb_matrix_multiply, reinterpret_cast<void*>(matmul_slot)},
    {Py_nb_inplace_matrix_multiply, reinterpret_cast<void*>(in_place_matmul)},
#define UNARY                                                              \
  {Py_nb_negative, reinterpret_cast<void*>(unary_slot<Op::negative>)},     \
      {Py_nb_positive, reinterpret_cast<void*>(unary_slot<Op::positive>)}, \
      {Py_nb_absolute, reinterpret_cast<void*>(unary_slot<Op::absolute>)}, \
      {Py_nb_invert, reinterpret_cast<void*>(unary_slot<Op::invert>)},     \
      {Py_nb_bool, reinterpret_cast<void*>(bool_slot)},                    \
      {Py_nb_float, reinterpret_cast<void*>(float_slot)},                  \
      {Py_nb_int, reinterpret_cast<void*>(int_slot)},                      \
      {Py_nb_index, reinterpret_cast<void*>(index_slot)},                  \
      {Py_tp_richcompare, reinterpret_cast<void*>(compare_slot)},
    UNARY{Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
    {Py_tp_getset, array_properties},
    {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
    {Py_mp_length, reinterpret_cast<void*>(length_slot)},
    {Py_sq_length, reinterpret_cast<void*>(length_slot)},  // reversed() asks for it
    {Py_sq_item, reinterpret_cast<void*>(get_element)},
    {Py_tp_iter, reinterpret_cast<void*>(iterator_slot)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_array)},
    {Py_tp_clear, reinterpret_cast<void*>(clear_array)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};

PyType_Slot generic_slots[] = {
#define BINARY(slot, op) {Py_nb_##slot, reinterpret_cast<void*>(binary_slot<Op::op>)},
    NUMBERS
#undef BINARY
    {Py_nb_power, reinterpret_cast<void*>(power_slot)},
    UNARY{Py_tp_hash, reinterpret_cast<void*>(hash_slot)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr}};
// clang-format on

}  // namespace numbus::bindings
