// Names, joins and words of types.
#include "frontend/types.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

namespace numbus::frontend {

namespace {

struct Classes {
  std::mutex lock;
  std::map<int, ObjectClass> all;
};
Classes& classes() {
  static auto* held = new Classes;
  return *held;
}

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved into the map
void define_object_class(int number, ObjectClass c) {
  std::lock_guard<std::mutex> guard(classes().lock);
  classes().all.try_emplace(number, std::move(c));
}

const ObjectClass& object_class(int number) {
  std::lock_guard<std::mutex> guard(classes().lock);
  return classes().all.at(number);
}

Type object_type(int number) {
  Type t = Type::of(Type::Tag::Object);
  t.number = number;
  t.owned = true;
  return t;
}

std::string name(const Type& t) {
  switch (t.tag) {
    case Type::Tag::Unknown: return "unknown";
    case Type::Tag::None: return "None";
    case Type::Tag::Maybe: return name(t.items[0]) + " or None";
    case Type::Tag::Number:
      if (!t.weak) return std::string(numbus::name(t.dtype));
      switch (kind(t.dtype)) {
        case Kind::Bool: return "bool";
        case Kind::Float: return "float";
        case Kind::Complex: return "complex";
        default: return "int";
      }
    case Type::Tag::Array: {
      const char* space = t.space == ir::Space::Shared  ? ", shared"
                          : t.space == ir::Space::Local ? ", local"
                                                        : "";
      const char* order = t.order == Order::C ? "C" : t.order == Order::F ? "F" : "A";
      return "array(" + std::string(numbus::name(t.dtype)) + ", " + std::to_string(t.ndim) + "d, " +
             order + space + (t.readonly ? ", readonly)" : ")");
    }
    case Type::Tag::Tuple: {
      if (t.text == "records") return "array of records";
      if (t.text == "record" || t.text == "frozenset") return t.text;
      if (t.listed) {
        std::string all;
        for (const Type& i : t.items) all += (all.empty() ? "" : ", ") + name(i);
        return "list of several types (" + all + ")";
      }
      std::string s = t.names.empty() ? "(" : t.names[0] + "(";
      for (size_t i = 0; i < t.items.size(); ++i) s += (i ? ", " : "") + name(t.items[i]);
      return s + (t.items.size() == 1 ? ",)" : ")");
    }
    case Type::Tag::List: return "list(" + name(t.items[0]) + ")";
    case Type::Tag::Dict:
      if (t.is_set()) return "set(" + name(t.items[0]) + ")";
      return "dict(" + name(t.items[0]) + ", " + name(t.items[1]) + ")";
    case Type::Tag::Object: return object_class(t.number).name;
    case Type::Tag::Generator: return "generator(" + name(t.items[0]) + ")";
    case Type::Tag::Iterator: return t.text;
    case Type::Tag::Range: return "range";
    case Type::Tag::Slice: return "slice";
    case Type::Tag::Text:
    case Type::Tag::String: return "str";
    case Type::Tag::Function: return "function " + t.text;
    case Type::Tag::DType: return "type " + std::string(numbus::name(t.dtype));
    case Type::Tag::Module: return "module " + t.text;
    case Type::Tag::NewAxis: return "newaxis";
    case Type::Tag::Ellipsis: return "ellipsis";
  }
  return "?";
}

void put_key(std::string& to, const Type& t) {
  auto put = [&](int c) { to += static_cast<char>(c); };
  put('A' + static_cast<int>(t.tag));
  put('a' + static_cast<int>(t.dtype));
  put('0' + t.weak + 2 * t.owned + 4 * t.readonly + 8 * static_cast<int>(t.order) + 32 * t.aligned +
      64 * t.listed);
  put('0' + t.ndim);
  put('0' + static_cast<int>(t.space) + 8 * t.frozen);
  to += t.text;
  if (t.number >= 0) to += "," + std::to_string(t.number);
  put('(');
  for (const Type& i : t.items) put_key(to, i);
  for (const std::string& n : t.names) to += n + ";";
  put(')');
}

namespace {

// Whether a variable can hold this or None: its words say all.
bool may_be_none(const Type& t) {
  if (t.is(Type::Tag::Tuple))
    return t.text.empty() && !t.listed && std::ranges::all_of(t.items, [](const Type& i) {
             return i.is(Type::Tag::None) || i.is_maybe() || may_be_none(i);
           });
  return t.unknown() || t.is_number() || t.is_array() || t.is(Type::Tag::String) ||
         t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Object);
}

// Of types of which one is None, or may be.
bool join_none(const Type& a, const Type& b, Type& both) {
  auto value = [](const Type& t) {
    return t.is_maybe() ? t.items[0] : t.is(Type::Tag::None) ? Type{} : held_type(t);
  };
  Type of;
  if (!join(value(a), value(b), of) || !may_be_none(of)) return false;
  both = Type::maybe(std::move(of));
  return true;
}

}  // namespace

bool join(const Type& a, const Type& b, Type& both) {
  if (a == b || b.unknown()) {
    both = a;
    return true;
  }
  if (a.unknown()) {
    both = b;
    return true;
  }
  if (a.is_text() && b.is_text()) {
    both = held_type(a);
    return true;
  }
  if (a.is_maybe() || b.is_maybe() || a.is(Type::Tag::None) != b.is(Type::Tag::None))
    return join_none(a, b, both);
  if (a.tag != b.tag) return false;
  both = a;
  switch (a.tag) {
    case Type::Tag::Number: {
      both.weak = a.weak && b.weak;
      both.text.clear();
      both.least = both.weak ? std::max(a.least, b.least) : Type{}.least;
      if (a.weak == b.weak) {
        both.dtype = promote(a.dtype, b.dtype);
        // One of Python's ints from 2**63 on, and another one: neither type holds both.
        if (a.weak && numbus::is_integer(a.dtype) && numbus::is_integer(b.dtype) &&
            !numbus::is_integer(both.dtype))
          return false;
        return true;
      }
      const Type &weak = a.weak ? a : b, &strong = a.weak ? b : a;
      both.dtype = weak_result(strong.dtype, kind(weak.dtype));
      if (is_inexact(strong.dtype) && weak.dtype != DType::Bool &&
          itemsize(real_of(both.dtype)) < weak.least) {
        both.dtype = is_complex(both.dtype) ? DType::C128 : DType::F64;
        both.weak = true;
        return true;
      }
      // An integer that Python counts in does not become narrower for having met one of NumPy's.
      if (kind(weak.dtype) == Kind::Int && numbus::is_integer(both.dtype) &&
          itemsize(both.dtype) < 8)
        both.dtype = DType::I64;
      return true;
    }
    case Type::Tag::Array:
      if (a.dtype != b.dtype || a.ndim != b.ndim || a.space != b.space) return false;
      both.order = a.order == b.order ? a.order : Order::Any;
      both.owned = a.owned || b.owned;
      both.readonly = a.readonly || b.readonly;
      both.frozen = a.frozen || b.frozen || a.readonly != b.readonly;
      return true;
    case Type::Tag::Tuple:
    case Type::Tag::Iterator:
    case Type::Tag::Slice:
      if (a.items.size() != b.items.size() || a.names != b.names || a.number != b.number ||
          a.text != b.text || a.listed != b.listed)
        return false;
      for (size_t i = 0; i < a.items.size(); ++i) {
        // What a slice leaves out is known while compiling.
        if (!a.is(Type::Tag::Tuple) &&
            a.items[i].is(Type::Tag::None) != b.items[i].is(Type::Tag::None))
          return false;
        if (!join(a.items[i], b.items[i], both.items[i])) return false;
      }
      return true;
    case Type::Tag::List: return join(a.items[0], b.items[0], both.items[0]);
    case Type::Tag::Dict:
      return a.is_set() == b.is_set() && join_keys(a.items[0], b.items[0], both.items[0]) &&
             join(a.items[1], b.items[1], both.items[1]);
    case Type::Tag::Generator:
      return a.items == b.items;  // its code stores what it yields as it is
    case Type::Tag::None:
    case Type::Tag::Range:
    case Type::Tag::NewAxis:
    case Type::Tag::Ellipsis: return true;
    default: return false;
  }
}

bool join_keys(const Type& a, const Type& b, Type& both) {
  if (a.unknown() || b.unknown() || a.tag != b.tag) return join(a, b, both);
  if (a.is_number()) {
    const bool integers =
        a.is_integer() && b.is_integer() && (a.dtype == DType::Bool) == (b.dtype == DType::Bool);
    if (!integers && (!is_float(a.dtype) || !is_float(b.dtype))) return false;
    return join(a, b, both) && (is_float(both.dtype) || integers == both.is_integer());
  }
  if (!a.is(Type::Tag::Tuple)) return join(a, b, both);
  if (!join(a, b, both)) return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!join_keys(a.items[i], b.items[i], both.items[i])) return false;
  return true;
}

