// Calls of routines and libraries on few elements, without a window and a plan.
#include "array/at_once_calls.h"

#include <algorithm>

#include "array/at_once_blocks.h"
#include "array/capture.h"
#include "lazy/calls.h"
#include "lazy/explain.h"
#include "lazy/single.h"
#include "vendor/library.h"

namespace numbus {
namespace {

// Routines fuse with nothing on a CPU, so that only the cost of recording counts: it is lost in
// that of more elements than these.
constexpr int64_t kMostOfCall = 4096;
constexpr int64_t kMostMultiplications = int64_t{1} << 18;

// The memory of a result, which nothing else reaches.
bool fresh_now(const Array& a) {
  const Base& b = *a.base.get();
  return b.owned && b.shared == 0 && !b.pending() && !b.failure && !b.mask;
}

}  // namespace

bool may_work_at_once() {
  const Runtime& rt = Runtime::get();
  return rt.at_once > 0 && rt.mode == Mode::Auto && !rt.explanation && !observer() && !capture_now;
}

bool small::may_run(int64_t n, const Device& device) {
  return n <= Runtime::get().at_once && may_work_at_once() && device.host_readable();
}

bool readable_now(const Array& a) {
  Device* device = a.base->device;
  return !observer() && !capture_now && device->host_readable() &&
         small::rests(*device, [&] { return small::readable(*a.base.get(), device); });
}

bool call_at_once(const Instr& i, std::span<const Array* const> operands,
                  std::span<const Array* const> results) {
  if (!may_work_at_once()) return false;
  for (const Array* a : operands)
    if (!readable_now(*a) || a->size() > kMostOfCall) return false;
  for (const Array* a : results) {
    if (!fresh_now(*a) || a->size() > kMostOfCall || a->base->device != operands[0]->base->device)
      return false;
    for (const Array* o : operands)
      if (o->base.get() == a->base.get() || o->base->device != a->base->device) return false;
  }
  ViewRef arrays[kMaxOperands + 1 + kMaxMore];
  size_t n = 0;
  for (const Array* a : operands) arrays[n++] = a->view();
  for (const Array* a : results) arrays[n++] = a->view();
  if (!small::call_now(i, {arrays, n})) return false;
  for (const Array* a : results) a->base->changed();
  ++Runtime::get().stats.at_once;
  return true;
}

std::optional<Array> product_at_once(const Array& x, const Array& y) {
  const DType t = x.dtype;
  const int nx = x.ndim(), ny = y.ndim();
  if (t != y.dtype || nx < 1 || ny < 1 || nx > 2 || ny > 2 || nx + ny < 3 || !vendor::blas_takes(t))
    return {};
  const Layout &l = *x.layout, &r = *y.layout;
  const int64_t rows = nx == 2 ? l.shape(0) : 1, inner = l.shape(nx - 1),
                cols = ny == 2 ? r.shape(1) : 1;
  // Wrong shapes are for those who record.
  if (inner != r.shape(0)) return {};
  if (is_chain_of_rows(rows, inner, cols)) return {};
  const auto work = static_cast<__int128>(rows) * std::max<int64_t>(inner, 1) * cols;
  if (work > kMostMultiplications) return {};
  if (!may_work_at_once() || !readable_now(x) || !readable_now(y) ||
      x.base->device != y.base->device || !vendor::is_loaded("blas"))
    return {};
  const int64_t size = itemsize(t);
  int64_t shape[2] = {rows, cols};
  std::span<const int64_t> extents(shape, 2);
  if (nx == 1) extents = extents.subspan(1);
  if (ny == 1) extents = extents.first(extents.size() - 1);
  vendor::Product p{t, 1, rows, cols, inner, {}, {}, {}};
  x.base->ensure_data();
  y.base->ensure_data();
  p.a = {x.base->data + x.offset, nx == 2 ? l.stride(0) : 0, l.stride(nx - 1), 0};
  p.b = {y.base->data + y.offset, r.stride(0), ny == 2 ? r.stride(1) : 0, 0};
  p.out = {nullptr, cols * size, size, 0};
  if (!vendor::blas_takes(p)) return {};
  Array made = empty(extents, t, x.base->device);
  made.base->ensure_data();
  p.out.data = made.base->data;
  vendor::matmul_cpu(p);  // zeros where nothing is summed
  made.base->changed();
  ++Runtime::get().stats.at_once;
  return made;
}

}  // namespace numbus
