// The main function of the C++ tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  // Tests compile what they test: code that an earlier run stored on disk would stand in for the
  // compiler. The variable is read once, so no single test can set it.
  setenv("NUMBUS_CACHE", "0", 1);
  return doctest::Context(argc, argv).run();
}
