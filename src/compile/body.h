// Emits a kernel's body for one step of W points: shared by every LLVM target.
#pragma once

#include <functional>
#include <vector>

#include "compile/rows.h"
#include "ir/kernel.h"

namespace numbus::compile {

// What the surrounding loops provide.
struct Point {
  std::vector<llvm::Value*> rows;  // per argument: pointer to the row's column zero
  std::vector<llvm::Value*>
      strides;                 // per argument: innermost stride in bytes (null where contiguous)
  std::vector<Value> uniform;  // per argument: value loaded once a row, where that is possible
  std::vector<llvm::Value*> index;  // per dimension but the last: int64
  std::vector<Value> scalars;
  llvm::Value* col = nullptr;            // int64, first lane
  llvm::Value* mask = nullptr;           // enabled lanes; null: all
  std::vector<llvm::Value*> acc_fields;  // per field: pointer for this step
  std::vector<llvm::Value*>* acc_values =
      nullptr;                      // per field: the state itself, where it lives in registers
  std::vector<llvm::Value*> boxes;  // per box: membership mask (constant true where known)
  bool inside = false;              // all boxes hold: no masks at all
  bool streaming = false;
  llvm::Value* report = nullptr;  // pointer to the words of the checks
  // Where a vector of float32 and one of float64 are kept that are no numbers once a number that is
  // infinite or none has been stored; null: nobody asks.
  llvm::Value* special[2] = {};
};

class Body {
 public:
  Body(Emit& e, const ir::Kernel& k) : E(e), B(e.B), k_(k) {}
  void emit(const Point& p);
  // The steps up to that value alone.
  Value emit_up_to(const Point& p, ir::Val last) {
    return emit_steps(p, static_cast<size_t>(last) + 1).back();
  }
  Value load(const ir::Arg& a, llvm::Value* row, llvm::Value* stride, llvm::Value* col,
             llvm::Value* mask);

 private:
  std::vector<Value> emit_steps(const Point& p, size_t count);
  void store(const ir::Arg& a, const Point& p, int arg, Value v, llvm::Value* mask);
  llvm::Value* gather(llvm::Type* scalar, llvm::Value* ptr, llvm::Value* stride, llvm::Value* mask);
  void scatter(llvm::Value* v, llvm::Value* ptr, llvm::Value* stride, llvm::Value* mask);
  // An access under a mask. Where `predicate` is of a box, it is passed over (and its value is
  // zero) if no lane is enabled: outside of the box there may be no memory, and masked accesses of
  // such addresses are slow.
  Value inside_box(ir::Val predicate, llvm::Value* mask,
                   const std::function<Value(llvm::Value*)>& access);
  bool of_box(ir::Val predicate) const;
  Value gather_at(const Point& p, const ir::Inst& i, llvm::Value* offset, llvm::Value* mask);
  void scatter_at(const Point& p, const ir::Inst& i, Value v, llvm::Value* offset,
                  llvm::Value* mask);
  void test(llvm::Value* at, llvm::Value* v, llvm::Value* mask);
  void check(const Point& p, const ir::Inst& i, llvm::Value* wrong, llvm::Value* index);
  llvm::Value* address(llvm::Value* row, llvm::Value* col, llvm::Value* stride, int size) {
    return B.CreateGEP(B.getInt8Ty(), row, B.CreateMul(col, stride ? stride : B.getInt64(size)));
  }

  Emit& E;
  llvm::IRBuilder<>& B;
  const ir::Kernel& k_;
};

}  // namespace numbus::compile
