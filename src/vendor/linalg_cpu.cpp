// Linear algebra on a CPU by the loops of NumPy's own ufuncs.
#include "vendor/linalg.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/float_flags.h"
#include "device/cpu/thread_pool.h"

namespace numbus::vendor {
namespace {

constexpr std::array<std::array<LinalgForm, 2>, kLinalgs> kForms = {{
    {{{"inv", "(m,m)->(m,m)"}, {"inv", "(m,m)->(m,m)"}}},
    {{{"solve", "(m,m),(m,n)->(m,n)"}, {"solve", "(m,m),(m,n)->(m,n)"}}},
    {{{"det", "(m,m)->()"}, {"det", "(m,m)->()"}}},
    {{{"slogdet", "(m,m)->(),()"}, {"slogdet", "(m,m)->(),()"}}},
    {{{"cholesky_lo", "(m,m)->(m,m)"}, {"cholesky_up", "(m,m)->(m,m)"}}},
    {{{"eigvalsh_lo", "(m,m)->(m)"}, {"eigvalsh_up", "(m,m)->(m)"}}},
    {{{"eigh_lo", "(m,m)->(m),(m,m)"}, {"eigh_up", "(m,m)->(m),(m,m)"}}},
    {{{"eigvals", "(m,m)->(m)"}, {"eigvals", "(m,m)->(m)"}}},
    {{{"eig", "(m,m)->(m),(m,m)"}, {"eig", "(m,m)->(m),(m,m)"}}},
    {{{"svd", "(m,n)->(p)"}, {"svd", "(m,n)->(p)"}}},
    {{{"svd_s", "(m,n)->(m,p),(p),(p,n)"}, {"svd_f", "(m,n)->(m,m),(p),(n,n)"}}},
    {{{"qr_r_raw", "(m,n)->(p)"}, {"qr_r_raw", "(m,n)->(p)"}}},
    {{{"qr_reduced", "(m,n),(k)->(m,k)"}, {"qr_complete", "(m,n),(n)->(m,m)"}}},
    {{{nullptr, "(m,m)->(m,m),(m)"}, {nullptr, "(m,m)->(m,m),(m)"}}},
}};

struct Loop {
  LinalgLoop run = nullptr;
  void* data = nullptr;
};
// By function, form, and whether complex.
std::array<std::array<std::array<Loop, 2>, 2>, kLinalgs> loops;

Loop& loop_of(Linalg what, bool other, DType t) {
  return loops[static_cast<size_t>(what)][other][is_complex(t)];
}

// LAPACK has threads of its own for matrices of so many rows.
constexpr int64_t kSmall = 64;
// A chunk of less work than that is not worth another thread: ns.
constexpr int64_t kLeastChunk = 100'000;
// What a call takes beside its multiplications: ns for each matrix.
constexpr int64_t kCall = 200;
constexpr int64_t kMostArrays = 5;
// So many determinants are computed again at most to see what they met.
constexpr int64_t kMostLooks = 64;

// The parentheses of a signature.
std::vector<std::string_view> groups_of(std::string_view signature) {
  std::vector<std::string_view> groups;
  for (size_t at = 0; (at = signature.find('(', at)) != std::string_view::npos;) {
    const size_t end = signature.find(')', at);
    groups.push_back(signature.substr(at + 1, end - at - 1));
    at = end;
  }
  return groups;
}

class Matrices {
 public:
  explicit Matrices(const LinalgCall& c) : c_(c), loop_(loop_of(c.what, c.other, c.type)) {
    if (!loop_.run)
      raise(ErrorKind::Runtime, name(), "NumPy's loops are not known", "none", "those of NumPy 2");
    const auto axes = axes_of(c.what, c.other);
    std::string letters;
    for (size_t k = 0; k < axes.size(); ++k) {
      const Layout& l = *c.layouts[std::min(k, c.layouts.size() - 1)];
      const int own = static_cast<int>(axes[k].size()), lead = l.ndim() - own;
      for (int d = 0; d < own; ++d) {
        const char letter = axes[k][static_cast<size_t>(d)];
        if (letters.find(letter) == std::string::npos) {
          letters += letter;
          extents_[letters.size()] = l.shape(lead + d);
        }
      }
      if (k == 0)
        for (int d = 0; d < lead; ++d) lead_.push_back(l.shape(d));
    }
    // An axis of NumPy's that only a result of ours has: qr's own operand is the first result.
    order_.resize(axes.size());
    for (size_t k = 0; k < axes.size(); ++k) order_[k] = static_cast<int>(k);
    if (c.what == Linalg::Slogdet) std::swap(order_[1], order_[2]);
    if (c.what == Linalg::Qr) order_.erase(order_.begin());
    const size_t n = order_.size();
    size_t at = n;
    for (size_t k = 0; k < n; ++k) {
      const Layout& l = layout(k);
      const int own = static_cast<int>(axes[static_cast<size_t>(order_[k])].size());
      for (int d = l.ndim() - own; d < l.ndim(); ++d) strides_[at++] = l.stride(d);
      if (!lead_.empty()) strides_[k] = l.stride(static_cast<int>(lead_.size()) - 1);
    }
    for (const int64_t e : lead_) total_ *= e;
    const Layout& a = *c.layouts[0];
    rows_ = a.shape(a.ndim() - 2);
    columns_ = a.shape(a.ndim() - 1);
  }

