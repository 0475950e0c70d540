// Strings. One that is known while compiling is a constant, and what follows from it is found while
// compiling; any other one is a part of counted memory, with four bytes for each character. What
// takes loops is Python (kernels/library/strings.py, characters.py).
#include <algorithm>
#include <map>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr size_t kLongest = 1 << 12;  // bytes of a string that is made while compiling

bool begins_character(char b) { return (b & 0xc0) != 0x80; }

// The characters of UTF-8, as bytes of UTF-32.
std::string wide(const std::string& utf8) {
  std::string all;
  for (size_t i = 0; i < utf8.size();) {
    const auto first = static_cast<unsigned char>(utf8[i++]);
    uint32_t c = first < 0x80   ? first
                 : first < 0xe0 ? first & 31u
                 : first < 0xf0 ? first & 15u
                                : first & 7u;
    while (i < utf8.size() && !begins_character(utf8[i]))
      c = c << 6 | (static_cast<unsigned char>(utf8[i++]) & 63u);
    all.append(reinterpret_cast<const char*>(&c), sizeof c);
  }
  return all;
}

}  // namespace

Value Lower::text(std::string of) {
  Value r;
  r.type = Type::of(Type::Tag::Text);
  r.type.text = std::move(of);
  return r;
}

int64_t Lower::length_of_text(const Value& a) {
  return std::ranges::count_if(a.type.text, begins_character);
}

// A string in memory, where one that is known becomes a constant of the module.
Value Lower::string_of(const Node& n, const Value& v) {
  if (!v.type.is(Type::Tag::Text)) return v;
  refuse_in_kernel(n, "strings");
  Value r;
  r.type = held_type(v.type);
  const std::string bytes = wide(v.type.text);
  Val at = ci(0);
  if (!bytes.empty()) {
    auto& all = u_.result.module.constants;
    size_t which = std::find(all.begin(), all.end(), bytes) - all.begin();
    if (which == all.size()) all.push_back(bytes);
    at = intrinsic(ir::Intrinsic::constant_memory, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                   ir::Space::Global, static_cast<int64_t>(which));
  }
  r.v = {at, ci(0), ci(static_cast<int64_t>(bytes.size() / 4))};
  return r;
}

// What lists, dicts and results hold of a value.
Value Lower::held(const Node& n, const Value& v) {
  Type t = held_type(v.type);
  return t == v.type ? v : convert_to(n, v, t);
}

// Characters of a string, in its memory.
Value Lower::part_of_string(const Value& s, Val start, Val stop) {
  Value r;
  r.type = s.type;
  r.v = {add(s.v[0], mul(start, ci(4))), s.v[1], sub(stop, start)};
  return r;
}

Value Lower::call_string(const Node& n, const char* what, std::vector<Value> args) {
  for (Value& a : args) a = string_of(n, a);
  return call_function({n, std::move(args), {}}, u_.program.library(std::string("str ") + what));
}

Value Lower::index_text(const Node& n, const Value& a, const Value& by) {
  const bool slice = by.type.is(Type::Tag::Slice);
  if (slice)
    for (const Value& v : by.items)
      if (!v.type.is(Type::Tag::None) && !v.type.is_integer())
        fail(n, "a slice's ends are integers or None; got " + name(v.type));
  if (!slice && !by.type.is_integer())
    fail(n, "the index of a string has to be an integer; got " + name(by.type));
  const bool constant = a.type.is(Type::Tag::Text);
  auto fixed = [&](const Value& v) { return v.type.is(Type::Tag::None) || known_int(v); };
  if (!constant || !(slice ? std::ranges::all_of(by.items, fixed) : fixed(by))) {
    const Value s = string_of(n, a);
    if (!slice) {
      Val at = wrapped(n, index_value(n, by), string_length(s), 0, array_node(n));
      return part_of_string(s, at, add(at, ci(1)));
    }
    std::vector<Value> args{s};
    const bool steps = !by.items[2].type.is(Type::Tag::None);
    for (size_t k = 0; k < (steps ? 3 : 2); ++k)
      args.push_back(by.items[k].type.is(Type::Tag::None) ? by.items[k]
                                                          : integer(index_value(n, by.items[k])));
    return call_string(n, steps ? "slice" : "part", std::move(args));
  }
  std::vector<std::string> characters;
  for (char b : a.type.text) {
    if (begins_character(b)) characters.emplace_back();
    characters.back() += b;
  }
  const auto size = static_cast<int64_t>(characters.size());
  if (slice) {
    Value all;
    all.type = Type::of(Type::Tag::Tuple);
    for (std::string& c : characters) {
      all.items.push_back(text(std::move(c)));
      all.type.items.push_back(all.items.back().type);
    }
    std::string part;
    for (const Value& c : index_tuple(n, all, by).items) part += c.type.text;
    return text(std::move(part));
  }
  auto k = known_int(by);
  int64_t i = *k < 0 ? *k + size : *k;
  if (i >= 0 && i < size) return text(std::move(characters[i]));
  when(b_->constant(DType::Bool, Scalar::from_bool(true)),
       [&] { raise_at(site(n, "IndexError", "string index out of range")); });
  return text("");
}

