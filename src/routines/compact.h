// Selecting by a mask.
#pragma once

#include <cstdint>

namespace numbus::routines {

// How many of the n elements of a mask hold.
int64_t count_true(const bool* mask, int64_t n);

// values[mask] for elements of `itemsize` bytes (any number); returns how many there are and writes
// just so many.
int64_t compact(int itemsize, const char* values, const bool* mask, int64_t n, char* out);

// The indices at which a mask holds; returns how many there are.
int64_t flatnonzero(const bool* mask, int64_t n, int64_t* out);

}  // namespace numbus::routines
