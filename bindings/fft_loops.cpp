// The inner loops of NumPy's ufuncs of Fourier transforms, for the core to call by itself.
#include <cstdint>
#include <string>

#include "convert.h"
#include "vendor/fft.h"

namespace numbus::bindings {
namespace {

// The beginning of NumPy's PyUFuncObject, which its headers declare and every NumPy keeps.
struct Ufunc {
  PyObject head;
  int inputs, outputs, arguments, identity;
  vendor::FftLoop* loops;
  void* const* data;
  int count, reserved;
  const char* name;
  const char* types;  // as many for each loop as there are arguments
};

// NumPy's numbers of types.
constexpr char kFloat = 11, kDouble = 12, kComplexFloat = 14, kComplexDouble = 15;

int64_t number(nb::handle object, const char* attribute) {
  return nb::cast<int64_t>(object.attr(attribute));
}

// Whether the object is laid out as declared here: what Python says of it is what is read.
bool is_as_declared(nb::handle object, const Ufunc& u) {
  return number(object, "nin") == u.inputs && number(object, "nout") == u.outputs &&
         number(object, "nargs") == u.arguments && number(object, "ntypes") == u.count &&
         nb::cast<std::string>(object.attr("__name__")) == u.name;
}

bool take(nb::handle object, vendor::FftKind kind) {
  const auto& u = *reinterpret_cast<const Ufunc*>(object.ptr());
  const auto signature = nb::cast<std::string>(object.attr("signature"));
  if (!is_as_declared(object, u) || u.arguments != 3 ||
      (signature != "(n),()->(m)" && signature != "(m),()->(n)"))
    return false;
  const bool from_real = kind == vendor::FftKind::RealEven || kind == vendor::FftKind::RealOdd;
  int found = 0;
  for (int k = 0; k < u.count; ++k) {
    const char* types = u.types + ptrdiff_t{3} * k;
    const bool wide = types[1] == kDouble;
    if (!wide && types[1] != kFloat) continue;
    const char real = wide ? kDouble : kFloat, complex = wide ? kComplexDouble : kComplexFloat;
    if (types[0] != (from_real ? real : complex) ||
        types[2] != (kind == vendor::FftKind::ToReal ? real : complex))
      return false;
    vendor::set_fft_loop(kind, wide ? DType::F64 : DType::F32, u.loops[k],
                         u.data ? u.data[k] : nullptr);
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
