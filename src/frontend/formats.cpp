// Texts made of values: formats of f-strings, format(), `%`. A format that is known while compiling
// is read here; any other one, and what this part does not know of one, is read as the function
// runs, by kernels/library/formats.py.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

bool begins_character(char b) { return (b & 0xc0) != 0x80; }
bool among(std::string_view any, char c) { return any.find(c) != std::string_view::npos; }

// A format of Python's: [[fill]align][sign][0][width][.precision][type].
struct Format {
  std::string fill = " ";
  char align = 0, sign = '-', type = 0;
  int64_t width = 0, precision = -1;
  char group = 0;       // between thousands
  bool prefix = false;  // 0x and the like before the digits
  std::string beyond;   // what is not known of it
};

Format read_format(const std::string& s) {
  Format f;
  size_t at = 0;
  auto aligns = [&](size_t k) { return k < s.size() && among("<>^=", s[k]); };
  size_t first = 1;  // bytes of the first character
  while (first < s.size() && !begins_character(s[first])) ++first;
  const bool names_fill = !s.empty() && aligns(first);
  if (names_fill) {
    f.fill = s.substr(0, first);
    f.align = s[first];
    at = first + 1;
  } else if (aligns(0)) {
    f.align = s[at++];
  }
  auto is = [&](std::string_view any) { return at < s.size() && among(any, s[at]); };
  if (is("+- ")) f.sign = s[at++];
  if (is("z")) f.beyond = s[at++];
  if (is("#")) {
    f.prefix = true;
    ++at;
  }
  if (is("0") && !names_fill) {
    f.fill = "0";
    if (f.align == 0) f.align = '=';
    ++at;
  }
  auto number = [&] {
    int64_t n = 0;
    while (is("0123456789") && n < 100000) n = 10 * n + (s[at++] - '0');
    return n;
  };
  f.width = number();
  if (is(",_")) f.group = s[at++];
  if (is(".")) {
    ++at;
    if (!is("0123456789")) f.beyond = ".";
    f.precision = number();
  }
  if (at < s.size()) f.type = s[at++];
  if (at < s.size()) f.beyond = s.substr(at);
  return f;
}

}  // namespace

// {v:spec} of an f-string.
Value Lower::formatted(const Node& n, const Value& v, const Value& spec) {
  if (v.unknown() || spec.unknown()) return {};
  if (!spec.type.is_text()) fail(n, "a format is a string; got " + name(spec.type), "'8.3f'");
  if (v.type.is_maybe())
    return joined(
        n, "text", [&] { return formatted(n, v.items[0], spec); },
        [&] { return formatted(n, none(), spec); }, v.v[0]);
  const Value run_time = is_caught(v) ? text_of(n, v) : v;
  auto refuse = [&] { return call_string(n, "format spec", {formattable(n, run_time), spec}); };
  if (!spec.type.is(Type::Tag::Text)) return refuse();
  const std::string& all = spec.type.text;
  if (all.empty()) return text_of(n, as_pythons(n, v));
  Format f = read_format(all);
  if (!f.beyond.empty()) return refuse();
  Value s;
  const bool number = v.type.is_number() && !is_complex(v.type.dtype);
  if (v.type.is_text()) {
    if ((f.type != 0 && f.type != 's') || f.sign != '-' || f.align == '=') return refuse();
    s = f.precision < 0 ? string_of(n, v)
                        : call_string(n, "part", {v, integer(ci(0)), integer(ci(f.precision))});
  } else if (number && v.type.is_integer() && among({"\0dxXob", 6}, f.type)) {
    if (f.precision >= 0) return refuse();
    const int64_t base = f.type == 'b'                    ? 2
                         : f.type == 'o'                  ? 8
                         : f.type == 'x' || f.type == 'X' ? 16
                                                          : 10;
    if (v.type.dtype == DType::U64 && base == 10)
      s = call_string(n, "of uint", {v});
    else if (v.type.dtype == DType::U64)
      return refuse();
    else
      s = call_string(n, "in base",
                      {integer(as(v, DType::I64)), integer(ci(base)),
                       boolean(b_->constant(DType::Bool, Scalar::from_bool(f.type == 'X')))});
  } else if (number && among({"\0eEfFgG%", 8}, f.type)) {
    constexpr int64_t kMostDigits = 300, kRoom = 700;  // compile/runtime.h
    if (f.precision > kMostDigits) return refuse();
    const bool general = f.type == 0 && f.precision >= 0;  // as g, but a float's text
    if (general) f.type = 'g';
    int64_t digits = f.precision < 0 ? 6 : f.precision;
    if ((f.type == 'g' || f.type == 'G') && digits == 0) digits = 1;
    const int64_t word = f.type == 0 ? 0 : int64_t{f.type} << 8 | digits << 16;
    s = text_of_float(b_->emit(Op::bits, DType::I64, as(v, DType::F64)), ci(word),
                      f.type == 0            ? 40
                      : among("fF%", f.type) ? kRoom
                                             : 2 * kMostDigits);
    if (general) {
      const int64_t exponent = int64_t{'e'} | (digits - 1) << 8;
      const Value e = text_of_float(b_->emit(Op::bits, DType::I64, as(v, DType::F64)),
                                    ci(exponent << 8), 2 * kMostDigits);
      s = call_string(n, "general", {s, e, integer(ci(digits))});
    }
  } else {
    return refuse();
  }
  if (s.unknown()) return s;
  if (f.prefix || f.group != 0) {
    const bool digits = number && v.type.is_integer() && among({"\0dxXob", 6}, f.type);
    const bool decimal = !digits || f.type == 0 || f.type == 'd';
    if (!number || (f.prefix && !digits) || (f.group == ',' && !decimal) ||
        (f.group != 0 && f.fill == "0" && f.align == '='))
      return refuse();
    if (f.group != 0)
      s = call_string(n, "grouped",
                      {s, text(std::string(1, f.group)), integer(ci(decimal ? 3 : 4))});
    if (f.prefix && !decimal && !s.unknown())
      s = call_string(n, "prefixed", {s, text(std::string("0") + f.type)});
    if (s.unknown()) return s;
  }
  if (f.sign != '-') s = call_string(n, "signed", {s, text(std::string(1, f.sign))});
  if (s.unknown() || f.width == 0) return s;
  const char align = f.align ? f.align : number ? '>' : '<';
  return call_string(n, "pad", {s, integer(ci(f.width)), text(f.fill), integer(ci(align))});
}

