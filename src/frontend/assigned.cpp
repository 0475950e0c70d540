// An analysis of assignments over all paths of a function's tree.
#include "frontend/assigned.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace numbus::frontend {

namespace {

using Names = std::set<std::string>;

bool is_function(const Node& n) {
  return n.kind == NodeKind::FunctionDef || n.kind == NodeKind::Lambda;
}

bool is_comprehension(const Node& n) {
  return n.kind == NodeKind::ListComp || n.kind == NodeKind::SetComp ||
         n.kind == NodeKind::DictComp || n.kind == NodeKind::GeneratorExp;
}

void names_of_target(const Node& t, Names& all) {
  if (t.kind == NodeKind::Name) all.insert(t.text);
  if (t.kind == NodeKind::Starred) return names_of_target(*t.one(Field::value), all);
  for (const Node& e : t.all(Field::elts)) names_of_target(e, all);
}

// The names that statements and expressions bind in their function, those that they delete, and
// those under which handlers have exceptions.
struct Bound {
  Names assigned, deleted, exceptions;

  void look(const Node& n) {
    switch (n.kind) {
      case NodeKind::FunctionDef: assigned.insert(n.text); break;
      case NodeKind::For:
      case NodeKind::AugAssign:
      case NodeKind::AnnAssign:
      case NodeKind::NamedExpr: names_of_target(*n.one(Field::target), assigned); break;
      case NodeKind::Assign:
        for (const Node& t : n.all(Field::targets)) names_of_target(t, assigned);
        break;
      case NodeKind::Delete:
        for (const Node& t : n.all(Field::targets)) names_of_target(t, deleted);
        break;
      case NodeKind::ExceptHandler:
        if (!n.text.empty()) exceptions.insert(n.text);
        break;
      default: break;
    }
    for (const auto& [field, nodes] : n.fields) {
      // Of a function within only what is evaluated where it is defined.
      if (is_function(n) && field == Field::body) continue;
      look(nodes);
    }
  }
  void look(const std::vector<Node>& nodes) {
    for (const Node& n : nodes) look(n);
  }
};

Names parameters_of(const Node& definition) {
  Names all;
  const Node* given = definition.one(Field::args);
  if (given == nullptr) return all;
  for (Field f : {Field::posonlyargs, Field::args, Field::vararg, Field::kwonlyargs, Field::kwarg})
    for (const Node& p : given->all(f)) all.insert(p.text);
  return all;
}

class Flow {
 public:
  Flow(const Node& definition, bool shares_scopes, UncertainReads& reads)
      : definition_(definition), shares_scopes_(shares_scopes), reads_(reads) {}

  Names run() {
    const std::vector<Node>& body = definition_.all(Field::body);
    Bound bound;
    bound.look(body);
    const Names parameters = parameters_of(definition_);
    for (const Names& names : {parameters, bound.assigned})
      for (const std::string& name : names)
        // What the name of a handler stands for is looked at where it is read.
        if (!bound.exceptions.contains(name)) own_.try_emplace(name, own_.size());
    deleted_ = bound.deleted;
    here_.certain = here_.possible = Set((own_.size() + 63) / 64);
    for (const std::string& name : parameters) give(name);
    if (definition_.kind == NodeKind::Lambda)
      expression(body[0]);
    else
      block(body);
    return std::move(uncertain_);
  }

 private:
  using Set = std::vector<uint64_t>;  // a bit for each name
  // The names that have a value on all paths to here, and on some. Nothing leads to code that is
  // not reached.
  struct State {
    Set certain, possible;
    bool reached = true;
  };
  struct Loop {
    std::vector<State> left;  // by a break
  };

  static void join(State& to, const State& from) {
    if (!from.reached) return;
    if (!to.reached) {
      to = from;
      return;
    }
    for (size_t w = 0; w < to.certain.size(); ++w) {
      to.certain[w] &= from.certain[w];
      to.possible[w] |= from.possible[w];
    }
  }

  // The bit of a name; of one that is none of this function's own: none.
  void set(Set& to, const std::string& name, bool on) const {
    auto it = own_.find(name);
    if (it == own_.end()) return;
    const uint64_t bit = uint64_t{1} << it->second % 64;
    uint64_t& word = to[it->second / 64];
    word = on ? word | bit : word & ~bit;
  }
  bool has(const Set& s, const std::string& name) const {
    const size_t k = own_.at(name);
    return s[k / 64] >> k % 64 & 1;
  }

  // As it may be after any number of these statements, some of them many times.
  State amid(State s, const Bound& bound) const {
    for (const std::string& name : bound.deleted) set(s.certain, name, false);
    for (const std::string& name : bound.assigned) set(s.possible, name, true);
    return s;
  }

  void end() { here_.reached = false; }

  void note(const Node& at, bool free, bool certain, bool never) {
    if (certain || !recording_) return;
    const std::string& name = at.text;
    auto [it, fresh] = reads_.try_emplace(&at, UncertainRead{&definition_, free, never});
    if (!fresh) it->second.never = it->second.never && never;
    uncertain_.insert(name);
  }

