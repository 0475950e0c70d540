// Transforms by cuFFT: which layouts are taken, and the arguments against a fake one.
#include <doctest/doctest.h>

#include <complex>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "fake_cuda_driver.h"
#include "points.h"
#include "vendor/fft.h"
#include "vendor/library.h"

namespace numbus {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<int64_t>;

class FakeCufft {
 public:
  FakeCufft() {
    vendor::reset_libraries_for_tests();
    vendor::set_candidates("cufft", {library_.path()});
  }
  ~FakeCufft() { vendor::reset_libraries_for_tests(); }
  int made() { return call<int()>("fake_made")(); }
  int alive() { return call<int()>("fake_alive")(); }
  void fail_next(int status) { call<void(int)>("fake_fail_next")(status); }
  void short_of_memory(int times) { call<void(int)>("fake_short_of_memory")(times); }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    return library_.call<Signature>(name);
  }
  FakeLibrary library_{"cufft"};
};

int64_t offset_of(const Layout& l, const Numbers& x) {
  int64_t at = 0;
  for (int d = 0; d < l.ndim(); ++d) at += x[static_cast<size_t>(d)] * l.stride(d);
  return at;
}

template <class T>
Complex load(const std::vector<char>& memory, int64_t at) {
  return Complex(*reinterpret_cast<const T*>(memory.data() + at));
}

struct Case {
  Numbers in_shape, in_steps;  // strides in elements
  Numbers out_shape, out_steps;
};

// The library's result against the definition.
template <class In, class Out>
void check_case(Device& d, const Case& c, DType in_type, DType out_type, bool inverse) {
  auto layout = [](const Numbers& shape, Numbers steps, int64_t item) {
    for (int64_t& s : steps) s *= item;
    return LayoutRef(Layout::get(shape, steps, static_cast<int>(item)));
  };
  LayoutRef in = layout(c.in_shape, c.in_steps, sizeof(In));
  LayoutRef out = layout(c.out_shape, c.out_steps, sizeof(Out));
  vendor::Transform t{in_type, out_type, inverse, in.get(), out.get()};
  CAPTURE(shape_string(c.in_shape));
  REQUIRE(vendor::fft_takes(t, 0, 0));
  std::vector<char> from(static_cast<size_t>(in->high())), to(static_cast<size_t>(out->high()));
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  constexpr bool kRealOut = sizeof(Out) < sizeof(In);
  const int rank = in->ndim() - 1;
  test::each_point(c.in_shape, [&](const Numbers& x) {
    In& value = *reinterpret_cast<In*>(from.data() + offset_of(*in, x));
    if constexpr (sizeof(In) < sizeof(Out)) {
      value = static_cast<In>(uniform(random));
    } else {
      const double re = uniform(random), im = uniform(random);
      const bool edge = x.back() == 0 || 2 * x.back() == c.out_shape.back();
      value = In(static_cast<typename In::value_type>(re),
                 static_cast<typename In::value_type>(kRealOut && edge ? 0 : im));
    }
  });
  char* a = static_cast<char*>(d.allocate(from.size()));
  char* b = static_cast<char*>(d.allocate(to.size()));
  d.copy_from_host(a, from.data(), from.size());
  d.synchronize();  // the fake library does not wait for the fake stream
  vendor::fft_cuda(d, t, a, b);
  d.copy_to_host(to.data(), b, to.size());
  std::vector<char> after(from.size());
  d.copy_to_host(after.data(), a, after.size());
  CHECK((after == from) == !kRealOut);  // cuFFT may destroy a spectrum, and the fake one does
  d.free(a, from.size());
  d.free(b, to.size());

  const Numbers& whole = kRealOut ? c.out_shape : c.in_shape;
  double worst = 0;
  test::each_point(c.out_shape, [&](const Numbers& k) {
    Complex sum = 0;
    Numbers grid(whole);
    grid[0] = 1;
    test::each_point(grid, [&](Numbers x) {
      double angle = 0;
      for (int n = 1; n <= rank; ++n) {
        const auto at = static_cast<size_t>(n);
        angle += static_cast<double>(k[at] * x[at]) / static_cast<double>(whole[at]);
      }
      x[0] = k[0];
      bool mirrored = kRealOut && x.back() > whole.back() / 2;
      for (size_t n = 1; mirrored && n < x.size(); ++n) x[n] = (whole[n] - x[n]) % whole[n];
      Complex value = load<In>(from, offset_of(*in, x));
      if (mirrored) value = std::conj(value);
      sum += value * std::polar(1.0, (inverse ? 2 : -2) * 3.14159265358979323846 * angle);
    });
    worst = std::max(worst, std::abs(load<Out>(to, offset_of(*out, k)) -
                                     (kRealOut ? Complex(sum.real()) : sum)));
  });
  CHECK(worst < (itemsize(real_of(in_type)) == 4 ? 1e-4 : 1e-11));
}

}  // namespace

