// Named tuples: made, read by field, and copied with other values.
#include <sstream>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string s;
  for (size_t i = 1; i < names.size(); ++i) s += (i > 1 ? ", " : "") + names[i];
  return s.empty() ? "none" : s;
}

size_t field_index(const std::vector<std::string>& names, const std::string& field) {
  size_t i = 1;
  while (i < names.size() && names[i] != field) ++i;
  return i;
}

}  // namespace

Type Lower::named_type(const std::string& text, int number) {
  Type t = Type::of(Type::Tag::Tuple);
  t.number = number;
  std::istringstream words(text);
  for (std::string w; words >> w;) t.names.push_back(w);
  return t;
}

Value Lower::plain_tuple(Value v) {
  v.type.names.clear();
  v.type.number = -1;
  v.type.listed = v.fresh = false;
  return v;
}

// Point(1, y=2): cls is what the class is as a value.
Value Lower::make_named(const Call& c, const Type& cls) {
  Value r;
  r.type = named_type(cls.text.substr(cls.text.find(' ') + 1), cls.number);
  const std::vector<std::string>& names = r.type.names;
  size_t count = names.size() - 1;
  const auto& defaults = u_.classes.at(cls.number)->all(Field::elts);
  if (c.args.size() > count)
    fail(c.n,
         names[0] + "() takes " + std::to_string(count) + " values; got " +
             std::to_string(c.args.size() + c.keywords.size()),
         "its fields are " + listed(names));
  for (const auto& [k, v] : c.keywords) {
    size_t i = field_index(names, k);
    if (i > count)
      fail(c.n, names[0] + "() has no field '" + k + "'", "its fields are " + listed(names));
    if (i <= c.args.size()) fail(c.n, names[0] + "() got two values for '" + k + "'");
  }
  for (size_t i = 0; i < count; ++i) {
    const Value* given = c.get(i, names[i + 1]);
    bool has_default = i + defaults.size() >= count;
    if (!given && !has_default)
      fail(c.n, names[0] + "() is missing '" + names[i + 1] + "'",
           "its fields are " + listed(names));
    Value v = given ? *given : expression(defaults[i + defaults.size() - count]);
    r.items.push_back(boxed(c.n, v.lazy ? materialise(c.n, v) : v));
    if (r.items.back().unknown()) return {};
    r.type.items.push_back(r.items.back().type);
  }
  return r;
}

Value Lower::replace_named(const Call& c, const Value& old) {
  const std::vector<std::string>& names = old.type.names;
  if (!c.args.empty()) fail(c.n, "_replace() takes keywords only", "p._replace(x=…)");
  Value r = old;
  for (const auto& [k, v] : c.keywords) {
    size_t i = field_index(names, k);
    if (i == names.size())
      fail(c.n, names[0] + " has no field '" + k + "'", "its fields are " + listed(names));
    r.items[i - 1] = boxed(c.n, v.lazy ? materialise(c.n, v) : v);
    if (r.items[i - 1].unknown()) return {};
    r.type.items[i - 1] = r.items[i - 1].type;
  }
  return r;
}

Value Lower::field_of(const Node& n, const Value& v, const std::string& name) {
  const std::vector<std::string>& names = v.type.names;
  size_t i = field_index(names, name);
  if (i < names.size()) return v.items[i - 1];
  if (name == "_fields") {
    Value r;
    r.type = Type::of(Type::Tag::Tuple);
    for (size_t k = 1; k < names.size(); ++k) {
      Value text;
      text.type = Type::of(Type::Tag::Text);
      text.type.text = names[k];
      r.items.push_back(text);
      r.type.items.push_back(text.type);
    }
    return r;
  }
  fail(n, frontend::name(v.type) + " has no field '" + name + "'",
       "its fields are " + listed(names));
}

}  // namespace numbus::frontend
