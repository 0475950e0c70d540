// Matrix products by BLAS and cuBLAS.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "device/device.h"

namespace numbus::vendor {

// One operand of a product: element (i, j) of matrix number s lies at
// data + s*stack_stride + i*row_stride + j*col_stride, all in bytes.
struct Matrix {
  char* data = nullptr;
  int64_t row_stride = 0, col_stride = 0, stack_stride = 0;
};

// out[s] = a[s] @ b[s], where a[s] is rows × inner and b[s] inner × cols; `add`, on a CPU only:
// added to what `out` holds.
struct Product {
  DType type = DType::F64;
  int64_t stack = 1, rows = 0, cols = 0, inner = 0;
  Matrix a, b, out;
  bool add = false;
  bool tf32 = false;  // float32 on a GPU: operands may be rounded to TF32
};

// What is done to a product's results before they are stored.
struct Ending {
  const char* bias = nullptr;  // one for each column, contiguous, added
  bool relu = false;           // what is not positive is 0 then, but NaN stays
};

// float32, float64, complex64, complex128; on a GPU float16 and bfloat16, too, of which the
// products are added up in float32 and each result is rounded once.
bool blas_takes(DType t, DeviceKind device = DeviceKind::Cpu);

// Whether the product can be done as it stands, without copies: in each operand one stride is the
// item size and the other a positive multiple of it that spans a line (strides of extents below 2
// do not matter); stack strides are multiples, too, and not negative; addresses are multiples of
// the item size (they may be null: then the question is about strides). Extents and line lengths
// from 2^31 on need a library with 64-bit integers on that device, which is loaded for the answer.
// `out` must not overlap the operands or itself; that is the caller's to know.
bool blas_takes(const Product& p, DeviceKind device = DeviceKind::Cpu);
inline bool blas_takes_on_gpus(const Product& p) { return blas_takes(p, DeviceKind::Cuda); }

// For products that blas_takes(). An `inner` of 0 gives zeros. The first call loads the library and
// raises where there is none.
void matmul_cpu(const Product& p);
// While it lives, products of the CPU are done by the thread that asks for them, so that several
// threads can ask at once; where the library is OpenBLAS, whose number of threads is the process's.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
};
// In order on the device's stream; returns at once. float32 is float32 but where TF32 is allowed.
void matmul_cuda(Device& d, const Product& p);
// Whether the library there takes endings, of float32 and of 16 bits.
bool takes_endings(const Device& d);
// The same with an ending. Where results have 16 bits, they are rounded once.
void matmul_cuda(Device& d, const Product& p, const Ending& e);
// The ending alone, of float32 results in the host's memory.
void end_product_cpu(const Product& p, const Ending& e);

}  // namespace numbus::vendor
