// Structured arrays: an array of records is a tuple of its fields' arrays, under their names, and
// one record a tuple of arrays without dimensions.
#include "frontend/lower.h"

namespace numbus::frontend {

bool Lower::is_records(const Value& v) {
  return v.type.is(Type::Tag::Tuple) && (v.type.text == "records" || v.type.text == "record");
}

Value Lower::field_of_records(const Node& n, const Value& v, const std::string& field) {
  const std::vector<std::string>& names = v.type.names;
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i] == field) return v.items[i - 1];
  std::string all;
  for (size_t i = 1; i < names.size(); ++i) all += (i > 1 ? ", " : "") + names[i];
  fail(n, "no field of that name; got '" + field + "'", "one of " + all);
}

// By a field's name, or by indices as in other arrays: then all fields are indexed.
Value Lower::index_records(const Node& n, const Value& v, const Value& by) {
  if (by.type.is(Type::Tag::Text)) {
    Value field = field_of_records(n, v, by.type.text);
    return v.type.text == "record" ? element(field, {}) : field;
  }
  if (v.type.text == "record") {
    if (auto k = known_int(by); k && *k >= 0 && *k < static_cast<int64_t>(v.items.size()))
      return element(v.items[*k], {});
    fail(n, "a record is indexed by the name of a field", "r['name'], or r.name");
  }
  std::vector<Value> list = by.type.is(Type::Tag::Tuple) ? by.items : std::vector<Value>{by};
  for (const Value& i : list)
    if (i.type.is_array()) not_yet(n, "arrays of records indexed by arrays", "a loop");
  Value r = v;
  for (size_t k = 0; k < r.items.size(); ++k) {
    r.items[k] = view(n, v.items[k], list);
    r.type.items[k] = r.items[k].type;
  }
  if (!r.items.empty() && r.items[0].type.ndim == 0) r.type.text = "record";
  return r;
}

void Lower::store_records(const Node& n, const Value& v, const Value& by, const Value& from) {
  if (from.unknown()) return;
  if (by.type.is(Type::Tag::Text)) return fill(n, field_of_records(n, v, by.type.text), from);
  Value to = index_records(n, v, by);
  if (!from.type.is(Type::Tag::Tuple) || from.items.size() != to.items.size())
    fail(n, "cannot assign " + name(from.type) + " to a record", "a tuple of all fields");
  for (size_t k = 0; k < to.items.size(); ++k) fill(n, to.items[k], from.items[k]);
}

uint64_t Lower::origin_of(const Value& v) const {
  uint64_t all = v.origin;
  const bool holds = v.type.is(Type::Tag::List) || v.type.is(Type::Tag::Dict);
  if (holds && !v.type.items.back().is_number()) all |= in_lists_;
  for (const Value& i : v.items) all |= origin_of(i);
  return all;
}

void Lower::put_in_lists(uint64_t origin) {
  if ((in_lists_ | origin) != in_lists_) changed_ = true;
  in_lists_ |= origin;
}

void Lower::set_origin(Value& v, uint64_t origin) {
  if (v.type.is_array() || v.type.is(Type::Tag::List) || v.type.is(Type::Tag::Dict))
    v.origin = origin;
  for (Value& i : v.items) set_origin(i, origin);
}

}  // namespace numbus::frontend
