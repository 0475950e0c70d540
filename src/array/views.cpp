// Views: other shapes and strides over the same base.
#include <algorithm>
#include <cstring>

#include "array/array.h"
#include "base/error.h"

namespace numbus {

Array view_of(const Array& a, const Layout* layout, int64_t offset) {
  Array v = a;
  v.layout = LayoutRef(layout);
  v.offset = offset;
  v.owns = false;
  return v;
}

std::vector<int64_t> broadcast_shape(std::span<const Array* const> arrays, const char* op) {
  int n = 0;
  for (const Array* a : arrays) n = std::max(n, a->ndim());
  std::vector<int64_t> shape(n, 1);
  for (const Array* a : arrays) {
    for (int d = 0; d < a->ndim(); ++d) {
      int64_t& s = shape[n - a->ndim() + d];
      int64_t e = a->layout->shape(d);
      if (e == s || e == 1) continue;
      if (s != 1) {
        std::string got;
        for (const Array* x : arrays) got += (got.empty() ? "" : " ") + shape_string(*x->layout);
        // Index arrays that do not fit together are a wrong index.
        const bool index = std::string_view(op) == "index";
        raise(index ? ErrorKind::Index : ErrorKind::Value, op,
              "operands could not be broadcast together", "shapes " + got,
              "equal extents, or extents of one");
      }
      s = e;
    }
  }
  return shape;
}

const Layout* broadcast_layout(const Array& a, const Layout* to, const char* op) {
  const Layout* l = a.layout.get();
  if (l == to || l->same_shape(*to)) return l;
  int n = to->ndim(), extra = n - l->ndim();
  int64_t strides[kMaxDims];
  bool ok = extra >= 0;
  for (int d = 0; ok && d < n; ++d) {
    int k = d - extra;
    if (k < 0 || (l->shape(k) == 1 && to->shape(d) != 1))
      strides[d] = 0;
    else if (l->shape(k) == to->shape(d))
      strides[d] = l->stride(k);
    else
      ok = false;
  }
  if (!ok) {
    raise(ErrorKind::Value, op, "could not broadcast an operand", "shape " + shape_string(*l),
          "a shape that broadcasts to " + shape_string(*to));
  }
  return Layout::get({to->shape(), static_cast<size_t>(n)}, {strides, static_cast<size_t>(n)},
                     l->itemsize());
}

Array last_axes(const Array& a, int n) {
  size_t extra = static_cast<size_t>(a.ndim() - n);
  return view_of(
      a,
      Layout::get(a.shape().subspan(extra), {a.layout->strides() + extra, static_cast<size_t>(n)},
                  itemsize(a.dtype)),
      a.offset);
}

Array broadcast_to(const Array& a, std::span<const int64_t> shape) {
  LayoutRef target(Layout::contiguous(shape, itemsize(a.dtype)));
  Array v = view_of(a, broadcast_layout(a, target.get(), "broadcast_to"), a.offset);
  v.writeable = false;
  return v;
}

Array transpose(const Array& a, std::span<const int> axes) {
  const auto n = static_cast<size_t>(a.ndim());
  int64_t shape[kMaxDims], strides[kMaxDims];
  for (size_t d = 0; d < n; ++d) {
    shape[d] = a.layout->shape(axes[d]);
    strides[d] = a.layout->stride(axes[d]);
  }
  return view_of(a, Layout::get({shape, n}, {strides, n}, itemsize(a.dtype)), a.offset);
}

std::optional<Array> reshape_view(const Array& a, std::vector<int64_t> shape) {
  int unknown = -1;
  int64_t known = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == -1) {
      if (unknown >= 0)
        raise(ErrorKind::Value, "reshape", "can only specify one unknown dimension",
              shape_string(shape), "at most one -1");
      unknown = static_cast<int>(d);
    } else {
      known *= shape[d];
    }
  }
  if (unknown >= 0 && known > 0 && a.size() % known == 0) shape[unknown] = a.size() / known;
  int64_t total = 1;
  for (int64_t e : shape) total *= e;
  if (total != a.size() || (unknown >= 0 && known == 0)) {
    raise(ErrorKind::Value, "reshape", "cannot reshape array of size " + std::to_string(a.size()),
          "shape " + shape_string(shape), "a shape with " + std::to_string(a.size()) + " elements");
  }
  if (a.layout->c_contiguous())
    return view_of(a, Layout::contiguous(shape, itemsize(a.dtype)), a.offset);
  // Match runs of old dimensions that are walked as one with runs of new ones of the same size.
  std::vector<int64_t> old_shape, old_strides, strides(shape.size());
  for (int d = 0; d < a.ndim(); ++d) {
    if (a.layout->shape(d) == 1) continue;
    old_shape.push_back(a.layout->shape(d));
    old_strides.push_back(a.layout->stride(d));
  }
  size_t i = 0, j = 0;
  bool possible = a.size() > 0;
  while (possible && i < old_shape.size() && j < shape.size()) {
    size_t i0 = i, j0 = j;
    int64_t x = old_shape[i++], y = shape[j++];
    while (x != y) {
      if (x < y)
        x *= old_shape[i++];
      else
        y *= shape[j++];
    }
    for (size_t k = i0; k + 1 < i; ++k)
      possible = possible && old_strides[k] == old_strides[k + 1] * old_shape[k + 1];
    int64_t step = old_strides[i - 1];
    for (size_t k = j; k-- > j0;) {
      strides[k] = step;
      step *= shape[k];
    }
  }
  for (; possible && j < shape.size(); ++j) strides[j] = j ? strides[j - 1] : itemsize(a.dtype);
  if (!possible) return std::nullopt;
  return view_of(a, Layout::get(shape, strides, itemsize(a.dtype)), a.offset);
}

Array reshape(const Array& a, std::vector<int64_t> shape) {
  if (auto v = reshape_view(a, shape)) return *v;
  return *reshape_view(copy(a, a.dtype, true), std::move(shape));
}

Array part(const Array& a, bool imaginary) {
  DType r = real_of(a.dtype);
  int n = a.ndim();
  Array v =
      view_of(a, Layout::get(a.shape(), {a.layout->strides(), static_cast<size_t>(n)}, itemsize(r)),
              a.offset + (imaginary ? itemsize(r) : 0));
  v.dtype = r;
  return v;
}

Array view_as(const Array& a, DType t) {
  int from = itemsize(a.dtype), to = itemsize(t);
  std::vector<int64_t> shape(a.shape().begin(), a.shape().end());
  std::vector<int64_t> strides(a.layout->strides(), a.layout->strides() + a.ndim());
  if (from != to) {
    const bool empty = std::ranges::find(shape, 0) != shape.end();  // whose strides say nothing
    if (a.ndim() == 0 || (strides.back() != from && !empty) || shape.back() * from % to != 0) {
      raise(ErrorKind::Value, "view", "the last axis cannot be reinterpreted",
            std::string(name(a.dtype)) + " as " + std::string(name(t)),
            "a contiguous last axis whose bytes divide evenly");
    }
    shape.back() = shape.back() * from / to;
    strides.back() = to;
  }
  Array v = view_of(a, Layout::get(shape, strides, to), a.offset);
  v.dtype = t;
  return v;
}

}  // namespace numbus
