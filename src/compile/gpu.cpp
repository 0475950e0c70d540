// Loops around a kernel body for an NVIDIA GPU: one thread per few consecutive points, reductions
// in one launch.
#include "compile/gpu.h"

#include "base/error.h"
#include "compile/gpu_reductions.h"

namespace numbus::compile {

std::string GpuKernel::key() const {
  std::string s = kernel->key();
  auto put = [&](const auto& v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(form);
  put(vector);
  put(rows_each);
  put(strip);
  put(warps);
  put(narrow);
  for (const GpuAddress& p : addresses) {
    put(p.like);
    put(p.base);
    put(p.row);
    put(p.col);
  }
  for (const GpuReduce& r : reduces) {
    put(r.kind);
    put(r.in);
    put(r.out);
    put(r.first_field);
  }
  return s;
}

int gpu_reduce_vector(const GpuKernel& k) {
  // Only what rounds has an order to keep; the planner gives a kernel one width of such.
  int widest = 4, rounding = 0;
  for (const GpuReduce& r : k.reduces) {
    int size = itemsize(real_of(r.in));
    widest = std::max(widest, size);
    const bool orders =
        r.kind == Reduction::Sum || r.kind == Reduction::Prod || r.kind == Reduction::Var;
    if (is_inexact(r.in) && orders) rounding = std::max(4, size);
  }
  return 16 / (rounding ? rounding : widest);
}

namespace {

class Gpu : GpuReductions {
 public:
  Gpu(llvm::Module& m, const GpuKernel& g) : GpuReductions(m, g) {}

  void build() {
    enter();
    if (g_.form == GpuForm::Map)
      map();
    else if (g_.form == GpuForm::ReduceColumns)
      columns();
    else if (g_.warps)
      warps();
    else if (g_.strip)
      strips();
    else
      strip_mined();
    b_.CreateRetVoid();
  }

 private:
  void map() {
    V rows = word(g_.word_rows()), cols = word(g_.word_points()), n = b_.getInt64(g_.vector);
    V row0 = b_.CreateAdd(b_.CreateMul(block_y_, ntid_y_), tid_y_),
      row_step = b_.CreateMul(grid_y_, ntid_y_);
    V col0 = b_.CreateMul(b_.CreateAdd(b_.CreateMul(block_x_, ntid_), tid_), n),
      col_step = b_.CreateMul(b_.CreateMul(grid_x_, ntid_), n);
    if (g_.rows_each > 1) {
      V each = b_.getInt64(g_.rows_each);
      V full = b_.CreateSub(rows, b_.getInt64(g_.rows_each - 1));
      V rest = loop(b_.CreateMul(row0, each), full, b_.CreateMul(row_step, each),
                    [&](V row) { strip(row, col0, cols, col_step); });
      row0 = rest;
      row_step = b_.getInt64(1);
    }
    loop(row0, rows, row_step, [&](V row) {
      Row r = enter_row(row);
      if (k_.boxes > 0) {
        loop(col0, cols, col_step, [&](V col) { points(r, col, cols); });
        return;
      }
      V whole = b_.CreateSub(cols, b_.getInt64(g_.vector - 1));
      V rest = loop(col0, whole, col_step, [&](V col) { whole_vector(r, col); });
      if (g_.vector > 1) loop(rest, cols, b_.getInt64(1), [&](V col) { one_point(r, col, 0); });
    });
  }

  // Several rows at once: what neighbouring rows read of one base is loaded once.
  void strip(V first, V col0, V cols, V col_step) {
    const Row top = enter_row(first);
    V whole = b_.CreateSub(cols, b_.getInt64(g_.vector - 1));
    V rest = loop(col0, whole, col_step, [&](V col) {
      GpuWindows::Elements window;
      for (int n = 0; n < g_.rows_each; ++n)
        windows_.fill(window, top.one.rows, row_stride(), col, n);
      // No branch between the rows, so that all their reads are under way at once.
      many_.defer = !split_ && windows_.only_shifted();
      many_.good = nullptr;
      for (int n = 0; n < g_.rows_each; ++n) whole_vector(row_below(top, n), col, top, window, n);
      many_.defer = false;
      if (!many_.good) return;
      branch(b_.CreateNot(many_.good), [&] {
        loop(b_.getInt64(0), b_.getInt64(g_.rows_each), b_.getInt64(1), [&](V n) {
          Row at = enter_row(b_.CreateAdd(first, n));
          loop(b_.getInt64(0), b_.getInt64(g_.vector), b_.getInt64(1),
               [&](V v) { one_point(at, b_.CreateAdd(col, v), 0); });
        });
      });
    });
    loop(rest, cols, b_.getInt64(1), [&](V col) {
      loop(b_.getInt64(0), b_.getInt64(g_.rows_each), b_.getInt64(1),
           [&](V n) { one_point(enter_row(b_.CreateAdd(first, n)), col, 0); });
    });
  }
};

}  // namespace

std::string build_ptx(const GpuKernel& g, int sm, int ptx) {
  return emit_ptx(sm, ptx, [&](llvm::Module& m) { Gpu(m, g).build(); });
}

}  // namespace numbus::compile
