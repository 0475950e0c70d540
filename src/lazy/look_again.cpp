// Computing the instructions of a kernel again, one by one, for the sake of warnings.
#include "lazy/look_again.h"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "lazy/direct.h"
#include "lazy/entries.h"
#include "lazy/examine.h"
#include "lazy/float_errors.h"
#include "lazy/met.h"

namespace numbus {
namespace {

using float_errors::Collect;
using float_errors::Finding;

// More elements of instructions than these are not computed again: a loop inside of a kernel has
// thousands of them.
constexpr int64_t kMostWork = int64_t{1} << 27;
// Up to so many are computed again whenever there is reason to.
constexpr int64_t kLittleWork = int64_t{1} << 16;
// More are so this often, then at the 8th, 16th, … reason: a program that goes on with numbers that
// are none would do nothing else.
constexpr int kLooks = 4;
// Of so many results of reductions it is looked whether they are numbers.
constexpr int64_t kFewResults = 1024;

class Again {
 public:
  Again(const Window& w, Run& run, const KernelStep& step)
      : w_(w), run_(run), step_(step), device_(*w.slots_[0].base->device) {
    bases_.resize(run.storages.size());
    for (const Traced& t : step.traced)
      if (t.source >= 0) work_ += w.instrs_[t.source].out.layout->size();
  }
  ~Again() {
    for (Held& h : bases_)
      if (h.made) device_.free(h.base->data, static_cast<size_t>(h.base->nbytes));
  }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

  bool is_too_much() const { return work_ > kMostWork; }
  bool is_little() const { return work_ <= kLittleWork; }

  void compute(std::vector<Finding>& found) {
    for (const Traced& t : step_.traced) {
      if (t.source < 0) {
        copy(t);
        continue;
      }
      const Instr& i = w_.instrs_[t.source];
      Base* bases[1 + kMaxOperands] = {};
      bool known = true;
      // A plan may have given an instruction other operands than were recorded.
      for (int n = 0; n < i.inputs(); ++n) {
        if (t.in[n] >= 0) bases[1 + n] = readable(t.in[n]);
        known = known && (bases[1 + n] != nullptr) == (i.in[n].slot >= 0);
      }
      if (i.code == Instr::Reduce) {
        if (known) reduce(t, i, bases, found);
        continue;
      }
      bases[0] = known ? result(t.out, i) : nullptr;
      Collect here(i);
      if (bases[0] && known && gather(i, Recorded(w_, i, bases))) continue;
      if (!bases[0] || !known || i.gathers() || i.scatters() ||
          !map_directly(i, Recorded(w_, i, bases))) {
        if (!take_stored(t)) forget(t.out);
        complete_ = false;
        continue;
      }
      if (i.op == Op::multiply && i.told_as && *i.told_as && i.nin == 2 && bases[1] && bases[2]) {
        terms_ = {&t, &i, {bases[1], bases[2]}, found.size(), here.met()};
        if (!here.met()) continue;
      }
      if (here.met()) found.push_back(std::move(here.finding()));
    }
  }
  // Whether all instructions could be computed.
  bool complete() const { return complete_; }

 private:
  struct Held {
    std::unique_ptr<Base> base;
    bool made = false, lost = false;
  };

