// The block interpreter's inner loops: one function per primitive step and type, each over a block
// of elements.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "ops/table.h"

namespace numbus::interp {

// A loop reads a, b, c and writes out; n elements, all contiguous.
using Loop = void (*)(void* out, const void* a, const void* b, const void* c, int64_t n);

// out[0] = op(*before, in[0]), or in[0] where before is null; out[k] = op(out[k - 1], in[k]).
// Strides are in bytes. What is read stays ahead of what is written: both may be the same.
using ScanLoop = void (*)(char* out, int64_t out_stride, const char* in, int64_t in_stride,
                          const char* before, int64_t n);

struct LoopSet {
  Loop (*row)(Op op, DType operand);  // nullptr where the row has no such type
  Loop (*cast)(DType from, DType to);
  Loop (*select)(int size);          // a: mask, b and c: values of `size` bytes
  ScanLoop (*scan)(Op op, DType t);  // nullptr for what is rarely scanned, and bools
  // Whether all numbers are in [-extent, extent).
  bool (*within)(const int64_t* numbers, int64_t n, int64_t extent);
};

// Built for x86-64-v3 where the processor has it, else for the baseline; both give the same bits.
const LoopSet& loops();

extern const LoopSet kLoopsBaseline, kLoopsV3;

}  // namespace numbus::interp
