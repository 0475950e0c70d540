// File layout: magic, key length, code length, checksum, key, code. Written aside and renamed, so
// readers see all or nothing.
#include "compile/disk_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/hash.h"

namespace numbus::compile {
namespace {

constexpr char kMagic[8] = {'n', 'u', 'm', 'b', 'u', 's', '0', '1'};
struct Header {
  char magic[8];
  uint64_t key_size, code_size, checksum;
};

// NUMBUS_CACHE_DIR, else $XDG_CACHE_HOME/numbus, else ~/.cache/numbus; empty when unusable or
// NUMBUS_CACHE=0.
const std::string& directory() {
  static const std::string dir = [] {
    const char* off = std::getenv("NUMBUS_CACHE");
    if (off && std::strcmp(off, "0") == 0) return std::string();
    std::string d;
    if (const char* own = std::getenv("NUMBUS_CACHE_DIR"))
      d = own;
    else if (const char* xdg = std::getenv("XDG_CACHE_HOME"))
      d = std::string(xdg) + "/numbus";
    else if (const char* home = std::getenv("HOME"))
      d = std::string(home) + "/.cache/numbus";
    else
      return std::string();
    for (size_t i = 1; i <= d.size(); ++i)
      if (i == d.size() || d[i] == '/') mkdir(d.substr(0, i).c_str(), 0700);
    struct stat st;
    // Code from a directory that others can write would be theirs to choose.
    if (stat(d.c_str(), &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
        (st.st_mode & 022))
      return std::string();
    return d;
  }();
  return dir;
}

std::string path_of(std::string_view key) {
  char name[40];
  std::snprintf(name, sizeof name, "/%016llx.o", static_cast<unsigned long long>(hash_bytes(key)));
  return directory() + name;
}

}  // namespace

std::string disk_load(std::string_view key) {
  if (directory().empty()) return {};
  int fd = open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  std::string all;
  struct stat st;
  if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && st.st_size < (64 << 20)) {
    all.resize(st.st_size);
    size_t got = 0;
    while (got < all.size()) {
      ssize_t n = read(fd, all.data() + got, all.size() - got);
      if (n <= 0) break;
      got += n;
    }
    all.resize(got);
  }
  close(fd);
  Header h;
  if (all.size() < sizeof h) return {};
  std::memcpy(&h, all.data(), sizeof h);
  if (std::memcmp(h.magic, kMagic, 8) != 0 || h.key_size != key.size() ||
      all.size() != sizeof h + h.key_size + h.code_size)
    return {};
  std::string_view stored_key(all.data() + sizeof h, h.key_size),
      code(all.data() + sizeof h + h.key_size, h.code_size);
  if (stored_key != key || hash_bytes(code) != h.checksum) return {};
  return std::string(code);
}

void disk_store(std::string_view key, std::string_view code) {
  if (directory().empty()) return;
  std::string path = path_of(key), temp = path + "." + std::to_string(getpid());
  int fd = open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  Header h;
  std::memcpy(h.magic, kMagic, 8);
  h.key_size = key.size();
  h.code_size = code.size();
  h.checksum = hash_bytes(code);
  std::string all(reinterpret_cast<const char*>(&h), sizeof h);
  all.append(key).append(code);
  bool ok = write(fd, all.data(), all.size()) == static_cast<ssize_t>(all.size());
  ok = close(fd) == 0 && ok;
  if (!ok || rename(temp.c_str(), path.c_str()) != 0) unlink(temp.c_str());
}

}  // namespace numbus::compile