  void run() {
    if (total_ == 0) return;
    // Below that, a matrix is one thread's; the library shares the larger ones by itself.
    const bool shares = std::max(rows_, columns_) < kSmall;
    const int64_t each = kCall + linalg_work(c_.what, rows_, columns_) / 4;
    const int64_t grain = shares ? std::max<int64_t>(1, kLeastChunk / each) : total_;
    parallel_for_each(total_, grain, [&](int64_t begin, int64_t end, int) { part(begin, end); });
    // In NumPy's words, whoever has found it.
    if (fails_) raise(ErrorKind::Linalg, failure_of(c_.what));
  }

  // Of determinants, of which each is one number, or two.
  unsigned flags() const {
    const numbus::flags::Apart apart;
    int64_t looks = 0;
    for (int64_t k = 0; k < total_ && looks < kMostLooks; ++k) {
      double made[2] = {};
      std::memcpy(made, address(1, k), static_cast<size_t>(c_.layouts[1]->itemsize()));
      if (std::isfinite(made[0]) && std::isfinite(made[1])) continue;
      ++looks;
      double results[2][2];
      char* args[] = {address(0, k), reinterpret_cast<char*>(results[0]),
                      reinterpret_cast<char*>(results[1])};
      const intptr_t extents[] = {1, rows_};
      loop_.run(args, extents, strides_.data(), loop_.data);
    }
    return numbus::flags::raised();
  }

 private:
  std::string name() const {
    const std::string_view whole = kForms[static_cast<size_t>(c_.what)][0].ufunc;
    return std::string(whole.substr(0, whole.find('_')));
  }
  // Of the signs, of which flags() knows nothing, those of what is beside them.
  const Layout& layout(size_t k) const {
    return *c_.layouts[std::min(static_cast<size_t>(order_[k]), c_.layouts.size() - 1)];
  }

  void part(int64_t begin, int64_t end) {
    const numbus::flags::Apart apart;
    call(begin, end);
    if (may_fail(c_.what, c_.other) && (numbus::flags::raised() & numbus::flags::Invalid))
      fails_ = true;
  }

  // The matrices [begin, end). The flags are those that the loops leave.
  void call(int64_t begin, int64_t end) const {
    const int64_t inner = lead_.empty() ? 1 : lead_.back();
    unsigned met = 0;
    while (begin < end) {
      const int64_t n = std::min(end - begin, inner - begin % inner);
      if (c_.what == Linalg::Qr) bring(begin, n);
      char* args[kMostArrays];
      for (size_t k = 0; k < order_.size(); ++k)
        args[k] = address(static_cast<size_t>(order_[k]), begin);
      std::array<intptr_t, kMostCoreDims + 1> extents = extents_;
      extents[0] = n;
      // Each loop clears the flags that the one before has left.
      loop_.run(args, extents.data(), strides_.data(), loop_.data);
      met |= numbus::flags::raised();
      begin += n;
    }
    numbus::flags::raise(met);
  }

  char* address(size_t array, int64_t matrix) const {
    char* p = c_.data[array];
    const Layout& l = *c_.layouts[array];
    for (size_t d = lead_.size(); d-- > 0;) {
      p += matrix % lead_[d] * l.stride(static_cast<int>(d));
      matrix /= lead_[d];
    }
    return p;
  }

