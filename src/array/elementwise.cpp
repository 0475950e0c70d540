// Types, shapes and recording of elementwise operations.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "array/array.h"
#include "array/at_once.h"
#include "array/at_once_calls.h"
#include "array/capture.h"
#include "array/domains.h"
#include "array/placement.h"
#include "base/error.h"
#include "base/hash.h"
#include "lazy/float_errors.h"
#include "passes/expand_complex.h"

namespace numbus {

const Layout* dense_layout(std::span<const int64_t> shape, std::span<const int> outer_first,
                           int size) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = size;
  for (size_t k = outer_first.size(); k-- > 0;) {
    strides[outer_first[k]] = step;
    step *= std::max<int64_t>(1, shape[outer_first[k]]);
  }
  return Layout::get(shape, strides, size);
}

Array fresh(const Layout* layout, DType t, Device* device) {
  Array a;
  a.layout = LayoutRef(layout);
  a.base = Handle(Base::create(*device, layout->size() * itemsize(t)));
  a.dtype = t;
  note_made(a);
  return a;
}

std::vector<int> iteration_order(std::span<const Array* const> arrays, int n) {
  std::vector<int> inner_first(n);
  for (int d = 0; d < n; ++d) inner_first[d] = n - 1 - d;
  auto stride = [&](const Array& a, int d) -> int64_t {
    int k = d - (n - a.ndim());
    return k < 0 || a.layout->shape(k) == 1 ? 0 : std::abs(a.layout->stride(k));
  };
  for (int i = 1; i < n; ++i) {
    int axis = inner_first[i], target = i;
    for (int j = i - 1; j >= 0; --j) {
      bool smaller = false, decided = false;
      for (const Array* a : arrays) {
        int64_t mine = stride(*a, axis), other = stride(*a, inner_first[j]);
        if (mine == 0 || other == 0) continue;
        if (other <= mine)
          smaller = false;
        else if (!decided)
          smaller = true;
        decided = true;
      }
      if (decided && !smaller) break;
      if (decided) target = j;
    }
    std::rotate(inner_first.begin() + target, inner_first.begin() + i, inner_first.begin() + i + 1);
  }
  std::reverse(inner_first.begin(), inner_first.end());
  return inner_first;
}

namespace {

DType default_of(Kind k) {
  return k == Kind::Bool    ? DType::Bool
         : k <= Kind::UInt  ? DType::I64
         : k == Kind::Float ? DType::F64
                            : DType::C128;
}

bool int_fits(const Scalar& s, DType t) {
  if (s.kind == Kind::UInt && t == DType::U64) return true;
  if (s.kind == Kind::UInt && s.u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return false;
  if (t == DType::U64) return s.i >= 0;
  int bits = 8 * itemsize(t);
  if (kind(t) == Kind::UInt) return s.i >= 0 && s.i < (int64_t(1) << bits);
  return bits == 64 || (s.i >= -(int64_t(1) << (bits - 1)) && s.i < (int64_t(1) << (bits - 1)));
}

// A layout for a fresh result: C order, or the operands' common axis order where they agree on
// another (NumPy's "K").
const Layout* result_layout(std::span<const Array* const> arrays, const Layout* shape_like,
                            int size) {
  bool all_c = true;
  for (const Array* a : arrays)
    if (a->ndim() > 1 && !a->layout->c_contiguous()) all_c = false;
  int n = shape_like->ndim();
  if (all_c || n < 2) return shape_like->contiguous_like(size);
  return dense_layout({shape_like->shape(), static_cast<size_t>(n)}, iteration_order(arrays, n),
                      size);
}

// The layout of a copy that keeps its source's order: the axes by their strides, those of broadcast
// axes innermost.
const Layout* copy_layout(const Array& a, int size) {
  int n = a.ndim();
  if (n < 2 || a.layout->c_contiguous()) return a.layout->contiguous_like(size);
  std::vector<int> order(n);
  for (int d = 0; d < n; ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return std::abs(a.layout->stride(x)) > std::abs(a.layout->stride(y));
  });
  return dense_layout(a.shape(), order, size);
}

}  // namespace

Array empty_like(const Array& a, DType t) {
  const Array* operand = &a;
  return fresh(result_layout({&operand, 1}, a.layout.get(), itemsize(t)), t, a.base->device);
}

