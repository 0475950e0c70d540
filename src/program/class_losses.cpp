// The adjoint is one formula over all elements, (softmax(x) - own) times that of the loss, where
// one by one the steps of the loss would give each row numbers of its own in kernels of their own.
#include "program/class_losses.h"

#include "array/quantity.h"
#include "program/program.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

// The same for all classes, along an axis of theirs.
Array repeated(const Array& a, int axis, const Array& like) {
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  shape.insert(shape.begin() + axis, 1);
  return broadcast_to(reshape(a, shape), {like.shape().begin(), like.shape().end()});
}

struct ClassLossesWork final : DerivedWork {
  explicit ClassLossesWork(int axis) : axis(axis) {}
  std::string name() const override { return "cross entropy"; }
  std::vector<uint64_t> key() const override { return {3, static_cast<uint64_t>(axis)}; }
  // Programs see how exponents and sums depend on x, and with them the derivative's own derivative.
  Pullback pullback(std::span<const Array> operands) const override {
    return [of = ClassLosses{operands[1], operands[2], operands[3], operands[4], operands[5],
                             axis}](std::span<const std::optional<Array>> g) {
      std::vector<std::optional<Array>> found(6);
      if (!g[0]) return found;
      const Quantity p = Quantity(of.exponents) / Quantity(of.sums);
      const Quantity slope = choose(Quantity(of.own), p - Quantity(1.0), p);
      const Quantity counts(repeated(of.counts, of.axis, of.own));
      // The adjoint of a mean of nothing is NaN.
      const Quantity adjoint = choose(counts, Quantity(repeated(*g[0], of.axis, of.own)), 0.0);
      // Weights are NaN where a target is no class, and so is what others get of it.
      const Quantity weights(repeated(of.weights, of.axis, of.own));
      found[0] = choose(counts, slope * weights * adjoint, 0.0).array;
      return found;
    };
  }
  int axis;
};

}  // namespace

void enter_class_losses(const Array& x, const ClassLosses& of, const Array& losses) {
  const Array operands[6] = {x, of.exponents, of.sums, of.own, of.counts, of.weights};
  tell_work(std::make_shared<ClassLossesWork>(of.axis), operands, losses);
}

}  // namespace numbus::program
