// The plain call of `backward()`: gradients of leaves that nobody looks at on the way.
#include <array>

#include "array/capture.h"
#include "program/rules.h"
#include "tensors.h"

namespace numbus::bindings {
namespace {

using program::Tape;

// The tensors in a base's memory whose derivative is asked for, the first ones first. They are
// held, as the collector, which may run wherever an object is made, may find them to be garbage.
std::vector<nb::object> leaves_in(uint64_t base) {
  std::vector<nb::object> found;
  const Storage* const s = Storage::known(base);
  for (TensorObject* t = s ? s->first : nullptr; t; t = t->next)
    if (t->leaf) found.push_back(nb::borrow(reinterpret_cast<PyObject*>(t)));
  std::ranges::reverse(found);
  return found;
}

nb::object list_of(const std::vector<nb::object>& tensors) {
  nb::list made;
  for (const nb::object& t : tensors) made.append(t);
  return made;
}

using Given = std::vector<std::pair<nb::object, nb::object>>;  // leaves and their derivatives

// The derivative of a number by each leaf that it depends on.
Given derivatives(const Array& of) {
  Tape& tape = Tape::get();
  const NotRecording quiet;
  const DeviceOfNew follow(of.base->device);
  const auto adjoints = tape.backward(std::array{of}, std::array{filled_like(of, 1)}, false);
  Given found;
  for (const uint64_t base : adjoints->bases()) {
    const std::vector<nb::object> leaves = leaves_in(base);
    for (const nb::object& leaf : leaves) {
      const Array own = as_array(as_tensor(leaf.ptr()).array);
      const program::Region region(own.view());
      std::optional<Array> g;
      if (leaves.size() == 1) g = adjoints->take(region);
      if (!g) {
        const std::optional<Array> shared = adjoints->of(region);
        if (!shared) continue;
        g = program::own_copy(own, shared);
      }
      const nb::object array = nb::steal(wrap(std::move(*g)));
      found.emplace_back(leaf, nb::steal(wrap_tensor(array.ptr(), true)));
    }
  }
  return found;
}

// Adds the derivatives of a number to the gradients of the leaves. Gives those that are left to
// Python as pairs, as leaves have hooks or gradients already; None where the call is not plain.
nb::object plain_backward(nb::handle tensor) {
  const TensorObject& t = as_tensor(tensor.ptr());
  if (!requires_gradient(t) || as_array(t.array).size() != 1) return nb::none();
  mark_line();
  Capture::spoil_open("derivatives are taken inside of it, and its result has one, too");
  nb::list left;
  {
    const Recording now;
    const int64_t since = Tape::get().now();
    const Given found = derivatives(as_array(t.array));
    const bool simple = std::ranges::all_of(found, [](const auto& one) {
      const TensorObject& leaf = as_tensor(one.first.ptr());
      return !leaf.hooks && !leaf.grad;
    });
    for (const auto& [leaf, g] : found) {
      if (simple)
        Py_XDECREF(std::exchange(as_tensor(leaf.ptr()).grad, nb::object(g).release().ptr()));
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
      "leaves_in", [](uint64_t base) { return list_of(leaves_in(base)); }, nb::arg("base"),
      "The tensors in the memory of that number whose derivative is asked for.");
}

}  // namespace numbus::bindings