namespace {

// Whether two bases are one memory: an array that NumPy handed back to us, or two that it did.
bool same_memory(const Base& x, const Base& y) {
  return &x != &y && (x.shared > 0 || !x.owned) && (y.shared > 0 || !y.owned) && x.data && y.data &&
         x.data < y.data + y.nbytes && y.data < x.data + x.nbytes;
}

// Up to so many bytes of memory that others can write to are copied where they are read, so that
// the work stays pending (docs/performance.md).
constexpr int64_t kSnapshot = 1 << 17;

// The elements of a view as they are now, in memory that nobody else knows, at the same strides.
std::optional<Array> snapshot(const ViewRef& v) {
  const bool any = v.layout->size() > 0;
  const int64_t low = any ? v.layout->low() : 0, bytes = any ? v.layout->high() - low : 0;
  const Base& from = *v.base;
  if (bytes > kSnapshot || from.pending() || !from.device->host_readable()) return std::nullopt;
  Array a;
  a.base = Handle(Base::create(*from.device, bytes));
  a.layout = LayoutRef(v.layout);
  a.offset = -low;
  a.dtype = v.dtype;
  a.base->ensure_data();
  v.base->ensure_data();
  if (any) std::memcpy(a.base->data, from.data + v.offset + low, static_cast<size_t>(bytes));
  return a;
}

bool of_same_bytes(const Window::Input& x, const Window::Input& y) {
  if (!x.view || x.view->base != y.view->base || x.view->dtype != y.view->dtype) return false;
  const Layout &l = *x.view->layout, &m = *y.view->layout;
  return l.size() > 0 && m.size() > 0 && x.view->offset + l.low() == y.view->offset + m.low() &&
         l.high() - l.low() == m.high() - m.low();
}

}  // namespace

constinit int observers = 0;
constinit thread_local Observer* thread_observer = nullptr;

namespace {

void record_unobserved(Instr& i, const Array& out, const Window::Input* given, int count) {
  std::optional<placement::Copies> brought;
  Window::Input met[kMaxOperands];
  Device* where = out.base->device;
  if (placement::on && !placement::is_named(i, out, given, count)) {
    std::copy(given, given + count + i.more, met);
    where = &placement::meet(i, out, met, count, brought.emplace());
    given = met;
  }
  Recorder& r = Recorder::of(*where);
  // What is read of memory that another base writes to is copied first: hazards are seen by base.
  Window::Input in[kMaxOperands];
  std::optional<Array> copies[kMaxOperands];
  ViewRef views[kMaxOperands];
  for (int n = count; n < count + i.more; ++n) in[n] = given[n];
  for (int n = 0; n < count; ++n) {
    in[n] = given[n];
    if (!in[n].view || !same_memory(*in[n].view->base, *out.base.get())) continue;
    Array source = out;
    source.base = Handle(in[n].view->base);
    source.layout = LayoutRef(in[n].view->layout);
    source.offset = in[n].view->offset;
    source.dtype = in[n].view->dtype;
    copies[n] = copy(source, source.dtype);
    // At the strides of the view: what does not move along an axis is one element.
    views[n] = copies[n]->view();
    in[n].view = &views[n];
  }
  // A wrong index leaves what it was to write to as it is: nothing may be written there before the
  // indices have been looked at.
  int slot = r.window().slot_of(*out.base.get());
  if (slot >= 0 && r.window().slots_[slot].unsure) r.flush("indices to check");
  if (r.window().refuses(i)) r.flush("work of another device");
  // One device per operation, but for arrays whose devices are open.
  for (int n = 0; n < count; ++n) {
    if (in[n].view && in[n].view->base->device != out.base->device &&
        (!placement::on || where != &cpu_device() || in[n].view->base->pinned)) {
      raise(ErrorKind::Value, std::string(i.name()), "operands are on different devices",
            device_label(*in[n].view->base->device) + " and " + device_label(*out.base->device),
            "one device (see nb.device and to_device)");
    }
    if (in[n].view && in[n].view->base->failure) throw Error(*in[n].view->base->failure);
  }
  i.line = current_line();
  i.told = float_errors::state.told;
  i.of_tensors = float_errors::state.of_tensors;
  i.told_as = float_errors::state.told_as;
  if (out.base->mask) keep_mask(*out.base.get());  // observers have been told
  // Whoever else sees the storage must find the work done.
  bool at_once = out.base->shared > 0, pending = out.base->pending();
  for (int n = 0; n < count; ++n) {
    if (!in[n].view) continue;
    if (in[n].view->base->shared > 0) {
      // The same elements in another order, as in m @ m.T, stay one memory.
      for (int k = 0; k < n && !at_once && !copies[n]; ++k)
        if (copies[k] && of_same_bytes(given[k], given[n])) {
          copies[n] = copies[k];
          copies[n]->layout = LayoutRef(in[n].view->layout);
          copies[n]->offset = -in[n].view->layout->low();
        }
      if (!at_once && !copies[n]) copies[n] = snapshot(*in[n].view);
      if (copies[n])
        in[n].view = &(views[n] = copies[n]->view());
      else
        at_once = true;
    }
    pending = pending || in[n].view->base->pending();
  }
  // Work that needs nothing pending is carried out by itself.
  Recorder& to = at_once && !pending ? Recorder::aside(*where) : r;
  ViewRef result = out.view();
  leave_out_ones(i, result, in, views, count);
  if (const Layout* shape =
          where->host_readable() ? nullptr : producers_layout(to.window(), i, result, in, count)) {
    auto seen_so = [&](const Layout& l) {
      return Layout::contiguous({shape->shape(), static_cast<size_t>(shape->ndim())}, l.itemsize());
    };
    result.layout = seen_so(*result.layout);
    for (int n = 0; n < count; ++n) {
      if (!in[n].view) continue;
      views[n] = *in[n].view;
      views[n].layout = seen_so(*views[n].layout);
      in[n].view = &views[n];
    }
  }
  to.record(mix(mix(i.line, static_cast<uint64_t>(i.op) << 8 | static_cast<uint64_t>(i.loop)),
                reinterpret_cast<uint64_t>(out.layout.get())),
            i, result, in, count);
  if (at_once) to.flush("memory shared with others");
}

}  // namespace