// An operator on a string and something else.
Value Lower::binary_text(const Node& n, Op op, const Value& a, const Value& b) {
  const bool both_text = a.type.is_text() && b.type.is_text();
  if (op == Op::add && both_text) {
    if (a.type.is(Type::Tag::Text) && b.type.is(Type::Tag::Text) &&
        a.type.text.size() + b.type.text.size() <= kLongest)
      return text(a.type.text + b.type.text);
    return call_string(n, "add", {a, b});
  }
  const Value &string = a.type.is_text() ? a : b, &other = &string == &a ? b : a;
  const bool counts =
      other.type.is_integer() && (other.type.weak || other.type.dtype != DType::Bool);
  if (op == Op::multiply && counts) {
    auto times = string.type.is(Type::Tag::Text) ? known_int(other) : std::nullopt;
    if (times) {
      auto most = static_cast<int64_t>(kLongest / std::max<size_t>(string.type.text.size(), 1));
      if (*times <= most || string.type.text.empty()) {
        std::string all;
        for (int64_t k = 0; k < *times && !string.type.text.empty(); ++k) all += string.type.text;
        return text(std::move(all));
      }
    }
    return call_string(n, "repeat", {string, integer(index_value(n, other))});
  }
  const bool formats = op == Op::remainder && &string == &a;
  const char* symbol = python_operator(op);
  if (symbol && !formats && op != Op::add && op != Op::multiply && row(op).rule != Rule::Compare &&
      (both_text || (other.type.is_number() && other.type.weak)))
    fail(n, std::string("operator ") + symbol + " does not work on " + name(a.type) + " and " +
                name(b.type));
  if (op == Op::add && other.type.is_number() && other.type.weak)
    fail(n, "operator + does not work on " + name(a.type) + " and " + name(b.type));
  if (formats) return percent_of(n, a, b);
  not_yet(n, what_works(op) + " of " + name(a.type) + " and " + name(b.type));
}

// A comparison of a string with another one, or with what is none; nothing: an array decides.
std::optional<Value> Lower::compare_text(const Node& n, NodeKind op, const Value& a,
                                         const Value& b) {
  auto known = [&](bool yes) { return from_scalar(Scalar::from_bool(yes), DType::Bool, true); };
  auto ordered = [&](int order) -> std::optional<bool> {
    switch (op) {
      case NodeKind::Eq: return order == 0;
      case NodeKind::NotEq: return order != 0;
      case NodeKind::Lt: return order < 0;
      case NodeKind::LtE: return order <= 0;
      case NodeKind::Gt: return order > 0;
      case NodeKind::GtE: return order >= 0;
      default: return {};
    }
  };
  if (a.type.is(Type::Tag::Text) && b.type.is(Type::Tag::Text)) {
    // UTF-8 is ordered as its characters are.
    auto yes = ordered(a.type.text.compare(b.type.text));
    return yes ? std::optional(known(*yes)) : std::nullopt;
  }
  if (a.type.is_text() && b.type.is_text()) {
    const bool same = op == NodeKind::Eq || op == NodeKind::NotEq;
    if (!same && !ordered(0)) return {};
    Value r = call_string(n, same ? "equal" : "order", {a, b});
    if (r.unknown() || op == NodeKind::Eq) return r;
    if (op == NodeKind::NotEq) return negated(n, r);
    static const std::map<NodeKind, Op> kRows = {{NodeKind::Lt, Op::less},
                                                 {NodeKind::LtE, Op::less_equal},
                                                 {NodeKind::Gt, Op::greater},
                                                 {NodeKind::GtE, Op::greater_equal}};
    return boolean(b_->emit(kRows.at(op), DType::Bool, r.v[0], ci(0)));
  }
  const Type& other = a.type.is_text() ? b.type : a.type;
  if (!other.is(Type::Tag::None) && !other.is(Type::Tag::Tuple) &&
      !(other.is_number() && other.weak))
    return {};
  if (op == NodeKind::Eq || op == NodeKind::NotEq) return known(op == NodeKind::NotEq);
  fail(n, name(a.type) + " and " + name(b.type) + " have no order");
}

