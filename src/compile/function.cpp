// Bodies of functions: control flow, variables, memory, calls.
#include "compile/function.h"

#include <algorithm>

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "compile/row_calls.h"

namespace numbus::compile {

using V = llvm::Value*;

llvm::FunctionType* function_type(Emit& E, const ir::Function& f, unsigned words) {
  auto& B = E.B;
  if (f.generator) {  // the owner of its frame (context, parameters after the first)
    std::vector<llvm::Type*> params{B.getPtrTy()};
    for (size_t p = 1; p < f.params.size(); ++p) params.push_back(E.scalar_type(f.params[p]));
    return llvm::FunctionType::get(B.getInt64Ty(), params, false);
  }
  std::vector<llvm::Type*> params{B.getPtrTy()}, results{B.getInt32Ty()};
  params.insert(params.end(), words, B.getInt64Ty());
  for (DType t : f.params) params.push_back(E.scalar_type(t));
  for (DType t : f.results) results.push_back(E.scalar_type(t));
  return llvm::FunctionType::get(llvm::StructType::get(B.getContext(), results), params, false);
}

llvm::FunctionType* portion_type(llvm::IRBuilder<>& B) {
  return llvm::FunctionType::get(
      B.getInt32Ty(), {B.getPtrTy(), B.getPtrTy(), B.getInt64Ty(), B.getInt64Ty()}, false);
}

bool stays_apart(const ir::Module& m, const ir::Function& f) {
  constexpr size_t kLarge = 300, kManySteps = 6000;
  if (!f.library || m.kernel || f.portion || f.body.size() <= kLarge) return false;
  size_t all = 0;
  for (const ir::Function& g : m.functions) all += g.body.size();
  return all > kManySteps &&
         std::ranges::any_of(f.body, [](const ir::Inst& i) { return i.op == Op::loop; });
}

namespace {

// Functions of the library that make memory and are called from several places are expanded in none
// of them: beside the memory a call costs nothing, and an f-string adds texts many times.
std::vector<bool> called_only(const ir::Module& m) {
  constexpr size_t kLarge = 100, kPlaces = 3;
  std::vector<size_t> places(m.functions.size());
  for (const ir::Function& f : m.functions)
    for (const ir::Inst& i : f.body)
      if (i.op == Op::call) ++places[static_cast<size_t>(i.imm)];
  std::vector<bool> all(m.functions.size());
  for (size_t n = 0; n < all.size(); ++n) {
    const ir::Function& f = m.functions[n];
    all[n] = f.library && !m.kernel && !f.portion && places[n] >= kPlaces &&
             f.body.size() > kLarge && std::ranges::any_of(f.body, [](const ir::Inst& i) {
               return i.op == Op::intrinsic && ir::intrinsic_of(i) == ir::Intrinsic::allocate;
             });
  }
  return all;
}

}  // namespace

std::vector<llvm::Function*> declare_functions(Emit& E, const ir::Module& m, llvm::Module& to,
                                               unsigned words) {
  std::vector<llvm::Function*> all;
  const std::vector<bool> called = called_only(m);
  for (size_t n = 0; n < m.functions.size(); ++n) {
    auto* f = llvm::Function::Create(function_type(E, m.functions[n], words),
                                     llvm::Function::InternalLinkage, "f" + std::to_string(n), to);
    f->addFnAttr(llvm::Attribute::NoUnwind);
    const bool generator = m.functions[n].generator;
    if (!m.functions[n].recursive && n > 0 && !generator)
      f->addFnAttr(called[n] || stays_apart(m, m.functions[n]) ? llvm::Attribute::NoInline
                                                               : llvm::Attribute::AlwaysInline);
    if (generator) f->setPresplitCoroutine();
    // As a loop, recursion without end would have none; so it ends where the stack does.
    if (m.functions[n].recursive) f->addFnAttr("disable-tail-calls", "true");
    all.push_back(f);
  }
  return all;
}

V from_word(Emit& E, DType t, V word) {
  auto& B = E.B;
  if (t == DType::Bool) return B.CreateICmpNE(B.CreateTrunc(word, B.getInt8Ty()), B.getInt8(0));
  V bits = B.CreateTrunc(word, B.getIntNTy(8 * itemsize(t)));
  return is_float(t) ? B.CreateBitCast(bits, E.scalar_type(t)) : bits;
}

V to_word(Emit& E, DType t, V v) {
  auto& B = E.B;
  if (is_float(t)) v = B.CreateBitCast(v, B.getIntNTy(8 * itemsize(t)));
  return is_signed(t) ? B.CreateSExt(v, B.getInt64Ty()) : B.CreateZExt(v, B.getInt64Ty());
}

std::vector<V> arguments_of_words(Emit& E, const ir::Function& f, V first, V words) {
  auto& B = E.B;
  std::vector<V> args{first};
  for (size_t p = 0; p < f.params.size(); ++p) {
    V word = B.CreateLoad(B.getInt64Ty(), B.CreateConstGEP1_64(B.getInt64Ty(), words, p));
    args.push_back(from_word(E, f.params[p], word));
  }
  return args;
}

void set_contraction(llvm::IRBuilder<>& B, const ir::Inst& i, const ir::Module& m) {
  if (i.imm != 1 || (i.op != Op::add && i.op != Op::subtract && i.op != Op::multiply)) return;
  llvm::FastMathFlags flags;
  flags.setAllowContract(true);
  if (m.fastmath) flags.setFast();
  B.setFastMathFlags(flags);
}

llvm::AllocaInst* FunctionBody::local(llvm::Type* t) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  return at.CreateAlloca(t);
}

