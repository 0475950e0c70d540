// The passes over functions and kernels, in order.
#include "passes/pipeline.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/printing.h"
#include "passes/bounds.h"
#include "passes/end_together.h"
#include "passes/expand_function.h"
#include "passes/flat_branches.h"
#include "passes/forward_sets.h"
#include "passes/indices.h"
#include "passes/inline_functions.h"
#include "passes/lower.h"
#include "passes/straighten.h"

namespace numbus {
namespace {

template <class What, class... Around>
void check(const char* pass, const What& what, const Around&... around) {
  if (prints(Stage::Passes)) print_stage(std::string("after ") + pass + ":", ir::print(what));
  if (!verifies_passes()) return;
  try {
    ir::verify(what, around...);
  } catch (const Error& e) {
    raise(ErrorKind::Runtime, std::string("[") + pass + "] " + e.what());
  }
}

}  // namespace

bool verifies_passes() {
  static const bool on = [] {
    const char* v = std::getenv("NUMBUS_VERIFY");
#ifdef NDEBUG
    return v && *v && std::string(v) != "0";
#else
    return !v || std::string(v) != "0";
#endif
  }();
  return on;
}

void check_after(const char* pass, const ir::Module& m) { check(pass, m); }
void check_after(const char* pass, const ir::Function& f, const ir::Module& m) {
  check(pass, f, m);
}
void check_after(const char* pass, const ir::Kernel& k) { check(pass, k); }

void run_passes(ir::Module& m) {
  check_after("front end", m);
  expand(m);
  check_after("expand", m);
  simplify_indices(m);
  check_after("simplify_indices", m);
  decide_bounds(m);
  check_after("decide_bounds", m);
}

std::optional<ir::Function> portion_for_lanes(const ir::Module& m, const ir::Function& portion) {
  std::optional<ir::Function> whole = inlined(m, portion);
  if (!whole) return whole;
  check_after("inlined", *whole, m);
  end_together(*whole);
  check_after("end_together", *whole, m);
  return whole;
}

std::optional<ir::Function> block_for_lanes(const ir::Module& m) {
  std::optional<ir::Function> whole = inlined(m, m.functions[0]);
  if (!whole) return whole;
  check_after("inlined", *whole, m);
  forward_sets(*whole);
  check_after("forward_sets", *whole, m);
  end_together(*whole);
  check_after("end_together", *whole, m);
  return whole;
}

void finish_lanes(ir::Function& f, const ir::Module& m) {
  flatten_branches(f);
  check_after("flatten_branches", f, m);
}

std::optional<ir::Function> steps_to_record(const ir::Module& m, const std::vector<DType>& params,
                                            DType result) {
  check_after("front end", m);
  std::optional<ir::Function> whole = inlined(m, m.functions[0]);
  if (!whole) return whole;
  check_after("inlined", *whole, m);
  flatten_branches(*whole);
  check_after("flatten_branches", *whole, m);
  std::optional<ir::Function> steps = straightened(*whole, params, result);
  if (steps) check_after("straightened", *steps, m);
  return steps;
}

void lower(ir::Kernel& k) {
  check_after("kernel builder", k);
  expand_late(k);
  check_after("expand_late", k);
}

}  // namespace numbus