void record(Instr& i, const Array& out, const Window::Input* in, int count) {
  if (!observer() && !capture_now) [[likely]]
    return record_unobserved(i, out, in, count);
  const std::span<const Window::Input> all(in, static_cast<size_t>(count + i.more));
  Capture* const capture = capture_now;
  if (capture && capture->whole() && !capture->open()) {
    // What observers record is part of the step, which will be recorded without them.
    if (observer()) observer()->before(i, out, all);
    capture->note(i, out, in, count, false);
    {
      const Uncaptured here;
      record_unobserved(i, out, in, count);
    }
    if (observer()) observer()->after(i, out, all);
    return;
  }
  if (capture) capture->note(i, out, in, count, observer() != nullptr);
  const Uncaptured here;  // what observers record comes with the instruction
  if (!observer()) return record_unobserved(i, out, in, count);
  observer()->before(i, out, all);
  record_unobserved(i, out, in, count);
  if (observer()) observer()->after(i, out, all);
}

void record_call(Instr& i, std::span<const Array* const> operands,
                 std::span<const Array* const> results) {
  const RoutineRow& r = row(i.routine);
  if (operands.size() != r.operands || results.size() != r.results)
    raise(ErrorKind::Runtime, std::string(r.name), "not what its row says",
          std::to_string(operands.size()) + " operands, " + std::to_string(results.size()) +
              " results",
          std::to_string(r.operands) + " and " + std::to_string(r.results));
  i.code = Instr::Call;
  i.nin = r.operands;
  i.more = static_cast<uint8_t>(r.results - 1);
  if (call_at_once(i, operands, results)) return;
  ViewRef views[kMaxOperands];
  Window::Input in[kMaxOperands];
  int n = 0;
  auto add = [&](const Array& a) {
    views[n] = a.view();
    in[n].view = &views[n];
    ++n;
  };
  for (const Array* a : operands) add(*a);
  for (const Array* a : results.subspan(1)) add(*a);
  record(i, *results[0], in, r.operands);
}

