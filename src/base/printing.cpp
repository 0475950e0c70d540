// The stages that NUMBUS_PRINT names, as text on stderr.
#include "base/printing.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace numbus {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"window", "groups", "passes"};  // as Stage

// One bit for each stage. A name that is none is told and left out: a flush is no time to raise.
unsigned wanted_stages() {
  const char* given = std::getenv("NUMBUS_PRINT");
  unsigned wanted = 0;
  for (std::string_view rest = given ? given : ""; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    unsigned stage = 0;
    for (size_t n = 0; n < kNames.size(); ++n)
      if (kNames[n] == name) stage = 1u << n;
    if (!stage)
      print_stage(message("NUMBUS_PRINT", "there is no such stage", std::string(name),
                          "window, groups or passes, with commas between them"),
                  "");
    wanted |= stage;
  }
  return wanted;
}

}  // namespace

bool prints(Stage s) {
  static const unsigned wanted = wanted_stages();
  return wanted >> static_cast<unsigned>(s) & 1;
}

void print_stage(const std::string& title, const std::string& text) {
  const std::string all = title + "\n" + text;
  std::fwrite(all.data(), 1, all.size(), stderr);
}

}  // namespace numbus
