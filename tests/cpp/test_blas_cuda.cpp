// Products by cuBLAS: the arguments against a fake one, the numbers on a real GPU where there is
// one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"
#include "products.h"
#include "vendor/library.h"

namespace numbus {
namespace {

using vendor::Product;

// Multiplies in the device's memory.
void multiply_on(Device& d, Product& p, const size_t bytes[3]) {
  vendor::Matrix* operands[] = {&p.a, &p.b, &p.out};
  char* host[3];
  for (int i = 0; i < 3; ++i) {
    host[i] = operands[i]->data;
    operands[i]->data = static_cast<char*>(d.allocate(bytes[i]));
    d.copy_from_host(operands[i]->data, host[i], bytes[i]);
  }
  d.synchronize();  // the fake cuBLAS does not wait for the fake stream
  vendor::matmul_cuda(d, p);
  d.copy_to_host(host[2], p.out.data, bytes[2]);
  for (int i = 0; i < 3; ++i) d.free(operands[i]->data, bytes[i]);
}

class FakeCublas {
 public:
  explicit FakeCublas(const char* name) : library_(name) {
    vendor::reset_libraries_for_tests();
    vendor::set_candidates("cublas", {library_.path()});
  }
  ~FakeCublas() { vendor::reset_libraries_for_tests(); }
  int count(const char* what) { return call<int(const char*)>("fake_count")(what); }
  void fail_next(int status) { call<void(int)>("fake_fail_next")(status); }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    return library_.call<Signature>(name);
  }
  FakeLibrary library_;
};

template <class T>
void check_on(Device& d) {
  check_all_products<T>([&](Product& p, size_t* bytes) { multiply_on(d, p, bytes); });
}

}  // namespace

TEST_CASE_TEMPLATE("cublas: the arguments for every layout", T, float, double, std::complex<float>,
                   std::complex<double>, F16, BF16) {
  for (const char* source : {"cublas", "cublas_11"}) {
    FakeDriver driver;
    FakeCublas cublas(source);
    Device* d = cuda_device(0);
    REQUIRE(d != nullptr);
    check_on<T>(*d);
    const bool wide = std::string(source) == "cublas";
    Product p{.rows = int64_t{1} << 31, .cols = 1, .inner = 1, .a = {}, .b = {}, .out = {}};
    p.a.row_stride = p.out.row_stride = 8;
    CHECK(vendor::blas_takes(p, DeviceKind::Cuda) == wide);
  }
}

TEST_CASE("cublas: one handle per device, stacks folded where they can be, errors named") {
  FakeDriver driver;
  FakeCublas cublas("cublas");
  Device& d = *cuda_device(0);
  const int handles = cublas.count("handles"), single = cublas.count("single");
  auto run = [&](Style a, Style b) {
    check_product<double>({3, 4, 5, 6}, a, b, {},
                          [&](Product& p, size_t* bytes) { multiply_on(d, p, bytes); });
  };
  run({}, {.broadcast = true});
  CHECK(cublas.count("single") == single + 1);
  run({}, {});
  run({.turned = true}, {.broadcast = true});
  CHECK(cublas.count("single") == single + 1);
  CHECK(cublas.count("handles") == handles + 1);
  for (int status : {3, 13}) {
    cublas.fail_next(status);
    try {
      double number = 1;
      char* data = reinterpret_cast<char*>(&number);
      vendor::matmul_cuda(
          d, {.rows = 1, .cols = 1, .inner = 1, .a = {data}, .b = {data}, .out = {data}});
      CHECK(false);
    } catch (const Error& error) {
      CHECK(error.kind() == (status == 3 ? ErrorKind::Memory : ErrorKind::Runtime));
      CHECK(std::string(error.what()) ==
            "[matmul] cublasDgemm_v2_64 failed while multiplying float64 matrices (1, 1) and "
            "(1, 1); got " +
                std::string(status == 3 ? "CUBLAS_STATUS_ALLOC_FAILED (3)"
                                        : "CUBLAS_STATUS_OTHER (13)") +
                "; expected CUBLAS_STATUS_SUCCESS (0)");
    }
  }
}

TEST_CASE("cublas: a start that fails names the library and the driver, and can be repeated") {
  FakeDriver driver;
  FakeCublas cublas("cublas");
  Device& d = *cuda_device(0);
  cublas.fail_next(1);
  double number = 3, out = 0;
  char* data = reinterpret_cast<char*>(&number);
  const Product p{.rows = 1,
                  .cols = 1,
                  .inner = 1,
                  .a = {data},
                  .b = {data},
                  .out = {reinterpret_cast<char*>(&out)}};
  std::string message;
  try {
    vendor::matmul_cuda(d, p);
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message == "[matmul] cublasCreate_v2 failed while starting " + fake_library("cublas") +
                       " on cuda:0, whose driver is for CUDA 12.4; got CUBLAS_STATUS_OTHER (1); "
                       "expected CUBLAS_STATUS_SUCCESS (0)");
  vendor::matmul_cuda(d, p);
  CHECK(out == 9);
}

TEST_CASE("cublas: a real GPU") {
  Device* d = cuda_device(0);
  if (d == nullptr) {
    MESSAGE("skipped: " << cuda_unavailable_reason());
    return;
  }
  std::vector<std::string> paths = {"libcublas.so.13", "libcublas.so.12"};
  if (const char* given = std::getenv("NUMBUS_TEST_CUBLAS")) paths.insert(paths.begin(), given);
  vendor::reset_libraries_for_tests();
  vendor::set_candidates("cublas", paths);
  if (vendor::library_report("cublas").found.empty()) {
    MESSAGE("skipped: no cuBLAS; NUMBUS_TEST_CUBLAS can name one");
    return;
  }
  check_on<float>(*d);
  check_on<double>(*d);
  check_on<std::complex<float>>(*d);
  check_on<std::complex<double>>(*d);
  check_on<F16>(*d);
  check_on<BF16>(*d);

  // A number that TF32 cannot hold comes through.
  constexpr int64_t kSide = 256;
  const float fine = 1.0f + 0x1p-20f;
  std::vector<float> a(kSide * kSide), b(kSide * kSide, 1.0f), out(kSide * kSide);
  for (size_t i = 0; i < kSide; ++i) a[i * kSide + i] = fine;
  auto matrix = [](std::vector<float>& x) {
    return vendor::Matrix{reinterpret_cast<char*>(x.data()), kSide * 4, 4, 0};
  };
  Product p{.type = DType::F32,
            .rows = kSide,
            .cols = kSide,
            .inner = kSide,
            .a = matrix(a),
            .b = matrix(b),
            .out = matrix(out)};
  const size_t bytes[3] = {kSide * kSide * 4, kSide * kSide * 4, kSide * kSide * 4};
  multiply_on(*d, p, bytes);
  CHECK(out == std::vector<float>(kSide * kSide, fine));
  vendor::reset_libraries_for_tests();
}

}  // namespace numbus
