// Products by cuBLAS: the arguments against a fake one, the numbers on a real GPU where there is
// one.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <optional>
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
void multiply_on(Device& d, Product& p, const size_t bytes[3],
                 std::optional<vendor::Ending> ending = {}) {
  vendor::Matrix* operands[] = {&p.a, &p.b, &p.out};
  char* host[3];
  for (int i = 0; i < 3; ++i) {
    host[i] = operands[i]->data;
    operands[i]->data = static_cast<char*>(d.allocate(bytes[i]));
    d.copy_from_host(operands[i]->data, host[i], bytes[i]);
  }
  d.synchronize();  // the fake cuBLAS does not wait for the fake stream
  if (ending)
    vendor::matmul_cuda(d, p, *ending);
  else
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

namespace {

// Products with a bias for each column, of all layouts that a stack of one may have.
template <class T>
void check_endings_on(Device& d) {
  for (const bool relu : {false, true})
    for (const bool turned_a : {false, true})
      for (const bool turned_b : {false, true})
        for (const auto& [rows, inner, cols] :
             {std::array<int64_t, 3>{3, 4, 5}, {1, 7, 2}, {16, 8, 32}, {2, 1, 9}}) {
          Operand<T> a(1, rows, inner, {.turned = turned_a}, 1),
              b(1, inner, cols, {.turned = turned_b}, 2), out(1, rows, cols, {}, 3),
              bias(1, 1, cols, {}, 4);
          Product p{.type = dtype_of<T>(), .rows = rows, .cols = cols, .inner = inner};
          p.a = a.matrix;
          p.b = b.matrix;
          p.out = out.matrix;
          const size_t more = bias.storage.size() * sizeof(T);
          char* at = static_cast<char*>(d.allocate(more));
          d.copy_from_host(at, bias.storage.data(), more);
          const size_t bytes[3] = {a.storage.size() * sizeof(T), b.storage.size() * sizeof(T),
                                   out.storage.size() * sizeof(T)};
          multiply_on(d, p, bytes, vendor::Ending{at, relu});
          d.free(at, more);
          for (int64_t i = 0; i < rows; ++i)
            for (int64_t j = 0; j < cols; ++j) {
              auto sum = static_cast<float>(bias.at(0, 0, j));
              for (int64_t l = 0; l < inner; ++l)
                sum += static_cast<float>(a.at(0, i, l)) * static_cast<float>(b.at(0, l, j));
              CHECK(static_cast<float>(out.at(0, i, j)) == (relu && sum <= 0 ? 0 : sum));
            }
        }
}

}  // namespace

TEST_CASE_TEMPLATE("cublaslt: products with endings", T, float, F16, BF16) {
  FakeDriver driver;
  FakeCublas cublas("cublas");
  Device& d = *cuda_device(0);
  REQUIRE(vendor::takes_endings(d));
  const int ways = cublas.count("ways");
  check_endings_on<T>(d);
  const int known = cublas.count("ways");
  CHECK(known > ways);
  check_endings_on<T>(d);
  CHECK(cublas.count("ways") == known);
}

TEST_CASE("cublaslt: what has no way, and what is too old") {
  FakeDriver driver;
  {
    FakeCublas cublas("cublas_11");
    CHECK_FALSE(vendor::takes_endings(*cuda_device(0)));
  }
  FakeCublas cublas("cublas");
  cublas.fail_next(1);
  float numbers[4] = {};
  char* data = reinterpret_cast<char*>(numbers);
  std::string message;
  try {
    vendor::matmul_cuda(*cuda_device(0),
                        {.type = DType::F32,
                         .rows = 1,
                         .cols = 2,
                         .inner = 2,
                         .a = {data, 8, 4, 0},
                         .b = {data, 8, 4, 0},
                         .out = {data, 8, 4, 0}},
                        {data, false});
  } catch (const Error& error) {
    message = error.what();
  }
  CHECK(message ==
        "[matmul] cublasLtMatmulAlgoGetHeuristic failed while looking for a way to multiply 1 × 2 "
        "and 2 × 2 matrices of float32; got a cuBLAS status (15); expected CUBLAS_STATUS_SUCCESS "
        "(0)");
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
  check_endings_on<float>(*d);
  check_endings_on<F16>(*d);
  check_endings_on<BF16>(*d);

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
