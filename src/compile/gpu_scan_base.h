// What the loops of a scan on an NVIDIA GPU are written with: control flow over states, indices of
// a line and segment, exchange between threads.
#pragma once

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <utility>
#include <vector>

#include "compile/flow.h"
#include "compile/gpu_scan.h"
#include "compile/scan_body.h"

namespace numbus::compile {

class GpuScanBase {
 protected:
  using V = llvm::Value*;
  using State = ScanBody::State;

  GpuScanBase(llvm::Module& m, const GpuScan& g)
      : m_(m),
        b_(m.getContext()),
        g_(g),
        one_(b_, 1),
        many_(b_, g.vector),
        element_(one_, g.code),
        vector_(many_, g.code),
        total_(one_, g.between) {
    many_.vector_align = 16;
    std::vector<llvm::Type*> words(GpuScan::kWords, b_.getInt64Ty());
    f_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), words, false),
                                llvm::Function::ExternalLinkage, "k", m);
    auto* annotations = m.getOrInsertNamedMetadata("nvvm.annotations");
    auto annotate = [&](const char* what, int n) {
      annotations->addOperand(llvm::MDNode::get(
          b_.getContext(),
          {llvm::ValueAsMetadata::get(f_), llvm::MDString::get(b_.getContext(), what),
           llvm::ConstantAsMetadata::get(b_.getInt32(n))}));
    };
    annotate("kernel", 1);
    if (g.blocks) annotate("maxntidx", 32 * g.warps);
  }

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f_);
  }
  V i64(int64_t n) { return b_.getInt64(n); }
  V special(llvm::Intrinsic::ID id) {
    return b_.CreateZExt(b_.CreateIntrinsic(id, {}, {}), b_.getInt64Ty());
  }
  V word(int w) { return f_->getArg(w); }
  V pointer(V address) { return b_.CreateIntToPtr(address, b_.getPtrTy(1)); }
  V least(V x, V y) { return b_.CreateSelect(b_.CreateICmpSLT(x, y), x, y); }
  void barrier() { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  // Gives the first i that was not done.
  V loop(V from, V to, int64_t step, State& carried, const std::function<void(V)>& body) {
    return loop(from, to, i64(step), carried, body);
  }
  V loop(V from, V to, V step, State& carried, const std::function<void(V)>& body) {
    return counted_loop(b_, from, to, step, carried, body);
  }
  void branch(V condition, const std::function<void()>& yes) {
    compile::branch(b_, condition, yes);
  }
  State either(V condition, const std::function<State()>& yes, const std::function<State()>& no) {
    auto *then = block("then"), *other = block("else"), *after = block("after");
    b_.CreateCondBr(condition, then, other);
    auto side = [&](llvm::BasicBlock* at, const std::function<State()>& f) {
      b_.SetInsertPoint(at);
      State s = f();
      auto* end = b_.GetInsertBlock();
      b_.CreateBr(after);
      return std::pair{s, end};
    };
    auto [x, x_end] = side(then, yes);
    auto [y, y_end] = side(other, no);
    b_.SetInsertPoint(after);
    State r;
    for (size_t n = 0; n < x.size(); ++n) {
      auto* p = b_.CreatePHI(x[n]->getType(), 2);
      p->addIncoming(x[n], x_end);
      p->addIncoming(y[n], y_end);
      r.push_back(p);
    }
    return r;
  }

  // Where a line and a segment of it lie.
  void enter(V outer, V inner, V segment) {
    auto row = [&](int w) {
      V at = b_.CreateAdd(word(w), b_.CreateMul(outer, word(w + 1)));
      return pointer(b_.CreateAdd(at, b_.CreateMul(inner, word(w + 3))));
    };
    auto stride = [&](const ir::Kernel& k, int w) -> V {
      return k.args[0].inner == ir::Inner::Contiguous ? nullptr : word(w + 2);
    };
    in_ = row(GpuScan::kIn);
    out_ = row(GpuScan::kOut);
    in_stride_ = stride(g_.code.read, GpuScan::kIn);
    out_stride_ = stride(g_.code.write, GpuScan::kOut);
    V line = b_.CreateAdd(b_.CreateMul(outer, word(GpuScan::kInner)), inner);
    total_at_ = b_.CreateAdd(b_.CreateMul(line, word(GpuScan::kSegments)), segment);
    totals_row_ = pointer(word(GpuScan::kTotals));
    from_ = b_.CreateMul(segment, word(GpuScan::kSegment));
    to_ = least(word(GpuScan::kLength), b_.CreateAdd(from_, word(GpuScan::kSegment)));
  }
  State read(V element) { return element_.read(in_, in_stride_, element); }
  void write(const State& s, V element) { element_.write(s, out_, out_stride_, element); }
  State total_before() {
    V at = b_.CreateSub(total_at_, i64(1));
    return total_.read(totals_row_, nullptr, b_.CreateSelect(first_segment_, total_at_, at));
  }
  V segments() {
    return g_.totals ? b_.CreateSub(word(GpuScan::kSegments), i64(1)) : word(GpuScan::kSegments);
  }

  State shuffle(llvm::Intrinsic::ID id, const State& s, V by, int limit) {
    State r;
    for (V v : s) {
      llvm::Type* t = v->getType();
      unsigned bits = t->getPrimitiveSizeInBits();
      V whole = t->isIntegerTy() ? v : b_.CreateBitCast(v, b_.getIntNTy(bits));
      V moved = nullptr;
      for (unsigned at = 0; at < bits; at += 32) {
        V piece = b_.CreateZExtOrTrunc(at ? b_.CreateLShr(whole, at) : whole, b_.getInt32Ty());
        piece = b_.CreateIntrinsic(id, {}, {b_.getInt32(-1), piece, by, b_.getInt32(limit)});
        piece = b_.CreateZExtOrTrunc(piece, b_.getIntNTy(bits));
        moved = at ? b_.CreateOr(moved, b_.CreateShl(piece, at)) : piece;
      }
      r.push_back(t->isIntegerTy() ? moved : b_.CreateBitCast(moved, t));
    }
    return r;
  }
  State from_lane(const State& s, V lane) {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, s,
                   b_.CreateTrunc(lane, b_.getInt32Ty()), 31);
  }
  State from_below(const State& s, int distance) {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_up_i32, s, b_.getInt32(distance), 0);
  }
  // Shared memory: two sets of 32 states, 8 bytes a field.
  V shared(V index, int field) {
    if (!shared_) {
      auto* t = llvm::ArrayType::get(b_.getInt64Ty(), 64 * g_.code.fields());
      shared_ = new llvm::GlobalVariable(m_, t, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(t), "warps", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 3);
      shared_->setAlignment(llvm::Align(16));
    }
    return b_.CreateGEP(b_.getInt64Ty(), shared_, b_.CreateAdd(index, i64(64 * field)));
  }
  void share(V index, const State& s) {
    for (size_t f = 0; f < s.size(); ++f) {
      V v = s[f]->getType()->isIntegerTy(1) ? b_.CreateZExt(s[f], b_.getInt8Ty()) : s[f];
      b_.CreateStore(v, shared(index, static_cast<int>(f)));
    }
  }
  State shared_state(V index) {
    State s;
    bool is_bool = element_.type()->isIntegerTy(1);
    for (int f = 0; f < g_.code.fields(); ++f) {
      V v = b_.CreateLoad(is_bool ? b_.getInt8Ty() : element_.type(), shared(index, f));
      s.push_back(is_bool ? b_.CreateICmpNE(v, b_.getInt8(0)) : v);
    }
    return s;
  }

  llvm::Module& m_;
  llvm::IRBuilder<> b_;
  const GpuScan& g_;
  Emit one_, many_;
  ScanBody element_, vector_, total_;
  llvm::Function* f_;
  V tid_ = nullptr, block_x_ = nullptr, lane_ = nullptr, warp_ = nullptr;
  V in_ = nullptr, out_ = nullptr, in_stride_ = nullptr, out_stride_ = nullptr;
  V totals_row_ = nullptr, total_at_ = nullptr, from_ = nullptr, to_ = nullptr;
  V first_segment_ = nullptr;
  llvm::GlobalVariable* shared_ = nullptr;
};

}  // namespace numbus::compile
