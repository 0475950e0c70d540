// What exceptions are raised with, and what handlers ask of those that they have caught.
//
// Texts, f-strings and numbers stand in a site's text, with up to two values that are noted as the
// error is: {0} and {1}, with f after where they are floats, b for bools and u for unsigned ones;
// {{ is a brace. The text of one string is all; else each argument ends with kEnd, and one that is
// no string begins with kLiteral. Any other arguments are a tuple in counted memory, which the
// first value owns (Site::argument).
#include <algorithm>

#include "base/host_call.h"
#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr char kEnd = '\x1f', kLiteral = '\x1e';

std::string quoted(const std::string& text) {
  std::string all;
  for (char c : text) all += c == '{' ? "{{" : std::string(1, c);
  return all;
}

bool has_mark(const std::string& text) {
  return text.find(kEnd) != std::string::npos || text.find(kLiteral) != std::string::npos;
}

// Whether an exception can hold this: numbers, strings, and tuples of these.
bool holdable(const Type& t) {
  if (t.is(Type::Tag::Tuple))
    return t.text.empty() && !t.listed && !t.items.empty() &&
           std::ranges::all_of(t.items, holdable);
  return t.is_number() || t.is_text();
}

// An f-string whose parts are texts and plain values.
bool is_plain_text(const Node& n) {
  return n.kind == NodeKind::JoinedStr && std::ranges::none_of(n.all(Field::values), [](auto& p) {
           return p.one(Field::format_spec) != nullptr;
         });
}

}  // namespace

// A value as it stands in a site's text; nothing: there it cannot stand.
std::optional<std::string> Lower::noted(const Value& v, std::vector<Val>& values) {
  if (v.type.is(Type::Tag::Text) && !has_mark(v.type.text)) return quoted(v.type.text);
  if (v.type.is(Type::Tag::None)) return "None";
  if (!v.type.is_number() || is_complex(v.type.dtype)) return {};
  if (auto k = known_int(v); k && v.type.weak && v.known)
    return v.type.dtype == DType::Bool ? (*k ? "True" : "False") : std::to_string(*k);
  if (values.size() == 2) return {};
  const std::string format = "{" + std::to_string(values.size());
  if (is_float(v.type.dtype)) {
    values.push_back(b_->emit(Op::bits, DType::I64, as(v, DType::F64)));
    return format + "f}";
  }
  values.push_back(v.type.dtype == DType::U64 ? b_->cast(v.v[0], DType::I64) : as(v, DType::I64));
  return format + (v.type.dtype == DType::Bool ? "b}" : v.type.dtype == DType::U64 ? "u}" : "}");
}

// An exception with these arguments, at a line: its site, and the values that are noted.
Lower::Raised Lower::new_exception(const Node& n, const std::string& cls,
                                   std::span<const Node> args) {
  struct Argument {
    const Node* n;
    std::vector<Value> parts;  // of an f-string, or the one value
    bool joined;
  };
  std::vector<Argument> all;
  for (const Node& a : args) {
    if (a.kind == NodeKind::Starred) not_yet(a, "* in the arguments of an exception");
    all.push_back({&a, {}, is_plain_text(a)});
    if (!all.back().joined) all.back().parts.push_back(maybe_none(a));
    if (all.back().joined)
      for (const Node& p : a.all(Field::values))
        all.back().parts.push_back(
            expression(p.kind == NodeKind::FormattedValue ? *p.one(Field::value) : p));
    for (const Value& v : all.back().parts) {
      refuse_exception(a, v);
      if (v.unknown()) return {site(n, cls, ""), ir::kNone, ir::kNone};
    }
  }
  std::vector<Val> values;
  std::string text;
  bool inside = true;
  for (const Argument& a : all) {
    if (!a.joined && !a.parts[0].type.is(Type::Tag::Text)) text += kLiteral;
    for (const Value& v : a.parts) {
      const auto one = inside ? noted(v, values) : std::nullopt;
      inside = one.has_value();
      if (one) text += *one;
      if (!one && u_.options.kernel)
        not_yet(*a.n, name(v.type) + " in the message of an exception",
                "up to two numbers, in an f-string");
    }
    text += kEnd;
  }
  if (inside) {
    // The usual one: a text that says something.
    if (all.size() == 1 && text.size() > 1 && text[0] != kLiteral) text.pop_back();
    values.resize(2, ir::kNone);
    const int s = site(n, cls, text);
    u_.result.sites[static_cast<size_t>(s)].raised = of_user();
    return {s, values[0], values[1]};
  }
  Value tuple;
  tuple.type = Type::of(Type::Tag::Tuple);
  for (Argument& a : all) {
    Value v = a.joined ? text_of_parts(*a.n, a.parts) : a.parts[0];
    v = held(*a.n, boxed(*a.n, v.lazy ? materialise(*a.n, v) : v));
    if (v.unknown()) return {site(n, cls, ""), ir::kNone, ir::kNone};
    if (!holdable(v.type))
      not_yet(*a.n, name(v.type) + " as an argument of an exception",
              "numbers, strings, and tuples of these");
    v.type = of_any_value(v.type);
    v.known.reset();
    tuple.type.items.push_back(v.type);
    tuple.items.push_back(std::move(v));
  }
  if (!can_hold(tuple.type)) not_yet(n, "an exception of so many arguments", "fewer of them");
  const Val owner = owned_arguments(n, tuple);
  const int s = site(n, cls, name(tuple.type));
  u_.result.sites[static_cast<size_t>(s)].argument = tuple.type;
  u_.result.sites[static_cast<size_t>(s)].raised = of_user();
  return {s, owner, ir::kNone};
}

