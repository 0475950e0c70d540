// einsum of plain operands by the plans of numbus.functions.einsum, kept by their text.
#include <algorithm>
#include <unordered_map>

#include "quick.h"
#include "vendor/library.h"

namespace numbus::bindings {
namespace {

using Axes = std::vector<int>;

// The arguments of _combine() in Python.
struct Step {
  uint64_t sums_a = 0, sums_b = 0;
  Axes a_axes, b_axes;
  uint64_t sums = 0;
  bool contracts = false;
  int stack = 0, rows = 0, inner = 0;
};
struct Plan {
  std::vector<Step> steps;
  uint64_t sums = 0;
  std::optional<Axes> order;
};

Axes to_axes(nb::handle tuple) {
  Axes axes;
  for (nb::handle axis : tuple) axes.push_back(nb::cast<int>(axis));
  return axes;
}
uint64_t to_bits(nb::handle tuple) {
  uint64_t bits = 0;
  for (int axis : to_axes(tuple)) bits |= uint64_t{1} << axis;
  return bits;
}

// Null where the function itself has to look at the text.
std::shared_ptr<const Plan> make_plan(PyObject* text, const Axes& ndims) {
  static PyObject* const plan_of =
      nb::object(nb::module_::import_("numbus.functions.einsum").attr("plan_of")).release().ptr();
  try {
    nb::list dimensions;
    for (int n : ndims) dimensions.append(n);
    nb::object found = nb::handle(plan_of)(nb::handle(text), nb::tuple(dimensions));
    if (found.is_none()) return nullptr;
    auto plan = std::make_shared<Plan>();
    for (nb::handle given : nb::object(found[0])) {
      Step& s = plan->steps.emplace_back();
      s.sums_a = to_bits(given[0]);
      s.sums_b = to_bits(given[1]);
      s.a_axes = to_axes(given[2]);
      s.b_axes = to_axes(given[3]);
      s.sums = to_bits(given[4]);
      const nb::object groups = given[5];
      s.contracts = !groups.is_none();
      if (!s.contracts) continue;
      s.stack = nb::cast<int>(groups[0]);
      s.rows = nb::cast<int>(groups[1]);
      s.inner = nb::cast<int>(groups[2]);
    }
    plan->sums = to_bits(found[1]);
    const nb::object order = found[2];
    if (!order.is_none()) plan->order = to_axes(order);
    return plan;
  } catch (nb::python_error&) {
    return nullptr;  // the function itself says what is wrong
  }
}

std::shared_ptr<const Plan> plan_of(PyObject* text, const Axes& ndims) {
  constexpr size_t kMost = 256;
  static auto* known = new std::unordered_map<std::string, std::shared_ptr<const Plan>>;
  Py_ssize_t length = 0;
  const char* letters = PyUnicode_AsUTF8AndSize(text, &length);
  if (!letters) {
    PyErr_Clear();
    return nullptr;
  }
  std::string key(letters, static_cast<size_t>(length));
  for (int n : ndims) key += static_cast<char>('0' + n);
  if (auto it = known->find(key); it != known->end()) return it->second;
  if (known->size() >= kMost) known->clear();
  return (*known)[key] = make_plan(text, ndims);
}

Array summed(const Array& a, uint64_t axes) {
  return axes ? reduce(Reduction::Sum, a, axes, false, a.dtype, nullptr, 0) : a;
}

// The axes in this order, of extent 1 for -1.
Array spread(const Array& a, const Axes& axes) {
  const size_t n = axes.size();
  std::vector<int64_t> shape(n, 1), strides(n, 0);
  for (size_t d = 0; d < n; ++d) {
    if (axes[d] < 0) continue;
    shape[d] = a.layout->shape(axes[d]);
    strides[d] = a.layout->stride(axes[d]);
  }
  return view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), a.offset);
}

// Extents of one that stand for longer ones are for the function itself.
bool equal(std::span<const int64_t> p, std::span<const int64_t> q) {
  return std::equal(p.begin(), p.end(), q.begin(), q.end());
}

std::optional<Array> contract(const Array& x, const Array& y, const Step& s) {
  const Array a = transpose(x, s.a_axes), b = transpose(y, s.b_axes);
  const auto inner = static_cast<size_t>(s.inner), stack = static_cast<size_t>(s.stack),
             rows = static_cast<size_t>(s.rows);
  const std::span<const int64_t> p = a.shape(), q = b.shape();
  if (!equal(p.first(stack), q.first(stack)) ||
      !equal(p.subspan(stack + rows), q.subspan(stack, inner)))
    return {};
  auto product = [](std::span<const int64_t> extents) {
    int64_t n = 1;
    for (int64_t e : extents) n *= e;
    return n;
  };
  const int64_t terms = product(q.subspan(stack, inner)),
                columns = product(q.subspan(stack + inner)),
                lines = product(p.subspan(stack, rows));
  // Chains of rows, and what no library does.
  if (!vendor::blas_takes(a.dtype) || !vendor::is_loaded("blas") ||
      is_chain_of_rows(lines, terms, columns))
    return {};
  std::vector<int64_t> left(p.begin(), p.begin() + s.stack), right = left, whole = left;
  left.insert(left.end(), {lines, terms});
  right.insert(right.end(), {terms, columns});
  whole.insert(whole.end(), p.begin() + s.stack, p.begin() + s.stack + s.rows);
  whole.insert(whole.end(), q.begin() + s.stack + s.inner, q.end());
  const Array l = reshape(a, left), r = reshape(b, right);
  return reshape(matmul(l, r, a.dtype), whole);
}

std::optional<Array> combine(const Array& x, const Array& y, const Step& s) {
  const Array a = summed(x, s.sums_a), b = summed(y, s.sums_b);
  if (s.contracts) return contract(a, b, s);
  for (size_t d = 0; d < s.a_axes.size(); ++d)
    if (s.a_axes[d] >= 0 && s.b_axes[d] >= 0 &&
        a.layout->shape(s.a_axes[d]) != b.layout->shape(s.b_axes[d]))
      return {};
  const Array p = spread(a, s.a_axes), q = spread(b, s.b_axes);
  const Arg factors[2] = {Arg(&p), Arg(&q)};
  return summed(apply(Op::multiply, factors), s.sums);
}

}  // namespace

PyObject* quick_einsum(const Given& g) {
  constexpr Py_ssize_t kMost = 5;
  if (g.names || g.positional < 3 || g.positional > kMost || !PyUnicode_CheckExact(g.args[0]) ||
      !may_work_at_once())
    return nullptr;
  Axes ndims;
  std::vector<const Array*> terms;
  for (Py_ssize_t k = 1; k < g.positional; ++k) {
    const Array* a = at_rest(g.args[k]);
    if (!a || a->size() == 0 || (k > 1 && a->dtype != terms[0]->dtype) ||
        (k > 1 && a->base->device != terms[0]->base->device))
      return nullptr;
    terms.push_back(a);
    ndims.push_back(a->ndim());
  }
  if (terms[0]->dtype == DType::Bool || is_half(terms[0]->dtype)) return nullptr;
  const std::shared_ptr<const Plan> plan = plan_of(g.args[0], ndims);
  if (!plan) return nullptr;
  mark_line();
  Array result = *terms[0];
  for (size_t k = 0; k < plan->steps.size(); ++k) {
    std::optional<Array> made = combine(result, *terms[k + 1], plan->steps[k]);
    if (!made) return nullptr;
    result = std::move(*made);
  }
  result = summed(result, plan->sums);
  if (plan->order) result = transpose(result, *plan->order);
  return wrap_result(std::move(result));
}

}  // namespace numbus::bindings
