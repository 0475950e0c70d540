// Stand-ins for NVIDIA's libraries, compiled by the tests that load them.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "device/cuda/cuda_device.h"

namespace numbus {

// The path of a library made from a source beside this file, compiled once per run; empty where
// there is no compiler.
inline const std::string& fake_library(const std::string& source_name) {
  namespace fs = std::filesystem;
  // Never destroyed, since the files are removed at exit.
  static auto& made = *new std::map<std::string, std::string>;
  auto [known, fresh] = made.try_emplace(source_name);
  if (!fresh) return known->second;
  fs::path source = fs::absolute(fs::path(__FILE__)).parent_path() / source_name;
  fs::path target = fs::temp_directory_path() /
                    ("numbus_" + source.stem().string() + "_" + std::to_string(getpid()) + ".so");
  const char* compiler = std::getenv("CXX");
  std::string command = std::string(compiler ? compiler : "c++") +
                        " -std=c++20 -O1 -shared -fPIC -x c++ " + source.string() + " -o " +
                        target.string();
  if (std::system(command.c_str()) != 0) return known->second;
  if (made.size() == 1) {
    std::atexit([] {
      for (const auto& [name, path] : made) {
        if (!path.empty()) fs::remove(path);
      }
    });
  }
  return known->second = target.string();
}

// Numbus on the fake driver, as long as it lives.
class FakeDriver {
 public:
  FakeDriver() {
    if (const char* set = std::getenv("NUMBUS_CUDA_DRIVER")) saved_ = set;
    handle_ = dlopen(fake_library("fake_cuda_driver.inc").c_str(), RTLD_NOW);
    if (handle_ == nullptr) {
      MESSAGE("skipped: the fake driver cannot be compiled here");
      return;
    }
    call<void()>("fake_reset")();
    setenv("NUMBUS_CUDA_DRIVER", fake_library("fake_cuda_driver.inc").c_str(), 1);
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

  explicit operator bool() const { return handle_ != nullptr; }
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
    return reinterpret_cast<Signature*>(dlsym(handle_, name));
  }
  void* handle_ = nullptr;
  std::string saved_;
};

}  // namespace numbus
