// The verifier of kernels and functions: what every pass and every back end takes for granted.
#include <algorithm>

#include "base/error.h"
#include "base/host_call.h"
#include "ir/function.h"

namespace numbus::ir {
namespace {

// Which operands a step has: r, it must be there; o, it may be; -, it must not be.
const char* operands_of(const Inst& i) {
  if (static_cast<int>(i.op) < kNumRows) {
    static const char* const kRow[] = {"---", "r--", "rr-", "rrr"};
    return kRow[row(i.op).nin];
  }
  switch (i.op) {
    case Op::constant:
    case Op::scalar:
    case Op::index:
    case Op::in_box:
    case Op::acc_load:
    case Op::param:
    case Op::variable:
    case Op::loop:
    case Op::call: return "---";
    case Op::load:
    case Op::repeat: return "o--";
    case Op::make_complex:
    case Op::carry_next:
    case Op::check:
    case Op::set:
    case Op::read: return "rr-";
    case Op::store:
    case Op::acc_store:
    case Op::gather:
    case Op::end_repeat: return "ro-";
    case Op::select:
    case Op::if_result:
    case Op::write: return "rrr";
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_min:
    case Op::scatter_max: return "ror";
    case Op::intrinsic: return "ooo";
    default: return "r--";
  }
}

bool has_value(Op op) {
  switch (op) {
    case Op::store:
    case Op::acc_store:
    case Op::if_any:
    case Op::end_if:
    case Op::repeat:
    case Op::carry_next:
    case Op::end_repeat:
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_min:
    case Op::scatter_max:
    case Op::check:
    case Op::variable:
    case Op::set:
    case Op::branch:
    case Op::branch_else:
    case Op::end_branch:
    case Op::loop:
    case Op::loop_next:
    case Op::end_loop:
    case Op::break_loop:
    case Op::continue_loop:
    case Op::give:
    case Op::ret:
    case Op::write:
    case Op::argument: return false;
    default: return true;
  }
}

// Whether the first operand names a step with structure rather than a value.
bool names_step(Op op) {
  switch (op) {
    case Op::end_if:
    case Op::end_repeat:
    case Op::get:
    case Op::set:
    case Op::branch_else:
    case Op::end_branch:
    case Op::loop_next:
    case Op::end_loop:
    case Op::break_loop:
    case Op::continue_loop: return true;
    default: return false;
  }
}

// How many operands an intrinsic has, at least and at most.
std::pair<int, int> operands_of(Intrinsic i) {
  switch (i) {
    case Intrinsic::barrier_count:
    case Intrinsic::barrier_and:
    case Intrinsic::barrier_or:
    case Intrinsic::syncwarp:
    case Intrinsic::clz:
    case Intrinsic::brev:
    case Intrinsic::ffs:
    case Intrinsic::nanosleep:
    case Intrinsic::allocate:
    case Intrinsic::data_of:
    case Intrinsic::retain:
    case Intrinsic::release:
    case Intrinsic::print_int:
    case Intrinsic::print_float:
    case Intrinsic::shared_memory:
    case Intrinsic::local_memory:
    case Intrinsic::atomic_load:
    case Intrinsic::resume:
    case Intrinsic::foreign:
    case Intrinsic::lane_merge: return {1, 1};
    case Intrinsic::all_sync:
    case Intrinsic::any_sync:
    case Intrinsic::eq_sync:
    case Intrinsic::ballot:
    case Intrinsic::match_any:
    case Intrinsic::match_all:
    case Intrinsic::list:
    case Intrinsic::resize:
    case Intrinsic::dict_step:
    case Intrinsic::parallel:
    case Intrinsic::atomic_add:
    case Intrinsic::atomic_sub:
    case Intrinsic::atomic_and:
    case Intrinsic::atomic_or:
    case Intrinsic::atomic_xor:
    case Intrinsic::atomic_inc:
    case Intrinsic::atomic_dec:
    case Intrinsic::atomic_exch:
    case Intrinsic::atomic_max:
    case Intrinsic::atomic_min:
    case Intrinsic::atomic_nanmax:
    case Intrinsic::atomic_nanmin: return {2, 2};
    case Intrinsic::shfl_idx:
    case Intrinsic::shfl_up:
    case Intrinsic::shfl_down:
    case Intrinsic::shfl_xor:
    case Intrinsic::atomic_cas:
    case Intrinsic::fma: return {3, 3};
    case Intrinsic::text: return {2, 3};
    case Intrinsic::watch: return {1, 2};
    case Intrinsic::fail: return {1, 3};
    case Intrinsic::caught: return {0, 1};
    case Intrinsic::random:
    case Intrinsic::strict: return {0, 2};
    default: return {0, 0};
  }
}

class Verifier {
 protected:
  explicit Verifier(const std::vector<Inst>& body) : body_(body), scope_of_(body.size(), 0) {}
  ~Verifier() = default;

