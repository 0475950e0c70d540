// Compiled code kept between processes, one file a kernel, under a directory that only its owner
// can write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace numbus::compile {

// A directory of stored code. Any number of processes, on any number of machines, may use it at
// the same time: there are no locks, and every file appears by a rename.
class DiskCache {
 public:
  // The directory is made where it is missing, but not the one that it lies in. It holds `limit`
  // bytes of code, or a sixteenth more.
  DiskCache(std::string directory, uint64_t limit);
  // No cache, and why.
  DiskCache(std::nullptr_t, std::string problem) : problem_(std::move(problem)) {}

  // The stored code of `key`, or an empty string; a file that is damaged, foreign or of another
  // key counts as absent.
  std::string load(std::string_view key) const;
  // Does nothing where the directory cannot be written.
  void store(std::string_view key, std::string_view code) const;
  // Removes what was used longest ago until three quarters of the limit are left.
  void make_room() const;

  // Where the code of `key` is kept.
  std::string path_of(std::string_view key) const;
  const std::string& directory() const { return directory_; }
  uint64_t limit() const { return limit_; }
  // Why nothing is loaded or stored, after the directory's name; empty where the cache works.
  const std::string& problem() const { return problem_; }

 private:
  std::string why_refused() const;
  std::string take_secret();

  std::string directory_, problem_;
  uint64_t limit_ = 0;
  uint64_t secret_[2] = {0, 0};
};

// The cache of this process, by NUMBUS_CACHE, NUMBUS_CACHE_DIR and NUMBUS_CACHE_LIMIT, read at the
// first call.
const DiskCache& disk_cache();

inline std::string disk_load(std::string_view key) { return disk_cache().load(key); }
inline void disk_store(std::string_view key, std::string_view code) {
  disk_cache().store(key, code);
}

// Bytes written as "1000000", "200M" or "1G"; false where the text is something else.
bool parse_bytes(std::string_view text, uint64_t& bytes);

}  // namespace numbus::compile
