// Generators as objects: functions that yield, what begins them and what lets them go on.
//
// A generator is the owner of a frame, which begins with the words of ir::kGeneratorWords; what it
// has yielded last lies after them until it goes on. It holds its arguments and its variables.
#include <set>
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

constexpr int64_t kYielded = 8 * ir::kGeneratorWords;  // the offset of what has been yielded

}  // namespace

// A result as all of them are held, which this one may make wider; nothing: a later pass knows.
std::optional<Value> Lower::as_result(const Node& n, const Value& v) {
  Type wider;
  if (!join(result_, v.type, wider))
    not_yet(n,
            std::string(generates_ ? "yields " : "returns ") + name(result_) + " on one path and " +
                name(v.type) + " on another",
            generates_ ? "values of one type" : "return one type on every path");
  if (wider != result_) {
    u_.widened = u_.widened || !result_.unknown();
    result_ = wider;
    changed_ = true;
    return {};
  }
  Value r = convert_to(n, v, wider);
  if (r.unknown()) return {};
  return r;
}

// Nothing of it runs before the first value is asked for.
void Lower::begin_generator() {
  when(intrinsic(ir::Intrinsic::yields, DType::Bool), [&] { leave_function(); });
}

void Lower::yield_from_here(const Node& n, const Value& given) {
  if (!generates_)
    not_yet(n, "yield in a function that is expanded here", "define the function at module level");
  if (portion_) fail(n, "yield does not work in a parallel loop");
  if (raising_to_ != outermost_ || !finals_.empty() || !handling_.empty())
    not_yet(n, "yield in a try statement", "a list of what is yielded");
  if (given.unknown() || is_open(given.type)) {
    unknown_result_ = true;
    if (!given.unknown()) not_yet(n, "yielding an empty list or dict", "a name for it: x = []");
    return;
  }
  if (is_records(given)) not_yet(n, "yielding records", "the fields, as a tuple");
  Value v = held(n, boxed(n, given));
  if (v.unknown()) {
    unknown_result_ = true;
    return;
  }
  if (v.type.is_number()) v.type.text.clear();
  if (const Type* part = only_inside(v.type)) not_yet(n, "yielding " + name(*part));
  if (words(v.type).size() > ir::kItemWords) not_yet(n, "yielding " + name(v.type));
  put_in_lists(origin_of(v));
  std::optional<Value> result = as_result(n, v);
  if (!result) return;
  write_words(result_, *result, frame_, ci(kYielded), true);
  const Val closing = intrinsic(ir::Intrinsic::yields, DType::Bool);
  // Whoever wanted the value holds it by now.
  const uint32_t marked = owner_words(result_);
  for (int64_t w = 0; w < static_cast<int64_t>(words(result_).size()); ++w)
    if (marked >> w & 1)
      intrinsic(ir::Intrinsic::release, DType::I64,
                read_at(DType::I64, frame_, ci(kYielded + 8 * w), ir::Space::Global).v[0]);
  when(closing, [&] { leave_function(); });
}

// A call of a function that yields.
Value Lower::new_generator(const Node& n, const Spec& spec, const std::vector<Value>& args,
                           const std::vector<Val>& words) {
  refuse_in_kernel(n, "generators as objects");
  for (Val w : words) b_->emit(Op::argument, b_->type(w), w);
  Value r;
  r.type = Type::of(Type::Tag::Generator);
  r.type.owned = true;
  r.type.items = {of_any_value(spec.result)};
  r.v = {intrinsic(ir::Intrinsic::generator, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                   ir::Space::Global, spec.function)};
  when(b_->emit(Op::equal, DType::Bool, r.v[0], ci(0)),
       [&] { raise_at(site(n, "MemoryError", "")); });
  own(r.v[0]);
  // It may yield what it was given, and what lists hold.
  r.origin = own_origin();
  for (const Value& a : args) r.origin |= origin_of(a);
  put_in_lists(r.origin);
  return r;
}

// Lets a generator go on; whether that was its end. Its errors are raised here.
Val Lower::resumed(const Node& n, const Value& generator) {
  const Val what = intrinsic(ir::Intrinsic::resume, DType::I64, generator.v[0]);
  auto is = [&](ir::Resumed r) {
    return b_->emit(Op::equal, DType::Bool, what, ci(static_cast<int64_t>(r)));
  };
  when(less(ci(static_cast<int64_t>(ir::Resumed::Ended)), what), [&] {
    when(is(ir::Resumed::Running),
         [&] { raise_at(site(n, "ValueError", "generator already executing")); });
    set(status_, b_->constant(DType::I32, Scalar::from_int(1)));
    leave_function();
  });
  return is(ir::Resumed::Ended);
}

// What a generator has yielded, held until the statement ends.
Value Lower::yielded(const Value& generator) {
  const Val frame = intrinsic(ir::Intrinsic::data_of, DType::I64, generator.v[0]);
  Value r = read_words(generator.type.items[0], frame, ci(kYielded), generator);
  set_origin(r, generator.origin | in_lists_ | own_origin());
  return r;
}

void Lower::each_yielded(const Node& n, const Value& over,
                         const std::function<void(const Value&)>& each) {
  hold(over);
  const Val loop = begin_loop();
  const size_t keep = temporaries_.size();
  when(resumed(n, over), [&] { break_loop(loop); });
  each(yielded(over));
  forget_temporaries(keep);
  end_loop(loop);
}