  [[noreturn]] void fail(const char* what) const {
    raise(ErrorKind::Runtime,
          "verify: " + where() + "step " + std::to_string(at_) + ": " + what + "\n" + printed());
  }
  virtual std::string where() const = 0;
  virtual std::string printed() const = 0;
  virtual void check(const Inst& i) = 0;

  void run() {
    for (at_ = 0; at_ < body_.size(); ++at_) {
      const Inst& i = body_[at_];
      operands(i);
      if (static_cast<int>(i.op) < kNumRows)
        elementwise(i);
      else
        structure(i);
      check(i);
    }
    at_ = body_.empty() ? 0 : body_.size() - 1;
    if (!open_.empty()) fail("something stays open");
  }

  DType type(Val v) const { return body_[v].type; }
  bool is(Val v, Op op) const { return v != kNone && body_[v].op == op; }
  void expect(bool holds, const char* what) const {
    if (!holds) fail(what);
  }

 private:
  // What is open: the step that began it, its scope, and whether its second part has begun.
  struct Open {
    Val begin;
    int scope;
    bool second = false;
  };
  struct Scope {
    Val begin;
    int outer;
    bool closed = false;
    // A repeat that has ended: it ran once at least, so the values of its last iteration are its
    // surroundings'.
    bool ended = false;
  };

  int now() const { return open_.empty() ? 0 : open_.back().scope; }
  void enter(Val begin, int outer) {
    scopes_.push_back({begin, outer});
    int scope = static_cast<int>(scopes_.size()) - 1;
    if (!open_.empty() && open_.back().begin == begin) {
      open_.back().scope = scope;
      open_.back().second = true;
    } else {
      open_.push_back({begin, scope});
    }
  }
  void leave() {
    Scope& s = scopes_[open_.back().scope];
    (is(s.begin, Op::repeat) ? s.ended : s.closed) = true;
    open_.pop_back();
  }

  void operands(const Inst& i) {
    const char* form = operands_of(i);
    const Val all[] = {i.a, i.b, i.c};
    for (int n = 0; n < 3; ++n) {
      Val o = all[n];
      if (o == kNone) {
        expect(form[n] != 'r', "an operand is missing");
        continue;
      }
      expect(form[n] != '-', "an operand too many");
      expect(o >= 0 && o < static_cast<Val>(at_), "operand not defined before its use");
      if (n == 0 && names_step(i.op)) continue;
      expect(has_value(body_[o].op), "operand without a value");
      int scope = scope_of_[o];
      while (scopes_[scope].ended) scope = scopes_[scope].outer;
      const Scope& s = scopes_[scope];
      if (!s.closed) continue;
      bool of_if = i.op == Op::if_result && n == 1 && is(s.begin, Op::if_any) &&
                   !scopes_[s.outer].closed && body_[s.begin].a == i.c;
      expect(of_if, "operand defined in a scope that is closed");
    }
    scope_of_[at_] = now();
  }

  void elementwise(const Inst& i) {
    const Row& r = row(i.op);
    DType t = type(i.a);
    for (Val o : {i.b, i.c}) expect(o == kNone || type(o) == t, "operand types differ");
    switch (r.rule) {
      case Rule::Compare:
      case Rule::Logical:
      case Rule::TestFloat:
      case Rule::TestReal: expect(i.type == DType::Bool, "the result is no bool"); break;
      case Rule::BitCount: expect(is_integer(i.type), "the result is no integer"); break;
      case Rule::Abs:
        expect(i.type == t || (is_complex(t) && i.type == real_of(t)), "type of the result");
        break;
      case Rule::Divide:
      case Rule::Float:
      case Rule::FloatComplex:
      case Rule::FloatPower: expect(is_inexact(t), "operand is no float"); [[fallthrough]];
      default: expect(i.type == t, "type of the result");
    }
    if (r.rule == Rule::Bits || r.rule == Rule::Shift || r.rule == Rule::Whole ||
        r.rule == Rule::BitCount)
      expect(!is_inexact(t), "operand has no bits to combine");
  }