  void read(const Node& n) {
    if (!here_.reached || hidden_.contains(n.text) || !own_.contains(n.text)) return;
    note(n, within_comprehension_, has(here_.certain, n.text), !has(here_.possible, n.text));
  }

  void give(const std::string& name) {
    set(here_.certain, name, true);
    set(here_.possible, name, true);
  }

  // What a function within reads of this one's names: when it is called is not known.
  void function(const Node& within) {
    expression_list(within.one(Field::args)->all(Field::defaults));
    expression_list(within.one(Field::args)->all(Field::kw_defaults));
    if (!here_.reached) return;
    free_reads(within, {});
  }

  void free_reads(const Node& within, Names hidden) {
    Bound bound;
    bound.look(within.all(Field::body));
    for (const Names& own : {parameters_of(within), bound.assigned, bound.exceptions})
      hidden.insert(own.begin(), own.end());
    for (const Node& n : within.all(Field::body)) free_reads_of(n, hidden);
  }

  void free_reads_of(const Node& n, const Names& hidden) {
    if (n.kind == NodeKind::Name) {
      if (hidden.contains(n.text) || hidden_.contains(n.text) || !own_.contains(n.text)) return;
      note(n, true, has(here_.certain, n.text) && !deleted_.contains(n.text), false);
      return;
    }
    if (is_function(n)) {
      for (Field f : {Field::defaults, Field::kw_defaults})
        for (const Node& d : n.one(Field::args)->all(f)) free_reads_of(d, hidden);
      free_reads(n, hidden);
      return;
    }
    Names more;
    if (is_comprehension(n)) {
      more = hidden;
      for (const Node& g : n.all(Field::generators)) names_of_target(*g.one(Field::target), more);
    }
    for (const auto& [field, nodes] : n.fields)
      for (const Node& c : nodes) free_reads_of(c, more.empty() ? hidden : more);
  }

  // --- expressions

  void expression_list(const std::vector<Node>& all) {
    for (const Node& n : all) expression(n);
  }
  void part(const Node& n, Field f) {
    for (const Node& c : n.all(f)) expression(c);
  }
  void in_order(const Node& n, std::initializer_list<Field> fields) {
    for (Field f : fields) part(n, f);
  }

  void expression(const Node& n) {
    switch (n.kind) {
      case NodeKind::Name: return read(n);
      case NodeKind::Constant:
      case NodeKind::Global: return;
      case NodeKind::Lambda: return function(n);
      case NodeKind::NamedExpr: part(n, Field::value); return give(n.one(Field::target)->text);
      case NodeKind::BoolOp: return maybe_less(n.all(Field::values));
      case NodeKind::Compare: {
        part(n, Field::left);
        return maybe_less(n.all(Field::comparators));
      }
      case NodeKind::IfExp: {
        part(n, Field::test);
        const State before = here_;
        part(n, Field::body);
        State after = std::exchange(here_, before);
        part(n, Field::orelse);
        return join(here_, after);
      }
      case NodeKind::Call: return in_order(n, {Field::func, Field::args, Field::keywords});
      case NodeKind::Dict: {
        const auto &keys = n.all(Field::keys), &values = n.all(Field::values);
        for (size_t i = 0; i < values.size(); ++i) {
          if (i < keys.size()) expression(keys[i]);
          expression(values[i]);
        }
        return;
      }
      case NodeKind::Slice: return in_order(n, {Field::lower, Field::upper, Field::step});
      default: break;
    }
    if (is_comprehension(n)) return comprehension(n);
    for (const auto& [field, nodes] : n.fields) expression_list(nodes);
  }

  // The first is evaluated, the others perhaps.
  void maybe_less(const std::vector<Node>& all) {
    std::optional<State> short_of;
    for (const Node& n : all) {
      expression(n);
      if (short_of)
        join(*short_of, here_);
      else
        short_of = here_;
    }
    if (short_of) here_ = std::move(*short_of);
  }

  void comprehension(const Node& n) {
    const auto& generators = n.all(Field::generators);
    part(generators[0], Field::iter);
    Bound bound;
    for (const auto& [field, nodes] : n.fields) bound.look(nodes);
    const State before = amid(here_, bound);
    const Names hidden = hidden_;
    const bool outer = within_comprehension_;
    within_comprehension_ = outer || n.kind == NodeKind::GeneratorExp || !shares_scopes_;
    here_ = before;
    for (size_t g = 0; g < generators.size(); ++g) {
      if (g > 0) part(generators[g], Field::iter);
      names_of_target(*generators[g].one(Field::target), hidden_);
      part(generators[g], Field::ifs);
    }
    in_order(n, {Field::elt, Field::key, Field::value});
    within_comprehension_ = outer;
    hidden_ = hidden;
    here_ = before;
  }

  // --- statements

  void block(const std::vector<Node>& body) {
    for (const Node& n : body) statement(n);
  }

  void target(const Node& t) {
    switch (t.kind) {
      case NodeKind::Name: return give(t.text);
      case NodeKind::Starred: return target(*t.one(Field::value));
      case NodeKind::Tuple:
      case NodeKind::List:
        for (const Node& e : t.all(Field::elts)) target(e);
        return;
      default: return in_order(t, {Field::value, Field::slice});
    }
  }

