// What pays for the first use of a GPU and of its libraries.
#include "array/first_uses.h"

#include <doctest/doctest.h>

using namespace numbus::placement;

TEST_CASE("first uses: gains pay for the GPU") {
  first_uses_are_free(false);
  CHECK_FALSE(is_paid(Library::None));
  note_gain(Library::None, -1e9);
  CHECK_FALSE(is_paid(Library::None));
  int calls = 0;
  while (!is_paid(Library::None) && calls < 1000) {
    note_gain(Library::None, 10'000);
    ++calls;
  }
  CHECK(calls > 1);
  CHECK(calls < 1000);
}

TEST_CASE("first uses: libraries have accounts of their own") {
  first_uses_are_free(false);
  note_gain(Library::None, 1e9);
  CHECK(is_paid(Library::None));
  CHECK_FALSE(is_paid(Library::Solver));
  note_gain(Library::Solver, 1e9);
  CHECK(is_paid(Library::Solver));
  CHECK_FALSE(is_paid(Library::Fft));
  use(Library::Fft);
  CHECK(is_paid(Library::Fft));
  first_uses_are_free(false);
  CHECK_FALSE(is_paid(Library::Fft));
}

TEST_CASE("first uses: tests pay nothing") {
  first_uses_are_free(true);
  CHECK(is_paid(Library::Blas));
  first_uses_are_free(false);
}

TEST_CASE("first uses: names of libraries") {
  CHECK(library_named("blas") == Library::Blas);
  CHECK(library_named("solver") == Library::Solver);
  CHECK(library_named("fft") == Library::Fft);
  CHECK(library_named("") == Library::None);
}
