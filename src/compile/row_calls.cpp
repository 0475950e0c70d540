// Functions made of a row's expansion.
#include "compile/row_calls.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "passes/expand.h"

namespace numbus::compile {

using V = llvm::Value*;

namespace {

constexpr const char* kRow = "numbus-row";
constexpr const char* kVariants = "vector-function-abi-variant";

std::string row_name(Op op, DType t, int lanes) {
  std::string s = std::string(op_name(op)) + "." + std::string(name(t));
  return lanes == 1 ? s : s + "." + std::to_string(lanes);
}

// On several lanes the last parameter says which of them matter.
llvm::Function* row_function(llvm::IRBuilder<>& B, llvm::Module& m, Op op, DType t, int lanes) {
  std::string called = row_name(op, t, lanes);
  if (auto* f = m.getFunction(called)) return f;
  llvm::IRBuilderBase::InsertPointGuard slot(B);
  llvm::IRBuilderBase::FastMathFlagGuard flags(B);
  B.clearFastMathFlags();
  Emit E(B, lanes);
  int nin = row(op).nin;
  std::vector<ir::Inst> body;
  ir::Builder steps(body);
  ir::Val in[2] = {ir::kNone, ir::kNone};
  for (int k = 0; k < nin; ++k)
    in[k] = steps.emit(Op::param, t, ir::kNone, ir::kNone, ir::kNone, k);
  ir::Val result = expand(steps, op, in[0], in[1]);
  std::vector<llvm::Type*> types(nin, E.type(t));
  if (lanes > 1) types.push_back(E.wide(B.getInt1Ty()));
  auto* f = llvm::Function::Create(
      llvm::FunctionType::get(E.type(steps.type(result)), types, false),
      // Nobody may change its parameters while the vectoriser may still want it.
      llvm::Function::ExternalLinkage, called, m);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::WillReturn);
  f->addFnAttr(llvm::Attribute::NoInline);  // before the vectoriser has seen it
  f->addFnAttr(kRow,
               std::to_string(static_cast<int>(op)) + " " + std::to_string(static_cast<int>(t)));
  f->setMemoryEffects(llvm::MemoryEffects::none());
  B.SetInsertPoint(llvm::BasicBlock::Create(m.getContext(), "entry", f));
  std::vector<Value> at(body.size());
  std::vector<Rare> rare(body.size());
  auto x = [&](ir::Val o) -> V { return o == ir::kNone ? nullptr : at[o].v; };
  for (size_t n = 0; n < body.size(); ++n) {
    const ir::Inst& i = body[n];
    switch (i.op) {
      case Op::param: at[n].v = f->getArg(static_cast<unsigned>(i.imm)); break;
      case Op::if_any: {
        V c = x(i.a);
        rare[n] = begin_rare(E, lanes == 1 ? c : B.CreateOrReduce(B.CreateAnd(c, f->getArg(nin))));
        break;
      }
      case Op::end_if: end_rare(E, body, n, rare[i.a], at, true); break;
      case Op::if_result: break;  // by end_rare
      default:
        at[n].v =
            primitive(E, i, i.a == ir::kNone ? i.type : body[i.a].type, x(i.a), x(i.b), x(i.c));
    }
  }
  B.CreateRet(at[result].v);
  return f;
}

}  // namespace

V call_row(Emit& E, const ir::Inst& i, V a, V b, V lanes) {
  auto& B = E.B;
  auto* f = row_function(B, *B.GetInsertBlock()->getModule(), i.op, i.type, E.W);
  std::vector<V> args{a};
  if (b) args.push_back(b);
  if (E.W > 1) args.push_back(lanes ? lanes : E.all_true());
  return B.CreateCall(f, args);
}

void add_vector_rows(llvm::Module& m, int vector_bytes) {
  llvm::IRBuilder<> B(m.getContext());
  std::vector<std::pair<llvm::Function*, std::string>> rows;
  for (auto& f : m)
    if (f.hasFnAttribute(kRow)) rows.emplace_back(&f, f.getFnAttribute(kRow).getValueAsString());
  std::vector<llvm::GlobalValue*> kept;
  for (auto& [f, what] : rows) {
    if (f->getReturnType()->isVectorTy()) continue;
    size_t space = what.find(' ');
    auto op = static_cast<Op>(std::stoi(what.substr(0, space)));
    auto t = static_cast<DType>(std::stoi(what.substr(space + 1)));
    int lanes = vector_bytes / itemsize(t);
    if (lanes < 2) continue;
    auto* wide = row_function(B, m, op, t, lanes);
    std::string parameters(f->arg_size(), 'v');
    std::string variant = "_ZGV_LLVM_M" + std::to_string(lanes) + parameters + "_" +
                          f->getName().str() + "(" + wide->getName().str() + ")";
    for (llvm::User* u : f->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(u))
        call->addFnAttr(llvm::Attribute::get(m.getContext(), kVariants, variant));
    kept.push_back(wide);
  }
  if (!kept.empty()) llvm::appendToCompilerUsed(m, kept);
}

void finish_rows(llvm::Module& m) {
  if (auto* used = m.getNamedGlobal("llvm.compiler.used")) used->eraseFromParent();
  std::vector<llvm::Function*> rows;
  for (auto& f : m) {
    f.removeDeadConstantUsers();
    if (f.hasFnAttribute(kRow)) rows.push_back(&f);
  }
  for (auto* f : rows) {
    f->setLinkage(llvm::Function::InternalLinkage);
    std::vector<llvm::CallInst*> calls;
    for (llvm::User* u : f->users())
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(u)) calls.push_back(call);
    for (auto* call : calls) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info);
    }
    if (f->use_empty()) f->eraseFromParent();
  }
}

}  // namespace numbus::compile
