// The table of routines (routines.def) as data.
#pragma once

#include <cstdint>
#include <string_view>

namespace numbus {

enum class Routine : uint8_t {
#define ROUTINE(name, operands, results, attributes, cpu, gpu, flops, doc) name,
#include "ops/routines.def"
#undef ROUTINE
};

constexpr int kMaxAttributes = 4;

struct RoutineRow {
  std::string_view name;
  uint8_t operands, results, attributes;
  std::string_view doc;
};

inline constexpr RoutineRow kRoutines[] = {
#define ROUTINE(name, operands, results, attributes, cpu, gpu, flops, doc) \
  {#name, operands, results, attributes, doc},
#include "ops/routines.def"
#undef ROUTINE
};
constexpr const RoutineRow& row(Routine r) { return kRoutines[static_cast<int>(r)]; }

}  // namespace numbus
