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

Collect::Collect(const Instr& i) : before_(state.finding) {
  state.finding = i.told ? &finding_ : nullptr;
  if (!i.told) return;
  finding_.name = std::string(i.op == Op::cast ? "cast" : i.name());
  finding_.kinds = i.told;
  finding_.line = i.line;
  finding_.loop = i.loop;
  finding_.out = i.out.dtype;
}

}  // namespace numbus::float_errors
