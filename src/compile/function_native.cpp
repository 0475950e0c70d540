// Functions for the host processor.
#include <llvm/IR/Module.h>

#include "base/error.h"
#include "compile/atomics.h"
#include "compile/flow.h"
#include "compile/function_host.h"
#include "compile/lanes.h"
#include "compile/row_calls.h"
#include "compile/runtime.h"
#include "compile/simt.h"
#include "passes/pipeline.h"

namespace numbus::compile {
using V = llvm::Value*;
using ir::Intrinsic;

void prefer_vectors(llvm::Function* f, int bytes) {
  f->addFnAttr("prefer-vector-width", std::to_string(8 * bytes));
  f->addFnAttr("min-legal-vector-width", std::to_string(8 * bytes));
}

V HostBody::call(const char* name, llvm::Type* result, const std::vector<V>& args) {
  std::vector<llvm::Type*> types;
  for (V v : args) types.push_back(v->getType());
  auto f =
      to_->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  llvm::cast<llvm::Function>(f.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  return B.CreateCall(f, args);
}

V HostBody::strict(const ir::Inst& i, V a, V b) {
  namespace I = llvm::Intrinsic;
  auto overflow = [&](I::ID id) {
    return B.CreateExtractValue(B.CreateBinaryIntrinsic(id, a, b), 1);
  };
  // Under names that LLVM does not know: it must not compute with what it thinks they do.
  auto c = [&](const char* name, bool two) {
    V v = call(name, B.getDoubleTy(), two ? std::vector<V>{a, b} : std::vector<V>{a});
    llvm::cast<llvm::CallInst>(v)->getCalledFunction()->setDoesNotAccessMemory();
    return v;
  };
  const auto which = static_cast<ir::Strict>(ir::number_of(i));
  switch (which) {
    case ir::Strict::add_overflows: return overflow(I::sadd_with_overflow);
    case ir::Strict::sub_overflows: return overflow(I::ssub_with_overflow);
    case ir::Strict::mul_overflows: return overflow(I::smul_with_overflow);
    case ir::Strict::interrupted: {
      auto* word = to_->getParent()->getOrInsertGlobal("numbus_interrupt_word", B.getInt32Ty());
      return B.CreateICmpNE(B.CreateLoad(B.getInt32Ty(), word, true), B.getInt32(0));
    }
#define X(name) \
  case ir::Strict::c_##name: return c("numbus_c_" #name, ir::strict_operands(which) == 2);
      NUMBUS_C_FUNCTIONS(X)
#undef X
  }
  raise(ErrorKind::Runtime, "[compile] no such strict step");
}

V HostBody::record() {
  return m_.kernel ? B.CreateIntToPtr(word(kRecord), B.getPtrTy()) : context();
}

V HostBody::intrinsic(const ir::Inst& i, V a, V b, V c, const std::vector<V>& arguments) {
  llvm::Type *i64 = B.getInt64Ty(), *none = B.getVoidTy();
  auto component = [&](int first, Intrinsic base) {
    int axis = static_cast<int>(ir::intrinsic_of(i)) - static_cast<int>(base);
    return B.CreateTrunc(word(first + axis), B.getInt32Ty());
  };
  switch (ir::intrinsic_of(i)) {
    // What all threads of a block share.
    case Intrinsic::ntid_x:
    case Intrinsic::ntid_y:
    case Intrinsic::ntid_z: return component(kNtid, Intrinsic::ntid_x);
    case Intrinsic::ctaid_x:
    case Intrinsic::ctaid_y:
    case Intrinsic::ctaid_z: return component(kCtaid, Intrinsic::ctaid_x);
    case Intrinsic::nctaid_x:
    case Intrinsic::nctaid_y:
    case Intrinsic::nctaid_z: return component(kNctaid, Intrinsic::nctaid_x);
    case Intrinsic::warpsize: return B.getInt32(32);
    case Intrinsic::fence:
    case Intrinsic::fence_block:
    case Intrinsic::fence_system:
      B.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
      return B.getInt32(0);
    case Intrinsic::nanosleep: return B.getInt32(0);
    case Intrinsic::shared_memory:
      return B.CreateAdd(word(kShared), B.getInt64(shared_offset(m_, f_.body[i.a].imm)));
    case Intrinsic::local_memory: {
      auto* memory = local(llvm::ArrayType::get(B.getInt8Ty(), ir::number_of(i)));
      memory->setAlignment(llvm::Align(64));
      return B.CreatePtrToInt(memory, i64);
    }
    case Intrinsic::dynamic_shared: return word(ir::number_of(i) ? kDynamicBytes : kDynamic);
    case Intrinsic::allocate: return call("numbus_allocate", i64, {a});
    case Intrinsic::data_of: return B.CreateAdd(a, B.getInt64(sizeof(Owner)));
    case Intrinsic::retain:
    case Intrinsic::release: {
      bool more = ir::intrinsic_of(i) == Intrinsic::retain;
      branch(B, B.CreateICmpNE(a, B.getInt64(0)),
             [&] { call(more ? "numbus_retain" : "numbus_release", none, {a}); });
      return B.getInt64(0);
    }
    case Intrinsic::list: return call("numbus_list", i64, {a, b, B.getInt64(ir::number_of(i))});
    case Intrinsic::resize: return call("numbus_resize", i64, {a, b});
    case Intrinsic::dict: return call("numbus_dict", i64, {B.getInt64(ir::number_of(i))});
    case Intrinsic::dict_step:
      return call("numbus_dict_step", i64, {a, b, B.getInt64(ir::number_of(i))});
    case Intrinsic::fail: {
      // The first error stays.
      V noted = record();
      auto word = [&](int w) {
        return B.CreateConstGEP1_64(B.getInt64Ty(), noted, static_cast<uint64_t>(w));
      };
      V claimed =
          B.CreateAtomicCmpXchg(word(kClaimed), B.getInt64(0), B.getInt64(1), llvm::MaybeAlign(8),
                                llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
      branch(B, B.CreateExtractValue(claimed, 1), [&] {
        B.CreateStore(B.CreateSExt(a, i64), word(kSite));
        B.CreateStore(b, word(kFirst));
        B.CreateStore(c, word(kSecond));
        note_site(noted);
      });
      return B.getInt32(0);
    }
    case Intrinsic::caught: {
      const auto what = static_cast<ir::Noted>(ir::number_of(i));
      auto at = [&](int which) {
        return B.CreateConstGEP1_64(i64, record(), static_cast<uint64_t>(which));
      };
      auto read = [&](int which) -> V { return B.CreateLoad(i64, at(which)); };
      switch (what) {
        case ir::Noted::Site: return read(kSite);
        case ir::Noted::First: return read(kFirst);
        case ir::Noted::Second: return read(kSecond);
        case ir::Noted::Sites: return read(kSites);
        case ir::Noted::Forget:
          B.CreateStore(B.getInt64(0), at(kClaimed));
          B.CreateStore(B.getInt64(0), at(kCaller));
          break;
        case ir::Noted::SetCaller: B.CreateStore(a, at(kCaller)); break;
        case ir::Noted::SetCause: B.CreateStore(a, at(kCause)); break;
        case ir::Noted::TakeCause: {
          V cause = read(kCause);
          B.CreateStore(B.getInt64(0), at(kCause));
          return cause;
        }
      }
      return B.getInt64(0);
    }
    case Intrinsic::parallel: {
      std::vector<llvm::Type*> types;
      for (V v : arguments) types.push_back(v->getType());
      auto* packed = llvm::StructType::get(B.getContext(), types);
      auto* component = local(packed);
      for (unsigned k = 0; k < arguments.size(); ++k)
        B.CreateStore(arguments[k], B.CreateStructGEP(packed, component, k));
      auto* portion = to_->getParent()->getFunction("portion" + std::to_string(ir::number_of(i)));
      return call("numbus_parallel", B.getInt32Ty(), {portion, context(), component, a, b});
    }
    case Intrinsic::generator: {
      std::vector<V> all{context()};
      all.insert(all.end(), arguments.begin(), arguments.end());
      return B.CreateCall(functions_[static_cast<size_t>(ir::number_of(i))], all);
    }
    case Intrinsic::resume: return call("numbus_resume", i64, {context(), a});
    case Intrinsic::constant_memory: {
      int64_t k = ir::number_of(i);
      std::string name = "constant" + std::to_string(k);
      auto* m = to_->getParent();
      auto* g = m->getNamedGlobal(name);
      if (!g) {
        auto* data = llvm::ConstantDataArray::getString(B.getContext(), m_.constants[k], false);
        g = new llvm::GlobalVariable(*m, data->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                     data, name);
        g->setAlignment(llvm::Align(64));
      }
      return B.CreatePtrToInt(g, i64);
    }
    case Intrinsic::print_text: {
      const std::string& s = m_.texts[ir::number_of(i)];
      V text = B.CreateGlobalStringPtr(s);
      call("numbus_print_text", none, {record(), text, B.getInt64(static_cast<int64_t>(s.size()))});
      return B.getInt32(0);
    }
    case Intrinsic::print_int:
      call("numbus_print_int", none, {record(), a, B.getInt64(ir::number_of(i))});
      return B.getInt32(0);
    case Intrinsic::print_float:
      call("numbus_print_float", none, {record(), a, B.getInt64(ir::number_of(i))});
      return B.getInt32(0);
    case Intrinsic::text:
      switch (static_cast<ir::Text>(ir::number_of(i))) {
        case ir::Text::Print: return call("numbus_print_string", i64, {record(), a, b});
        case ir::Text::OfFloat: return call("numbus_text_of_float", i64, {a, b, c});
        case ir::Text::ToFloat: return call("numbus_float_of_text", i64, {a, b, c});
        case ir::Text::Room: return call("numbus_text_room", i64, {a, b});
      }
      return B.getInt64(0);
    case Intrinsic::random:
      switch (static_cast<ir::Random>(ir::number_of(i))) {
        case ir::Random::Bits: return call("numbus_random_bits", B.getInt32Ty(), {});
        case ir::Random::Unit: return call("numbus_random_unit", B.getDoubleTy(), {});
        case ir::Random::Kept: return call("numbus_random_kept", i64, {});
        case ir::Random::PythonSeed:
          call("numbus_random_python_seed", none, {a});
          return B.getInt64(0);
        case ir::Random::Word: return call("numbus_generator_word", i64, {a});
        case ir::Random::Half: return call("numbus_generator_half", B.getInt32Ty(), {a});
        case ir::Random::Unit64: return call("numbus_generator_unit", B.getDoubleTy(), {a});
        case ir::Random::Log1p: return call("numbus_c_log1p", B.getDoubleTy(), {a});
        case ir::Random::Exp: return call("numbus_c_exp", B.getDoubleTy(), {a});
        case ir::Random::Log: return call("numbus_c_log", B.getDoubleTy(), {a});
        case ir::Random::Expm1: return call("numbus_c_expm1", B.getDoubleTy(), {a});
        case ir::Random::Cos: return call("numbus_c_cos", B.getDoubleTy(), {a});
        case ir::Random::Acos: return call("numbus_c_acos", B.getDoubleTy(), {a});
        case ir::Random::Pow: return call("numbus_c_pow", B.getDoubleTy(), {a, b});
        case ir::Random::Log1pf: return call("numbus_c_log1pf", B.getFloatTy(), {a});
        case ir::Random::Expf: return call("numbus_c_expf", B.getFloatTy(), {a});
        case ir::Random::Logf: return call("numbus_c_logf", B.getFloatTy(), {a});
        case ir::Random::Powf: return call("numbus_c_powf", B.getFloatTy(), {a, b});
        case ir::Random::Seed: call("numbus_random_seed", none, {a});
      }
      return B.getInt64(0);
    case Intrinsic::on_gpu: return B.getFalse();
    case Intrinsic::mma_tf32: return llvm::ConstantFP::getZero(B.getFloatTy());
    case Intrinsic::host_call: {
      auto* words = local(llvm::ArrayType::get(i64, arguments.size()));
      for (unsigned k = 0; k < arguments.size(); ++k)
        B.CreateStore(arguments[k], B.CreateConstGEP1_64(i64, words, k));
      return call("numbus_host_call", i64, {B.getInt64(ir::number_of(i)), words});
    }
    case Intrinsic::foreign: {
      std::vector<llvm::Type*> types;
      for (V v : arguments) types.push_back(v->getType());
      auto* of = llvm::FunctionType::get(memory_type(i.type), types, false);
      auto* r = B.CreateCall(of, B.CreateIntToPtr(a, B.getPtrTy()), arguments);
      r->addFnAttr(llvm::Attribute::NoUnwind);
      return i.type == DType::Bool ? B.CreateICmpNE(r, B.getInt8(0)) : r;
    }
    case Intrinsic::strict: return strict(i, a, b);
    case Intrinsic::print_end:
    case Intrinsic::leaves: return B.getInt32(0);
    case Intrinsic::lane_index: return B.getInt64(0);
    case Intrinsic::lane_count: return B.getInt64(1);
    case Intrinsic::lane_merge: return a;
    case Intrinsic::clz: return B.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, a, B.getFalse());
    case Intrinsic::brev: return B.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, a);
    case Intrinsic::ffs: {
      V zero = llvm::ConstantInt::get(a->getType(), 0),
        one = llvm::ConstantInt::get(a->getType(), 1);
      V n = B.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, a, B.getFalse());
      return B.CreateSelect(B.CreateICmpEQ(a, zero), zero, B.CreateAdd(n, one));
    }
    default:
      if (ir::intrinsic_of(i) >= Intrinsic::atomic_add &&
          ir::intrinsic_of(i) <= Intrinsic::atomic_cas)
        return atomic(E, ir::intrinsic_of(i), i.type, pointer(a, ir::space_of(i)), b, c);
      raise(ErrorKind::Runtime,
            std::string("[compile] no host code for ") + ir::intrinsic_name(ir::intrinsic_of(i)));
  }
}