  void statement(const Node& n) {
    switch (n.kind) {
      case NodeKind::Assign:
        part(n, Field::value);
        for (const Node& t : n.all(Field::targets)) target(t);
        return;
      case NodeKind::AnnAssign:
        if (n.one(Field::value) == nullptr) return;
        part(n, Field::value);
        return target(*n.one(Field::target));
      case NodeKind::AugAssign: {
        const Node& to = *n.one(Field::target);
        if (to.kind == NodeKind::Name)
          read(to);
        else
          in_order(to, {Field::value, Field::slice});
        part(n, Field::value);
        if (to.kind == NodeKind::Name) give(to.text);
        return;
      }
      case NodeKind::For:
      case NodeKind::While: return loop(n);
      case NodeKind::If: {
        part(n, Field::test);
        const State before = here_;
        block(n.all(Field::body));
        State after = std::exchange(here_, before);
        block(n.all(Field::orelse));
        return join(here_, after);
      }
      case NodeKind::Try: return try_statement(n);
      case NodeKind::Return: part(n, Field::value); return end();
      case NodeKind::Raise: in_order(n, {Field::exc, Field::cause}); return end();
      case NodeKind::Assert: {
        part(n, Field::test);
        const State before = here_;
        part(n, Field::msg);
        here_ = before;
        return;
      }
      case NodeKind::Break:
        if (!loops_.empty()) loops_.back().left.push_back(here_);
        return end();
      case NodeKind::Continue: return end();
      case NodeKind::Delete:
        for (const Node& t : n.all(Field::targets)) remove(t);
        return;
      case NodeKind::FunctionDef: function(n); return give(n.text);
      default:
        for (const auto& [field, nodes] : n.fields) expression_list(nodes);
        return;
    }
  }

  void remove(const Node& t) {
    if (t.kind == NodeKind::Name) {
      read(t);
      set(here_.certain, t.text, false);
      set(here_.possible, t.text, false);
      return;
    }
    for (const Node& e : t.all(Field::elts)) remove(e);
    in_order(t, {Field::value, Field::slice});
  }

  static bool is_true(const Node& n) {
    return (n.kind == NodeKind::Constant || n.kind == NodeKind::Global) &&
           n.literal.tag == Literal::Tag::Number && n.literal.number.real() != 0;
  }

  void loop(const Node& n) {
    part(n, Field::iter);
    Bound bound;
    bound.look(n.all(Field::body));
    if (n.kind == NodeKind::For) names_of_target(*n.one(Field::target), bound.assigned);
    part_of_loop(n, amid(here_, bound));
  }

  void part_of_loop(const Node& n, State head) {
    here_ = std::move(head);
    part(n, Field::test);
    State ended = here_;
    if (const Node* test = n.one(Field::test); test != nullptr && is_true(*test))
      ended.reached = false;
    if (n.kind == NodeKind::For) target(*n.one(Field::target));
    loops_.emplace_back();
    block(n.all(Field::body));
    const Loop done = std::move(loops_.back());
    loops_.pop_back();
    here_ = std::move(ended);
    block(n.all(Field::orelse));
    for (const State& s : done.left) join(here_, s);
  }

  void try_statement(const Node& n) {
    const auto &body = n.all(Field::body), &last = n.all(Field::finalbody);
    const State before = here_;
    const size_t breaks = loops_.empty() ? 0 : loops_.back().left.size();
    Bound tried;
    tried.look(body);
    block(body);
    block(n.all(Field::orelse));
    State after = std::move(here_);
    for (const Node& h : n.all(Field::handlers)) {
      here_ = amid(before, tried);
      part(h, Field::type);
      block(h.all(Field::body));
      join(after, here_);
    }
    if (last.empty()) {
      here_ = std::move(after);
      return;
    }
    tried.look(n.all(Field::orelse));
    tried.look(n.all(Field::handlers));
    // Whatever leads to the finally, then what goes on after it.
    here_ = amid(before, tried);
    block(last);
    const bool recorded = std::exchange(recording_, false);
    here_ = std::move(after);
    block(last);
    recording_ = recorded;
    Bound finally;
    finally.look(last);
    if (!loops_.empty())
      for (size_t k = breaks; k < loops_.back().left.size(); ++k)
        loops_.back().left[k] = amid(std::move(loops_.back().left[k]), finally);
  }

  const Node& definition_;
  const bool shares_scopes_;
  UncertainReads& reads_;
  std::unordered_map<std::string, size_t> own_;  // its own names, by number
  Names deleted_, uncertain_;
  Names hidden_;  // names of comprehensions around here
  State here_;
  std::vector<Loop> loops_;
  bool recording_ = true, within_comprehension_ = false;
};

}  // namespace

std::set<std::string> find_uncertain(const Node& definition, bool shares_scopes,
                                     UncertainReads& reads) {
  return Flow(definition, shares_scopes, reads).run();
}

}  // namespace numbus::frontend
