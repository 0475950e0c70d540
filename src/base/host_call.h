// What compiled functions ask of the layers above while they run: sorts, searches, LAPACK. Those
// layers say where each is found; generated code knows it by its number.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace numbus {

// Of each: the words that it takes after the number of the first array's dtype. Addresses are of
// dense memory, matrices of LAPACK's are stored by columns.
enum class HostCall : uint8_t {
  Sort,          // in, out, lines, n, stable, descending
  Argsort,       // in, out (int64), lines, n, descending
  Partition,     // in, out, lines, n, ranks (int64), how many
  Argpartition,  // in, out (int64), lines, n, ranks, how many
  Search,        // sorted, n, values, m, right, out (int64)
  Solve,         // a (n x n), b (n x m), n, m: b becomes the solution
  Lu,            // a (n x n), pivots (int64), n: the factors, in place
  Cholesky,      // a (n x n), n: the lower factor, in place
  Eigh,          // a (n x n), values, n, upper: the vectors, in place
  Eig,           // a (n x n), values (complex), vectors (complex, n x n), n, whether vectors
  Svd,           // a (m x n), s, u, vt, m, n, job: 'A', 'S', 'N' as a number
  Qr,            // a (m x n), q (m x columns), m, n, columns: R in a
  // Of an error that a program has caught: the sites, its own and its values, where to.
  ErrorText,       // str(), or repr() where the first word says so: an address, an owner, a length
  ErrorArguments,  // e.args, of the type of the site that the first word names
  // Python's code in a compiled function: 0, the sites, the block's own, its result's, where the
  // words of its arguments are, where those of the result go; 0, or the owner of what it has
  // raised.
  ObjectMode,
  // Of an error that a block of Python's has raised, words as of ErrorText; the first one is the
  // site whose text is the names of classes, a line each: 1 where it is of one of them, else 0.
  ErrorIsOne,
  kCount
};

constexpr std::string_view kHostCalls[] = {
    "sort",       "argsort",         "partition",   "argpartition", "search", "solve",
    "lu",         "cholesky",        "eigh",        "eig",          "svd",    "qr",
    "error text", "error arguments", "object mode", "error is one"};
static_assert(std::size(kHostCalls) == static_cast<size_t>(HostCall::kCount));

// What is not there, or has no memory to work in: the caller has a way of its own.
constexpr int64_t kNoHostCall = -1000000;

// 0, or what the call says. May raise Interrupted.
using HostCallFunction = int64_t (*)(const int64_t* words);

inline std::atomic<HostCallFunction> host_calls[static_cast<size_t>(HostCall::kCount)];

}  // namespace numbus