// Whether one string is a part of the other.
Value Lower::contained_text(const Node& n, const Value& a, const Value& b) {
  if (a.type.is(Type::Tag::Text) && b.type.is(Type::Tag::Text))
    return from_scalar(Scalar::from_bool(b.type.text.find(a.type.text) != std::string::npos),
                       DType::Bool, true);
  return call_string(n, "contains", {b, a});
}

// --- numbers as text
// ---------------------------------------------------------------------------------

Value Lower::text_of_float(Val bits, Val format, int64_t room) {
  Value memory = allocate(DType::U32, std::vector<Val>{ci(room)});
  Value r;
  r.type = held_type(text("").type);
  r.v = {memory.v[0], memory.v[1],
         intrinsic(ir::Intrinsic::text, DType::I64, bits, memory.v[0], format, ir::Space::Global,
                   static_cast<int64_t>(ir::Text::OfFloat))};
  return r;
}

// str(v)
Value Lower::text_of(const Node& n, const Value& v) {
  if (v.unknown() || v.type.is_text()) return v;
  if (is_caught(v)) return text_of_error(n, v, false);
  if (v.type.is(Type::Tag::None)) return text("None");
  if (v.type.is_maybe())
    return joined(
        n, "text", [&] { return text_of(n, v.items[0]); }, [&] { return text("None"); }, v.v[0]);
  if (!v.type.is_number()) not_yet(n, "str() of " + name(v.type), "its parts, one by one");
  refuse_in_kernel(n, "strings");
  if (is_complex(v.type.dtype)) return call_string(n, "of complex", {v});
  if (v.type.dtype == DType::Bool) {
    if (v.known) return text(v.known->real() != 0 ? "True" : "False");
    return call_string(n, "of bool", {boolean(v.v[0])});
  }
  if (v.type.is_integer()) {
    if (auto k = known_int(v); k && v.known) return text(std::to_string(*k));
    if (v.type.dtype == DType::U64) return call_string(n, "of uint", {v});
    return call_string(n, "of int", {integer(as(v, DType::I64))});
  }
  if (is_half(v.type.dtype))
    not_yet(n, "str() of " + std::string(numbus::name(v.type.dtype)), "float(x)");
  constexpr int64_t kSingle = 2, kRoom = 40;  // compile/runtime.h; what the longest number takes
  return text_of_float(b_->emit(Op::bits, DType::I64, as(v, DType::F64)),
                       ci(v.type.dtype == DType::F32 ? kSingle : 0), kRoom);
}

// repr(v)
Value Lower::representation_of(const Node& n, const Value& v) {
  if (v.type.is_maybe())
    return joined(
        n, "text", [&] { return representation_of(n, v.items[0]); }, [&] { return text("None"); },
        v.v[0]);
  if (v.type.is_text()) return call_string(n, "repr", {v});
  if (v.type.is_number() && !v.type.weak)
    not_yet(n, "repr() of " + frontend::name(v.type), "str(x)");
  return is_caught(v) ? text_of_error(n, v, true) : text_of(n, v);
}

// --- what the user calls
// ------------------------------------------------------------------------------------

// str, format, ord, chr, and int and float of strings.
std::optional<Value> Lower::call_text_builtin(const Call& c, const std::string& name) {
  const Node& n = c.n;
  if (name == "str") {
    expect(c, name, 0, 1);
    return c.args.empty() ? text("") : text_of(n, c.args[0]);
  }
  if (name == "format") {
    expect(c, name, 1, 2);
    return formatted(n, c.args[0], c.args.size() > 1 ? c.args[1] : text(""));
  }
  if (name == "chr") {
    expect(c, name, 1, 1);
    if (!c.args[0].type.is_integer())
      fail(n, "chr() takes an integer; got " + frontend::name(c.args[0].type));
    refuse_in_kernel(n, "strings");
    return call_string(n, "chr", {integer(index_value(n, c.args[0]))});
  }
  if (name == "ord") {
    expect(c, name, 1, 1);
    if (!c.args[0].type.is_text())
      fail(n, "ord() takes a string; got " + frontend::name(c.args[0].type));
    return call_string(n, "ord", {c.args[0]});
  }
  if ((name != "int" && name != "float") || c.args.empty() || !c.args[0].type.is_text()) return {};
  expect(c, name, 1, name == "int" ? 2 : 1);
  if (name == "float") return call_string(n, "to float", {c.args[0]});
  Value base = c.args.size() > 1 ? c.args[1] : known_integer(10);
  if (!base.type.is_integer())
    fail(n, "int() takes an integer as base; got " + frontend::name(base.type));
  return call_string(n, "to int", {c.args[0], integer(index_value(n, base))});
}

