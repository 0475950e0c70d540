// Steps on lanes: masks for control flow, whole vectors where addresses follow each other.
#include "compile/lanes.h"

#include <llvm/IR/Module.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compile/atomics.h"
#include "compile/flow.h"
#include "compile/masked.h"
#include "compile/row_calls.h"

namespace numbus::compile {

using ir::Intrinsic;
using ir::kNone;
using ir::Val;
using V = llvm::Value*;

void LaneBody::begin(llvm::Function* to) {
  to_ = to;
  entry_ = block("entry");
  start_ = block("start");
  B.SetInsertPoint(start_);
  size_t size = f_.body.size();
  lanes_.assign(size, {});
  at_.assign(size, {});
  rare_lanes_.assign(size, {});
  ends_.assign(size, 0);
  middles_.assign(size, 0);
  for (size_t n = 0; n < size; ++n) {
    const ir::Inst& i = f_.body[n];
    if (i.op == Op::end_branch || i.op == Op::end_loop) ends_[i.a] = n;
    if (i.op == Op::branch_else || i.op == Op::loop_next) middles_[i.a] = n;
  }
  mask_ = local(many_.all_true()->getType());
  set_mask(many_.all_true());
}

void LaneBody::end() {
  B.CreateUnreachable();
  llvm::IRBuilder<>(entry_).CreateBr(start_);
}

void LaneBody::emit_lanes(llvm::Function* to) {
  begin(to);
  range(0, f_.body.size());
  end();
}

V LaneBody::vector(Val v) {
  Lane& l = lanes_[v];
  if (!vary_.value[v]) return many_.splat(l.v);
  if (!l.v) {
    auto* t = l.first->getType();
    V steps = many_.iota();
    if (!t->isIntegerTy(64)) steps = B.CreateTrunc(steps, many_.wide(t));
    l.v = l.stride == 0
              ? many_.splat(l.first)
              : B.CreateAdd(
                    many_.splat(l.first),
                    B.CreateMul(steps, many_.splat(llvm::ConstantInt::getSigned(t, l.stride))));
    // Kept for this use only: another one may not be dominated by it.
    V made = l.v;
    l.v = nullptr;
    return made;
  }
  return l.v;
}

V LaneBody::mask() { return B.CreateLoad(mask_->getAllocatedType(), mask_); }

void LaneBody::range(size_t begin, size_t end) {
  for (size_t n = begin; n < end; ++n) {
    Op op = f_.body[n].op;
    if (op == Op::branch) {
      branch_step(n);
      n = end_of(n);
    } else if (op == Op::loop) {
      loop_step(n);
      n = end_of(n);
    } else {
      lane_step(n);
    }
  }
}

// Both sides run, each for its lanes, unless it has none.
void LaneBody::branch_step(size_t n) {
  const ir::Inst& i = f_.body[n];
  size_t end = end_of(n), middle = middles_[n] ? middles_[n] : end;
  if (!vary_.value[i.a]) {
    auto yes = [&] { range(n + 1, middle); };
    auto no = [&] { range(middle + 1, end); };
    branch(B, scalar(i.a), yes, middle == end ? std::function<void()>() : no);
    return;
  }
  if (V possible = maybe_outside(n)) {
    // Rarely any lane is outside: the lanes' own tests follow this one of the first and last.
    branch(B, possible, [&] { branch_lanes(n); });
    return;
  }
  branch_lanes(n);
}

// Of a check of indices that grow evenly from lane to lane, which ends all if it fails: whether
// the first or the last lane's is outside; null for other branches.
V LaneBody::maybe_outside(size_t n) {
  const auto& body = f_.body;
  bool ends_all = false;
  for (size_t k = n; k < end_of(n); ++k)
    ends_all =
        ends_all || (body[k].op == Op::intrinsic && ir::intrinsic_of(body[k]) == Intrinsic::fail &&
                     ir::number_of(body[k]) == 1);
  const ir::Inst& either = body[body[n].a];
  if (!ends_all || either.op != Op::logical_or) return nullptr;
  const ir::Inst &low = body[either.a], &inside = body[either.b];
  if (low.op != Op::less || inside.op != Op::logical_not) return nullptr;
  const ir::Inst &zero = body[low.b], &high = body[inside.a];
  if (zero.op != Op::constant || zero.imm != 0 || high.op != Op::less || high.a != low.a ||
      body[low.a].type != DType::I64 || vary_.value[high.b])
    return nullptr;
  const Lane& at = lanes_[low.a];
  if (!at.first || at.stride < 0) return nullptr;
  V extent = scalar(high.b);
  V last = B.CreateAdd(at.first, B.getInt64(at.stride * (many_.W - 1)));
  return B.CreateOr(B.CreateICmpUGE(at.first, extent), B.CreateICmpUGE(last, extent));
}

void LaneBody::branch_lanes(size_t n) {
  const ir::Inst& i = f_.body[n];
  size_t end = end_of(n), middle = middles_[n] ? middles_[n] : end;
  V condition = vector(i.a), before = mask();
  auto leave = [&](size_t k) {
    return f_.body[k].op == Op::break_loop || f_.body[k].op == Op::continue_loop;
  };
  bool leaves = false;
  std::vector<char> left(loops_.size(), 0);
  for (size_t k = n; k < end; ++k) {
    leaves = leaves || leave(k);
    for (size_t l = 0; l < loops_.size(); ++l)
      left[l] = left[l] || (leave(k) && static_cast<size_t>(f_.body[k].a) == loops_[l].begin);
  }
  bool was_full = full_;
  auto side = [&](V lanes, size_t from, size_t to) {
    set_mask(lanes);
    full_ = false;
    ++inside_;
    // Also where only masks change: as long as the processor guesses right that no lane leaves, a
    // iteration need not wait for the conditions of the one before.
    branch(B, any(lanes), [&] { range(from, to); });
    --inside_;
  };
  side(B.CreateAnd(before, condition), n + 1, middle);
  if (middle != end) side(B.CreateAnd(before, B.CreateNot(condition)), middle + 1, end);
  V after = before;
  // Whoever leaves an outer loop is not in the innermost one either.
  if (leaves)
    for (size_t k = 0; k < loops_.size(); ++k) {
      Loop& l = loops_[k];
      if (!left[k] && k + 1 < loops_.size()) continue;
      if (l.live) after = B.CreateAnd(after, B.CreateLoad(l.live->getAllocatedType(), l.live));
      if (l.resumed)
        after =
            B.CreateAnd(after, B.CreateNot(B.CreateLoad(l.resumed->getAllocatedType(), l.resumed)));
    }
  set_mask(after);
  full_ = was_full && !leaves;
  // With no lane left, the rest of the iteration has nothing to do.
  if (leaves && inside_ == 0 && loops_.size() > around_ && loops_.back().live) {
    auto* on = block("on");
    B.CreateCondBr(any(after), on, loops_.back().next);
    B.SetInsertPoint(on);
  }
}

void LaneBody::loop_step(size_t n) {
  size_t end = end_of(n), middle = middles_[n] ? middles_[n] : end;
  Loop l{n};
  l.after = block("left");
  l.next = block("turned");
  bool divergent = vary_.divergent[n];
  bool was_full = full_;
  V before = mask();
  auto* t = mask_->getAllocatedType();
  if (divergent) {
    l.live = local(t);
    B.CreateStore(before, l.live);
  }
  // Lanes that continue wait for the end of the iteration.
  bool resumes = false;
  for (size_t k = n; k < end; ++k)
    resumes =
        resumes || (f_.body[k].op == Op::continue_loop && f_.body[k].a == static_cast<Val>(n));
  if (resumes) l.resumed = local(t);
  auto* head = block("iteration");
  B.CreateBr(head);
  B.SetInsertPoint(head);
  if (resumes) B.CreateStore(llvm::Constant::getNullValue(t), l.resumed);
  loops_.push_back(l);
  int outside = std::exchange(inside_, 0);
  range(n + 1, middle);
  B.CreateBr(l.next);
  B.SetInsertPoint(l.next);
  auto live = [&] { return divergent ? B.CreateLoad(t, l.live) : static_cast<V>(before); };
  set_mask(live());
  if (resumes) {
    B.CreateStore(llvm::Constant::getNullValue(t), l.resumed);
  }
  if (middle != end) range(middle + 1, end);
  loops_.pop_back();
  inside_ = outside;
  if (divergent)
    B.CreateCondBr(any(live()), head, l.after);
  else
    B.CreateBr(head);
  B.SetInsertPoint(l.after);
  // Lanes that went further out stay away.
  V after = before;
  for (Loop& o : loops_) {
    if (o.live) after = B.CreateAnd(after, B.CreateLoad(t, o.live));
    if (o.resumed) after = B.CreateAnd(after, B.CreateNot(B.CreateLoad(t, o.resumed)));
  }
  set_mask(after);
  full_ = was_full && loops_.empty();
}

// break and continue, for the lanes that are here.
void LaneBody::leave(size_t n) {
  const ir::Inst& i = f_.body[n];
  size_t k = loops_.size();
  while (loops_[k - 1].begin != static_cast<size_t>(i.a)) --k;
  Loop& target = loops_[k - 1];
  bool breaks = i.op == Op::break_loop;
  if (breaks ? !target.live : !target.resumed) {
    jump(breaks ? target.after : target.next);
    return;
  }
  V here = mask();
  auto* t = mask_->getAllocatedType();
  for (size_t o = breaks ? k - 1 : k; o < loops_.size(); ++o)
    if (loops_[o].live)
      B.CreateStore(B.CreateAnd(B.CreateLoad(t, loops_[o].live), B.CreateNot(here)),
                    loops_[o].live);
  if (!breaks) B.CreateStore(B.CreateOr(B.CreateLoad(t, target.resumed), here), target.resumed);
  set_mask(llvm::Constant::getNullValue(t));
  full_ = false;
  // All that were here are gone. Under a branch, others may still have its rest to do.
  if (inside_ == 0 && loops_.size() > around_) jump(loops_.back().next);
}

V LaneBody::each_lane(llvm::Type* result, const std::function<V(V)>& f) {
  V lanes = full_ ? many_.all_true() : mask();
  llvm::AllocaInst* out = result ? local(many_.wide(result)) : nullptr;
  auto* i32 = B.getInt32Ty();
  auto* at = local(i32);
  B.CreateStore(B.getInt32(0), at);
  auto *head = block("lane"), *body = block("run"), *next = block("skip"), *done = block("lanes");
  B.CreateBr(head);
  B.SetInsertPoint(head);
  V lane = B.CreateLoad(i32, at);
  B.CreateCondBr(B.CreateExtractElement(lanes, lane), body, next);
  B.SetInsertPoint(body);
  V r = f(lane);
  if (out)
    B.CreateStore(B.CreateInsertElement(B.CreateLoad(out->getAllocatedType(), out), r, lane), out);
  B.CreateBr(next);
  B.SetInsertPoint(next);
  V more = B.CreateAdd(lane, B.getInt32(1));
  B.CreateStore(more, at);
  B.CreateCondBr(B.CreateICmpSLT(more, B.getInt32(many_.W)), head, done);
  B.SetInsertPoint(done);
  return out ? B.CreateLoad(out->getAllocatedType(), out) : nullptr;
}

V LaneBody::lane_of(Val v, V lane) {
  return vary_.value[v] ? B.CreateExtractElement(vector(v), lane) : scalar(v);
}

void LaneBody::read(size_t n) {
  const ir::Inst& i = f_.body[n];
  auto* t = memory_type(i.type);
  unsigned size = static_cast<unsigned>(itemsize(i.type));
  auto space = static_cast<ir::Space>(i.imm);
  V lanes = full_ ? nullptr : mask();
  V r;
  bool base_varies = vary_.value[i.a], offset_varies = vary_.value[i.b];
  const Lane &a = lanes_[i.a], &b = lanes_[i.b];
  bool known = (!base_varies || a.first) && (!offset_varies || b.first);
  int64_t stride = (base_varies ? a.stride : 0) + (offset_varies ? b.stride : 0);
  if (known && (stride == 0 || stride == static_cast<int64_t>(size))) {
    V at = B.CreateGEP(B.getInt8Ty(), pointer(base_varies ? a.first : a.v, space),
                       offset_varies ? b.first : b.v);
    if (stride) {
      r = load_masked(many_, many_.wide(t), at, lanes, size);
    } else {
      if (lanes) {
        // Nobody may be here: then there is nothing to read.
        auto* nothing = local(t);
        at = B.CreateSelect(any(lanes), at, nothing);
      }
      r = many_.splat(B.CreateAlignedLoad(t, at, llvm::Align(size)));
    }
  } else {
    V at = B.CreateAdd(vector(i.a), vector(i.b));
    V pointers = B.CreateIntToPtr(at, many_.wide(B.getPtrTy()));
    r = B.CreateMaskedGather(many_.wide(t), pointers, llvm::Align(size),
                             lanes ? lanes : many_.all_true(),
                             llvm::Constant::getNullValue(many_.wide(t)));
  }
  if (i.type == DType::Bool) r = B.CreateICmpNE(r, llvm::Constant::getNullValue(r->getType()));
  lanes_[n].v = r;
}

void LaneBody::write(size_t n) {
  const ir::Inst& i = f_.body[n];
  unsigned size = static_cast<unsigned>(itemsize(i.type));
  auto space = static_cast<ir::Space>(i.imm);
  V lanes = full_ ? nullptr : mask();
  V v = vector(i.a);
  if (i.type == DType::Bool) v = B.CreateZExt(v, many_.wide(B.getInt8Ty()));
  bool base_varies = vary_.value[i.b], offset_varies = vary_.value[i.c];
  const Lane &a = lanes_[i.b], &b = lanes_[i.c];
  bool known = (!base_varies || a.first) && (!offset_varies || b.first);
  int64_t stride = (base_varies ? a.stride : 0) + (offset_varies ? b.stride : 0);
  if (known && stride == static_cast<int64_t>(size)) {
    V at = B.CreateGEP(B.getInt8Ty(), pointer(base_varies ? a.first : a.v, space),
                       offset_varies ? b.first : b.v);
    if (lanes)
      store_masked(many_, v, at, static_cast<int>(size), lanes);
    else
      B.CreateAlignedStore(v, at, llvm::Align(size));
    return;
  }
  // Of several lanes that write to one address the last one's value stays.
  V at = B.CreateAdd(vector(i.b), vector(i.c));
  B.CreateMaskedScatter(v, B.CreateIntToPtr(at, many_.wide(B.getPtrTy())), llvm::Align(size),
                        lanes ? lanes : many_.all_true());
}

void LaneBody::row_step(size_t n) {
  const ir::Inst& i = f_.body[n];
  Lane& r = lanes_[n];
  bool varies = vary_.value[n];
  auto first_of = [&](Val v) -> V { return vary_.value[v] ? lanes_[v].first : lanes_[v].v; };
  auto stride_of = [&](Val v) { return vary_.value[v] ? lanes_[v].stride : 0; };
  // Integers that grow evenly from lane to lane stay a first value and a step.
  if (varies && is_integer(i.type) && itemsize(i.type) >= 4 && i.a != kNone && first_of(i.a)) {
    if (i.op == Op::cast && is_integer(f_.body[i.a].type) && itemsize(f_.body[i.a].type) >= 4 &&
        itemsize(i.type) >= itemsize(f_.body[i.a].type)) {
      r.first = one().cast(first_of(i.a), f_.body[i.a].type, i.type, false);
      r.stride = stride_of(i.a);
      return;
    }
    if (i.op == Op::bits && is_integer(f_.body[i.a].type)) {
      r.first = first_of(i.a);
      r.stride = stride_of(i.a);
      return;
    }
    if (i.b != kNone && first_of(i.b)) {
      V x = first_of(i.a), y = first_of(i.b);
      int64_t s = stride_of(i.a), u = stride_of(i.b);
      if (i.op == Op::add || i.op == Op::subtract) {
        r.first = i.op == Op::add ? B.CreateAdd(x, y) : B.CreateSub(x, y);
        r.stride = i.op == Op::add ? s + u : s - u;
        return;
      }
      if (i.op == Op::multiply) {
        auto* cx = llvm::dyn_cast<llvm::ConstantInt>(x);
        auto* cy = llvm::dyn_cast<llvm::ConstantInt>(y);
        if ((s == 0 && u == 0) || (u == 0 && cy) || (s == 0 && cx)) {
          r.first = B.CreateMul(x, y);
          r.stride = u == 0 ? (s == 0 ? 0 : s * cy->getSExtValue()) : u * cx->getSExtValue();
          return;
        }
      }
    }
  }
  llvm::IRBuilder<>::FastMathFlagGuard guard(B);
  set_contraction(B, i, m_);
  auto x = [&](Val o) -> V {
    if (o == kNone) return nullptr;
    return varies ? vector(o) : scalar(o);
  };
  r.v = primitive(varies ? many_ : E, i, i.a == kNone ? i.type : f_.body[i.a].type, x(i.a), x(i.b),
                  x(i.c));
  if (!r.v)
    r.v = call_row(varies ? many_ : E, i, x(i.a), x(i.b), varies && !full_ ? mask() : nullptr);
}

bool LaneBody::lane_intrinsic(size_t n) {
  const ir::Inst& i = f_.body[n];
  Intrinsic k = ir::intrinsic_of(i);
  Lane& r = lanes_[n];
  switch (k) {
    case Intrinsic::lane_index:
      r.first = B.getInt64(0);
      r.stride = 1;
      return true;
    case Intrinsic::lane_count: r.v = B.getInt64(many_.W); return true;
    case Intrinsic::lane_merge: {
      if (!vary_.value[i.a]) {
        r.v = scalar(i.a);
        return true;
      }
      V all = vector(i.a);
      V s = B.CreateExtractElement(all, uint64_t{0});
      ir::Inst row{static_cast<Op>(ir::number_of(i)), i.type};
      for (uint64_t l = 1; l < static_cast<uint64_t>(many_.W); ++l)
        s = primitive(E, row, i.type, s, B.CreateExtractElement(all, l), nullptr);
      r.v = s;
      return true;
    }
    case Intrinsic::clz:
    case Intrinsic::brev:
    case Intrinsic::ffs:
      if (!vary_.value[n]) return false;
      r.v = each_lane(E.scalar_type(i.type), [&](V lane) {
        return intrinsic(i, lane_of(i.a, lane), nullptr, nullptr, {});
      });
      return true;
    case Intrinsic::fail: {
      V lanes = full_ ? many_.all_true() : mask();
      branch(B, any(lanes), [&] {
        V first = B.CreateZExt(
            B.CreateBinaryIntrinsic(llvm::Intrinsic::cttz,
                                    B.CreateBitCast(lanes, B.getIntNTy(many_.W)), B.getFalse()),
            B.getInt64Ty());
        intrinsic(i, lane_of(i.a, first), lane_of(i.b, first), lane_of(i.c, first), {});
        if (ir::number_of(i) == 1) {
          finish(B.getInt32(1));
          B.SetInsertPoint(block("dead"));
        }
      });
      r.v = B.getInt32(0);
      return true;
    }
    default:
      if (k < Intrinsic::atomic_add || k > Intrinsic::atomic_cas) return false;
      r.v = each_lane(E.scalar_type(i.type), [&](V lane) {
        auto operand = [&](Val v) { return v == kNone ? nullptr : lane_of(v, lane); };
        return atomic(E, k, i.type, pointer(lane_of(i.a, lane), ir::space_of(i)), operand(i.b),
                      operand(i.c));
      });
      return true;
  }
}

void LaneBody::lane_step(size_t n) {
  const ir::Inst& i = f_.body[n];
  Lane& r = lanes_[n];
  switch (i.op) {
    case Op::param: r.v = parameter(i.imm); break;
    case Op::variable: {
      auto* t = vary_.variable[n] ? many_.type(i.type) : E.scalar_type(i.type);
      auto* slot = local(t);
      llvm::IRBuilder<>(entry_).CreateStore(llvm::Constant::getNullValue(t), slot);
      r.v = slot;
      break;
    }
    case Op::get:
      r.v = B.CreateLoad(vary_.variable[i.a] ? many_.type(i.type) : E.scalar_type(i.type),
                         lanes_[i.a].v);
      break;
    case Op::set: {
      if (!vary_.variable[i.a]) {
        B.CreateStore(scalar(i.b), lanes_[i.a].v);
        break;
      }
      V v = vector(i.b);
      if (!full_) v = B.CreateSelect(mask(), v, B.CreateLoad(v->getType(), lanes_[i.a].v));
      B.CreateStore(v, lanes_[i.a].v);
      break;
    }
    case Op::break_loop:
    case Op::continue_loop: leave(n); break;
    case Op::give: break;
    case Op::ret: {
      V s = vary_.value[i.a] ? B.CreateOrReduce(vector(i.a)) : scalar(i.a);
      finish(s);
      B.SetInsertPoint(block("dead"));
      break;
    }
    case Op::read: read(n); break;
    case Op::write: write(n); break;
    case Op::argument: lane_arguments_.push_back(vary_.value[i.a] ? nullptr : scalar(i.a)); break;
    case Op::intrinsic:
      if (!lane_intrinsic(n)) {
        auto x = [&](Val o) -> V { return o == kNone ? nullptr : scalar(o); };
        r.v = intrinsic(i, x(i.a), x(i.b), x(i.c), lane_arguments_);
      }
      lane_arguments_.clear();
      break;
    case Op::if_any: {
      V c = vary_.value[i.a] ? vector(i.a) : scalar(i.a);
      if (vary_.value[i.a]) c = any(full_ ? c : B.CreateAnd(c, mask()));
      rare_lanes_[n] = begin_rare(E, c);
      break;
    }
    case Op::end_if: {
      for (size_t k = static_cast<size_t>(i.a); k < n; ++k) at_[k].v = lanes_[k].v;
      end_rare(E, f_.body, n, rare_lanes_[i.a], at_);
      for (size_t k = static_cast<size_t>(i.a); k < n; ++k) lanes_[k].v = at_[k].v;
      break;
    }
    default: row_step(n);
  }
}

}  // namespace numbus::compile