  void structure(const Inst& i) {
    auto v = static_cast<Val>(at_);
    switch (i.op) {
      case Op::select:
        expect(type(i.a) == DType::Bool && type(i.b) == i.type && type(i.c) == i.type,
               "select types");
        break;
      case Op::bits:
        expect(itemsize(type(i.a)) == itemsize(i.type), "bits changes the size");
        break;
      case Op::constant:
        expect(!is_complex(i.type), "constants are real");
        expect(i.imm == constant_of(i.type, i.imm), "a signed constant is its value");
        break;
      case Op::real_part:
      case Op::imag_part: expect(real_of(type(i.a)) == i.type, "type of the part"); break;
      case Op::make_complex:
        expect(is_complex(i.type) && type(i.a) == real_of(i.type) && type(i.b) == type(i.a),
               "types of the parts");
        break;
      case Op::table:
        expect(i.imm >= 0 && is_integer(type(i.a)) && is_float(i.type), "table or its index");
        break;
      case Op::if_any:
        expect(type(i.a) == DType::Bool, "condition type");
        expect(i.imm > v && i.imm < static_cast<Val>(body_.size()) &&
                   is(static_cast<Val>(i.imm), Op::end_if) && body_[i.imm].a == v,
               "its end is not where it says");
        enter(v, now());
        break;
      case Op::end_if:
        expect(!open_.empty() && open_.back().begin == i.a && is(i.a, Op::if_any),
               "does not match what is open");
        leave();
        break;
      case Op::if_result:
        expect(type(i.a) == i.type && type(i.b) == i.type && type(i.c) == DType::Bool,
               "types of the choice");
        break;
      case Op::repeat:
        expect(i.a == kNone || type(i.a) == DType::I64, "count type");
        enter(v, now());
        break;
      case Op::carry:
        expect(at_ > 0 && (is(v - 1, Op::repeat) || is(v - 1, Op::carry)),
               "a carried value that is not declared where the loop begins");
        expect(type(i.a) == i.type, "carried type");
        // Its last value is known after the loop.
        scope_of_[at_] = scopes_[now()].outer;
        break;
      case Op::carry_next:
        expect(!open_.empty() && is(open_.back().begin, Op::repeat) && is(i.a, Op::carry) &&
                   i.a > open_.back().begin && type(i.b) == i.type,
               "not a carried value of this loop");
        for (Val c = open_.back().begin + 1; c < i.a; ++c)
          expect(is(c, Op::carry), "not a carried value of this loop");
        break;
      case Op::end_repeat:
        expect(!open_.empty() && open_.back().begin == i.a && is(i.a, Op::repeat), "no such loop");
        expect((body_[i.a].a == kNone) == (i.b != kNone), "a loop without an end, or with two");
        expect(i.b == kNone || type(i.b) == DType::Bool, "condition type");
        leave();
        break;
      case Op::branch: expect(type(i.a) == DType::Bool, "condition"); [[fallthrough]];
      case Op::loop: enter(v, now()); break;
      case Op::branch_else:
      case Op::end_branch:
      case Op::loop_next:
      case Op::end_loop: {
        expect(!open_.empty() && open_.back().begin == i.a, "does not match what is open");
        bool of_branch = i.op == Op::branch_else || i.op == Op::end_branch;
        expect(is(i.a, of_branch ? Op::branch : Op::loop), "matches the wrong kind");
        if (i.op == Op::branch_else || i.op == Op::loop_next) {
          expect(!open_.back().second, "a second part begins twice");
          int outer = scopes_[now()].outer;
          scopes_[now()].closed = true;
          enter(i.a, outer);
        } else {
          leave();
        }
        break;
      }
      case Op::break_loop:
      case Op::continue_loop: {
        auto around = std::ranges::find(open_, i.a, &Open::begin);
        expect(is(i.a, Op::loop) && around != open_.end(), "no such loop around it");
        expect(i.op == Op::break_loop || !around->second, "continues after the loop's last part");
        break;
      }
      default: break;
    }
  }

 protected:
  const std::vector<Inst>& body_;
  size_t at_ = 0;

 private:
  std::vector<int> scope_of_;  // per step
  std::vector<Scope> scopes_{{kNone, 0}};
  std::vector<Open> open_;
};

class OfKernel final : Verifier {
 public:
  explicit OfKernel(const Kernel& k) : Verifier(k.body), k_(k) {}
  using Verifier::run;

 private:
  std::string where() const override { return ""; }
  std::string printed() const override { return print(k_); }

  void predicate(Val v) const { expect(v == kNone || type(v) == DType::Bool, "predicate type"); }
  void argument(const Inst& i, bool writes) const {
    expect(i.imm >= 0 && i.imm < static_cast<int64_t>(k_.args.size()), "no such argument");
    expect(k_.args[i.imm].dtype == i.type, "argument type");
    if (writes) expect(type(i.a) == i.type && k_.args[i.imm].written, "type or read-only argument");
  }