Type promoted(const Type& a, const Type& b) {
  if (a.weak == b.weak) return Type::number_of(promote(a.dtype, b.dtype), a.weak);
  const Type &weak = a.weak ? a : b, &strong = a.weak ? b : a;
  return Type::number_of(weak_result(strong.dtype, kind(weak.dtype)));
}

void narrow_weak(std::span<Type> all) {
  Type common;
  for (const Type& t : all)
    if (!t.weak) common = common.unknown() ? t : promoted(common, t);
  if (common.unknown() || !is_inexact(common.dtype)) return;
  for (Type& t : all)
    if (t.weak && is_inexact(t.dtype))
      t = Type::number_of(is_complex(t.dtype) ? weak_result(common.dtype, Kind::Complex)
                                              : real_of(common.dtype));
}

Type of_any_value(Type t) {
  t.least = Type{}.least;
  for (Type& i : t.items) i = of_any_value(std::move(i));
  return t;
}

Type held_type(Type t) {
  if (t.is(Type::Tag::Text)) {
    t = Type::of(Type::Tag::String);
    t.owned = true;
  }
  if (t.is(Type::Tag::Tuple) && t.text.empty())
    for (Type& i : t.items) i = held_type(std::move(i));
  return t;
}

namespace {

uint8_t least_bytes(double x) {
  if (!std::isfinite(x)) return 2;
  int exponent;
  double digits = std::ldexp(std::frexp(x, &exponent), 11), units = std::ldexp(x, 24);
  if (std::trunc(digits) == digits && std::trunc(units) == units && exponent <= 16) return 2;
  return static_cast<double>(static_cast<float>(x)) == x ? 4 : 8;
}

}  // namespace