// The owner of a list of one item, which lets go of what the arguments hold: a program may catch
// the error.
Val Lower::owned_arguments(const Node& n, const Value& tuple) {
  const Value list = new_list(tuple.type, ci(0), ci(0));
  resize_list(list, ci(1));
  write_item(n, list, ci(0), tuple);
  retain(list);
  return list.v[0];
}

void Lower::assert_statement(const Node& n) {
  Value test = Lower::test(*n.one(Field::test));
  if (test.unknown()) return;
  when(negate(truth(n, test)), [&] {
    const auto& message = n.all(Field::msg);
    const Raised r = new_exception(n, "AssertionError", message);
    raise_at(r.site, r.first, r.second);
  });
}

// `raise E`, `raise E(…)`: the class, and the arguments.
Lower::Raised Lower::raised_by(const Node& at, const Node& exc) {
  const bool called = exc.kind == NodeKind::Call;
  const Node* cls = called ? exc.one(Field::func) : &exc;
  if (cls->kind != NodeKind::Global || !cls->text.starts_with("exception "))
    fail(exc, "only exception classes can be raised", "raise ValueError(\"…\")");
  know_bases(*cls);
  if (called && !exc.all(Field::keywords).empty())
    not_yet(exc, "keywords of an exception", "its arguments in their order");
  const auto& args = called ? exc.all(Field::args) : cls->all(Field::args);
  return new_exception(at, cls->text.substr(10), args);
}

void Lower::raise_statement(const Node& n) {
  const Node *exc = n.one(Field::exc), *from = n.one(Field::cause);
  if (!exc) {
    if (!handling_.empty() && handling_.back() < 0)
      not_yet(n, "a bare raise in a finally", "raise ValueError(\"…\")");
    if (handling_.empty())
      fail(n, "a bare raise has nothing to raise again", "raise ValueError(\"…\")");
    return raise_again(caught_[static_cast<size_t>(handling_.back())]);
  }
  auto caught = [&](const Node& of) -> const Caught* {
    if (of.kind != NodeKind::Name) return nullptr;
    const Value e = expression(of);
    const bool is = e.type.is(Type::Tag::Module) && e.type.text == "exception";
    return is ? &caught_[static_cast<size_t>(e.type.number)] : nullptr;
  };
  const bool none = from && (from->literal.tag == Literal::Tag::None);
  const Caught* again = caught(*exc);
  if (!from && again) return raise_again(*again);
  if (from && !none && (u_.options.kernel || portion_))
    not_yet(n, "raise … from … here", "raise without from");
  Raised r;
  if (again) {
    r = {-1, get(again->first), get(again->second)};
    intrinsic(ir::Intrinsic::retain, DType::I64, get(again->owner));
  } else {
    r = raised_by(n, *exc);
  }
  const Val which = again ? get(again->site) : ci(r.site);
  Val cause = ir::kNone;
  if (from && !none) {
    if (const Caught* c = caught(*from)) {
      intrinsic(ir::Intrinsic::retain, DType::I64, get(c->owner));
      intrinsic(ir::Intrinsic::retain, DType::I64, get(c->cause));
      cause = new_cause(get(c->site), get(c->first), get(c->second), get(c->owner), get(c->cause));
    } else {
      const Raised of = raised_by(*from, *from);
      const bool owns = !u_.result.sites[static_cast<size_t>(of.site)].argument.unknown();
      const Val first = of.first == ir::kNone ? ci(0) : of.first;
      cause = new_cause(ci(of.site), first, of.second == ir::kNone ? ci(0) : of.second,
                        owns ? first : ci(0), ci(0));
    }
  }
  note_error(which, r.first, r.second, cause);
  leave_function();
}

