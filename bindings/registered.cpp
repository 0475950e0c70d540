// Binding and conversion of the arguments of registered functions.
#include "registered.h"

#include <algorithm>

namespace numbus::bindings {
namespace {

// What rare arguments take is Python: numbus.core.<module>.<name>, looked up once.
nb::object helper(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}
nb::handle to_ndarray() {
  static PyObject* const f = helper("numbus.core.operands", "to_ndarray").release().ptr();
  return f;
}
nb::handle operand() {
  static PyObject* const f = helper("numbus.core.operands", "operand").release().ptr();
  return f;
}
nb::handle as_dtype() {
  static PyObject* const f = helper("numbus.core.operands", "as_dtype").release().ptr();
  return f;
}
nb::handle one_axis() {
  static PyObject* const f = helper("numbus.core.errors", "one_axis").release().ptr();
  return f;
}
nb::handle many_axes() {
  static PyObject* const f = helper("numbus.core.errors", "many_axes").release().ptr();
  return f;
}
nb::handle one_flag() {
  static PyObject* const f = helper("numbus.core.errors", "one_flag").release().ptr();
  return f;
}
nb::handle one_int() {
  static PyObject* const f = helper("numbus.core.errors", "one_int").release().ptr();
  return f;
}
nb::handle one_whole() {
  static PyObject* const f = helper("numbus.core.errors", "one_whole").release().ptr();
  return f;
}
nb::handle one_of() {
  static PyObject* const f = helper("numbus.core.errors", "one_of").release().ptr();
  return f;
}

int dimensions(PyObject* o) { return is_array(o) ? as_masked(o).ndim() : 0; }

bool is_number(PyObject* o) {
  return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) ||
         PyComplex_CheckExact(o);
}

struct Converter {
  const Signature& s;
  Bound& b;

  PyObject* keep(nb::object o) {
    b.made.push_back(std::move(o));
    return b.made.back().ptr();
  }
  nb::str op() { return nb::str(s.op.c_str(), s.op.size()); }

  static bool begins_with(PyObject* words, const char* word) {
    return PyTuple_Size(words) > 0 &&
           PyUnicode_CompareWithASCIIString(PyTuple_GetItem(words, 0), word) == 0;
  }
  // NumPy refuses booleans where its C code reads the number.
  void refuse_flag(const Parameter& p, PyObject* o) const {
    if (PyBool_Check(o) && PyTuple_Size(p.choices) > 0)
      raise(ErrorKind::Type, s.op, "a boolean where an integer belongs",
            o == Py_True ? "True" : "False", "an int");
  }

  PyObject* axis(const Parameter& p, PyObject* o) {
    PyObject*& array = b.values[p.of];
    if (o == Py_None && p.none == Parameter::Kept) return o;
    if (o == Py_None && p.none == Parameter::Flat) {
      if (dimensions(array) != 1)
        array = keep(nb::steal(wrap_view(array, reshape(as_array(array), {-1}))));
      return keep(nb::int_(0));
    }
    refuse_flag(p, o);
    int n = dimensions(array);
    if (PyLong_CheckExact(o)) {
      int overflow = 0;
      const long long at = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (n == 0 && begins_with(p.choices, "0-d") && (at == 0 || at == -1)) {  // one element
        array = keep(nb::steal(wrap_view(array, reshape(as_array(array), {-1}))));
        n = 1;
      }
      if (!overflow && at >= 0 && at < n) return o;
      if (!overflow && at < 0 && at >= -n) return keep(nb::int_(at + n));
    }
    return keep(one_axis()(op(), nb::handle(o), n));
  }

  PyObject* out(const Parameter& p, PyObject* o) {
    if (PyTuple_CheckExact(o) && PyTuple_Size(o) == 1) o = PyTuple_GetItem(o, 0);
    if (o == Py_None) return Py_None;
    static PyObject* const numpy_array = helper("numpy", "ndarray").release().ptr();
    if (!is_array(o) && !nb::isinstance(nb::handle(o), nb::handle(numpy_array)))
      raise(ErrorKind::Type, s.op, "out is no array",
            nb::cast<std::string>(nb::handle(o).type().attr("__name__")), "an ndarray");
    if (begins_with(p.choices, "read")) return o;  // which the body stores into
    b.out = o;
    return Py_None;
  }

  PyObject* choice(const Parameter& p, PyObject* o) {
    if (o == p.fallback) return o;
    for (Py_ssize_t n = 0; n < PyTuple_Size(p.choices); ++n)
      if (PyTuple_GetItem(p.choices, n) == o) return o;
    return keep(one_of()(op(), nb::handle(p.name), nb::handle(o), nb::handle(p.choices)));
  }