  Base* wrap(int storage, char* data) {
    Held& h = bases_[storage];
    if (!h.base) {
      h.base = std::make_unique<Base>();
      h.base->device = &device_;
      h.base->nbytes = run_.storages[storage].nbytes;
      h.base->owned = false;
    }
    h.base->data = data;
    return h.base.get();
  }
  // What was there before the step, or what has been computed again.
  Base* readable(int storage) {
    Held& h = bases_[storage];
    if (h.lost) return nullptr;
    if (h.base) return h.base.get();
    char* data = run_.data[storage];
    if (!data) return nullptr;
    for (const Patch& p : step_.patches)
      if (p.written && p.storage >= 0 && run_.data[p.storage] == data) return nullptr;
    return wrap(storage, data);
  }
  // Memory for a result. What it leaves as it was has to be there, too.
  Base* result(int storage, const Instr& i) {
    Held& h = bases_[storage];
    if (h.lost) return nullptr;
    if (h.made) return h.base.get();
    const Base* before = h.base ? h.base.get() : readable(storage);
    const int64_t bytes = run_.storages[storage].nbytes;
    const bool whole = !i.predicated && i.out.layout->size() * i.out.layout->itemsize() == bytes;
    const char* old = before ? before->data : nullptr;
    auto* data = static_cast<char*>(device_.allocate(static_cast<size_t>(bytes)));
    if (!whole && old) std::memcpy(data, old, static_cast<size_t>(bytes));
    if (!whole && !old) std::memset(data, 0, static_cast<size_t>(bytes));
    Base* made = wrap(storage, data);
    h.made = true;
    return made;
  }
  // What the step has stored stands for what cannot be computed again, if nothing has written to it
  // since.
  bool take_stored(const Traced& t) {
    char* data = run_.data[t.out];
    if (!data || bases_[t.out].made) return false;
    for (const Traced& after : step_.traced)
      if (&after > &t && after.out == t.out) return false;
    wrap(t.out, data);
    return true;
  }
  // Elements of a line at indices of a line, which is what most programs gather.
  static bool gather(const Instr& i, const Recorded& given) {
    if (!i.gathers() || i.nin != 2 || i.predicated || i.axes != 1 || !given.in[1].view)
      return false;
    const ViewRef &from = *given.in[0].view, &at = *given.in[1].view, &out = given.out;
    if (from.layout->ndim() != 1 || at.layout->ndim() != 1 || out.layout->ndim() != 1 ||
        at.dtype != DType::I64 || from.dtype != out.dtype)
      return false;
    const int64_t extent = from.layout->shape(0), size = out.layout->itemsize();
    for (int64_t k = 0; k < out.layout->shape(0); ++k) {
      int64_t n;
      std::memcpy(&n, at.base->data + at.offset + k * at.layout->stride(0), sizeof n);
      if (n < 0) n += extent;
      if (n < 0 || n >= extent) return false;
      std::memcpy(out.base->data + out.offset + k * out.layout->stride(0),
                  from.base->data + from.offset + n * from.layout->stride(0),
                  static_cast<size_t>(size));
    }
    return true;
  }
  void copy(const Traced& t) {
    const Base* from = readable(t.in[0]);
    const int64_t bytes = run_.storages[t.out].nbytes;
    if (!from || run_.storages[t.in[0]].nbytes != bytes || bases_[t.out].base) return forget(t.out);
    auto* data = static_cast<char*>(device_.allocate(static_cast<size_t>(bytes)));
    std::memcpy(data, from->data, static_cast<size_t>(bytes));
    wrap(t.out, data);
    bases_[t.out].made = true;
  }
  void forget(int storage) { bases_[storage].lost = true; }

  // A sum of products that is the product of two lines: NumPy is asked about it as a whole.
  bool sums_terms(const Traced& t, const Instr& i, const Recorded& given,
                  std::vector<Finding>& found) {
    const Terms terms = std::exchange(terms_, {});
    const Layout& l = *given.in[0].view->layout;
    if (!terms.instr || terms.traced->out != t.in[0] || terms.instr->told_as != i.told_as ||
        i.reduction != Reduction::Sum || i.predicated || l.ndim() != 1 ||
        given.out.layout->size() != 1 || is_half(i.loop) || given.out.dtype != i.loop ||
        !float_errors::any_special({i.loop, given.out.base->data + given.out.offset}, 1))
      return false;
    Base* bases[] = {nullptr, terms.bases[0], terms.bases[1]};
    const Recorded factors(w_, *terms.instr, bases);
    for (int n = 0; n < 2; ++n)
      if (factors.in[n].view->layout->size() != l.size()) return false;
    if (!float_errors::ask_product(i, *factors.in[0].view, *factors.in[1].view, 1, l.size(), 1,
                                   found))
      return false;
    if (terms.met) found.erase(found.begin() + static_cast<std::ptrdiff_t>(terms.at));
    return true;
  }

  void reduce(const Traced& t, const Instr& i, Base* const* bases, std::vector<Finding>& found) {
    char* data = run_.data[t.out];
    if (!data || !bases[1] || (i.predicated && !bases[2]) || !i.told) return;
    Base result;
    result.device = &device_;
    result.data = data;
    result.owned = false;
    Base* all[1 + kMaxOperands] = {&result, bases[1], bases[2]};
    const Recorded given(w_, i, all);
    if (sums_terms(t, i, given, found)) return;
    const ViewRef* in[] = {given.in[0].view, given.in[1].view};
    float_errors::find_met(i, in, given.out, found);
  }

  // The last products that belong to one of NumPy's functions.
  struct Terms {
    const Traced* traced = nullptr;
    const Instr* instr = nullptr;
    Base* bases[2] = {};
    size_t at = 0;  // of what they met among all findings
    bool met = false;
  };

