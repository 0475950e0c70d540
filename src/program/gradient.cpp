// Reverse differentiation: the entries of a program from the last to the first, over adjoints that
// lie in memory as the values do.
#include <algorithm>
#include <unordered_map>

#include "array/quantity.h"
#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

std::string line_of(const Entry& e) {
  const Runtime& rt = Runtime::get();
  if (!rt.describe_line) return "";
  const SourceLine line = rt.describe_line(e.instr.line);
  if (line.file.empty()) return "";
  return " at " + line.file + ":" + std::to_string(line.line);
}

// The adjoint of the result where the entry wrote it.
Array masked(const Array& g, const Operand* predicate) {
  if (!predicate) return g;
  const Array& where = saved(*predicate);
  return select(Arg(&where), Arg(&g), zero());
}

// The operand that is the very memory of the result, as of x += y; -1: none.
int identical_operand(const Entry& e) {
  const Region& r = e.results[0].region;
  if (e.instr.code != Instr::Map || !r.layout->injective()) return -1;
  for (int k = 0; k < e.instr.nin; ++k)
    if (e.operands[static_cast<size_t>(k)].active &&
        e.operands[static_cast<size_t>(k)].region.same(r))
      return k;
  return -1;
}

// Whether the adjoint stays as it is: x += y, where nobody asks for y.
bool passes_through(const Entry& e, int identical) {
  const Instr& i = e.instr;
  if (identical < 0 || (i.op != Op::add && !(i.op == Op::subtract && identical == 0))) return false;
  const int active = static_cast<int>(
      std::ranges::count_if(e.operands, [](const Operand& o) { return o.active; }));
  return active == 1;
}

Contributions pull(const Entry& e, const Array& g) {
  switch (e.instr.code) {
    case Instr::Reduce: return pull_reduction(e, g);
    case Instr::Call: return pull_call(e, g);
    default: return e.instr.op == Op::apply ? pull_apply(e, g) : pull_map(e, g);
  }
}

void pull_work(const Entry& e, Adjoints& adjoints) {
  Contributions of_results;
  bool any = false;
  for (const Operand& r : e.results) {
    of_results.push_back(r.active ? adjoints.of(r.region, r.region.whole()) : std::nullopt);
    any = any || of_results.back();
  }
  if (!any) return;
  for (const Operand& r : e.results) adjoints.clear(r.region, nullptr);
  const Contributions found = e.pullback(of_results);
  for (size_t k = 0; k < found.size() && k < e.operands.size(); ++k)
    if (found[k] && e.operands[k].active) adjoints.add(e.operands[k].region, *found[k]);
}

void pull_entry(const Entry& e, Adjoints& adjoints) {
  if (e.pullback) return pull_work(e, adjoints);
  const Region& r = e.results[0].region;
  if (!adjoints.has(r)) return;
  if (e.instr.scatters()) return pull_scatter(e, adjoints);
  const int identical = identical_operand(e);
  if (passes_through(e, identical)) return;
  const Operand* predicate = e.predicate();
  const bool any = std::ranges::any_of(e.operands, [](const Operand& o) { return o.active; });
  const Array* where = predicate ? &saved(*predicate) : nullptr;
  // Reductions read only where their predicate holds, and write all of their result.
  const Array* written = e.instr.code == Instr::Map ? where : nullptr;
  if (!any) return adjoints.clear(r, written);
  const std::optional<Array> found = adjoints.of(r, r.whole() && identical < 0 && !written);
  if (!found) return;
  const Array g = written ? masked(*found, predicate) : *found;
  if (e.instr.gathers()) {
    adjoints.clear(r, written);
    return pull_gather(e, g, adjoints);
  }
  const Contributions parts = pull(e, g);
  bool done = false;
  if (identical >= 0) {
    const std::optional<Array>& own = parts[static_cast<size_t>(identical)];
    // What goes back unchanged stays.
    const bool unchanged = own && own->base.get() == found->base.get();
    if (own && !unchanged) adjoints.set(r, *own, written);
    if (!own) adjoints.clear(r, written);
    done = true;
  } else {
    adjoints.clear(r, written);
  }
  for (size_t k = 0; k < parts.size(); ++k)
    if (parts[k] && e.operands[k].active && !(done && static_cast<int>(k) == identical))
      adjoints.add(e.operands[k].region, *parts[k]);
}

// The first derivative that is no number is that of this entry by one of its operands.
void require_numbers(const Entry& e, Adjoints& adjoints) {
  for (const Operand& o : e.operands) {
    if (!o.active) continue;
    const std::optional<Array> g = adjoints.of(o.region);
    if (g && has_nan(*g))
      raise(ErrorKind::Runtime, "detect_anomaly", "a derivative is NaN",
            "the derivative of " + e.title() + line_of(e), "numbers");
  }
}

