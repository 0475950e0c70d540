// Statements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "frontend/portion.h"

namespace numbus::frontend {

bool Lower::block(const std::vector<Node>& body) {
  for (const Node& n : body)
    if (statement(n)) return true;
  return false;
}

namespace {

// The item d[k] that a statement reads and assigns to, where nothing in between can change d.
const Node* updated_item(const Node& n) {
  const bool once = n.kind == NodeKind::Assign && n.all(Field::targets).size() == 1;
  if (!once && n.kind != NodeKind::AugAssign) return nullptr;
  const Node& target = once ? n.all(Field::targets)[0] : *n.one(Field::target);
  return target.kind == NodeKind::Subscript && releases_nothing(*n.one(Field::value), &target)
             ? &target
             : nullptr;
}

}  // namespace

bool Lower::statement(const Node& n) {
  size_t keep = temporaries_.size();
  here_ = &n;
  if (inline_depth_ == 0) asked_.clear();
  bool ends = false;
  const Node* const updated = std::exchange(updated_, updated_item(n));
  const Val entry = std::exchange(updated_entry_, ir::kNone);
  bool raises = ends_within([&] { ends = carry_out(n); });
  updated_ = updated;
  updated_entry_ = entry;
  if (temporaries_.size() > keep) forget_temporaries(keep);
  return ends || raises;
}

// Whether a call that always raises ends this part of a function: nothing after it ever runs.
bool Lower::ends_within(const std::function<void()>& part) {
  bool outer = std::exchange(ended_, false);
  int landing = std::exchange(landing_, nesting_);
  part();
  landing_ = landing;
  return std::exchange(ended_, outer);
}

// What a call gives that always raises: nothing, where what surrounds it ends there.
Value Lower::of_raising() {
  Value r;
  ended_ = ended_ || nesting_ == landing_;
  if (nesting_ != landing_) r.type = Type::of(Type::Tag::None);
  return r;
}

bool Lower::carry_out(const Node& n) {
  bool ends = false;
  switch (n.kind) {
    case NodeKind::Assign: {
      const auto& targets = n.all(Field::targets);
      unpacks_ = targets.size() == 1 &&
                 (targets[0].kind == NodeKind::Tuple || targets[0].kind == NodeKind::List);
      Value v = maybe_none(*n.one(Field::value));
      if (ended_) break;
      if (targets.size() > 1) {  // one value: a = b = x + 1
        if (v.lazy) v = materialise(n, v);
        v = boxed(n, v);
        hold(v);
      }
      if (n.one(Field::value)->kind == NodeKind::List && v.type.is(Type::Tag::Tuple) &&
          grows(targets[0]))
        v = list_from(n, v);
      for (const Node& t : targets) assign(t, v, targets.size() == 1);
      break;
    }
    case NodeKind::AnnAssign:
      if (const Node* value = n.one(Field::value)) {
        Value v = maybe_none(*value);
        if (!ended_) assign(*n.one(Field::target), v);
      }
      break;
    case NodeKind::AugAssign: aug_assign(n); break;
    case NodeKind::For: ends = for_loop(n); break;
    case NodeKind::While: ends = while_loop(n); break;
    case NodeKind::If: ends = if_statement(n); break;
    case NodeKind::Return: {
      const Node* value = n.one(Field::value);
      Value v = value ? maybe_none(*value) : none();
      if (ended_) break;
      return_value(n, v);
      ends = true;
      break;
    }
    case NodeKind::Break:
    case NodeKind::Continue: ends = leave_loop(n, n.kind == NodeKind::Break); break;
    case NodeKind::Try: ends = try_statement(n); break;
    case NodeKind::Expr: {
      const Node& e = *n.one(Field::value);
      if (e.kind != NodeKind::Constant) maybe_none(e);  // a docstring says nothing
      break;
    }
    case NodeKind::Pass: break;
    case NodeKind::Raise:
      raise_statement(n);
      ends = true;
      break;
    case NodeKind::Delete:
      for (const Node& t : n.all(Field::targets)) {
        if (t.kind == NodeKind::Name) {
          auto read = u_.uncertain.find(&t);
          if (read != u_.uncertain.end() && !expect_value(t, t.text, read->second)) return true;
          has_value(t.text, false);
          continue;
        }
        Value list = t.kind == NodeKind::Subscript ? maybe_none(*t.one(Field::value)) : Value{};
        list = some(t, list, "'NoneType' object does not support item deletion");
        if (list.unknown() && t.kind == NodeKind::Subscript) continue;
        if (list.type.is(Type::Tag::Dict)) {
          delete_key(t, list, expression(*t.one(Field::slice)));
          continue;
        }
        if (list.type.listed && becomes_list(t)) continue;
        if (!list.type.is(Type::Tag::List)) not_yet(t, "del of anything but a name or an item");
        Value by = expression(*t.one(Field::slice));
        if (by.type.is(Type::Tag::Slice))
          delete_slice(t, list, by);
        else
          list_method({t, {by}, {}}, *t.one(Field::value), list, "pop");
      }
      break;

    case NodeKind::Assert: assert_statement(n); break;
    case NodeKind::FunctionDef:
      assign_name(n, n.text, calls_itself(n) ? lifted_function(n) : local_function(n, n.text));
      break;
    case NodeKind::Unsupported: unsupported(n);
    default: not_yet(n, "this statement");
  }
  return ends;
}

Value Lower::local_function(const Node& n, const std::string& name) {
  std::pair<const Node*, Scope*> it{&n, scope_};
  auto found = std::find(local_functions_.begin(), local_functions_.end(), it);
  Value v;
  v.type = Type::of(Type::Tag::Function);
  v.type.text = "local " + name;
  v.type.number = static_cast<int>(found - local_functions_.begin());
  if (found == local_functions_.end()) local_functions_.push_back(it);
  keep_defaults(n);
  return v;
}

// What the front end has no word for, by the name of its class in Python's `ast`.
void Lower::unsupported(const Node& n) {
  struct Word {
    const char *cls, *what, *instead;
  };
  static const Word kWords[] = {
      {"With", "with statements (With)", "open and close outside of the compiled function"},
      {"TryStar", "except* (TryStar)", "except"},
      {"ClassDef", "classes (ClassDef)", "a named tuple, defined outside"},
      {"Yield", "generators (Yield)", "fill an array, and return it"},
      {"YieldFrom", "generators (YieldFrom)", "fill an array, and return it"},
      {"Import", "imports (Import)", "import at the top of the file"},
      {"ImportFrom", "imports (ImportFrom)", "import at the top of the file"},
      {"Nonlocal", "nonlocal variables", "return the new value"},
      {"Match", "match statements (Match)", "if and elif"},
      {"AsyncFunctionDef", "async functions", "plain functions"},
      {"Await", "await", "plain calls"},
  };
  for (const Word& w : kWords)
    if (n.text == w.cls) not_yet(n, w.what, w.instead);
  not_yet(n, "'" + n.text + "'");
}

// fresh: see assign_name.
void Lower::assign(const Node& target, const Value& v, bool fresh) {
  switch (target.kind) {
    case NodeKind::Name: assign_name(target, target.text, v, fresh); break;
    case NodeKind::Tuple:
    case NodeKind::List: {
      const auto& names = target.all(Field::elts);
      // None by itself may become None or a value once all types are known.
      if (v.type.is_maybe() || (v.type.is(Type::Tag::None) && changed_))
        return assign(target, some(target, v, "cannot unpack non-iterable NoneType object"));
      for (const Node& t : names)
        if (t.kind == NodeKind::Starred) return assign_starred(target, v);
      if (v.unknown()) {
        for (const Node& t : names) assign(t, {});
        return;
      }
      if (v.type.is(Type::Tag::List) || (v.type.is_array() && v.type.ndim > 0) ||
          v.type.is_text()) {
        // As many as names, looked at before the first name changes.
        Val count = v.type.is_array()              ? v.shape()[0]
                    : v.type.is(Type::Tag::List)   ? list_length(v)
                    : v.type.is(Type::Tag::String) ? string_length(v)
                                                   : ci(length_of_text(v));
        Val wanted = ci(static_cast<int64_t>(names.size()));
        when(less(count, wanted), [&] {
          raise_at(
              site(target, "ValueError", "not enough values to unpack (expected {1}, got {0})"),
              count, wanted);
        });
        when(less(wanted, count), [&] {
          raise_at(site(target, "ValueError", "too many values to unpack (expected {0})"), wanted);
        });
        std::vector<Value> items;
        for (size_t i = 0; i < names.size(); ++i)
          items.push_back(index(target, v, known_integer(static_cast<int64_t>(i))));
        for (size_t i = 0; i < names.size(); ++i) assign(names[i], items[i]);
        return;
      }
      if (!v.type.is(Type::Tag::Tuple))
        fail(target,
             "cannot unpack " + name(v.type) + " into " + std::to_string(names.size()) + " names");
      if (v.items.size() != names.size())
        fail(target, "cannot unpack a tuple of " + std::to_string(v.items.size()) + " into " +
                         std::to_string(names.size()) + " names");
      // All values are there before the first name changes, and the memory of each outlives the
      // name that held it: a, b = b, a.
      if (owners(v.type).size() > 1) hold(v);
      for (size_t i = 0; i < names.size(); ++i) assign(names[i], v.items[i]);
      break;
    }
    case NodeKind::Subscript: {
      const Node& slice = *target.one(Field::slice);
      bool loose = false;
      Value a =
          receiver(*target.one(Field::value), v.type.is_number() && releases_nothing(slice), loose);
      Value by = expression(slice);
      if (!a.type.is(Type::Tag::List) && !a.type.is(Type::Tag::Dict))
        refuse_none(target, v, "as an item");
      a = some(target, a, "'NoneType' object does not support item assignment");
      if (!a.unknown()) store(target, a, by, v);
      break;
    }
    case NodeKind::Attribute: {
      Value owner =
          some_with_attributes(target, maybe_none(*target.one(Field::value)), target.text);
      return store_attribute(target, owner, target.text, v);
    }
    default: not_yet(target, "this target of an assignment");
  }
}

// name := …, which in a comprehension is a name of the function around it.
void Lower::assign_around(const Node& target, const Value& v) {
  Scope* inside = scope_;
  while (!scope_->definition && scope_->outer) scope_ = scope_->outer;
  scope_->depth += scope_ != inside;
  assign(target, v);
  scope_->depth -= scope_ != inside;
  // The comprehension may have no items.
  if (scope_ != inside) scope_->present.erase(target.text);
  scope_ = inside;
}

// a, *rest, z = …: the rest is a list.
void Lower::assign_starred(const Node& target, const Value& v) {
  const auto& names = target.all(Field::elts);
  size_t star = 0;
  while (names[star].kind != NodeKind::Starred) ++star;
  size_t after = names.size() - star - 1, fixed = names.size() - 1;
  if (v.unknown()) {
    for (const Node& t : names) assign(t.kind == NodeKind::Starred ? *t.one(Field::value) : t, {});
    return;
  }
  const Node& rest = *names[star].one(Field::value);
  if (v.type.is(Type::Tag::Tuple)) {
    size_t count = v.items.size();
    if (count < fixed)
      fail(target, "cannot unpack a tuple of " + std::to_string(count) + " into at least " +
                       std::to_string(fixed) + " names");
    std::vector<Value> middle(v.items.begin() + static_cast<int64_t>(star),
                              v.items.end() - static_cast<int64_t>(after));
    for (size_t i = 0; i < star; ++i) assign(names[i], v.items[i]);
    assign(rest, list_or_tuple(target, std::move(middle)));
    for (size_t i = 0; i < after; ++i) assign(names[star + 1 + i], v.items[count - after + i]);
    return;
  }
  if (v.type.is(Type::Tag::List)) {
    Value numbers = plain(v);
    if (!numbers.type.is_array()) not_yet(target, "* of a " + name(v.type) + " taken apart");
    hold(v);
    return assign_starred(target, numbers);
  }
  if (v.type.is_text()) return assign_starred(target, list_from(target, v));
  if (!v.type.is_array() || v.type.ndim != 1)
    fail(target,
         "cannot unpack " + name(v.type) + " into " + std::to_string(names.size()) + " names");
  Value a = v.lazy ? materialise(target, v) : v;
  Val least = ci(static_cast<int64_t>(fixed));
  when(less(a.shape()[0], least), [&] {
    raise_at(
        site(target, "ValueError", "not enough values to unpack (expected at least {1}, got {0})"),
        a.shape()[0], least);
  });
  Val length = sub(a.shape()[0], least);
  for (size_t i = 0; i < star; ++i)
    assign(names[i], element(a, std::vector<Val>{ci(static_cast<int64_t>(i))}));
  Val first = ci(static_cast<int64_t>(star));
  Value list = materialise(target, lazy(a.type.dtype, std::vector<Val>{length},
                                        [this, a, first](std::span<const Val> at) {
                                          return element(a, std::vector<Val>{add(at[0], first)});
                                        }));
  list.type.text = "list";
  list.type.weak = a.type.weak;
  assign(rest, list);
  for (size_t i = 0; i < after; ++i)
    assign(names[star + 1 + i],
           element(a, std::vector<Val>{add(add(length, first), ci(static_cast<int64_t>(i)))}));
}

// list += more and list *= count change the list itself, which other names may hold.
bool Lower::change_list(const Node& n, Op op, const Node& target, const Value& list,
                        const Value& more) {
  static const std::map<Op, const char*> kOfSets = {
      {Op::bitwise_or, "update"},
      {Op::bitwise_and, "intersection_update"},
      {Op::subtract, "difference_update"},
      {Op::bitwise_xor, "symmetric_difference_update"}};
  if (list.type.is_set() && more.type.is_set() && kOfSets.contains(op)) {
    set_method({n, {more}, {}}, target, list, kOfSets.at(op));
    return true;
  }
  if (list.type.is(Type::Tag::Dict) && !list.type.is_set() && op == Op::bitwise_or) {
    dict_method({n, {more}, {}}, target, list, "update");
    return true;
  }
  if ((op != Op::add && op != Op::multiply) || !(list.type.is(Type::Tag::List) || list.type.listed))
    return false;
  if (more.unknown()) return true;
  if (op == Op::add && more.type.is_array() && !is_plain_list(more))
    not_yet(n, "an array added to a list in place", "x.extend(a), or np.array(x) + a");
  if (list.type.listed) return becomes_list(n);
  if (op == Op::multiply) {
    Value now = binary(n, op, list, more);
    if (now.unknown()) return true;
    list_method({n, {}, {}}, target, list, "clear");
    list_method({n, {now}, {}}, target, list, "extend");
  } else {
    list_method({n, {more}, {}}, target, list, "extend");
  }
  return true;
}

// What an array holds afterwards whose elements an operator changes, as NumPy casts it.
Value Lower::in_place(const Node& n, Op op, const Value& old, const Value& more) {
  Value now = operation(n, op, old, more);
  if (!now.unknown() && !is_plain_list(old)) expect_taken(n, what_works(op), now, old);
  return now;
}

// An array takes the results of an operation in place: their type, and no more dimensions.
void Lower::expect_taken(const Node& n, const std::string& what, const Value& now, const Value& to,
                         Casting casting) {
  if (!can_cast(now.type.dtype, to.type.dtype, casting))
    fail(n,
         what + " gives " + std::string(numbus::name(now.type.dtype)) + ", which an array of " +
             std::string(numbus::name(to.type.dtype)) + " does not take",
         "a new array: a = a + b, or one of that type from the start");
  if (now.type.is_array() && now.type.ndim > to.type.ndim)
    when(b_->constant(DType::Bool, Scalar::from_bool(true)), [&] {
      raise_at(
          site(n, "ValueError", "the result has more dimensions than the array it is put into"));
    });
}

void Lower::aug_assign(const Node& n) {
  const Node& target = *n.one(Field::target);
  Op op = row_of_operator(n.one(Field::op)->kind);
  const std::string in_place_message =
      "unsupported operand type(s) for " + std::string(python_operator(op)) + "=: 'NoneType'";
  if (target.kind == NodeKind::Subscript) {
    // The element's address is found once.
    const Node& slice = *target.one(Field::slice);
    bool loose = false;
    Value a =
        some(target,
             receiver(*target.one(Field::value),
                      releases_nothing(slice) && releases_nothing(*n.one(Field::value)), loose),
             "'NoneType' object is not subscriptable");
    Value by = expression(slice);
    if (a.unknown()) return;
    Value old = index(target, a, by);
    if (loose && !old.type.is_number()) hold(a);
    Value more = some(n, maybe_none(*n.one(Field::value)), in_place_message);
    if (change_list(n, op, target, old, more)) return;
    if (old.type.is_array() && !old.lazy &&
        (a.type.is(Type::Tag::List) || a.type.is(Type::Tag::Dict))) {
      // The array itself changes, which other names may hold.
      Value all;
      all.type = Type::of(Type::Tag::Ellipsis);
      store(target, old, all, in_place(n, op, old, more));
      return;
    }
    store(target, a, by,
          old.type.is_array() ? in_place(n, op, old, more) : renewed(n, op, old, more));
    return;
  }
  if (target.kind == NodeKind::Attribute) {
    // What has the attribute is found once.
    Value owner = some_with_attributes(target, maybe_none(*target.one(Field::value)), target.text);
    if (owner.unknown()) return;
    Value old = attribute_of(target, owner, target.text);
    Value more = some(n, maybe_none(*n.one(Field::value)), in_place_message);
    old = some(n, old, in_place_message);
    if (old.unknown() || more.unknown()) return;
    if (owner.type.is(Type::Tag::Object)) {
      if (change_list(n, op, target, old, more)) return;
      if (old.type.is_array() && !old.lazy) {
        Value all;
        all.type = Type::of(Type::Tag::Ellipsis);
        return store(target, old, all, in_place(n, op, old, more));
      }
    }
    store_attribute(target, owner, target.text, renewed(n, op, old, more));
    return;
  }
  if (target.kind != NodeKind::Name) not_yet(n, "this target of an assignment");
  Value old = read_variable(target, target.text);
  Value v = maybe_none(*n.one(Field::value));
  old = some(n, old, in_place_message);
  v = some(n, v, in_place_message);
  if (change_list(n, op, target, old, v)) return;
  if (old.type.is_array()) {
    // In place, as NumPy does.
    Value all;
    all.type = Type::of(Type::Tag::Ellipsis);
    store(target, old, all, in_place(n, op, old, v));
    return;
  }
  // The memory of a string that nobody else refers to has room for more.
  if (op == Op::add && old.type.is(Type::Tag::String) && v.type.is_text())
    return assign_name(target, target.text, call_string(n, "append", {old, v}));
  assign_name(target, target.text, renewed(n, op, old, v));
}

void Lower::when(Val condition, const std::function<void()>& yes, const std::function<void()>& no,
                 int64_t mark) {
  Val begin = b_->emit(Op::branch, DType::Bool, condition, ir::kNone, ir::kNone, mark);
  ++nesting_;
  b_->open_scope(begin);
  yes();
  b_->close_scope();
  if (no) {
    Val other = b_->emit(Op::branch_else, DType::Bool, begin);
    b_->open_scope(other);
    no();
    b_->close_scope();
  }
  --nesting_;
  b_->emit(Op::end_branch, DType::Bool, begin);
}

bool Lower::if_statement(const Node& n) {
  size_t keep = temporaries_.size();
  Value test = Lower::test(*n.one(Field::test));
  if (ended_) return true;
  const auto &body = n.all(Field::body), &orelse = n.all(Field::orelse);
  // What is decided while compiling keeps the other side from being looked at.
  if (test.known && test.type.is_number()) {
    bool yes = test.known->real() != 0 || test.known->imag() != 0;
    return block(yes ? body : orelse);
  }
  if (test.type.is(Type::Tag::None)) return block(orelse);
  const Node& condition_text = *n.one(Field::test);
  Val condition = truth(n, test);
  if (scope_->source->library()) asks_for(test);
  forget_temporaries(keep);
  ++scope_->depth;
  bool yes_ends = false, no_ends = false;
  auto otherwise = [&] { no_ends = block(orelse); };
  const auto before = scope_->present;
  narrow(condition_text, true);
  auto after = before;
  when(
      condition,
      [&] {
        yes_ends = block(body);
        after = std::exchange(scope_->present, before);
        narrow(condition_text, false);
      },
      orelse.empty() ? std::function<void()>() : std::function<void()>(otherwise));
  --scope_->depth;
  if (no_ends)
    scope_->present = after;
  else if (!yes_ends)
    std::erase_if(scope_->present, [&](const std::string& s) { return !after.contains(s); });
  return yes_ends && no_ends;
}

void Lower::return_value(const Node& n, const Value& v) {
  if (on_return_) {
    on_return_(n, v);
    return;
  }
  if (portion_) fail(n, "return does not work in a parallel loop");
  if (generates_) {
    if (v.unknown()) return;
    if (!v.type.is(Type::Tag::None)) not_yet(n, "a value that a generator returns", "return");
    leave_by_return();
    return;
  }
  if (v.unknown() || (is_open(v.type) && !lists_settled_)) {
    unknown_result_ = true;
    open_result_ = open_result_ || !v.unknown();
    return;
  }
  thread_ends(n);
  Value r = boxed(n, v.lazy ? materialise(n, v) : v);
  if (r.unknown()) {
    unknown_result_ = true;
    return;
  }
  if (is_open(r.type)) {
    if (!r.type.is(Type::Tag::List) && !r.type.is(Type::Tag::Dict))
      not_yet(n, "an empty list or dict here", "a name for it: x = []");
    close_type(r.type);
  }
  if (r.type.is_number()) r.type.text.clear();
  if ((u_.options.device || u_.options.returns) && spec_.function == 0) r = result_for_others(n, r);
  if (u_.options.kernel && !u_.options.device && spec_.function == 0 && !r.type.is(Type::Tag::None))
    fail(n, "a kernel returns nothing; this returns " + name(r.type),
         "write the result into an array that is an argument");
  bool outermost = spec_.function == 0;
  // Within a tuple, a function may see a string of another one's that is known.
  if (outermost || r.type.is(Type::Tag::Text)) r = held(n, r);
  if (const Type* part = only_inside(r.type);
      part && (outermost || !r.type.is(Type::Tag::Tuple) || !r.type.text.empty()))
    not_yet(n, "returning " + name(*part) + (part == &r.type ? "" : " in " + name(r.type)));
  std::optional<Value> result = as_result(n, r);
  if (!result) return;
  r = *result;
  const Type& wider = result_;
  std::vector<Val> given = flatten(r);
  if (finals_.size() > finals_base_) {
    // What a finally returns takes its place.
    if (returned_.empty()) {
      for (DType w : words(wider)) returned_.push_back(new_variable(w));
      for (size_t o : owners(wider)) owning_.push_back(returned_[o]);
    }
    for (size_t o : owners(wider)) {
      intrinsic(ir::Intrinsic::retain, DType::I64, given[o]);
      intrinsic(ir::Intrinsic::release, DType::I64, get(returned_[o]));
    }
    for (size_t i = 0; i < given.size(); ++i) set(returned_[i], given[i]);
    leave_by_return();
    return;
  }
  retain(r);
  for (size_t i = 0; i < given.size(); ++i)
    b_->emit(Op::give, b_->type(given[i]), given[i], ir::kNone, ir::kNone, static_cast<int64_t>(i));
  break_loop(outermost_);
}

}  // namespace numbus::frontend
