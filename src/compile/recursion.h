// Functions that call themselves, on a host: which ones do, and calls at their end as loops.
#pragma once

#include <map>
#include <set>

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace numbus::compile {

// Which functions of a module call which, by name or by handing on their address.
class CallGraph {
 public:
  explicit CallGraph(llvm::Module& m);
  // Whether a call of `to` in `f` may lead back to `f`.
  bool leads_back(llvm::Function* to, llvm::Function* f) const;
  bool calls_itself(llvm::Function* f) const { return reaches(f, f); }

 private:
  bool reaches(llvm::Function* from, llvm::Function* f) const;
  std::map<llvm::Function*, std::set<llvm::Function*>> calls_;
};

// A call that a function makes of itself at its end becomes a loop, which counts the frames that it
// saves and ends as recursion without end does. No other call gives up its caller's frame. Before
// anything else is optimised.
void loop_tail_calls(llvm::Module& m, llvm::TargetMachine& machine);

}  // namespace numbus::compile
