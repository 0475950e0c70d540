// Functions of kernel IR as LLVM functions, for every target.
#pragma once

#include <functional>

#include "compile/rows.h"
#include "compile/runtime.h"
#include "ir/function.h"

namespace numbus::compile {

// One function's body. Targets say what intrinsics and addresses are.
class FunctionBody {
 public:
  FunctionBody(Emit& e, const ir::Module& m, const ir::Function& f,
               const std::vector<llvm::Function*>& functions)
      : E(e), B(e.B), m_(m), f_(f), functions_(functions) {}
  virtual ~FunctionBody() = default;

  // Emits the body of the LLVM function, whose parameters are the context and then these.
  void emit(llvm::Function* to);

 protected:
  virtual llvm::Value* intrinsic(const ir::Inst& i, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                                 const std::vector<llvm::Value*>& arguments) = 0;
  virtual unsigned address_space(ir::Space) const { return 0; }
  // Parameters before the function's own: the context and the words of declare_functions().
  virtual unsigned first_parameter() const { return 1; }
  virtual llvm::Value* call_function(int64_t callee, std::vector<llvm::Value*> args);
  // Where errors are noted and output is gathered.
  virtual llvm::Value* context() { return to_->getArg(0); }
  virtual llvm::Value* parameter(unsigned n) { return to_->getArg(n + first_parameter()); }
  // What stands before the first step and in place of `ret`.
  virtual void begin() {}
  virtual void end(llvm::Value* status);
  llvm::Value* pointer(llvm::Value* address, ir::Space space) {
    return B.CreateIntToPtr(address, B.getPtrTy(address_space(space)));
  }
  llvm::Type* memory_type(DType t) { return t == DType::Bool ? B.getInt8Ty() : E.scalar_type(t); }
  llvm::AllocaInst* local(llvm::Type* t);  // in the entry block
  llvm::Value* context_word(int word) {
    return B.CreateConstGEP1_64(B.getInt64Ty(), context(), static_cast<uint64_t>(word));
  }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(B.getContext(), name, to_);
  }
  void step(size_t n);
  void jump(llvm::BasicBlock* to);
  void set_unrolling(llvm::Instruction* back, int64_t mark_of_loop);

  Emit& E;
  llvm::IRBuilder<>& B;
  const ir::Module& m_;
  const ir::Function& f_;
  const std::vector<llvm::Function*>& functions_;
  llvm::Function* to_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  std::vector<Value> at_;

 private:
  struct Open {
    llvm::BasicBlock *otherwise = nullptr, *next = nullptr, *after = nullptr, *head = nullptr;
  };
  std::vector<Open> open_;
  std::vector<Rare> rare_;
  std::vector<llvm::Value*> arguments_, results_;
  bool apart_ = false;  // stays_apart()
};

// The type of the LLVM function: {status, results} (context, so many words, parameters).
llvm::FunctionType* function_type(Emit& E, const ir::Function& f, unsigned words = 0);
llvm::FunctionType* portion_type(llvm::IRBuilder<>& B);
// Whether a function stays one where it is called, though it does not call itself: LLVM takes more
// than twice as long for one of twice the length. Large ones of the library do where there are
// many.
bool stays_apart(const ir::Module& m, const ir::Function& f);
// Declares all functions of a module, for internal use.
std::vector<llvm::Function*> declare_functions(Emit& E, const ir::Module& m, llvm::Module& to,
                                               unsigned words = 0);

// Reads a parameter from its 64-bit words, or a result into one.
llvm::Value* from_word(Emit& E, DType t, llvm::Value* word);
llvm::Value* to_word(Emit& E, DType t, llvm::Value* v);
// The parameters of a call from outside: the first argument as it is, then the values of the words.
std::vector<llvm::Value*> arguments_of_words(Emit& E, const ir::Function& f, llvm::Value* first,
                                             llvm::Value* words);
// Lets a product and a sum become one step where the step is marked so (passes/expand_function.h).
void set_contraction(llvm::IRBuilder<>& B, const ir::Inst& i, const ir::Module& m);

// The module for the host: `name` is int32 (context, words, results).
void build_native(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes);
// A kernel of a grid for the host: see HostKernel.
void build_simt(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes);
// The same with the threads of a block on lanes, for blocks whose x is a multiple of their number;
// 0 lanes where the kernel does not allow it.
int grid_lanes(const ir::Module& m, int vector_bytes);
void build_grid(llvm::Module& to, const ir::Module& m, const std::string& name, int vector_bytes);

}  // namespace numbus::compile
