// One step of W points: loads, table rows, predicates, stores.
#include "compile/body.h"

#include <llvm/IR/Module.h>

#include <algorithm>

#include "base/error.h"
#include "compile/flow.h"
#include "compile/masked.h"

namespace numbus::compile {

using llvm::Type;
using V = llvm::Value*;

V Body::gather(Type* scalar, V ptr, V stride, V mask) {
  unsigned size = scalar->getPrimitiveSizeInBits() / 8;
  if (E.W == 1) return load_masked(E, scalar, ptr, mask, size);
  V offsets = B.CreateMul(E.iota(), E.splat(stride));
  V ptrs = B.CreateGEP(B.getInt8Ty(), ptr, offsets);
  Type* t = E.wide(scalar);
  return B.CreateMaskedGather(t, ptrs, llvm::Align(size), mask ? mask : E.all_true(),
                              llvm::Constant::getNullValue(t));
}

void Body::scatter(V v, V ptr, V stride, V mask) {
  unsigned size = v->getType()->getScalarSizeInBits() / 8;
  V ptrs = B.CreateGEP(B.getInt8Ty(), ptr, B.CreateMul(E.iota(), E.splat(stride)));
  B.CreateMaskedScatter(v, ptrs, llvm::Align(size), mask ? mask : E.all_true());
}

Value Body::load(const ir::Arg& a, V row, V stride, V col, V mask) {
  DType part = real_of(a.dtype);
  int size = itemsize(part);
  Type* scalar = part == DType::Bool ? B.getInt8Ty() : E.scalar_type(part);
  V ptr = address(row, col, stride, itemsize(a.dtype));
  auto as_value = [&](V v) -> V {
    return part == DType::Bool ? B.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
  };
  if (E.W == 1 && is_complex(a.dtype) && a.inner == ir::Inner::Contiguous && a.aligned) {
    V both = load_masked(E, llvm::FixedVectorType::get(scalar, 2), ptr, mask,
                         2 * size);  // one access for both parts
    return {B.CreateExtractElement(both, uint64_t{0}), B.CreateExtractElement(both, uint64_t{1})};
  }
  if (a.inner != ir::Inner::Contiguous || E.W == 1) {
    V step = stride ? stride : B.getInt64(itemsize(a.dtype));
    // What the kernel does not write may be loaded before what it stores earlier, or later again.
    auto part_at = [&](V at) {
      V v = gather(scalar, at, step, mask);
      if (auto* one = llvm::dyn_cast<llvm::LoadInst>(v);
          one && E.constant_loads && !a.written && !a.overwritten)
        one->setMetadata(llvm::LLVMContext::MD_invariant_load,
                         llvm::MDNode::get(B.getContext(), {}));
      return v;
    };
    Value r{as_value(part_at(ptr))};
    if (is_complex(a.dtype)) r.im = part_at(B.CreateGEP(B.getInt8Ty(), ptr, B.getInt64(size)));
    return r;
  }
  if (!is_complex(a.dtype))
    return {as_value(load_masked(E, E.wide(scalar), ptr, mask,
                                 a.aligned ? std::min(E.vector_align, E.W * size) : size))};
  // Interleaved parts: one wide load, two shuffles.
  llvm::SmallVector<int, 64> even, odd, twice;
  for (int i = 0; i < E.W; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
    twice.push_back(i);
    twice.push_back(i);
  }
  V wide_mask = mask && !E.is_all_true(mask) ? B.CreateShuffleVector(mask, twice) : nullptr;
  V both = load_masked(E, llvm::FixedVectorType::get(scalar, 2 * E.W), ptr, wide_mask,
                       a.aligned ? std::min(E.vector_align, 2 * E.W * size) : size);
  return {B.CreateShuffleVector(both, even), B.CreateShuffleVector(both, odd)};
}

bool Body::of_box(ir::Val predicate) const {
  if (predicate == ir::kNone) return false;
  const ir::Inst& i = k_.body[predicate];
  return i.op == Op::in_box || (i.op == Op::logical_and && (of_box(i.a) || of_box(i.b)));
}

Value Body::inside_box(ir::Val predicate, V mask, const std::function<Value(V)>& access) {
  if (E.W == 1 || !mask || E.is_all_true(mask) || !of_box(predicate)) return access(mask);
  auto* before = B.GetInsertBlock();
  auto* yes = llvm::BasicBlock::Create(B.getContext(), "inside", before->getParent());
  auto* after = llvm::BasicBlock::Create(B.getContext(), "beside", before->getParent());
  B.CreateCondBr(B.CreateOrReduce(mask), yes, after);
  B.SetInsertPoint(yes);
  Value found = access(mask);
  yes = B.GetInsertBlock();
  B.CreateBr(after);
  B.SetInsertPoint(after);
  auto or_zero = [&](V v) -> V {
    if (!v) return v;
    auto* either = B.CreatePHI(v->getType(), 2);
    either->addIncoming(v, yes);
    either->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
    return either;
  };
  return {or_zero(found.v), or_zero(found.im)};
}

void Body::store(const ir::Arg& a, const Point& p, int arg, Value value, V mask) {
  DType part = real_of(a.dtype);
  int size = itemsize(part);
  V v = part == DType::Bool ? B.CreateZExt(value.v, E.wide(B.getInt8Ty())) : value.v;
  V stride = p.strides[arg];
  V ptr = address(p.rows[arg], p.col, stride, itemsize(a.dtype));
  if (mask && E.is_all_true(mask)) mask = nullptr;
  if (V at = part == DType::F32 ? p.special[0] : part == DType::F64 ? p.special[1] : nullptr) {
    test(at, v, mask);
    if (value.im) test(at, value.im, mask);
  }
  if (E.W == 1) {
    llvm::BasicBlock* after = nullptr;
    if (mask) {
      llvm::Function* f = B.GetInsertBlock()->getParent();
      auto* yes = llvm::BasicBlock::Create(B.getContext(), "store", f);
      after = llvm::BasicBlock::Create(B.getContext(), "stored", f);
      B.CreateCondBr(mask, yes, after);
      B.SetInsertPoint(yes);
    }
    if (value.im && a.inner == ir::Inner::Contiguous && a.aligned) {
      V both = B.CreateInsertElement(
          llvm::PoisonValue::get(llvm::FixedVectorType::get(v->getType(), 2)), v, uint64_t{0});
      B.CreateAlignedStore(B.CreateInsertElement(both, value.im, uint64_t{1}), ptr,
                           llvm::Align(2 * size));
    } else {
      B.CreateAlignedStore(v, ptr, llvm::Align(size));
    }
    if (value.im && !(a.inner == ir::Inner::Contiguous && a.aligned))
      B.CreateAlignedStore(value.im, B.CreateGEP(B.getInt8Ty(), ptr, B.getInt64(size)),
                           llvm::Align(size));
    if (after) {
      B.CreateBr(after);
      B.SetInsertPoint(after);
    }
    return;
  }
  if (a.inner != ir::Inner::Contiguous) {
    V step = stride ? stride : B.getInt64(itemsize(a.dtype));
    scatter(v, ptr, step, mask);
    if (value.im) scatter(value.im, B.CreateGEP(B.getInt8Ty(), ptr, B.getInt64(size)), step, mask);
    return;
  }
  if (is_complex(a.dtype)) {
    llvm::SmallVector<int, 64> interleave, twice;
    for (int i = 0; i < E.W; ++i) {
      interleave.push_back(i);
      interleave.push_back(E.W + i);
      twice.push_back(i);
      twice.push_back(i);
    }
    v = B.CreateShuffleVector(value.v, value.im, interleave);
    if (mask) mask = B.CreateShuffleVector(mask, twice);
  }
  if (mask) {
    store_masked(E, v, ptr, size, mask);
    return;
  }
  if (E.by_element && !a.aligned) {
    Type* element = v->getType()->getScalarType();
    int lanes = is_complex(a.dtype) ? 2 * E.W : E.W;
    for (int i = 0; i < lanes; ++i)
      B.CreateAlignedStore(B.CreateExtractElement(v, i), B.CreateConstGEP1_64(element, ptr, i),
                           llvm::Align(size));
    return;
  }
  auto* st = B.CreateAlignedStore(
      v, ptr, llvm::Align(a.aligned ? std::min(E.vector_align, E.W * size) : size));
  if (p.streaming && a.aligned) {
    auto* one = llvm::ConstantAsMetadata::get(B.getInt32(1));
    st->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(B.getContext(), one));
  }
}