// str.maketrans(…)
Value Lower::make_translation(const Call& c) {
  const Node& n = c.n;
  expect(c, "maketrans", 1, 3);
  if (std::ranges::any_of(c.args, [](const Value& a) { return a.unknown(); })) return {};
  if (c.args.size() == 1) {
    if (is_open(c.args[0].type)) return {};
    if (!c.args[0].type.is(Type::Tag::Dict) || c.args[0].type.is_set())
      fail(n, "maketrans() takes a dict, or two or three strings; got " + name(c.args[0].type));
    return call_string(n, "maketrans dict", {c.args[0]});
  }
  for (const Value& a : c.args)
    if (!a.type.is_text()) fail(n, "maketrans() takes strings; got " + name(a.type));
  return call_string(n, c.args.size() == 2 ? "maketrans" : "maketrans without",
                     {c.args.begin(), c.args.end()});
}

// A method. Of its arguments the table says what each may be: a string (s), a string or None (S),
// an integer (n), an index or None (i), strings that a loop goes over (l), a dict of characters
// (t); after | they may be left out.
Value Lower::string_method(const Call& c, const Value& self, const std::string& name) {
  const Node& n = c.n;
  static const std::map<std::string, std::string> kMethods = {
      {"startswith", "s|ii"}, {"endswith", "s|ii"},  {"find", "s|ii"},      {"rfind", "s|ii"},
      {"index", "s|ii"},      {"rindex", "s|ii"},    {"count", "s|ii"},     {"split", "|Sn"},
      {"rsplit", "|Sn"},      {"splitlines", "|n"},  {"join", "l"},         {"strip", "|S"},
      {"lstrip", "|S"},       {"rstrip", "|S"},      {"replace", "ss|n"},   {"zfill", "n"},
      {"center", "n|s"},      {"ljust", "n|s"},      {"rjust", "n|s"},      {"partition", "s"},
      {"rpartition", "s"},    {"removeprefix", "s"}, {"removesuffix", "s"}, {"upper", ""},
      {"lower", ""},          {"title", ""},         {"capitalize", ""},    {"swapcase", ""},
      {"casefold", ""},       {"isalpha", ""},       {"isdigit", ""},       {"isdecimal", ""},
      {"isnumeric", ""},      {"isalnum", ""},       {"isspace", ""},       {"isupper", ""},
      {"islower", ""},        {"istitle", ""},       {"isascii", ""},       {"isprintable", ""},
      {"isidentifier", ""},   {"expandtabs", "|n"},  {"translate", "t"}};
  if (name == "format" || name == "format_map") return filled_format(c, self, name);
  auto it = kMethods.find(name);
  if (name == "maketrans") return make_translation(c);
  if (it == kMethods.end()) {
    if (name == "encode")
      not_yet(n, ".encode() of a string: there are no bytes in compiled functions",
              "s.encode() outside, and np.frombuffer(b, np.uint8) as an argument");
    fail(n, "str has no method '" + name + "'");
  }
  std::string kinds = it->second;
  const size_t least = std::min(kinds.find('|'), kinds.size());
  std::erase(kinds, '|');
  Call given{n, c.args, {}};
  for (const auto& [k, v] : c.keywords) {
    const size_t at = name == "splitlines" && k == "keepends"                       ? 0
                      : name == "expandtabs" && k == "tabsize"                      ? 0
                      : !name.ends_with("split") || (k != "sep" && k != "maxsplit") ? 2
                      : k == "sep"                                                  ? 0
                                                                                    : 1;
    if (at == 2 || at < given.args.size())
      not_yet(n, "." + name + "() of a string with " + k + "=");
    if (at > given.args.size()) {
      Value none;
      none.type = Type::of(Type::Tag::None);
      given.args.push_back(none);
    }
    given.args.push_back(v);
  }
  expect(given, name, least, kinds.size());
  std::vector<Value> args{self};
  for (size_t k = 0; k < given.args.size(); ++k) {
    Value a = given.args[k];
    const bool none = a.type.is(Type::Tag::None);
    // One of several beginnings or ends.
    if (k == 0 && a.type.is(Type::Tag::Tuple) && name.ends_with("swith")) {
      Val any = b_->constant(DType::Bool, Scalar::from_bool(false));
      for (const Value& one : a.items) {
        Call each{n, given.args, {}};
        each.args[0] = one;
        Value found = string_method(each, self, name);
        if (found.unknown()) return {};
        any = b_->emit(Op::logical_or, DType::Bool, any, truth(n, found));
      }
      return boolean(any);
    }
    const char kind = kinds[k];
    const bool fits = kind == 's'   ? a.type.is_text()
                      : kind == 'S' ? a.type.is_text() || none
                      : kind == 'n' ? a.type.is_integer()
                      : kind == 'i' ? a.type.is_integer() || none
                                    : true;
    if (kind == 't') {
      if (a.unknown() || is_open(a.type)) return {};
      if (!a.type.is(Type::Tag::Dict) || a.type.is_set() || !a.type.items[0].is_integer())
        not_yet(n, ".translate() by " + frontend::name(a.type), "str.maketrans(…)");
    }
    if (!fits)
      fail(n, "." + name + "() of a string does not take " + frontend::name(a.type) + " there",
           kind == 'n' || kind == 'i' ? "an integer" : "a string");
    if (a.type.is_integer()) a = integer(index_value(n, a));
    if (kind == 'l') {
      if (a.type.is_text()) a = list_from(n, a);
      if (a.type.is(Type::Tag::Dict)) a = list_from(n, dict_view("keys", a));
      if (a.type.is(Type::Tag::Tuple) || a.type.is(Type::Tag::Iterator)) {
        if (a.type.is(Type::Tag::Tuple) && a.items.empty()) return text("");
        a = list_from(n, a);
      }
      if (a.unknown()) return {};
      if (!a.type.is(Type::Tag::List) || !a.type.items[0].is(Type::Tag::String)) {
        if (is_open(a.type)) return {};
        fail(n, "." + name + "() takes strings; got " + frontend::name(a.type));
      }
    }
    args.push_back(a);
  }
  return call_string(n, name.c_str(), std::move(args));
}