uint8_t least_bytes(const Scalar& s) {
  bool exact = s.kind != Kind::Int && s.kind != Kind::UInt;
  if (!exact && std::abs(s.real()) > double{1 << 24}) return 8;
  return std::max(least_bytes(s.real()), least_bytes(s.imag()));
}

const Type* only_inside(const Type& t) {
  switch (t.tag) {
    case Type::Tag::Unknown:  // a later pass asks again
    case Type::Tag::None:
    case Type::Tag::Number:
    case Type::Tag::String:
    case Type::Tag::Object:
    case Type::Tag::Array: return nullptr;
    case Type::Tag::Tuple:
      if (t.text == "records" || t.text == "record") return nullptr;
      if (!t.text.empty() || t.listed) return &t;
      [[fallthrough]];
    case Type::Tag::Maybe:
    case Type::Tag::List:
    case Type::Tag::Generator:
    case Type::Tag::Dict:
      for (const Type& i : t.items)
        if (const Type* found = only_inside(i)) return found;
      return nullptr;
    default: return &t;
  }
}

std::vector<DType> words(const Type& t) {
  switch (t.tag) {
    case Type::Tag::Number:
      if (is_complex(t.dtype)) return {real_of(t.dtype), real_of(t.dtype)};
      return {t.dtype};
    // Address, owner, shape, strides in bytes.
    case Type::Tag::Array: return std::vector<DType>(2 + 2 * t.ndim, DType::I64);
    case Type::Tag::List:
    case Type::Tag::Dict:
    case Type::Tag::Object:
    case Type::Tag::Generator:
      return {DType::I64};  // the owner of its header, or its frame
    // Whether there is a value, and its words, which are zero where there is none.
    case Type::Tag::Maybe: {
      std::vector<DType> all = words(t.items[0]);
      all.insert(all.begin(), DType::Bool);
      return all;
    }
    // Address, owner, length in characters.
    case Type::Tag::String:
    case Type::Tag::Range: return std::vector<DType>(3, DType::I64);
    case Type::Tag::Tuple:
    case Type::Tag::Iterator:
    case Type::Tag::Slice: {
      std::vector<DType> all;
      for (const Type& i : t.items)
        for (DType w : words(i)) all.push_back(w);
      return all;
    }
    default: return {};
  }
}