namespace {

// Negative exponents of integers that are known now are errors of the call, where there is an
// element to meet them; others are found when they run.
bool negative_exponent(Op op, DType loop, std::span<const Arg> args) {
  return op == Op::power && kind(loop) == Kind::Int && !args[1].is_array() &&
         args[1].scalar.kind == Kind::Int && args[1].scalar.i < 0;
}
bool any_holds(const Array& where) {
  uint64_t all = all_axes(where.ndim());
  return read_element(reduce(Reduction::Any, where, all, false, {}, nullptr, 0), 0).i != 0;
}
void check_exponents(const Array& a) {
  constexpr int64_t kFew = 4096;
  const Base& b = *a.base.get();
  const Layout& l = *a.layout;
  if (kind(a.dtype) != Kind::Int || b.pending() || !b.data || !b.device->host_readable() ||
      !l.c_contiguous() || l.size() > kFew)
    return;
  for (int64_t k = 0; k < l.size(); ++k) {
    int64_t e = load_scalar(a.dtype, b.data + a.offset + k * l.itemsize()).i;
    if (e < 0) throw negative_power(e);
  }
}

// The mask that all masked operands and the result have in common, under which they are computed
// over the whole domain. Where there is none they are settled.
std::shared_ptr<Mask> common_mask(const Instr& i, std::span<const Arg> args, const Options& o) {
  std::shared_ptr<Mask> mask = o.into ? o.into->mask : nullptr;
  for (const Arg& a : args)
    if (a.mask()) mask = a.shared_mask();
  // Whether a wrong exponent meets any element is known once the mask is.
  bool alike = !o.where && !o.out && (!o.into || o.into->mask == mask) &&
               !negative_exponent(i.op, i.loop, args);
  for (const Arg& a : args)
    if (a.is_array()) alike = alike && (a.mask() == mask.get() || a.full()->ndim() == 0);
  if (alike) return mask;
  for (const Arg& a : args) a.array();
  if (o.into) o.into->settled();
  return nullptr;
}

// Whether a number of Python's is too large for the type that it is to have.
bool scalar_overflows(std::span<const Arg> args, const DType* loop) {
  for (size_t n = 0; n < args.size(); ++n) {
    const Arg& a = args[n];
    const Kind kind = a.scalar.kind;
    if (a.is_array() || !a.weak || kind == Kind::Bool) continue;
    const bool narrow = loop[n] == DType::F32 || loop[n] == DType::C64;
    const double most = is_half(loop[n]) ? std::nextafter(half_overflow(loop[n]), 0)
                        : narrow         ? 3.4028235677973366e38
                                         : std::numeric_limits<double>::infinity();
    for (int part = 0; part < (kind == Kind::Complex ? 2 : 1); ++part) {
      const double size = kind == Kind::Int ? std::fabs(static_cast<double>(a.scalar.i))
                                            : std::fabs(a.scalar.f[part]);
      if (std::isgreater(size, most) && !std::isinf(size)) return true;  // which sets no flags
    }
  }
  return false;
}

// Whether complex elements become real ones.
bool drops_imaginary(std::span<const Arg> args, const DType* loop, DType result, DType out) {
  auto drops = [](DType from, DType to) {
    return is_complex(from) && !is_complex(to) && to != DType::Bool;
  };
  if (drops(result, out)) return true;
  for (size_t n = 0; n < args.size(); ++n)
    if (args[n].is_array() && drops(args[n].full()->dtype, loop[n])) return true;
  return false;
}

// All operands over one domain: the shared shape, broadcast views, and the recorded instruction.
Masked record_map(Instr i, std::span<const Arg> args, const DType* loop, DType result,
                  const Options& o) {
  const char* op = i.name().data();
  if (o.where) require_boolean(*o.where, op);
  bool any_mask = o.into && o.into->mask;
  for (const Arg& a : args) any_mask = any_mask || a.mask();
  std::shared_ptr<Mask> mask;
  // Another thread may settle an operand while this one waits in record(): these keep its memory.
  std::vector<Handle> kept;
  if (any_mask) mask = common_mask(i, args, o);
  const Array* arrays[kMaxOperands];
  int narrays = 0;
  for (const Arg& a : args)
    if (a.full()) arrays[narrays++] = a.full();
  if (mask) {
    for (int n = 0; n < narrays; ++n) kept.push_back(arrays[n]->base);
    kept.push_back(mask->array.base);
  }
  Masked made;
  Array& out = made.full;
  const Layout* domain = nullptr;
  if (const Array* given = o.into ? &o.into->full : o.out) {
    out = *given;
    require_writeable(out, op);
    if (!can_cast(result, out.dtype, o.casting)) {
      raise(ErrorKind::Casting, op, "cannot cast the result to out's type",
            std::string(name(result)) + " into " + std::string(name(out.dtype)),
            "an out array of a same-kind type (or casting='unsafe')");
    }
    domain = out.layout.get();
  } else {
    bool same = narrays > 0;
    for (int n = 1; n < narrays; ++n)
      same = same && arrays[n]->layout->same_shape(*arrays[0]->layout);
    if (o.where) same = same && o.where->layout->same_shape(*arrays[0]->layout);
    const Layout* like;
    LayoutRef hold;
    if (same) {
      like = arrays[0]->layout.get();
    } else {
      const Array* all[kMaxOperands + 1];
      int count = narrays;
      std::copy(arrays, arrays + narrays, all);
      if (o.where) all[count++] = o.where;
      auto shape = broadcast_shape({all, static_cast<size_t>(count)}, op);
      like = Layout::contiguous(shape, itemsize(result));
      hold = LayoutRef(like);
    }
    const Layout* l = result_layout({arrays, static_cast<size_t>(narrays)}, like, itemsize(result));
    out.layout = LayoutRef(l);
    Device& device = placement::of_result({arrays, static_cast<size_t>(narrays)});
    out.base = Handle(Base::create(device, l->size() * itemsize(result)));
    out.dtype = result;
    note_made(out);
    domain = l;
  }
  made.mask = mask;
  if (float_errors::state.told && drops_imaginary(args, loop, result, out.dtype)) [[unlikely]]
    float_errors::add_complex(current_line());
  if (domain->size() == 0) {
    for (int n = 0; n < narrays; ++n) LayoutRef fits(broadcast_layout(*arrays[n], domain, op));
    if (o.where) LayoutRef fits(broadcast_layout(*o.where, domain, op));
    return made;
  }
  if (negative_exponent(i.op, i.loop, args)) {
    if (!o.where || any_holds(*o.where)) throw negative_power(args[1].scalar.i);
  } else if (i.op == Op::power && kind(i.loop) == Kind::Int && !o.where && !mask &&
             args[1].is_array()) {
    check_exponents(*args[1].full());
  }
  Window::Input in[kMaxOperands];
  ViewRef views[kMaxOperands];
  LayoutRef hold[kMaxOperands];
  int count = 0;
  for (const Arg& a : args) {
    if (const Array* x = a.full()) {
      const Layout* l = broadcast_layout(*x, domain, op);
      hold[count] = LayoutRef(l);
      views[count] = {x->base.get(), l, x->offset, x->dtype, x->through};
      in[count].view = &views[count];
    } else {
      in[count].scalar = a.scalar;
      in[count].dtype = loop[count];
    }
    ++count;
  }
  i.nin = static_cast<uint8_t>(count);
  const Array* predicate = o.where ? o.where : mask ? &mask->array : nullptr;
  if (predicate) {
    const Layout* l = broadcast_layout(*predicate, domain, op);
    hold[count] = LayoutRef(l);
    views[count] = {predicate->base.get(), l, predicate->offset, DType::Bool};
    in[count].view = &views[count];
    ++count;
    i.predicated = true;
  }
  const bool overflows = float_errors::state.told && scalar_overflows(args, loop);
  const bool at_once = carry_out_at_once(i, result, out, in, count);
  if (at_once) {
    // Where NumPy can be asked, it looks again.
    if (overflows && !i.predicated) flags::raise(flags::Overflow);
    if (!i.predicated) return made;
  }
  if (overflows) float_errors::add_overflow(current_line());
  if (at_once) return made;
  record(i, out, in, count);
  if (overflows) flags::clear();  // of the number's conversion, which has been told of
  return made;
}

}  // namespace

