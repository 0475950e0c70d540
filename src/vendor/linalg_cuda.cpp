// Linear algebra on an NVIDIA GPU: stacks of matrices as cuSOLVER takes them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "vendor/linalg.h"
#include "vendor/scratch.h"
#include "vendor/solver.h"

namespace numbus::vendor {
namespace {

// It stores matrices by columns, so that it takes a matrix stored by rows for its transpose.
class Call {
 public:
  Call(Device& d, const LinalgCall& c)
      : device_(d), c_(c), info_(d, static_cast<size_t>(count()) * sizeof(int32_t)) {
    check_layouts();
  }

  void run() {
    switch (c_.what) {
      case Linalg::Lu: return lu();
      case Linalg::Solve: return solve();
      case Linalg::Cholesky: return cholesky();
      case Linalg::Eigvalsh:
      case Linalg::Eigh: return eigen();
      case Linalg::Svdvals:
      case Linalg::Svd: return singular_values();
      case Linalg::Qr: return qr();
      case Linalg::QrQ: return q();
      default:
        raise(ErrorKind::Runtime, "linalg", "internal error", "a routine that cuSOLVER has not",
              "one with an entry for a GPU");
    }
  }

 private:
  int64_t count() const {
    const Layout& a = *c_.layouts[0];
    return a.size() / std::max<int64_t>(1, rows() * columns());
  }
  int64_t rows() const { return extent(0, 2); }
  int64_t columns() const { return extent(0, 1); }
  int64_t extent(size_t array, int from_end) const {
    const Layout& l = *c_.layouts[array];
    return l.shape(l.ndim() - from_end);
  }
  size_t bytes(size_t array) const {
    const Layout& l = *c_.layouts[array];
    return static_cast<size_t>(l.size() * l.itemsize());
  }

  // Whoever records a call sees to it that arrays lie so, and planning leaves that as it is.
  void check_layouts() const {
    const auto axes = axes_of(c_.what, c_.other);
    for (size_t k = 0; k < c_.layouts.size(); ++k) {
      const Layout& l = *c_.layouts[k];
      const bool turned =
          axes[k].size() == 2 && lies_by_columns(c_.what, k, c_.type, rows(), columns());
      int64_t step = l.itemsize();
      for (int d = l.ndim() - 1; d >= 0; --d) {
        const int last = l.ndim() - 1;
        const int axis = turned && d >= last - 1 ? (d == last ? last - 1 : last) : d;
        if (l.shape(axis) != 1 && l.stride(axis) != step)
          raise(ErrorKind::Runtime, "linalg", "internal error", "a stack of another layout",
                "matrices that lie as cuSOLVER takes them");
        step *= l.shape(axis);
      }
    }
  }

  // The library works in place.
  void copy(char* to, size_t array) { device_.copy_within(to, c_.data[array], bytes(array)); }
  Matrices matrices(char* data, int64_t m, int64_t n) const {
    return {c_.type, count(), m, n, data, info_.data()};
  }
  // Whether each matrix has a result; waits for the GPU.
  bool all_done() {
    std::vector<int32_t> words(static_cast<size_t>(count()));
    device_.copy_to_host(words.data(), info_.data(), words.size() * sizeof(int32_t));
    return std::ranges::all_of(words, [](int32_t w) { return w == 0; });
  }
  void check() {
    if (!all_done()) raise(ErrorKind::Linalg, failure_of(c_.what));
  }

  void lu() {
    copy(c_.data[1], 0);
    solver_getrf(device_, matrices(c_.data[1], rows(), rows()), c_.data[2]);
  }

  void solve() {
    const int64_t n = rows();
    Scratch factors(device_, bytes(0));
    Scratch pivots(device_, static_cast<size_t>(count() * n) * sizeof(int32_t));
    Scratch other_info(device_, static_cast<size_t>(count()) * sizeof(int32_t));
    copy(factors.data(), 0);
    copy(c_.data[2], 1);
    Matrices a = matrices(factors.data(), n, n);
    solver_getrf(device_, a, pivots.data());
    a.info = other_info.data();
    solver_getrs(device_, a, pivots.data(), true, extent(1, 1), c_.data[2]);
    if (may_fail(c_.what, c_.other)) check();
  }

