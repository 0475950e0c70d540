// The table of kernels that the library carries.
#include "compile/prebuilt.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

// Absent where the library is linked without them, as the program that makes them is.
// NOLINTBEGIN(readability-identifier-naming): names of the assembler's
extern "C" {
extern const char numbus_prebuilt[] __attribute__((weak, visibility("hidden")));
extern const char numbus_prebuilt_end[] __attribute__((weak, visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace numbus::compile {
namespace {

// The table begins with the number of rows; rows are sorted by level and hash.
struct Row {
  uint64_t level, hash;
  uint64_t key, key_size, object, object_size;  // offsets from the start of the table, and bytes

  bool operator<(const Row& r) const { return level != r.level ? level < r.level : hash < r.hash; }
};

int level_of_processor() {
  static const int level = __builtin_cpu_supports("x86-64-v4")   ? 4
                           : __builtin_cpu_supports("x86-64-v3") ? 3
                                                                 : 0;
  return level;
}

struct Table {
  const char* bytes = nullptr;
  const Row *first = nullptr, *last = nullptr;  // of this processor's level

  Table() {
    if (&numbus_prebuilt[0] == &numbus_prebuilt_end[0]) return;
    bytes = numbus_prebuilt;
    uint64_t count;
    std::memcpy(&count, bytes, sizeof count);
    const auto* rows = reinterpret_cast<const Row*>(bytes + sizeof(Row));
    const auto level = static_cast<uint64_t>(level_of_processor());
    first = std::lower_bound(rows, rows + count, Row{level, 0, 0, 0, 0, 0});
    last = std::lower_bound(rows, rows + count, Row{level + 1, 0, 0, 0, 0, 0});
  }
};

const Table& table() {
  static const Table t;
  return t;
}

}  // namespace

std::string pack_prebuilt(const std::vector<PrebuiltEntry>& entries) {
  std::vector<Row> rows;
  std::string data;
  const size_t begin = sizeof(Row) * (entries.size() + 1);
  auto append = [&](const std::string& s) {
    const uint64_t at = begin + data.size();
    data += s;
    data.resize((data.size() + 15) / 16 * 16);
    return at;
  };
  for (const PrebuiltEntry& e : entries) {
    const uint64_t key = append(e.key), object = append(e.object);
    rows.push_back({static_cast<uint64_t>(e.level), hash_bytes(e.key), key, e.key.size(), object,
                    e.object.size()});
  }
  std::sort(rows.begin(), rows.end());
  std::string head(sizeof(Row), '\0');
  const uint64_t count = rows.size();
  std::memcpy(head.data(), &count, sizeof count);
  head.append(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(Row));
  return head + data;
}

std::string_view prebuilt_object(std::string_view key) {
  const Table& t = table();
  const uint64_t hash = hash_bytes(key);
  const Row* r = std::lower_bound(t.first, t.last, hash,
                                  [](const Row& row, uint64_t h) { return row.hash < h; });
  for (; r != t.last && r->hash == hash; ++r)
    if (std::string_view(t.bytes + r->key, r->key_size) == key)
      return {t.bytes + r->object, r->object_size};
  return {};
}

int64_t prebuilt_count() { return table().last - table().first; }

}  // namespace numbus::compile
