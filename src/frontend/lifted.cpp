// Local functions that call themselves or each other: they cannot be expanded where they are
// called. Each is a function of its own, to which a call gives what it reads of the names around
// it.
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

bool assigns(const Node& definition, const std::string& name) {
  Node own;
  own.kind = NodeKind::Name;
  own.text = name;
  return renews(definition.all(Field::body), own);
}

// Whether a function's body reads the name, which is none of its own.
bool reads(const Node& definition, const std::string& name) {
  bool found = false;
  for (const Node& statement : definition.all(Field::body))
    each_node(statement, [&](const Node& n) {
      found = found || (n.kind == NodeKind::Name && n.text == name);
    });
  return found && !assigns(definition, name) && !bound_within(definition).contains(name);
}

// The statements among which one stands.
const std::vector<Node>* around(const Node& n, const Node& statement) {
  for (const auto& [field, nodes] : n.fields)
    for (const Node& c : nodes) {
      if (&c == &statement) return &nodes;
      if (const auto* found = around(c, statement)) return found;
    }
  return nullptr;
}

// The functions, defined one after the other, that this one calls and that call it, maybe by way of
// others: with itself, in their order.
std::vector<const Node*> circle(const Node& root, const Node& definition) {
  const auto* all = around(root, definition);
  std::vector<const Node*> beside;
  if (all == nullptr) return {&definition};
  for (const Node& n : *all) {
    if (n.kind == NodeKind::FunctionDef) {
      beside.push_back(&n);
      continue;
    }
    // What stands between may call one of them before the next is there.
    if (std::ranges::find(beside, &definition) != beside.end()) break;
    beside.clear();
  }
  std::set<std::string> names;
  for (const Node* n : beside)
    if (!names.insert(n->text).second) return {&definition};
  auto reached = [&](const Node& from) {
    std::set<const Node*> seen;
    std::vector<const Node*> open{&from};
    while (!open.empty()) {
      const Node* f = open.back();
      open.pop_back();
      for (const Node* n : beside)
        if (reads(*f, n->text) && seen.insert(n).second) open.push_back(n);
    }
    return seen;
  };
  const auto from_here = reached(definition);
  std::vector<const Node*> found;
  for (const Node* n : beside)
    if (n == &definition || (from_here.contains(n) && reached(*n).contains(&definition)))
      found.push_back(n);
  return found;
}

}  // namespace

bool Lower::calls_itself(const Node& definition) {
  const auto all = circle(scope_->source->definition, definition);
  return (all.size() > 1 || reads(definition, definition.text)) &&
         std::ranges::none_of(all, [](const Node* n) { return is_generator(*n); });
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
    const auto members = circle(scope_->source->definition, definition);
    std::vector<std::string> names;
    std::set<std::string> known;
    for (const Node* n : members) known.insert(n->text);
    for (const Node* member : members)
      for (const Node& statement : member->all(Field::body))
        each_node(statement, [&](const Node& n) {
          if (n.kind == NodeKind::Name && reads(*member, n.text) && known.insert(n.text).second)
            names.push_back(n.text);
        });
    const int first = static_cast<int>(all.size());
    for (const Node* member : members) {
      const std::set<std::string> own = bound_within(*member);
      for (const std::string& name : names)
        if (own.contains(name) || assigns(*member, name))
          not_yet(*member,
                  "local functions that call each other, of which one reads a '" + name +
                      "' around them that another has itself",
                  "another name");
      Unit::Lifted made{member, {}, names, first, static_cast<int>(members.size())};
      made.source.name = member->text;
      made.source.file = scope_->source->file;
      made.source.kind = scope_->source->kind;
      made.source.definition = *member;
      for (auto& [field, nodes] : made.source.definition.fields) {
        if (field != Field::args) continue;
        Node& arguments = nodes[0];
        auto part = [&](Field f) -> std::vector<Node>& {
          for (auto& [own, list] : arguments.fields)
            if (own == f) return list;
          return arguments.fields.emplace_back(f, std::vector<Node>{}).second;
        };
        for (const std::string& name : names) {
          Node parameter;
          parameter.kind = NodeKind::arg;
          parameter.text = name;
          parameter.line = member->line;
          parameter.col = member->col;
          part(Field::kwonlyargs).push_back(parameter);
        }
      }
      all.push_back(std::move(made));
    }
    it = std::ranges::find(all, &definition, &Unit::Lifted::definition);
  }
  const int number = static_cast<int>(it - all.begin());
  for (int k = 0; k < it->count; ++k) lifted_[it->first + k] = scope_;
  Value v;
  v.type = Type::of(Type::Tag::Function);
  v.type.text = "lifted " + definition.text;
  v.type.number = number;
  return v;
}

// In the function itself, its name and those of the functions that it calls and that call it.
void Lower::know_itself(int number) {
  const Unit::Lifted& own = u_.lifted[static_cast<size_t>(number)];
  for (int k = own.first; k < own.first + own.count; ++k) {
    const Node& definition = u_.lifted[static_cast<size_t>(k)].source.definition;
    Value v;
    v.type = Type::of(Type::Tag::Function);
    v.type.text = "lifted " + definition.text;
    v.type.number = k;
    lifted_[k] = scope_;
    assign_name(definition, definition.text, v);
  }
}

Value Lower::call_lifted(const Call& c, int number) {
  auto seen = lifted_.find(number);
  if (seen == lifted_.end())
    not_yet(c.n, "a local function that calls itself as an argument of another function",
            "define the function at module level");
  Call all{c.n, c.args, c.keywords};
  Scope* caller = std::exchange(scope_, seen->second);
  for (const std::string& name : u_.lifted[static_cast<size_t>(number)].names) {
    expect_value_for_lifted(c.n, name);
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
