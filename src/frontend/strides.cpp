// Arrays over the memory of others: as elements of another type, by shape and strides.
#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

bool in_c_order(const Type& t) { return t.order == Order::C || t.ndim == 0; }

}  // namespace

// x.view(t) of an array where the types differ in size: the last axis has more or fewer elements.
Value Lower::view_of_size(const Node& n, const Value& given, DType t) {
  Value r = given.lazy ? materialise(n, given) : given;
  const int64_t from = itemsize(r.type.dtype), to = itemsize(t);
  const size_t ndim = r.type.ndim;
  if (from != to && ndim == 0)
    fail(n, "a view of " + name(r.type) + " as " + std::string(numbus::name(t)) +
                ", whose size is another");
  if (from != to) {
    const size_t last = 2 + ndim - 1;
    if (!in_c_order(r.type))
      when(both(b_->emit(Op::not_equal, DType::Bool, r.v[last + ndim], ci(from)),
                b_->emit(Op::not_equal, DType::Bool, r.v[last], ci(1))),
           [&] {
             raise_at(site(n, "ValueError",
                           "To change to a dtype of a different size, the last axis must be "
                           "contiguous"));
           });
    const Val bytes = mul(r.v[last], ci(from));
    if (to > from)
      when(b_->emit(Op::not_equal, DType::Bool, b_->emit(Op::remainder, DType::I64, bytes, ci(to)),
                    ci(0)),
           [&] {
             raise_at(site(n, "ValueError",
                           "When changing to a larger dtype, its size must be a divisor of the "
                           "total size in bytes of the last axis of the array."));
           });
    r.v[last] = b_->emit(Op::floor_divide, DType::I64, bytes, ci(to));
    r.v[last + ndim] = ci(to);
    // The strides of dense arrays follow from their shape; those of the other axes stay.
    if (!in_c_order(r.type)) r.type.order = Order::Any;
  }
  r.type.dtype = t;
  r.type.text.clear();
  r.type.weak = r.type.aligned = false;
  return r;
}

// np.frombuffer(array, dtype, count, offset): a view of an array's bytes.
Value Lower::from_buffer(const Call& c) {
  const Node& n = c.n;
  const Value *given = c.get(0, "buffer"), *count = c.get(2, "count"), *offset = c.get(3, "offset");
  if (!given) fail(n, "np.frombuffer() needs an array");
  if (c.keyword("like")) not_yet(n, "np.frombuffer() with like=");
  if (!given->type.is_array()) not_yet(n, "np.frombuffer() of " + name(given->type), "an array");
  const DType t = dtype_argument(c, 1, "dtype").value_or(DType::F64);
  if (t == DType::Bool) not_yet(n, "np.frombuffer() with dtype=bool", "dtype=np.uint8");
  Value a = given->lazy ? materialise(n, *given) : *given;
  if (!in_c_order(a.type))
    not_yet(n, "np.frombuffer() of " + name(a.type), "np.ascontiguousarray(x)");
  const int64_t size = itemsize(t);
  const Val all = mul(size_of(a), ci(itemsize(a.type.dtype)));
  const Val first = offset ? index_value(n, *offset) : ci(0);
  when(b_->emit(Op::logical_or, DType::Bool, less(first, ci(0)), less(all, first)), [&] {
    raise_at(site(n, "ValueError",
                  "offset must be non-negative and no greater than the buffer's length"));
  });
  const Val left = sub(all, first);
  const Val fits = b_->emit(Op::floor_divide, DType::I64, left, ci(size));
  const Val wanted = count ? index_value(n, *count) : ci(-1);
  const Val whole = less(wanted, ci(0));
  when(both(whole, b_->emit(Op::not_equal, DType::Bool, mul(fits, ci(size)), left)),
       [&] { raise_at(site(n, "ValueError", "buffer size must be a multiple of element size")); });
  when(less(fits, wanted),
       [&] { raise_at(site(n, "ValueError", "buffer is smaller than requested size")); });
  Value r;
  r.type = Type::array_of(t, 1, Order::C);
  r.type.owned = a.type.owned;
  r.type.readonly = a.type.readonly;
  r.type.frozen = a.type.frozen;
  r.type.space = a.type.space;
  r.v = {add(a.v[0], first), a.v[1], b_->emit(Op::select, DType::I64, whole, fits, wanted),
         ci(size)};
  r.origin = a.origin;
  return r;
}

