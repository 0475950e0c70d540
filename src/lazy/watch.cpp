// Watching one instruction: its flags where they say all there is, else its elements.
#include "lazy/watch.h"

namespace numbus::float_errors {

// Elements of each look that NumPy is asked about.
constexpr int kFew = 8;

void Watch::begin(const Instr& i, DType out, const Window::Input* in) {
  in_ = in;
  e_.by = evidence_of(i, out);
  e_.result.type = out;
  e_.count = i.op == Op::index ? 0 : i.nin;
  predicated_ = i.predicated;
  saved_ = flags::saved();
  if (state.finding) flags::clear();
}

void Watch::look_at(int64_t n, const char* stored, const char* const* given) {
  if (e_.by == Evidence::None || (found_ && !state.finding)) return;
  e_.result.at = stored;
  bool overwritten = false;
  for (int k = 0; k < e_.count; ++k) {
    if (in_[k].view) {
      e_.in[k] = {in_[k].view->dtype, given[k], false};
      overwritten = overwritten || given[k] == stored;
    } else {
      store_scalar(in_[k].scalar, in_[k].dtype, scalars_ + 16 * k);
      e_.in[k] = {in_[k].dtype, scalars_ + 16 * k, true};
    }
  }
  e_.where = predicated_ && in_[e_.count].view ? given[e_.count] : nullptr;
  if (overwritten && state.finding && e_.by == Evidence::Flags) {
    // The flags of such operations say all there is.
    Finding& f = *state.finding;
    if (!f.by_name) f.kinds_met = 0;
    f.by_name = true;
    f.kinds_met |= flags::raised();
    flags::clear();
    return;
  }
  Looks looks;
  for (int64_t k = find_suspicious(e_, 0, n, looks); k < n;
       k = find_suspicious(e_, k + 1, n, looks)) {
    found_ = true;
    if (!state.finding) break;
    int& met = state.finding->met_by_look[static_cast<int>(looks)];
    if (met < kFew) {
      ++met;
      collect(k);
    } else if (k > 4096) {
      break;
    }
  }
  if (state.finding) flags::clear();
}

void Watch::collect(int64_t from) {
  Finding& f = *state.finding;
  if (f.operands.empty()) f.operands.resize(static_cast<size_t>(e_.count));
  for (int k = 0; k < e_.count; ++k) {
    auto& [type, bytes] = f.operands[static_cast<size_t>(k)];
    type = e_.in[k].type;
    const char* at = e_.in[k].element(from);
    bytes.insert(bytes.end(), at, at + itemsize(type));
  }
}

}  // namespace numbus::float_errors
