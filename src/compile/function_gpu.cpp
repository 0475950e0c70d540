// Kernels that users write, as PTX.
#include <llvm/IR/ConstantFold.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "base/error.h"
#include "compile/atomics.h"
#include "compile/compiler.h"
#include "compile/flow.h"
#include "compile/function.h"
#include "compile/gpu.h"
#include "compile/gpu_emit.h"
#include "compile/gpu_stack.h"
#include "compile/leave.h"
#include "compile/polls.h"

namespace numbus::compile {
namespace {

using V = llvm::Value*;
using ir::Intrinsic;
namespace I = llvm::Intrinsic;

constexpr unsigned kGlobal = 1, kSharedSpace = 3;
// Up to so many bits are compared by votes; beyond, by the instruction for whole words.
constexpr int64_t kVotedBits = 8;

class GpuBody : public FunctionBody {
 public:
  GpuBody(Emit& e, const ir::Module& m, const ir::Function& f,
          const std::vector<llvm::Function*>& functions, bool notes = true)
      : FunctionBody(e, m, f, functions), recursive_(has_recursion(m)), notes_(notes) {}

 protected:
  unsigned first_parameter() const override { return recursive_ ? 1 + kStackWords : 1; }
  // A call that leads back to this function looks first whether the stack has room for it; where it
  // has not, the error is noted, and the call's status says so.
  V call_function(int64_t callee, std::vector<V> args) override {
    if (!recursive_ || !leads_back(m_, m_.functions[callee], f_))
      return FunctionBody::call_function(callee, std::move(args));
    auto *deep = block("too_deep"), *on = block("call"), *after = block("called");
    V low = to_->getArg(1), stop = to_->getArg(2);
    B.CreateCondBr(B.CreateICmpULT(stack_pointer(B), low), deep, on, unlikely());
    B.SetInsertPoint(deep);
    note(B.getInt32(kTooDeep), B.getInt64(0), B.getInt64(0));
    auto* noted = B.GetInsertBlock();
    B.CreateBr(after);
    B.SetInsertPoint(on);
    if (!has_grid_barrier(m_)) poll_by_clock(B, stop);
    V all = FunctionBody::call_function(callee, std::move(args));
    auto* called = B.GetInsertBlock();
    B.CreateBr(after);
    B.SetInsertPoint(after);
    auto* either = B.CreatePHI(all->getType(), 2);
    either->addIncoming(all, called);
    llvm::Constant* failed = llvm::Constant::getNullValue(all->getType());
    either->addIncoming(llvm::ConstantFoldInsertValueInstruction(failed, B.getInt32(1), {0}),
                        noted);
    return either;
  }
  llvm::MDNode* unlikely() { return llvm::MDBuilder(B.getContext()).createUnlikelyBranchWeights(); }
  unsigned address_space(ir::Space s) const override {
    return s == ir::Space::Global ? kGlobal : s == ir::Space::Shared ? kSharedSpace : 0;
  }
  V call(I::ID id, const std::vector<V>& args = {}) { return B.CreateIntrinsic(id, {}, args); }
  V assembly(const char* text, const char* constraints, llvm::Type* result,
             const std::vector<V>& args, bool effects = false) {
    std::vector<llvm::Type*> types;
    for (V v : args) types.push_back(v->getType());
    auto* type = llvm::FunctionType::get(result, types, false);
    return B.CreateCall(llvm::InlineAsm::get(type, text, constraints, effects), args);
  }
  // A 32-bit word of every lane's value at a time.
  V shuffle(I::ID id, V mask, V v, V lane, V clamp) {
    auto* t = v->getType();
    unsigned bits = t->getPrimitiveSizeInBits();
    if (bits == 32) {
      V word = B.CreateBitCast(v, B.getInt32Ty());
      return B.CreateBitCast(call(id, {mask, word, lane, clamp}), t);
    }
    V both = B.CreateBitCast(v, llvm::FixedVectorType::get(B.getInt32Ty(), 2));
    V r = llvm::PoisonValue::get(both->getType());
    for (uint64_t k = 0; k < 2; ++k)
      r = B.CreateInsertElement(r, call(id, {mask, B.CreateExtractElement(both, k), lane, clamp}),
                                k);
    return B.CreateBitCast(r, t);
  }
  // The lanes whose low bits are those of this one, bit by bit: a vote takes four instructions,
  // written so that each bit is tested once.
  V match_by_votes(V mask, V value, int64_t bits) {
    V same = mask;
    for (int64_t k = 0; k < bits; ++k) {
      std::string text =
          "{ .reg .pred p; .reg .b32 t; and.b32 t, $1, " + std::to_string(1 << k) +
          "; setp.ne.u32 p, t, 0; vote.sync.ballot.b32 $0, p, $2; @!p not.b32 $0, $0; }";
      V those = assembly(text.c_str(), "=r,r,r", B.getInt32Ty(), {value, mask}, true);
      llvm::cast<llvm::CallInst>(those)->addFnAttr(llvm::Attribute::Convergent);
      same = B.CreateAnd(same, those);
    }
    return same;
  }
  llvm::GlobalVariable* memory(const std::string& name, llvm::Type* t, unsigned space,
                               llvm::Constant* initial, bool external = false) {
    auto* m = to_->getParent();
    if (auto* known = m->getNamedGlobal(name)) return known;
    auto* g = new llvm::GlobalVariable(
        *m, t, false,
        external ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, initial,
        name, nullptr, llvm::GlobalValue::NotThreadLocal, space);
    g->setAlignment(llvm::Align(16));
    return g;
  }
  // Every block of the grid waits here; a cooperative launch has them all resident.
  void grid_barrier() {
    auto* i32 = B.getInt32Ty();
    auto* state = memory("grid_state", llvm::ArrayType::get(i32, 2), kGlobal,
                         llvm::ConstantAggregateZero::get(llvm::ArrayType::get(i32, 2)));
    V generation = B.CreateConstGEP1_64(i32, state, 1);
    auto sreg = [&](I::ID id) { return call(id); };
    call(I::nvvm_barrier0);
    V tid =
        B.CreateOr(B.CreateOr(sreg(I::nvvm_read_ptx_sreg_tid_x), sreg(I::nvvm_read_ptx_sreg_tid_y)),
                   sreg(I::nvvm_read_ptx_sreg_tid_z));
    branch(B, B.CreateICmpEQ(tid, B.getInt32(0)), [&] {
      V blocks = B.CreateMul(
          B.CreateMul(sreg(I::nvvm_read_ptx_sreg_nctaid_x), sreg(I::nvvm_read_ptx_sreg_nctaid_y)),
          sreg(I::nvvm_read_ptx_sreg_nctaid_z));
      auto now = [&] {
        auto* l = B.CreateAlignedLoad(i32, generation, llvm::Align(4), true);
        return l;
      };
      V before = now();
      call(I::nvvm_membar_gl);
      V slot = B.CreateAtomicRMW(llvm::AtomicRMWInst::Add, state, B.getInt32(1), llvm::Align(4),
                                 llvm::AtomicOrdering::Monotonic);
      branch(
          B, B.CreateICmpEQ(slot, B.CreateSub(blocks, B.getInt32(1))),
          [&] {
            B.CreateAlignedStore(B.getInt32(0), state, llvm::Align(4), true);
            call(I::nvvm_membar_gl);
            B.CreateAtomicRMW(llvm::AtomicRMWInst::Add, generation, B.getInt32(1), llvm::Align(4),
                              llvm::AtomicOrdering::Monotonic);
          },
          [&] {
            auto *spin = block("spin"), *done = block("arrived");
            B.CreateBr(spin);
            B.SetInsertPoint(spin);
            B.CreateCondBr(B.CreateICmpEQ(now(), before), spin, done);
            B.SetInsertPoint(done);
          });
      call(I::nvvm_membar_gl);
    });
    call(I::nvvm_barrier0);
  }