bool can_hold(const Type& t) {
  if (t.is(Type::Tag::Tuple)) {
    if (!t.text.empty() || t.listed || t.items.empty()) return false;
    for (const Type& i : t.items)
      if (!i.is(Type::Tag::None) && !can_hold(i)) return false;
  } else if (t.is_maybe()) {
    if (!t.items[0].unknown() && !can_hold(t.items[0])) return false;
  } else if (!t.is_number() && !t.is_array() && !t.is(Type::Tag::List) && !t.is(Type::Tag::Dict) &&
             !t.is(Type::Tag::String) && !t.is(Type::Tag::Object)) {
    return false;
  }
  return words(t).size() <= ir::kItemWords;
}

DType stored(DType word) {
  if (word == DType::Bool || kind(word) == Kind::UInt) return DType::U64;
  return kind(word) == Kind::Int ? DType::I64 : word;
}

uint32_t owner_words(const Type& t, size_t at) {
  if (t.is_array() || t.is(Type::Tag::String)) return 2u << at;
  if (t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Object) ||
      t.is(Type::Tag::Generator))
    return 1u << at;
  uint32_t all = 0;
  at += t.is_maybe();
  for (const Type& i : t.items) {
    all |= owner_words(i, at);
    at += words(i).size();
  }
  return all;
}

int64_t bytes_of_item(const Type& item) {
  return item.is_number() ? itemsize(item.dtype) : 8 * static_cast<int64_t>(words(item).size());
}

int64_t stored_item(const Type& t) {
  if (t.unknown()) return ir::stored_item(8, 0);
  return ir::stored_item(bytes_of_item(t), t.is_number() ? 0 : owner_words(t));
}

Type entry_of(const Type& dict) {
  return Type::tuple_of({Type::number_of(DType::I64, true), dict.items[0], dict.items[1]});
}

void hold_python_numbers(Type& t) {
  if (t.is_number())
    t.weak = t.dtype == DType::I64 || t.dtype == DType::F64 || t.dtype == DType::Bool ||
             t.dtype == DType::C128;
  for (Type& i : t.items) hold_python_numbers(i);
}

void own_arrays(Type& t) {
  if (t.is_array()) {
    t.owned = true;
    t.aligned = false;
  }
  for (Type& i : t.items) own_arrays(i);
}

std::vector<size_t> owners(const Type& t) {
  if (t.is_array()) return t.owned ? std::vector<size_t>{1} : std::vector<size_t>{};
  if (t.is(Type::Tag::List) || t.is(Type::Tag::Dict) || t.is(Type::Tag::Object) ||
      t.is(Type::Tag::Generator))
    return {0};
  if (t.is(Type::Tag::String)) return {1};
  if (t.is(Type::Tag::Function)) return {};
  std::vector<size_t> all;
  size_t at = t.is_maybe() ? 1 : 0;
  for (const Type& i : t.items) {
    for (size_t o : owners(i)) all.push_back(at + o);
    at += words(i).size();
  }
  return all;
}

}  // namespace numbus::frontend
