// Merging of reduction states in generated code.
#include "compile/gpu_state.h"

#include "ops/reduction_bodies.h"

namespace numbus::compile {

using V = llvm::Value*;

namespace {

// Values of generated code as the numbers of ops/reduction_bodies.h.
struct Values {
  using Number = V;
  using Index = V;
  using Bool = V;

  Emit& e;
  DType type;  // of the parts
  bool complex, floating;
  Values(Emit& e, const GpuReduce& r)
      : e(e), type(real_of(r.in)), complex(is_complex(r.in)), floating(is_float(type)) {}

  V zero() { return number(Scalar::from_int(0)); }
  V one() { return number(Scalar::from_int(1)); }
  V highest() { return number(highest_number(type)); }
  V lowest() { return number(lowest_number(type)); }
  V index(int64_t n) { return e.B.getInt64(n); }

  V add(V x, V y) { return floating ? e.FAdd(x, y) : e.Add(x, y); }
  V sub(V x, V y) { return floating ? e.FSub(x, y) : e.Sub(x, y); }
  V mul(V x, V y) { return floating ? e.FMul(x, y) : e.Mul(x, y); }
  V div(V x, V y) { return e.B.CreateFDiv(x, y); }
  V mean(V sum, V n) { return div(sum, n); }
  // nb / n, n being na + nb: without a division where both are equal, as most are.
  V part(V na, V nb, V n) {
    auto& B = e.B;
    llvm::BasicBlock* const here = B.GetInsertBlock();
    llvm::Function* const f = here->getParent();
    auto* unequal = llvm::BasicBlock::Create(B.getContext(), "unequal", f);
    auto* done = llvm::BasicBlock::Create(B.getContext(), "part", f);
    B.CreateCondBr(e.FCmpOEQ(na, nb), done, unequal);
    B.SetInsertPoint(unequal);
    V quotient = div(nb, n);
    B.CreateBr(done);
    B.SetInsertPoint(done);
    llvm::PHINode* both = B.CreatePHI(n->getType(), 2);
    both->addIncoming(llvm::ConstantFP::get(n->getType(), 0.5), here);
    both->addIncoming(quotient, unequal);
    return both;
  }
  V minimum(V x, V y) { return e.minimum(x, y, floating, is_signed(type)); }
  V maximum(V x, V y) { return e.maximum(x, y, floating, is_signed(type)); }
  V any_of(V x, V y) { return e.Or(x, y); }
  V all_of(V x, V y) { return e.And(x, y); }

  V less(V x, V y) {
    if (floating) return e.FCmpOLT(x, y);
    return is_signed(type) ? e.ICmpSLT(x, y) : e.ICmpULT(x, y);
  }
  V equal(V x, V y) { return floating ? e.FCmpOEQ(x, y) : e.ICmpEQ(x, y); }
  V is_nan(V x) { return e.FCmpUNO(x, x); }
  V index_less(V x, V y) { return e.ICmpSLT(x, y); }
  V either(V x, V y) { return e.Or(x, y); }
  V both(V x, V y) { return e.And(x, y); }
  V negate(V x) { return e.Not(x); }
  V select(V c, V x, V y) { return e.B.CreateSelect(c, x, y); }
  V select_index(V c, V x, V y) { return select(c, x, y); }

 private:
  V number(const Scalar& s) {
    int64_t bits = 0;
    store_scalar(s, type, &bits);
    return e.bits_constant(type, bits);
  }
};

template <Reduction K>
State listed(const Values& m, reductions::State<Values> s) {
  State all;
  for (V* field : reductions::fields<K>(m, s)) all.push_back(*field);
  return all;
}
template <Reduction K>
reductions::State<Values> unlisted(const Values& m, const State& all) {
  reductions::State<Values> s{};
  auto next = all.begin();
  for (V* field : reductions::fields<K>(m, s)) *field = *next++;
  return s;
}

}  // namespace

State identity(Emit& e, const GpuReduce& r) {
  Values m(e, r);
  return reductions::with(r.kind,
                          [&]<Reduction K>() { return listed<K>(m, reductions::init<K>(m)); });
}

State settle(Emit& e, const GpuReduce& r, const State& s) {
  Values m(e, r);
  return reductions::with(r.kind, [&]<Reduction K>() {
    return listed<K>(m, reductions::settle<K>(m, unlisted<K>(m, s)));
  });
}

State merge(Emit& e, const GpuReduce& r, const State& a, const State& b) {
  Values m(e, r);
  return reductions::with(r.kind, [&]<Reduction K>() {
    return listed<K>(m, reductions::merge_settled<K>(m, unlisted<K>(m, a), unlisted<K>(m, b)));
  });
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
  if (needs_position(r.kind)) return {to_out(s[1], DType::I64)};
  Values m(e, r);
  const auto found = reductions::with(r.kind, [&]<Reduction K>() {
    // Only moments, which are floats, look at it.
    V by = K == Reduction::Var ? B.CreateFPCast(ddof, e.scalar_type(t)) : nullptr;
    return reductions::finish<K>(m, unlisted<K>(m, s), by);
  });
  State f{to_out(found.re, t)};
  if (is_complex(r.out))
    f.push_back(is_complex(r.in) ? to_out(found.im, t)
                                 : llvm::Constant::getNullValue(e.scalar_type(out)));
  return f;
}

}  // namespace numbus::compile