// While it lives, the operations that find derivatives are not looked at themselves.
class Looking {
 public:
  Looking() : before_(detected_anomalies()) {
    if (before_ == Anomalies::All) detect_anomalies(Anomalies::Derivatives);
  }
  ~Looking() {
    if (before_ == Anomalies::All) detect_anomalies(before_);
  }
  Looking(const Looking&) = delete;
  bool at_all() const { return before_ != Anomalies::None; }

 private:
  Anomalies before_;
};

}  // namespace

const Array& saved(const Operand& o) {
  if (!o.saved)
    raise(ErrorKind::Runtime, "grad", "a value that a derivative needs was not kept", "none",
          "a saved operand");
  return *o.saved;
}

Array conjugate(const Array& x) {
  if (!is_complex(x.dtype)) return x;
  const Arg a(&x);
  return apply(Op::conjugate, {&a, 1});
}

Array zeros(std::span<const int64_t> shape, DType t, Device* device) {
  Array made = empty(shape, t, device);
  assign(made, zero());
  return made;
}

Array sums_at(const Array& index, const Array& values, int64_t size) {
  Array sums = zeros({&size, 1}, values.dtype, values.base->device);
  const Arg value(&values);
  update(Op::add, sums, 1, {&index, 1}, 0, &value);
  return sums;
}

void not_yet(const Entry& e, const std::string& what) {
  raise(ErrorKind::NotImplemented, "grad", "the derivative of this operation is not yet available",
        e.title() + what + line_of(e),
        "another operation, nb.custom_gradient, or nb.stop_gradient for a constant");
}

void no_derivative(const Entry& e) {
  raise(ErrorKind::Value, "grad", "the operation has no derivative", e.title() + line_of(e),
        "a continuous operation, or nb.stop_gradient for a constant");
}

void pull_all(const std::deque<Entry>& all, Adjoints& adjoints,
              const std::function<void(size_t)>& visited, const std::function<void(size_t)>& passed,
              const std::function<bool(const Entry&)>& tells) {
  const Looking looking;
  for (size_t n = all.size(); n-- > 0;) {
    if (passed && n + 1 < all.size()) passed(n + 1);
    const Entry& e = all[n];  // it stays where it is, whoever adds entries meanwhile
    if (e.gone() || std::ranges::none_of(e.results, [&](const Operand& r) {
          return r.active && adjoints.has(r.region);
        }))
      continue;
    if (!e.told.empty() && (!tells || tells(e)))
      for (const auto& [region, told] : e.told)
        if (const std::optional<Array> g = adjoints.of(region))
          if (const std::optional<Array> other = told(*g)) adjoints.set(region, *other, nullptr);
    pull_entry(e, adjoints);
    if (looking.at_all()) require_numbers(e, adjoints);
    if (visited) visited(n);
  }
}

Array own_copy(const Array& x, const std::optional<Array>& g) {
  Array own = empty_like(x, x.dtype);
  if (g)
    assign(own, Arg(&*g));
  else
    assign(own, zero());
  return own;
}

std::vector<std::optional<Array>> gradient(Program& p, std::span<const Array> outputs,
                                           std::span<const Array> seeds,
                                           std::span<const Array> inputs) {
  Adjoints adjoints;
  for (size_t n = 0; n < outputs.size(); ++n)
    if (p.depends(outputs[n])) adjoints.add(Region(outputs[n].view()), seeds[n]);
  // The last entry that wrote to an input: before it is passed, the adjoint is complete.
  const std::deque<Entry>& all = p.entries();
  std::unordered_map<uint64_t, size_t> last;
  for (const Array& x : inputs) last[x.base->id] = all.size();
  for (size_t n = 0; n < all.size() && !inputs.empty(); ++n)
    for (const Operand& r : all[n].results)
      if (const auto known = last.find(r.region.base);
          known != last.end() && !p.watched(known->first))
        known->second = n;
  std::vector<std::optional<Array>> found(inputs.size());
  auto take = [&](size_t entry) {
    for (size_t k = 0; k < inputs.size(); ++k)
      if (const Array& x = inputs[k]; last[x.base->id] == entry)
        if (const std::optional<Array> g = adjoints.of(Region(x.view()))) found[k] = own_copy(x, g);
  };
  if (!all.empty()) take(all.size() - 1);
  pull_all(all, adjoints, {}, [&](size_t passed) { take(passed - 1); });
  take(all.size());
  return found;
}

}  // namespace numbus::program
