// try, except, else and finally; what is raised: raised.cpp.
//
// An error is a site that is noted in the context, and a status. What raises leaves the loop
// `raising_to_`, which runs once: the whole function, or what a try statement tries; after the loop
// the handlers ask which site has been noted. Whatever leaves a statement with a finally, be it an
// error, a return, a break or a continue, leaves such a loop as well, and goes on after the
// finally.
#include <algorithm>
#include <utility>

#include "base/host_call.h"
#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// The class of sites that stand for whatever a block of objmode raises.
const char* const kOfPython = "objmode";

}  // namespace

// --- ways out
// -----------------------------------------------------------------------------------------------

// break and continue: always true, as nothing comes after them.
bool Lower::leave_loop(const Node& n, bool breaks) {
  if (loops_.empty() || !loops_.back().owned_by_user)
    fail(n, "break and continue do not work here", "they leave no parallel or unrolled loop");
  Loop& loop = loops_.back();
  loop.broken |= breaks;
  if (finals_.size() > finals_base_ && finals_.back().loops == loops_.size()) {
    Finally& f = finals_.back();
    (breaks ? f.breaks : f.continues) = true;
    set(f.reason, ci(breaks ? kBreaks : kContinues));
    break_loop(f.loop);
  } else if (!breaks && loop.iteration == ir::kNone) {
    b_->emit(Op::continue_loop, DType::I64, loop.begin);
  } else {
    break_loop(breaks ? loop.begin : loop.iteration);
  }
  return true;
}

// The value has been noted: in `returned_`, or, where a function is expanded in place, in a name.
void Lower::leave_by_return() {
  if (finals_.size() > finals_base_) {
    Finally& f = finals_.back();
    f.returns = true;
    set(f.reason, ci(kReturns));
    break_loop(f.loop);
    return;
  }
  if (!on_return_ && !generates_) {
    for (size_t o : owners(result_))
      if (o < returned_.size()) intrinsic(ir::Intrinsic::retain, DType::I64, get(returned_[o]));
    for (size_t i = 0; i < returned_.size(); ++i) {
      Val word = get(returned_[i]);
      b_->emit(Op::give, b_->type(word), word, ir::kNone, ir::kNone, static_cast<int64_t>(i));
    }
  }
  break_loop(return_to_);
}

// --- errors that are caught
// ---------------------------------------------------------------------------------

Lower::Caught Lower::new_caught() {
  Caught c{new_variable(DType::I64), new_variable(DType::I64), new_variable(DType::I64),
           new_variable(DType::I64), new_variable(DType::I64), {}};
  owning_.push_back(c.owner);
  owning_.push_back(c.cause);
  return c;
}

// What has been noted, which is noted no longer.
void Lower::take(const Caught& c) {
  auto noted = [&](ir::Noted which) {
    return intrinsic(ir::Intrinsic::caught, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                     ir::Space::Global, static_cast<int64_t>(which));
  };
  Val site = noted(ir::Noted::Site), first = noted(ir::Noted::First),
      second = noted(ir::Noted::Second), cause = noted(ir::Noted::TakeCause);
  noted(ir::Noted::Forget);
  intrinsic(ir::Intrinsic::release, DType::I64, get(c.cause));
  set(c.cause, cause);
  set(c.site, site);
  set(c.first, first);
  set(c.second, second);
  intrinsic(ir::Intrinsic::release, DType::I64, get(c.owner));
  set(c.owner, b_->emit(Op::select, DType::I64, table_says({}, site), first, ci(0)));
}

void Lower::raise_again(const Caught& c) {
  intrinsic(ir::Intrinsic::retain, DType::I64, get(c.owner));
  intrinsic(ir::Intrinsic::retain, DType::I64, get(c.cause));
  note_error(get(c.site), get(c.first), get(c.second), get(c.cause));
  leave_function();
}

// Whether the error of a site is one of these classes; none: whether it has an argument. All sites
// are known in the end, when the tables are made.
Val Lower::table_says(const std::vector<std::string>& classes, Val site) {
  auto& all = u_.tables;
  auto it = std::ranges::find(all, classes, &Unit::Table::classes);
  if (it == all.end()) {
    auto& constants = u_.result.module.constants;
    constants.emplace_back("table");
    it = all.insert(all.end(), {constants.size() - 1, classes});
  }
  Val table = intrinsic(ir::Intrinsic::constant_memory, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                        ir::Space::Global, static_cast<int64_t>(it->constant));
  // Errors of generators that other calls have made have negative numbers: they are not caught.
  Value byte =
      read_at(DType::U8, table, b_->emit(Op::maximum, DType::I64, site, ci(0)), ir::Space::Global);
  return both(less(ci(-1), site), b_->emit(Op::not_equal, DType::Bool, byte.v[0],
                                           b_->constant(DType::U8, Scalar::from_int(0))));
}

