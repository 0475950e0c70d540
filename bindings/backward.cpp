// The plain call of `backward()`: gradients of leaves that nobody looks at on the way.
#include "array/capture.h"
#include "known_passes.h"

namespace numbus::bindings {
namespace {

using program::Tape;

nb::object list_of(const std::vector<nb::object>& tensors) {
  nb::list made;
  for (const nb::object& t : tensors) made.append(t);
  return made;
}

// Adds the derivatives of a number to the gradients of the leaves. Gives those that are left to
// Python as pairs, as leaves have hooks or gradients already; None where the call is not plain.
nb::object plain_backward(nb::handle tensor) {
  const TensorObject& t = as_tensor(tensor.ptr());
  if (!requires_gradient(t) || as_array(t.array).size() != 1) return nb::none();
  mark_line();
  const NoWarnings silent;
  Capture::spoil_open("derivatives are taken inside of it, and its result has one, too");
  nb::list left;
  {
    const Recording now;
    const int64_t since = Tape::get().now();
    LeafGradients found = KnownPasses::derivatives(as_array(t.array));
    const bool simple = std::ranges::all_of(found, [](const auto& one) {
      const TensorObject& leaf = as_tensor(one.first.ptr());
      return !leaf.hooks && !leaf.grad;
    });
    for (auto& [leaf, derivative] : found) {
      const nb::object array = nb::steal(wrap(std::move(derivative)));
      nb::object g = nb::steal(wrap_tensor(array.ptr(), true));
      if (simple)
        Py_XDECREF(std::exchange(as_tensor(leaf.ptr()).grad, g.release().ptr()));
      else
        left.append(nb::make_tuple(leaf, g));
    }
    Tape::get().settle(since);
  }
  Tape::get().drop_circles();
  return left;
}

}  // namespace

void bind_backward(nb::module_& m) {
  m.def("plain_backward", &plain_backward, nb::arg("tensor"),
        "`backward()` of a number by all leaves; None where Python has to do it. Pairs of leaves "
        "and derivatives that are left to it.");
  m.def(
      "known_passes", [] { return KnownPasses::answers; },
      "How many backward passes were recorded again without asking a rule.");
  m.def(
      "leaves_in", [](uint64_t base) { return list_of(leaves_in(base)); }, nb::arg("base"),
      "The tensors in the memory of that number whose derivative is asked for.");
}

}  // namespace numbus::bindings
