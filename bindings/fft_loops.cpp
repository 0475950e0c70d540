// The inner loops of NumPy's ufuncs of Fourier transforms, for the core to call by itself.
#include <string>

#include "ufuncs_inside.h"
#include "vendor/fft.h"

namespace numbus::bindings {
namespace {

bool take(nb::handle object, vendor::FftKind kind) {
  const Ufunc& u = Ufunc::of(object);
  const auto signature = nb::cast<std::string>(object.attr("signature"));
  if (!u.is_as_declared(object) || u.arguments != 3 ||
      (signature != "(n),()->(m)" && signature != "(m),()->(n)"))
    return false;
  const bool from_real = kind == vendor::FftKind::RealEven || kind == vendor::FftKind::RealOdd;
  int found = 0;
  for (int k = 0; k < u.count; ++k) {
    const char* types = u.types + ptrdiff_t{3} * k;
    const bool wide = types[1] == Ufunc::kDouble;
    if (!wide && types[1] != Ufunc::kFloat) continue;
    const char real = wide ? Ufunc::kDouble : Ufunc::kFloat,
               complex = wide ? Ufunc::kComplexDouble : Ufunc::kComplexFloat;
    if (types[0] != (from_real ? real : complex) ||
        types[2] != (kind == vendor::FftKind::ToReal ? real : complex))
      return false;
    vendor::set_fft_loop(kind, wide ? DType::F64 : DType::F32, u.loops[k], u.data_of(k));
    ++found;
  }
  return found == 2;
}

}  // namespace

void bind_fft_loops(nb::module_& m) {
  m.def(
      "take_fft_loops",
      [](nb::object forward, nb::object inverse, nb::object even, nb::object odd,
         nb::object to_real) {
        using vendor::FftKind;
        return take(forward, FftKind::Forward) && take(inverse, FftKind::Inverse) &&
               take(even, FftKind::RealEven) && take(odd, FftKind::RealOdd) &&
               take(to_real, FftKind::ToReal);
      },
      "Takes the loops of NumPy's ufuncs fft, ifft, rfft_n_even, rfft_n_odd and irfft; whether "
      "they are as declared. The ufuncs have to be NumPy's, which are never freed.");
}

}  // namespace numbus::bindings
