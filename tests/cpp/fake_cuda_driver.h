// Stand-ins for NVIDIA's libraries, which the build makes for the tests that load them.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "device/cuda/cuda_device.h"

namespace numbus {

// The path of the library made from fake_<name>.inc, which CMakeLists.txt puts beside the tests.
inline std::string fake_library(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path made =
      fs::read_symlink("/proc/self/exe").parent_path() / "fakes" / ("numbus_fake_" + name + ".so");
  REQUIRE_MESSAGE(fs::exists(made), "there is no " << made << "; build the target numbus_fakes");
  return made.string();
}

// One such library, loaded for good; its functions by name.
class FakeLibrary {
 public:
  explicit FakeLibrary(const std::string& name) : path_(fake_library(name)) {
    handle_ = dlopen(path_.c_str(), RTLD_NOW);
    const char* problem = handle_ == nullptr ? dlerror() : "";
    REQUIRE_MESSAGE(handle_ != nullptr, "cannot load " << path_ << ": " << problem);
  }
  const std::string& path() const { return path_; }

  template <class Signature>
  Signature* call(const char* function) const {
    void* found = dlsym(handle_, function);
    REQUIRE_MESSAGE(found != nullptr, path_ << " has no " << function);
    return reinterpret_cast<Signature*>(found);
  }

 private:
  std::string path_;
  void* handle_ = nullptr;
};

// Numbus on the fake driver, as long as it lives.
class FakeDriver {
 public:
  FakeDriver() {
    if (const char* set = std::getenv("NUMBUS_CUDA_DRIVER")) saved_ = set;
    call<void()>("fake_reset")();
    setenv("NUMBUS_CUDA_DRIVER", library_.path().c_str(), 1);
    cuda::reset_for_tests();
  }
  ~FakeDriver() {
    if (saved_.empty()) {
      unsetenv("NUMBUS_CUDA_DRIVER");
    } else {
      setenv("NUMBUS_CUDA_DRIVER", saved_.c_str(), 1);
    }
    cuda::reset_for_tests();
  }

  void fail_next(const char* entry, int result) {
    call<void(const char*, int)>("fake_fail_next")(entry, result);
  }
  // Lets all calls of an entry point fail from now on; result 0: none.
  void break_entry(const char* entry, int result) {
    call<void(const char*, int)>("fake_break")(entry, result);
  }
  int calls(const char* entry) { return call<int(const char*)>("fake_calls")(entry); }
  void set(size_t memory, int version, int devices) {
    call<void(size_t, int, int)>("fake_set")(memory, version, devices);
  }
  void set_patience(int asked) { call<void(int)>("fake_set_patience")(asked); }
  size_t used() { return call<size_t()>("fake_used")(); }
  uint64_t pending() { return call<uint64_t()>("fake_pending")(); }
  void* current() { return call<void*()>("fake_current")(); }
  void set_current(void* context) { call<void(void*)>("fake_set_current")(context); }

 private:
  template <class Signature>
  Signature* call(const char* name) {
    return library_.call<Signature>(name);
  }
  FakeLibrary library_{"cuda_driver"};
  std::string saved_;
};

}  // namespace numbus
