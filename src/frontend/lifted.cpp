// Local functions that call themselves: they cannot be expanded where they are called. Each is a
// function of its own, to which a call gives what it reads of the names around it.
#include <algorithm>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

void each_node(const Node& n, const std::function<void(const Node&)>& see) {
  see(n);
  for (const auto& [field, nodes] : n.fields)
    for (const Node& c : nodes) each_node(c, see);
}

// Names that something within binds by itself: parameters, and targets of comprehensions.
std::set<std::string> bound_within(const Node& definition) {
  std::set<std::string> all;
  each_node(definition, [&](const Node& n) {
    if (n.kind == NodeKind::arg) all.insert(n.text);
    if (n.kind != NodeKind::comprehension) return;
    for (const Node& t : n.all(Field::target))
      each_node(t, [&](const Node& name) {
        if (name.kind == NodeKind::Name) all.insert(name.text);
      });
  });
  return all;
}

}  // namespace

bool Lower::calls_itself(const Node& definition) {
  const auto& body = definition.all(Field::body);
  Node own;
  own.kind = NodeKind::Name;
  own.text = definition.text;
  bool reads = false;
  for (const Node& statement : body)
    each_node(statement, [&](const Node& n) {
      reads = reads || (n.kind == NodeKind::Name && n.text == definition.text);
    });
  return reads && !renews(body, own) && !is_generator(definition);
}

Value Lower::lifted_function(const Node& definition) {
  const Node& given = *definition.one(Field::args);
  for (Field f : {Field::defaults, Field::kw_defaults})
    for (const Node& d : given.all(f))
      if (d.kind != NodeKind::Constant && d.kind != NodeKind::Global &&
          d.kind != NodeKind::Unsupported)
        not_yet(d, "a default that is computed, of a local function that calls itself",
                "define the function at module level");
  auto& all = u_.lifted;
  auto it = std::ranges::find(all, &definition, &Unit::Lifted::definition);
  if (it == all.end()) {
    Unit::Lifted made{&definition, {}, {}};
    const auto& body = definition.all(Field::body);
    std::set<std::string> known = bound_within(definition);
    known.insert(definition.text);
    for (const Node& statement : body)
      each_node(statement, [&](const Node& n) {
        if (n.kind == NodeKind::Name && !renews(body, n) && known.insert(n.text).second)
          made.names.push_back(n.text);
      });
    made.source.name = definition.text;
    made.source.file = scope_->source->file;
    made.source.kind = scope_->source->kind;
    made.source.definition = definition;
    for (auto& [field, nodes] : made.source.definition.fields) {
      if (field != Field::args) continue;
      Node& arguments = nodes[0];
      auto part = [&](Field f) -> std::vector<Node>& {
        for (auto& [own, list] : arguments.fields)
          if (own == f) return list;
        return arguments.fields.emplace_back(f, std::vector<Node>{}).second;
      };
      for (const std::string& name : made.names) {
        Node parameter;
        parameter.kind = NodeKind::arg;
        parameter.text = name;
        parameter.line = definition.line;
        parameter.col = definition.col;
        part(Field::kwonlyargs).push_back(parameter);
      }
    }
    all.push_back(std::move(made));
    it = all.end() - 1;
  }
  const int number = static_cast<int>(it - all.begin());
  lifted_[number] = scope_;
  Value v;
  v.type = Type::of(Type::Tag::Function);
  v.type.text = "lifted " + definition.text;
  v.type.number = number;
  return v;
}

// In the function itself, its name.
void Lower::know_itself(int number) {
  const Node& definition = u_.lifted[static_cast<size_t>(number)].source.definition;
  Value v;
  v.type = Type::of(Type::Tag::Function);
  v.type.text = "lifted " + definition.text;
  v.type.number = number;
  lifted_[number] = scope_;
  assign_name(definition, definition.text, v);
}

Value Lower::call_lifted(const Call& c, int number) {
  auto seen = lifted_.find(number);
  if (seen == lifted_.end())
    not_yet(c.n, "a local function that calls itself as an argument of another function",
            "define the function at module level");
  Call all{c.n, c.args, c.keywords};
  Scope* caller = std::exchange(scope_, seen->second);
  for (const std::string& name : u_.lifted[static_cast<size_t>(number)].names) {
    const Value v = read_variable(c.n, name);
    const bool function = v.type.is(Type::Tag::Function) && v.type.text != "function";
    if (function)
      not_yet(c.n, "a local function that calls itself and another local function, '" + name + "'",
              "define them at module level");
    all.keywords.emplace_back(name, v);
  }
  scope_ = caller;
  for (const auto& [name, v] : all.keywords)
    if (v.unknown()) return {};
  return call_function(all, Unit::kLifted + number);
}

}  // namespace numbus::frontend