DType common_dtype(std::span<const Arg> args) {
  bool any = false;
  DType strong = DType::Bool;
  Kind weak = Kind::Bool;
  bool has_weak = false;
  for (const Arg& a : args) {
    if (a.weak) {
      has_weak = true;
      weak = std::max(weak, a.huge ? Kind::Int : a.scalar.kind);
      continue;
    }
    DType t = a.is_array() ? a.full()->dtype : a.dtype;
    strong = any ? promote(strong, t) : t;
    any = true;
  }
  if (!any) return default_of(weak);
  return has_weak ? weak_result(strong, weak) : strong;
}

namespace {

// Rows whose loop is one of floats, whatever the operands are.
bool loops_over_floats(Rule rule) {
  return rule == Rule::Divide || rule == Rule::Float || rule == Rule::FloatComplex ||
         rule == Rule::FloatPower;
}

// Integers beyond 64 bits: floats take them as a float, comparisons as an infinity, nothing else
// does.
Masked apply_huge(Op op, std::span<const Arg> args, const Options& o) {
  std::vector<Arg> again(args.begin(), args.end());
  DType common = common_dtype(args);
  for (Arg& a : again) {
    if (!a.huge) continue;
    a.huge = false;
    if (is_inexact(o.dtype.value_or(common))) continue;
    if (loops_over_floats(row(op).rule)) {
      a = Arg(a.scalar, common);  // the number says nothing about the loop's type
      continue;
    }
    if (row(op).rule != Rule::Compare) {
      raise(ErrorKind::Overflow, std::string(row(op).name),
            "Python integer out of bounds for " + std::string(name(common)),
            a.scalar.f[0] < 0 ? "an integer below -2**63" : "an integer above 2**64",
            "a value the type can hold");
    }
    a.scalar =
        Scalar::from_float(std::copysign(std::numeric_limits<double>::infinity(), a.scalar.f[0]));
  }
  return apply(op, again, o);
}

// int64 with uint64: no type holds both, and floats would round. What is negative is below all that
// is unsigned; the rest compares as unsigned.
Masked compare_signs(Op op, std::span<const Arg> args, int signed_one, const Options& o) {
  std::vector<Arg> again(args.begin(), args.end());
  Arg &s = again[signed_one], &u = again[1 - signed_one];
  if (!s.is_array()) {
    s = s.scalar.i < 0 ? Arg(Scalar::from_float(-1), DType::F64)
                       : Arg(Scalar::from_uint(s.scalar.u), DType::U64);
    return numbus::apply(op, again, o);
  }
  if (!u.is_array()) {
    bool beyond = u.scalar.u > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    u = beyond ? Arg(Scalar::from_float(std::numeric_limits<double>::infinity()), DType::F64)
               : Arg(Scalar::from_int(u.scalar.i), DType::I64);
    return numbus::apply(op, again, o);
  }
  // Whether the comparison holds where the signed one is negative.
  bool holds =
      op == Op::not_equal || (signed_one == 0 ? op == Op::less || op == Op::less_equal
                                              : op == Op::greater || op == Op::greater_equal);
  Masked magnitude = copy(s, DType::U64);
  Arg zero_args[2] = {s, Arg(Scalar::from_int(0), DType::I64)};
  Masked sign = apply(holds ? Op::less : Op::greater_equal, zero_args);
  s = Arg(&magnitude);
  Masked rest = numbus::apply(op, again);
  Arg parts[2] = {Arg(&sign), Arg(&rest)};
  return apply(holds ? Op::logical_or : Op::logical_and, parts, o);
}

// dtype= names the loop's result, and with it the operands' type, but where every loop gives
// booleans.
bool tells_operands(Rule rule) {
  return rule != Rule::Compare && rule != Rule::Logical && rule != Rule::TestFloat &&
         rule != Rule::TestReal;
}

// A Python number in a loop of type `t`, which dtype= asked for: its kind decides, and the value of
// an integer.
void require_weak_cast(const Row& r, const Arg& a, DType t, Casting casting) {
  const Kind own = a.scalar.kind == Kind::UInt ? Kind::Int : a.scalar.kind;
  const Kind there = is_integer(t) ? Kind::Int : kind(t);
  if (own > there && casting != Casting::Unsafe)
    raise(ErrorKind::Casting, std::string(r.name), "cannot cast a number to the loop's type",
          own == Kind::Complex ? "a complex number"
          : own == Kind::Float ? "a float"
                               : "an int",
          std::string(name(t)) + " (or casting='unsafe')");
  if (own == Kind::Int && is_integer(t) && !int_fits(a.scalar, t))
    raise(ErrorKind::Overflow, std::string(r.name),
          "Python integer out of bounds for " + std::string(name(t)), std::to_string(a.scalar.i),
          "a value the type can hold");
}

}  // namespace

