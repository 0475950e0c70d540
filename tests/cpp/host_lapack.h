// The LAPACK of the host (the one in NUMBUS_TEST_BLAS), for libraries of tests that stand for those
// of a GPU.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr int kByColumns = 102;

inline void* lapack() {
  static void* library = [] {
    std::string all = std::getenv("NUMBUS_TEST_BLAS") ? std::getenv("NUMBUS_TEST_BLAS") : "";
    for (size_t at = 0; at < all.size();) {
      size_t end = std::min(all.find(':', at), all.size());
      void* handle = dlopen(all.substr(at, end - at).c_str(), RTLD_NOW);
      if (handle && dlsym(handle, "scipy_LAPACKE_dgetrf64_")) return handle;
      at = end + 1;
    }
    return static_cast<void*>(nullptr);
  }();
  return library;
}

// What is queued on the stream comes first.
inline void wait_for(void* stream) {
  void* driver = dlopen(std::getenv("NUMBUS_CUDA_DRIVER"), RTLD_NOW);
  reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuStreamSynchronize"))(stream);
}

// LAPACKE_<letter><name> on matrices by columns.
template <class... Args>
int call_on(void* stream, char letter, const char* name, Args... args) {
  wait_for(stream);
  auto* f = reinterpret_cast<int64_t (*)(int, Args...)>(
      dlsym(lapack(), (std::string("scipy_LAPACKE_") + letter + name + "64_").c_str()));
  return static_cast<int>(f(kByColumns, args...));
}

}  // namespace
