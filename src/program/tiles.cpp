// The adjoint of a window is that of its largest element, and zero elsewhere: one kernel that
// writes the operand's adjoint as a whole, seen with an axis for the windows and one for their
// elements.
#include "program/tiles.h"

#include <map>
#include <mutex>

#include "program/program.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

// An array with two axes, the windows' and their elements', in place of each of the last ones.
struct Tiling {
  Tiling(const Array& x, const Array& y, std::span<const int64_t> extents) {
    const size_t first = static_cast<size_t>(x.ndim()) - extents.size();
    for (int d = 0; d < x.ndim(); ++d) {
      const auto k = static_cast<size_t>(d);
      const int64_t stride = x.layout->stride(d);
      if (k < first) {
        add(x.layout->shape(d), stride);
        continue;
      }
      const int64_t extent = extents[k - first];
      add(y.layout->shape(d), stride * extent);
      add(extent, stride);
    }
  }
  void add(int64_t extent, int64_t stride) {
    shape.push_back(extent);
    strides.push_back(stride);
  }
  std::vector<int64_t> shape, strides;
};

Array seen_as(const Array& a, std::span<const int64_t> shape, std::span<const int64_t> strides) {
  const LayoutRef layout(Layout::get(shape, strides, itemsize(a.dtype)));
  return view_of(a, layout.get(), a.offset);
}

// 0, 1, … as bytes: the numbers of a window's elements; the same array each time.
Array element_numbers(int64_t count, Device& device) {
  static auto* all = new std::map<std::pair<Device*, int64_t>, Array>;  // under Python's lock
  Array& known = (*all)[{&device, count}];
  if (!known.base.get()) {
    const Unobserved alone;
    // Of several GPUs, each has its own: it is where it is used, whatever its making was recorded
    // for.
    known = to_device(arange(0, 1, 0, 1, count, DType::I8, &device), device);
    known.base->pinned = true;
  }
  return known;
}

struct LargestOfTiles final : DerivedWork {
  explicit LargestOfTiles(std::span<const int64_t> e) : extents(e.begin(), e.end()) {}
  std::string name() const override { return "largest of windows"; }
  std::vector<uint64_t> key() const override {
    std::vector<uint64_t> words{1};
    words.insert(words.end(), extents.begin(), extents.end());
    return words;
  }
  Pullback pullback(std::span<const Array> operands) const override {
    return [tiled = operands[0], place = operands[1],
            extents = extents](std::span<const std::optional<Array>> g) {
      std::vector<std::optional<Array>> found(2);
      if (!g[0]) return found;
      // Windows are numbered as `place` is laid out; their elements repeat it.
      auto spread = [&](const Array& a) {
        const size_t first = static_cast<size_t>(a.ndim()) - extents.size();
        std::vector<int64_t> strides;
        for (int d = 0; d < a.ndim(); ++d) {
          strides.push_back(a.layout->stride(d));
          if (static_cast<size_t>(d) >= first) strides.push_back(0);
        }
        return seen_as(a, {tiled.layout->shape(), strides.size()}, strides);
      };
      int64_t count = 1;
      std::vector<int64_t> steps(static_cast<size_t>(tiled.ndim()));
      for (size_t k = extents.size(); k-- > 0;) {
        steps[steps.size() - 1 - 2 * (extents.size() - 1 - k)] = count;
        count *= extents[k];
      }
      const Array numbers = seen_as(element_numbers(count, *place.base->device),
                                    {tiled.layout->shape(), steps.size()}, steps);
      const Array places = spread(place), adjoints = spread(*g[0]);
      const Arg both[2] = {Arg(&places), Arg(&numbers)};
      const Array chosen = apply(Op::equal, both);
      found[0] = select(Arg(&chosen), Arg(&adjoints), zero());
      return found;
    };
  }
  std::vector<int64_t> extents;
};

}  // namespace

void enter_largest_of_tiles(const Array& x, const Array& y, const Array& place,
                            std::span<const int64_t> extents) {
  const Tiling t(x, y, extents);
  const Array operands[2] = {seen_as(x, t.shape, t.strides), place};
  tell_work(std::make_shared<LargestOfTiles>(extents), operands, y);
}

}  // namespace numbus::program