Masked apply(Op op, std::span<const Arg> args, const Options& o) {
  const Row& r = row(op);
  for (const Arg& a : args)
    if (a.huge) return apply_huge(op, args, o);
  if (args.size() != r.nin) {
    raise(ErrorKind::Type, std::string(r.name), "wrong number of operands",
          std::to_string(args.size()), std::to_string(r.nin));
  }
  if (!o.out && !o.into && !o.where && !o.dtype && o.casting == Casting::SameKind)
    if (std::optional<Array> made = map_alike_at_once(op, args)) return std::move(*made);
  DType common = common_dtype(args);
  DType types[3];
  for (size_t n = 0; n < args.size(); ++n) {
    const Arg& a = args[n];
    types[n] = a.weak ? common : a.is_array() ? a.full()->dtype : a.dtype;
    if (!a.weak || !a.scalar.is_real_integer() || a.scalar.kind == Kind::Bool ||
        !is_integer(common) || int_fits(a.scalar, common))
      continue;
    if (loops_over_floats(r.rule)) continue;                   // any number is one of theirs
    if (o.dtype && tells_operands(r.rule)) continue;           // it becomes one of that type
    if (r.rule == Rule::Compare || r.rule == Rule::Logical) {  // taken as the number it is
      types[n] = a.scalar.kind == Kind::UInt ? DType::U64 : DType::I64;
    } else {
      raise(ErrorKind::Overflow, std::string(r.name),
            "Python integer out of bounds for " + std::string(name(common)),
            std::to_string(a.scalar.i), "a value the type can hold");
    }
  }
  if (r.rule == Rule::Compare && !o.dtype)
    for (int n : {0, 1})
      if (types[n] == DType::I64 && types[1 - n] == DType::U64)
        return compare_signs(op, args, n, o);
  const bool tells = o.dtype && tells_operands(r.rule);
  DType want[3];
  std::fill_n(want, 3, o.dtype.value_or(DType::Bool));
  // A magnitude is of that type, where the complex type of its parts holds the operand.
  if (op == Op::absolute && tells && is_complex(types[0]) &&
      (want[0] == DType::F64 || (want[0] == DType::F32 && types[0] == DType::C64)))
    want[0] = complex_of(want[0]);
  Resolved loop = resolve(op, {tells ? want : types, args.size()});
  for (size_t n = 0; tells && n < args.size(); ++n)
    if (args[n].weak) require_weak_cast(r, args[n], loop.in[n], o.casting);
  if (o.dtype && loop.out != *o.dtype) {
    raise(ErrorKind::Type, std::string(r.name), "no loop with this result type",
          std::string(name(*o.dtype)), std::string(name(loop.out)));
  }
  // The truth of an operand of any type is no cast.
  if ((o.dtype || o.casting < Casting::SameKind) && r.rule != Rule::Logical) {
    for (size_t n = 0; n < args.size(); ++n) {
      if (!args[n].weak && !can_cast(types[n], loop.in[n], o.casting)) {
        raise(ErrorKind::Casting, std::string(r.name), "cannot cast an operand to the loop's type",
              std::string(name(types[n])) + " to " + std::string(name(loop.in[n])),
              "a same-kind cast (or casting='unsafe')");
      }
    }
  }
  if (is_complex(loop.in[0]) && !has_complex_expansion(loop.op)) {
    raise(ErrorKind::NotImplemented, std::string(r.name), "not yet available for complex numbers",
          std::string(name(loop.in[0])), "real types");
  }
  Instr i;
  i.op = loop.op;
  i.loop = loop.in[0];
  return record_map(i, args, loop.in, loop.out, o);
}