// What the library is made of: the characters of a string as an array; a string of an array, or a
// part of a string; texts as numbers.
Value Lower::string_primitive(const Call& c, const std::string& what) {
  const Node& n = c.n;
  refuse_in_kernel(n, "strings");
  if (what == "codes" || what == "memory") {
    const Value s = string_of(n, c.args[0]);
    Value r;
    r.type = Type::array_of(DType::U32, 1);
    r.type.owned = true;
    r.type.readonly = what == "codes";
    r.v = {s.v[0], s.v[1], string_length(s), ci(4)};
    set_origin(r, own_origin());
    return r;
  }
  if (what == "number") {  // whether the characters are a float, which goes into an array of one
    const Value s = string_of(n, c.args[0]);
    return integer(intrinsic(ir::Intrinsic::text, DType::I64, s.v[0], string_length(s),
                             c.args[1].v[0], ir::Space::Global,
                             static_cast<int64_t>(ir::Text::ToFloat)));
  }
  if (what == "room") {
    const Value s = string_of(n, c.args[0]);
    const Val end = add(s.v[0], mul(index_value(n, c.args[1]), ci(4)));
    return integer(intrinsic(ir::Intrinsic::text, DType::I64, s.v[1], end, ir::kNone,
                             ir::Space::Global, static_cast<int64_t>(ir::Text::Room)));
  }
  if (what == "float")  // a float's text, in a format and in so many characters
    return text_of_float(b_->emit(Op::bits, DType::I64, as(c.args[0], DType::F64)),
                         index_value(n, c.args[1]), *known_int(c.args[2]));
  if (what == "sort") return known_integer(sort_of(n, c.args[0]));
  Value s = string_of(n, c.args[0]);
  if (s.type.is_array()) {
    Value r;
    r.type = held_type(text("").type);
    r.v = {s.v[0], s.v[1], s.shape()[0]};
    s = r;
  }
  return part_of_string(s, index_value(n, c.args[1]), index_value(n, c.args[2]));
}

}  // namespace numbus::frontend
