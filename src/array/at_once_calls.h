// Routines and products of few elements that are at rest: carried out at once by the entries and
// libraries that recorded calls go to.
#pragma once

#include <optional>

#include "array/array.h"

namespace numbus {

// Whether operations may be carried out at once at all: not where everything is to be recorded,
// where one mode is asked for, or while explain() listens.
bool may_work_at_once();
// The elements of an array can be read where they lie: nothing pending writes them.
bool readable_now(const Array& a);

// Carries out a call that record_call() has completed; false: it has to be recorded.
bool call_at_once(const Instr& i, std::span<const Array* const> operands,
                  std::span<const Array* const> results);

// Matrices, or a matrix and a vector, of one type that a BLAS has; nothing where operands need a
// copy first, are large, or have to be recorded. The call is the one that a recorded product makes.
std::optional<Array> product_at_once(const Array& x, const Array& y);

// A copy of an array in C order; nothing where it has to be recorded.
std::optional<Array> copy_at_once(const Array& a);
// One array written to another of its type and shape, both in C order; false: it has to be
// recorded.
bool assign_at_once(const Array& to, const Array& from);
// What int64 indices of one axis, in C order, stand for; nothing where it has to be recorded.
// Raises for wrong indices.
std::optional<Array> take_at_once(const Array& a, int axis, const Array& index);
// The same assigned: of indices that meet the last one stays. False: it has to be recorded.
bool put_at_once(const Array& to, int axis, const Array& index, const Arg& value);

// a x = b of float64, or without `b` the inverse; nothing where that is NumPy's to do: large,
// singular, of other types, or recorded.
std::optional<Array> solve_at_once(const Array& a, const Array* b);

// Products of matrices with few terms and long rows are chains of rows, which fuse with their
// surroundings, so that the product itself need not exist. Short results leave the vectors of such
// a kernel empty.
constexpr int64_t kFewTerms = 8, kLongRow = 64, kManySums = 1 << 16;
constexpr bool is_chain_of_rows(int64_t rows, int64_t terms, int64_t cols) {
  return terms <= kFewTerms && cols >= kLongRow && rows * cols > kManySums;
}

}  // namespace numbus
