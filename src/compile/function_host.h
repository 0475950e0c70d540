// Functions for the host processor: what serial code and the threads of a grid share.
#pragma once

#include "compile/function.h"

namespace numbus::compile {

class HostBody : public FunctionBody {
 public:
  using FunctionBody::FunctionBody;

 protected:
  llvm::Value* call(const char* name, llvm::Type* result, const std::vector<llvm::Value*>& args);
  llvm::Value* intrinsic(const ir::Inst& i, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                         const std::vector<llvm::Value*>& arguments) override;
  // Words of errors and output; and how many of a thread's index go with an error.
  // A word of the context, which is that of a thread in kernels (compile/simt.h).
  llvm::Value* word(int w) { return B.CreateLoad(B.getInt64Ty(), context_word(w)); }
  llvm::Value* record();
  llvm::Value* strict(const ir::Inst& i, llvm::Value* a, llvm::Value* b);
  virtual void note_site(llvm::Value* record) { (void)record; }
};

// A generator: one of LLVM's coroutines, whose frame lies in counted memory after the words that
// whoever runs it shares with it (Frame in compile/runtime.h).
class GeneratorBody final : public HostBody {
 public:
  using HostBody::HostBody;

 protected:
  llvm::Value* intrinsic(const ir::Inst& i, llvm::Value* a, llvm::Value* b, llvm::Value* c,
                         const std::vector<llvm::Value*>& arguments) override;
  llvm::Value* context() override;
  llvm::Value* parameter(unsigned n) override { return n ? to_->getArg(n) : frame_; }
  void begin() override;
  void end(llvm::Value* status) override;

 private:
  llvm::Value* frame_word(int word);
  void suspend(bool last);

  llvm::Value *frame_ = nullptr, *handle_ = nullptr, *owner_ = nullptr;
  llvm::BasicBlock *leave_ = nullptr, *drop_ = nullptr;
};

void prefer_vectors(llvm::Function* f, int bytes);

}  // namespace numbus::compile