Masked record_map(Op op, DType loop, DType result, std::span<const Arg> args,
                  const DType* operands) {
  Instr i;
  i.op = op;
  i.loop = loop;
  return record_map(i, args, operands, result, {});
}

Masked record_apply(const Recordable& f, std::span<const Arg> args, const Options& o) {
  Instr i;
  i.op = Op::apply;
  i.loop = f.results[0];
  i.function = &f;
  return record_map(i, args, f.params.data(), f.results[0], o);
}

Masked select(const Arg& condition, const Arg& x, const Arg& y) {
  Arg xy[2] = {x, y};
  DType t = common_dtype(xy);
  Instr i;
  i.op = Op::select;
  i.loop = t;
  Arg args[3] = {condition, x, y};
  DType loop[3] = {DType::Bool, t, t};
  return record_map(i, args, loop, t, {});
}

void require_boolean(const Array& where, const char* op) {
  if (where.dtype == DType::Bool) return;
  raise(ErrorKind::Type, op, "where must be boolean", std::string(name(where.dtype)), "bool");
}

void require_value(const Arg& from, DType to, const char* op) {
  if (from.is_array() || !from.weak) return;
  const Scalar& s = from.scalar;
  if (s.kind == Kind::Complex) {
    if (!is_complex(to) && to != DType::Bool)
      raise(ErrorKind::Type, op, "cannot store a complex number", "complex", std::string(name(to)));
    return;
  }
  if (!is_integer(to)) return;
  Scalar whole = s;
  bool fits = !from.huge;
  if (s.kind == Kind::Float && fits) {
    double v = std::trunc(s.f[0]);
    if (std::isnan(v))
      raise(ErrorKind::Value, op, "cannot convert a NaN to an integer", "nan", "a finite number");
    if (v >= -0x1p63 && v < 0x1p63)
      whole = Scalar::from_int(static_cast<int64_t>(v));
    else if (v >= 0 && v < 0x1p64)
      whole = Scalar::from_uint(static_cast<uint64_t>(v));
    else
      fits = false;
  }
  if (!fits || !int_fits(whole, to)) {
    std::string got = s.kind == Kind::Float  ? std::to_string(s.f[0])
                      : s.kind == Kind::UInt ? std::to_string(s.u)
                                             : std::to_string(s.i);
    raise(ErrorKind::Overflow, op, "Python number out of bounds for " + std::string(name(to)), got,
          "a value the type can hold");
  }
}

