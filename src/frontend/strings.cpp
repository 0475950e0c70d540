// Strings, which are constants: what follows from them is found while compiling.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr size_t kLongest = 1 << 12;  // bytes of a string that a program makes

bool begins_character(char b) { return (b & 0xc0) != 0x80; }

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

Value Lower::index_text(const Node& n, const Value& a, const Value& by) {
  std::vector<std::string> characters;
  for (char b : a.type.text) {
    if (begins_character(b)) characters.emplace_back();
    characters.back() += b;
  }
  const auto size = static_cast<int64_t>(characters.size());
  if (by.type.is(Type::Tag::Slice)) {
    for (const Value& v : by.items)
      if (!v.type.is(Type::Tag::None) && !(v.type.is_integer() && known_int(v)))
        not_yet(n, "a part of a string between indices that are no constants");
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
  if (!by.type.is_integer())
    fail(n, "the index of a string has to be an integer; got " + name(by.type));
  auto k = known_int(by);
  if (!k) not_yet(n, "a character of a string at an index that is no constant");
  int64_t i = *k < 0 ? *k + size : *k;
  if (i >= 0 && i < size) return text(std::move(characters[i]));
  when(b_->constant(DType::Bool, Scalar::from_bool(true)),
       [&] { raise_at(site(n, "IndexError", "string index out of range")); });
  return text("");
}

// An operator on a string and something else.
Value Lower::binary_text(const Node& n, Op op, const Value& a, const Value& b) {
  const bool both_text = a.type.is(Type::Tag::Text) && b.type.is(Type::Tag::Text);
  if (op == Op::add && both_text && a.type.text.size() + b.type.text.size() <= kLongest)
    return text(a.type.text + b.type.text);
  const Value &string = a.type.is(Type::Tag::Text) ? a : b, &other = &string == &a ? b : a;
  const bool counts =
      other.type.is_integer() && (other.type.weak || other.type.dtype != DType::Bool);
  if (op == Op::multiply && counts) {
    auto times = known_int(other);
    if (!times) not_yet(n, "a string as often as is known at run time");
    auto most = static_cast<int64_t>(kLongest / std::max<size_t>(string.type.text.size(), 1));
    if (*times <= most || string.type.text.empty()) {
      std::string all;
      for (int64_t k = 0; k < *times && !string.type.text.empty(); ++k) all += string.type.text;
      return text(std::move(all));
    }
  }
  const bool formats = op == Op::remainder && &string == &a;
  const char* symbol = python_operator(op);
  if (symbol && !formats && op != Op::add && op != Op::multiply && row(op).rule != Rule::Compare &&
      (both_text || (other.type.is_number() && other.type.weak)))
    fail(n, std::string("operator ") + symbol + " does not work on " + name(a.type) + " and " +
                name(b.type));
  if (op == Op::add && other.type.is_number() && other.type.weak)
    fail(n, "operator + does not work on " + name(a.type) + " and " + name(b.type));
  not_yet(n, "strings", "keep strings outside of the compiled function");
}

// A comparison of a string with another one, or with what is none; nothing: an array decides.
std::optional<bool> Lower::compare_text(const Node& n, NodeKind op, const Value& a,
                                        const Value& b) {
  if (a.type.is(Type::Tag::Text) && b.type.is(Type::Tag::Text)) {
    int order = a.type.text.compare(b.type.text);  // UTF-8 is ordered as its characters are
    switch (op) {
      case NodeKind::Eq: return order == 0;
      case NodeKind::NotEq: return order != 0;
      case NodeKind::Lt: return order < 0;
      case NodeKind::LtE: return order <= 0;
      case NodeKind::Gt: return order > 0;
      case NodeKind::GtE: return order >= 0;
      default: return {};
    }
  }
  const Type& other = a.type.is(Type::Tag::Text) ? b.type : a.type;
  if (!other.is(Type::Tag::None) && !other.is(Type::Tag::Tuple) &&
      !(other.is_number() && other.weak))
    return {};
  if (op == NodeKind::Eq || op == NodeKind::NotEq) return op == NodeKind::NotEq;
  fail(n, name(a.type) + " and " + name(b.type) + " have no order");
}

// An f-string, all parts of which have to be known.
Value Lower::joined_text(const Node& n) {
  std::string all;
  for (const Node& part : n.all(Field::values)) {
    Value v;
    if (!part.one(Field::format_spec)) {
      v = expression(part.kind == NodeKind::FormattedValue ? *part.one(Field::value) : part);
      if (v.unknown()) return {};
    }
    auto k = v.type.is_number() && v.type.weak && v.known ? known_int(v) : std::nullopt;
    if (v.type.is(Type::Tag::Text))
      all += v.type.text;
    else if (k && v.type.dtype == DType::Bool)
      all += *k ? "True" : "False";
    else if (k)
      all += std::to_string(*k);
    else
      not_yet(n, "f-strings as values",
              "an f-string in print(…), or as the message of an exception");
  }
  return text(std::move(all));
}

}  // namespace numbus::frontend
