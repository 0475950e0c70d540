// Calls of cuBLAS on stacks of matrices, by the handle that products have.
#pragma once

#include <mutex>
#include <string>

#include "device/cuda/cuda_device.h"
#include "vendor/solver.h"

namespace numbus::vendor {

// The part of cuBLAS's documented ABI for stacks of matrices that addresses in GPU memory name.
struct CublasStacks {
  using Handle = struct cublasContext*;
  using Getrf = int(Handle, int n, void** a, int line, int* pivots, int* info, int count);
  using Getrs = int(Handle, int transpose, int n, int sides, void** a, int line, const int* pivots,
                    void** x, int x_line, int* host_info, int count);
  using Geam = int(Handle, int transpose_a, int transpose_b, int m, int n, const void* alpha,
                   const void* a, int a_line, const void* beta, const void* b, int b_line, void* c,
                   int c_line);
  template <class Function>
  struct Entry {
    Function* of[4];
    std::string name[4];
  };
  Entry<Getrf> getrf;
  Entry<Getrs> getrs;
  Entry<Geam> geam;
};

// Has the device's handle to itself, on its stream.
class CublasCall {
 public:
  CublasCall(Device& d, const Matrices& a);
  const CublasStacks& api() const { return stacks_; }

  // Calls the function of the stack's type with the handle before the arguments.
  template <class Function, class... Args>
  void on_stack(const CublasStacks::Entry<Function>& entry, Args... args) const {
    check(entry.of[type_](handle_, args...), entry.name[type_]);
  }
  // Of `count` things of `from_size` elements the first `size`.
  void copy_first_rows(const char* from, int64_t from_size, char* to, int64_t size,
                       int64_t count) const;
  // The transpose of a square matrix.
  void turn(const char* from, char* to, int64_t rows) const;

 private:
  void check(int status, const std::string& call) const;

  const Matrices& a_;
  std::lock_guard<std::mutex> lock_;
  cuda::ContextScope scope_;
  const CublasStacks& stacks_;
  CublasStacks::Handle handle_;
  int type_;
};

}  // namespace numbus::vendor