  // The record lies in the host's memory; the first error of a launch claims it.
  void note(V site, V first, V second) {
    if (!notes_) return;
    auto word = [&](int w) { return context_word(w); };
    V claimed =
        B.CreateAtomicCmpXchg(word(kClaimed), B.getInt64(0), B.getInt64(1), llvm::MaybeAlign(8),
                              llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    branch(B, B.CreateExtractValue(claimed, 1), [&] {
      B.CreateStore(B.CreateSExt(site, B.getInt64Ty()), word(kSite));
      B.CreateStore(first, word(kFirst));
      B.CreateStore(second, word(kSecond));
      I::ID registers[] = {I::nvvm_read_ptx_sreg_tid_x,   I::nvvm_read_ptx_sreg_tid_y,
                           I::nvvm_read_ptx_sreg_tid_z,   I::nvvm_read_ptx_sreg_ctaid_x,
                           I::nvvm_read_ptx_sreg_ctaid_y, I::nvvm_read_ptx_sreg_ctaid_z};
      for (int d = 0; d < 6; ++d)
        B.CreateStore(B.CreateZExt(call(registers[d]), B.getInt64Ty()), word(Context::kThread + d));
      call(I::nvvm_membar_sys);
    });
  }

  // The function may hold barriers, so that calls stay in their branches.
  V external(const ir::Inst& i, const std::vector<V>& arguments) {
    std::vector<llvm::Type*> types;
    for (V v : arguments) types.push_back(v->getType());
    std::string name = m_.externals[static_cast<size_t>(ir::number_of(i))];
    const bool nothing = name.starts_with(ir::kWithoutResult);
    if (nothing) name.erase(0, std::string_view(ir::kWithoutResult).size());
    llvm::Type* result = E.scalar_type(i.type);
    auto* type = llvm::FunctionType::get(nothing ? B.getVoidTy() : result, types, false);
    auto* r = B.CreateCall(type, to_->getParent()->getOrInsertFunction(name, type).getCallee(),
                           arguments);
    r->addFnAttr(llvm::Attribute::NoUnwind);
    r->addFnAttr(llvm::Attribute::Convergent);
    return nothing ? static_cast<V>(llvm::Constant::getNullValue(result)) : r;
  }

  // Calls with the same operands become one (the intrinsic reads no memory).
  V product_in_tf32(const std::vector<V>& given, int64_t which) {
    constexpr size_t kFactors = 6;  // the others are added to
    std::vector<V> args(given);
    for (size_t k = 0; k < kFactors; ++k) args[k] = B.CreateBitCast(args[k], B.getInt32Ty());
    return B.CreateExtractValue(call(I::nvvm_mma_m16n8k8_row_col_tf32, args),
                                static_cast<unsigned>(which));
  }

  V intrinsic(const ir::Inst& i, V a, V b, V c, const std::vector<V>& arguments) override {
    Intrinsic which = ir::intrinsic_of(i);
    V nothing = B.getInt32(0), all = B.getInt32(31);
    switch (which) {
      case Intrinsic::tid_x: return call(I::nvvm_read_ptx_sreg_tid_x);
      case Intrinsic::tid_y: return call(I::nvvm_read_ptx_sreg_tid_y);
      case Intrinsic::tid_z: return call(I::nvvm_read_ptx_sreg_tid_z);
      case Intrinsic::ntid_x: return call(I::nvvm_read_ptx_sreg_ntid_x);
      case Intrinsic::ntid_y: return call(I::nvvm_read_ptx_sreg_ntid_y);
      case Intrinsic::ntid_z: return call(I::nvvm_read_ptx_sreg_ntid_z);
      case Intrinsic::ctaid_x: return call(I::nvvm_read_ptx_sreg_ctaid_x);
      case Intrinsic::ctaid_y: return call(I::nvvm_read_ptx_sreg_ctaid_y);
      case Intrinsic::ctaid_z: return call(I::nvvm_read_ptx_sreg_ctaid_z);
      case Intrinsic::nctaid_x: return call(I::nvvm_read_ptx_sreg_nctaid_x);
      case Intrinsic::nctaid_y: return call(I::nvvm_read_ptx_sreg_nctaid_y);
      case Intrinsic::nctaid_z: return call(I::nvvm_read_ptx_sreg_nctaid_z);
      case Intrinsic::laneid: return call(I::nvvm_read_ptx_sreg_laneid);
      case Intrinsic::warpsize: return B.getInt32(32);
      case Intrinsic::lanemask_lt: return call(I::nvvm_read_ptx_sreg_lanemask_lt);
      case Intrinsic::barrier: call(I::nvvm_barrier0); return nothing;
      case Intrinsic::barrier_count:
        return call(I::nvvm_barrier0_popc, {B.CreateZExt(a, B.getInt32Ty())});
      case Intrinsic::barrier_and:
        return call(I::nvvm_barrier0_and, {B.CreateZExt(a, B.getInt32Ty())});
      case Intrinsic::barrier_or:
        return call(I::nvvm_barrier0_or, {B.CreateZExt(a, B.getInt32Ty())});
      case Intrinsic::grid_barrier: grid_barrier(); return nothing;
      case Intrinsic::fence_block: call(I::nvvm_membar_cta); return nothing;
      case Intrinsic::fence: call(I::nvvm_membar_gl); return nothing;
      case Intrinsic::fence_system: call(I::nvvm_membar_sys); return nothing;
      case Intrinsic::syncwarp: call(I::nvvm_bar_warp_sync, {a}); return nothing;
      case Intrinsic::activemask: {
        // Two calls on different paths stay two.
        V there = assembly("activemask.b32 $0;", "=r", B.getInt32Ty(), {}, true);
        llvm::cast<llvm::CallInst>(there)->addFnAttr(llvm::Attribute::NoMerge);
        llvm::cast<llvm::CallInst>(there)->addFnAttr(llvm::Attribute::Convergent);
        return there;
      }
      case Intrinsic::nanosleep: call(I::nvvm_nanosleep, {a}); return nothing;
      case Intrinsic::on_gpu: return B.getTrue();
      case Intrinsic::external: return external(i, arguments);
      case Intrinsic::mma_tf32: return product_in_tf32(arguments, ir::number_of(i));
      case Intrinsic::shfl_idx: return shuffle(I::nvvm_shfl_sync_idx_i32, a, b, c, all);
      case Intrinsic::shfl_up: return shuffle(I::nvvm_shfl_sync_up_i32, a, b, c, nothing);
      case Intrinsic::shfl_down: return shuffle(I::nvvm_shfl_sync_down_i32, a, b, c, all);
      case Intrinsic::shfl_xor: return shuffle(I::nvvm_shfl_sync_bfly_i32, a, b, c, all);
      case Intrinsic::all_sync: return call(I::nvvm_vote_all_sync, {a, b});
      case Intrinsic::any_sync: return call(I::nvvm_vote_any_sync, {a, b});
      case Intrinsic::eq_sync: return call(I::nvvm_vote_uni_sync, {a, b});
      case Intrinsic::ballot: return call(I::nvvm_vote_ballot_sync, {a, b});
      case Intrinsic::match_any:
        if (int64_t bits = ir::number_of(i); bits && bits <= kVotedBits)
          return match_by_votes(a, B.CreateZExtOrTrunc(b, B.getInt32Ty()), bits);
        return call(
            b->getType()->isIntegerTy(64) ? I::nvvm_match_any_sync_i64 : I::nvvm_match_any_sync_i32,
            {a, b});
      case Intrinsic::match_all:
        return B.CreateExtractValue(
            call(b->getType()->isIntegerTy(64) ? I::nvvm_match_all_sync_i64p
                                               : I::nvvm_match_all_sync_i32p,
                 {a, b}),
            0);
      case Intrinsic::clz: return B.CreateBinaryIntrinsic(I::ctlz, a, B.getFalse());
      case Intrinsic::brev: return B.CreateUnaryIntrinsic(I::bitreverse, a);
      case Intrinsic::ffs: {
        V zero = llvm::ConstantInt::get(a->getType(), 0),
          one = llvm::ConstantInt::get(a->getType(), 1);
        V n = B.CreateBinaryIntrinsic(I::cttz, a, B.getFalse());
        return B.CreateSelect(B.CreateICmpEQ(a, zero), zero, B.CreateAdd(n, one));
      }
      case Intrinsic::shared_memory: {
        auto* t = llvm::ArrayType::get(B.getInt8Ty(), ir::number_of(i));
        auto* g = memory("shared" + std::to_string(f_.body[i.a].imm), t, kSharedSpace,
                         llvm::UndefValue::get(t));
        return B.CreatePtrToInt(g, B.getInt64Ty());
      }
      case Intrinsic::dynamic_shared: {
        if (ir::number_of(i))
          return B.CreateZExt(assembly("mov.u32 $0, %dynamic_smem_size;", "=r", B.getInt32Ty(), {}),
                              B.getInt64Ty());
        auto* t = llvm::ArrayType::get(B.getInt8Ty(), 0);
        return B.CreatePtrToInt(memory("dynamic_shared", t, kSharedSpace, nullptr, true),
                                B.getInt64Ty());
      }
      case Intrinsic::local_memory: {
        auto* slot = local(llvm::ArrayType::get(B.getInt8Ty(), ir::number_of(i)));
        slot->setAlignment(llvm::Align(16));
        return B.CreatePtrToInt(slot, B.getInt64Ty());
      }
      case Intrinsic::constant_memory: {
        int64_t k = ir::number_of(i);
        auto* data = llvm::ConstantDataArray::getString(B.getContext(), m_.constants[k], false);
        auto* g = memory("constant" + std::to_string(k), data->getType(), kGlobal, data);
        g->setConstant(true);
        return B.CreatePtrToInt(g, B.getInt64Ty());
      }
      case Intrinsic::fail: note(a, b, c); return nothing;
      case Intrinsic::print_text:
        return print("%s", B.CreateGlobalStringPtr(m_.texts[ir::number_of(i)]));
      case Intrinsic::print_int: return print("%lld", a);
      case Intrinsic::print_float: return print("%f", a);
      case Intrinsic::print_end:
      // The GPU's threads are not watched.
      case Intrinsic::watch:
      case Intrinsic::leaves: return nothing;
      default:
        if (which >= Intrinsic::atomic_add && which <= Intrinsic::atomic_cas)
          return atomic(E, which, i.type, pointer(a, ir::space_of(i)), b, c);
        raise(ErrorKind::Runtime,
              std::string("[compile] no GPU code for ") + ir::intrinsic_name(which));
    }
  }

  V print(const char* format, V value) {
    auto* m = to_->getParent();
    auto f = m->getOrInsertFunction(
        "vprintf", llvm::FunctionType::get(B.getInt32Ty(), {B.getPtrTy(), B.getPtrTy()}, false));
    auto* slot = local(value->getType());
    B.CreateStore(value, slot);
    return B.CreateCall(f, {B.CreateGlobalStringPtr(format), slot});
  }

  bool recursive_;
  bool notes_;  // there is a record for errors
};

// C passes integers below 32 bits as words of 32.
llvm::Type* passed(Emit& e, DType t) {
  return itemsize(t) < 4 && !is_float(t) ? e.B.getInt32Ty() : e.scalar_type(t);
}

}  // namespace

std::string kernel_ptx(const ir::Module& m, int sm, int ptx) {
  return emit_ptx(
      sm, ptx,
      [&](llvm::Module& to) {
        llvm::IRBuilder<> b(to.getContext());
        GpuEmit e(b, 1);
        // What recursive functions are given: where the stack ends, and the word of Ctrl-C.
        bool recursive = has_recursion(m);
        std::vector<llvm::Function*> functions =
            declare_functions(e, m, to, recursive ? kStackWords : 0);
        if (!m.functions[0].recursive) functions[0]->addFnAttr(llvm::Attribute::AlwaysInline);
        for (size_t n = 0; n < m.functions.size(); ++n)
          GpuBody(e, m, m.functions[n], functions).emit(functions[n]);
        const ir::Function& f = m.functions[0];
        std::vector<llvm::Type*> types(f.params.size() + (recursive ? 3 : 2), b.getInt64Ty());
        auto* entry = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                             llvm::Function::ExternalLinkage, "k", to);
        b.SetInsertPoint(llvm::BasicBlock::Create(to.getContext(), "entry", entry));
        std::vector<V> args{b.CreateIntToPtr(entry->getArg(0), b.getPtrTy())};
        auto last = static_cast<unsigned>(entry->arg_size()) - 1;
        auto* stop = entry->getArg(last);
        stop->setName(kStopName);
        if (recursive) {
          args.push_back(end_of_stack(b, entry->getArg(last - 1)));
          args.push_back(stop);
          for (llvm::Function* g : functions) g->getArg(kStackWords)->setName(kStopName);
        }
        for (size_t p = 0; p < f.params.size(); ++p)
          args.push_back(from_word(e, f.params[p], entry->getArg(static_cast<unsigned>(p) + 1)));
        b.CreateCall(functions[0], args);
        b.CreateRetVoid();
        auto* notes = to.getOrInsertNamedMetadata("nvvm.annotations");
        auto note = [&](const char* what, int value) {
          llvm::Metadata* parts[] = {llvm::ValueAsMetadata::get(entry),
                                     llvm::MDString::get(to.getContext(), what),
                                     llvm::ConstantAsMetadata::get(b.getInt32(value))};
          notes->addOperand(llvm::MDNode::get(to.getContext(), parts));
        };
        note("kernel", 1);
        if (m.max_threads) note("maxntidx", m.max_threads);
        if (m.min_blocks) note("minctasm", m.min_blocks);
        if (m.max_registers) note("maxnreg", m.max_registers);
      },
      true, m.long_loops);
}

std::string device_function_ptx(const ir::Module& m, const std::string& name,
                                const std::vector<int>& items, bool c_abi, int sm, int ptx) {
  return emit_ptx(
      sm, ptx,
      [&](llvm::Module& to) {
        llvm::IRBuilder<> b(to.getContext());
        GpuEmit e(b, 1);
        std::vector<llvm::Function*> functions = declare_functions(e, m, to);
        functions[0]->addFnAttr(llvm::Attribute::AlwaysInline);
        for (size_t n = 0; n < m.functions.size(); ++n)
          GpuBody(e, m, m.functions[n], functions, false).emit(functions[n]);
        const ir::Function& f = m.functions[0];
        // An array's words: address, owner, extent and stride.
        constexpr size_t kWords = 4;
        std::vector<llvm::Type*> types;
        if (!c_abi) types.push_back(b.getInt64Ty());
        size_t param = 0;
        for (int item : items) {
          types.push_back(passed(e, f.params[param]));
          param += item ? kWords : 1;
        }
        const bool nothing = f.results.empty();
        llvm::Type* result = !c_abi    ? b.getInt32Ty()
                             : nothing ? b.getVoidTy()
                                       : passed(e, f.results[0]);
        auto* entry = llvm::Function::Create(llvm::FunctionType::get(result, types, false),
                                             llvm::Function::ExternalLinkage, name, to);
        b.SetInsertPoint(llvm::BasicBlock::Create(to.getContext(), "entry", entry));
        std::vector<V> args{llvm::ConstantPointerNull::get(b.getPtrTy())};
        unsigned given = c_abi ? 0 : 1;
        for (int item : items) {
          V v = entry->getArg(given++);
          DType t = f.params[args.size() - 1];
          if (t == DType::Bool) v = b.CreateICmpNE(v, b.getInt32(0));
          if (v->getType() != e.scalar_type(t)) v = b.CreateTrunc(v, e.scalar_type(t));
          args.push_back(v);
          if (!item) continue;
          // So many items that an index before the first one comes to where C has it; of narrow
          // ones to no memory.
          const int64_t most = item < 4 ? int64_t{1} << 62 : (int64_t{1} << 62) / (item / 4);
          for (int64_t word : {int64_t{0}, most, int64_t{item}}) args.push_back(b.getInt64(word));
        }
        V all = b.CreateCall(functions[0], args);
        V status = b.CreateExtractValue(all, 0);
        if (c_abi)
          branch(b, b.CreateICmpNE(status, b.getInt32(0)),
                 [&] { b.CreateIntrinsic(I::trap, {}, {}); });
        V r = nothing ? nullptr : b.CreateExtractValue(all, 1);
        if (!c_abi) {
          if (r) {
            if (f.results[0] == DType::Bool) r = b.CreateZExt(r, b.getInt8Ty());
            branch(b, b.CreateICmpEQ(status, b.getInt32(0)),
                   [&] { b.CreateStore(r, b.CreateIntToPtr(entry->getArg(0), b.getPtrTy())); });
          }
          b.CreateRet(status);
        } else if (!r) {
          b.CreateRetVoid();
        } else {
          if (r->getType() != result)
            r = is_signed(f.results[0]) ? b.CreateSExt(r, result) : b.CreateZExt(r, result);
          b.CreateRet(r);
        }
      },
      true, m.long_loops);
}

}  // namespace numbus::compile
