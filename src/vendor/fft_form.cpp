// Which layouts cuFFT takes as they lie.
#include "vendor/fft_form.h"

namespace numbus::vendor {
namespace {

std::optional<FftSide> side(const Layout& l, int rank) {
  const int64_t item = l.itemsize();
  for (int d = 0; d <= rank; ++d)
    if (l.shape(d) > 1 && (l.stride(d) <= 0 || l.stride(d) % item != 0)) return {};
  FftSide s;
  if (l.shape(rank) > 1) s.stride = l.stride(rank) / item;
  long long step = s.stride;  // from one element of axis d to the next
  for (int d = rank; d >= 1; --d) {
    long long& embed = s.embed[static_cast<size_t>(d - 1)];
    embed = l.shape(d);
    if (d > 1 && l.shape(d - 1) > 1) {
      const long long outer = l.stride(d - 1) / item;
      if (outer % step != 0 || outer / step < embed) return {};
      embed = outer / step;
    }
    step *= embed;
  }
  s.distance = l.shape(0) > 1 ? l.stride(0) / item : step;
  return s;
}

bool half_of(const Layout& half, const Layout& whole) {
  const int last = whole.ndim() - 1;
  for (int d = 0; d < last; ++d)
    if (half.shape(d) != whole.shape(d)) return false;
  return half.shape(last) == whole.shape(last) / 2 + 1;
}

}  // namespace

std::optional<FftForm> fft_form(const Transform& t) {
  const int rank = t.in->ndim() - 1;
  if (rank < 1 || rank > 3 || t.out->ndim() != rank + 1) return {};
  if (t.in->size() == 0 || t.out->size() == 0) return {};
  const DType real = real_of(t.in_type);
  if ((real != DType::F32 && real != DType::F64) || real_of(t.out_type) != real) return {};
  FftForm f;
  f.wide = real == DType::F64;
  f.rank = rank;
  const Layout* whole = t.in;
  if (!is_complex(t.in_type)) {
    if (t.inverse || !is_complex(t.out_type) || !half_of(*t.out, *t.in)) return {};
    f.kind = FftForm::RealToComplex;
  } else if (!is_complex(t.out_type)) {
    if (!t.inverse || !half_of(*t.in, *t.out)) return {};
    f.kind = FftForm::ComplexToReal;
    whole = t.out;
  } else if (!t.in->same_shape(*t.out)) {
    return {};
  }
  for (int d = 0; d < rank; ++d) f.n[static_cast<size_t>(d)] = whole->shape(d + 1);
  f.stack = whole->shape(0);
  const std::optional<FftSide> in = side(*t.in, rank), out = side(*t.out, rank);
  if (!in || !out) return {};
  f.in = *in;
  f.out = *out;
  return f;
}

bool fft_takes(const Transform& t, int64_t in_offset, int64_t out_offset) {
  // Also real data is read and written in pairs.
  const int64_t pair = 2 * itemsize(real_of(t.in_type));
  return in_offset % pair == 0 && out_offset % pair == 0 && fft_form(t).has_value();
}

}  // namespace numbus::vendor
