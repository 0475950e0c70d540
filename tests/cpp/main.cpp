// The main function of the C++ tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>

#include "lazy/background.h"

int main(int argc, char** argv) {
  // Tests compile what they test: code that an earlier run stored on disk would stand in for the
  // compiler. The variable is read once, so no single test can set it.
  setenv("NUMBUS_CACHE", "0", 1);
  const int status = doctest::Context(argc, argv).run();
  numbus::set_compile_beside(false);
  numbus::wait_for_compiling();
  return status;
}
