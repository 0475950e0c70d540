// The loops of a scan for the host processor: one element after the other, the state in registers.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <functional>

#include "compile/flow.h"
#include "compile/native.h"
#include "compile/scan_body.h"

namespace numbus::compile {
namespace {

using V = llvm::Value*;
using State = ScanBody::State;

class NativeScan {
 public:
  NativeScan(llvm::Module& m, const ScanCode& c, const std::string& name, int vector_bytes)
      : b_(m.getContext()),
        c_(c),
        e_(b_, 1),
        wide_(b_, std::max(2, vector_bytes /
                                  std::max(itemsize(c.type), itemsize(c.read.args[0].dtype)))),
        body_(e_, c),
        vectors_(wide_, c) {
    f_ = native_function(m, name, vector_bytes);
  }

  void build() {
    b_.SetInsertPoint(block("entry"));
    for (int w = 0; w < 6; ++w) words_.push_back(b_.CreateLoad(b_.getInt64Ty(), slot(0, w)));
    V line_end = f_->getArg(2), from = f_->getArg(3), to = f_->getArg(4);
    auto *entry = b_.GetInsertBlock(), *head = block("line"), *resume = block("resume"),
         *begin = block("begin"), *ready = block("ready"), *exit = block("exit");
    b_.CreateCondBr(
        b_.CreateAnd(b_.CreateICmpSLT(f_->getArg(1), line_end), b_.CreateICmpSLT(from, to)), head,
        exit);
    b_.SetInsertPoint(head);
    auto* line = b_.CreatePHI(b_.getInt64Ty(), 2);
    line->addIncoming(f_->getArg(1), entry);
    in_ = row(line, 0);
    out_ = row(line, 3);
    b_.CreateCondBr(b_.CreateICmpNE(f_->getArg(6), b_.getInt64(0)), resume, begin);
    b_.SetInsertPoint(resume);
    State held = load_state();
    auto* resume_end = b_.GetInsertBlock();
    b_.CreateBr(ready);
    b_.SetInsertPoint(begin);
    auto [first, second] = c_.stores || c_.in_order ? first_element(from) : in_vectors(from, to);
    auto* begin_end = b_.GetInsertBlock();
    b_.CreateBr(ready);
    b_.SetInsertPoint(ready);
    auto* start = b_.CreatePHI(b_.getInt64Ty(), 2);
    start->addIncoming(from, resume_end);
    start->addIncoming(second, begin_end);
    State state;
    for (size_t f = 0; f < held.size(); ++f) {
      auto* phi = b_.CreatePHI(body_.type(), 2);
      phi->addIncoming(held[f], resume_end);
      phi->addIncoming(first[f], begin_end);
      state.push_back(phi);
    }
    // Several elements an iteration: loop control must not stand between a sum and the next.
    V most = b_.CreateSub(to, b_.getInt64(kElementsAtOnce - 1));
    V rest = elements(start, most, kElementsAtOnce, state);
    elements(rest, to, 1, state);
    store_state(state);
    V next = b_.CreateAdd(line, b_.getInt64(1));
    line->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpSLT(next, line_end), head, exit);
    b_.SetInsertPoint(exit);
    // Streaming stores are not ordered by the atomics that say the work is done.
    if (streams()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
    b_.CreateRetVoid();
  }

 private:
  static constexpr int kElementsAtOnce = 8;

  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, f_);
  }
  V slot(int argument, int n) {
    return b_.CreateConstGEP1_64(b_.getInt64Ty(), f_->getArg(argument), n);
  }
  V row(V line, int word) {
    V at = b_.CreateAdd(words_[word], b_.CreateMul(line, words_[word + 1]));
    return b_.CreateIntToPtr(at, b_.getPtrTy());
  }
  V stride(int word) {
    const ir::Arg& a = word ? c_.write.args[0] : c_.read.args[0];
    return a.inner == ir::Inner::Contiguous ? nullptr : words_[word + 2];
  }
  State load_state() {
    State s;
    for (int f = 0; f < c_.fields(); ++f) {
      bool is_bool = body_.type()->isIntegerTy(1);
      V v = b_.CreateLoad(is_bool ? b_.getInt8Ty() : body_.type(), slot(5, f));
      s.push_back(is_bool ? b_.CreateICmpNE(v, b_.getInt8(0)) : v);
    }
    return s;
  }
  void store_state(const State& s) {
    for (size_t f = 0; f < s.size(); ++f) {
      V v = s[f]->getType()->isIntegerTy(1) ? b_.CreateZExt(s[f], b_.getInt8Ty()) : s[f];
      b_.CreateStore(v, slot(5, static_cast<int>(f)));
    }
  }