  PyObject* convert(const Parameter& p, PyObject* o) {
    switch (p.kind) {
      case Parameter::Any: return o;
      case Parameter::Array:
        if (is_array(o)) return o;
        if (o == Py_None && o == p.fallback) return o;
        return keep(to_ndarray()(nb::handle(o)));
      case Parameter::Operand:
        if (is_array(o) || is_generic(o) || is_number(o)) return o;
        if (o == Py_None && o == p.fallback) return o;
        return keep(operand()(nb::handle(o)));
      case Parameter::Axis: return axis(p, o);
      case Parameter::Axes:
        if (o == Py_None) return o;
        return keep(many_axes()(op(), nb::handle(o), dimensions(b.values[p.of])));
      case Parameter::Out: return out(p, o);
      case Parameter::DType:
        if (o == Py_None) return o;
        return keep(as_dtype()(op(), nb::handle(o)));
      case Parameter::Choice: return choice(p, o);
      case Parameter::Flag:
        if (PyBool_Check(o) || o == p.fallback) return o;
        return keep(one_flag()(op(), nb::handle(p.name), nb::handle(o)));
      case Parameter::Int:
        if (PyLong_CheckExact(o) || o == p.fallback) return o;
        if (begins_with(p.choices, "whole"))
          return keep(one_whole()(op(), nb::handle(p.name), nb::handle(o)));
        refuse_flag(p, o);
        return keep(one_int()(op(), nb::handle(p.name), nb::handle(o)));
    }
    return o;
  }
};

}  // namespace

Signature* Signature::from_python(const std::string& op, nb::sequence parameters,
                                  int positional_only, int positional, int rest_kind) {
  auto* s = new Signature;  // as old as the function, which lives forever
  s->op = op;
  s->positional_only = positional_only;
  s->positional = positional;
  nb::list rest;
  for (nb::handle item : parameters) {
    nb::tuple t = nb::cast<nb::tuple>(item);
    Parameter p;
    PyObject* name = nb::object(t[0]).release().ptr();
    PyUnicode_InternInPlace(&name);
    p.name = name;
    p.kind = static_cast<Parameter::Kind>(nb::cast<int>(t[1]));
    if (nb::cast<bool>(t[2])) p.fallback = nb::object(t[3]).release().ptr();
    p.none = static_cast<Parameter::None>(nb::cast<int>(t[4]));
    p.of = static_cast<uint8_t>(nb::cast<int>(t[5]));
    p.choices = nb::object(t[6]).release().ptr();
    if (p.kind == Parameter::Out) s->out = static_cast<int>(s->parameters.size());
    if (static_cast<int>(s->parameters.size()) >= positional) rest.append(nb::handle(p.name));
    s->parameters.push_back(p);
  }
  if (s->parameters.size() > kMaxParameters)
    raise(ErrorKind::Runtime, op, "too many parameters", std::to_string(s->parameters.size()),
          "at most " + std::to_string(kMaxParameters));
  s->names = nb::tuple(rest).release().ptr();
  if (rest_kind >= 0) s->rest.emplace().kind = static_cast<Parameter::Kind>(rest_kind);
  return s;
}

bool bind(const Signature& s, PyObject* const* args, Py_ssize_t positional, PyObject* names,
          Bound& b) {
  if (positional > s.positional && !s.rest) return false;
  const Py_ssize_t named = std::min<Py_ssize_t>(positional, s.positional);
  for (Py_ssize_t n = 0; n < named; ++n) b.values[n] = args[n];
  b.rest.assign(args + named, args + positional);
  const auto count = static_cast<Py_ssize_t>(s.parameters.size());
  for (Py_ssize_t k = 0, keywords = names ? PyTuple_Size(names) : 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GetItem(names, k);
    Py_ssize_t at = s.positional_only;
    while (at < count && s.parameters[at].name != name) ++at;
    if (at == count) {  // names made at run time need not be interned
      at = s.positional_only;
      while (at < count && PyUnicode_Compare(s.parameters[at].name, name) != 0) ++at;
    }
    if (at == count || b.values[at]) return false;
    b.values[at] = args[positional + k];
  }
  for (Py_ssize_t n = 0; n < count; ++n) {
    if (!b.values[n]) b.values[n] = s.parameters[n].fallback;
    if (!b.values[n]) return false;
  }
  return true;
}

void convert(const Signature& s, Bound& b) {
  Converter c{s, b};
  for (size_t n = 0; n < s.parameters.size(); ++n)
    b.values[n] = c.convert(s.parameters[n], b.values[n]);
  for (PyObject*& o : b.rest) o = c.convert(*s.rest, o);
}

PyObject* call_with(const Signature& s, const Bound& b, PyObject* body) {
  if (!b.rest.empty()) {
    PyObject* const* first = b.values.data();
    std::vector<PyObject*> all(first, first + s.positional);
    all.insert(all.end(), b.rest.begin(), b.rest.end());
    all.insert(all.end(), first + s.positional, first + s.parameters.size());
    return PyObject_Vectorcall(body, all.data(), s.positional + b.rest.size(), s.names);
  }
  auto is_default = [&](size_t n) { return b.values[n] == s.parameters[n].fallback; };
  for (size_t n = s.positional; n < s.parameters.size(); ++n)
    if (!is_default(n)) return PyObject_Vectorcall(body, b.values.data(), s.positional, s.names);
  size_t count = s.positional;
  while (count > 0 && is_default(count - 1)) --count;
  return PyObject_Vectorcall(body, b.values.data(), count, nullptr);
}

PyObject* store(const Signature& s, const Bound& b, PyObject* result) {
  if (!result || !b.out) return result;
  static PyObject* const f = helper("numbus.core.operands", "store").release().ptr();
  nb::object made = nb::steal(result);
  // The rules of casting and of shapes; none: the usual ones.
  nb::tuple rules = nb::borrow<nb::tuple>(s.parameters[s.out].choices);
  return nb::handle(f)(nb::str(s.op.c_str()), made, nb::handle(b.out), *rules).release().ptr();
}

}  // namespace numbus::bindings