// The format of a short float or complex number is that of its value as a number of Python's.
Value Lower::as_pythons(const Node& n, const Value& v) {
  if (!v.type.is_number() || !is_inexact(v.type.dtype)) return v;
  return cast(n, v, is_complex(v.type.dtype) ? DType::C128 : DType::F64, true);
}

// An f-string.
Value Lower::joined_text(const Node& n) {
  Value all = text("");
  for (const Node& part : n.all(Field::values)) {
    Value v = maybe_none(part.kind == NodeKind::FormattedValue ? *part.one(Field::value) : part);
    if (v.unknown()) return {};
    const Node* spec = part.one(Field::format_spec);
    v = as_pythons(n, v);
    v = spec ? formatted(part, v, joined_text(*spec)) : text_of(part, v);
    if (v.unknown()) return {};
    all = binary_text(n, Op::add, all, v);
    if (all.unknown()) return {};
  }
  return all;
}

// An f-string without formats, of its parts' values.
Value Lower::text_of_parts(const Node& n, std::span<const Value> parts) {
  Value all = text("");
  for (const Value& part : parts) {
    const Value v = text_of(n, as_pythons(n, part));
    if (v.unknown()) return {};
    all = binary_text(n, Op::add, all, v);
    if (all.unknown()) return {};
  }
  return all;
}

// --- formats of run time
// -------------------------------------------------------------------------------

// A value as formats.py takes it.
Value Lower::formattable(const Node& n, const Value& v) {
  if (v.unknown() || v.type.is_number() || v.type.is_text() || v.type.is(Type::Tag::None)) return v;
  if (is_caught(v)) not_yet(n, "a format of run time of a caught exception", "str(e)");
  not_yet(n, "a format of run time of " + name(v.type), "its parts, one by one");
}

// What a value is to formats.py, which names these numbers.
int64_t Lower::sort_of(const Node& n, const Value& v) {
  enum { None, Bool, Int, NumpyBool, NumpyInt, UInt64, Float, Float64, Float32, Half, Complex };
  const Type& t = v.type;
  if (t.is(Type::Tag::None)) return None;
  if (t.is_text()) return Complex + 2;
  if (!t.is_number()) not_yet(n, "a format of run time of " + name(t), "its parts, one by one");
  if (is_complex(t.dtype)) return t.weak ? Complex : Complex + 1;
  if (t.dtype == DType::Bool) return t.weak ? Bool : NumpyBool;
  if (t.is_integer()) return t.weak ? Int : t.dtype == DType::U64 ? UInt64 : NumpyInt;
  if (is_half(t.dtype)) return Half;
  return t.weak ? Float : t.dtype == DType::F32 ? Float32 : Float64;
}

Value Lower::formattable_tuple(const Node& n, std::span<const Value> values) {
  Value all;
  all.type = Type::of(Type::Tag::Tuple);
  for (const Value& v : values) {
    all.items.push_back(string_of(n, formattable(n, v)));
    all.type.items.push_back(all.items.back().type);
  }
  return all;
}

// text % values
Value Lower::percent_of(const Node& n, const Value& text, const Value& values) {
  if (values.unknown()) return {};
  if (values.type.is(Type::Tag::Dict) && !values.type.is_set()) {
    if (!values.type.items[0].is(Type::Tag::String))
      not_yet(n, "% of a dict whose keys are no strings", "its values in a tuple");
    return call_string(n, "percent", {text, formattable_tuple(n, {}), values});
  }
  const bool tuple = values.type.is(Type::Tag::Tuple) && !values.type.listed;
  const std::span<const Value> all =
      tuple ? std::span<const Value>(values.items) : std::span<const Value>(&values, 1);
  const bool loose = values.type.is_number() && !values.type.weak;
  return call_string(n, "percent", {text, formattable_tuple(n, all), none(), known_integer(loose)});
}

// text.format(…) and text.format_map(d)
Value Lower::filled_format(const Call& c, const Value& self, const std::string& name) {
  const Node& n = c.n;
  if (name == "format_map") {
    expect(c, name, 1, 1);
    const Value& d = c.args[0];
    if (d.unknown() || is_open(d.type)) return {};
    if (!d.type.is(Type::Tag::Dict) || d.type.is_set() || !d.type.items[0].is(Type::Tag::String))
      not_yet(n, ".format_map() of " + frontend::name(d.type), "a dict with strings as keys");
    return call_string(n, "format_map", {self, d});
  }
  std::vector<Value> names, named;
  for (const auto& [k, v] : c.keywords) {
    names.push_back(text(k));
    named.push_back(v);
  }
  return call_string(n, "format",
                     {self, formattable_tuple(n, c.args), formattable_tuple(n, names),
                      formattable_tuple(n, named)});
}

}  // namespace numbus::frontend
