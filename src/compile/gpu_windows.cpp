// Which reads are shifts of one another, and their elements as they are needed.
#include "compile/gpu_windows.h"

namespace numbus::compile {

// Whether an argument is read wherever the point lies inside all boxes.
bool GpuWindows::always_read(int a) const {
  std::function<bool(ir::Val)> holds = [&](ir::Val v) {
    if (v == ir::kNone) return true;
    const ir::Inst& i = k_.body[v];
    return i.op == Op::in_box ||
           ((i.op == Op::logical_and || i.op == Op::bitwise_and) && holds(i.a) && holds(i.b));
  };
  bool read = false;
  for (const ir::Inst& i : k_.body) {
    if ((i.op == Op::store || scatters_by(i.op)) && i.imm == a) return false;
    if (i.op != Op::load || i.imm != a) continue;
    if (!holds(i.a)) return false;
    read = true;
  }
  return read;
}

// The boxes that a point has to be in for an always_read argument.
std::set<int> GpuWindows::boxes_of(int a) const {
  std::set<int> boxes;
  std::function<void(ir::Val)> gather = [&](ir::Val v) {
    if (v == ir::kNone) return;
    const ir::Inst& i = k_.body[v];
    if (i.op == Op::in_box) {
      boxes.insert(static_cast<int>(i.imm));
      return;
    }
    gather(i.a);
    gather(i.b);
  };
  for (const ir::Inst& i : k_.body)
    if (i.op == Op::load && i.imm == a) gather(i.a);
  return boxes;
}

GpuWindows::GpuWindows(llvm::IRBuilder<>& b, const GpuKernel& g, Emit& one, Emit& many)
    : b_(b), g_(g), k_(*g.kernel), one_(one), many_(many) {
  std::set<int> written;
  for (int a = 0; a < static_cast<int>(k_.args.size()); ++a) {
    DType t = k_.args[a].dtype;
    if ((t != DType::F32 && t != DType::F64) || g_.vector == 1 ||
        k_.args[a].inner != ir::Inner::Contiguous)
      continue;
    if (always_read(a)) groups_[g_.addresses[a].base].push_back(a);
    for (const ir::Inst& i : k_.body)
      if ((i.op == Op::store || scatters_by(i.op)) && i.imm == a)
        written.insert(g_.addresses[a].base);
  }
  // A thread of several rows loads all of them at once; so does one beside a box.
  size_t least = g_.rows_each > 1 || g_.strip ? 1 : 2;
  std::erase_if(groups_,
                [&](const auto& w) { return w.second.size() < least || written.count(w.first); });
}

void GpuWindows::fill(Elements& window, const std::vector<V>& rows,
                      const std::function<V(int)>& stride, V col, int below) {
  for (const auto& [base, members] : groups_) {
    int first = 0;  // columns congruent to it allow whole vectors
    bool vectors = false;
    std::map<int, std::set<int>> wanted;  // row: columns
    for (int a : members) {
      const GpuAddress& at = g_.addresses[a];
      if (k_.args[a].aligned && !vectors) first = at.col, vectors = true;
      for (int v = 0; v < g_.vector; ++v)
        if (!window.count({base, at.row + below, at.col + v}))
          wanted[at.row + below].insert(at.col + v);
    }
    llvm::Type* t = one_.scalar_type(k_.args[base].dtype);
    int64_t size = itemsize(k_.args[base].dtype);
    V apart = stride(base);
    for (const auto& [r, columns] : wanted) {
      V row = rows[base];
      if (r != 0) row = b_.CreateGEP(b_.getInt8Ty(), row, b_.CreateMul(apart, b_.getInt64(r)));
      row = b_.CreateGEP(b_.getInt8Ty(), row, b_.CreateMul(col, b_.getInt64(size)));
      auto at = [&](int c) { return b_.CreateGEP(b_.getInt8Ty(), row, b_.getInt64(c * size)); };
      for (int c : columns) {
        if (window.count({base, r, c})) continue;
        int n = g_.vector, start = c - ((c - first) % n + n) % n;
        bool whole = vectors;
        for (int v = 0; v < n; ++v) whole = whole && columns.count(start + v);
        if (!whole) {
          window[{base, r, c}] = b_.CreateAlignedLoad(t, at(c), llvm::Align(size));
          continue;
        }
        V both = b_.CreateAlignedLoad(many_.wide(t), at(start),
                                      llvm::Align(std::min<int64_t>(16, n * size)));
        for (int v = 0; v < n; ++v)
          window[{base, r, start + v}] = b_.CreateExtractElement(both, b_.getInt64(v));
      }
    }
  }
}

bool GpuWindows::only_shifted() const {
  for (const ir::Inst& i : k_.body) {
    if (i.op == Op::gather || i.op == Op::scatter) return false;
    if (i.op != Op::load) continue;
    auto w = groups_.find(g_.addresses[i.imm].base);
    bool shifted = false;
    if (w != groups_.end())
      for (int a : w->second)
        shifted = shifted || g_.addresses[a].row != 0 || g_.addresses[a].col != 0;
    if (!shifted) return false;
  }
  return true;
}

void GpuWindows::fill_enabled(Elements& window, const std::vector<V>& rows,
                              const std::function<V(int)>& stride, V col,
                              const std::function<V(int, int)>& enabled, V safe) {
  for (const auto& [base, members] : groups_) {
    std::map<std::array<int, 2>, V> wanted;  // (row, column): by whom
    for (int a : members) {
      const GpuAddress& at = g_.addresses[a];
      auto boxes = boxes_of(a);
      for (int v = 0; v < g_.vector; ++v) {
        V mine = b_.getTrue();
        for (int x : boxes) mine = b_.CreateAnd(mine, enabled(x, v));
        V& all = wanted[{at.row, at.col + v}];
        all = all ? b_.CreateOr(all, mine) : mine;
      }
    }
    llvm::Type* t = one_.scalar_type(k_.args[base].dtype);
    int64_t size = itemsize(k_.args[base].dtype);
    for (const auto& [at, mask] : wanted) {
      V p = b_.CreateGEP(b_.getInt8Ty(), rows[base], b_.CreateMul(col, b_.getInt64(size)));
      p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(at[1] * size));
      if (at[0] != 0)
        p = b_.CreateGEP(b_.getInt8Ty(), p, b_.CreateMul(stride(base), b_.getInt64(at[0])));
      V v = b_.CreateAlignedLoad(t, b_.CreateSelect(mask, p, safe), llvm::Align(size));
      window[{base, at[0], at[1]}] = b_.CreateSelect(mask, v, llvm::Constant::getNullValue(t));
    }
  }
}

void GpuWindows::use(Point& p, Elements& window, const std::vector<V>& rows,
                     const std::function<V(int)>& stride, V col, int below) {
  fill(window, rows, stride, col, below);
  for (const auto& [base, members] : groups_)
    for (int a : members) {
      const GpuAddress& at = g_.addresses[a];
      V all = llvm::PoisonValue::get(many_.type(k_.args[a].dtype));
      for (int v = 0; v < g_.vector; ++v)
        all = b_.CreateInsertElement(all, window.at({base, at.row + below, at.col + v}),
                                     b_.getInt64(v));
      p.uniform[a].v = all;
    }
}

}  // namespace numbus::compile