// Zero times such a number is none, and stays none whatever is added: one instruction a vector, as
// the numbers are in registers.
void Body::test(V at, V v, V mask) {
  V zero = llvm::Constant::getNullValue(v->getType());
  if (mask) v = B.CreateSelect(mask, v, zero);
  V before = B.CreateLoad(v->getType(), at);
  B.CreateStore(E.fma(v, zero, before), at);
}

Value Body::gather_at(const Point& p, const ir::Inst& i, V offset, V mask) {
  const ir::Arg& a = k_.args[i.imm];
  DType part = real_of(a.dtype);
  int size = itemsize(part);
  Type* scalar = part == DType::Bool ? B.getInt8Ty() : E.scalar_type(part);
  V stride = p.strides[i.imm] ? p.strides[i.imm] : B.getInt64(itemsize(a.dtype));
  V base = address(p.rows[i.imm], p.col, stride, itemsize(a.dtype));
  if (E.W > 1) offset = B.CreateAdd(offset, B.CreateMul(E.iota(), E.splat(stride)));
  V ptrs = B.CreateGEP(B.getInt8Ty(), base, offset);
  auto plane = [&](int at) -> V {
    V from = at ? B.CreateGEP(B.getInt8Ty(), ptrs, B.getInt64(at)) : ptrs;
    if (E.W == 1) return load_masked(E, scalar, from, mask, size);
    Type* t = E.wide(scalar);
    return B.CreateMaskedGather(t, from, llvm::Align(size), mask ? mask : E.all_true(),
                                llvm::Constant::getNullValue(t));
  };
  Value r{plane(0)};
  if (part == DType::Bool) r.v = B.CreateICmpNE(r.v, llvm::Constant::getNullValue(r.v->getType()));
  if (is_complex(a.dtype)) r.im = plane(size);
  return r;
}