TEST_CASE("fft_takes: types, extents, strides") {
  auto takes = [](Numbers shape, Numbers steps, DType in, DType out, Numbers out_shape,
                  bool inverse, int64_t offset = 0) {
    for (int64_t& s : steps) s *= itemsize(in);
    LayoutRef a(Layout::get(shape, steps, itemsize(in)));
    LayoutRef b(Layout::contiguous(out_shape, itemsize(out)));
    return vendor::fft_takes({in, out, inverse, a.get(), b.get()}, offset, 0);
  };
  const DType c = DType::C128, r = DType::F64;
  CHECK(takes({2, 8}, {8, 1}, c, c, {2, 8}, false));
  CHECK(takes({2, 8}, {1, 2}, c, c, {2, 8}, true));
  CHECK(takes({2, 8}, {3, 6}, c, c, {2, 8}, true));
  CHECK(takes({2, 4, 8}, {64, 16, 2}, c, c, {2, 4, 8}, false));
  CHECK(!takes({2, 4, 8}, {64, 15, 2}, c, c, {2, 4, 8}, false));  // no whole embedding
  CHECK(!takes({2, 4, 8}, {64, 8, 2}, c, c, {2, 4, 8}, false));   // rows overlap
  CHECK(!takes({2, 4, 8}, {64, 1, 4}, c, c, {2, 4, 8}, false));   // transposed
  CHECK(!takes({2, 8}, {8, -1}, c, c, {2, 8}, false));
  CHECK(!takes({2, 8}, {0, 1}, c, c, {2, 8}, false));
  CHECK(takes({1, 8}, {-3, 1}, c, c, {1, 8}, false));  // the stride of one
  CHECK(!takes({2, 8}, {8, 1}, c, DType::C64, {2, 8}, false));
  CHECK(!takes({2, 8}, {8, 1}, c, c, {2, 9}, false));
  CHECK(!takes({0, 8}, {8, 1}, c, c, {0, 8}, false));
  CHECK(!takes({2, 8}, {8, 1}, DType::I64, c, {2, 8}, false));
  CHECK(takes({2, 8}, {8, 1}, r, c, {2, 5}, false));
  CHECK(takes({2, 7}, {7, 1}, r, c, {2, 4}, false));
  CHECK(!takes({2, 8}, {8, 1}, r, c, {2, 8}, false));
  CHECK(!takes({2, 8}, {8, 1}, r, c, {2, 5}, true));
  CHECK(!takes({2, 8}, {8, 1}, r, c, {2, 5}, false, 8));  // begins inside a pair
  CHECK(takes({2, 5}, {5, 1}, c, r, {2, 8}, true));
  CHECK(takes({2, 5}, {5, 1}, c, r, {2, 9}, true));
  CHECK(takes({2, 5}, {6, 1}, c, r, {2, 8}, true));
  CHECK(!takes({2, 5}, {5, 1}, c, r, {2, 8}, false));
}

