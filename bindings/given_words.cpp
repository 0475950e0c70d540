// Values of Python's as words of a declared type, in memory that compiled functions count.
#include <nanobind/stl/string.h>

#include <bit>
#include <cstring>

#include "compile/runtime.h"
#include "containers.h"
#include "frontend.h"

namespace numbus::bindings {

using frontend::Type;

namespace {

[[noreturn]] void refuse(const char* what, const Type& got, const Type& wanted) {
  raise(ErrorKind::Type, what, "a value of another type than the declared one", frontend::name(got),
        frontend::name(wanted));
}

// A number's word, or two, as one of another type that holds what it is.
void number(const char* what, const Type& got, const int64_t*& from, const Type& t, int64_t*& to) {
  const bool integers = numbus::is_integer(got.dtype) && numbus::is_integer(t.dtype);
  if (!t.is_number() || !(integers || kind(got.dtype) <= kind(t.dtype))) refuse(what, got, t);
  Scalar s;
  if (is_complex(got.dtype)) {
    const DType part = real_of(got.dtype);
    s = Scalar::from_complex(load_scalar(part, from).real(), load_scalar(part, from + 1).real());
    from += 2;
  } else if (is_float(got.dtype)) {
    s = load_scalar(got.dtype, from++);
  } else {
    const int64_t word = *from++;
    s = kind(got.dtype) == Kind::UInt ? Scalar::from_uint(static_cast<uint64_t>(word))
                                      : Scalar::from_int(word);
  }
  if (numbus::is_integer(t.dtype)) {
    const bool unsigned_beyond = s.kind == Kind::UInt && s.i < 0;
    const bool fits = t.dtype == DType::U64 ? (unsigned_beyond || s.i >= 0)
                      : t.dtype == DType::I64
                          ? !unsigned_beyond
                          : !unsigned_beyond && s.i <= highest_number(t.dtype).i &&
                                s.i >= (is_signed(t.dtype) ? lowest_number(t.dtype).i : 0);
    if (!fits) refuse(what, got, t);
    *to++ = s.i;
    return;
  }
  if (t.dtype == DType::Bool) {
    *to++ = s.i;
    return;
  }
  const bool real_integer = s.kind < Kind::Float;
  const double re = !real_integer          ? s.real()
                    : s.kind == Kind::UInt ? static_cast<double>(static_cast<uint64_t>(s.i))
                                           : static_cast<double>(s.i);
  const DType part = real_of(t.dtype);
  *to = 0;
  store_scalar(Scalar::from_float(re), part, to++);
  if (!is_complex(t.dtype)) return;
  *to = 0;
  store_scalar(Scalar::from_float(real_integer ? 0.0 : s.imag()), part, to++);
}

}  // namespace

void convert_words(const char* what, const Type& got, const int64_t*& from, const Type& t,
                   int64_t*& to, const Arguments* given) {
  if (t.is_maybe()) {
    const bool there = !got.is(Type::Tag::None);
    *to++ = there;
    if (there) return convert_words(what, got, from, t.items[0], to, given);
    for (size_t k = frontend::words(t.items[0]).size(); k-- > 0;) *to++ = 0;
    return;
  }
  if (got.is_number()) return number(what, got, from, t, to);
  if (got.is(Type::Tag::None) && t.is(Type::Tag::None)) return;
  if (got.tag != t.tag) refuse(what, got, t);
  const size_t count = frontend::words(t).size();
  if (t.is(Type::Tag::Tuple)) {
    if (got.items.size() != t.items.size() || got.text != t.text || got.names != t.names)
      refuse(what, got, t);
    for (size_t k = 0; k < t.items.size(); ++k)
      convert_words(what, got.items[k], from, t.items[k], to, given);
    return;
  }
  if (t.is_array()) {
    if (got.dtype != t.dtype || got.ndim != t.ndim || (got.readonly && !t.readonly) ||
        (t.order != frontend::Order::Any && t.order != got.order && t.ndim > 0))
      refuse(what, got, t);
    std::memcpy(to, from, 8 * count);
    if (given) {
      // Its memory stays for as long as something in the function holds it.
      PyObject* o = given->holder_of(reinterpret_cast<const char*>(from[0]));
      if (!o) refuse(what, got, t);
      Py_INCREF(o);
      to[1] = compile::numbus_foreign(o);
    }
  } else if (t.is(Type::Tag::Object) ? got.number != t.number : got.items != t.items) {
    refuse(what, got, t);
  } else {
    std::memcpy(to, from, 8 * count);
    if (given)
      for (size_t o : frontend::owners(got)) compile::numbus_retain(to[o]);
  }
  from += count;
  to += count;
}

void give_words(nb::handle value, const Type& t, const char* what, int64_t* to) {
  Arguments given;
  given.add(value, what);
  const int64_t* from = given.words.data();
  convert_words(what, given.types[0], from, t, to, &given);
}

}  // namespace numbus::bindings