// Lanes write in order, so that of several that meet the last one stays.
void Body::scatter_at(const Point& p, const ir::Inst& i, Value value, V offset, V mask) {
  const ir::Arg& a = k_.args[i.imm];
  DType part = real_of(a.dtype);
  int size = itemsize(part);
  V stride = p.strides[i.imm] ? p.strides[i.imm] : B.getInt64(itemsize(a.dtype));
  V base = address(p.rows[i.imm], p.col, stride, itemsize(a.dtype));
  if (E.W > 1) offset = B.CreateAdd(offset, B.CreateMul(E.iota(), E.splat(stride)));
  V ptrs = B.CreateGEP(B.getInt8Ty(), base, offset);
  V v = part == DType::Bool ? B.CreateZExt(value.v, E.wide(B.getInt8Ty())) : value.v;
  if (i.op != Op::scatter) {
    for (uint64_t lane = 0; lane < static_cast<uint64_t>(E.W); ++lane) {
      auto at = [&](V x) { return E.W == 1 ? x : B.CreateExtractElement(x, lane); };
      auto one = [&] {
        V to = at(ptrs);
        E.combine(combines_by(i.op), part, to, at(v));
        if (value.im)
          E.combine(combines_by(i.op), part, B.CreateGEP(B.getInt8Ty(), to, B.getInt64(size)),
                    at(value.im));
      };
      if (mask && !E.is_all_true(mask))
        branch(B, at(mask), one);
      else
        one();
    }
    return;
  }
  auto both = [&] {
    for (auto [x, at] : {std::pair{v, 0}, std::pair{value.im, size}}) {
      if (!x) continue;
      V to = at ? B.CreateGEP(B.getInt8Ty(), ptrs, B.getInt64(at)) : ptrs;
      if (E.W == 1)
        B.CreateAlignedStore(x, to, llvm::Align(size));
      else
        B.CreateMaskedScatter(x, to, llvm::Align(size), mask ? mask : E.all_true());
    }
  };
  if (E.W == 1 && mask)
    branch(B, mask, both);
  else
    both();
}