void assign(const Array& to, const Arg& from, const Array* where, Casting casting) {
  require_writeable(to, "assign");
  require_value(from, to.dtype, "assign");
  const Array* values = from.array();
  if (values && !where && assign_at_once(to, *values)) return;
  Instr i;
  i.op = Op::cast;
  i.loop = to.dtype;
  Options o;
  o.out = &to;
  o.where = where;
  o.casting = casting;
  // A float scalar becomes an integer where the elements of an array would: in the kernel.
  DType loop = values || from.weak || kind(from.dtype) < Kind::Float ? to.dtype : from.dtype;
  DType source = values ? values->dtype : from.weak ? to.dtype : from.dtype;
  if (values && values->ndim() > to.ndim()) {
    // Leading extents of one may be dropped in an assignment.
    int extra = values->ndim() - to.ndim();
    for (int d = 0; d < extra; ++d)
      if (values->layout->shape(d) != 1) broadcast_layout(*values, to.layout.get(), "assign");
    Array a = last_axes(*values, to.ndim());
    Arg again(&a);
    record_map(i, {&again, 1}, &loop, source, o);
    return;
  }
  record_map(i, {&from, 1}, &loop, source, o);
}

Array copy_like(const Array& a, DType t) {
  return fresh(copy_layout(a, itemsize(t)), t, a.base->device);
}

Array copy(const Array& a, DType t, bool c_order) {
  if (a.dtype == t && a.layout->c_contiguous())
    if (std::optional<Array> made = copy_at_once(a)) return std::move(*made);
  Instr i;
  i.op = Op::cast;
  i.loop = t;
  Arg arg(&a);
  Array out = c_order ? empty(a.shape(), t, a.base->device) : copy_like(a, t);
  Options o;
  o.out = &out;
  o.casting = Casting::Unsafe;
  record_map(i, {&arg, 1}, &t, t, o);
  return out;
}

Masked copy(const Arg& a, DType t) {
  if (!a.mask()) return copy(*a.array(), t);
  Instr i;
  i.op = Op::cast;
  i.loop = t;
  return record_map(i, {&a, 1}, &t, t, {});
}

}  // namespace numbus
