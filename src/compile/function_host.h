// Functions for the host processor: what serial code and the threads of a grid share.
#pragma once

#include "compile/function.h"

namespace numbus::compile {

class HostBody : public FunctionBody {
 public:
  using FunctionBody::FunctionBody;

 protected:
  llvm::Value* call(const char* name, llvm::Type* result, std::vector<llvm::Value*> args);
  llvm::Value* intrinsic(const ir::Inst& i, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                         const std::vector<llvm::Value*>& arguments) override;
  // Words of errors and output; and how many of a thread's place go with an error.
  virtual llvm::Value* record() { return to_->getArg(0); }
  virtual void note_place(llvm::Value* record) { (void)record; }
};

void prefer_vectors(llvm::Function* f, int bytes);

}  // namespace numbus::compile