void Body::check(const Point& p, const ir::Inst& i, V wrong, V value) {
  V any = E.W == 1 ? wrong : B.CreateOrReduce(wrong);
  branch(B, any, [&] {
    V which = value;
    if (E.W > 1) {
      V bits = B.CreateBitCast(wrong, B.getIntNTy(E.W));
      V first = B.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits, B.getFalse());
      which = B.CreateExtractElement(value, B.CreateZExt(first, B.getInt64Ty()));
    }
    auto word = [&](int64_t n) {
      return B.CreateConstGEP1_64(B.getInt64Ty(), p.report, static_cast<uint64_t>(2 * i.imm + n));
    };
    B.CreateStore(B.getInt64(1), word(0));
    B.CreateStore(which, word(1));
  });
}

void Body::emit(const Point& p) { emit_steps(p, k_.body.size()); }

std::vector<Value> Body::emit_steps(const Point& p, size_t count) {
  std::vector<Value> at(count);
  std::vector<Rare> skipped(count);
  struct Loop {
    llvm::BasicBlock *head, *entry;
    llvm::PHINode* left;  // iterations, where they are counted
  };
  std::vector<Loop> loops;
  auto masked = [&](V predicate) { return p.mask ? E.both(p.mask, predicate) : predicate; };
  for (size_t n = 0; n < count; ++n) {
    const ir::Inst& i = k_.body[n];
    auto x = [&](ir::Val o) -> V { return o == ir::kNone ? nullptr : at[o].v; };
    Value& r = at[n];
    V a = x(i.a), b = x(i.b), c = x(i.c);
    switch (i.op) {
      case Op::scalar: r = p.scalars[i.imm]; break;
      case Op::index:
        r.v =
            i.imm == k_.rank - 1 ? B.CreateAdd(E.splat(p.col), E.iota()) : E.splat(p.index[i.imm]);
        break;
      case Op::in_box: r.v = p.inside ? E.all_true() : p.boxes[i.imm]; break;
      case Op::load:
        if (p.uniform[i.imm].v)
          r = p.uniform[i.imm];
        else
          r = inside_box(i.a, masked(a), [&](V mask) {
            return load(k_.args[i.imm], p.rows[i.imm], p.strides[i.imm], p.col, mask);
          });
        break;
      case Op::store:
        inside_box(i.b, masked(b), [&](V mask) {
          store(k_.args[i.imm], p, static_cast<int>(i.imm), at[i.a], mask);
          return Value{};
        });
        break;
      case Op::acc_load: {
        if (p.acc_values) {
          r.v = (*p.acc_values)[i.imm];
          break;
        }
        Type* scalar = i.type == DType::Bool ? B.getInt8Ty() : E.scalar_type(i.type);
        V v =
            B.CreateAlignedLoad(E.wide(scalar), p.acc_fields[i.imm], llvm::Align(itemsize(i.type)));
        r.v = i.type == DType::Bool ? B.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()))
                                    : v;
        break;
      }
      case Op::acc_store: {
        if (p.acc_values) {
          V& held = (*p.acc_values)[i.imm];
          V enabled = masked(b);
          held = enabled && !E.is_all_true(enabled) ? B.CreateSelect(enabled, a, held) : a;
          break;
        }
        V v = i.type == DType::Bool ? B.CreateZExt(a, E.wide(B.getInt8Ty())) : a;
        V mask = masked(b);
        if (E.W == 1) {
          if (mask && !E.is_all_true(mask))
            v = B.CreateSelect(mask, v, B.CreateLoad(v->getType(), p.acc_fields[i.imm]));
          B.CreateStore(v, p.acc_fields[i.imm]);
        } else if (mask && !E.is_all_true(mask)) {
          store_masked(E, v, p.acc_fields[i.imm], itemsize(i.type), mask);
        } else {
          B.CreateAlignedStore(v, p.acc_fields[i.imm], llvm::Align(itemsize(i.type)));
        }
        break;
      }
      case Op::real_part: r.v = a; break;
      case Op::imag_part: r.v = at[i.a].im; break;
      case Op::make_complex: r = {a, b}; break;
      case Op::if_any: skipped[n] = begin_rare(E, E.W == 1 ? a : B.CreateOrReduce(a)); break;
      case Op::end_if: end_rare(E, k_.body, n, skipped[i.a], at, true); break;
      case Op::if_result: break;  // by end_rare
      case Op::gather: r = gather_at(p, i, a, masked(b)); break;
      case Op::scatter:
      case Op::scatter_add:
      case Op::scatter_min:
      case Op::scatter_max: scatter_at(p, i, at[i.a], c, masked(b)); break;
      case Op::check: check(p, i, masked(a), b); break;
      case Op::repeat: {
        // The count is the same for all lanes.
        V proceeds = !a || E.W == 1 ? a : B.CreateExtractElement(a, uint64_t{0});
        auto* before = B.GetInsertBlock();
        auto* head = llvm::BasicBlock::Create(B.getContext(), "repeat", before->getParent());
        B.CreateBr(head);
        B.SetInsertPoint(head);
        auto* left = proceeds ? B.CreatePHI(proceeds->getType(), 2) : nullptr;
        if (left) left->addIncoming(proceeds, before);
        loops.push_back({head, before, left});
        break;
      }
      case Op::carry: {
        auto phi = [&](V first) -> V {
          auto* p = B.CreatePHI(first->getType(), 2);
          p->addIncoming(first, loops.back().entry);
          return p;
        };
        r.v = phi(a);
        if (at[i.a].im) r.im = phi(at[i.a].im);
        break;
      }
      case Op::carry_next: break;
      case Op::end_repeat: {
        auto [head, before, left] = loops.back();
        loops.pop_back();
        V less = left ? B.CreateSub(left, B.getInt64(1)) : nullptr;
        V again = left ? B.CreateICmpSGT(less, B.getInt64(0)) : masked(b);
        if (!left && E.W > 1) again = B.CreateOrReduce(again);
        auto* last = B.GetInsertBlock();
        if (left) left->addIncoming(less, last);
        auto* after = llvm::BasicBlock::Create(B.getContext(), "repeated", last->getParent());
        B.CreateCondBr(again, head, after);
        B.SetInsertPoint(after);
        size_t first = n;
        while (k_.body[first - 1].op == Op::carry_next) --first;
        std::vector<Value> next;
        for (size_t c = first; c < n; ++c) next.push_back(at[k_.body[c].b]);
        for (size_t c = first; c < n; ++c) {
          Value& carried = at[k_.body[c].a];
          const Value& v = next[c - first];
          llvm::cast<llvm::PHINode>(carried.v)->addIncoming(v.v, last);
          if (v.im) llvm::cast<llvm::PHINode>(carried.im)->addIncoming(v.im, last);
        }
        for (size_t c = first; c < n; ++c) at[k_.body[c].a] = next[c - first];
        break;
      }
      case Op::divide:
        // Lanes that are none would divide zero by zero, and set a flag for it.
        if (p.mask && E.W > 1 && b->getType()->isFPOrFPVectorTy() && !E.is_all_true(p.mask))
          b = B.CreateSelect(p.mask, b, llvm::ConstantFP::get(b->getType(), 1));
        [[fallthrough]];
      default: r.v = primitive(E, i, i.a == ir::kNone ? i.type : k_.body[i.a].type, a, b, c);
    }
  }
  return at;
}

}  // namespace numbus::compile
