// File layout: magic, key length, code length, authentication code, key, code. Written aside and
// renamed, so readers see all or nothing. The authentication code is keyed with a secret of the
// directory, so that only files which this user's processes wrote are ever run.
#include "compile/disk_cache.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "base/hash.h"

namespace numbus::compile {
namespace {

constexpr char kMagic[8] = {'n', 'u', 'm', 'b', 'u', 's', '0', '2'};
struct Header {
  char magic[8];
  uint64_t key_size, code_size, mac;
};

// NUMBUS_CACHE_LIMIT as it was at first use: threads compile, and the environment is no thread's.
const std::string& given_limit() {
  static const std::string given = [] {
    const char* text = std::getenv("NUMBUS_CACHE_LIMIT");
    return std::string(text ? text : "");
  }();
  return given;
}

// NUMBUS_CACHE_DIR, else $XDG_CACHE_HOME/numbus, else ~/.cache/numbus; empty when unusable or
// NUMBUS_CACHE=0.
const std::string& directory() {
  static const std::string dir = [] {
    given_limit();
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

// SipHash-2-4 (Aumasson and Bernstein, 2012) of the two texts under the secret.
uint64_t siphash(const uint64_t (&secret)[2], std::string_view text, std::string_view more) {
  uint64_t v0 = 0x736f6d6570736575 ^ secret[0], v1 = 0x646f72616e646f6d ^ secret[1],
           v2 = 0x6c7967656e657261 ^ secret[0], v3 = 0x7465646279746573 ^ secret[1];
  auto rotate = [](uint64_t x, int n) { return x << n | x >> (64 - n); };
  auto round = [&] {
    v0 += v1, v1 = rotate(v1, 13) ^ v0, v0 = rotate(v0, 32);
    v2 += v3, v3 = rotate(v3, 16) ^ v2;
    v0 += v3, v3 = rotate(v3, 21) ^ v0;
    v2 += v1, v1 = rotate(v1, 17) ^ v2, v2 = rotate(v2, 32);
  };
  auto absorb = [&](uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  };
  // Each text by its length and its words, the last one filled up with zeros.
  for (std::string_view part : {text, more}) {
    absorb(part.size());
    for (size_t at = 0; at < part.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, part.data() + at, std::min<size_t>(8, part.size() - at));
      absorb(word);
    }
  }
  v2 ^= 0xff;
  for (int k = 0; k < 4; ++k) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

// The directory's secret, made by whoever comes first; false where it cannot be kept.
bool secret_of(uint64_t (&secret)[2]) {
  static uint64_t known[2];
  static const bool good = [] {
    std::string path = directory() + "/secret";
    for (int tries = 0; tries < 2; ++tries) {
      int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
      if (fd >= 0) {
        struct stat st;
        bool mine = fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
        bool whole = read(fd, known, sizeof known) == static_cast<ssize_t>(sizeof known);
        close(fd);
        return mine && whole;
      }
      uint64_t fresh[2];
      if (getrandom(fresh, sizeof fresh, 0) != static_cast<ssize_t>(sizeof fresh)) return false;
      std::string temp = path + "." + std::to_string(getpid());
      fd = open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (fd < 0) return false;
      bool ok = write(fd, fresh, sizeof fresh) == static_cast<ssize_t>(sizeof fresh);
      ok = close(fd) == 0 && ok;
      // link() leaves a secret that another process was quicker to make.
      if (ok) ok = link(temp.c_str(), path.c_str()) == 0 || errno == EEXIST;
      unlink(temp.c_str());
      if (!ok) return false;
    }
    return false;
  }();
  std::memcpy(secret, known, sizeof known);
  return good;
}

// Now and then the files used least recently make room: NUMBUS_CACHE_LIMIT bytes, 1 GiB by default.
void keep_small() {
  const std::string& given = given_limit();
  // One store in 64, of whatever process: many are short, and a full directory takes long to read.
  static std::atomic<uint32_t> stores{given.empty() ? static_cast<uint32_t>(getpid()) * 37 : 0};
  if (stores++ % 64 != 0) return;
  uint64_t limit = given.empty() ? uint64_t{1} << 30 : std::strtoull(given.c_str(), nullptr, 10),
           all = 0;
  std::error_code problem;
  std::vector<std::tuple<std::filesystem::file_time_type, uint64_t, std::filesystem::path>> files;
  for (const auto& f : std::filesystem::directory_iterator(directory(), problem)) {
    if (f.path().extension() != ".o") continue;
    uint64_t size = f.file_size(problem);
    if (problem) continue;
    files.push_back({f.last_write_time(problem), size, f.path()});
    all += size;
  }
  if (all <= limit) return;
  std::sort(files.begin(), files.end());
  for (const auto& [time, size, path] : files) {
    if (all <= limit / 2) break;
    if (std::filesystem::remove(path, problem)) all -= size;
  }
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
  uint64_t secret[2];
  if (stored_key != key || !secret_of(secret) || siphash(secret, key, code) != h.mac) return {};
  // Used now: what is removed first was used longest ago.
  utimensat(AT_FDCWD, path_of(key).c_str(), nullptr, 0);
  return std::string(code);
}

void disk_store(std::string_view key, std::string_view code) {
  uint64_t secret[2];
  if (directory().empty() || !secret_of(secret)) return;
  keep_small();
  std::string path = path_of(key), temp = path + "." + std::to_string(getpid());
  int fd = open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return;
  Header h;
  std::memcpy(h.magic, kMagic, 8);
  h.key_size = key.size();
  h.code_size = code.size();
  h.mac = siphash(secret, key, code);
  std::string all(reinterpret_cast<const char*>(&h), sizeof h);
  all.append(key).append(code);
  bool ok = write(fd, all.data(), all.size()) == static_cast<ssize_t>(all.size());
  ok = close(fd) == 0 && ok;
  if (!ok || rename(temp.c_str(), path.c_str()) != 0) unlink(temp.c_str());
}

}  // namespace numbus::compile
