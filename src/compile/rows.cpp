// Rows of the table and other plain steps, as LLVM instructions.
#include "compile/rows.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "base/error.h"

namespace numbus::compile {

using llvm::Type;
using V = llvm::Value*;

namespace {

// Entries of a small table that lies in whole registers, two of which one permutation reads by the
// low bits of the index: far cheaper than a gather.
V permuted(Emit& E, V table, V index, int entries) {
  auto& B = E.B;
  Type* t = E.wide(llvm::cast<llvm::GlobalVariable>(table)->getValueType()->getArrayElementType());
  auto id = t->getScalarType()->isFloatTy() ? llvm::Intrinsic::x86_avx512_vpermi2var_ps_512
                                            : llvm::Intrinsic::x86_avx512_vpermi2var_pd_512;
  auto part = [&](int n) {
    return B.CreateAlignedLoad(t, B.CreateConstGEP1_64(t, table, n), llvm::Align(64));
  };
  V r = nullptr;
  for (int n = 0; n * E.W < entries; n += 2) {
    V v = B.CreateIntrinsic(id, {}, {part(n), index, part(n + 1)});
    V bit = llvm::ConstantInt::get(index->getType(), n * E.W);
    r = r ? B.CreateSelect(B.CreateICmpUGE(index, bit), v, r) : v;
  }
  return r;
}

V table(Emit& E, int id, DType type, V index) {
  auto& B = E.B;
  const auto& values = ir::const_table(id).values;
  llvm::Module* m = B.GetInsertBlock()->getModule();
  Type* scalar = E.scalar_type(type);
  std::string name = "table" + std::to_string(id) + (type == DType::F32 ? "f" : "d");
  llvm::GlobalVariable* g = m->getNamedGlobal(name);
  if (!g) {
    llvm::SmallVector<llvm::Constant*, 64> elements;
    for (double x : values) elements.push_back(llvm::ConstantFP::get(scalar, x));
    auto* t = llvm::ArrayType::get(scalar, values.size());
    g = new llvm::GlobalVariable(*m, t, true, llvm::GlobalValue::PrivateLinkage,
                                 llvm::ConstantArray::get(t, elements), name);
    g->setAlignment(llvm::Align(64));
  }
  unsigned size = scalar->getPrimitiveSizeInBits() / 8;
  if (E.register_bytes == 64 && E.W * size == 64 && values.size() % (2 * E.W) == 0 &&
      values.size() <= 32)
    return permuted(E, g, index, static_cast<int>(values.size()));
  V last = llvm::ConstantInt::get(index->getType(), values.size() - 1);
  // Disabled lanes may hold any index: keep every address inside the table.
  index = B.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, last);
  V ptrs = B.CreateGEP(scalar, g, index);
  if (E.W == 1) return B.CreateLoad(scalar, ptrs);
  return B.CreateMaskedGather(E.wide(scalar), ptrs, llvm::Align(size), E.all_true(),
                              llvm::Constant::getNullValue(E.wide(scalar)));
}

}  // namespace

V primitive(Emit& E, const ir::Inst& i, DType t, V a, V b, V c) {
  auto& B = E.B;
  bool fl = is_float(t), sg = is_signed(t);
  if (t == DType::BF16 && static_cast<int>(i.op) < kNumRows)  // its values are words, not numbers
    raise(ErrorKind::Runtime, "compile", "internal error",
          std::string(op_name(i.op)) + " of bfloat16", "an operation of float32");
  switch (i.op) {
#define PRIM(name, nin, rule, bool_as, llvm, expr, ...) \
  case Op::name: return llvm;
#define MATH(...)  // expanded before
#define INTERNAL(name, nin, rule, llvm, expr, dx) \
  case Op::name: return llvm;
#include "ops/ops.def"
#undef PRIM
#undef MATH
#undef INTERNAL
    case Op::select: return B.CreateSelect(a, b, c);
    case Op::cast: return E.cast(a, t, i.type, i.imm == 1);
    case Op::bits: return B.CreateBitCast(a, E.type(i.type));
    case Op::constant: return E.bits_constant(i.type, i.imm);
    case Op::table: return table(E, static_cast<int>(i.imm), i.type, a);
    case Op::if_result: return B.CreateSelect(c, b, a);
    default: return nullptr;
  }
}

Rare begin_rare(Emit& E, V any) {
  auto& B = E.B;
  llvm::Function* f = B.GetInsertBlock()->getParent();
  auto* slow = llvm::BasicBlock::Create(B.getContext(), "slow", f);
  Rare r{B.GetInsertBlock(), llvm::BasicBlock::Create(B.getContext(), "join", f)};
  B.CreateCondBr(any, slow, r.join);
  B.SetInsertPoint(slow);
  return r;
}

void end_rare(Emit& E, const std::vector<ir::Inst>& body, size_t end, Rare r,
              std::vector<Value>& at, bool choose) {
  auto& B = E.B;
  ir::Val begin = body[end].a;
  auto* slow_end = B.GetInsertBlock();
  auto uses = [&](auto&& each) {
    for (size_t u = end + 1; u < body.size(); ++u) {
      const ir::Inst& use = body[u];
      if (use.op == Op::if_result && use.b > begin && use.b < static_cast<ir::Val>(end) &&
          at[use.b].v)
        each(u, use);
    }
  };
  if (choose) {
    // The lanes are chosen in the slow part, so that the fast one does not wait for the mask.
    std::vector<V> chosen;
    uses([&](size_t, const ir::Inst& use) {
      chosen.push_back(B.CreateSelect(at[use.c].v, at[use.b].v, at[use.a].v));
    });
    B.CreateBr(r.join);
    B.SetInsertPoint(r.join);
    size_t n = 0;
    uses([&](size_t u, const ir::Inst& use) {
      auto* phi = B.CreatePHI(chosen[n]->getType(), 2);
      phi->addIncoming(at[use.a].v, r.from);
      phi->addIncoming(chosen[n++], slow_end);
      at[u].v = phi;
    });
    return;
  }
  B.CreateBr(r.join);
  B.SetInsertPoint(r.join);
  // Every value of the slow part that is used after it comes through if_result, several times where
  // both parts of a complex number are one value.
  std::vector<ir::Val> joined;
  uses([&](size_t, const ir::Inst& use) {
    if (std::find(joined.begin(), joined.end(), use.b) != joined.end()) return;
    joined.push_back(use.b);
    Type* type = at[use.b].v->getType();
    auto* phi = B.CreatePHI(type, 2);
    phi->addIncoming(llvm::PoisonValue::get(type), r.from);
    phi->addIncoming(at[use.b].v, slow_end);
    at[use.b].v = phi;
  });
}

}  // namespace numbus::compile
