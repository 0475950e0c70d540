// The loops around a kernel body for the host processor.
#include "compile/native.h"

#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>

#include "compile/body.h"
#include "compile/flow.h"

namespace numbus::compile {

llvm::Function* native_function(llvm::Module& m, const std::string& name, int vector_bytes) {
  auto* i64 = llvm::Type::getInt64Ty(m.getContext());
  auto* ptr = llvm::PointerType::getUnqual(m.getContext());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(m.getContext()),
                                       {ptr, i64, i64, i64, i64, ptr, i64}, false);
  auto* f = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, m);
  f->addFnAttr("prefer-vector-width", std::to_string(8 * vector_bytes));
  f->addFnAttr("min-legal-vector-width", std::to_string(8 * vector_bytes));
  f->addFnAttr(llvm::Attribute::NoUnwind);
  return f;
}

void prefetch_ahead(llvm::IRBuilder<>& b, llvm::Value* row, llvm::Value* element, int size,
                    int64_t count, int64_t ahead) {
  for (int64_t line = 0; line < count * size; line += 64) {
    auto* offset = b.CreateAdd(b.CreateMul(element, b.getInt64(size)), b.getInt64(ahead + line));
    auto* at = b.CreateGEP(b.getInt8Ty(), row, offset);
    b.CreateIntrinsic(llvm::Intrinsic::prefetch, {at->getType()},
                      {at, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
  }
}

namespace {

using V = llvm::Value*;

// Lanes so that the widest type of the body fills one vector register, or two in loops of
// functions, each iteration of which waits for the one before.
int pick_lanes(const ir::Kernel& k, int vector_bytes) {
  // Points of a vector that do not meet may be computed together: worth their comparison where the
  // steps are many.
  constexpr size_t kManySteps = 40;
  if (k.one_by_one && (k.boxes > 0 || k.body.size() < kManySteps)) return 1;
  int widest = 1;
  bool waits = false;
  for (const ir::Inst& i : k.body) {
    waits = waits || (i.op == Op::repeat && i.a == ir::kNone);
    if (i.op == Op::index || i.op == Op::in_box) continue;
    widest = std::max(widest, itemsize(real_of(i.type)));
  }
  const int lanes = (waits ? 2 : 1) * vector_bytes / widest;
  return std::min(lanes, k.acc == ir::Acc::Lanes ? ir::kLanes : vector_bytes);
}

class Native {
 public:
  Native(llvm::Module& m, const ir::Kernel& k, const std::string& name, int vector_bytes)
      : b_(m.getContext()),
        k_(k),
        e_(b_, pick_lanes(k, vector_bytes)),
        body_(e_, k),
        vector_bytes_(vector_bytes) {
    f_ = native_function(m, name, vector_bytes);
  }

  void build() {
    b_.SetInsertPoint(block("entry"));
    V row_begin = f_->getArg(1), row_end = f_->getArg(2);
    begin_ = f_->getArg(3);
    end_ = f_->getArg(4);
    for (int s = 0; s < static_cast<int>(k_.scalars.size()); ++s) p_.scalars.push_back(scalar(s));
    if (k_.checks) p_.report = b_.CreateIntToPtr(param(k_.param_report()), b_.getPtrTy());
    begin_tests();
    auto* head = block("row");
    auto* exit = block("exit");
    auto* entry = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(row_begin, row_end), head, exit);
    b_.SetInsertPoint(head);
    auto* row = b_.CreatePHI(b_.getInt64Ty(), 2);
    row->addIncoming(row_begin, entry);
    row_prologue(row);
    columns();
    V next = b_.CreateAdd(row, b_.getInt64(1));
    row->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, row_end), head, exit);
    b_.SetInsertPoint(exit);
    end_tests();
    // Streaming stores are not ordered by the atomics that say the work is done.
    if (k_.streaming) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    b_.CreateRetVoid();
    if (!k_.tests) return;
    llvm::DominatorTree dominators(*f_);
    llvm::PromoteMemToReg(
        {llvm::cast<llvm::AllocaInst>(p_.special[0]), llvm::cast<llvm::AllocaInst>(p_.special[1])},
        dominators);
  }

 private:
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f_);
  }
  void begin_tests() {
    if (!k_.tests) return;
    for (DType t : {DType::F32, DType::F64}) {
      V& at = p_.special[t == DType::F64];
      auto* type = e_.wide(e_.scalar_type(t));
      at = b_.CreateAlloca(type);  // becomes a register
      b_.CreateStore(llvm::Constant::getNullValue(type), at);
    }
  }
  void end_tests() {
    if (!k_.tests) return;
    V found = nullptr;
    for (V at : p_.special) {
      V sums = b_.CreateLoad(llvm::cast<llvm::AllocaInst>(at)->getAllocatedType(), at);
      V none = b_.CreateFCmpUNO(sums, sums);
      if (e_.W > 1) none = b_.CreateOrReduce(none);
      found = found ? b_.CreateOr(found, none) : none;
    }
    V word = b_.CreateIntToPtr(param(k_.param_special()), b_.getPtrTy());
    branch(b_, found, [&] {  // other threads may store the same
      b_.CreateAlignedStore(b_.getInt64(1), word, llvm::Align(8))
          ->setAtomic(llvm::AtomicOrdering::Monotonic);
    });
  }
  V param(int word) {
    V p = b_.CreateConstGEP1_64(b_.getInt64Ty(), f_->getArg(0), word);
    return b_.CreateLoad(b_.getInt64Ty(), p);
  }
  Value scalar(int s) {
    DType part = real_of(k_.scalars[s]);
    V at = b_.CreateConstGEP1_64(b_.getInt64Ty(), f_->getArg(0), k_.param_scalar(s));
    auto* t = part == DType::Bool ? b_.getInt8Ty() : e_.scalar_type(part);
    V v = b_.CreateLoad(t, at);
    if (part == DType::Bool) v = b_.CreateICmpNE(v, b_.getInt8(0));
    Value r{e_.splat(v)};
    if (is_complex(k_.scalars[s]))
      r.im =
          e_.splat(b_.CreateLoad(t, b_.CreateGEP(b_.getInt8Ty(), at, b_.getInt64(itemsize(part)))));
    return r;
  }

  // Index of the row in each outer dimension, row pointers, box membership of the row, fast column
  // range.
  void row_prologue(V row) {
    int outer = k_.rank - 1;
    p_.index.assign(outer, nullptr);
    V rest = row;
    for (int d = outer - 1; d >= 0; --d) {
      if (d == 0) {
        p_.index[0] = rest;
        break;
      }
      V extent = param(k_.param_shape(d));
      p_.index[d] = b_.CreateURem(rest, extent);
      rest = b_.CreateUDiv(rest, extent);
    }
    p_.rows.clear();
    p_.strides.clear();
    for (size_t a = 0; a < k_.args.size(); ++a) {
      int word = k_.param_arg(static_cast<int>(a));
      V ptr = b_.CreateIntToPtr(param(word), b_.getPtrTy());
      for (int d = 0; d < outer; ++d)
        ptr = b_.CreateGEP(b_.getInt8Ty(), ptr, b_.CreateMul(p_.index[d], param(word + 1 + d)));
      p_.rows.push_back(ptr);
      p_.strides.push_back(k_.args[a].inner == ir::Inner::Contiguous ? nullptr
                                                                     : param(word + 1 + outer));
    }
    // Uniform arguments that some unpredicated step loads are loaded once a row.
    p_.uniform.assign(k_.args.size(), {});
    for (const ir::Inst& i : k_.body) {
      if (i.op != Op::load || i.a != ir::kNone) continue;
      const ir::Arg& a = k_.args[i.imm];
      if (a.inner != ir::Inner::Uniform || a.written || p_.uniform[i.imm].v) continue;
      Emit one(b_, 1);
      Value s = Body(one, k_).load(a, p_.rows[i.imm], nullptr, b_.getInt64(0), nullptr);
      p_.uniform[i.imm] = {e_.splat(s.v), s.im ? e_.splat(s.im) : nullptr};
    }
    // Steps start where the lane number is a multiple of W: at `first_`, which may lie before
    // `begin`.
    V w1 = b_.getInt64(e_.W - 1), down = b_.getInt64(-e_.W);
    first_ = begin_;
    V fast_first = begin_;
    if (k_.acc == ir::Acc::Lanes) {
      V columns = param(k_.param_shape(outer));
      offset_ = b_.CreateMul(b_.CreateSub(row, f_->getArg(6)), columns);
      V skew = b_.CreateAnd(b_.CreateAdd(offset_, begin_), w1);
      first_ = b_.CreateSub(begin_, skew);
      fast_first = b_.CreateAdd(first_, b_.CreateAnd(b_.CreateAdd(skew, w1), down));
    }
    V whole = b_.CreateAnd(b_.CreateSub(end_, first_), down);
    fast_begin_ = fast_first;
    fast_end_ = b_.CreateAdd(first_, whole);
    V any = b_.CreateICmpSLT(fast_begin_, fast_end_);
    fast_begin_ = b_.CreateSelect(any, fast_begin_, first_);
    fast_end_ = b_.CreateSelect(any, fast_end_, first_);
    row_in_.clear();
    V all = nullptr, lo = fast_begin_, hi = fast_end_;
    for (int x = 0; x < k_.boxes; ++x) {
      V in = b_.getTrue();
      for (int d = 0; d < outer; ++d) {
        V low = param(k_.param_box(x, d)), high = param(k_.param_box(x, d) + 1);
        in = b_.CreateAnd(in, b_.CreateAnd(b_.CreateICmpSGE(p_.index[d], low),
                                           b_.CreateICmpSLT(p_.index[d], high)));
      }
      row_in_.push_back(in);
      all = all ? b_.CreateAnd(all, in) : in;
      lo = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lo, param(k_.param_box(x, outer)));
      hi = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi, param(k_.param_box(x, outer) + 1));
    }
    if (!all) return;
    // The range inside all boxes, shrunk to whole steps.
    V l = b_.CreateAdd(first_, b_.CreateAnd(b_.CreateAdd(b_.CreateSub(lo, first_), w1), down));
    V h = b_.CreateAdd(first_, b_.CreateAnd(b_.CreateSub(hi, first_), down));
    V some = b_.CreateAnd(all, b_.CreateICmpSLT(l, h));
    fast_begin_ = b_.CreateSelect(some, l, first_);
    fast_end_ = b_.CreateSelect(some, h, first_);
  }

  V load_state(DType t, V at) {
    auto* scalar = t == DType::Bool ? b_.getInt8Ty() : e_.scalar_type(t);
    V v = b_.CreateAlignedLoad(e_.wide(scalar), at, llvm::Align(itemsize(t)));
    return t == DType::Bool ? b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType())) : v;
  }
  void store_state(DType t, V v, V at) {
    if (t == DType::Bool) v = b_.CreateZExt(v, e_.wide(b_.getInt8Ty()));
    b_.CreateAlignedStore(v, at, llvm::Align(itemsize(t)));
  }

  // As steps(), with the state of all lanes in registers: the step's own lanes are in front, and
  // the vectors move up by one a step, so that the body is emitted once.
  template <class F>
  void steps_in_registers(V from, V to, const char* name, F&& emit) {
    int vectors = ir::kLanes / e_.W;
    size_t fields = k_.acc_fields.size();
    auto vectors_at = [&](V col, auto&& use) {
      for (int v = 0; v < vectors; ++v) {
        acc_pointers(b_.CreateAdd(col, b_.getInt64(static_cast<int64_t>(v) * e_.W)));
        for (size_t f = 0; f < fields; ++f) use(v * fields + f, k_.acc_fields[f], p_.acc_fields[f]);
      }
    };
    auto *head = block(name), *leave = block("leave"), *done = block("done"),
         *enter = block("enter");
    b_.CreateCondBr(b_.CreateICmpSLT(from, to), enter, done);
    b_.SetInsertPoint(enter);
    std::vector<V> before(vectors * fields);
    vectors_at(from, [&](size_t i, DType t, V at) { before[i] = load_state(t, at); });
    auto* entered = b_.GetInsertBlock();
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* col = b_.CreatePHI(b_.getInt64Ty(), 2);
    col->addIncoming(from, entered);
    std::vector<llvm::PHINode*> state;
    for (V v : before) {
      state.push_back(b_.CreatePHI(v->getType(), 2));
      state.back()->addIncoming(v, entered);
    }
    std::vector<V> front(state.begin(), state.begin() + fields);
    p_.col = col;
    p_.acc_values = &front;
    emit();
    p_.acc_values = nullptr;
    std::vector<V> after;
    for (size_t i = fields; i < state.size(); ++i) after.push_back(state[i]);
    after.insert(after.end(), front.begin(), front.end());
    V next = b_.CreateAdd(col, b_.getInt64(e_.W));
    auto* last = b_.GetInsertBlock();
    col->addIncoming(next, last);
    for (size_t i = 0; i < state.size(); ++i) state[i]->addIncoming(after[i], last);
    b_.CreateCondBr(b_.CreateICmpSLT(next, to), head, leave);
    b_.SetInsertPoint(leave);
    vectors_at(next, [&](size_t i, DType t, V at) { store_state(t, after[i], at); });
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }

  void acc_pointers(V col) {
    if (k_.acc == ir::Acc::None) return;
    V position = k_.acc == ir::Acc::Lanes ? b_.CreateAdd(offset_, col) : b_.CreateSub(col, begin_);
    int width = k_.acc == ir::Acc::Lanes ? ir::kLanes : ir::kColumns;
    if (k_.acc == ir::Acc::Lanes) position = b_.CreateAnd(position, b_.getInt64(ir::kLanes - 1));
    p_.acc_fields.clear();
    int64_t offset = 0;
    for (DType t : k_.acc_fields) {
      V base = b_.CreateGEP(b_.getInt8Ty(), f_->getArg(5), b_.getInt64(offset));
      p_.acc_fields.push_back(
          b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(position, b_.getInt64(itemsize(t)))));
      offset += static_cast<int64_t>(width) * itemsize(t);
    }
  }

  // A loop of whole steps over [from, to).
  template <class F>
  void steps(V from, V to, const char* name, F&& emit) {
    auto* head = block(name);
    auto* done = block("done");
    auto* before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(from, to), head, done);
    b_.SetInsertPoint(head);
    auto* col = b_.CreatePHI(b_.getInt64Ty(), 2);
    col->addIncoming(from, before);
    p_.col = col;
    acc_pointers(col);
    emit();
    V next = b_.CreateAdd(col, b_.getInt64(e_.W));
    col->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, to), head, done);
    b_.SetInsertPoint(done);
  }

  // What is read is asked for some pages' rows ahead: the processor's own prefetching stops at
  // every page, and keeps too few lines in flight for two cores to reach what the memory gives.
  void prefetch() {
    constexpr int kAhead = 4096;
    std::vector<char> loaded(k_.args.size(), 0);
    for (const ir::Inst& i : k_.body)
      if (i.op == Op::load) loaded[i.imm] = 1;
    for (size_t a = 0; a < k_.args.size(); ++a) {
      int step = e_.W * itemsize(k_.args[a].dtype);
      if (!loaded[a] || k_.args[a].inner != ir::Inner::Contiguous || step < 64) continue;
      prefetch_ahead(b_, p_.rows[a], p_.col, itemsize(k_.args[a].dtype), e_.W, kAhead);
    }
  }

  // Each row: guarded steps before, plain steps inside, guarded steps after; each body is emitted
  // once.
  void columns() {
    auto* segment = block("segment");
    auto* finish = block("finish");
    auto* before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpSLT(begin_, end_), segment, finish);
    b_.SetInsertPoint(segment);
    auto* from = b_.CreatePHI(b_.getInt64Ty(), 2);
    from->addIncoming(first_, before);
    V is_fast = b_.CreateAnd(b_.CreateICmpEQ(from, fast_begin_), b_.CreateICmpSLT(from, fast_end_));
    V guarded_end = b_.CreateSelect(b_.CreateICmpSLT(from, fast_begin_), fast_begin_, end_);
    V to = b_.CreateSelect(is_fast, fast_end_, guarded_end);
    auto* fast = block("fast");
    auto* guarded = block("guarded");
    auto* next = block("next");
    b_.CreateCondBr(is_fast, fast, guarded);
    b_.SetInsertPoint(fast);
    auto fast_body = [&] {
      p_.mask = nullptr;
      p_.inside = true;
      p_.streaming = k_.streaming;
      prefetch();
      if (k_.one_by_one && e_.W > 1)
        apart_or_in_order();
      else
        body_.emit(p_);
    };
    // The vectors of all lanes must leave room for the body.
    bool in_registers =
        k_.acc == ir::Acc::Lanes && k_.acc_fields.size() * (ir::kLanes / e_.W) <= 16;
    if (in_registers)
      steps_in_registers(from, to, "step", fast_body);
    else
      steps(from, to, "step", fast_body);
    b_.CreateBr(next);
    b_.SetInsertPoint(guarded);
    if (k_.one_by_one && e_.W > 1) {
      in_order(from, to);
    } else {
      guarded_steps(from, to);
    }
    b_.CreateBr(next);
    b_.SetInsertPoint(next);
    from->addIncoming(to, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(to, end_), segment, finish);
    b_.SetInsertPoint(finish);
  }

  // The lanes of the step whose columns are in [from, to), none unless `holds` (null: does). Lanes
  // are numbered by integers of which a register holds one for each: wider ones would be several
  // comparisons.
  V lanes_in(V from, V to, V holds) {
    auto* t = b_.getIntNTy(std::clamp(8 * vector_bytes_ / e_.W, 8, 64));
    auto lane = [&](V col) {
      V n = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(col, p_.col),
                                     b_.getInt64(0));
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, b_.getInt64(e_.W));
    };
    V end = lane(to);
    if (holds) end = b_.CreateSelect(holds, end, b_.getInt64(0));
    V numbers = b_.CreateTrunc(e_.iota(), e_.wide(t));
    V in = b_.CreateICmpULT(numbers, e_.splat(b_.CreateTrunc(end, t)));
    if (!from) return in;
    return b_.CreateAnd(in, b_.CreateICmpUGE(numbers, e_.splat(b_.CreateTrunc(lane(from), t))));
  }

  void guarded_steps(V from, V to) {
    steps(from, to, "guarded_step", [&] {
      p_.mask = lanes_in(k_.acc == ir::Acc::Lanes ? begin_ : nullptr, to, nullptr);
      p_.inside = false;
      p_.streaming = false;
      p_.boxes.clear();
      for (int x = 0; x < k_.boxes; ++x)
        p_.boxes.push_back(lanes_in(param(k_.param_box(x, k_.rank - 1)),
                                    param(k_.param_box(x, k_.rank - 1) + 1), row_in_[x]));
      body_.emit(p_);
    });
  }

  // Points [from, to) of a row, each after the one before.
  void in_order(V from, V to) {
    Point one = p_;
    auto first = [&](Value& v) {
      if (v.v) v.v = b_.CreateExtractElement(v.v, uint64_t{0});
      if (v.im) v.im = b_.CreateExtractElement(v.im, uint64_t{0});
    };
    std::for_each(one.scalars.begin(), one.scalars.end(), first);
    std::for_each(one.uniform.begin(), one.uniform.end(), first);
    one.mask = nullptr;
    one.inside = true;
    one.streaming = false;
    std::vector<V> nothing;
    counted_loop(b_, from, to, b_.getInt64(1), nothing, [&](V col) {
      one.col = col;
      Emit single(b_, 1);
      Body(single, k_).emit(one);
    });
  }

  // One step: as a vector where no two of its points reach the same memory.
  void apart_or_in_order() {
    const auto& scatter = *std::find_if(k_.body.begin(), k_.body.end(),
                                        [](const ir::Inst& i) { return i.op == Op::scatter; });
    const int size = itemsize(k_.args[scatter.imm].dtype);
    V stride = p_.strides[scatter.imm] ? p_.strides[scatter.imm] : b_.getInt64(size);
    V at =
        b_.CreateAdd(body_.emit_up_to(p_, scatter.c).v, b_.CreateMul(e_.iota(), e_.splat(stride)));
    // Each is compared with those 1 to W / 2 lanes further on, around the end.
    V meets = nullptr;
    for (int by = 1; by <= e_.W / 2; ++by) {
      llvm::SmallVector<int, 32> lanes;
      for (int lane = 0; lane < e_.W; ++lane) lanes.push_back((lane + by) % e_.W);
      V distance = b_.CreateAdd(b_.CreateSub(at, b_.CreateShuffleVector(at, lanes)),
                                e_.splat(b_.getInt64(size - 1)));
      V near = b_.CreateICmpULT(distance, e_.splat(b_.getInt64(2 * size - 1)));
      meets = meets ? b_.CreateOr(meets, near) : near;
    }
    V col = p_.col;
    branch(
        b_, b_.CreateOrReduce(meets), [&] { in_order(col, b_.CreateAdd(col, b_.getInt64(e_.W))); },
        [&] { body_.emit(p_); });
  }

  llvm::IRBuilder<> b_;
  const ir::Kernel& k_;
  Emit e_;
  Body body_;
  llvm::Function* f_ = nullptr;
  int vector_bytes_;
  Point p_;
  V begin_ = nullptr, end_ = nullptr, first_ = nullptr, offset_ = nullptr, fast_begin_ = nullptr,
    fast_end_ = nullptr;
  std::vector<V> row_in_;
};

}  // namespace

void build_native(llvm::Module& m, const ir::Kernel& k, const std::string& name, int vector_bytes) {
  Native(m, k, name, vector_bytes).build();
}

}  // namespace numbus::compile
