// What carries out each routine on each kind of device: the columns `cpu` and `gpu` of
// ops/routines.def.
#pragma once

#include "lazy/runtime.h"

namespace numbus {

// The step's parameters are complete: the addresses of its operands and results.
using Entry = void (*)(Runtime& runtime, Device& device, KernelStep& step);

// Of an operand, or of a result after them.
inline char* address(const KernelStep& step, int n) {
  return reinterpret_cast<char*>(step.params[n]);
}

struct Entries {
  Entry cpu, gpu;  // null: the device has none
};
const Entries& entries_of(Routine r);
// Raises where the device has no entry for the routine.
void run_call(Runtime& runtime, Device& device, KernelStep& step);

void matmul_cpu(Runtime&, Device&, KernelStep&);
void matmul_gpu(Runtime&, Device&, KernelStep&);
void affine_cpu(Runtime&, Device&, KernelStep&);
void affine_gpu(Runtime&, Device&, KernelStep&);
void fft_cpu(Runtime&, Device&, KernelStep&);
void fft_gpu(Runtime&, Device&, KernelStep&);
void scan_cpu(Runtime&, Device&, KernelStep&);
void scan_gpu(Runtime&, Device&, KernelStep&);
void reduceat_cpu(Runtime&, Device&, KernelStep&);
void reduceat_gpu(Runtime&, Device&, KernelStep&);
void fold_runs(Runtime&, Device&, KernelStep&);
void sort_cpu(Runtime&, Device&, KernelStep&);
void sort_gpu(Runtime&, Device&, KernelStep&);
void argsort_cpu(Runtime&, Device&, KernelStep&);
void argsort_gpu(Runtime&, Device&, KernelStep&);
void partition_cpu(Runtime&, Device&, KernelStep&);
void partition_gpu(Runtime&, Device&, KernelStep&);
void argpartition_cpu(Runtime&, Device&, KernelStep&);
void argpartition_gpu(Runtime&, Device&, KernelStep&);
void select_cpu(Runtime&, Device&, KernelStep&);
void select_gpu(Runtime&, Device&, KernelStep&);
void search_cpu(Runtime&, Device&, KernelStep&);
void search_gpu(Runtime&, Device&, KernelStep&);
void interp_cpu(Runtime&, Device&, KernelStep&);
void interp_gpu(Runtime&, Device&, KernelStep&);
void bincount_cpu(Runtime&, Device&, KernelStep&);
void bincount_gpu(Runtime&, Device&, KernelStep&);
void weigh_cpu(Runtime&, Device&, KernelStep&);
void weigh_gpu(Runtime&, Device&, KernelStep&);
void histogram_cpu(Runtime&, Device&, KernelStep&);
void histogram_gpu(Runtime&, Device&, KernelStep&);
void compact_gpu(Runtime&, Device&, KernelStep&);
void flatnonzero_gpu(Runtime&, Device&, KernelStep&);
void philox_cpu(Runtime&, Device&, KernelStep&);
void philox_gpu(Runtime&, Device&, KernelStep&);
void pcg64(Runtime&, Device&, KernelStep&);
void pcg64_sample(Runtime&, Device&, KernelStep&);
void philox_sample(Runtime&, Device&, KernelStep&);
void normal_cpu(Runtime&, Device&, KernelStep&);
void normal_gpu(Runtime&, Device&, KernelStep&);
void linalg_cpu(Runtime&, Device&, KernelStep&);
void linalg_gpu(Runtime&, Device&, KernelStep&);
void convolve_cpu(Runtime&, Device&, KernelStep&);
void convolve_gpu(Runtime&, Device&, KernelStep&);

}  // namespace numbus
