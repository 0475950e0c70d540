// A user's function of numbers as recorded operations: it fuses like anything else in the window.
#include <algorithm>

#include "array/array.h"
#include "base/error.h"
#include "base/recent.h"
#include "ir/function.h"

namespace numbus {

using ir::Inst;
using ir::kNone;

namespace {

// A number that becomes another type without rounding twice or leaving the type's range.
bool widens(DType from, DType to) {
  return from == to || is_inexact(to) ? kind(to) >= kind(from) : false;
}

// Loops keep their state in registers, and long functions would fill the window: one instruction.
bool as_a_whole(const ir::Function& f) {
  constexpr long kMost = 100;
  long count = 0;
  for (const Inst& i : f.body) count += i.op != Op::param && i.op != Op::constant;
  return count > kMost || loops(f);
}

Masked apply(const Recordable& f, std::span<const Arg> args) {
  std::vector<Arg> given;
  for (size_t n = 0; n < args.size(); ++n)
    given.push_back(args[n].is_array() ? args[n]
                                       : Arg(converted(args[n].scalar, f.params[n]), f.params[n]));
  return record_apply(f, given);
}

}  // namespace

bool loops(const ir::Function& f) {
  return std::any_of(f.body.begin(), f.body.end(),
                     [](const Inst& i) { return i.op == Op::repeat; });
}

std::shared_ptr<const Recordable> recordable(ir::Function f) {
  if (as_a_whole(f) && f.params.size() > kMaxOperands - 1) return nullptr;
  std::string key = f.name + '\0';
  for (DType t : f.params) key += static_cast<char>(t);
  for (const Inst& i : f.body) ir::put_step(key, i);
  constexpr size_t kMost = 1024;
  static auto* all = new Recent<std::shared_ptr<const Recordable>>(kMost);
  if (auto* known = all->find(key)) return *known;
  static uint64_t last = 0;
  return all->keep(std::move(key), std::make_shared<Recordable>(std::move(f), ++last));
}

Masked record_steps(const Recordable& f, std::span<const Arg> args) {
  return as_a_whole(f) ? apply(f, args) : record_each_step(f, args);
}

Masked record_each_step(const Recordable& f, std::span<const Arg> args) {
  std::vector<const Array*> arrays;
  std::shared_ptr<Mask> mask;
  bool alike = true;  // all see one mask, or none does
  for (const Arg& a : args) {
    if (!a.is_array()) continue;
    if (!arrays.empty()) alike = alike && a.mask() == mask.get();
    mask = a.shared_mask();
    arrays.push_back(a.full());
  }
  if (!alike) {
    for (const Arg& a : args) a.array();
    mask = nullptr;
  }
  std::vector<int64_t> shape = broadcast_shape(arrays, f.name.c_str());
  size_t size = f.body.size();
  // A value nobody holds any more gets no storage: each is let go after its last use.
  std::vector<size_t> last(size, 0);
  for (size_t n = 0; n < size; ++n)
    for (ir::Val o : {f.body[n].a, f.body[n].b, f.body[n].c})
      if (o != kNone) last[o] = n;
  std::vector<Masked> made(size);
  std::vector<Arg> at(size);
  auto set = [&](size_t n, Masked a) {
    made[n] = std::move(a);
    at[n] = Arg(&made[n]);
  };
  // A number for all elements, in an order of axes that does not change the result's.
  auto spread = [&](const Arg& a) {
    auto like = std::find_if(arrays.begin(), arrays.end(), [&](const Array* x) {
      return x->ndim() == static_cast<int>(shape.size()) &&
             std::equal(shape.begin(), shape.end(), x->shape().begin());
    });
    Array r = like != arrays.end() ? empty_like(**like, a.dtype)
                                   : empty(shape, a.dtype, arrays[0]->base->device);
    assign(r, a);
    return Masked(std::move(r), mask);
  };
  for (size_t n = 0; n < size; ++n) {
    const Inst& i = f.body[n];
    Arg in[3];
    DType loop[3] = {};
    int count = 0;
    bool any = false;
    for (ir::Val o : {i.a, i.b, i.c}) {
      if (o == kNone) break;
      loop[count] = f.body[o].type;
      any = any || at[o].is_array();
      in[count++] = at[o];
    }
    // Of numbers alone; everything else is recorded.
    bool known = !any && count > 0 && widens(loop[0], i.type);
    if (i.op == Op::make_complex && known) {
      at[n] = Arg(Scalar::from_complex(in[0].scalar.real(), in[1].scalar.real()), i.type);
      continue;
    }
    if (i.op == Op::cast && known) {
      at[n] = Arg(converted(in[0].scalar, i.type), i.type);
      continue;
    }
    Masked hold;
    switch (i.op) {
      case Op::param: {
        const Arg& a = args[i.imm];
        if (!a.is_array()) {
          at[n] = Arg(converted(a.scalar, i.type), i.type);
        } else if (a.full()->dtype == i.type) {
          at[n] = a;
        } else {
          set(n, copy(a, i.type));
        }
        break;
      }
      case Op::constant:
        at[n] = is_complex(i.type) ? Arg(Scalar::from_complex(0, 0), i.type)
                                   : Arg(load_scalar(i.type, &i.imm), i.type);
        break;
      case Op::give: {
        Masked r = in[0].is_array() ? Masked(*in[0].full(), in[0].shared_mask()) : spread(in[0]);
        const Array& all = r.full;
        // The user's own array, or one that lacks axes of the others.
        bool own = false;
        for (const Array* a : arrays) own = own || a->base.get() == all.base.get();
        bool whole = all.ndim() == static_cast<int>(shape.size()) &&
                     std::equal(shape.begin(), shape.end(), all.shape().begin());
        if (r.mask || (whole && !own)) return own ? copy(Arg(&r), all.dtype) : r;
        return copy(broadcast_to(all, shape), all.dtype);
      }
      default:
        if (!any) {
          hold = spread(in[0]);
          in[0] = Arg(&hold);
        }
        set(n, record_map(i.op, i.op == Op::select ? i.type : loop[0], i.type,
                          {in, static_cast<size_t>(count)}, loop));
    }
    for (ir::Val o : {i.a, i.b, i.c})
      if (o != kNone && last[o] == n && at[o].full() == &made[o].full) made[o] = Masked();
  }
  raise(ErrorKind::Runtime, f.name, "a function without a result", "no give", "one");
}

}  // namespace numbus
