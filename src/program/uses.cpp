// Which values a derivative needs: of rows, what its expression in ops.def names.
#include "program/uses.h"

#include "ops/derivatives.h"

namespace numbus::program {
namespace {

// A value of which only its origin counts.
struct Origin {
  bool x = false, y = false, r = false;
  Origin() = default;
  Origin(double) {}  // NOLINT: as numbers in expressions
  Origin(bool x, bool y, bool r) : x(x), y(y), r(r) {}
};
Origin both(const Origin& a, const Origin& b) { return {a.x || b.x, a.y || b.y, a.r || b.r}; }
Origin operator+(const Origin& a, const Origin& b) { return both(a, b); }
Origin operator-(const Origin& a, const Origin& b) { return both(a, b); }
Origin operator*(const Origin& a, const Origin& b) { return both(a, b); }
Origin operator/(const Origin& a, const Origin& b) { return both(a, b); }
Origin operator-(const Origin& a) { return a; }

struct OriginMaker {
  Origin operator()(double) const { return {}; }
  Origin exp(const Origin& a) const { return a; }
  Origin exp2(const Origin& a) const { return a; }
  Origin log(const Origin& a) const { return a; }
  Origin sqrt(const Origin& a) const { return a; }
  Origin sin(const Origin& a) const { return a; }
  Origin cos(const Origin& a) const { return a; }
  Origin sinh(const Origin& a) const { return a; }
  Origin cosh(const Origin& a) const { return a; }
  Origin sign(const Origin& a) const { return a; }
  Origin floor(const Origin& a) const { return a; }
  Origin trunc(const Origin& a) const { return a; }
  Origin power(const Origin& a, const Origin& b) const { return both(a, b); }
  Origin copysign(const Origin& a, const Origin& b) const { return both(a, b); }
  Origin share(const Origin& r, const Origin& x, const Origin& y) const {
    return both(r, both(x, y));
  }
  Origin unless(const Origin& c, const Origin& v) const { return both(c, v); }
};

void of_row(const Instr& i, const bool* active, Needs& n) {
  const int count = row(i.op).nin;
  for (int k = 0; k < count; ++k) {
    if (!active[k]) continue;
    // The magnitude of a complex number leads back along the number.
    if (i.op == Op::absolute && is_complex(i.loop)) {
      n.operand[0] = n.result = true;
      continue;
    }
    const Origin x(true, false, false), y(false, true, false), r(false, false, true);
    const auto d = partial_derivative<Origin>(OriginMaker{}, i.op, k, x, count > 1 ? y : x, r);
    if (!d) continue;
    n.operand[0] |= d->x;
    n.operand[1] |= d->y;
    n.result |= d->r;
  }
}

void of_call(const Instr& i, const bool* active, Needs& n) {
  switch (i.routine) {
    case Routine::matmul:
    case Routine::convolve:
      n.operand[0] = active[1];
      n.operand[1] = active[0];
      return;
    case Routine::accumulate: n.operand[0] = n.result = i.op != Op::add; return;
    case Routine::sort: n.operand[0] = true; return;
    case Routine::partition: n.operand[0] = n.result = true; return;
    case Routine::select: n.operand[0] = n.operand[1] = true; return;
    case Routine::weigh: n.operand[0] = true; return;
    case Routine::reduceat: n.operand[1] = true; return;
    case Routine::fold_runs: n.operand[0] = n.operand[1] = true; return;
    case Routine::interp: n.operand[0] = n.operand[1] = n.operand[2] = true; return;
    default: return;
  }
}

}  // namespace

Needs needs_of(const Instr& i, const bool* active, int count) {
  Needs n;
  bool any = false;
  for (int k = 0; k < count; ++k) any = any || active[k];
  if (i.predicated && (any || i.code == Instr::Map)) n.operand[i.nin] = true;
  // Where a scatter writes, its target is zero from there on.
  if (i.scatters())
    for (int k = 1; k < i.nin; ++k) n.operand[k] = true;
  if (!any) return n;
  if (i.code == Instr::Call) {
    of_call(i, active, n);
  } else if (i.code == Instr::Reduce) {
    n.operand[0] = i.reduction != Reduction::Sum;
    n.result = i.reduction != Reduction::Sum && i.reduction != Reduction::Var;
  } else if (i.op == Op::select) {
    n.operand[0] = true;
  } else if (i.gathers()) {
    for (int k = 1; k < i.nin; ++k) n.operand[k] = true;
  } else if (i.op == Op::apply) {
    for (int k = 0; k < i.nin; ++k) n.operand[k] = true;
  } else if (static_cast<int>(i.op) < kNumRows) {
    of_row(i, active, n);
  }
  return n;
}

}  // namespace numbus::program
