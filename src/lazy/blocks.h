// The way of few elements between strided memory and dense blocks, and between types: what all
// operations share that are carried out without a plan.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "base/layout.h"
#include "interp/loops.h"

namespace numbus::small {

// The most elements of a block.
constexpr int64_t kBlock = 1024;

// A dense block of elements: of complex ones half as many.
struct alignas(64) Block {
  char bytes[kBlock * 8];
};

// Dimensions whose elements a block holds, in the order of an array in C's order.
struct Box {
  int rank;
  const int64_t* shape;
};

// Moves the elements of a strided box, or view, between its memory and a dense block.
void gather(int size, const Box& box, const int64_t* strides, const char* memory, char* block);
void scatter(int size, const Box& box, const int64_t* strides, char* memory, const char* block);
inline void gather(int size, const Layout& l, const char* memory, char* block) {
  gather(size, {l.ndim(), l.shape()}, l.strides(), memory, block);
}
inline void scatter(int size, const Layout& l, char* memory, const char* block) {
  scatter(size, {l.ndim(), l.shape()}, l.strides(), memory, block);
}

// The loop that converts, or none: half precision and complex numbers take several steps.
interp::Loop conversion(DType from, DType to);
void convert(interp::Loop loop, DType to, void* out, const void* from, int64_t n);

}  // namespace numbus::small