// As sequence(), also of what nobody knows the length of before.
Lower::Sequence Lower::items_of(const Node& at, const Value& v) {
  Sequence s;
  if (v.type.is(Type::Tag::Generator)) {
    s.each = [this, v, &at](const auto& body) { each_yielded(at, v, body); };
    return s;
  }
  if (!v.type.is(Type::Tag::Iterator) || v.type.text != "filter") return sequence(at, v);
  const Sequence all = sequence(at, v.items[1]);
  s.each = [this, v, all, &at](const auto& body) {
    over_all(all, [&](const Value& item) {
      if (item.unknown()) return;
      const Value passes = call_value({at, {item}, {}}, v.items[0]);
      if (!passes.unknown()) when(truth(at, passes), [&] { body(item); });
    });
  };
  return s;
}

void Lower::over_all(const Sequence& s, const std::function<void(const Value&)>& body) {
  if (s.each) return s.each(body);
  counted(s, [&](Val i) {
    const size_t keep = temporaries_.size();
    body(s.item(i));
    forget_temporaries(keep);
  });
}

bool Lower::loop_over_generator(const Node& n, const Value& generator) {
  hold(generator);
  const auto& orelse = n.all(Field::orelse);
  const Val ended = orelse.empty() ? ir::kNone : new_variable(DType::Bool);
  auto is_ended = [&](bool yes) {
    if (ended != ir::kNone) set(ended, b_->constant(DType::Bool, Scalar::from_bool(yes)));
  };
  is_ended(false);
  const Val loop = begin_loop();
  when(resumed(n, generator), [&] {
    is_ended(true);
    break_loop(loop);
  });
  assign(*n.one(Field::target), yielded(generator));
  const bool broken = loop_body(n, {loop, true});
  end_loop(loop);
  return loop_else(n, ended) && !broken;
}

// next() and iter(), and functions that take all that a generator yields.
std::optional<Value> Lower::call_iterator(const Call& c, const std::string& name) {
  const Node& n = c.n;
  const bool first = !c.args.empty() && c.args[0].type.is(Type::Tag::Generator);
  if (name == "next") {
    expect(c, name, 1, 2);
    const Value& g = c.args[0];
    if (g.unknown()) return Value{};
    if (!first)
      fail(n, "next() takes a generator; got " + frontend::name(g.type),
           "iter(x), and a name for it");
    const Val ended = resumed(n, g);
    if (c.args.size() == 1) {
      when(ended, [&] { raise_at(site(n, "StopIteration", "")); });
      return yielded(g);
    }
    const Value otherwise = held(n, boxed(n, c.args[1]));
    if (otherwise.unknown()) return Value{};
    // A name of its own, to which either is assigned.
    const std::string key = "next " + std::to_string(n.line) + ":" + std::to_string(n.col);
    ++scope_->depth;
    when(ended, [&] { assign_name(n, key, otherwise); }, [&] { assign_name(n, key, yielded(g)); });
    --scope_->depth;
    return read_variable(n, key);
  }
  if (name == "iter") {
    expect(c, name, 1, 1);
    if (c.args[0].unknown()) return Value{};
    if (first) return c.args[0];
    return call_function(c, u_.program.library("iter"));
  }
  if (name == "filter") {
    expect(c, name, 2, 2);
    for (const Value& a : c.args)
      if (a.unknown()) return Value{};
    const Type& f = c.args[0].type;
    if (f.is(Type::Tag::Function) && f.text.starts_with("local ") &&
        !c.args[1].type.is(Type::Tag::Generator)) {
      Value r;
      r.type = Type::of(Type::Tag::Iterator);
      r.type.text = name;
      for (const Value& a : c.args) {
        r.items.push_back(a.lazy ? materialise(n, a) : a);
        r.type.items.push_back(r.items.back().type);
      }
      return r;
    }
    if (f.is(Type::Tag::None))
      return call_function({n, {c.args[1]}, {}}, u_.program.library("filter none"));
    return call_function(c, u_.program.library("filter"));
  }
  bool any = false;
  for (const Value& a : c.args) any = any || a.type.is(Type::Tag::Generator);
  if (!any) return {};
  static const std::set<std::string> kOfAll = {"list", "tuple",  "sum", "min",
                                               "max",  "sorted", "set"};
  if (first && c.args.size() == 1 && (kOfAll.contains(name) && name != "tuple")) {
    Value all = list_from(n, c.args[0]);
    if (all.unknown() || name == "list") return all;
    return call_named({n, {all}, c.keywords}, name);
  }
  if (name == "enumerate") {
    expect(c, name, 1, 2);
    const Value* start = c.get(1, "start");
    const Value from = start ? *start : known_integer(0);
    return call_function({n, {c.args[0], from}, {}}, u_.program.library("enumerate a generator"));
  }
  if (name == "zip") {
    constexpr size_t kMost = 4;
    if (!c.keywords.empty()) not_yet(n, "zip() of generators with keywords", "no keywords");
    if (c.args.size() > kMost) not_yet(n, "zip() of generators and more than four", "zip of zips");
    return call_function(c, u_.program.library("zip " + std::to_string(c.args.size())));
  }
  if (name == "isinstance" || name == "print" || name == "type" || name == "dict") return {};
  not_yet(n, name + "() of a generator", "list(g), or a loop");
}

}  // namespace numbus::frontend
