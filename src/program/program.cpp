// Recording a program: what depends on watched arrays, and the values that derivatives need.
#include "program/program.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "array/capture.h"
#include "base/error.h"
#include "program/uses.h"

namespace numbus::program {
namespace {

Array array_of(const ViewRef& v) {
  Array a;
  a.base = Handle(v.base);
  a.layout = LayoutRef(v.layout);
  a.offset = v.offset;
  a.dtype = v.dtype;
  a.through = v.through;
  return a;
}

// What watches a thread.
class Watch : public Observer {
 public:
  struct Watched {
    Program* program;
    Recording recording;
  };
  std::vector<std::unique_ptr<Watched>> programs;
  bool constants = false;
  size_t closed = 0;  // so many of them see nothing but writes
  size_t hidden = 0;  // and of these so many see nothing that may be used
  std::string closed_by;
  Anomalies anomalies = Anomalies::None;
  std::unordered_set<const Instr*> clean;  // those being recorded that read no NaN

  void before(const Instr& i, const Array& out, std::span<const Window::Input> in) override {
    if (hidden > 0) {
      for (const Window::Input& x : in)
        if (x.view) require_unseen(x.view->base->id, x.view->dtype);
      require_unseen(out.base->id, out.dtype);
    }
    for (size_t n = 0; n < closed && n < programs.size(); ++n)
      programs[n]->program->before_write(programs[n]->recording, out);
    each([&](Watched& w) { w.program->before(w.recording, i, out, in); });
    if (anomalies == Anomalies::All) look_at_operands(i, out, in);
  }
  void after(const Instr& i, const Array& out, std::span<const Window::Input> in) override {
    each([&](Watched& w) { w.program->after(w.recording, i, out, in); });
    if (clean.erase(&i) > 0) require_numbers(i, out, in);
  }
  void before_write(const Array& a) override {
    // What was saved of it is kept by all.
    for (size_t n = 0; n < programs.size(); ++n)
      programs[n]->program->before_write(programs[n]->recording, a);
  }
  void moved(const Array& from, const Array& to) override {
    each([&](Watched& w) {
      if (!w.recording.busy) w.program->moved(from, to);
    });
  }
  void selected(const Array& full, const Array& mask, const Array& dense) override {
    each([&](Watched& w) {
      if (!w.recording.busy) w.program->selected(full, mask, dense);
    });
  }
  void worked(const HiddenWork& w, std::span<const Array> operands, const Array& result) override {
    const auto& derived = static_cast<const DerivedWork&>(w);
    if (anomalies == Anomalies::All && has_nan(result) && std::ranges::none_of(operands, has_nan))
      made_nan(derived.name(), current_line());
    each([&](Watched& to) {
      if (!to.recording.busy)
        to.program->add(derived.name(), operands, {&result, 1}, derived.pullback(operands),
                        derived.key());
    });
  }
  void before_read(const Array& a) override {
    if (constants || !is_inexact(a.dtype) || !read_by(a)) return;
    raise(
        ErrorKind::Type, "grad",
        "elements that depend on what is differentiated are read by code that has no derivative",
        "an array of shape " + shape_string(*a.layout) + " and dtype " + std::string(name(a.dtype)),
        "array operations, nb.custom_gradient, or nb.stop_gradient(x) (x.item()) for a constant");
  }
  bool depends(const Array& a) const {
    return std::ranges::any_of(programs, [&](const auto& w) { return w->program->depends(a); });
  }

