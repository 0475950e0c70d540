// The state that np.errstate sets, and what is to be told.
#include "lazy/float_errors.h"

namespace numbus::float_errors {

[[gnu::tls_model("initial-exec")]] constinit thread_local State state;
bool any_found = false;

std::vector<Finding>& findings() {
  static auto* all = new std::vector<Finding>;
  return *all;
}

void add(Finding f) {
  findings().push_back(std::move(f));
  any_found = true;
}

// NumPy's scalars say so in their operators.
std::string shown_of(const Instr& i) {
  if (*i.told_as) return i.told_as;
  const bool by_operator = i.op == Op::add || i.op == Op::subtract || i.op == Op::multiply ||
                           i.op == Op::divide || i.op == Op::floor_divide ||
                           i.op == Op::remainder || i.op == Op::power;
  return by_operator && i.out.layout->ndim() == 0 ? "scalar " + std::string(i.name()) : "";
}

void add_complex(uint64_t line) {
  Finding f;
  f.name = kComplexWarning;
  f.line = line;
  add(std::move(f));
}

void add_overflow(uint64_t line) {
  Finding f;
  f.name = "cast";
  f.kinds = state.told;
  f.line = line;
  f.by_name = true;
  f.kinds_met = flags::Overflow;
  add(std::move(f));
}

void forget_complex() {
  std::erase_if(findings(), [](const Finding& f) { return f.name == kComplexWarning; });
}

Collect::Collect(const Instr& i) : before_(state.finding) {
  // Of functions, those that are NumPy's under the name that warnings say.
  const bool known = i.op != Op::apply || (i.told_as && *i.told_as);
  state.finding = i.told && known ? &finding_ : nullptr;
  if (!i.told || !known) return;
  finding_.name = i.op == Op::apply ? i.told_as : i.op == Op::cast ? "cast" : std::string(i.name());
  if (i.told_as && i.op != Op::apply) finding_.shown = shown_of(i);
  finding_.kinds = i.told;
  finding_.line = i.line;
  finding_.loop = i.loop;
  finding_.out = i.out.dtype;
}

}  // namespace numbus::float_errors