// np.lib.stride_tricks.as_strided(x, shape, strides): what it reaches has to lie in x.
Value Lower::as_strided(const Call& c) {
  const Node& n = c.n;
  const Value *given = c.get(0, "x"), *shape = c.get(1, "shape"), *strides = c.get(2, "strides");
  for (const char* key : {"subok", "writeable"})
    if (c.keyword(key)) not_yet(n, std::string("as_strided() with ") + key + "=");
  if (c.args.size() > 3) not_yet(n, "as_strided() with subok and writeable");
  if (!given || !given->type.is_array())
    fail(n, "as_strided() takes an array" + (given ? "; got " + name(given->type) : ""));
  Value a = given->lazy ? materialise(n, *given) : *given;
  auto numbers = [&](const Value* v, std::span<const Val> otherwise) {
    if (!v || v->type.is(Type::Tag::None))
      return std::vector<Val>(otherwise.begin(), otherwise.end());
    if (v->type.is_number()) return std::vector<Val>{index_value(n, *v)};
    if (!v->type.is(Type::Tag::Tuple))
      fail(n, "as_strided() takes tuples of integers; got " + name(v->type), "a tuple");
    std::vector<Val> all;
    for (const Value& i : v->items) all.push_back(index_value(n, i));
    return all;
  };
  const std::vector<Val> extents = numbers(shape, a.shape()), steps = numbers(strides, a.strides());
  if (extents.size() != steps.size())
    fail(n, "as_strided() takes a stride for each axis; got " + std::to_string(extents.size()) +
                " extents and " + std::to_string(steps.size()) + " strides");
  if (extents.size() > 8) not_yet(n, "as_strided() with more than 8 axes");
  // The bytes that elements lie at, from the first one on: the lowest and the highest.
  auto reach = [&](std::span<const Val> shape, std::span<const Val> strides, Val& none) {
    Val low = ci(0), high = ci(0);
    none = b_->constant(DType::Bool, Scalar::from_bool(false));
    for (size_t d = 0; d < shape.size(); ++d) {
      const Val far = mul(sub(shape[d], ci(1)), strides[d]);
      low = add(low, b_->emit(Op::minimum, DType::I64, far, ci(0)));
      high = add(high, b_->emit(Op::maximum, DType::I64, far, ci(0)));
      none = b_->emit(Op::logical_or, DType::Bool, none,
                      b_->emit(Op::equal, DType::Bool, shape[d], ci(0)));
    }
    return std::pair{low, high};
  };
  Val negative = b_->constant(DType::Bool, Scalar::from_bool(false));
  for (Val e : extents) negative = b_->emit(Op::logical_or, DType::Bool, negative, less(e, ci(0)));
  when(negative, [&] { raise_at(site(n, "ValueError", "negative dimensions are not allowed")); });
  Val nothing, nowhere;
  const auto [low, high] = reach(extents, steps, nothing);
  const auto [first, last] = reach(a.shape(), a.strides(), nowhere);
  const Val outside = b_->emit(Op::logical_or, DType::Bool, less(low, first), less(last, high));
  when(both(negate(nothing), b_->emit(Op::logical_or, DType::Bool, outside, nowhere)), [&] {
    raise_at(site(n, "ValueError", "[as_strided] the view would reach outside of the array"));
  });
  Value r = a;
  r.type.ndim = static_cast<uint8_t>(extents.size());
  r.type.order = Order::Any;
  r.type.weak = r.type.aligned = false;
  r.type.text.clear();
  r.v.resize(2);
  r.v.insert(r.v.end(), extents.begin(), extents.end());
  r.v.insert(r.v.end(), steps.begin(), steps.end());
  return r;
}

}  // namespace numbus::frontend