// After a jump nothing is reached until the next label: what stands there goes to a block of its
// own.
void FunctionBody::jump(llvm::BasicBlock* to) {
  B.CreateBr(to);
  B.SetInsertPoint(block("dead"));
}

// A marked loop runs eight iterations at a time, or all lanes at a time; one that rarely runs is
// left as it is, so that no time is spent on vectors for it. Of large functions of the library
// loops may become vectors, but are not unrolled.
void FunctionBody::set_unrolling(llvm::Instruction* back, int64_t mark_of_loop) {
  auto& c = B.getContext();
  std::vector<llvm::Metadata*> parts{nullptr};
  auto put = [&](const char* what, llvm::Metadata* value) {
    std::vector<llvm::Metadata*> both{llvm::MDString::get(c, what)};
    if (value) both.push_back(value);
    parts.push_back(llvm::MDNode::get(c, both));
  };
  auto number = [&](int n) { return llvm::ConstantAsMetadata::get(B.getInt32(n)); };
  if (mark_of_loop == ir::kUnrolled) {
    put("llvm.loop.unroll.count", number(8));
  } else if (mark_of_loop == ir::kLaneLoop) {
    constexpr int kWidth = 16;
    put("llvm.loop.vectorize.width", number(kWidth));
    put("llvm.loop.interleave.count", number(ir::kLanes / kWidth));
    put("llvm.loop.unroll.disable", nullptr);
  } else if (mark_of_loop == 0) {
    put("llvm.loop.unroll.runtime.disable", nullptr);
  } else {
    put("llvm.loop.unroll.disable", nullptr);
    put("llvm.loop.disable_nonforced", nullptr);
  }
  auto* mark = llvm::MDNode::getDistinct(c, parts);
  mark->replaceOperandWith(0, mark);
  back->setMetadata(llvm::LLVMContext::MD_loop, mark);
}

V FunctionBody::call_function(int64_t callee, std::vector<V> args) {
  for (unsigned k = first_parameter(); k-- > 0;)
    args.insert(args.begin(), k ? to_->getArg(k) : context());
  return B.CreateCall(functions_[callee], args);
}

void FunctionBody::emit(llvm::Function* to) {
  to_ = to;
  apart_ = stays_apart(m_, f_);
  entry_ = block("entry");
  auto* start = block("start");
  B.SetInsertPoint(start);
  at_.assign(f_.body.size(), {});
  open_.assign(f_.body.size(), {});
  rare_.assign(f_.body.size(), {});
  results_.clear();
  for (DType t : f_.results) results_.push_back(local(E.scalar_type(t)));
  begin();
  for (size_t n = 0; n < f_.body.size(); ++n) step(n);
  // After the last `ret` there is nothing to reach.
  B.CreateUnreachable();
  llvm::IRBuilder<>(entry_).CreateBr(start);
}

void FunctionBody::end(V status) {
  if (to_->getReturnType()->isIntegerTy()) {
    B.CreateRet(status);
    return;
  }
  V all = llvm::PoisonValue::get(to_->getReturnType());
  all = B.CreateInsertValue(all, status, 0);
  for (unsigned k = 0; k < results_.size(); ++k)
    all = B.CreateInsertValue(all, B.CreateLoad(E.scalar_type(f_.results[k]), results_[k]), k + 1);
  B.CreateRet(all);
}