  // Operands where the loop works in place.
  void bring(int64_t begin, int64_t n) const {
    const Layout &from = *c_.layouts[0], &to = *c_.layouts[1];
    const int d = from.ndim() - 2;
    const auto item = static_cast<size_t>(itemsize(c_.type));
    for (int64_t k = begin; k < begin + n; ++k) {
      const char* read = address(0, k);
      char* made = address(1, k);
      for (int64_t i = 0; i < rows_; ++i)
        for (int64_t j = 0; j < columns_; ++j)
          std::memcpy(made + i * to.stride(d) + j * to.stride(d + 1),
                      read + i * from.stride(d) + j * from.stride(d + 1), item);
    }
  }

  const LinalgCall& c_;
  const Loop loop_;
  std::vector<int64_t> lead_;
  std::vector<int> order_;  // NumPy's operands and results, by number of ours
  std::array<intptr_t, kMostCoreDims + 1> extents_{};
  std::array<intptr_t, 3 * kMostArrays> strides_{};
  int64_t total_ = 1, rows_ = 0, columns_ = 0;
  std::atomic<bool> fails_{false};
};

}  // namespace

const LinalgForm& form_of(Linalg what, bool other) {
  return kForms[static_cast<size_t>(what)][other];
}

std::vector<std::string_view> axes_of(Linalg what, bool other) {
  std::vector<std::string_view> groups = groups_of(form_of(what, other).signature);
  std::vector<std::string_view> axes;
  // Without commas, which stand between letters.
  static constexpr std::string_view kPairs[] = {"mm", "mn", "mp", "mk", "nn", "pn"};
  for (const std::string_view g : groups) {
    if (g.size() < 3) {
      axes.push_back(g);
      continue;
    }
    for (const std::string_view pair : kPairs)
      if (pair[0] == g[0] && pair[1] == g[2]) axes.push_back(pair);
  }
  // It works in place.
  if (what == Linalg::Qr) axes.insert(axes.begin() + 1, "mn");
  return axes;
}

DType result_type(Linalg what, int result, DType t) {
  switch (what) {
    case Linalg::Eigvalsh:
    case Linalg::Svdvals: return real_of(t);
    case Linalg::Slogdet:
    case Linalg::Eigh: return result == 0 ? real_of(t) : t;
    case Linalg::Svd: return result == 1 ? real_of(t) : t;
    case Linalg::Eigvals:
    case Linalg::Eig: return DType::C128;
    case Linalg::Lu: return result == 1 ? DType::I32 : t;
    default: return t;
  }
}

bool may_fail(Linalg what, bool other) {
  if (what == Linalg::Solve) return !other;
  return what != Linalg::Det && what != Linalg::Slogdet && what != Linalg::Qr &&
         what != Linalg::QrQ && what != Linalg::Lu;
}

const char* failure_of(Linalg what) {  // in NumPy's words
  switch (what) {
    case Linalg::Cholesky: return "Matrix is not positive definite";
    case Linalg::Inv:
    case Linalg::Solve: return "Singular matrix";
    case Linalg::Svd:
    case Linalg::Svdvals: return "SVD did not converge";
    default: return "Eigenvalues did not converge";
  }
}

void set_linalg_loop(Linalg what, bool other, DType t, LinalgLoop loop, void* data) {
  loop_of(what, other, t) = {loop, data};
}

bool has_linalg_loops() {
  for (size_t k = 0; k < kLinalgs; ++k)
    for (size_t form = 0; form < 2; ++form)
      for (const Loop& l : loops[k][form])
        if (!l.run && kForms[k][form].ufunc) return false;
  return true;
}

void linalg_cpu(const LinalgCall& c) { Matrices(c).run(); }

unsigned linalg_flags(const LinalgCall& c) { return Matrices(c).flags(); }

int64_t linalg_work(Linalg what, int64_t rows, int64_t columns) {
  const int64_t once = rows * columns * std::min(rows, columns);
  switch (what) {
    case Linalg::Eig:
    case Linalg::Eigvals: return 25 * once;
    case Linalg::Svd: return 20 * once;
    case Linalg::Eigh: return 10 * once;
    case Linalg::Svdvals:
    case Linalg::Eigvalsh: return 4 * once;
    default: return once;
  }
}

}  // namespace numbus::vendor