TEST_CASE("cufft: the arguments for every kind and layout") {
  FakeDriver driver;
  FakeCufft cufft;
  Device* d = cuda_device(0);
  REQUIRE(d != nullptr);
  const Case complex_cases[] = {
      {{1, 7}, {0, 1}, {1, 7}, {7, 1}},
      {{3, 8}, {8, 1}, {3, 8}, {8, 1}},
      {{3, 8}, {1, 3}, {3, 8}, {1, 3}},
      {{3, 8}, {2, 6}, {3, 8}, {20, 2}},
      {{2, 3, 4}, {12, 4, 1}, {2, 3, 4}, {1, 8, 2}},
      {{2, 3, 1}, {3, 1, 9}, {2, 3, 1}, {3, 1, 1}},
      {{2, 3, 4, 5}, {1000, 200, 40, 2}, {2, 3, 4, 5}, {60, 20, 5, 1}},
  };
  for (const Case& c : complex_cases) {
    for (bool inverse : {false, true}) {
      check_case<Complex, Complex>(*d, c, DType::C128, DType::C128, inverse);
      check_case<std::complex<float>, std::complex<float>>(*d, c, DType::C64, DType::C64, inverse);
    }
  }
  const Case from_real[] = {
      {{2, 8}, {8, 1}, {2, 5}, {5, 1}},
      {{2, 7}, {1, 2}, {2, 4}, {1, 2}},
      {{2, 3, 4}, {12, 4, 1}, {2, 3, 3}, {9, 3, 1}},
      {{2, 3, 4, 6}, {72, 24, 6, 1}, {2, 3, 4, 4}, {48, 16, 4, 1}},
  };
  for (const Case& c : from_real) {
    check_case<double, Complex>(*d, c, DType::F64, DType::C128, false);
    check_case<float, std::complex<float>>(*d, c, DType::F32, DType::C64, false);
    Case back{c.out_shape, {}, c.in_shape, c.in_steps};
    back.in_steps.resize(back.in_shape.size());
    for (int64_t n = static_cast<int64_t>(back.in_shape.size()), step = 1; n-- > 0;) {
      back.in_steps[static_cast<size_t>(n)] = step;
      step *= back.in_shape[static_cast<size_t>(n)];
    }
    // Several axes back to real ones take a spectrum that has the symmetry on all of them.
    if (c.in_shape.size() > 2) continue;
    check_case<Complex, double>(*d, back, DType::C128, DType::F64, true);
    check_case<std::complex<float>, float>(*d, back, DType::C64, DType::F32, true);
  }
}

TEST_CASE("cufft: plans are kept, the oldest go, errors are named") {
  FakeDriver driver;
  FakeCufft cufft;
  Device* d = cuda_device(0);
  REQUIRE(d != nullptr);
  auto transform = [&](int64_t n) {
    LayoutRef l(Layout::contiguous(Numbers{1, n}, 16));
    vendor::Transform t{DType::C128, DType::C128, false, l.get(), l.get()};
    const auto bytes = static_cast<size_t>(16 * n);
    char* a = static_cast<char*>(d->allocate(2 * bytes));
    std::string message;
    try {
      vendor::fft_cuda(*d, t, a, a + bytes);
    } catch (const Error& e) {
      message = e.what();
    }
    d->free(a, 2 * bytes);
    return message;
  };
  const int before = cufft.made(), alive = cufft.alive();
  const int64_t first = 100;  // lengths that no other test has
  for (int repeat = 0; repeat < 3; ++repeat) CHECK(transform(first).empty());
  CHECK(cufft.made() == before + 1);
  for (int64_t n = first + 1; n < first + vendor::kFftPlans; ++n) {
    CHECK(transform(n).empty());
    CHECK(transform(first).empty());
  }
  CHECK(cufft.made() == before + vendor::kFftPlans);
  CHECK(cufft.alive() <= vendor::kFftPlans + alive);
  CHECK(transform(first + 1).empty());
  CHECK(cufft.made() == before + vendor::kFftPlans);
  CHECK(transform(first + 200).empty());
  const int made = cufft.made();
  CHECK(transform(first).empty());
  CHECK(transform(first + 2).empty());  // it was the oldest
  CHECK(cufft.made() == made + 1);

  const int plans = cufft.alive();
  cufft.fail_next(8);
  CHECK(transform(999) ==
        "[fft] cufftCreate failed while transforming 1 times 999 points; got cuFFT's status 8; "
        "expected CUFFT_SUCCESS (0)");
  CHECK(cufft.alive() == plans);
  CHECK(transform(999).empty());
  cufft.short_of_memory(1);
  CHECK(transform(998).empty());
  cufft.short_of_memory(2);
  CHECK(transform(997).starts_with(
      "[fft] cufftMakePlanMany64 failed while transforming 1 times 997"));
}

TEST_CASE("cufft: where there is none") {
  FakeDriver driver;
  vendor::reset_libraries_for_tests();
  vendor::set_candidates("cufft", {"/nowhere/libcufft.so"});
  LayoutRef l(Layout::contiguous(Numbers{1, 4}, 16));
  vendor::Transform t{DType::C128, DType::C128, false, l.get(), l.get()};
  std::string message;
  try {
    vendor::fft_cuda(*cuda_device(0), t, nullptr, nullptr);
  } catch (const Error& e) {
    message = e.what();
  }
  CHECK(message.starts_with("[fft] no cuFFT library found; got /nowhere/libcufft.so (cannot open"));
  CHECK(message.find("pip install nvidia-cufft for") != std::string::npos);
  vendor::reset_libraries_for_tests();
}

}  // namespace numbus