 private:
  // Programs that come to be or go meanwhile are met, or not.
  template <class F>
  void each(F&& f) {
    for (size_t n = closed; n < programs.size(); ++n) f(*programs[n]);
  }
  // Whether a program that sees what is done depends on it, or one from which it is hidden.
  bool read_by(const Array& a) const {
    for (size_t n = 0; n < programs.size(); ++n)
      if ((n < hidden || n >= closed) && programs[n]->program->depends(a)) return true;
    return false;
  }
  void look_at_operands(const Instr& i, const Array& out, std::span<const Window::Input> in) {
    clean.erase(&i);  // of one that was never recorded
    // Where it does not hold, what it writes to stays as it was.
    if ((i.predicated || i.scatters()) && has_nan(out)) return;
    for (int n = 0; n < i.inputs(); ++n) {
      const Window::Input& x = in[static_cast<size_t>(n)];
      if (x.view ? has_nan(array_of(*x.view)) : is_nan(x.scalar)) return;
    }
    clean.insert(&i);
  }
  static void require_numbers(const Instr& i, const Array& out, std::span<const Window::Input> in) {
    bool found = has_nan(out);
    for (int n = i.nin; i.code == Instr::Call && n < i.nin + i.more; ++n)
      found = found || has_nan(array_of(*in[static_cast<size_t>(n)].view));
    if (!found) return;
    made_nan(std::string(i.code == Instr::Reduce ? reduction_name(i.reduction) : i.name()),
             current_line());
  }
  static bool is_nan(const Scalar& s) {
    return (s.kind == Kind::Float || s.kind == Kind::Complex) &&
           (std::isnan(s.f[0]) || (s.kind == Kind::Complex && std::isnan(s.f[1])));
  }
  [[noreturn]] static void made_nan(const std::string& operation, uint64_t line) {
    const Runtime& rt = Runtime::get();
    const SourceLine at = rt.describe_line ? rt.describe_line(line) : SourceLine();
    raise(ErrorKind::Runtime, "detect_anomaly", "an operation on numbers gave NaN",
          operation + (at.file.empty() ? "" : " at " + at.file + ":" + std::to_string(at.line)),
          "numbers");
  }
  void require_unseen(uint64_t base, DType t) const {
    for (size_t n = 0; n < hidden && n < programs.size(); ++n)
      if (is_inexact(t) && programs[n]->program->depends(base))
        raise(ErrorKind::Value, closed_by,
              "an array that depends on what is differentiated is used, but is no argument",
              "an array of dtype " + std::string(name(t)), "arguments, or nb.stop_gradient(x)");
  }
};

thread_local Watch watch;

void observe_if_needed() {
  const bool needed = !watch.programs.empty() || watch.anomalies == Anomalies::All;
  observe(needed ? &watch : nullptr);
}

}  // namespace

void begin(Program& p) {
  watch.programs.push_back(std::make_unique<Watch::Watched>(&p));
  observe_if_needed();
}

void end(Program& p) {
  const auto last = std::find_if(watch.programs.rbegin(), watch.programs.rend(),
                                 [&](const auto& w) { return w->program == &p; });
  if (last != watch.programs.rend()) watch.programs.erase(std::next(last).base());
  observe_if_needed();
}

Anomalies detect_anomalies(Anomalies which) {
  const Anomalies before = std::exchange(watch.anomalies, which);
  if (which == Anomalies::All || before == Anomalies::All) observe_if_needed();
  return before;
}

Anomalies detected_anomalies() { return watch.anomalies; }

bool has_nan(const Array& a) {
  if (!is_inexact(a.dtype) || a.size() == 0) return false;
  const Unobserved alone;
  const Uncaptured here;
  const Arg x(&a);
  const Array found = apply(Op::isnan, {&x, 1});
  const uint64_t axes = (uint64_t{1} << found.ndim()) - 1;
  return read_element(reduce(Reduction::Any, found, axes, false, {}, nullptr, 0), 0).i != 0;
}

bool watching() { return observer() != nullptr; }

bool seeing() { return observer() && watch.closed < watch.programs.size(); }

bool sees(const Program& p) {
  for (size_t n = watch.closed; n < watch.programs.size(); ++n)
    if (watch.programs[n]->program == &p) return true;
  return false;
}

bool depends(const Array& a) { return observer() && watch.depends(a); }

Constants::Constants() : before_(watch.constants) {
  Capture::hide();
  watch.constants = true;
}
Constants::~Constants() { watch.constants = before_; }

Closed::Closed(std::string name)
    : before_(std::exchange(watch.closed, watch.programs.size())),
      hidden_before_(std::exchange(watch.hidden, watch.programs.size())),
      name_before_(std::exchange(watch.closed_by, std::move(name))) {
  Capture::hide();
}
Closed::~Closed() {
  watch.closed = before_;
  watch.hidden = hidden_before_;
  watch.closed_by = std::move(name_before_);
}

Constant::Constant()
    : before_(std::exchange(watch.closed, watch.programs.size())), hidden_(Capture::hidden()) {
  ++hidden_;
}
Constant::~Constant() {
  --hidden_;
  watch.closed = before_;
}

void add_work(const std::string& name, std::span<const Array> operands,
              std::span<const Array> results, const Pullback& pullback) {
  Capture::hide();
  if (!observer()) return;
  for (size_t n = watch.closed; n < watch.programs.size(); ++n)
    watch.programs[n]->program->add(name, operands, results, pullback);
}

void Program::watch(const Array& a) {
  if (!is_inexact(a.dtype))
    raise(ErrorKind::Type, "grad", "only floating-point and complex arrays have gradients",
          std::string(name(a.dtype)), "a float or complex dtype");
  KnownBase& known = bases_.of(a.base->id);
  if (!known.active) known.active = known.watched = true;
}

// The bits of numbers have no derivative.
void Program::require_numbers(const ViewRef& v, const Instr& i) const {
  if (is_inexact(v.dtype) || !depends(v.base->id)) return;
  raise(ErrorKind::Type, "grad",
        "the bits of numbers that depend on what is differentiated are used",
        std::string(i.name()) + " of " + std::string(name(v.dtype)),
        "floats, or nb.stop_gradient(x)");
}

Operand& Program::at(Use u) {
  Entry& e = entries_[static_cast<size_t>(u.entry - first_)];
  const auto k = static_cast<size_t>(u.operand);
  return k < e.operands.size() ? e.operands[k] : e.results[k - e.operands.size()];
}

// Views that were saved and that a write is about to change become copies.
void Program::keep_saved(const ViewRef& written) {
  const uint64_t base = written.base->id;
  KnownBase* const known = bases_.find(base);
  if (!known || known->saved.empty()) return;
  --saved_;
  const Few<Use, 2> uses = std::move(known->saved);
  // A copy may save more.
  for (const Use u : uses) {
    const Array value = *at(u).saved;
    if (may_overlap(value.offset, *value.layout, written.offset, *written.layout))
      keep(u, copy(value, value.dtype));
    else
      note_saved(base, u);
  }
  bases_.tidy(base);
}

namespace {

// While it lives, a program does not look at what it records itself.
class Busy {
 public:
  Busy(Recording& r, bool busy) : r_(r), before_(std::exchange(r.busy, busy)) {}
  ~Busy() { r_.busy = before_; }
  Busy(const Busy&) = delete;

