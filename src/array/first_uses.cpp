// Accounts of the GPU and its libraries.
#include "array/first_uses.h"

#include <array>

namespace numbus::placement {
namespace {

// Microseconds that the first use takes, of the GPU itself and of each library on it:
// tools/first_uses.py (docs/performance.md, "Devices chosen by cost").
constexpr std::array<double, kLibraries> kPrices = {240'000, 120'000, 125'000, 20'000};

struct Account {
  double gained = 0;
  bool used = false;
};
std::array<Account, kLibraries> accounts;

bool is_paid(int n) { return accounts[n].used || accounts[n].gained >= kPrices[n]; }

}  // namespace

Library library_named(std::string_view name) {
  return name == "blas"     ? Library::Blas
         : name == "solver" ? Library::Solver
         : name == "fft"    ? Library::Fft
                            : Library::None;
}

void note_gain(Library library, double gain) {
  if (gain <= 0) return;
  accounts[0].gained += gain;
  if (library != Library::None) accounts[static_cast<int>(library)].gained += gain;
}

bool is_paid(Library library) { return is_paid(0) && is_paid(static_cast<int>(library)); }

void use(Library library) {
  accounts[0].used = true;
  accounts[static_cast<int>(library)].used = true;
}

void first_uses_are_free(bool free) {
  for (Account& a : accounts) a = {0, free};
}

}  // namespace numbus::placement