// Whether a handler of these classes catches the error. Of what Python has raised in a block of
// objmode it says so itself.
Val Lower::is_caught(const Node& type, const Caught& error) {
  const auto classes = classes_of(type);
  const Val known = table_says(classes, get(error.site));
  if (std::ranges::none_of(u_.result.sites,
                           [&](const Site& s) { return u_.may_catch({kOfPython}, s); }))
    return known;
  if (!spec_.runs_python) spec_.runs_python = changed_ = true;
  std::string names;
  for (const std::string& cls : classes) names += (names.empty() ? "" : "\n") + cls;
  const int asked = site(type, "except", names);
  u_.result.sites[static_cast<size_t>(asked)].missing = true;
  const Val found = new_variable(DType::I64);
  set(found, ci(0));
  when(table_says({kOfPython}, get(error.site)), [&] {
    const Val sites = intrinsic(ir::Intrinsic::caught, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                                ir::Space::Global, static_cast<int64_t>(ir::Noted::Sites));
    for (Val w : {ci(asked), sites, get(error.site), get(error.first), get(error.second), ci(0)})
      b_->emit(Op::argument, DType::I64, w);
    set(found, intrinsic(ir::Intrinsic::host_call, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                         ir::Space::Global, static_cast<int64_t>(HostCall::ErrorIsOne)));
  });
  return b_->emit(Op::logical_or, DType::Bool, known,
                  b_->emit(Op::not_equal, DType::Bool, get(found), ci(0)));
}

void Lower::know_bases(const Node& n) {
  std::set<std::string>& all = u_.bases[n.text.substr(10)];
  for (const Node& base : n.all(Field::elts)) all.insert(base.text.substr(10));
}

// Its text and arguments are made where it comes to Python.
void Lower::refuse_exception(const Node& n, const Value& v) {
  if (v.type.is(Type::Tag::Module) && v.type.text.starts_with("exception"))
    not_yet(n, "this of a caught exception", "str(e), e.args, or to raise it again");
}

// The classes that a handler names: one, or a tuple of them.
std::vector<std::string> Lower::classes_of(const Node& n) {
  std::vector<std::string> all;
  if (n.kind == NodeKind::Global && n.text.starts_with("exception ")) {
    know_bases(n);
    return {n.text.substr(10)};
  }
  if (n.kind != NodeKind::Tuple && !(n.kind == NodeKind::Global && n.text == "tuple"))
    fail(n, "except takes a class of exceptions, or a tuple of them", "except ValueError:");
  for (const Node& one : n.all(Field::elts))
    for (std::string& cls : classes_of(one)) all.push_back(std::move(cls));
  return all;
}

// --- statements
// ---------------------------------------------------------------------------------------------

bool Lower::try_statement(const Node& n) {
  refuse_in_kernel(n, "try");
  const auto& finalbody = n.all(Field::finalbody);
  ++scope_->depth;
  bool ends = false;
  if (finalbody.empty()) {
    ends = try_and_handle(n);
  } else {
    const auto before = scope_->present;
    Val reason = new_variable(DType::I64);
    set(reason, ci(kFallsThrough));
    finals_.push_back({begin_loop(), reason, loops_.size()});
    const Val outer = std::exchange(raising_to_, finals_.back().loop);
    ends = try_and_handle(n);
    raising_to_ = outer;
    const Finally f = finals_.back();
    finals_.pop_back();
    break_loop(f.loop);
    end_loop(f.loop);
    // An error waits until the finally is done.
    const Caught waiting = new_caught();
    Val status = new_variable(DType::I32);
    set(status, get(status_));
    Val none = b_->constant(DType::I32, Scalar::from_int(0));
    auto failed = [&] { return b_->emit(Op::not_equal, DType::Bool, get(status), none); };
    auto caught = [&] { return b_->emit(Op::less, DType::Bool, none, get(status)); };
    when(failed(), [&] {
      when(caught(), [&] { take(waiting); });
      set(status_, none);
    });
    scope_->present = before;
    forget_renewed(n);
    handling_.push_back(-1);
    const bool stays = block(finalbody);
    handling_.pop_back();
    if (!stays) {
      when(failed(), [&] {
        when(
            caught(), [&] { raise_again(waiting); },
            [&] {
              set(status_, get(status));
              leave_function();
            });
      });
      auto because = [&](Reason r, const std::function<void()>& go_on) {
        when(b_->emit(Op::equal, DType::Bool, get(f.reason), ci(r)), go_on);
      };
      if (f.returns) because(kReturns, [&] { leave_by_return(); });
      if (f.breaks) because(kBreaks, [&] { leave_loop(n, true); });
      if (f.continues) because(kContinues, [&] { leave_loop(n, false); });
    }
    ends = ends || stays;
  }
  --scope_->depth;
  return ends;
}

