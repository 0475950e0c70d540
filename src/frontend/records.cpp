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

// A field that is a number, where the record is one; arrays and records as they are.
Value Lower::value_of_field(const Node& n, const Value& v, const std::string& name) {
  Value field = field_of_records(n, v, name);
  return v.type.text == "record" && field.type.is_array() && field.type.ndim == 0
             ? element(field, {})
             : field;
}

// The extents of an array of records: the first ones of any field, which may have more.
std::vector<Val> Lower::shape_of_records(const Value& v) {
  const Value* leaf = &v;
  while (is_records(*leaf)) leaf = &leaf->items.at(0);
  std::span<const Val> all = leaf->shape();
  return {all.begin(), all.begin() + v.type.ndim};
}

// By a field's name, or by indices as in other arrays: then all fields are indexed.
Value Lower::index_records(const Node& n, const Value& v, const Value& by) {
  if (by.type.is(Type::Tag::Text)) return value_of_field(n, v, by.type.text);
  if (v.type.text == "record") {
    if (auto k = known_int(by); k && *k >= 0 && *k < static_cast<int64_t>(v.items.size()))
      return value_of_field(n, v, v.type.names[static_cast<size_t>(*k) + 1]);
    fail(n, "a record is indexed by the name of a field", "r['name'], or r.name");
  }
  std::vector<Value> list = by.type.is(Type::Tag::Tuple) ? by.items : std::vector<Value>{by};
  int axes = v.type.ndim;
  for (const Value& i : list) {
    if (i.type.is_array()) not_yet(n, "arrays of records indexed by arrays", "a loop");
    if (i.type.is(Type::Tag::Ellipsis)) not_yet(n, "'...' as an index of an array of records");
    if (i.type.is(Type::Tag::NewAxis) || i.type.is(Type::Tag::None)) ++axes;
    if (i.type.is_number()) --axes;
  }
  if (axes < 0)
    fail(n, "too many indices: an array of records has " + std::to_string(v.type.ndim) +
                " dimensions, but " + std::to_string(list.size()) + " were indexed");
  Value r = v;
  for (size_t k = 0; k < r.items.size(); ++k) {
    r.items[k] =
        is_records(v.items[k]) ? index_records(n, v.items[k], by) : view(n, v.items[k], list);
    r.type.items[k] = r.items[k].type;
  }
  r.type.ndim = static_cast<uint8_t>(axes);
  if (axes == 0) r.type.text = "record";
  return r;
}

void Lower::store_records(const Node& n, const Value& v, const Value& by, const Value& from) {
  if (from.unknown()) return;
  fill_records(
      n,
      by.type.is(Type::Tag::Text) ? field_of_records(n, v, by.type.text) : index_records(n, v, by),
      from);
}

// Each field of a record, or the elements of an array.
void Lower::fill_records(const Node& n, const Value& to, const Value& from) {
  if (!is_records(to)) return fill(n, to, from);
  if (!from.type.is(Type::Tag::Tuple) || from.items.size() != to.items.size())
    fail(n, "cannot assign " + name(from.type) + " to a record", "a tuple of all fields");
  for (size_t k = 0; k < to.items.size(); ++k) fill_records(n, to.items[k], from.items[k]);
}

uint64_t Lower::origin_of(const Value& v) const {
  uint64_t all = v.origin;
  const bool holds = v.type.is(Type::Tag::List) || v.type.is(Type::Tag::Dict);
  if (v.type.is(Type::Tag::Object) || (holds && !v.type.items.back().is_number())) all |= in_lists_;
  for (const Value& i : v.items) all |= origin_of(i);
  return all;
}

void Lower::put_in_lists(uint64_t origin) {
  if ((in_lists_ | origin) != in_lists_) changed_ = true;
  in_lists_ |= origin;
}

void Lower::set_origin(Value& v, uint64_t origin) {
  if (v.type.is_array() || v.type.is(Type::Tag::List) || v.type.is(Type::Tag::Dict) ||
      v.type.is(Type::Tag::Object) || v.type.is(Type::Tag::Generator))
    v.origin = origin;
  for (Value& i : v.items) set_origin(i, origin);
}

}  // namespace numbus::frontend