  const Window& w_;
  Run& run_;
  const KernelStep& step_;
  Device& device_;
  Terms terms_;
  std::vector<Held> bases_;
  __int128 work_ = 0;
  bool complete_ = true;
};

bool may_raise(const Instr& i, unsigned kind) {
  if (i.code == Instr::Reduce) return kind != flags::Divide;
  if (kind == flags::Divide) return i.op == Op::divide;
  const bool basic = i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply ||
                     i.op == Op::divide || i.op == Op::square;
  return basic || (kind == flags::Invalid && i.op == Op::sqrt);
}

// Flags that nothing but the program's own operations sets: of those that may have, the last one.
void guess(const Window& w, const KernelStep& step, std::vector<Finding>& found) {
  unsigned left = step.raised;
  for (const Finding& f : found) left &= ~(f.by_name ? f.kinds_met : flags::kAll);
  for (unsigned kind : {flags::Invalid, flags::Divide, flags::Overflow}) {
    if (!(left & kind)) continue;
    for (auto t = step.works.rbegin(); t != step.works.rend(); ++t) {
      const Instr& i = w.instrs_[t->source];
      if (!may_raise(i, kind)) continue;
      Finding f;
      f.name = std::string(i.code == Instr::Reduce ? "reduce" : i.name());
      if (i.told_as) f.shown = float_errors::shown_of(i);
      f.kinds = i.told;
      f.line = i.line;
      f.by_name = true;
      f.kinds_met = kind;
      if (i.told & kind) found.push_back(std::move(f));
      break;
    }
  }
}

}  // namespace

namespace {

// Whether integers are divided by zero, or by -1, where the divisor is a number or at rest. unsure:
// there are others.
bool divides_badly(const Window& w, const Run& run, const KernelStep& step, bool& unsure) {
  for (int n : step.divides) {
    const Traced& t = step.traced[n];
    if (t.source < 0) continue;
    const Instr& i = w.instrs_[t.source];
    const int by = i.nin - 1;
    auto bad = [&](const Scalar& s) { return s.i == 0 || s.i == -1; };
    if (t.in[by] < 0) {
      if (bad(w.scalars_[i.in[by].imm])) return true;
      continue;
    }
    const char* data = run.data[t.in[by]];
    const Layout& l = *i.in[by].layout;
    if (!data || !l.c_contiguous()) {
      unsure = true;
      continue;
    }
    const DType type = i.in[by].dtype;
    data += i.in[by].offset;
    for (int64_t k = 0; k < l.size(); ++k)
      if (bad(load_scalar(type, data + k * itemsize(type)))) return true;
  }
  return false;
}

// Of a step that reduces: whether a result is infinite or not a number, of up to so many results.
bool reduces_to_special(const Run& run, const KernelStep& step, int64_t most) {
  for (const ReduceStep& r : step.reduces) {
    if (!is_inexact(r.out) || !run.data[r.storage]) continue;
    const int64_t n = run.storages[r.storage].nbytes / itemsize(r.out);
    if (n > most) continue;
    if (float_errors::any_special({r.out, run.data[r.storage]}, n)) return true;
  }
  return false;
}

}  // namespace

namespace {

void look(const Window& w, Run& run, KernelStep& step) {
  const bool special = step.special || (step.tested && reduces_to_special(run, step, kMostWork)) ||
                       (!step.divides.empty() && divides_badly(w, run, step, step.unsure));
  // Flags that have led to nothing several times are set by our own steps.
  const bool flagged = step.raised && (step.exact || step.in_vain < kLooks);
  // What nothing tells of is looked at now and then. So are sums whose own order met nothing.
  const bool doubtful =
      step.unsure || (!special && !step.raised && reduces_to_special(run, step, kFewResults));
  const bool tries = doubtful && (step.tries < kLooks || std::has_single_bit(step.tries));
  if (doubtful) ++step.tries;
  if (!special && !flagged && !tries) return;
  ++step.looks;
  std::vector<Finding> found;
  Again again(w, run, step);
  const bool looks = again.is_little() || step.looks <= kLooks ||
                     std::has_single_bit(static_cast<unsigned>(step.looks));
  bool complete = false;
  if (looks && !step.traced.empty() && !again.is_too_much()) {
    again.compute(found);
    complete = again.complete();
    step.in_vain = found.empty() && !again.is_little() ? step.in_vain + 1 : 0;
  }
  if (!complete && step.exact) guess(w, step, found);
  for (Finding& f : found) float_errors::add(std::move(f));
}

// A search that runs out of memory is given up.
template <class F>
void unless_out_of_memory(F&& f) {
  try {
    f();
  } catch (const Error&) {           // NOLINT(bugprone-empty-catch): there is no memory for it
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): nor here
  }
}

}  // namespace

void look_again(const Window& w, Run& run, KernelStep& step) {
  unless_out_of_memory([&] { look(w, run, step); });
}

void look_at_call(const Window& w, const KernelStep& step) {
  const Instr& i = w.instrs_[step.works[0].source];
  const CallStep& call = *step.call;
  if (!i.told || !may_look_at(i)) return;
  unless_out_of_memory([&] {
    Base bases[1 + kMaxOperands];
    ViewRef views[1 + kMaxOperands];
    const ViewRef* in[kMaxOperands] = {};
    const int operands = call.operands();
    for (int n = 0; n <= operands; ++n) {
      bases[n].data = address(step, n);
      bases[n].owned = false;
      views[n] = {&bases[n], call.layouts[n], 0, call.types[n]};
      if (n < operands) in[n] = &views[n];
      // What is overwritten cannot be looked at.
      if (n < operands && bases[n].data == address(step, operands)) return;
    }
    std::vector<Finding> found;
    float_errors::find_met(i, in, views[operands], found);
    for (Finding& f : found) float_errors::add(std::move(f));
  });
}

}  // namespace numbus