bool Lower::try_and_handle(const Node& n) {
  if (n.all(Field::handlers).empty()) return block(n.all(Field::body));
  const auto before = scope_->present;
  Val tried = begin_loop();
  const Val outer = std::exchange(raising_to_, tried);
  std::set<int> before_try = std::exchange(sites_, {});
  bool ends = block(n.all(Field::body));
  std::set<int> tried_sites = sites_;
  sites_.merge(before_try);
  raising_to_ = outer;
  if (!ends) ends = block(n.all(Field::orelse));
  break_loop(tried);
  end_loop(tried);
  const auto after = std::exchange(scope_->present, before);
  forget_renewed(n);
  Caught error = new_caught();
  error.sites = std::move(tried_sites);
  caught_.push_back(error);
  bool all_end = false;
  Val none = b_->constant(DType::I32, Scalar::from_int(0));
  when(b_->emit(Op::not_equal, DType::Bool, get(status_), none), [&] {
    // A parallel loop that Ctrl-C has ended has noted nothing.
    when(b_->emit(Op::less, DType::Bool, get(status_), none), [&] { leave_function(); });
    take(error);
    set(status_, none);
    handling_.push_back(static_cast<int>(caught_.size()) - 1);
    all_end = handlers(n, 0, error);
    handling_.pop_back();
    for (Val owner : {error.owner, error.cause}) {
      intrinsic(ir::Intrinsic::release, DType::I64, get(owner));
      set(owner, ci(0));
    }
  });
  if (all_end)
    scope_->present = after;
  else if (!ends)
    std::erase_if(scope_->present, [&](const std::string& s) { return !after.contains(s); });
  return ends && all_end;
}

// The handlers from one on; none left: the error goes on its way. Whether all of them end.
bool Lower::handlers(const Node& n, size_t at, const Caught& error) {
  const auto& all = n.all(Field::handlers);
  if (at == all.size()) {
    raise_again(error);
    return true;
  }
  const Node& h = all[at];
  const auto before = scope_->present;
  auto handle = [&] {
    Caught& here = caught_[static_cast<size_t>(handling_.back())];
    here.sites = at == 0 || !h.one(Field::type) ? error.sites : std::set<int>{};
    if (const Node* of = h.one(Field::type)) {
      const auto classes = classes_of(*of);
      here.sites.clear();
      for (int s : error.sites)
        if (u_.may_catch(classes, u_.result.sites[static_cast<size_t>(s)]) ||
            u_.may_catch({kOfPython}, u_.result.sites[static_cast<size_t>(s)]))
          here.sites.insert(s);
    }
    if (h.text.empty()) return block(h.all(Field::body));
    auto it = scope_->variables.find(h.text);
    const bool other =
        it != scope_->variables.end() &&
        !(it->second.type.is(Type::Tag::Module) && it->second.type.text.starts_with("exception"));
    if (other || types_.contains(scope_->key(h.text)))
      not_yet(h, "'" + h.text + "', which is an exception here and something else elsewhere",
              "another name: except ValueError as error");
    Type t = Type::of(Type::Tag::Module);
    t.text = "exception";
    t.number = handling_.back();
    scope_->variables[h.text] = {t, {}, scope_->key(h.text)};
    const bool ends = block(h.all(Field::body));
    t.text = "exception that has been handled";
    scope_->variables[h.text].type = t;
    return ends;
  };
  const Node* type = h.one(Field::type);
  if (!type) {
    if (at + 1 < all.size()) fail(h, "a bare except has to be the last one");
    return handle();
  }
  bool ends = false, rest_ends = false;
  auto after = before;
  when(
      is_caught(*type, error),
      [&] {
        ends = handle();
        after = std::exchange(scope_->present, before);
      },
      [&] { rest_ends = handlers(n, at + 1, error); });
  if (rest_ends)
    scope_->present = after;
  else if (!ends)
    std::erase_if(scope_->present, [&](const std::string& s) { return !after.contains(s); });
  return ends && rest_ends;
}

}  // namespace numbus::frontend
