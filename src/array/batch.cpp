// Recording one example's instructions for a batch.
#include "array/batch.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "array/convolution.h"
#include "array/observer.h"
#include "lazy/calls.h"
#include "ops/routines.h"

namespace numbus {
namespace {

int indices_of(const Instr& i) { return std::popcount(i.axes); }

// Routines whose operands are lines, or stacks of matrices, side by side in memory.
bool works_on_lines(Routine r) {
  return r == Routine::sort || r == Routine::argsort || r == Routine::partition ||
         r == Routine::argpartition;
}

// Those of any layout whose last axes alone are theirs: a CPU's transforms and linear algebra.
bool takes_any_lead(Routine r, const Device& d) {
  return (r == Routine::fft || r == Routine::ifft || is_linalg(r)) && d.runs_on_host();
}

}  // namespace

struct Batch::Made {
  Instr i;
  int count;
  Window::Input in[kMaxOperands];
  ViewRef views[kMaxOperands];
  std::vector<Array> kept;

  explicit Made(const Step& s) : i(s.instr), count(s.count) { kept.reserve(kMaxOperands); }
  void set(int n, const Array& a) {
    kept.push_back(a);
    views[n] = kept.back().view();
    in[n] = {&views[n], {}, a.dtype};
  }
  void set(int n, const Capture::Input& number) { in[n] = {nullptr, number.scalar, number.dtype}; }
};

const std::vector<Capture::Known>& Batch::bases() const { return recipe_->bases_; }

Batch::Batch(std::shared_ptr<const Recipe> recipe, int64_t examples)
    : recipe_(std::move(recipe)), n_(examples), batched_(bases().size()) {
  for (size_t k = 0; k < bases().size(); ++k)
    batched_[k] = bases()[k].kind == Capture::Known::Given;
  spread();
  for (const Step& s : recipe_->steps_)
    if (!why_) why_ = refuses(s);
}

// What is made of batched operands is batched, and so is all that is in its memory.
void Batch::spread() {
  for (bool more = true; more;) {
    more = false;
    for (const Step& s : recipe_->steps_) {
      if (s.work) continue;
      bool any = batched(s.out);
      for (const Capture::Input& x : s.in) any = any || (x.view && batched(*x.view));
      if (!any) continue;
      auto mark = [&](const View& v) {
        if (batched(v)) return;
        more = true;
        batched_[v.base] = true;
        if (bases()[v.base].kind == Capture::Known::Constant)
          why_ = "an array is written to that is no argument";
      };
      mark(s.out);
      for (size_t n = static_cast<size_t>(s.count); n < s.in.size(); ++n) mark(*s.in[n].view);
    }
  }
}

bool Batch::any_index_batched(const Step& s) const {
  for (int n = 1; n <= indices_of(s.instr); ++n)
    if (batched(*s.in[static_cast<size_t>(n)].view)) return true;
  return false;
}

const char* Batch::refuses(const Step& s) const {
  if (s.work) return observer() ? "it has a derivative of its own" : nullptr;
  if (!batched(s.out)) return nullptr;
  const Instr& i = s.instr;
  auto fits = [](const View& v) { return v.layout->ndim() < kMaxDims; };
  if (!fits(s.out)) return "too many dimensions";
  for (const Capture::Input& x : s.in)
    if (x.view && !fits(*x.view)) return "too many dimensions";
  if (i.code == Instr::Call) return refuses_routine(s);
  if (i.gathers() || i.scatters()) {
    const bool own_index = any_index_batched(s) && (i.scatters() || batched(*s.in[0].view));
    if (s.count + own_index > kMaxOperands || (own_index && indices_of(i) >= 3))
      return "too many indices";
  }
  return nullptr;
}

namespace {

struct Convolved {
  ConvolutionKind kind;
  ConvolutionForm form;
  explicit Convolved(const Instr& i) : kind(kind_of(i.attributes)), form(form_of(i.attributes)) {}
};

}  // namespace

const char* Batch::refuses_routine(const Step& s) const {
  const Routine r = s.instr.routine;
  if (r == Routine::matmul || r == Routine::accumulate || works_on_lines(r) ||
      takes_any_lead(r, recipe_->device()) || is_linalg(r))
    return nullptr;
  if (r == Routine::convolve) {
    if (!is_grouped(s)) return nullptr;
    const Convolved c(s.instr);
    const bool of_weights = c.kind == ConvolutionKind::Weight;
    const Layout& w = of_weights ? *s.out.layout : *s.in[1].view->layout;
    if (convolves(recipe_->device(), s.out.dtype, {w.shape(), 4}, c.form.stride,
                  c.form.groups * n_))
      return nullptr;
  }
  return "it calls a routine that has no batches";
}

bool Batch::is_batched(size_t result) const { return batched(recipe_->results_[result]); }

const Handle& Batch::base_of(const View& v) {
  Handle& b = made_[v.base];
  if (b.get()) return b;
  const int64_t bytes = bases()[v.base].nbytes;
  b = Handle(Base::create(recipe_->device(), batched(v) ? bytes * n_ : bytes));
  note_made(v.on(b));
  return b;
}

Array Batch::plain(const View& v) { return v.on(base_of(v)); }

// All examples of a view, over its dimensions in an order, after that which counts the examples.
Array Batch::leading(const View& v, std::span<const int> order) {
  Array a = v.on(base_of(v));
  std::vector<int64_t> shape{n_}, strides{lead(v)};
  for (const int d : order) {
    shape.push_back(v.layout->shape(d));
    strides.push_back(v.layout->stride(d));
  }
  a.layout = Layout::get(shape, strides, v.layout->itemsize());
  a.owns = a.size() * itemsize(a.dtype) == a.base->nbytes;
  return a;
}

Array Batch::leading(const View& v) {
  std::vector<int> order(static_cast<size_t>(v.layout->ndim()));
  std::iota(order.begin(), order.end(), 0);
  return leading(v, order);
}

void Batch::put(Made& m, const Array& out, bool seen) {
  if (seen) return numbus::record(m.i, out, m.in, m.count);
  const Unobserved alone;
  numbus::record(m.i, out, m.in, m.count);
}

// Positions within an example are not those within the batch.
void Batch::record_positions(const Step& s) {
  Array one = s.out.on(Handle(Base::create(recipe_->device(), bases()[s.out.base].nbytes)));
  note_made(one);
  Made m(s);
  for (int n = 0; n < s.count; ++n) m.set(n, s.in[static_cast<size_t>(n)]);
  put(m, one, s.seen);
  assign(leading(s.out), Arg(&one));
}

void Batch::record_indexing(const Step& s) {
  const Instr& i = s.instr;
  const int indices = indices_of(i);
  const bool scatters = i.scatters();
  const View& domain = scatters ? *s.in[1].view : s.out;
  const View& indexed = scatters ? s.out : *s.in[0].view;
  const int dims = domain.layout->ndim();
  const int many = dims - (indexed.layout->ndim() - indices);
  Made m(s);
  std::vector<int> order(static_cast<size_t>(dims));
  std::iota(order.begin(), order.end(), 0);
  const bool apart = any_index_batched(s);
  if (apart && i.bounds == Instr::Sure) m.i.bounds = Instr::Report;  // of the first example's
  if (apart) {  // the dimensions of the indices come first, and the examples before them
    std::rotate(order.begin(), order.begin() + i.first_axis, order.begin() + i.first_axis + many);
    m.i.first_axis = 0;
  } else if (batched(indexed)) {
    ++m.i.first_axis;
  }
  const bool numbered = apart && batched(indexed);
  if (batched(indexed)) m.i.axes = i.axes << 1 | uint64_t{numbered};
  // An index that counts the examples.
  int next = 1;
  if (numbered) {
    Array number = arange(0, 1, 0, 1, n_, DType::I64, &recipe_->device());
    std::vector<int64_t> shape{n_}, strides(static_cast<size_t>(dims) + 1, 0);
    for (const int d : order) shape.push_back(domain.layout->shape(d));
    strides[0] = itemsize(DType::I64);
    number.layout = Layout::get(shape, strides, itemsize(DType::I64));
    m.set(next++, number);
    ++m.i.nin;
    ++m.count;
  }
  const Capture::Input& first = s.in[0];
  if (!first.view)
    m.set(0, first);
  else if (scatters)
    m.set(0, leading(*first.view, order));
  else
    m.set(0, batched(indexed) ? leading(indexed) : plain(indexed));
  for (int n = 1; n < s.count; ++n) {
    const Capture::Input& x = s.in[static_cast<size_t>(n)];
    m.set(next++, leading(*x.view, order));
  }
  put(m, scatters ? leading(s.out) : leading(s.out, order), s.seen);
}

namespace {

bool is_dense(const Array& a) { return a.layout->c_contiguous(); }

}  // namespace

void Batch::record_dense(const Step& s) {
  Made m(s);
  for (int n = 0; n < s.count; ++n) {
    const Array a = leading(*s.in[static_cast<size_t>(n)].view);
    m.set(n, is_dense(a) ? a : copy(a, a.dtype, true));
  }
  const Array to = leading(s.out);
  if (is_dense(to)) return put(m, to, s.seen);
  const Array fresh = empty(to.shape(), to.dtype, &recipe_->device());
  put(m, fresh, s.seen);
  assign(to, Arg(&fresh));
}

namespace {

// Stacks of the examples as one stack, as long as it is one number of bytes from each to the next.
std::optional<Array> as_one_stack(const Array& a) {
  const Layout& l = *a.layout;
  const int64_t count = l.shape(1), step = l.stride(1);
  if (count != 1 && l.stride(0) != count * step) return {};
  return view_of(
      a,
      Layout::get(std::vector<int64_t>{l.shape(0) * count, l.shape(2), l.shape(3)},
                  std::vector<int64_t>{count == 1 ? l.stride(0) : step, l.stride(2), l.stride(3)},
                  l.itemsize()),
      a.offset);
}

}  // namespace

void Batch::record_stacks(const Step& s) {
  Made m(s);
  for (int n = 0; n < s.count; ++n) {
    const Array a = leading(*s.in[static_cast<size_t>(n)].view);
    const std::optional<Array> known = as_one_stack(a);
    m.set(n, known ? *known : *as_one_stack(copy(a, a.dtype, true)));
  }
  const Array to = leading(s.out);
  if (const std::optional<Array> known = as_one_stack(to)) return put(m, *known, s.seen);
  const Array fresh = empty(to.shape(), to.dtype, &recipe_->device());
  put(m, *as_one_stack(fresh), s.seen);
  assign(to, Arg(&fresh));
}

namespace {

std::vector<int64_t> shape_of(const Array& a) { return {a.shape().begin(), a.shape().end()}; }

}  // namespace

// Whether the examples are groups of channels, not more images: each has weights of its own.
bool Batch::is_grouped(const Step& s) const {
  return kind_of(s.instr.attributes) == ConvolutionKind::Weight || batched(*s.in[1].view);
}

// (examples, images, channels, ...) as images with the channels of all examples.
Array Batch::as_channels(const View& v) {
  const Array a = leading(v);
  const Layout& l = *a.layout;
  return reshape(transpose(a, std::vector<int>{1, 0, 2, 3, 4}),
                 {l.shape(1), n_ * l.shape(2), l.shape(3), l.shape(4)});
}

Array Batch::as_images(const View& v) {
  const Array a = leading(v);
  const Layout& l = *a.layout;
  return reshape(a, {n_ * l.shape(1), l.shape(2), l.shape(3), l.shape(4)});
}

void Batch::record_convolution(const Step& s) {
  Convolved c(s.instr);
  const View &a = *s.in[0].view, &b = *s.in[1].view;
  const Array to = leading(s.out);
  const Layout& l = *s.out.layout;
  std::vector<int64_t> shape{l.shape(0), l.shape(1), l.shape(2), l.shape(3)};
  const auto with = [&](const Array& x, const Array& y) {
    if (s.seen) return convolve(c.kind, x, y, shape, c.form);
    const Unobserved alone;
    return convolve(c.kind, x, y, shape, c.form);
  };
  if (!is_grouped(s)) {
    shape[0] *= n_;
    const Array made = reshape(with(as_images(a), plain(b)), shape_of(to));
    return assign(to, Arg(&made));
  }
  c.form.groups *= n_;
  if (c.kind == ConvolutionKind::Weight) {
    shape[0] *= n_;
    const Array made = reshape(with(as_channels(a), as_channels(b)), shape_of(to));
    return assign(to, Arg(&made));
  }
  shape[1] *= n_;
  const Array made = with(as_channels(a), as_images(b));
  const Array apart = transpose(reshape(made, {l.shape(0), n_, l.shape(1), l.shape(2), l.shape(3)}),
                                std::vector<int>{1, 0, 2, 3, 4});
  assign(to, Arg(&apart));
}

// On a GPU, where libraries ask how matrices lie.
void Batch::record_linalg(const Step& s) {
  std::vector<Array> given;
  for (int n = 0; n < s.count; ++n) given.push_back(leading(*s.in[static_cast<size_t>(n)].view));
  const auto record = [&] { return linalg(s.instr.routine, s.instr.attributes[0] != 0, given); };
  std::vector<Array> made;
  if (s.seen) {
    made = record();
  } else {
    const Unobserved alone;
    made = record();
  }
  for (size_t k = 0; k < made.size(); ++k)
    assign(leading(k == 0 ? s.out : *s.in[static_cast<size_t>(s.count) + k - 1].view),
           Arg(&made[k]));
}

void Batch::record_step(const Step& s) {
  const Instr& i = s.instr;
  if (!batched(s.out)) {
    Made m(s);
    for (size_t n = 0; n < s.in.size(); ++n) {
      const Capture::Input& x = s.in[n];
      x.view ? m.set(static_cast<int>(n), plain(*x.view)) : m.set(static_cast<int>(n), x);
    }
    return put(m, plain(s.out), s.seen);
  }
  if (i.code == Instr::Call && i.routine == Routine::convolve) return record_convolution(s);
  if (i.code == Instr::Call && is_linalg(i.routine) && !recipe_->device().runs_on_host())
    return record_linalg(s);
  if (i.code == Instr::Call && !takes_any_lead(i.routine, recipe_->device()))
    return works_on_lines(i.routine) ? record_dense(s) : record_stacks(s);
  if (i.gathers() || i.scatters()) return record_indexing(s);
  if (i.code == Instr::Map && i.op == Op::index) return record_positions(s);
  Made m(s);
  for (int n = 0; n < s.count; ++n) {
    const Capture::Input& x = s.in[static_cast<size_t>(n)];
    x.view ? m.set(n, leading(*x.view)) : m.set(n, x);
  }
  if (i.code == Instr::Reduce) m.i.axes <<= 1;
  // Further results of a routine.
  for (size_t n = static_cast<size_t>(s.count); n < s.in.size(); ++n)
    m.set(static_cast<int>(n), leading(*s.in[n].view));
  const Array out = leading(s.out);
  put(m, out, s.seen);
  if (i.code == Instr::Call && is_linalg(i.routine) &&
      vendor::may_fail(linalg_of(i.routine), i.attributes[0] != 0))
    Runtime::get().materialize(out.base.get(), "a matrix may have no result");
}

std::vector<Array> Batch::record(std::span<const Array> given) {
  made_.assign(bases().size(), Handle());
  for (size_t k = 0; k < bases().size(); ++k) {
    const Capture::Known& known = bases()[k];
    if (known.kind == Capture::Known::Given) made_[k] = given[known.at].base;
    if (known.kind == Capture::Known::Constant) made_[k] = known.base;
  }
  for (const Step& s : recipe_->steps_)
    if (!s.work) record_step(s);
  std::vector<Array> results;
  for (const View& v : recipe_->results_) results.push_back(batched(v) ? leading(v) : plain(v));
  made_.clear();
  return results;
}

}  // namespace numbus