  void cholesky() {
    copy(c_.data[1], 0);
    // Of the transposes the upper triangle is the lower one: aᵀ = uᴴ u, so that a = uᵀ (uᵀ)ᴴ, and
    // what is stored is uᵀ when it is read by rows. Likewise for the other triangle.
    solver_potrf(device_, matrices(c_.data[1], rows(), rows()), !c_.other);
    check();
  }

  void eigen() {
    const bool vectors = c_.what == Linalg::Eigh;
    Scratch lost(device_, vectors ? 0 : bytes(0));
    char* const x = vectors ? c_.data[2] : lost.data();
    Matrices a = matrices(x, rows(), rows());
    // What a call for a stack has given up is left to the QR iteration.
    for (const bool again : {false, true}) {
      copy(x, 0);
      a.one_by_one = again;
      solver_syevd(device_, a, vectors, c_.other, c_.data[1]);
      if (all_done()) return;
    }
    raise(ErrorKind::Linalg, failure_of(c_.what));
  }

  void singular_values() {
    const bool vectors = c_.what == Linalg::Svd, tall = rows() >= columns();
    Scratch lost(device_, bytes(0));
    copy(lost.data(), 0);
    // Of wide matrices it gets the transposes, aᵀ = u s v: a = vᵀ s uᵀ, and what is stored are
    // these transposes when it is read by rows.
    const Matrices a =
        matrices(lost.data(), std::max(rows(), columns()), std::min(rows(), columns()));
    char *const values = c_.data[vectors ? 2 : 1], *left = vectors ? c_.data[1] : nullptr,
                *right = vectors ? c_.data[3] : nullptr;
    if (!tall) std::swap(left, right);
    const int64_t wide = !vectors ? 0 : tall ? extent(1, 1) : extent(3, 2);
    if (!solver_has_gesvdj(c_.type, rows(), columns())) {
      solver_gesvd(device_, a, values, wide, left, right);
      return check();
    }
    // Jacobi's method gives v, which is its transpose when it is read by rows.
    solver_gesvdj(device_, a, values, wide, left, right);
    if (all_done()) return;
    copy(lost.data(), 0);
    Matrices turned = matrices(nullptr, a.cols, a.cols);
    const Scratch vt(device_, vectors ? static_cast<size_t>(count() * a.cols * a.cols) *
                                            static_cast<size_t>(itemsize(c_.type))
                                      : 0);
    solver_gesvd(device_, a, values, wide, left, vt.data());
    check();
    turned.data = vt.data();
    if (vectors) solver_turn(device_, turned, right);
  }

  void qr() {
    copy(c_.data[1], 0);
    solver_geqrf(device_, matrices(c_.data[1], rows(), columns()), c_.data[2]);
  }

  void q() {
    const int64_t m = rows(), reflectors = extent(1, 1), width = extent(2, 1);
    const int64_t item = itemsize(c_.type);
    char *const from = c_.data[0], *const to = c_.data[2];
    // The first columns hold the reflectors, one matrix after the other.
    device_.fill_bytes(to, 0, bytes(2), nullptr);
    for (int64_t s = 0; s < count(); ++s)
      device_.copy_within(to + s * m * width * item, from + s * m * columns() * item,
                          static_cast<size_t>(m * reflectors * item));
    solver_orgqr(device_, matrices(to, m, width), reflectors, c_.data[1]);
  }

  Device& device_;
  const LinalgCall& c_;
  Scratch info_;
};

}  // namespace

bool lies_by_columns(Linalg what, size_t array, DType type, int64_t rows, int64_t columns) {
  switch (what) {
    case Linalg::Solve: return array > 0;  // right sides and solutions, of the transposed matrix
    case Linalg::Eigvalsh:
    case Linalg::Eigh:
    case Linalg::Qr:
    case Linalg::QrQ: return true;
    case Linalg::Svdvals:
    case Linalg::Svd:
      if (array > 0 && solver_has_gesvdj(type, rows, columns)) return array == 1;
      return rows >= columns;
    default: return false;
  }
}

void linalg_cuda(Device& d, const LinalgCall& c) { Call(d, c).run(); }

}  // namespace numbus::vendor
