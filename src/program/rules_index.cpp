// Derivatives of index arrays: what is gathered is added where it came from, what is scattered is
// gathered from where it went.
#include <bit>

#include "array/quantity.h"
#include "base/error.h"
#include "program/rules.h"

namespace numbus::program {
namespace {

struct Indexing {
  uint64_t axes;
  int first_axis;
  std::vector<Array> index;
  std::vector<int64_t> domain;  // of the instruction
  int many = 0;                 // dimensions of the indices in it

  // `target`: the array that is indexed.
  Indexing(const Entry& e, const Layout& target)
      : axes(e.instr.axes), first_axis(e.instr.first_axis) {
    const size_t count = static_cast<size_t>(std::popcount(axes));
    const Layout& whole = *saved(e.operands[1]).layout;
    domain.assign(whole.shape(), whole.shape() + whole.ndim());
    many = whole.ndim() - (target.ndim() - static_cast<int>(count));
    for (size_t k = 1; k <= count; ++k) index.push_back(own(saved(e.operands[k])));
  }
  // An index as it was given: it does not change along the other dimensions.
  Array own(const Array& spread) const {
    const Layout& l = *spread.layout;
    const auto n = static_cast<size_t>(many);
    return view_of(
        spread,
        Layout::get({l.shape() + first_axis, n}, {l.strides() + first_axis, n}, l.itemsize()),
        spread.offset);
  }
};

// Of points that write to one element the one that comes last, over the domain; of those that write
// at all.
Array stays(const Indexing& at, const Array& target, const Array* where) {
  const int64_t points = [&] {
    int64_t n = 1;
    for (int64_t e : at.domain) n *= e;
    return n;
  }();
  Device& device = *target.base->device;
  const Array number = reshape(arange(0, 1, 0, 1, points, DType::I64, &device), at.domain);
  const Array winner = empty(target.shape(), DType::I64, &device);
  assign(winner, Arg(Scalar::from_int(-1), DType::I64));
  scatter(winner, at.axes, at.index, at.first_axis, Arg(&number),
          {.where = where, .op = Op::scatter_max});
  const Array found = gather(winner, at.axes, at.index, at.first_axis);
  const Arg both[2] = {Arg(&found), Arg(&number)};
  return apply(Op::equal, both);
}

}  // namespace

void pull_gather(const Entry& e, const Array& g, Adjoints& adjoints) {
  if (e.instr.bounds == Instr::Skip) not_yet(e);
  const Operand& source = e.operands[0];
  if (!source.active) return;
  const Indexing at(e, *source.region.layout);
  const Arg value(&g);
  if (source.region.layout->injective() && !adjoints.is_heard(source.region)) {
    update(Op::add, adjoints.memory(source.region), at.axes, at.index, at.first_axis, &value,
           {.late = true});
    return;
  }
  const Layout& l = *source.region.layout;
  const Array sums =
      zeros({l.shape(), static_cast<size_t>(l.ndim())}, source.region.dtype, g.base->device);
  update(Op::add, sums, at.axes, at.index, at.first_axis, &value, {.late = true});
  adjoints.add(source.region, sums);
}

void pull_scatter(const Entry& e, Adjoints& adjoints) {
  // Where wrong indices are left out (Instr::Skip), a gather at the same ones tells of them.
  const Instr& i = e.instr;
  const Operand &value = e.operands[0], &target = e.results[0];
  const Indexing at(e, *target.region.layout);
  const Operand* predicate = e.predicate();
  const Array* where = predicate ? &saved(*predicate) : nullptr;
  const bool adds = i.op == Op::scatter_add || (i.op == Op::scatter && i.by == Op::add),
             subtracts = i.op == Op::scatter && i.by == Op::subtract;
  if (!adds && !subtracts && (i.op != Op::scatter || i.by != Op::cast)) not_yet(e, ".at");
  const std::optional<Array> g = adjoints.of(target.region);
  if (!g) return;
  Quantity part(gather(*g, at.axes, at.index, at.first_axis));
  if (adds || subtracts) {
    if (where) part = choose(Quantity(*where), part, Quantity(0.0));
    if (subtracts) part = -part;
  } else {
    const Array last = stays(at, *g, where);
    part = choose(Quantity(last), part, Quantity(0.0));
    scatter(adjoints.memory(target.region), at.axes, at.index, at.first_axis, zero(),
            {.where = where});
  }
  if (value.active) adjoints.add(value.region, part.array);
}

void Program::selected(const Array& all, const Array& mask, const Array& dense) {
  if (!depends(all)) return;
  const Array where = copy(mask, DType::Bool, true);
  add("a[mask]", {&all, 1}, {&dense, 1},
      [where, shape = std::vector<int64_t>(all.shape().begin(), all.shape().end())](
          std::span<const std::optional<Array>> g) {
        const Array spread = zeros(shape, g[0]->dtype, g[0]->base->device);
        if (g[0]->size() > 0) {
          const Array numbers = flatnonzero(reshape(where, {where.size()}));
          const Array line = reshape(spread, {spread.size()});
          scatter(line, 1, {&numbers, 1}, 0, Arg(&*g[0]), {.distinct = true});
        }
        return std::vector<std::optional<Array>>{spread};
      });
}

}  // namespace numbus::program
