// Merging of reduction states in generated code.
#include "compile/gpu_state.h"

#include <limits>

namespace numbus::compile {

using V = llvm::Value*;

std::vector<DType> state_types(const GpuReduce& r) {
  DType t = real_of(r.in);
  if (r.kind == kArgMin || r.kind == kArgMax) return {t, DType::I64};
  if (r.kind == kVar) return {t, t, t, t};
  if (is_complex(r.in)) return {t, t};
  return {t};
}

namespace {

V number(Emit& e, DType t, double v) {
  llvm::Type* type = e.scalar_type(t);
  if (type->isFloatingPointTy()) return llvm::ConstantFP::get(type, v);
  return llvm::ConstantInt::getSigned(type, static_cast<int64_t>(v));
}

V extreme(Emit& e, DType t, bool highest) {
  llvm::Type* type = e.scalar_type(t);
  if (type->isFloatingPointTy()) return llvm::ConstantFP::getInfinity(type, !highest);
  unsigned bits = type->getIntegerBitWidth();
  llvm::APInt v =
      is_signed(t)
          ? (highest ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getSignedMinValue(bits))
          : (highest ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getMinValue(bits));
  return llvm::ConstantInt::get(type, v);
}

}  // namespace

State identity(Emit& e, const GpuReduce& r) {
  State s;
  for (DType t : state_types(r)) s.push_back(number(e, t, 0));
  DType t = real_of(r.in);
  if (r.kind == kProd || r.kind == kAll)
    s[0] = number(e, t, r.kind == kAll && t == DType::Bool ? -1 : 1);
  if (r.kind == kMin || r.kind == kMax) {
    s[0] = extreme(e, t, r.kind == kMin);
    if (is_complex(r.in)) s[1] = s[0];
  }
  if (r.kind == kArgMin || r.kind == kArgMax) s[1] = number(e, DType::I64, -1);
  return s;
}

State merge(Emit& e, const GpuReduce& r, const State& a, const State& b) {
  auto& B = e.B;
  DType t = real_of(r.in);
  bool fl = is_float(t), sg = is_signed(t), z = is_complex(r.in);
  auto add = [&](V x, V y) { return fl ? B.CreateFAdd(x, y) : B.CreateAdd(x, y); };
  auto mul = [&](V x, V y) { return fl ? B.CreateFMul(x, y) : B.CreateMul(x, y); };
  auto lt = [&](V x, V y) {
    return fl ? B.CreateFCmpOLT(x, y) : sg ? B.CreateICmpSLT(x, y) : B.CreateICmpULT(x, y);
  };
  auto eq = [&](V x, V y) { return fl ? B.CreateFCmpOEQ(x, y) : B.CreateICmpEQ(x, y); };
  auto nan = [&](V x) -> V { return fl ? B.CreateFCmpUNO(x, x) : B.getFalse(); };
  auto pick = [&](V take, const State& x, const State& y) {
    State s;
    for (size_t k = 0; k < x.size(); ++k) s.push_back(B.CreateSelect(take, x[k], y[k]));
    return s;
  };
  switch (r.kind) {
    case kSum: {
      State s{add(a[0], b[0])};
      if (z) s.push_back(add(a[1], b[1]));
      return s;
    }
    case kProd:
      if (z)
        return {B.CreateFSub(mul(a[0], b[0]), mul(a[1], b[1])),
                B.CreateFAdd(mul(a[0], b[1]), mul(a[1], b[0]))};
      return {mul(a[0], b[0])};
    case kMin:
    case kMax: {
      bool low = r.kind == kMin;
      V keep = low ? B.CreateOr(lt(a[0], b[0]), eq(a[0], b[0]))
                   : B.CreateOr(lt(b[0], a[0]), eq(a[0], b[0]));
      if (!z) return pick(B.CreateOr(keep, nan(a[0])), a, b);
      V second = low ? B.CreateNot(lt(b[1], a[1])) : B.CreateNot(lt(a[1], b[1]));
      V first =
          B.CreateOr(low ? lt(a[0], b[0]) : lt(b[0], a[0]), B.CreateAnd(eq(a[0], b[0]), second));
      V an = B.CreateOr(nan(a[0]), nan(a[1])), bn = B.CreateOr(nan(b[0]), nan(b[1]));
      return pick(B.CreateOr(an, B.CreateAnd(B.CreateNot(bn), first)), a, b);
    }
    case kAny: return {B.CreateOr(a[0], b[0])};
    case kAll: return {B.CreateAnd(a[0], b[0])};
    case kArgMin:
    case kArgMax: {
      V none_b = B.CreateICmpSLT(b[1], B.getInt64(0)),
        none_a = B.CreateICmpSLT(a[1], B.getInt64(0));
      V an = nan(a[0]), bn = nan(b[0]);
      V better = r.kind == kArgMin ? lt(b[0], a[0]) : lt(a[0], b[0]);
      V same = B.CreateOr(eq(a[0], b[0]), B.CreateAnd(an, bn));
      V earlier = B.CreateAnd(same, B.CreateICmpSLT(b[1], a[1]));
      V take = B.CreateOr(B.CreateAnd(bn, B.CreateNot(an)),
                          B.CreateOr(B.CreateAnd(B.CreateNot(an), better), earlier));
      take = B.CreateAnd(B.CreateNot(none_b), B.CreateOr(none_a, take));
      return pick(take, b, a);
    }
    default: {  // variance: pivot, sum, squares, count; Chan, Golub and LeVeque's pairwise update
      auto div = [&](V x, V y) { return B.CreateFDiv(x, y); };
      auto sub = [&](V x, V y) { return B.CreateFSub(x, y); };
      V zero = number(e, t, 0), one = number(e, t, 1);
      V empty_a = eq(a[3], zero), empty_b = eq(b[3], zero);
      V na = B.CreateSelect(empty_a, one, a[3]), nb = B.CreateSelect(empty_b, one, b[3]);
      V ra = div(a[1], na), rb = div(b[1], nb);
      V ma = add(a[0], ra), d = sub(add(b[0], rb), ma), n = add(na, nb), share = div(nb, n);
      V total = add(add(sub(a[2], mul(a[1], ra)), sub(b[2], mul(b[1], rb))),
                    mul(mul(d, d), mul(na, share)));
      State both{add(ma, mul(d, share)), zero, total, n};
      return pick(empty_b, a, pick(empty_a, b, both));
    }
  }
}

State finish(Emit& e, const GpuReduce& r, const State& s, V ddof) {
  auto& B = e.B;
  DType t = real_of(r.in), out = real_of(r.out);
  auto to_out = [&](V v, DType from) -> V {
    if (from == out) return v;
    if (out == DType::Bool) return B.CreateIsNotNull(v);
    if (from == DType::Bool)
      return is_float(out) ? B.CreateUIToFP(v, e.scalar_type(out))
                           : B.CreateZExt(v, e.scalar_type(out));
    return e.cast(v, from, out, false);
  };
  if (r.kind == kArgMin || r.kind == kArgMax) return {to_out(s[1], DType::I64)};
  if (r.kind == kVar) {
    V zero = number(e, t, 0);
    V m2 = B.CreateFSub(s[2], B.CreateFMul(s[1], B.CreateFDiv(s[1], s[3])));
    m2 = B.CreateSelect(B.CreateFCmpOLT(m2, zero), zero, m2);
    V n = B.CreateFSub(s[3], B.CreateFPCast(ddof, e.scalar_type(t)));
    V bad =
        B.CreateSelect(B.CreateFCmpOGT(m2, zero), llvm::ConstantFP::getInfinity(e.scalar_type(t)),
                       llvm::ConstantFP::getNaN(e.scalar_type(t)));
    return {to_out(B.CreateSelect(B.CreateFCmpOLE(n, zero), bad, B.CreateFDiv(m2, n)), t)};
  }
  State f{to_out(s[0], t)};
  if (is_complex(r.out))
    f.push_back(is_complex(r.in) ? to_out(s[1], t)
                                 : llvm::Constant::getNullValue(e.scalar_type(out)));
  return f;
}

}  // namespace numbus::compile
