// Shifted reads of one base around a vector of points: each element is loaded once.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "compile/body.h"
#include "compile/gpu.h"

namespace numbus::compile {

class GpuWindows {
 public:
  using V = llvm::Value*;
  // (argument, row, column), counted from the point of the top row.
  using Elements = std::map<std::array<int, 3>, V>;

  GpuWindows(llvm::IRBuilder<>& b, const GpuKernel& g, Emit& one, Emit& many);
  // Loads what is lacking for the row `below` rows below the top one. rows: its pointers, per
  // argument; stride: bytes between the rows of an argument.
  void fill(Elements& window, const std::vector<V>& rows, const std::function<V(int)>& stride,
            V col, int below);
  // Loads what a row needs where not every point is inside the boxes: enabled(box, lane) tells
  // which are. What none of these reads comes from `safe` and is zero.
  void fill_enabled(Elements& window, const std::vector<V>& rows,
                    const std::function<V(int)>& stride, V col,
                    const std::function<V(int, int)>& enabled, V safe);
  // Whether all reads are of bases that are read elsewhere too, which the kernel then does not
  // write.
  bool only_shifted() const;
  // Gives `p` the values of all shifted reads of that row.
  void use(Point& p, Elements& window, const std::vector<V>& rows,
           const std::function<V(int)>& stride, V col, int below);

 private:
  bool always_read(int a) const;
  std::set<int> boxes_of(int a) const;

  llvm::IRBuilder<>& b_;
  const GpuKernel& g_;
  const ir::Kernel& k_;
  Emit &one_, &many_;
  std::map<int, std::vector<int>> groups_;  // base: reads shifted against it
};

}  // namespace numbus::compile
