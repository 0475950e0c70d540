// Which library does what on which device.
#include "lazy/calls.h"

#include "base/error.h"

namespace numbus {
namespace {

vendor::Matrix matrix(const Layout& l) {
  return {nullptr, l.stride(1), l.stride(2), l.shape(0) > 1 ? l.stride(0) : 0};
}

}  // namespace

std::string call_name(Routine routine, Op op) {
  switch (routine) {
    case Routine::Matmul: return "matmul";
    case Routine::Scan: return std::string(op_name(op)) + ".accumulate";
    case Routine::Fft: return "fft";
    case Routine::InverseFft: return "ifft";
  }
  return "call";
}

vendor::Product product_of(DType type, const Layout& a, const Layout& b, const Layout& out) {
  return {type,       out.shape(0), out.shape(1), out.shape(2),
          a.shape(2), matrix(a),    matrix(b),    matrix(out)};
}

void run_call(Device& device, const CallStep& call, const int64_t* addresses) {
  auto at = [&](int n) { return reinterpret_cast<char*>(addresses[n]); };
  switch (call.routine) {
    case Routine::Matmul: {
      vendor::Product p =
          product_of(call.type, *call.layouts[0], *call.layouts[1], *call.layouts[2]);
      p.a.data = at(0);
      p.b.data = at(1);
      p.out.data = at(2);
      if (device.host_readable()) return vendor::matmul_cpu(p);
      return vendor::matmul_cuda(device, p);
    }
    case Routine::Fft:
    case Routine::InverseFft: {
      vendor::Transform t{call.types[0], call.types[1], call.routine == Routine::InverseFft,
                          call.layouts[0], call.layouts[1]};
      return vendor::fft_cuda(device, t, at(0), at(1));
    }
    case Routine::Scan: raise(ErrorKind::Runtime, "calls: a scan is no library's");
  }
}

}  // namespace numbus
