// Arguments of compiled functions: their types and words, and errors as Python's.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "compile/leave.h"
#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"
#include "quick_arguments.h"

namespace numbus::bindings {

using frontend::Order;
using frontend::Type;

namespace {

int64_t float_word(double x) { return std::bit_cast<int64_t>(x); }

// The class of a named tuple; other tuples stay as they are.
void name_tuple(nb::handle value, Type& t) {
  struct Class {
    nb::object held;
    int number;
    std::vector<std::string> names;
  };
  static auto* known = new std::unordered_map<PyTypeObject*, Class>;
  PyTypeObject* type = Py_TYPE(value.ptr());
  auto it = known->find(type);
  if (it == known->end()) {
    if (!nb::hasattr(value, "_fields")) return;
    nb::object cls = nb::borrow(value.type());
    nb::object found = jit_errors().attr("named_tuple_class")(cls);
    Class c{cls, nb::cast<int>(found[0]), nb::cast<std::vector<std::string>>(found[1])};
    it = known->emplace(type, std::move(c)).first;
  }
  t.number = it->second.number;
  t.names = it->second.names;
}

}  // namespace

nb::object jit_errors() { return nb::module_::import_("numbus.kernels._errors"); }

void raise_compile_error(const frontend::CompileError& e) {
  jit_errors().attr("raise_compile_error")(e.message, e.hint, e.file, e.function, e.line, e.col,
                                           e.end_line, e.end_col, e.unsupported);
  throw nb::python_error();
}

void raise_noted(const std::vector<frontend::Site>& sites, const int64_t* context, bool kernel) {
  static const frontend::Site stuck{
      "RuntimeError",
      "[cuda] a barrier or warp operation waits for threads that never come; debug=True names "
      "the lines",
      "", "", 0};
  static const frontend::Site deep{"RecursionError", "maximum recursion depth exceeded", "", "", 0};
  int64_t which = context[compile::kSite];
  if (which == compile::kForeignSite) {
    const compile::ForeignError e = compile::foreign_error();
    int64_t own[compile::kContextWords];
    std::copy_n(context, std::size(own), own);
    own[compile::kSite] = e.site;
    own[compile::kCaller] = 0;  // whose number is of another table, perhaps
    raise_noted(*static_cast<const std::vector<frontend::Site>*>(e.sites), own, kernel);
  }
  const frontend::Site& s = which == compile::kTooDeep ? deep
                            : which < 0                ? stuck
                                                       : sites.at(static_cast<size_t>(which));
  auto at = [&](int w) { return context[w]; };
  using namespace compile;
  const nb::object error = noted_error(s, at(kFirst), at(kSecond));
  if (!s.argument.unknown() || s.exception == "objmode") numbus_release(at(kFirst));
  if (at(kCause)) error.attr("__cause__") = noted_cause(sites, at(kCause));
  numbus_release(at(kCause));
  const frontend::Site& place =
      s.library && at(kCaller) > 0 ? sites.at(static_cast<size_t>(at(kCaller) - 1)) : s;
  jit_errors().attr("raise_noted")(
      error, place.file, place.function, place.line,
      kernel && which != kTooDeep
          ? nb::make_tuple(nb::make_tuple(at(kThread), at(kThread + 1), at(kThread + 2)),
                           nb::make_tuple(at(kBlock), at(kBlock + 1), at(kBlock + 2)))
          : nb::object(nb::none()));
  throw nb::python_error();
}

// What the handler of Ctrl-C has raised; what was printed before is written first.
void raise_interrupted(const std::string& printed) {
  set_error(Error(ErrorKind::Interrupted, ""));
  nb::python_error raised;
  if (!printed.empty()) nb::module_::import_("sys").attr("stdout").attr("write")(printed);
  throw raised;
}

frontend::Options to_options(nb::handle dict) {
  frontend::Options o;
  auto flag = [&](const char* name, bool& to) {
    if (nb::cast<bool>(dict.attr("__contains__")(name))) to = nb::cast<bool>(dict[name]);
  };
  flag("kernel", o.kernel);
  flag("fastmath", o.fastmath);
  flag("boundscheck", o.boundscheck);
  flag("wraparound", o.wraparound);
  flag("debug", o.debug);
  flag("parallel", o.parallel);
  flag("python_errors", o.python_errors);
  flag("long_loops", o.long_loops);
  o.shares_scopes = Py_Version >= 0x030C0000;
  // Asked for all functions at once, as in Numba.
  for (const char* name : {"NUMBUS_BOUNDSCHECK", "NUMBA_BOUNDSCHECK"})
    if (const char* asked = std::getenv(name); asked && *asked) {
      o.boundscheck = std::string_view(asked) != "0";
      o.same_for_all = true;
      break;
    }
  return o;
}

void expect_result(const std::string& name, const Type& got, const std::optional<Type>& declared) {
  const bool nothing = got.is(Type::Tag::None);
  const bool fits = !declared || declared->is(Type::Tag::None) == nothing;
  if (fits && (nothing || got.is_number())) return;
  raise(ErrorKind::Type, name, "not a result for code that calls it", frontend::name(got),
        declared ? frontend::name(*declared) : "a number, or None");
}

// (tag, dtype, weak, ndim, order, readonly, items, names), as numbus.kernels.types describes a
// type.
Type to_type(nb::handle described) {
  Type t;
  std::string tag = nb::cast<std::string>(described.attr("tag"));
  if (tag == "none") t.tag = Type::Tag::None;
  if (tag == "str") {
    t.tag = Type::Tag::String;
    t.owned = true;
  }
  if (tag == "number" || tag == "array") {
    t.tag = tag == "number" ? Type::Tag::Number : Type::Tag::Array;
    t.dtype = to_dtype(nb::object(described.attr("dtype")).ptr());
  }
  if (tag == "number") t.weak = nb::cast<bool>(described.attr("weak"));
  if (tag == "array") {
    t.ndim = static_cast<uint8_t>(nb::cast<int>(described.attr("ndim")));
    std::string order = nb::cast<std::string>(described.attr("layout"));
    t.order = order == "C" ? Order::C : order == "F" ? Order::F : Order::Any;
    t.readonly = nb::cast<bool>(described.attr("readonly"));
    t.aligned = nb::cast<bool>(described.attr("aligned"));
  }
  if (tag == "object") t = frontend::object_type(nb::cast<int>(described.attr("ndim")));
  if (tag == "set") {
    const Type parts[] = {to_type(described.attr("items")[0]), Type::of(Type::Tag::None)};
    t.tag = Type::Tag::Dict;
    t.owned = true;
    t.items.assign(std::begin(parts), std::end(parts));
    frontend::hold_python_numbers(t);
  }
  if (tag == "optional") t = Type::maybe(to_type(described.attr("items")[0]));
  if (tag == "tuple" || tag == "dict" || tag == "list") {
    t.tag = tag == "tuple" ? Type::Tag::Tuple : tag == "dict" ? Type::Tag::Dict : Type::Tag::List;
    t.owned = tag != "tuple";
    for (nb::handle i : described.attr("items")) t.items.push_back(to_type(i));
    if (tag != "tuple") {
      frontend::hold_python_numbers(t);
      frontend::own_arrays(t);
    }
  }
  return t;
}

void Arguments::add_reach(const void* first, int64_t low, int64_t high) {
  if (!wants_reach || low >= high) return;
  auto at = reinterpret_cast<std::uintptr_t>(first);
  reach.push_back({index, depth > 0, at + static_cast<std::uintptr_t>(low),
                   at + static_cast<std::uintptr_t>(high)});
}

std::vector<Use> Arguments::uses(const std::vector<bool>& written) const {
  std::vector<Use> all;
  for (const Reach& r : reach)
    all.push_back(
        {r.begin, r.end, r.nested || r.argument >= written.size() || written[r.argument]});
  return all;
}

// `shift`: from the host's address to the one that the device knows.
void Arguments::add_buffer(const Py_buffer& b, int64_t shift, const char* function, Type& t) {
  auto d = from_format(b.format, b.itemsize);
  if (!d)
    raise(ErrorKind::Type, function, "array of a type Numbus lacks", b.format ? b.format : "bytes",
          "a boolean, integer, float or complex type");
  t = Type::array_of(*d, b.ndim);
  t.readonly = b.readonly;
  bool c = true, f = true;
  int64_t step = b.itemsize;
  for (int k = b.ndim; k-- > 0; step *= b.shape[k])
    if (b.shape[k] != 1 && b.strides[k] != step) c = false;
  step = b.itemsize;
  for (int k = 0; k < b.ndim; step *= b.shape[k++])
    if (b.shape[k] != 1 && b.strides[k] != step) f = false;
  t.order = c ? Order::C : f ? Order::F : Order::Any;
  words.push_back(reinterpret_cast<int64_t>(b.buf) + shift);
  words.push_back(0);
  for (int k = 0; k < b.ndim; ++k) words.push_back(b.shape[k]);
  for (int k = 0; k < b.ndim; ++k) words.push_back(b.strides[k]);
}

// An array of the host that kernels on a GPU reach where it is.
bool Arguments::add_mapped(PyObject* o, const char* function, Type& t) {
  if (!any_host_blocks() || is_array(o) || !PyObject_CheckBuffer(o)) return false;
  buffers.emplace_back();
  Py_buffer& b = buffers.back();
  if (get_typed_buffer(o, &b, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
    buffers.pop_back();
    PyErr_Clear();
    return false;
  }
  int64_t low = 0, high = b.itemsize;
  for (int k = 0; k < b.ndim; ++k) {
    if (b.shape[k] == 0) high = low;
    if (b.shape[k] == 0) break;
    (b.strides[k] < 0 ? low : high) += (b.shape[k] - 1) * b.strides[k];
  }
  HostBlock block;
  auto* first = static_cast<char*>(b.buf);
  if (!find_host_block(first + low, static_cast<size_t>(high - low), &block) ||
      block.device_address == 0)
    return false;
  add_reach(first, low, high);
  add_buffer(b, static_cast<int64_t>(block.device_address - block.begin), function, t);
  return true;
}

nb::tuple described(const std::vector<Type>& types) {
  nb::list all;
  for (const Type& t : types) {
    const char* tag = t.is_number()             ? "number"
                      : t.is_array()            ? "array"
                      : t.is(Type::Tag::Tuple)  ? "tuple"
                      : t.is_set()              ? "set"
                      : t.is(Type::Tag::Dict)   ? "dict"
                      : t.is_maybe()            ? "optional"
                      : t.is(Type::Tag::List)   ? "list"
                      : t.is(Type::Tag::None)   ? "none"
                      : t.is(Type::Tag::Object) ? "object"
                      : t.is_text()             ? "str"
                      : t.is(Type::Tag::DType)  ? "dtype"
                                                : "function";
    const char* layout = t.order == Order::C ? "C" : t.order == Order::F ? "F" : "A";
    all.append(nb::make_tuple(tag, std::string(numbus::name(t.dtype)),
                              t.is(Type::Tag::Object) ? t.number : static_cast<int>(t.ndim), layout,
                              t.readonly, described(t.items)));
  }
  return nb::tuple(all);
}

void Arguments::add_words(const Array& a, Type& t) {
  const Layout& l = *a.layout;
  t = Type::array_of(a.dtype, l.ndim());
  t.readonly = !a.writeable;
  t.order = l.c_contiguous() ? Order::C : l.f_contiguous() ? Order::F : Order::Any;
  char* first = data_of(a, "passed to a kernel");
  if (l.size() != 0) add_reach(first, l.low(), l.high());
  int n = l.ndim();
  t.aligned = t.order == Order::C && n > 0 &&
              reinterpret_cast<std::uintptr_t>(first) % frontend::kWide == 0 &&
              (n == 1 || l.shape(n - 1) * itemsize(a.dtype) % frontend::kWide == 0);
  words.push_back(reinterpret_cast<int64_t>(first));
  words.push_back(0);
  for (int k = 0; k < l.ndim(); ++k) words.push_back(l.shape(k));
  for (int k = 0; k < l.ndim(); ++k) words.push_back(l.stride(k));
}

static bool is_writable_buffer(PyObject* o) {
  Py_buffer view;
  if (get_typed_buffer(o, &view, PyBUF_FULL_RO) != 0) throw nb::python_error();
  bool writable = !view.readonly;
  PyBuffer_Release(&view);
  return writable;
}

// Arrays for a kernel on a GPU; says no where the value is none.
bool Arguments::add_on_device(nb::handle value, const char* function, Type& t) {
  PyObject* o = value.ptr();
  if (is_array(o) && as_masked(o).full.base->device == device) {
    Array& a = as_array(o);
    before_write(a);
    a.base->changed();
    add_words(a, t);
    return true;
  }
  if (add_mapped(o, function, t)) return true;
  if (!is_array(o) && nb::hasattr(value, "__cuda_array_interface__")) {
    // As an array of ours: work follows the stream that it is ready in.
    hold.push_back(nb::module_::import_("numbus").attr("asarray")(value));
    return add_on_device(hold.back(), function, t);
  }
  if (is_generic(o) || is_numpy_scalar(o) || !PyObject_CheckBuffer(o) || PyBytes_Check(o))
    return false;
  // A kernel may write to a copy just where it may write to what is copied.
  Array there =
      is_array(o) ? to_device(as_array(o), *device) : import_numpy(o, true, false, device);
  there.writeable = is_array(o) ? as_array(o).writeable : is_writable_buffer(o);
  add_words(there, t);
  copied.push_back({index, nb::borrow(value), there});
  return true;
}

// What a kernel wrote to copies of the host's arrays goes back into these.
void Arguments::copy_back(const std::vector<bool>& written) {
  for (Copied& c : copied) {
    if (c.argument >= written.size() || !written[c.argument]) continue;
    nb::object result = nb::steal(wrap(Array(c.there)));
    nb::module_::import_("numpy").attr("copyto")(
        c.host, nb::module_::import_("numpy").attr("asarray")(result));
  }
}

// An array that code of the host can reach in place of one that lies elsewhere.
nb::handle Arguments::fetch(nb::handle value) {
  Device& host = cpu_device();
  if (device || !is_array(value.ptr()) || as_masked(value.ptr()).full.base->device == &host)
    return value;
  for (Fetched& f : fetched)
    if (f.there.is(value)) {
      f.nested = true;  // it is several arguments: any of them may be written
      return f.here;
    }
  Array here = to_device(as_array(value.ptr()), host);
  here.writeable = as_array(value.ptr()).writeable;
  fetched.push_back({index, depth > 0, nb::borrow(value), nb::steal(wrap(std::move(here)))});
  return fetched.back().here;
}

void Arguments::give_back(const std::vector<bool>& written) {
  auto writes = [&](const Fetched& f) {
    return (f.nested || f.argument >= written.size() || written[f.argument]) &&
           as_array(f.there.ptr()).writeable;
  };
  // Copies of one memory do not see what the code writes to the other.
  for (auto one = fetched.begin(); one != fetched.end(); ++one)
    for (auto other = std::next(one); other != fetched.end(); ++other) {
      const Array &a = as_array(one->there.ptr()), &b = as_array(other->there.ptr());
      if (a.base.get() == b.base.get() && (writes(*one) || writes(*other)) &&
          may_overlap(a.offset, *a.layout, b.offset, *b.layout))
        raise(ErrorKind::Value, "jit",
              "arrays of another device that overlap are not yet written to",
              "two arguments that share elements on " + a.base->device->label(),
              "arrays of the CPU, or one of them as a copy");
    }
  for (Fetched& f : fetched) {
    if (!f.nested && f.argument < written.size() && !written[f.argument]) continue;
    Array& there = as_array(f.there.ptr());
    if (!there.writeable) continue;
    Array moved = to_device(as_array(f.here.ptr()), *there.base->device);
    assign(there, Arg(&moved));
  }
}

static bool is_element_type(nb::handle value) {
  static const nb::object* cls = new nb::object(nb::module_::import_("numpy").attr("dtype"));
  return PyObject_IsInstance(value.ptr(), cls->ptr()) == 1;
}

void Arguments::add(nb::handle value, const char* function) {
  if (depth == 0) index = types.size();
  value = fetch(value);
  PyObject* o = value.ptr();
  Type t;
  auto number = [&](DType d, bool weak, int64_t word) {
    t = Type::number_of(d, weak);
    words.push_back(word);
  };
  if (PyFloat_CheckExact(o)) {
    number(DType::F64, true, float_word(PyFloat_AsDouble(o)));
  } else if (PyBool_Check(o)) {
    number(DType::Bool, true, o == Py_True);
  } else if (PyLong_CheckExact(o)) {
    int overflow = 0;
    long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) {
      number(DType::U64, false, static_cast<int64_t>(PyLong_AsUnsignedLongLong(o)));
      if (PyErr_Occurred()) throw nb::python_error();
    } else {
      number(DType::I64, true, n);
    }
  } else if (PyComplex_CheckExact(o)) {
    t = Type::number_of(DType::C128, true);
    words.push_back(float_word(PyComplex_RealAsDouble(o)));
    words.push_back(float_word(PyComplex_ImagAsDouble(o)));
  } else if (o == Py_None) {
    t = Type::of(Type::Tag::None);
  } else if (PyUnicode_CheckExact(o)) {
    t = add_string(o);
  } else if (add_records(value, function, t)) {  // NOLINT(bugprone-branch-clone): in this order
    // added
  } else if (is_generic(o) || is_numpy_scalar(o)) {
    Operands ops;
    Arg a;
    if (!ops.convert(o, a))
      raise(ErrorKind::Type, function, "cannot take an argument of this type",
            nb::cast<std::string>(value.type().attr("__name__")),
            "a number, an array, a string, a tuple or a list");
    Scalar s = a.is_array() ? read_element(*a.array(), 0) : a.scalar;
    DType d = a.is_array() ? a.array()->dtype : a.dtype;
    t = Type::number_of(d);
    int64_t two[2];
    words.insert(words.end(), two, two + number_words(s, d, two));
  } else if (PyTuple_Check(o)) {
    t = Type::of(Type::Tag::Tuple);
    size_t before = types.size();
    std::string outer = std::move(key);
    key.clear();
    ++depth;
    for (nb::handle i : value) add(i, function);
    --depth;
    t.items.assign(types.begin() + before, types.end());
    types.resize(before);
    key = std::move(outer);
    if (!PyTuple_CheckExact(o)) name_tuple(value, t);
  } else if (device && add_on_device(value, function, t)) {
    // added
  } else if (PyObject_CheckBuffer(o) && !PyBytes_Check(o)) {
    buffers.emplace_back();
    Py_buffer& b = buffers.back();
    if (get_typed_buffer(o, &b, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      buffers.pop_back();
      throw nb::python_error();
    }
    numbus = numbus || is_array(o);
    add_buffer(b, 0, function, t);
  } else if (PyList_CheckExact(o)) {
    add_list(value, function, t);
  } else if (!device && Py_TYPE(o) == &PySet_Type) {
    add_set(value, function, t);
  } else if (add_yielding(value, t) || add_generator(value, t)) {
    // added
  } else if (const Container* held = container_of(value)) {
    t = held->type();
    words.push_back(held->owner());
    containers.push_back(nb::borrow(value));
  } else {
    // Functions, types, tensors, lists: what Python knows better.
    nb::object other = jit_errors().attr("argument")(value, function);
    if (PyLong_Check(other.ptr())) {
      t = Type::of(Type::Tag::Function);
      t.text = "function";
      t.number = nb::cast<int>(other);
    } else if (is_element_type(other)) {
      t = Type::of(Type::Tag::DType);
      t.dtype = to_dtype(other.ptr());
    } else {
      hold.push_back(other);
      add(other, function);
      return;
    }
  }
  frontend::put_key(key, t);
  types.push_back(std::move(t));
}

// A numpy.random.Generator: where its source of bits is.
bool Arguments::add_generator(nb::handle value, Type& t) {
  static const nb::object* cls =
      new nb::object(nb::module_::import_("numpy.random").attr("Generator"));
  if (device || PyObject_IsInstance(value.ptr(), cls->ptr()) != 1) return false;
  hold.push_back(value.attr("bit_generator").attr("capsule"));
  void* source = PyCapsule_GetPointer(hold.back().ptr(), "BitGenerator");
  if (!source) throw nb::python_error();
  t = Type::of(Type::Tag::Tuple);
  t.text = "generator";
  t.items = {Type::number_of(DType::I64)};
  words.push_back(reinterpret_cast<int64_t>(source));
  return true;
}

// A structured array, or one of its records: the arrays of its fields.
bool Arguments::add_records(nb::handle value, const char* function, Type& t) {
  static const nb::object* numpy = new nb::object(nb::module_::import_("numpy"));
  static const nb::object* array = new nb::object(numpy->attr("ndarray"));
  static const nb::object* record = new nb::object(numpy->attr("void"));
  const bool one = PyObject_IsInstance(value.ptr(), record->ptr()) == 1;
  if (!one && PyObject_IsInstance(value.ptr(), array->ptr()) != 1) return false;
  nb::object names = value.attr("dtype").attr("names");
  if (names.is_none()) return false;
  if (one) {
    // An array without axes over its memory, which is that of the array it was taken from.
    hold.push_back((*array)(nb::make_tuple(), value.attr("dtype"), value));
    value = hold.back();
  }
  structured.push_back(nb::borrow(value));
  t = Type::of(Type::Tag::Tuple);
  t.ndim = nb::cast<uint8_t>(value.attr("ndim"));
  t.text = t.ndim ? "records" : "record";
  t.names.push_back("record");
  size_t before = types.size();
  std::string outer = std::move(key);
  key.clear();
  ++depth;
  for (nb::handle n : names) {
    t.names.push_back(nb::cast<std::string>(n));
    hold.push_back(value[n]);
    add(hold.back(), function);
  }
  --depth;
  t.items.assign(types.begin() + static_cast<std::ptrdiff_t>(before), types.end());
  types.resize(before);
  key = std::move(outer);
  return true;
}

}  // namespace numbus::bindings
