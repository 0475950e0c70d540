// Libraries loaded at first use, and products by every BLAS that is found here.
#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "fake_cuda_driver.h"
#include "products.h"
#include "vendor/library.h"

namespace numbus {
namespace {

using vendor::Product;

template <class Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// NUMBUS_TEST_BLAS (paths separated by colons; ctest sets it) and what the system has.
std::vector<std::string> blas_libraries() {
  std::vector<std::string> found;
  const char* given = std::getenv("NUMBUS_TEST_BLAS");
  std::istringstream paths(std::string(given ? given : "") + ":libopenblas.so.0:libblas.so.3");
  for (std::string path; std::getline(paths, path, ':');) {
    if (path.empty()) continue;
    vendor::reset_libraries_for_tests();
    vendor::set_candidates("blas", {path});
    if (!vendor::library_report("blas").found.empty()) found.push_back(path);
  }
  vendor::reset_libraries_for_tests();
  return found;
}

Product plain(int64_t rows, int64_t inner, int64_t cols) {
  Product p;
  p.rows = rows;
  p.inner = inner;
  p.cols = cols;
  p.a = {nullptr, inner * 8, 8, rows * inner * 8};
  p.b = {nullptr, cols * 8, 8, inner * cols * 8};
  p.out = {nullptr, cols * 8, 8, rows * cols * 8};
  return p;
}

}  // namespace

TEST_CASE("library: nothing found names every path and the remedy") {
  vendor::reset_libraries_for_tests();
  CHECK(message_of([] {
          vendor::require("blas");
        }).starts_with("[matmul] no BLAS library found; got no paths to try; expected OpenBLAS"));
  vendor::set_candidates("blas", {"/nowhere/libx.so", "libm.so.6"});
  std::string message = message_of([] { vendor::require("blas"); });
  CHECK(message.starts_with("[matmul] no BLAS library found; got /nowhere/libx.so (cannot open"));
  CHECK(message.find("libm.so.6 (loaded, but has no cblas_dgemm)") != std::string::npos);
  CHECK(message.find("pip install scipy-openblas32") != std::string::npos);
  vendor::LibraryReport report = vendor::library_report("blas");
  CHECK(report.found.empty());
  CHECK(report.tried.size() == 2);
  // Only a product that needs the library misses it.
  char zeros[8] = {1};
  Product p = plain(1, 0, 1);
  p.out.data = zeros;
  if (reinterpret_cast<uintptr_t>(zeros) % 8 == 0) vendor::matmul_cpu(p);
  CHECK(message_of([] { vendor::matmul_cpu(plain(2, 2, 2)); }) == message);
  CHECK(message_of([] { vendor::require("blast"); }) ==
        "[library] unknown library; got blast; expected blas, cublas, cufft, cudnn, nvjitlink, "
        "cusparse, cusolver, nvrtc or nccl");
  vendor::reset_libraries_for_tests();
}

TEST_CASE("library: incomplete libraries are told apart") {
  const std::string path = fake_library("incomplete");
  vendor::reset_libraries_for_tests();
  vendor::set_candidates("blas", {path});
  vendor::set_candidates("cublas", {path});
  CHECK(message_of([] { vendor::matmul_cpu(plain(2, 2, 2)); }) ==
        "[matmul] the BLAS library is incomplete; got " + path +
            "; expected one that has cblas_sgemm");
  Product huge = plain(int64_t{1} << 31, 1, 1);
  CHECK(message_of([&] { vendor::blas_takes(huge, DeviceKind::Cuda); }) ==
        "[matmul] the cuBLAS library is too old or damaged; got " + path +
            " without cublasSetStream_v2; expected cuBLAS of CUDA 11 or newer (pip install "
            "nvidia-cublas for a driver of CUDA 13, nvidia-cublas-cu12 for CUDA 12)");
  vendor::reset_libraries_for_tests();
}

TEST_CASE("blas: 64-bit integers behind plain names are noticed") {
  const std::string path = fake_library("blas_64");
  vendor::reset_libraries_for_tests();
  vendor::set_candidates("blas", {path});
  CHECK(vendor::blas_takes(plain(int64_t{1} << 31, 1, 1)));
  vendor::reset_libraries_for_tests();
}

TEST_CASE("blas_takes: types and strides") {
  CHECK(vendor::blas_takes(DType::F32));
  CHECK(vendor::blas_takes(DType::C128));
  CHECK(!vendor::blas_takes(DType::F16));
  CHECK(vendor::blas_takes(DType::F16, DeviceKind::Cuda));
  CHECK(vendor::blas_takes(DType::BF16, DeviceKind::Cuda));
  CHECK(!vendor::blas_takes(DType::I64));
  auto takes = [](auto change) {
    Product p = plain(3, 4, 5);
    change(p);
    return vendor::blas_takes(p);
  };
  CHECK(takes([](Product&) {}));
  CHECK(takes([](Product& p) { p.a.row_stride += 8; }));
  CHECK(takes([](Product& p) { p.a = {nullptr, 8, 24, 0}; }));
  CHECK(takes([](Product& p) { p.out = {nullptr, 8, 24, 0}; }));
  CHECK(!takes([](Product& p) { p.type = DType::I32; }));
  CHECK(!takes([](Product& p) { p.type = DType::F16; }));
  CHECK(!takes([](Product& p) { p.a.col_stride = 16; }));
  CHECK(!takes([](Product& p) { p.a.row_stride = -32; }));
  CHECK(!takes([](Product& p) { p.a.row_stride = 0; }));
  CHECK(!takes([](Product& p) { p.b.row_stride += 4; }));
  CHECK(!takes([](Product& p) { p.b.row_stride = 32; }));  // lines overlap
  CHECK(!takes([](Product& p) { p.b.data = reinterpret_cast<char*>(4); }));
  CHECK(!takes([](Product& p) { p.stack = 2, p.out.stack_stride = 0; }));
  CHECK(!takes([](Product& p) { p.stack = 2, p.a.stack_stride = -96; }));
  CHECK(!takes([](Product& p) { p.stack = 2, p.a.stack_stride = 100; }));
  CHECK(takes([](Product& p) { p.stack = 2, p.a.stack_stride = 0; }));
  CHECK(takes([](Product& p) { p.stack = 1, p.a.stack_stride = -3; }));
  // Strides of extents of 1 do not matter; a column may be every third element.
  CHECK(takes([](Product& p) { p.rows = 1, p.a.row_stride = 3, p.out.row_stride = -1; }));
  CHECK(takes([](Product& p) { p.cols = 1, p.b.row_stride = 24, p.b.col_stride = 0; }));
  CHECK(!takes([](Product& p) { p.cols = 1, p.b.row_stride = -8; }));
  CHECK(takes([](Product& p) { p.inner = 0, p.a.row_stride = 0, p.b.col_stride = -8; }));
  Product reversed = plain(3, 4, 5);
  reversed.a.col_stride = -8;
  CHECK(message_of([&] {
          vendor::matmul_cpu(reversed);
        }).starts_with("[matmul] internal error; got operands that BLAS does not take"));
}

TEST_CASE_TEMPLATE("blas: every layout, exactly", T, float, double, std::complex<float>,
                   std::complex<double>) {
  std::vector<std::string> libraries = blas_libraries();
  if (libraries.empty()) MESSAGE("skipped: no BLAS here; NUMBUS_TEST_BLAS can name one");
  for (const std::string& path : libraries) {
    CAPTURE(path);
    vendor::set_candidates("blas", {path});
    check_all_products<T>([](Product& p, size_t*) { vendor::matmul_cpu(p); });
    vendor::reset_libraries_for_tests();
  }
}

TEST_CASE("blas: extents beyond 32 bits are taken where the library takes them") {
  const int64_t huge = int64_t{1} << 31;
  Product p = plain(huge, 2, 1);
  vendor::reset_libraries_for_tests();
  CHECK(!vendor::blas_takes(p));  // no library, no answer
  for (const std::string& path : blas_libraries()) {
    vendor::set_candidates("blas", {path});
    const vendor::Library& library = vendor::require("blas");
    const bool wide = library.symbol("scipy_cblas_dgemm64_") != nullptr;
    CHECK(vendor::blas_takes(p) == wide);
    vendor::reset_libraries_for_tests();
  }
  CHECK(vendor::blas_takes(plain(huge - 1, 2, 1)));
}

}  // namespace numbus
