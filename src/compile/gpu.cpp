// Loops around a kernel body for an NVIDIA GPU: one thread per few consecutive points, reductions
// in one launch.
#include "compile/gpu.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "compile/body.h"
#include "compile/flow.h"
#include "compile/gpu_emit.h"
#include "compile/gpu_split.h"
#include "compile/gpu_state.h"
#include "compile/gpu_windows.h"

namespace numbus::compile {

std::string GpuKernel::key() const {
  std::string s = kernel->key();
  auto put = [&](const auto& v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(form);
  put(vector);
  put(rows_each);
  put(strip);
  for (const GpuPlace& p : places) {
    put(p.like);
    put(p.base);
    put(p.row);
    put(p.col);
  }
  for (const GpuReduce& r : reduces) {
    put(r.kind);
    put(r.in);
    put(r.out);
    put(r.first_field);
  }
  return s;
}

int gpu_reduce_vector(const GpuKernel& k) {
  // Only what rounds has an order to keep; the planner gives a kernel one width of such.
  int widest = 4, rounding = 0;
  for (const GpuReduce& r : k.reduces) {
    int size = itemsize(real_of(r.in));
    widest = std::max(widest, size);
    if (is_inexact(r.in) && (r.kind == kSum || r.kind == kProd || r.kind == kVar))
      rounding = std::max(4, size);
  }
  return 16 / (rounding ? rounding : widest);
}

namespace {

using V = llvm::Value*;

class Gpu {
 public:
  Gpu(llvm::Module& m, const GpuKernel& g)
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
    many_.vector_align = quick_.vector_align = 16;
    many_.by_element = quick_.by_element = true;
  }

  void build() {
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
    if (g_.form == GpuForm::Map)
      map();
    else if (g_.form == GpuForm::ReduceColumns)
      columns();
    else if (g_.strip)
      strips();
    else
      places();
    b_.CreateRetVoid();
  }

 private:
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
    while (g_.places[s].base != g_.places[a].base || g_.places[s].row != g_.places[a].row) ++s;
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
      const GpuPlace& at = g_.places[a];
      int w = k_.param_arg(a), like = k_.param_arg(at.like);
      V offset = at.like < a ? offsets[at.like] : nullptr;
      if (!offset) {
        offset = b_.getInt64(0);
        for (int d = 0; d < outer; ++d)
          offset = b_.CreateAdd(offset, b_.CreateMul(p.index[d], word(w + 1 + d)));
      }
      offsets.push_back(offset);
      int same = same_row(a);
      p.rows.push_back(same < a
                           ? b_.CreateGEP(b_.getInt8Ty(), p.rows[same],
                                          b_.getInt64((at.col - g_.places[same].col) * size_of(a)))
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
        const GpuPlace& at = g_.places[a];
        if (same < static_cast<int>(a)) {
          p->rows[a] = b_.CreateGEP(
              b_.getInt8Ty(), p->rows[same],
              b_.getInt64((at.col - g_.places[same].col) * size_of(static_cast<int>(a))));
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
      if (r.kind == kVar) all[r.first_field + 3] = 1;
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

  void map() {
    V rows = word(g_.word_rows()), cols = word(g_.word_points()), n = b_.getInt64(g_.vector);
    V row0 = b_.CreateAdd(b_.CreateMul(block_y_, ntid_y_), tid_y_),
      row_step = b_.CreateMul(grid_y_, ntid_y_);
    V col0 = b_.CreateMul(b_.CreateAdd(b_.CreateMul(block_x_, ntid_), tid_), n),
      col_step = b_.CreateMul(b_.CreateMul(grid_x_, ntid_), n);
    if (g_.rows_each > 1) {
      V each = b_.getInt64(g_.rows_each);
      V full = b_.CreateSub(rows, b_.getInt64(g_.rows_each - 1));
      V rest = loop(b_.CreateMul(row0, each), full, b_.CreateMul(row_step, each),
                    [&](V row) { strip(enter_row(row), col0, cols, col_step); });
      row0 = rest;
      row_step = b_.getInt64(1);
    }
    loop(row0, rows, row_step, [&](V row) {
      Row r = enter_row(row);
      if (k_.boxes > 0) {
        loop(col0, cols, col_step, [&](V col) { points(r, col, cols); });
        return;
      }
      V whole = b_.CreateSub(cols, b_.getInt64(g_.vector - 1));
      V rest = loop(col0, whole, col_step, [&](V col) { whole_vector(r, col); });
      if (g_.vector > 1) loop(rest, cols, b_.getInt64(1), [&](V col) { one_point(r, col, 0); });
    });
  }

  // Several rows at once: what neighbouring rows read of one base is loaded once.
  void strip(const Row& top, V col0, V cols, V col_step) {
    V whole = b_.CreateSub(cols, b_.getInt64(g_.vector - 1));
    V rest = loop(col0, whole, col_step, [&](V col) {
      GpuWindows::Elements window;
      for (int n = 0; n < g_.rows_each; ++n)
        windows_.fill(window, top.one.rows, row_stride(), col, n);
      // No branch between the rows, so that all their reads are under way at once.
      many_.defer = !split_ && windows_.only_shifted();
      many_.good = nullptr;
      for (int n = 0; n < g_.rows_each; ++n) whole_vector(row_below(top, n), col, top, window, n);
      many_.defer = false;
      if (!many_.good) return;
      branch(b_.CreateNot(many_.good), [&] {
        loop(b_.getInt64(0), b_.getInt64(g_.rows_each), b_.getInt64(1), [&](V n) {
          Row at = enter_row(b_.CreateAdd(top.one.index[0], n));
          loop(b_.getInt64(0), b_.getInt64(g_.vector), b_.getInt64(1),
               [&](V v) { one_point(at, b_.CreateAdd(col, v), 0); });
        });
      });
    });
    loop(rest, cols, b_.getInt64(1), [&](V col) {
      loop(b_.getInt64(0), b_.getInt64(g_.rows_each), b_.getInt64(1),
           [&](V n) { one_point(enter_row(b_.CreateAdd(top.one.index[0], n)), col, 0); });
    });
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
    auto types = state_types(r);
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

  // Shared memory: 8 bytes per field and thread; a strip's rows lie one behind the other.
  V shared(size_t field, V thread) {
    int threads = kGpuThreads * std::max(1, g_.strip);
    if (!shared_) {
      auto* t = llvm::ArrayType::get(b_.getInt64Ty(),
                                     std::max<size_t>(1, k_.acc_fields.size()) * threads);
      shared_ = new llvm::GlobalVariable(m_, t, false, llvm::GlobalValue::InternalLinkage,
                                         llvm::UndefValue::get(t), "state", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 3);
      shared_->setAlignment(llvm::Align(16));
    }
    if (g_.strip) thread = b_.CreateAdd(thread, b_.CreateMul(tid_y_, b_.getInt64(kGpuThreads)));
    V i = b_.CreateAdd(b_.getInt64(static_cast<int64_t>(field) * threads), thread);
    return b_.CreateGEP(b_.getInt64Ty(), shared_, i);
  }
  void share(const GpuReduce& r, V thread, const State& s) {
    for (int f = 0; f < r.fields; ++f) store_field(s[f], shared(r.first_field + f, thread));
  }
  State shared_state(const GpuReduce& r, V thread) {
    State s;
    auto types = state_types(r);
    for (int f = 0; f < r.fields; ++f)
      s.push_back(load_field(types[f], shared(r.first_field + f, thread)));
    return s;
  }

  // Merges the threads' states (lane 0 of each) into thread 0's shared slot, pairwise.
  void combine_block() {
    for (const GpuReduce& r : g_.reduces) {
      State s = get_state(r, 0);
      for (int v = 1; v < g_.vector; ++v) s = merge(one_, r, s, get_state(r, v));
      share(r, tid_, s);
    }
    barrier();
    for (int half = kGpuThreads / 2; half >= 1; half /= 2) {
      branch(b_.CreateICmpSLT(tid_, b_.getInt64(half)), [&] {
        for (const GpuReduce& r : g_.reduces)
          share(r, tid_,
                merge(one_, r, shared_state(r, tid_),
                      shared_state(r, b_.CreateAdd(tid_, b_.getInt64(half)))));
      });
      barrier();
    }
  }

  void store_result(int n, V result, V col, const State& state) {
    const GpuReduce& r = g_.reduces[n];
    int w = g_.word_reduce(n);
    V address = word(w), row = b_.CreateMul(result, word(g_.word_sequential()));
    for (int d = k_.rank - 2; d >= 0; --d) {
      V index = row;
      if (d > 0) std::tie(row, index) = divide(row, word(k_.param_shape(d)));
      address = b_.CreateAdd(address, b_.CreateMul(index, word(w + 1 + d)));
    }
    if (col) address = b_.CreateAdd(address, b_.CreateMul(col, word(w + k_.rank)));
    V ddof = b_.CreateBitCast(word(w + 1 + k_.rank), b_.getDoubleTy());
    State out = finish(one_, r, state, ddof);
    V p = pointer(address);
    store_field(out[0], p);
    if (out.size() > 1)
      store_field(out[1], b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(itemsize(real_of(r.out)))));
  }

  // Reductions over whole rows of places: results along the grid's y, blocks of one result along x.
  void places() {
    V results = word(g_.word_rows()), count = word(g_.word_points()),
      cols = word(k_.param_shape(k_.rank - 1));
    V n = b_.getInt64(g_.vector);
    V first = b_.CreateMul(b_.CreateAdd(b_.CreateMul(block_x_, b_.getInt64(kGpuThreads)), tid_), n);
    V step = b_.CreateMul(grid_x_, b_.getInt64(kGpuThreads * g_.vector));
    loop(block_y_, results, grid_y_, [&](V result) {
      reset_state();
      V base = b_.CreateMul(result, word(g_.word_sequential()));
      // Several steps at a time where nothing can branch: their loads are in flight together.
      V start = first;
      Row only = k_.rank == 1 ? enter_row(b_.getInt64(0)) : Row{};
      auto counted = split_ ? std::vector<char>{} : counts();
      int turns = k_.body.size() > 48 ? 1 : k_.acc_fields.size() * g_.vector <= 4 ? 4 : 2;
      if (k_.rank == 1 && k_.boxes == 0 && !counted.empty()) {
        start = steady(only, first, step, count, counted);
      } else if (k_.rank == 1 && k_.boxes == 0) {
        V far =
            b_.CreateAdd(b_.CreateMul(step, b_.getInt64(turns - 1)), b_.getInt64(g_.vector - 1));
        V limit = b_.CreateSub(count, far);
        V stride = b_.CreateMul(step, b_.getInt64(turns));
        start = loop(first, limit, stride, [&](V place) {
          for (int t = 0; t < turns; ++t)
            whole_vector(only, b_.CreateAdd(place, b_.CreateMul(step, b_.getInt64(t))));
        });
      }
      V row_at = nullptr, col_at = nullptr, rows_on = nullptr, cols_on = nullptr;
      if (k_.rank > 1) {
        std::tie(rows_on, cols_on) = divide(step, cols);
        auto [row, col] = divide(first, cols);
        row_at = slot(row), col_at = slot(col);
      }
      loop(start, count, step, [&](V place) {
        if (k_.rank == 1) {
          points(only, place, count);
          return;
        }
        // The place's row and column, and already those of the next turn.
        V row = b_.CreateLoad(b_.getInt64Ty(), row_at),
          col = b_.CreateLoad(b_.getInt64Ty(), col_at);
        V next = b_.CreateAdd(col, cols_on), over = b_.CreateICmpSGE(next, cols);
        b_.CreateStore(b_.CreateSelect(over, b_.CreateSub(next, cols), next), col_at);
        b_.CreateStore(b_.CreateAdd(b_.CreateAdd(row, rows_on), zext(over)), row_at);
        V same_row = b_.CreateICmpSLE(b_.CreateAdd(col, n), cols);
        V at = b_.CreateAdd(base, row);
        branch(
            same_row, [&, r = at, c = col] { points(enter_row(r), c, cols); },
            [&] {
              for (int v = 0; v < g_.vector; ++v) {
                V here = b_.CreateAdd(place, b_.getInt64(v));
                branch(b_.CreateICmpSLT(here, count), [&] {
                  auto [r, c] = divide(here, cols);
                  one_point(enter_row(b_.CreateAdd(base, r)), c, v);
                });
              }
            });
      });
      combine_block();
      if (g_.form == GpuForm::ReduceRows) {
        branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)), [&] {
          for (size_t r = 0; r < g_.reduces.size(); ++r)
            store_result(static_cast<int>(r), result, nullptr, shared_state(g_.reduces[r], tid_));
        });
        barrier();
      } else {
        across_blocks();
      }
    });
  }

  struct Partials {
    V counter, slots;
  };
  Partials partials() {
    V at = word(g_.word_partials());
    return {pointer(at), pointer(b_.CreateAdd(at, b_.getInt64(16)))};
  }
  V partial(const Partials& p, V block, size_t field) {
    V i = b_.CreateAdd(b_.CreateMul(block, b_.getInt64(static_cast<int64_t>(fields_.size()))),
                       b_.getInt64(static_cast<int64_t>(field)));
    return b_.CreateGEP(b_.getInt64Ty(), p.slots, i);
  }
  // Leaves thread 0's shared state as that of a block.
  void leave(const Partials& p, V block) {
    for (const GpuReduce& r : g_.reduces) {
      State s = shared_state(r, tid_);
      for (int f = 0; f < r.fields; ++f) store_field(s[f], partial(p, block, r.first_field + f));
    }
  }

  // Whole vectors of one row in a body that counts every point: the first point of a lane apart
  // from those that need not ask whether they are, the reads of some steps ahead of the arithmetic
  // of others. Gives the first place not done.
  V steady(const Row& row, V first, V step, V count, const std::vector<char>& counted) {
    int turns = k_.body.size() > 48 ? 1 : k_.acc_fields.size() <= 4 ? 4 : 2;
    V far = b_.CreateAdd(b_.CreateMul(step, b_.getInt64(turns - 1)), b_.getInt64(g_.vector - 1));
    V limit = b_.CreateSub(count, far), stride = b_.CreateMul(step, b_.getInt64(turns));
    std::vector<int> read;
    for (const ir::Inst& i : k_.body) {
      bool plain = i.op == Op::load && i.a == ir::kNone && !is_complex(i.type);
      if (plain && std::count(read.begin(), read.end(), i.imm) == 0)
        read.push_back(static_cast<int>(i.imm));
    }
    if (read.size() > 1) read.clear();  // registers would not hold what is ahead
    auto at = [&](V place, int t) {
      return b_.CreateAdd(place, b_.CreateMul(step, b_.getInt64(t)));
    };
    auto fetch = [&](V place) {
      std::vector<V> all;
      for (int t = 0; t < turns; ++t)
        for (int a : read)
          all.push_back(
              Body(many_, k_)
                  .load(k_.args[a], row.many.rows[a], row.many.strides[a], at(place, t), nullptr)
                  .v);
      return all;
    };
    V done = slot(first);
    branch(b_.CreateICmpSLT(first, limit), [&] {
      whole_vector(row, first);
      counted_ = counted;
      V from = b_.CreateAdd(first, step);
      auto ahead = fetch(b_.CreateSelect(b_.CreateICmpSLT(from, limit), from, first));
      V end = counted_loop(b_, from, limit, stride, ahead, [&](V place) {
        auto here = ahead;
        V next = b_.CreateAdd(place, stride);
        ahead = fetch(b_.CreateSelect(b_.CreateICmpSLT(next, limit), next, place));
        for (int t = 0; t < turns; ++t) {
          Row known = row;
          for (size_t n = 0; n < read.size(); ++n)
            known.many.uniform[read[n]].v = here[t * read.size() + n];
          whole_vector(known, at(place, t));
        }
      });
      set_counts(b_.CreateUDiv(b_.CreateSub(end, first), step));
      counted_.clear();
      b_.CreateStore(end, done);
    });
    return b_.CreateLoad(b_.getInt64Ty(), done);
  }

  // Each block leaves its state; the last one to finish merges them in block order. The counter
  // returns to zero.
  void across_blocks() {
    Partials p = partials();
    branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)), [&] { leave(p, block_x_); });
    finish_blocks(p, grid_x_);
  }
  void finish_blocks(const Partials& p, V states) {
    auto* flag =
        new llvm::GlobalVariable(m_, b_.getInt32Ty(), false, llvm::GlobalValue::InternalLinkage,
                                 llvm::UndefValue::get(b_.getInt32Ty()), "is_last", nullptr,
                                 llvm::GlobalValue::NotThreadLocal, 3);
    V first = b_.CreateICmpEQ(tid_, b_.getInt64(0));
    if (g_.strip > 1) {
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      barrier();
      first = b_.CreateICmpEQ(b_.CreateOr(tid_, tid_y_), b_.getInt64(0));
    }
    branch(first, [&] {
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      V old = b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, p.counter, b_.getInt32(1),
                                 llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
      V last = b_.CreateICmpEQ(zext(old), b_.CreateSub(grid_x_, b_.getInt64(1)));
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_membar_gl, {}, {});
      b_.CreateStore(b_.CreateZExt(last, b_.getInt32Ty()), flag);
    });
    barrier();
    V last = b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), flag), b_.getInt32(0));
    branch(last, [&] {
      reset_state();
      loop(tid_, states, b_.getInt64(kGpuThreads), [&](V other) {
        for (const GpuReduce& r : g_.reduces) {
          State s;
          auto types = state_types(r);
          for (int f = 0; f < r.fields; ++f)
            s.push_back(load_field(types[f], partial(p, other, r.first_field + f), true));
          set_state(r, 0, merge(one_, r, get_state(r, 0), s));
        }
      });
      combine_block();
      branch(first, [&] {
        for (size_t r = 0; r < g_.reduces.size(); ++r)
          store_result(static_cast<int>(r), b_.getInt64(0), nullptr,
                       shared_state(g_.reduces[r], tid_));
        b_.CreateStore(b_.getInt32(0), p.counter);
      });
    });
  }

  // A vector not wholly inside the boxes, all its reads before its first store.
  void edge(const Row& row, V col) {
    std::vector<std::vector<V>> in(k_.boxes);  // by box and lane
    Point p = row.many;
    p.col = col;
    for (int x = 0; x < k_.boxes; ++x) {
      V all = llvm::PoisonValue::get(many_.wide(b_.getInt1Ty()));
      for (int v = 0; v < g_.vector; ++v) {
        V c = b_.CreateAdd(col, b_.getInt64(v));
        in[x].push_back(in_box(row.one, x, c, c));
        all = b_.CreateInsertElement(all, in[x][v], v);
      }
      p.boxes.push_back(all);
    }
    GpuWindows::Elements window;
    windows_.fill_enabled(
        window, row.one.rows, row_stride(), col, [&](int x, int v) { return in[x][v]; },
        partials().slots);
    windows_.use(p, window, row.one.rows, row_stride(), col, 0);
    std::vector<V> held;
    for (size_t f = 0; f < fields_.size(); ++f) held.push_back(load_fields(f));
    p.acc_values = &held;
    Body(many_, k_).emit(p);
    for (size_t f = 0; f < fields_.size(); ++f) store_fields(f, held[f]);
  }

  // One result, from rows whose neighbours are read: a block does the work of `strip` blocks of
  // places(), those that lie below one another. So the order of the sum is the same, and what rows
  // share is fetched once. Rows are whole blocks long (the host sees to it).
  void strips() {
    V rows = word(g_.word_sequential()), cols = word(k_.param_shape(1));
    V each = b_.getInt64(g_.strip), width = b_.getInt64(kGpuThreads * g_.vector);
    V across = divide(cols, width).first;
    auto [group, part] = divide(block_x_, across);
    V col = b_.CreateAdd(b_.CreateMul(part, width), b_.CreateMul(tid_, b_.getInt64(g_.vector)));
    V last = b_.CreateAdd(col, b_.getInt64(g_.vector - 1));
    V step = divide(b_.CreateMul(grid_x_, each), across).first;
    reset_state();
    loop(b_.CreateAdd(b_.CreateMul(group, each), tid_y_), rows, step, [&](V row) {
      Row at = enter_row(row);
      V whole = b_.getTrue();
      for (int x = 0; x < k_.boxes; ++x) whole = b_.CreateAnd(whole, in_box(at.one, x, col, last));
      // A warp goes one way: two would wait for memory one after the other.
      whole = b_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync, {}, {b_.getInt32(-1), whole});
      branch(whole, [&] { whole_vector(at, col); }, [&] { edge(at, col); });
    });
    combine_block();
    Partials p = partials();
    V first = b_.CreateAdd(b_.CreateMul(group, b_.CreateMul(across, each)), part);
    branch(b_.CreateICmpEQ(tid_, b_.getInt64(0)),
           [&] { leave(p, b_.CreateAdd(first, b_.CreateMul(across, tid_y_))); });
    finish_blocks(p, b_.CreateMul(grid_x_, each));
  }

  // The innermost dimension is kept: x threads along it, y threads share the rows of a result.
  void columns() {
    V results = word(g_.word_rows()), rows = word(g_.word_sequential()),
      cols = word(k_.param_shape(k_.rank - 1));
    V col0 = b_.CreateAdd(b_.CreateMul(block_x_, ntid_), tid_);
    V thread = b_.CreateAdd(b_.CreateMul(tid_y_, ntid_), tid_);
    V width = b_.CreateMul(grid_x_, ntid_);
    V rounds = b_.CreateUDiv(b_.CreateAdd(cols, b_.CreateSub(width, b_.getInt64(1))), width);
    loop(block_y_, results, grid_y_, [&](V result) {
      loop(b_.getInt64(0), rounds, b_.getInt64(1), [&](V round) {
        V col = b_.CreateAdd(col0, b_.CreateMul(round, width));
        V inside = b_.CreateICmpSLT(col, cols);
        reset_state();
        V base = b_.CreateMul(result, rows);
        V limit = b_.CreateSelect(inside, rows, b_.getInt64(0));
        loop(tid_y_, limit, ntid_y_,
             [&](V row) { one_point(enter_row(b_.CreateAdd(base, row)), col, 0); });
        for (const GpuReduce& r : g_.reduces) share(r, thread, get_state(r, 0));
        barrier();
        branch(b_.CreateAnd(inside, b_.CreateICmpEQ(tid_y_, b_.getInt64(0))), [&] {
          for (size_t n = 0; n < g_.reduces.size(); ++n) {
            const GpuReduce& r = g_.reduces[n];
            share(r, tid_, shared_state(r, tid_));
            loop(b_.getInt64(1), ntid_y_, b_.getInt64(1), [&](V y) {
              V other = b_.CreateAdd(b_.CreateMul(y, ntid_), tid_);
              share(r, tid_, merge(one_, r, shared_state(r, tid_), shared_state(r, other)));
            });
            store_result(static_cast<int>(n), result, col, shared_state(r, tid_));
          }
        });
        barrier();
      });
    });
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
  llvm::GlobalVariable* shared_ = nullptr;
};

}  // namespace

std::string build_ptx(const GpuKernel& g, int sm, int ptx) {
  return emit_ptx(sm, ptx, [&](llvm::Module& m) { Gpu(m, g).build(); });
}

}  // namespace numbus::compile
