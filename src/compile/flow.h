// Control flow of generated code, whatever the target.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <vector>

namespace numbus::compile {

// for (i = from; i < to; i += step) body(i), with values that change from iteration to iteration.
// Gives the first i that was not done.
llvm::Value* counted_loop(llvm::IRBuilder<>& b, llvm::Value* from, llvm::Value* to,
                          llvm::Value* step, std::vector<llvm::Value*>& carried,
                          const std::function<void(llvm::Value*)>& body);

void branch(llvm::IRBuilder<>& b, llvm::Value* condition, const std::function<void()>& yes,
            const std::function<void()>& no = nullptr);

}  // namespace numbus::compile