void build_native(llvm::Module& to, const ir::Module& m, const std::string& name,
                  int vector_bytes) {
  llvm::IRBuilder<> b(to.getContext());
  Emit e(b, 1);
  std::vector<llvm::Function*> functions = declare_functions(e, m, to);
  auto with_vectors = [&](llvm::Function* f) { prefer_vectors(f, vector_bytes); };
  auto unpack = [&](const ir::Function& f, V from, unsigned first) {
    std::vector<llvm::Type*> types;
    for (size_t p = first; p < f.params.size(); ++p) types.push_back(e.scalar_type(f.params[p]));
    auto* packed = llvm::StructType::get(to.getContext(), types);
    std::vector<V> values;
    for (unsigned p = 0; p < types.size(); ++p)
      values.push_back(b.CreateLoad(types[p], b.CreateStructGEP(packed, from, p)));
    return values;
  };
  // Portions are called through a type they share.
  for (size_t n = 0; n < m.functions.size(); ++n) {
    if (!m.functions[n].portion) continue;
    auto* f = llvm::Function::Create(portion_type(b), llvm::Function::InternalLinkage,
                                     "portion" + std::to_string(n), to);
    with_vectors(f);
    b.SetInsertPoint(llvm::BasicBlock::Create(to.getContext(), "entry", f));
    std::vector<V> args{f->getArg(0), f->getArg(2), f->getArg(3)};
    for (V v : unpack(m.functions[n], f->getArg(1), 2)) args.push_back(v);
    V all = b.CreateCall(functions[n], args);
    b.CreateRet(b.CreateExtractValue(all, 0));
  }
  for (size_t n = 0; n < m.functions.size(); ++n) {
    with_vectors(functions[n]);
    // Iterations of a parallel loop side by side, where each has a loop of its own length.
    if (m.functions[n].portion) {
      std::optional<ir::Function> whole = portion_for_lanes(m, m.functions[n]);
      if (whole && lanes_fit(*whole) && lanes_pay(*whole)) {
        finish_lanes(*whole, m);
        Varying v = find_varying(*whole, Lanes::Iterations);
        // Two vectors side by side: an iteration of a loop waits for the one before.
        Emit many(b, 2 * pick_lanes(*whole, v, vector_bytes));
        LaneBody(many, e, m, *whole, functions, v).emit_lanes(functions[n]);
        continue;
      }
    }
    if (m.functions[n].generator)
      GeneratorBody(e, m, m.functions[n], functions).emit(functions[n]);
    else
      HostBody(e, m, m.functions[n], functions).emit(functions[n]);
  }

  // The entry: words in, words out.
  const ir::Function& f = m.functions[0];
  auto* type =
      llvm::FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy(), b.getPtrTy()}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, to);
  with_vectors(entry);
  b.SetInsertPoint(llvm::BasicBlock::Create(to.getContext(), "entry", entry));
  std::vector<V> args = arguments_of_words(e, f, entry->getArg(0), entry->getArg(1));
  V all = b.CreateCall(functions[0], args);
  for (unsigned r = 0; r < f.results.size(); ++r)
    b.CreateStore(to_word(e, f.results[r], b.CreateExtractValue(all, r + 1)),
                  b.CreateConstGEP1_64(b.getInt64Ty(), entry->getArg(2), r));
  b.CreateRet(b.CreateExtractValue(all, 0));
  add_vector_rows(to, vector_bytes);
  for (auto& g : to)
    if (!g.isDeclaration() && !g.hasFnAttribute("prefer-vector-width")) with_vectors(&g);
}

}  // namespace numbus::compile
