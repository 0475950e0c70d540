// Numbers and texts of run time that decide types: a function is compiled for each value of a
// parameter that such a value comes from (keepdims=k, moveaxis(a, m, n), einsum(s, a)).
#include <algorithm>
#include <cctype>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr int64_t kLargest = 1024;  // of numbers that functions are compiled for

// How often statements, also of functions inside, give a name a value.
int times_given(const Node& n, const std::string& name, bool target) {
  int times = n.kind == NodeKind::Name && target && n.text == name;
  for (const auto& [field, nodes] : n.fields) {
    const bool to = field == Field::target || field == Field::targets ||
                    (target && (field == Field::elts || field == Field::value));
    for (const Node& part : nodes) times += times_given(part, name, to);
  }
  return times;
}

void numbers_in(const Value& v, std::vector<Val>& all) {
  if (v.type.is(Type::Tag::String) && !v.v.empty()) all.push_back(v.v[0]);
  if (v.type.is_integer() && !v.known && !v.v.empty()) all.push_back(v.v[0]);
  for (const Value& i : v.items) numbers_in(i, all);
}

}  // namespace

bool decided_by(Type& t, int64_t value) {
  if (!t.is_integer() || !t.text.empty() || value < -kLargest || value > kLargest) return false;
  t.text = "=" + std::to_string(value);
  return true;
}

bool decided_by(Type& t, const std::string& value) {
  constexpr size_t kLongest = 64;
  // Keys hold it as it is.
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) || c == ',' || c == '.' || c == '-' || c == '>' || c == ' ';
  };
  if (!t.is(Type::Tag::String) || !t.text.empty() || value.size() > kLongest ||
      !std::ranges::all_of(value, is_plain))
    return false;
  t.text = "=" + value;
  return true;
}

Type without_values(Type t) {
  if (t.is_number() || t.is(Type::Tag::String)) t.text.clear();
  for (Type& i : t.items) i = without_values(std::move(i));
  return t;
}

// How often the function gives a name a value: numbers that are known stay so in one of one value.
int Lower::times_given(const std::string& name) {
  auto [at, fresh] = times_given_.try_emplace(name, 0);
  if (fresh)
    for (const Node& n : source_.definition.all(Field::body))
      at->second += frontend::times_given(n, name, false);
  return at->second;
}

// Notes that what is being compiled would go on if it knew this number.
void Lower::asks_for(const Value& v) { numbers_in(v, asked_); }

// The parameters that the numbers which were asked for come from, the last one first.
std::vector<size_t> Lower::parameters_asked_for() {
  if (!f_) return {};         // between passes
  std::vector<size_t> owner;  // of the words of parameters
  for (size_t p = 0; p < spec_.arguments.size(); ++p)
    owner.resize(owner.size() + words(spec_.arguments[p]).size(), p);
  const size_t first = generates_ ? 1 : 0;  // the frame's address
  const std::vector<ir::Inst>& body = f_->body;
  std::vector<size_t> found;
  std::vector<char> seen(body.size(), 0);
  std::function<void(Val)> follow = [&](Val v) {
    if (v == ir::kNone || static_cast<size_t>(v) >= body.size() || seen[static_cast<size_t>(v)])
      return;
    seen[static_cast<size_t>(v)] = 1;
    const ir::Inst& i = body[static_cast<size_t>(v)];
    switch (i.op) {
      case Op::param: {
        const size_t word = static_cast<size_t>(i.imm) - first;
        if (word < owner.size() && std::ranges::find(found, owner[word]) == found.end())
          found.push_back(owner[word]);
        return;
      }
      case Op::get:
        for (size_t k = 0; k < body.size(); ++k)
          if (body[k].op == Op::set && body[k].a == i.a) follow(body[k].b);
        return;
      case Op::load:
      case Op::call_result:
      case Op::constant: return;
      default:
        for (Val operand : {i.a, i.b, i.c}) follow(operand);
    }
  };
  for (size_t k = asked_.size(); k-- > 0;) follow(asked_[k]);
  std::erase_if(found, [&](size_t p) {
    const Type& t = spec_.arguments[p];
    return !t.is_integer() && !t.is(Type::Tag::Tuple) && !t.is(Type::Tag::String);
  });
  return found;
}

namespace {

// Has a type say the numbers in a value that are known; whether it says more now.
bool decide(Type& t, const std::function<std::optional<int64_t>(const Value&)>& known,
            const Value& v) {
  if (t.is_integer()) {
    const auto k = known(v);
    return k && decided_by(t, *k);
  }
  bool more = false;
  if (t.is(Type::Tag::Tuple))
    for (size_t i = 0; i < t.items.size() && i < v.items.size(); ++i)
      more = decide(t.items[i], known, v.items[i]) || more;
  return more;
}

}  // namespace

// A function for these arguments, and for the values of those that it asks for and that are known.
Spec& Lower::specialise(const Call& c, int source, std::vector<Type>& types,
                        const std::vector<Value>& args) {
  while (true) {
    try {
      return u_.specialise(source, types, &c.n);
    } catch (CompileError& e) {
      bool more = false;
      const std::vector<size_t> asked = std::exchange(e.parameters, {});
      const auto known = [&](const Value& v) { return known_int(v); };
      for (size_t p : asked)
        if (p < args.size()) more = decide(types[p], known, args[p]) || more;
      if (more) continue;
      asked_.clear();
      for (size_t p : asked)
        if (p < args.size()) asks_for(args[p]);
      e.parameters = parameters_asked_for();
      throw;
    }
  }
}

}  // namespace numbus::frontend