  bool streams() const { return c_.streaming && c_.stores && itemsize(c_.type) == 8; }
  void write(const State& s, V element) {
    if (!streams() || s.size() > 1) return body_.write(s, out_, stride(3), element);
    V at = b_.CreateGEP(b_.getInt8Ty(), out_, b_.CreateMul(element, b_.getInt64(8)));
    auto* store =
        b_.CreateAlignedStore(b_.CreateBitCast(s[0], b_.getInt64Ty()), at, llvm::Align(8));
    auto* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
    store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), one));
  }
  // The processor's own prefetching stops at every page.
  void prefetch(V element, int64_t count) {
    constexpr int kAhead = 2048;
    const ir::Arg& a = c_.read.args[0];
    if (a.inner != ir::Inner::Contiguous) return;
    prefetch_ahead(b_, in_, element, itemsize(a.dtype), count, kAhead);
  }

  std::pair<State, V> first_element(V from) {
    State first = body_.read(in_, stride(0), from);
    if (c_.stores) write(first, from);
    return {first, b_.CreateAdd(from, b_.getInt64(1))};
  }
  // The total of as many whole vectors as there are, and the index after them.
  std::pair<State, V> in_vectors(V from, V to) {
    constexpr int kVectors = 4;
    int64_t span = kVectors * wide_.W;
    auto *some = block("vectors"), *few = block("few"), *after = block("summed");
    V begin = b_.CreateAdd(from, b_.getInt64(span));
    b_.CreateCondBr(b_.CreateICmpSLE(begin, to), some, few);
    b_.SetInsertPoint(some);
    auto read = [&](V element) {
      State s;
      for (int n = 0; n < kVectors; ++n)
        for (V v : vectors_.read(in_, stride(0), b_.CreateAdd(element, b_.getInt64(n * wide_.W))))
          s.push_back(v);
      return s;
    };
    size_t fields = c_.fields();
    auto at = [&](const State& s, size_t n) {
      return State(s.begin() + n * fields, s.begin() + (n + 1) * fields);
    };
    State sums = read(from);
    V most = b_.CreateSub(to, b_.getInt64(span - 1));
    V rest = loop(begin, most, span, sums, [&](V element) {
      prefetch(element, span);
      State more = read(element), next;
      for (int n = 0; n < kVectors; ++n)
        for (V v : vectors_.combine(at(sums, n), at(more, n))) next.push_back(v);
      sums = next;
    });
    State vector = at(sums, 0), total;
    for (int n = 1; n < kVectors; ++n) vector = vectors_.combine(vector, at(sums, n));
    for (int lane = 0; lane < wide_.W; ++lane) {
      State one;
      for (V v : vector) one.push_back(b_.CreateExtractElement(v, static_cast<uint64_t>(lane)));
      total = lane ? body_.combine(total, one) : one;
    }
    auto* some_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(few);
    auto [first, second] = first_element(from);
    auto* few_end = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    auto merged = [&](V x, V y) {
      auto* p = b_.CreatePHI(x->getType(), 2);
      p->addIncoming(x, some_end);
      p->addIncoming(y, few_end);
      return p;
    };
    V next = merged(rest, second);
    for (size_t f = 0; f < total.size(); ++f) total[f] = merged(total[f], first[f]);
    return {total, next};
  }

  // Each iteration scans `turn` elements, the first one at index `from`, until fewer than that are
  // left before index `to`. The result is the index of the first element that was not scanned.
  V elements(V from, V to, int unrolled, State& state) {
    return loop(from, to, unrolled, state, [&](V element) {
      if (unrolled > 1) prefetch(element, unrolled);
      std::vector<State> read;
      for (int n = 0; n < unrolled; ++n)
        read.push_back(body_.read(in_, stride(0), b_.CreateAdd(element, b_.getInt64(n))));
      for (int n = 0; n < unrolled; ++n) {
        state = body_.combine(state, read[n]);
        if (c_.stores) write(state, b_.CreateAdd(element, b_.getInt64(n)));
      }
    });
  }

  // Gives the first i that was not done.
  V loop(V from, V to, int64_t step, State& carried, const std::function<void(V)>& body) {
    return counted_loop(b_, from, to, b_.getInt64(step), carried, body);
  }

  llvm::IRBuilder<> b_;
  const ScanCode& c_;
  Emit e_, wide_;
  ScanBody body_, vectors_;
  llvm::Function* f_ = nullptr;
  std::vector<V> words_;
  V in_ = nullptr, out_ = nullptr;
};

}  // namespace

void build_native_scan(llvm::Module& m, const ScanCode& c, const std::string& name,
                       int vector_bytes) {
  NativeScan(m, c, name, vector_bytes).build();
}

}  // namespace numbus::compile