// Notes an error of that site; its cause is what the owner holds.
void Lower::note_error(Val site, Val first, Val second, Val cause) {
  intrinsic(ir::Intrinsic::fail, DType::I32, b_->cast(site, DType::I32),
            first == ir::kNone ? ci(0) : first, second == ir::kNone ? ci(0) : second);
  if (cause != ir::kNone)
    intrinsic(ir::Intrinsic::caught, DType::I64, cause, ir::kNone, ir::kNone, ir::Space::Global,
              static_cast<int64_t>(ir::Noted::SetCause));
  set(status_, b_->constant(DType::I32, Scalar::from_int(1)));
}

// A list of one item that holds what was noted of an error: its site, its values, the owner of its
// arguments or zero, and the owner of its own cause or zero. The last two belong to it.
Val Lower::new_cause(Val site, Val first, Val second, Val owner, Val cause) {
  constexpr int64_t kWords = 5;
  const Val list = intrinsic(ir::Intrinsic::list, DType::I64, ci(0), ci(0), ir::kNone,
                             ir::Space::Global, ir::stored_item(8 * kWords, 1u << 3 | 1u << 4));
  expect_memory(list);
  expect_memory(intrinsic(ir::Intrinsic::resize, DType::I64, list, ci(1)));
  Value held;
  held.v = {list};
  const Val data = list_data(held);
  const Val all[] = {site, first, second, owner, cause};
  for (int64_t k = 0; k < kWords; ++k)
    write_at(DType::I64, all[k], data, ci(8 * k), ir::Space::Global);
  return list;
}

// --- what handlers ask
// -------------------------------------------------------------------------------

// A call of the bindings about a caught error, which say 0 where it has worked.
void Lower::ask_of_error(const Node& n, const Caught& c, HostCall what, int64_t how, Val out) {
  if (portion_)
    not_yet(n, "what a caught exception says in a parallel loop", "range instead of prange");
  if (!spec_.runs_python) spec_.runs_python = changed_ = true;
  const Val sites = intrinsic(ir::Intrinsic::caught, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                              ir::Space::Global, static_cast<int64_t>(ir::Noted::Sites));
  for (Val w : {ci(how), sites, get(c.site), get(c.first), get(c.second), out})
    b_->emit(Op::argument, DType::I64, w);
  const Val wrong = intrinsic(ir::Intrinsic::host_call, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                              ir::Space::Global, static_cast<int64_t>(what));
  constexpr int64_t kTooFew = 2;  // bindings/caught.cpp
  when(b_->emit(Op::equal, DType::Bool, wrong, ci(kTooFew)),
       [&] { raise_at(site(n, "IndexError", "tuple index out of range")); });
  when(b_->emit(Op::not_equal, DType::Bool, wrong, ci(0)), [&] {
    raise_at(site(n, "NotImplementedError",
                  "not yet in compiled functions: what is asked of this exception"));
  });
}

// str() or repr() of a caught error, as CPython has it.
Value Lower::text_of_error(const Node& n, const Value& e, bool repr) {
  const Caught& c = caught_[static_cast<size_t>(e.type.number)];
  const Val owner = intrinsic(ir::Intrinsic::allocate, DType::I64, ci(24));
  expect_memory(owner);
  own(owner);
  const Val out = intrinsic(ir::Intrinsic::data_of, DType::I64, owner);
  ask_of_error(n, c, HostCall::ErrorText, repr, out);
  Value r;
  r.type = held_type(text("").type);
  for (int64_t k = 0; k < 3; ++k)
    r.v.push_back(read_at(DType::I64, out, ci(8 * k), ir::Space::Global).v[0]);
  own(r.v[1]);
  return r;
}

namespace {

// The types of what a site's error has been given; nothing: they cannot be told.
std::optional<Type> arguments_of(const Site& s) {
  if (s.missing || s.exception == "objmode") return {};
  if (!s.argument.unknown()) return s.argument;
  Type t = Type::of(Type::Tag::Tuple);
  if (s.text.empty()) return t;
  std::string text = s.text;
  if (text.find(kEnd) == std::string::npos) text += kEnd;
  for (size_t at = 0, end; (end = text.find(kEnd, at)) != std::string::npos; at = end + 1) {
    const std::string one = text.substr(at, end - at);
    if (one.empty() || one[0] != kLiteral) {
      t.items.push_back(Type::of(Type::Tag::String));
      t.items.back().owned = true;
      continue;
    }
    if (one == std::string(1, kLiteral) + "None") return {};
    const bool truth = one.ends_with("b}") || one.ends_with("True") || one.ends_with("False");
    t.items.push_back(Type::number_of(truth                 ? DType::Bool
                                      : one.ends_with("f}") ? DType::F64
                                      : one.ends_with("u}") ? DType::U64
                                                            : DType::I64,
                                      !one.ends_with("u}")));
  }
  return t;
}

}  // namespace