void FunctionBody::step(size_t n) {
  const ir::Inst& i = f_.body[n];
  auto x = [&](ir::Val o) -> V { return o == ir::kNone ? nullptr : at_[o].v; };
  V a = x(i.a), b = x(i.b), c = x(i.c);
  Value& r = at_[n];
  switch (i.op) {
    case Op::param: r.v = parameter(static_cast<unsigned>(i.imm)); break;
    case Op::variable: {
      auto* slot = local(E.scalar_type(i.type));
      // Zero at first, wherever in a loop it is declared.
      llvm::IRBuilder<>(entry_).CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()),
                                            slot);
      r.v = slot;
      break;
    }
    case Op::get: r.v = B.CreateLoad(E.scalar_type(i.type), a); break;
    case Op::set: B.CreateStore(b, a); break;
    case Op::branch: {
      Open& o = open_[n];
      auto* then = block("then");
      o.otherwise = block("else");
      o.after = block("after");
      auto* jump = B.CreateCondBr(a, then, o.otherwise);
      if (i.imm == ir::kBounds || i.imm == ir::kRare)
        jump->setMetadata(llvm::LLVMContext::MD_prof,
                          llvm::MDBuilder(B.getContext()).createUnlikelyBranchWeights());
      B.SetInsertPoint(then);
      break;
    }
    case Op::branch_else:
      B.CreateBr(open_[i.a].after);
      B.SetInsertPoint(open_[i.a].otherwise);
      open_[i.a].otherwise = nullptr;
      break;
    case Op::end_branch: {
      Open& o = open_[i.a];
      B.CreateBr(o.after);
      if (o.otherwise) {
        B.SetInsertPoint(o.otherwise);
        B.CreateBr(o.after);
      }
      B.SetInsertPoint(o.after);
      break;
    }
    case Op::loop: {
      Open& o = open_[n];
      o.head = block("loop");
      o.next = block("next");
      o.after = block("done");
      B.CreateBr(o.head);
      B.SetInsertPoint(o.head);
      break;
    }
    case Op::loop_next:
      B.CreateBr(open_[i.a].next);
      B.SetInsertPoint(open_[i.a].next);
      break;
    case Op::end_loop: {
      Open& o = open_[i.a];
      auto* back = B.CreateBr(o.head);
      if (int64_t mark = f_.body[i.a].imm; mark || apart_) set_unrolling(back, mark);
      // A loop without a part of its own for continue: it goes to the head.
      if (o.next->empty() && o.next->use_empty() && o.next != B.GetInsertBlock())
        o.next->eraseFromParent();
      else if (!o.next->getTerminator())
        llvm::IRBuilder<>(o.next).CreateBr(o.head);
      B.SetInsertPoint(o.after);
      break;
    }
    case Op::break_loop: jump(open_[i.a].after); break;
    case Op::continue_loop: jump(open_[i.a].next); break;
    case Op::give: B.CreateStore(a, results_[i.imm]); break;
    case Op::ret:
      end(a);
      B.SetInsertPoint(block("dead"));
      break;
    case Op::read: {
      V at = B.CreateGEP(B.getInt8Ty(), pointer(a, static_cast<ir::Space>(i.imm)), b);
      r.v = B.CreateAlignedLoad(memory_type(i.type), at, llvm::Align(itemsize(i.type)));
      if (i.type == DType::Bool) r.v = B.CreateICmpNE(r.v, B.getInt8(0));
      break;
    }
    case Op::write: {
      V at = B.CreateGEP(B.getInt8Ty(), pointer(b, static_cast<ir::Space>(i.imm)), c);
      if (i.type == DType::Bool) a = B.CreateZExt(a, B.getInt8Ty());
      B.CreateAlignedStore(a, at, llvm::Align(itemsize(i.type)));
      break;
    }
    case Op::argument: arguments_.push_back(a); break;
    case Op::call: {
      r.im = call_function(i.imm, std::move(arguments_));  // all results
      arguments_.clear();
      r.v = B.CreateExtractValue(r.im, 0);
      break;
    }
    case Op::call_result:
      r.v = B.CreateExtractValue(at_[i.a].im, static_cast<unsigned>(i.imm) + 1);
      break;
    case Op::intrinsic:
      r.v = intrinsic(i, a, b, c, arguments_);
      arguments_.clear();
      break;
    case Op::real_part: r.v = a; break;
    case Op::imag_part: r.v = at_[i.a].im; break;
    case Op::make_complex: r = {a, b}; break;
    case Op::if_any: rare_[n] = begin_rare(E, a); break;
    case Op::end_if: end_rare(E, f_.body, n, rare_[i.a], at_); break;
    default: {
      llvm::IRBuilder<>::FastMathFlagGuard guard(B);
      set_contraction(B, i, m_);
      r.v = primitive(E, i, i.a == ir::kNone ? i.type : f_.body[i.a].type, a, b, c);
      if (!r.v) r.v = call_row(E, i, a, b);
    }
  }
}

}  // namespace numbus::compile