 private:
  Recording& r_;
  bool before_;
};

}  // namespace

void Program::before_write(Recording& r, const Array& a) {
  if (r.busy || saved_ == 0) return;
  const Busy busy(r, !records_copies());
  keep_saved(a.view());
}

namespace {

bool is_written(const ViewRef& v, const ViewRef& by) {
  return v.base == by.base && may_overlap(v.offset, *v.layout, by.offset, *by.layout);
}

}  // namespace

void Program::before(Recording& r, const Instr& i, const Array& out,
                     std::span<const Window::Input> in) {
  if (r.busy) return;
  const Busy busy(r, !records_copies());
  keep_saved(out.view());
  for (const Window::Input& x : in)
    if (x.view) require_numbers(*x.view, i);
  require_numbers(out.view(), i);
  bool active[kMaxOperands] = {}, any = false, overwrites = false;
  for (size_t n = 0; n < in.size(); ++n) {
    const ViewRef* v = in[n].view;
    active[n] = v && static_cast<int>(n) < i.nin && is_inexact(v->dtype) && depends(v->base->id);
    any = any || active[n];
    overwrites = overwrites || (v && is_written(*v, out.view()));
  }
  r.before.clear();
  // What the instruction needs of what it overwrites itself.
  if (overwrites && (any || depends(out))) {
    std::vector<std::optional<Array>> copies(in.size());
    const Needs needs = needs_of(i, active, i.inputs());
    for (int n = 0; n < i.inputs(); ++n)
      if (needs.operand[n] && in[static_cast<size_t>(n)].view &&
          is_written(*in[static_cast<size_t>(n)].view, out.view())) {
        const Array a = array_of(*in[static_cast<size_t>(n)].view);
        copies[static_cast<size_t>(n)] = copy(a, a.dtype);
      }
    r.before = std::move(copies);
  }
}

void Program::save(Use u, const ViewRef& v) {
  at(u).saved = array_of(v);
  note_saved(v.base->id, u);
}

void Program::after(Recording& r, const Instr& i, const Array& out,
                    std::span<const Window::Input> in) {
  if (r.busy) return;
  const std::vector<std::optional<Array>> before = std::exchange(r.before, {});
  bool active[kMaxOperands] = {}, any = false;
  for (int n = 0; n < i.nin; ++n) {
    const ViewRef* v = in[static_cast<size_t>(n)].view;
    active[n] = v && is_inexact(v->dtype) && depends(v->base->id);
    any = any || active[n];
  }
  const bool into = depends(out);
  if (!into && (!any || !is_inexact(out.dtype))) {
    // Several results: one of them may be floating point where the first is not.
    bool more = false;
    for (int n = i.nin; any && n < i.nin + i.more; ++n)
      more = more || is_inexact(in[static_cast<size_t>(n)].view->dtype);
    if (!more) return;
  }
  const int64_t number = first_ + static_cast<int64_t>(entries_.size());
  Entry& e = entries_.emplace_back(i);
  if (i.function) e.function = i.function->shared_from_this();
  const int count = i.inputs();
  e.operands.resize(static_cast<size_t>(count));
  for (int n = 0; n < count; ++n) {
    Operand& o = e.operands[static_cast<size_t>(n)];
    const Window::Input& x = in[static_cast<size_t>(n)];
    o.number = !x.view;
    o.active = active[n];
    if (x.view) {
      o.region = Region(*x.view);
    } else {
      o.scalar = x.scalar;
      o.region.dtype = x.dtype;
    }
  }
  e.results.emplace_back().region = Region(out.view());
  for (int n = i.nin; i.code == Instr::Call && n < i.nin + i.more; ++n)
    e.results.emplace_back().region = Region(*in[static_cast<size_t>(n)].view);
  for (Operand& o : e.results) {
    o.active = is_inexact(o.region.dtype);
    if (o.active && any) bases_.of(o.region.base).active = true;
  }
  const Needs needs = needs_of(i, active, count);
  for (int n = 0; n < count; ++n) {
    if (!needs.operand[n] || !in[static_cast<size_t>(n)].view) continue;
    if (static_cast<size_t>(n) < before.size() && before[static_cast<size_t>(n)]) {
      e.operands[static_cast<size_t>(n)].saved = before[static_cast<size_t>(n)];
    } else {
      save({number, n}, *in[static_cast<size_t>(n)].view);
    }
  }
  if (needs.result) save({number, count}, out.view());
  added(e, number);
}

void Program::moved(const Array& from, const Array& to) {
  if (!depends(from)) return;
  add("to_device", {&from, 1}, {&to, 1},
      [device = from.base->device](std::span<const std::optional<Array>> g) {
        return std::vector<std::optional<Array>>{to_device(*g[0], *device)};
      });
}

void Program::add(std::string name, std::span<const Array> operands, std::span<const Array> results,
                  Pullback pullback, std::vector<uint64_t> key) {
  if (std::ranges::none_of(operands, [&](const Array& a) { return depends(a); })) return;
  Entry& e = entries_.emplace_back();
  e.name = std::move(name);
  e.instr.line = current_line();
  e.pullback = std::move(pullback);
  e.key = std::move(key);
  if (!e.key.empty()) e.held.assign(operands.begin(), operands.end());
  for (const Array& a : operands) {
    Operand& o = e.operands.emplace_back();
    o.region = Region(a.view());
    o.active = is_inexact(a.dtype) && depends(a);
  }
  for (const Array& a : results) {
    Operand& o = e.results.emplace_back();
    o.region = Region(a.view());
    o.active = is_inexact(a.dtype);
    if (o.active) bases_.of(a.base->id).active = true;
  }
  added(e, first_ + static_cast<int64_t>(entries_.size()) - 1);
}

namespace {

std::string text_of(const Operand& o) {
  if (o.number) return o.scalar.kind == Kind::Float ? std::to_string(o.scalar.f[0]) : "a number";
  std::string s = "b" + std::to_string(o.region.base % 100000) + " " +
                  std::string(numbus::name(o.region.dtype)) + shape_string(*o.region.layout);
  if (o.region.offset) s += "+" + std::to_string(o.region.offset);
  if (o.active) s += " active";
  if (o.saved) s += " saved";
  return s;
}

}  // namespace

std::string print(const Program& p) {
  std::string s;
  for (const Entry& e : p.entries()) {
    if (e.gone()) continue;
    for (size_t n = 0; n < e.results.size(); ++n) s += (n ? ", " : "") + text_of(e.results[n]);
    s += " = " + e.title() + "(";
    for (size_t n = 0; n < e.operands.size(); ++n) s += (n ? ", " : "") + text_of(e.operands[n]);
    s += ")\n";
  }
  return s;
}

void verify(const Program& p) {
  for (const Entry& e : p.entries()) {
    auto fail = [&](const char* what) {
      raise(ErrorKind::Runtime, "program", what, e.title(), "a valid entry");
    };
    if (e.gone()) continue;
    if (!e.pullback && e.operands.size() != static_cast<size_t>(e.instr.inputs()))
      fail("an entry with missing operands");
    for (const Operand& o : e.operands)
      if (o.active && (o.number || !is_inexact(o.region.dtype)))
        fail("an operand without a derivative is active");
    for (const Operand& o : e.results)
      if (o.number) fail("a result that is a number");
  }
}

}  // namespace numbus::program