  void check(const Inst& i) override {
    switch (i.op) {
      case Op::load:
        argument(i, false);
        predicate(i.a);
        break;
      case Op::store:
        argument(i, true);
        predicate(i.b);
        break;
      case Op::gather:
        argument(i, false);
        expect(type(i.a) == DType::I64, "offset type");
        predicate(i.b);
        break;
      case Op::scatter:
      case Op::scatter_add:
      case Op::scatter_min:
      case Op::scatter_max:
        argument(i, true);
        expect(type(i.c) == DType::I64, "offset type");
        predicate(i.b);
        break;
      case Op::check:
        expect(i.imm >= 0 && i.imm < k_.checks, "no such site");
        expect(type(i.a) == DType::Bool && type(i.b) == DType::I64, "check");
        break;
      case Op::scalar:
        expect(i.imm >= 0 && i.imm < static_cast<int64_t>(k_.scalars.size()) &&
                   k_.scalars[i.imm] == i.type,
               "scalar type");
        break;
      case Op::index:
        expect(i.imm >= 0 && i.imm < k_.rank && i.type == DType::I64, "no such dimension");
        break;
      case Op::in_box:
        expect(i.imm >= 0 && i.imm < k_.boxes && i.type == DType::Bool, "no such box");
        break;
      case Op::acc_store:
        expect(type(i.a) == i.type, "state type");
        predicate(i.b);
        [[fallthrough]];
      case Op::acc_load:
        expect(i.imm >= 0 && i.imm < static_cast<int64_t>(k_.acc_fields.size()) &&
                   k_.acc_fields[i.imm] == i.type,
               "state type");
        break;
      case Op::apply: fail("a call that is not expanded"); break;
      default: expect(i.op < Op::param, "a step of functions in a kernel");
    }
  }

  const Kernel& k_;
};

class OfFunction final : Verifier {
 public:
  OfFunction(const Function& f, const Module& m) : Verifier(f.body), f_(f), m_(m) {}
  void run() {
    Verifier::run();
    // Control that runs past a function's last step goes anywhere. Recorded steps have no status.
    bool returns = std::ranges::any_of(body_, [](const Inst& i) { return i.op == Op::ret; });
    Op last = body_.empty() ? Op::loop : body_.back().op;
    expect(last == (returns ? Op::ret : Op::give), "the function does not end by returning");
  }

 private:
  std::string where() const override { return f_.name + ", "; }
  std::string printed() const override { return print_steps(f_.body); }

  bool at_number(int64_t n, size_t size) const { return n >= 0 && n < static_cast<int64_t>(size); }

  void check(const Inst& i) override {
    bool takes = i.op == Op::argument || i.op == Op::call || i.op == Op::intrinsic;
    expect(takes || arguments_.empty(), "an argument without its call");
    switch (i.op) {
      case Op::param:
        expect(at_number(i.imm, f_.params.size()) && f_.params[i.imm] == i.type, "parameter");
        break;
      case Op::get:
      case Op::set:
        expect(is(i.a, Op::variable) && type(i.a) == i.type, "variable");
        expect(i.op == Op::get || type(i.b) == i.type, "type of the new value");
        break;
      case Op::give:
        expect(at_number(i.imm, f_.results.size()) && f_.results[i.imm] == type(i.a),
               "result type");
        break;
      case Op::ret: expect(type(i.a) == DType::I32, "status type"); break;
      case Op::read:
        expect(type(i.a) == DType::I64 && type(i.b) == DType::I64, "address type");
        expect(!is_complex(i.type), "complex numbers are read as two");
        break;
      case Op::write:
        expect(type(i.b) == DType::I64 && type(i.c) == DType::I64 && type(i.a) == i.type,
               "address or value type");
        expect(!is_complex(i.type), "complex numbers are written as two");
        break;
      case Op::argument:
        expect(type(i.a) == i.type, "argument type");
        arguments_.push_back(i.type);
        break;
      case Op::call: {
        expect(at_number(i.imm, m_.functions.size()), "no such function");
        expect(i.type == DType::I32, "status type");
        expect(!m_.functions[i.imm].generator, "a call of a generator");
        expect(m_.functions[i.imm].params == arguments_, "not the arguments that it takes");
        arguments_.clear();
        break;
      }
      case Op::call_result: {
        expect(is(i.a, Op::call), "result of a call");
        const auto& results = m_.functions[body_[i.a].imm].results;
        expect(at_number(i.imm, results.size()) && results[i.imm] == i.type, "result of a call");
        break;
      }
      case Op::intrinsic: intrinsic(i); break;
      default: {
        bool of_kernels = i.op >= Op::scalar && i.op <= Op::acc_store;
        bool of_arrays = i.op >= Op::gather && i.op <= Op::check;
        expect(!of_kernels && !of_arrays, "a step of kernels in a function");
      }
    }
  }