// e.args: a tuple of the types that all errors have which may be here, or which the program's raise
// statements give; the bindings look whether an error has such.
Value Lower::arguments_of_error(const Node& n, const Value& e) {
  const Caught& c = caught_[static_cast<size_t>(e.type.number)];
  Type all;
  auto site_of = [&](int s) -> const Site& { return u_.result.sites[static_cast<size_t>(s)]; };
  const bool raised = std::ranges::any_of(c.sites, [&](int s) { return site_of(s).raised; });
  for (int s : c.sites) {
    const Site& one = site_of(s);
    if (raised && !one.raised) continue;
    const auto own = arguments_of(one);
    Type both;
    if (!own || !join(all, *own, both))
      not_yet(n,
              "the arguments of errors of several kinds: " + name(all) + ", and those of line " +
                  std::to_string(one.line),
              "a handler for each class of exceptions, or str(e)");
    all = both;
  }
  // What a raise statement gives that is not known yet, a later pass knows.
  if (all.unknown() || (all.items.empty() && changed_)) return {};
  hold_python_numbers(all);
  if (all.items.empty()) {
    Value empty;
    empty.type = all;
    return empty;
  }
  return words_of_error(n, c, "e.args", all);
}

// e.args[k] of a known k, where not all errors that may be here have so many: those that have not
// raise.
std::optional<Value> Lower::item_of_error(const Node& n) {
  const Node &args = *n.one(Field::value), &slice = *n.one(Field::slice);
  if (args.kind != NodeKind::Attribute || args.text != "args" ||
      args.one(Field::value)->kind != NodeKind::Name || slice.kind != NodeKind::Constant ||
      slice.literal.tag != Literal::Tag::Number || !slice.literal.weak ||
      slice.literal.dtype != DType::I64 || slice.literal.number.real() < 0)
    return {};
  const Value e = maybe_none(*args.one(Field::value));
  if (!is_caught(e)) return {};
  const Caught& c = caught_[static_cast<size_t>(e.type.number)];
  const auto k = static_cast<size_t>(slice.literal.number.real());
  auto site_of = [&](int s) -> const Site& { return u_.result.sites[static_cast<size_t>(s)]; };
  const bool raised = std::ranges::any_of(c.sites, [&](int s) { return site_of(s).raised; });
  Type item;
  bool some_lack = false;
  for (int s : c.sites) {
    if (raised && !site_of(s).raised) {
      some_lack = true;
      continue;
    }
    const auto own = arguments_of(site_of(s));
    if (!own) return {};
    if (own->items.size() <= k) {
      some_lack = true;
      continue;
    }
    Type both;
    if (!join(item, own->items[k], both)) return {};
    item = both;
  }
  if (!some_lack || (item.unknown() && changed_)) return {};
  // Of none: what is read is never used.
  if (item.unknown()) item = Type::number_of(DType::I64, true);
  Type all = Type::of(Type::Tag::Tuple);
  all.items = {item};
  hold_python_numbers(all);
  return words_of_error(n, c, "e.args " + std::to_string(k), all).items[0];
}

// e.args, or a tuple of the one item that `what` names, of this type.
Value Lower::words_of_error(const Node& n, const Caught& c, const std::string& what,
                            const Type& all) {
  const std::vector<DType> parts = words(all);
  const Val owner =
      intrinsic(ir::Intrinsic::allocate, DType::I64, ci(8 * static_cast<int64_t>(parts.size())));
  expect_memory(owner);
  own(owner);
  const Val out = intrinsic(ir::Intrinsic::data_of, DType::I64, owner);
  // The type that is wanted, for the bindings: they convert.
  const int wanted = site(n, what, name(all));
  u_.result.sites[static_cast<size_t>(wanted)].argument = all;
  u_.result.sites[static_cast<size_t>(wanted)].missing = true;
  ask_of_error(n, c, HostCall::ErrorArguments, wanted, out);
  std::vector<Val> got;
  for (size_t k = 0; k < parts.size(); ++k)
    got.push_back(b_->cast(
        read_at(stored(parts[k]), out, ci(8 * static_cast<int64_t>(k)), ir::Space::Global).v[0],
        parts[k]));
  size_t next = 0;
  const Value r = unflatten(all, got, next);
  for (size_t o : owners(all)) own(got[o]);
  return r;
}

}  // namespace numbus::frontend
