// Linear algebra: one recorded call for a stack of matrices.
#include <numeric>

#include "array/array.h"
#include "array/capture.h"
#include "base/error.h"
#include "lazy/calls.h"
#include "lazy/entries.h"
#include "vendor/linalg.h"

namespace numbus {
namespace {

// The axes before the last `own` ones.
Array lead_of(const Array& a, int own) {
  const Layout& l = *a.layout;
  const auto n = static_cast<size_t>(l.ndim() - own);
  return view_of(a, Layout::get({l.shape(), n}, {l.strides(), n}, l.itemsize()), a.offset);
}

std::vector<int> order_of(std::span<const Array> given, std::span<const std::string_view> axes) {
  std::vector<Array> leads;
  for (size_t k = 0; k < given.size(); ++k)
    leads.push_back(lead_of(given[k], static_cast<int>(axes[k].size())));
  std::vector<const Array*> all;
  for (const Array& a : leads) all.push_back(&a);
  return iteration_order(all, leads[0].ndim());
}

int64_t extent(char letter, std::span<const Array> given, std::span<const std::string_view> axes) {
  for (size_t k = 0; k < given.size(); ++k)
    if (const size_t at = axes[k].find(letter); at != std::string_view::npos)
      return given[k].layout->shape(given[k].ndim() - static_cast<int>(axes[k].size() - at));
  const Layout& a = *given[0].layout;  // singular values, and factors of qr
  return std::min(a.shape(a.ndim() - 2), a.shape(a.ndim() - 1));
}

void check(Routine r, std::span<const Array> given, std::span<const std::string_view> axes) {
  const DType t = given[0].dtype;
  const bool wide = given[0].base->device->runs_on_host();
  bool fits =
      t == DType::F64 || t == DType::C128 || (!wide && (t == DType::F32 || t == DType::C64));
  const int lead = given[0].ndim() - static_cast<int>(axes[0].size());
  for (size_t k = 0; k < given.size(); ++k) {
    const Layout& l = *given[k].layout;
    const int own = static_cast<int>(axes[k].size());
    fits = fits && given[k].dtype == t && lead >= 0 && l.ndim() == lead + own && l.size() > 0;
    for (int d = 0; fits && d < lead; ++d) fits = l.shape(d) == given[0].layout->shape(d);
    for (int d = 0; fits && d < own; ++d)
      fits = l.shape(lead + d) == extent(axes[k][static_cast<size_t>(d)], given, axes);
  }
  if (fits) return;
  std::string got;
  for (const Array& a : given)
    got +=
        (got.empty() ? "" : " and ") + shape_string(*a.layout) + " " + std::string(name(a.dtype));
  raise(ErrorKind::Value, std::string(row(r).name), "operands that its loop does not take", got,
        "stacks of as many matrices of " + std::string(wide ? "" : "float32, complex64, ") +
            "float64 or complex128 that fit");
}

// Where axes of a stack lie in C order and its matrices by rows or by columns.
std::vector<int> dense_order(int dims, bool by_columns) {
  std::vector<int> order(static_cast<size_t>(dims));
  std::iota(order.begin(), order.end(), 0);
  if (by_columns) std::swap(order.end()[-1], order.end()[-2]);
  return order;
}

bool lies_as(const Layout& l, const Layout& wanted) {
  for (int d = 0; d < l.ndim(); ++d)
    if (l.shape(d) != 1 && l.stride(d) != wanted.stride(d)) return false;
  return true;
}

// How a library on a GPU asks for arrays.
class OnGpu {
 public:
  OnGpu(vendor::Linalg what, const Array& first)
      : what_(what),
        type_(first.dtype),
        rows_(first.layout->shape(first.ndim() - 2)),
        columns_(first.layout->shape(first.ndim() - 1)) {}

  const Layout* layout(size_t array, std::span<const int64_t> shape, size_t own, int item) const {
    const bool by_columns =
        own == 2 && vendor::lies_by_columns(what_, array, type_, rows_, columns_);
    return dense_layout(shape, dense_order(static_cast<int>(shape.size()), by_columns), item);
  }
  Array operand(size_t array, const Array& a, size_t own) const {
    const Layout* wanted = layout(array, a.shape(), own, itemsize(a.dtype));
    if (lies_as(*a.layout, *wanted)) return a;
    Array made = fresh(wanted, a.dtype, a.base->device);
    assign(made, Arg(&a));
    return made;
  }

 private:
  vendor::Linalg what_;
  DType type_;
  int64_t rows_, columns_;
};

}  // namespace

std::vector<Array> linalg(Routine r, bool other, std::span<const Array> operands) {
  const RoutineRow& about = row(r);
  if (!is_linalg(r) || operands.size() != about.operands)
    raise(ErrorKind::Value, "linalg", "not as many operands as its row says",
          std::to_string(operands.size()), std::to_string(about.operands));
  Device& device = *operands[0].base->device;
  const bool here = device.runs_on_host();
  if (here ? !entries_of(r).cpu || !vendor::has_linalg_loops() : !entries_of(r).gpu)
    raise(ErrorKind::Runtime, std::string(about.name), "nothing carries it out", device.label(),
          "a CPU with the loops of NumPy 2, or a device with an entry in the table of routines");
  const vendor::Linalg what = linalg_of(r);
  const auto axes = vendor::axes_of(what, other);
  check(r, operands, axes);
  const DType t = operands[0].dtype;
  const OnGpu there(what, operands[0]);
  std::vector<Array> given(operands.begin(), operands.end());
  for (size_t k = 0; k < given.size() && !here; ++k)
    given[k] = there.operand(k, given[k], axes[k].size());
  const std::vector<int> lead = order_of(given, axes);
  std::vector<Array> results;
  std::vector<const Array*> made, read;
  for (int k = 0; k < about.results; ++k) {
    const size_t at = given.size() + static_cast<size_t>(k);
    const std::string_view own = axes[at];
    std::vector<int64_t> shape(given[0].shape().begin(),
                               given[0].shape().begin() + static_cast<std::ptrdiff_t>(lead.size()));
    for (const char letter : own) shape.push_back(extent(letter, given, axes));
    const DType of = vendor::result_type(what, k, t);
    if (!here) {
      results.push_back(fresh(there.layout(at, shape, own.size(), itemsize(of)), of, &device));
      continue;
    }
    std::vector<int> order = lead;
    for (size_t d = lead.size(); d < shape.size(); ++d) order.push_back(static_cast<int>(d));
    if (r == Routine::qr && k == 0) {  // a copy of the operand, as NumPy makes it
      const Array* const a = given.data();
      order = iteration_order({&a, 1}, a->ndim());
    }
    results.push_back(fresh(dense_layout(shape, order, itemsize(of)), of, &device));
  }
  for (const Array& a : given) read.push_back(&a);
  for (const Array& a : results) made.push_back(&a);
  Instr i;
  i.routine = r;
  i.loop = t;
  i.attributes[0] = other;
  record_call(i, read, made);
  // A program that handles a LinAlgError expects it of the call; of an example of a batch, that of
  // the batch is looked at.
  if (vendor::may_fail(what, other) && !Capture::alone()) {
    Capture::spoil("a matrix may have no result, which a step that is repeated tells too late");
    Runtime::get().materialize(results[0].base.get(), "a matrix may have no result");
  }
  return results;
}

}  // namespace numbus