  void intrinsic(const Inst& i) {
    expect((i.imm & 255) <= static_cast<int64_t>(Intrinsic::external), "no such intrinsic");
    Intrinsic k = intrinsic_of(i);
    auto [least, most] = operands_of(k);
    int count = (i.a != kNone) + (i.b != kNone) + (i.c != kNone);
    expect(count >= least && count <= most, "number of operands");
    expect(i.c == kNone || i.b != kNone, "operands in order");
    expect(i.b == kNone || i.a != kNone, "operands in order");
    bool address = k >= Intrinsic::atomic_add && k <= Intrinsic::atomic_cas;
    bool owner = (k >= Intrinsic::allocate && k <= Intrinsic::resize) || k == Intrinsic::dict_step;
    if (address || owner) expect(type(i.a) == DType::I64, "address type");
    if (address)
      expect((i.b == kNone || type(i.b) == i.type) && (i.c == kNone || type(i.c) == i.type),
             "operand types differ");
    if (k == Intrinsic::fma)
      expect(type(i.a) == i.type && type(i.b) == i.type && type(i.c) == i.type,
             "operand types differ");
    if (k == Intrinsic::strict) {
      expect(at_number(number_of(i), static_cast<size_t>(Strict::c_fmod) + 1), "no such operation");
      const auto which = static_cast<Strict>(number_of(i));
      const bool c = which > Strict::interrupted;
      expect(count == strict_operands(which), "number of operands");
      expect(i.type == (c ? DType::F64 : DType::Bool), "type of the result");
      for (Val v : {i.a, i.b})
        expect(v == kNone || type(v) == (c ? DType::F64 : DType::I64), "operand type");
    }
    if (k == Intrinsic::lane_merge) {
      expect(at_number(number_of(i), kNumRows), "no such row");
      expect(type(i.a) == i.type, "type of the merged value");
    }
    if (k == Intrinsic::parallel) {
      expect(at_number(number_of(i), m_.functions.size()), "no such portion");
      const Function& portion = m_.functions[number_of(i)];
      std::vector<DType> params{DType::I64, DType::I64};
      params.insert(params.end(), arguments_.begin(), arguments_.end());
      expect(portion.portion && portion.params == params, "not the arguments that it takes");
      expect(type(i.a) == DType::I64 && type(i.b) == DType::I64, "range type");
    } else if (k == Intrinsic::generator) {
      expect(at_number(number_of(i), m_.functions.size()), "no such generator");
      const Function& g = m_.functions[number_of(i)];
      std::vector<DType> params{DType::I64};
      params.insert(params.end(), arguments_.begin(), arguments_.end());
      expect(g.generator && g.params == params, "not the arguments that it takes");
    } else if (k == Intrinsic::host_call) {
      expect(at_number(number_of(i), static_cast<size_t>(HostCall::kCount)), "no such call");
      for (DType t : arguments_) expect(t == DType::I64, "a word is an int64");
    } else if (k == Intrinsic::foreign) {
      expect(type(i.a) == DType::I64, "address type");
      for (DType t : arguments_) expect(itemsize(t) >= 4 && !is_complex(t), "a narrow argument");
    } else if (k == Intrinsic::external) {
      expect(at_number(number_of(i), m_.externals.size()), "no such external function");
      for (DType t : arguments_) expect(itemsize(t) >= 4 && !is_complex(t), "a narrow argument");
      expect(itemsize(i.type) >= 4 && !is_complex(i.type), "a narrow result");
    } else if (k == Intrinsic::mma_tf32) {
      constexpr size_t kArguments = 10, kResults = 4;
      expect(arguments_ == std::vector<DType>(kArguments, DType::F32) && i.type == DType::F32,
             "not ten arguments and a result of float32");
      expect(at_number(number_of(i), kResults), "no such result");
    } else {
      expect(arguments_.empty(), "an argument without its call");
    }
    if (k == Intrinsic::yields) expect(f_.generator, "a yield outside of a generator");
    arguments_.clear();
  }

  const Function& f_;
  const Module& m_;
  std::vector<DType> arguments_;  // of the call that follows
};

}  // namespace

void verify(const Kernel& k) { OfKernel(k).run(); }

void verify(const Function& f, const Module& m) { OfFunction(f, m).run(); }

void verify(const Module& m) {
  for (const Function& f : m.functions) verify(f, m);
}

}  // namespace numbus::ir
