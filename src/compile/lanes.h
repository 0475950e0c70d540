// Function bodies on W lanes at once: each lane is an iteration of a parallel loop or a thread of a
// block.
//
// Values that are the same for all lanes stay scalars. Control flow that lanes may take differently
// runs under masks, as in ISPC (Pharr and Mark, 2012): a branch runs both sides, each for its
// lanes, a loop runs until no lane is left in it.
#pragma once

#include "compile/function_host.h"

namespace numbus::compile {

// What differs between lanes.
struct Varying {
  std::vector<char> value;      // per step
  std::vector<char> variable;   // per step that declares one
  std::vector<char> divergent;  // per loop: lanes leave it at different times
};
// Iterations of a loop; threads of a block, or of one warp of a block whose x is a multiple of 32.
enum class Lanes : uint8_t { Iterations, OfBlock, OfWarp };
// `same`: steps that are the same for all lanes whatever goes into them.
Varying find_varying(const ir::Function& f, Lanes lanes, const std::vector<char>* same = nullptr);

// Whether lanes can run it at all, and whether that pays: a loop that lanes leave at different
// times.
bool lanes_fit(const ir::Function& f);
bool lanes_pay(const ir::Function& f);
int pick_lanes(const ir::Function& f, const Varying& v, int vector_bytes);

class LaneBody : public HostBody {
 public:
  LaneBody(Emit& many, Emit& one, const ir::Module& m, const ir::Function& f,
           const std::vector<llvm::Function*>& functions, Varying v)
      : HostBody(one, m, f, functions), many_(many), vary_(std::move(v)) {}

  void emit_lanes(llvm::Function* to);

 protected:
  // A value on lanes. `first` and `stride`: lane l has first + l * stride.
  struct Lane {
    llvm::Value* v = nullptr;
    llvm::Value* im = nullptr;
    llvm::Value* first = nullptr;
    int64_t stride = 0;
  };
  void begin(llvm::Function* to);
  void end();
  void range(size_t begin, size_t end);
  Emit& one() { return E; }
  virtual llvm::Value* parameter(int64_t n) { return to_->getArg(static_cast<unsigned>(n) + 1); }
  virtual void finish(llvm::Value* status) {
    B.CreateRet(B.CreateInsertValue(llvm::PoisonValue::get(to_->getReturnType()), status, 0));
  }
  virtual void lane_step(size_t n);
  virtual bool lane_intrinsic(size_t n);
  llvm::Value* scalar(ir::Val v) { return lanes_[v].v; }
  llvm::Value* vector(ir::Val v);  // on all lanes
  llvm::Value* mask();             // lanes that run now
  llvm::Value* any(llvm::Value* mask) { return B.CreateOrReduce(mask); }
  void set_mask(llvm::Value* m) { B.CreateStore(m, mask_); }
  void branch_step(size_t n);
  void branch_lanes(size_t n);
  llvm::Value* maybe_outside(size_t n);
  void loop_step(size_t n);
  void leave(size_t n);
  void read(size_t n);
  void write(size_t n);
  void row_step(size_t n);
  // Runs f(lane, lane number) for each lane that runs now; results, if any, become lanes again.
  llvm::Value* each_lane(llvm::Type* result,
                         const std::function<llvm::Value*(llvm::Value* lane)>& f);
  llvm::Value* lane_of(ir::Val v, llvm::Value* lane);
  size_t end_of(size_t begin) const { return ends_[begin]; }

  Emit& many_;
  Varying vary_;
  std::vector<Lane> lanes_;
  std::vector<size_t> ends_;     // of branches and loops
  std::vector<size_t> middles_;  // branch_else, loop_next; 0: none
  llvm::BasicBlock* start_ = nullptr;
  llvm::AllocaInst* mask_ = nullptr;
  bool full_ = true;  // whether all lanes run, as far as is known here
  struct Loop {
    size_t begin;
    llvm::AllocaInst *live = nullptr, *resumed = nullptr;
    llvm::BasicBlock *next = nullptr, *after = nullptr;
  };
  std::vector<Loop> loops_;
  size_t around_ = 0;  // loops that are not this code's to jump in: around a run of threads
  int inside_ = 0;     // branches that lanes take differently, since the innermost loop began
  std::vector<llvm::Value*> lane_arguments_;
  std::vector<Rare> rare_lanes_;
};

}  // namespace numbus::compile
