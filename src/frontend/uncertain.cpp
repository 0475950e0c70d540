// Names that may be read before anything was assigned to them: beside the variable of such a name
// stands a flag, a variable under a name of its own, which reads look at that are not certain to
// come after an assignment (assigned.h). LLVM removes what it knows.
#include "frontend/portion.h"

namespace numbus::frontend {

const std::set<std::string>& Unit::uncertain_in(const Node& definition) {
  auto [at, fresh] = uncertain_names.try_emplace(&definition);
  if (fresh) at->second = find_uncertain(definition, options.shares_scopes, uncertain);
  return at->second;
}

// The scope of a function's names, whose parameters are bound next.
void Lower::enter(Scope& scope, const Node& definition) {
  scope.definition = &definition;
  if (!scope.source || scope.source->library()) return;
  make_flags(scope, u_.uncertain_in(definition));
}

void Lower::make_flags(Scope& scope, const std::set<std::string>& names) {
  for (const std::string& name : names) {
    Variable flag;
    flag.type = Type::number_of(DType::Bool);
    flag.key = scope.prefix + flag_of(name);
    flag.slots = {new_variable(DType::Bool, b_->constant(DType::Bool, Scalar::from_bool(false)))};
    scope.variables[flag_of(name)] = std::move(flag);
  }
}

// That a name of this scope has been given a value, or has lost it.
void Lower::has_value(const std::string& name, bool yes) {
  auto flag = scope_->variables.find(flag_of(name));
  if (flag != scope_->variables.end())
    set(flag->second.slots[0], b_->constant(DType::Bool, Scalar::from_bool(yes)));
}

Lower::Scope* Lower::scope_of(const Node& definition) {
  for (Scope* s = scope_; s; s = s->outer)
    if (s->definition == &definition) return s;
  return nullptr;
}

std::optional<Val> Lower::flag(const std::string& name) {
  if (portion_)
    if (std::optional<Value> outside = portion_->read(*this, flag_of(name))) return outside->v[0];
  const Variable* here = find_variable(flag_of(name));
  return here ? std::optional(get(here->slots[0])) : std::nullopt;
}

// Raises where the name has no value; says whether it may have one at all.
bool Lower::expect_value(const Node& at, const std::string& name, const UncertainRead& read) {
  if (read.never) {
    raise_without_value(at, name, read.free);
    return false;
  }
  const std::optional<Val> has = flag(name);
  if (!has)
    not_yet(at, "'" + name + "', which may be read before anything is assigned to it",
            "an assignment before");
  when(negate(*has), [&] { raise_without_value(at, name, read.free); });
  return true;
}

void Lower::raise_without_value(const Node& at, const std::string& name, bool free) {
  // What an iteration before has left there is not there where iterations have no order.
  if (portion_ && portion_->own.contains(name) && find_variable(flag_of(name)))
    return raise_at(site(at, "NotImplementedError",
                         "not yet in compiled functions: '" + name +
                             "', which an iteration of a parallel loop reads before it assigns to "
                             "it"));
  raise_at(free ? site(at, "NameError",
                       "cannot access free variable '" + name +
                           "' where it is not associated with a value in enclosing scope")
                : site(at, "UnboundLocalError",
                       "cannot access local variable '" + name +
                           "' where it is not associated with a value"));
}

// A local function that calls itself is given what it reads of the names around it before it asks
// for them.
void Lower::expect_value_for_lifted(const Node& at, const std::string& name) {
  const std::optional<Val> has = flag(name);
  if (!has) return;
  when(negate(*has), [&] {
    raise_at(site(at, "NotImplementedError",
                  "not yet in compiled functions: a call of a local function that calls itself, "
                  "before anything is assigned to '" +
                      name + "', which it reads"));
  });
}

}  // namespace numbus::frontend
