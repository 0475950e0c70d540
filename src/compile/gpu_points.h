// The body of a kernel for one point, a vector of points or rows of them, with the addresses, boxes
// and reduction states that it needs: what all loops around it on an NVIDIA GPU are made of.
#pragma once

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "compile/body.h"
#include "compile/flow.h"
#include "compile/gpu.h"
#include "compile/gpu_emit.h"
#include "compile/gpu_split.h"
#include "compile/gpu_state.h"
#include "compile/gpu_windows.h"

namespace numbus::compile {

class GpuPoints {
 protected:
  using V = llvm::Value*;

  GpuPoints(llvm::Module& m, const GpuKernel& g)
      : m_(m),
        b_(m.getContext()),
        g_(g),
        k_(*g.kernel),
        one_(b_, 1),
        many_(b_, g.vector),
        quick_(b_, g.vector),
        windows_(b_, g, one_, many_),
        split_(g.form == GpuForm::ReduceColumns ? std::nullopt : split_rare(k_)) {
    std::vector<llvm::Type*> words(g.words(), b_.getInt64Ty());
    f_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), words, false),
                                llvm::Function::ExternalLinkage, "k", m);
    auto* md = llvm::MDNode::get(b_.getContext(), {llvm::ValueAsMetadata::get(f_),
                                                   llvm::MDString::get(b_.getContext(), "kernel"),
                                                   llvm::ConstantAsMetadata::get(b_.getInt32(1))});
    auto* annotations = m.getOrInsertNamedMetadata("nvvm.annotations");
    annotations->addOperand(md);
    auto annotate = [&](const char* what, int n) {
      annotations->addOperand(llvm::MDNode::get(
          b_.getContext(),
          {llvm::ValueAsMetadata::get(f_), llvm::MDString::get(b_.getContext(), what),
           llvm::ConstantAsMetadata::get(b_.getInt32(n))}));
    };
    // Reductions of little arithmetic live off loads in flight: at most 64 registers keep four
    // blocks resident. Other kernels ran slower under any such bound (H200).
    if (g.form == GpuForm::ReduceAll && k_.body.size() <= 48) {
      int rows = std::max(1, g.strip);
      annotate("maxntidx", kGpuThreads);
      annotate("maxntidy", rows);
      annotate("minctasm", std::max(1, 4 / rows));
    }
    // Rows at once: three blocks (H200).
    if (g.form == GpuForm::Map && g.rows_each > 1 && !split_) {
      annotate("maxntidx", kGpuThreads);
      annotate("minctasm", 3);
    }
    // The rare way needs more registers than the quick one, which lives off warps to switch to.
    int widest = 1;
    for (const ir::Arg& a : k_.args) widest = std::max(widest, itemsize(real_of(a.dtype)));
    if (split_ && g.form != GpuForm::ReduceColumns &&
        !(g.form == GpuForm::ReduceAll && k_.body.size() <= 48)) {
      annotate("maxntidx", kGpuThreads);
      annotate("minctasm", g.vector * widest > 16 ? 3 : 4);
    }
    one_.constant_loads = g.form == GpuForm::ReduceColumns;
    many_.vector_align = quick_.vector_align = 16;
    many_.by_element = quick_.by_element = true;
  }

  // The entry of the kernel: where a thread stands, and its state.
  void enter() {
    entry_ = block("entry");
    b_.SetInsertPoint(entry_);
    tid_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {}));
    ntid_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, {}, {}));
    tid_y_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y, {}, {}));
    ntid_y_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y, {}, {}));
    block_x_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x, {}, {}));
    block_y_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_y, {}, {}));
    grid_x_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {}));
    grid_y_ = zext(b_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_y, {}, {}));
    allocate_state();
  }

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f_);
  }
  V zext(V v) { return b_.CreateZExt(v, b_.getInt64Ty()); }
  V word(int w) { return f_->getArg(w); }
  V pointer(V address) { return b_.CreateIntToPtr(address, b_.getPtrTy(1)); }
  void barrier() { b_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  // Gives the first i that was not done.
  V loop(V from, V to, V step, const std::function<void(V)>& body) {
    std::vector<V> none;
    return counted_loop(b_, from, to, step, none, body);
  }
  void branch(V condition, const std::function<void()>& yes,
              const std::function<void()>& no = nullptr) {
    compile::branch(b_, condition, yes, no);
  }

  // Quotient and remainder in 32 bits, which all index arithmetic of a launch fits (checked by the
  // host).
  std::pair<V, V> divide(V x, V y) {
    V a = b_.CreateTrunc(x, b_.getInt32Ty()), d = b_.CreateTrunc(y, b_.getInt32Ty());
    V q = b_.CreateUDiv(a, d);
    V r = b_.CreateSub(a, b_.CreateMul(q, d));
    return {zext(q), zext(r)};
  }

  // Between the rows of a base of shifted reads, by its number.
  std::function<V(int)> row_stride() {
    return [this](int base) -> V {
      return k_.rank > 1 ? word(k_.param_arg(base) + k_.rank - 1) : nullptr;
    };
  }
  int64_t size_of(int a) { return itemsize(k_.args[a].dtype); }
  // The first argument known to lie on the same row.
  int same_row(int a) {
    int s = 0;
    while (g_.addresses[s].base != g_.addresses[a].base ||
           g_.addresses[s].row != g_.addresses[a].row)
      ++s;
    return s;
  }
  // Row pointers and row index for `row`; scalars for `e`'s width.
  void at_row(Point& p, Emit& e, V row) {
    int outer = k_.rank - 1;
    p.index.assign(outer, nullptr);
    V rest = row;
    for (int d = outer - 1; d >= 0; --d) {
      if (d == 0) {
        p.index[0] = rest;
        break;
      }
      auto [q, r] = divide(rest, word(k_.param_shape(d)));
      p.index[d] = r;
      rest = q;
    }
    p.rows.clear();
    p.strides.clear();
    std::vector<V> offsets;
    for (int a = 0; a < static_cast<int>(k_.args.size()); ++a) {
      const GpuAddress& at = g_.addresses[a];
      int w = k_.param_arg(a), like = k_.param_arg(at.like);
      V offset = at.like < a ? offsets[at.like] : nullptr;
      if (!offset) {
        llvm::Type* const wide = b_.getInt64Ty();
        llvm::Type* const type = g_.narrow ? b_.getInt32Ty() : wide;
        offset = llvm::ConstantInt::get(type, 0);
        for (int d = 0; d < outer; ++d)
          offset = b_.CreateAdd(offset, b_.CreateMul(b_.CreateTrunc(p.index[d], type),
                                                     b_.CreateTrunc(word(w + 1 + d), type)));
        offset = b_.CreateSExt(offset, wide);
      }
      offsets.push_back(offset);
      int same = same_row(a);
      p.rows.push_back(
          same < a ? b_.CreateGEP(b_.getInt8Ty(), p.rows[same],
                                  b_.getInt64((at.col - g_.addresses[same].col) * size_of(a)))
                   : pointer(b_.CreateAdd(word(w), offset)));
      p.strides.push_back(k_.args[a].inner == ir::Inner::Contiguous ? nullptr
                                                                    : word(like + 1 + outer));
    }
    p.uniform.assign(k_.args.size(), {});
    if (k_.checks) p.report = pointer(word(k_.param_report()));
    p.scalars.clear();
    for (int s = 0; s < static_cast<int>(k_.scalars.size()); ++s) p.scalars.push_back(scalar(e, s));
  }

  Value scalar(Emit& e, int s) {
    DType t = k_.scalars[s], part = real_of(t);
    auto value = [&](V bits) -> V {
      if (part == DType::Bool)
        return b_.CreateICmpNE(b_.CreateAnd(bits, b_.getInt64(255)), b_.getInt64(0));
      V narrow = b_.CreateTrunc(bits, b_.getIntNTy(8 * itemsize(part)));
      return b_.CreateBitCast(narrow, one_.scalar_type(part));
    };
    V low = word(k_.param_scalar(s));
    Value r{e.splat(value(low))};
    if (t == DType::C64) r.im = e.splat(value(b_.CreateLShr(low, b_.getInt64(32))));
    if (t == DType::C128) r.im = e.splat(value(word(k_.param_scalar(s) + 1)));
    return r;
  }

  // Membership of point (row index, col) in each box, and whether columns [col, col + n) lie inside
  // all.
  void boxes_at(Point& p, V col) {
    p.boxes.clear();
    for (int x = 0; x < k_.boxes; ++x) p.boxes.push_back(in_box(p, x, col, col));
  }
  V in_box(const Point& p, int x, V first, V last) {
    V in = b_.getTrue();
    for (int d = 0; d < k_.rank; ++d) {
      V lo = word(k_.param_box(x, d)), hi = word(k_.param_box(x, d) + 1);
      V low = d == k_.rank - 1 ? first : p.index[d], high = d == k_.rank - 1 ? last : p.index[d];
      in = b_.CreateAnd(in, b_.CreateAnd(b_.CreateICmpSGE(low, lo), b_.CreateICmpSLT(high, hi)));
    }
    return in;
  }

  // Everything about a row that its points share, computed where the row is entered.
  struct Row {
    Point one, many;
  };
  Row enter_row(V row) {
    Row r;
    at_row(r.one, one_, row);
    r.many = r.one;
    r.many.scalars.clear();
    for (int s = 0; s < static_cast<int>(k_.scalars.size()); ++s)
      r.many.scalars.push_back(scalar(many_, s));
    return r;
  }

  // The body for points [col, col + vector) of a row, lane by lane where the whole vector does not
  // fit.
  void points(const Row& row, V col, V end) {
    V last = b_.CreateAdd(col, b_.getInt64(g_.vector - 1));
    V whole = b_.CreateICmpSLT(last, end);
    for (int x = 0; x < k_.boxes; ++x) whole = b_.CreateAnd(whole, in_box(row.one, x, col, last));
    auto lanes = [&] {
      if (fields_.empty()) {
        V limit = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end,
                                           b_.CreateAdd(col, b_.getInt64(g_.vector)));
        loop(col, limit, b_.getInt64(1), [&](V c) { one_point(row, c, 0); });
        return;
      }
      for (int v = 0; v < g_.vector; ++v) {
        V c = b_.CreateAdd(col, b_.getInt64(v));
        branch(b_.CreateICmpSLT(c, end), [&] { one_point(row, c, v); });
      }
    };
    if (g_.vector == 1 && k_.boxes == 0) {
      branch(whole, [&] { one_point(row, col, 0); });
      return;
    }
    branch(whole, [&] { whole_vector(row, col); }, lanes);
  }

  // The row `n` rows below.
  Row row_below(const Row& top, int n) {
    Row r = top;
    if (n == 0) return r;
    for (Point* p : {&r.one, &r.many}) {
      for (size_t a = 0; a < k_.args.size(); ++a) {
        int same = same_row(static_cast<int>(a));
        const GpuAddress& at = g_.addresses[a];
        if (same < static_cast<int>(a)) {
          p->rows[a] = b_.CreateGEP(
              b_.getInt8Ty(), p->rows[same],
              b_.getInt64((at.col - g_.addresses[same].col) * size_of(static_cast<int>(a))));
          continue;
        }
        V stride = word(k_.param_arg(at.like) + k_.rank - 1);
        p->rows[a] = b_.CreateGEP(b_.getInt8Ty(), p->rows[a], b_.CreateMul(stride, b_.getInt64(n)));
      }
      p->index[k_.rank - 2] = b_.CreateAdd(p->index[k_.rank - 2], b_.getInt64(n));
    }
    return r;
  }

  // The body for a vector of points inside the domain and its boxes.
  void whole_vector(const Row& row, V col) {
    GpuWindows::Elements window;
    whole_vector(row, col, row, window, 0);
  }
  // `below` rows below `top`, from which the window's elements are counted.
  void whole_vector(const Row& row, V col, const Row& top, GpuWindows::Elements& window,
                    int below) {
    Point p = row.many;
    p.col = col;
    p.inside = true;
    p.acc_fields = fields_;
    windows_.use(p, window, top.one.rows, row_stride(), col, below);
    if (!split_) {
      if (counted_.empty())
        Body(many_, k_).emit(p);
      else
        emit_begun(p);
      return;
    }
    std::vector<V> held(split_->quick.acc_fields.size());
    p.acc_values = &held;
    quick_.good = nullptr;
    Body(quick_, split_->quick).emit(p);
    V rare = held.back();
    if (g_.vector > 1) {
      rare = b_.CreateExtractElement(held.back(), uint64_t{0});
      for (uint64_t n = 1; n < static_cast<uint64_t>(g_.vector); ++n)
        rare = b_.CreateOr(rare, b_.CreateExtractElement(held.back(), n));
    }
    if (quick_.good) rare = b_.CreateOr(rare, b_.CreateNot(quick_.good));
    held.pop_back();
    // Seldom taken: one point at a time keeps the registers of both ways apart.
    auto *slow = block("slow"), *lane = block("lane"), *join = block("join");
    auto* before = b_.GetInsertBlock();
    llvm::MDBuilder weights(b_.getContext());
    b_.CreateCondBr(rare, slow, join, weights.createBranchWeights(1, 4096));
    b_.SetInsertPoint(slow);
    b_.CreateBr(lane);
    b_.SetInsertPoint(lane);
    auto* i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(b_.getInt64(0), slow);
    size_t own = split_->own_fields;
    std::vector<llvm::PHINode*> found;
    for (size_t f = own; f < held.size(); ++f) {
      auto* phi = b_.CreatePHI(held[f]->getType(), 2);
      phi->addIncoming(llvm::PoisonValue::get(held[f]->getType()), slow);
      found.push_back(phi);
    }
    Point one = row.one;
    one.col = b_.CreateAdd(col, i);
    one.inside = true;
    std::vector<V> single(held.size());
    one.acc_values = &single;
    Body(one_, split_->whole).emit(one);
    V next = b_.CreateAdd(i, b_.getInt64(1));
    auto* last = b_.GetInsertBlock();
    i->addIncoming(next, last);
    std::vector<V> all(held.size());
    for (size_t f = own; f < held.size(); ++f) {
      V v = single[f];
      if (g_.vector > 1) {
        v = llvm::PoisonValue::get(held[f]->getType());
        for (int n = 0; n < g_.vector; ++n) {
          V at = b_.getInt64(n);
          V old = b_.CreateExtractElement(found[f - own], at);
          v = b_.CreateInsertElement(v, b_.CreateSelect(b_.CreateICmpEQ(i, at), single[f], old),
                                     at);
        }
      }
      found[f - own]->addIncoming(v, last);
      all[f] = v;
    }
    b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt64(g_.vector)), lane, join);
    b_.SetInsertPoint(join);
    for (size_t f = own; f < held.size(); ++f) {
      auto* phi = b_.CreatePHI(held[f]->getType(), 2);
      phi->addIncoming(held[f], before);
      phi->addIncoming(all[f], last);
      held[f] = phi;
    }
    for (size_t f = 0; f < own; ++f) held[f] = load_fields(f);
    Body(many_, split_->finish).emit(p);
    for (size_t f = 0; f < own; ++f) store_fields(f, held[f]);
  }
  // The fields that count every point; none if some point is left out.
  std::vector<char> counts() {
    std::vector<char> all(k_.acc_fields.size(), 0);
    for (const GpuReduce& r : g_.reduces)
      if (r.kind == Reduction::Var) all[r.first_field + 3] = 1;
    for (const ir::Inst& i : k_.body)
      if (i.op == Op::acc_store && all[i.imm] && i.b != ir::kNone) return {};
    return std::count(all.begin(), all.end(), 1) ? all : std::vector<char>{};
  }
  // The body in lanes that have seen a point: their counts are left to set_counts.
  void emit_begun(Point& p) {
    std::vector<V> held;
    for (size_t f = 0; f < fields_.size(); ++f)
      held.push_back(counted_[f] ? llvm::ConstantFP::get(many_.type(k_.acc_fields[f]), 1)
                                 : load_fields(f));
    p.acc_values = &held;
    Body(many_, k_).emit(p);
    for (size_t f = 0; f < fields_.size(); ++f)
      if (!counted_[f]) store_fields(f, held[f]);
  }
  void set_counts(V n) {
    for (size_t f = 0; f < fields_.size(); ++f) {
      if (!counted_[f]) continue;
      V v = b_.CreateSIToFP(n, one_.scalar_type(k_.acc_fields[f]));
      for (int lane = 0; lane < g_.vector; ++lane) b_.CreateStore(v, lane_field(f, lane));
    }
  }

  // A field of all lanes.
  V load_fields(size_t f) {
    DType t = k_.acc_fields[f];
    V v = b_.CreateAlignedLoad(many_.wide(t == DType::Bool ? b_.getInt8Ty() : many_.scalar_type(t)),
                               fields_[f], llvm::Align(itemsize(t)));
    return t == DType::Bool ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
  }
  void store_fields(size_t f, V v) {
    DType t = k_.acc_fields[f];
    if (t == DType::Bool) v = b_.CreateZExt(v, many_.wide(b_.getInt8Ty()));
    b_.CreateAlignedStore(v, fields_[f], llvm::Align(itemsize(t)));
  }

  void one_point(const Row& row, V col, int lane) {
    Point p = row.one;
    p.col = col;
    boxes_at(p, col);
    for (size_t f = 0; f < fields_.size(); ++f) p.acc_fields.push_back(lane_field(f, lane));
    Body(one_, k_).emit(p);
  }

  // A variable with a first value.
  V slot(V first) {
    llvm::IRBuilder<> at(entry_, entry_->begin());
    V a = at.CreateAlloca(first->getType());
    b_.CreateStore(first, a);
    return a;
  }

  void allocate_state() {
    for (DType t : k_.acc_fields) {
      llvm::Type* scalar = t == DType::Bool ? b_.getInt8Ty() : one_.scalar_type(t);
      auto* a = b_.CreateAlloca(llvm::ArrayType::get(scalar, g_.vector));
      a->setAlignment(llvm::Align(16));
      fields_.push_back(a);
    }
  }
  V lane_field(size_t f, int lane) {
    return b_.CreateConstGEP1_64(b_.getInt8Ty(), fields_[f], lane * itemsize(k_.acc_fields[f]));
  }
  void set_state(const GpuReduce& r, int lane, const State& s) {
    for (int f = 0; f < r.fields; ++f) {
      V v = s[f];
      if (v->getType()->isIntegerTy(1)) v = b_.CreateZExt(v, b_.getInt8Ty());
      b_.CreateStore(v, lane_field(r.first_field + f, lane));
    }
  }
  State get_state(const GpuReduce& r, int lane) {
    State s;
    auto types = reduction_fields(r.kind, r.in);
    for (int f = 0; f < r.fields; ++f)
      s.push_back(load_field(types[f], lane_field(r.first_field + f, lane)));
    return s;
  }
  V load_field(DType t, V at, bool fresh = false) {
    auto* v = b_.CreateLoad(t == DType::Bool ? b_.getInt8Ty() : one_.scalar_type(t), at);
    v->setVolatile(fresh);
    return t == DType::Bool ? b_.CreateICmpNE(v, b_.getInt8(0)) : static_cast<V>(v);
  }
  void store_field(V v, V at) {
    if (v->getType()->isIntegerTy(1)) v = b_.CreateZExt(v, b_.getInt8Ty());
    b_.CreateStore(v, at);
  }
  void reset_state() {
    for (const GpuReduce& r : g_.reduces)
      for (int v = 0; v < g_.vector; ++v) set_state(r, v, identity(one_, r));
  }

  llvm::Module& m_;
  llvm::IRBuilder<> b_;
  const GpuKernel& g_;
  const ir::Kernel& k_;
  GpuEmit one_, many_;
  QuickEmit quick_;
  GpuWindows windows_;
  std::optional<Split> split_;
  llvm::Function* f_;
  llvm::BasicBlock* entry_ = nullptr;
  V tid_, ntid_, tid_y_, ntid_y_, block_x_, block_y_, grid_x_, grid_y_;
  std::vector<V> fields_;
  std::vector<char> counted_;  // per field: not carried through the steps at hand
};

}  // namespace numbus::compile
