// File layout: magic, key length, code length, authentication code, key, code. Written aside and
// renamed, so readers see all or nothing. The authentication code is keyed with a secret of the
// directory, so that only files which this user's processes wrote are ever run. What this protects
// against, and what not, is in docs/design/decisions.md.
#include "compile/disk_cache.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <tuple>
#include <utility>
#include <vector>

namespace numbus::compile {
namespace {

constexpr char kMagic[8] = {'n', 'u', 'm', 'b', 'u', 's', '0', '3'};
struct Header {
  char magic[8];
  uint64_t key_size, code_size, mac;
};
constexpr uint64_t kLargest = 64 << 20, kDefaultLimit = uint64_t{1} << 30;
// Removing is ordered by the time of use to this many seconds: a thousand processes that load the
// same code write its time once, not a thousand times.
constexpr time_t kUseGrain = 3600;
// A temporary file of this age was left by a process that died.
constexpr time_t kAbandoned = 3600;

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

template <class T>
bool random_bits(T& bits) {
  return getrandom(&bits, sizeof bits, 0) == static_cast<ssize_t>(sizeof bits);
}

std::string hex(uint64_t bits) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

// Whether only we, or root, can have written what `st` describes. Root takes nothing from others.
bool trusted(const struct stat& st) {
  return (st.st_uid == geteuid() || st.st_uid == 0) && (st.st_mode & 022) == 0;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// False where the file does not hold so much.
bool read_all(int fd, char* into, size_t size) {
  while (size > 0) {
    ssize_t n = read(fd, into, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    into += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

// A new file of its own name beside `path`, whole; its name, or an empty string. Machines that
// share the directory have equal process numbers, so the name is drawn at random.
std::string write_aside(const std::string& path, std::string_view text, uint64_t bits) {
  std::string temp = path + "." + hex(bits) + ".tmp";
  int fd = open(temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return {};
  bool ok = write_all(fd, text);
  ok = close(fd) == 0 && ok;  // NFS tells of a full disk when a file is closed
  if (ok) return temp;
  unlink(temp.c_str());
  return {};
}

// What the file at `path` is to the cache, by its name: nobody else's file is counted or removed.
enum class FileKind { Other, Code, Temporary };
FileKind kind_of(std::string_view name) {
  auto is_hex = [](std::string_view s) {
    return s.size() == 16 && s.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  };
  if (name.size() == 18 && is_hex(name.substr(0, 16)) && name.ends_with(".o"))
    return FileKind::Code;
  if (name.ends_with(".tmp") && name.size() > 21 && is_hex(name.substr(name.size() - 20, 16))) {
    std::string_view of = name.substr(0, name.size() - 21);
    if (of == "secret" || kind_of(of) == FileKind::Code) return FileKind::Temporary;
  }
  return FileKind::Other;
}

// The directories that `path` lies in, from the given one on.
void make_parents(const std::string& path, size_t from) {
  for (size_t i = from + 1; i < path.size(); ++i)
    if (path[i] == '/') mkdir(path.substr(0, i).c_str(), 0700);
}

DiskCache cache_of_environment() {
  auto given = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  if (given("NUMBUS_CACHE") == "0") return DiskCache(nullptr, "NUMBUS_CACHE=0");
  uint64_t limit = kDefaultLimit;
  if (std::string text = given("NUMBUS_CACHE_LIMIT"); !text.empty() && !parse_bytes(text, limit))
    return DiskCache(nullptr, "NUMBUS_CACHE_LIMIT=" + text + " is no number of bytes such as 200M");
  std::string directory = given("NUMBUS_CACHE_DIR"), shared = given("XDG_CACHE_HOME"),
              home = given("HOME");
  if (!directory.empty()) {
    // A program may change its working directory later.
    std::error_code problem;
    directory = std::filesystem::absolute(directory, problem).string();
    make_parents(directory, 0);
  } else if (shared.starts_with('/')) {  // others are to be ignored, says the standard
    directory = shared + "/numbus";
    make_parents(directory, 0);
  } else if (!home.empty()) {
    // A home that is missing is missing on purpose.
    directory = home + "/.cache/numbus";
    make_parents(directory, home.size());
  } else {
    return DiskCache(nullptr, "no HOME is set");
  }
  return DiskCache(directory, limit);
}

}  // namespace

bool parse_bytes(std::string_view text, uint64_t& bytes) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (!unit.empty() && unit.back() == 'B') unit.remove_suffix(1);
  size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit) + 1;
  if (unit.size() > 1 || (power == 0 && !unit.empty())) return false;
  const size_t shift = 10 * power;
  if (number > UINT64_MAX >> shift) return false;
  bytes = number << shift;
  return true;
}

DiskCache::DiskCache(std::string directory, uint64_t limit)
    : directory_(std::move(directory)), limit_(limit) {
  while (directory_.size() > 1 && directory_.ends_with('/')) directory_.pop_back();
  problem_ = why_refused();
  if (problem_.empty()) problem_ = take_secret();
}

// Code from a directory that others can write would be theirs to choose.
std::string DiskCache::why_refused() const {
  mkdir(directory_.c_str(), 0700);
  struct stat st;
  if (stat(directory_.c_str(), &st) != 0)
    return std::string("cannot be made: ") + std::strerror(errno);
  if (!S_ISDIR(st.st_mode)) return "is no directory";
  if (st.st_uid != geteuid() && st.st_uid != 0) return "belongs to another user";
  if (!trusted(st)) return "can be written by others";
  return {};
}

// The directory's secret, made by whoever comes first; returns what is wrong where it cannot be
// kept. One that is damaged, or that others could read, is replaced, and with it all code.
std::string DiskCache::take_secret() {
  const std::string path = directory_ + "/secret";
  for (int tries = 0; tries < 3; ++tries) {
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == EACCES) return "has a secret that cannot be read";
    bool there = fd >= 0 || errno == ELOOP;
    if (fd >= 0) {
      struct stat st;
      // What root wrote for all to read, and nobody else can write, is as good as a secret.
      bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && trusted(st) &&
                  (st.st_uid != geteuid() || (st.st_mode & 077) == 0) &&
                  st.st_size == sizeof secret_ &&
                  read_all(fd, reinterpret_cast<char*>(secret_), sizeof secret_);
      close(fd);
      if (good) return {};
    }
    uint64_t fresh[2], name;
    if (!random_bits(fresh) || !random_bits(name)) return "is not used: there are no random bits";
    std::string temp =
        write_aside(path, {reinterpret_cast<const char*>(fresh), sizeof fresh}, name);
    if (temp.empty()) return std::string("cannot be written: ") + std::strerror(errno);
    // link() leaves a secret that another process was quicker to make. Some file systems have no
    // links: there the last one stays, and what was stored under others is stored again.
    bool ok = !there && (link(temp.c_str(), path.c_str()) == 0 || errno == EEXIST);
    if (!ok) ok = rename(temp.c_str(), path.c_str()) == 0;
    unlink(temp.c_str());
    if (!ok) return std::string("cannot be written: ") + std::strerror(errno);
  }
  return "keeps no secret";
}

std::string DiskCache::path_of(std::string_view key) const {
  return directory_ + "/" + hex(siphash({0, 0}, key, {})) + ".o";
}

std::string DiskCache::load(std::string_view key) const {
  if (!problem_.empty()) return {};
  const std::string path = path_of(key);
  // A pipe under that name would keep us waiting.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return {};
  struct stat st;
  Header h;
  std::string code;
  bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && trusted(st) &&
              static_cast<uint64_t>(st.st_size) < kLargest &&
              read_all(fd, reinterpret_cast<char*>(&h), sizeof h) &&
              std::memcmp(h.magic, kMagic, sizeof h.magic) == 0 && h.key_size == key.size() &&
              static_cast<uint64_t>(st.st_size) >= sizeof h + key.size() &&
              h.code_size == static_cast<uint64_t>(st.st_size) - sizeof h - key.size();
  if (good) {
    std::string stored_key(key.size(), '\0');
    good = read_all(fd, stored_key.data(), stored_key.size()) && stored_key == key;
  }
  if (good) {
    // Copied before it is checked: what is run cannot change any more.
    code.resize(h.code_size);
    good = read_all(fd, code.data(), code.size()) && siphash(secret_, key, code) == h.mac;
  }
  if (good && st.st_mtim.tv_sec < std::time(nullptr) - kUseGrain) futimens(fd, nullptr);
  close(fd);
  return good ? code : std::string();
}

void DiskCache::store(std::string_view key, std::string_view code) const {
  Header h;
  const uint64_t size = sizeof h + key.size() + code.size();
  uint64_t bits[2];
  if (!problem_.empty() || size > limit_ || size >= kLargest || !random_bits(bits)) return;
  std::memcpy(h.magic, kMagic, sizeof h.magic);
  h.key_size = key.size();
  h.code_size = code.size();
  h.mac = siphash(secret_, key, code);
  std::string all(reinterpret_cast<const char*>(&h), sizeof h);
  all.append(key).append(code);
  const std::string path = path_of(key), temp = write_aside(path, all, bits[0]);
  if (temp.empty()) return;
  if (rename(temp.c_str(), path.c_str()) != 0) unlink(temp.c_str());
  // Drawn by size: on average a sixteenth of the limit is stored between two looks at the
  // directory, by however many processes, so that each store pays for sixteen files or so.
  if (bits[1] % std::max<uint64_t>(limit_ / 16, 1) < size) make_room();
}

void DiskCache::make_room() const {
  struct File {
    time_t used;
    uint64_t size;
    std::filesystem::path path;
    bool operator<(const File& o) const { return std::tie(used, path) < std::tie(o.used, o.path); }
  };
  std::vector<File> files;
  uint64_t all = 0;
  const time_t now = std::time(nullptr);
  std::error_code problem;
  for (std::filesystem::directory_iterator it(directory_, problem), end; !problem && it != end;
       it.increment(problem)) {
    const std::filesystem::path& path = it->path();
    FileKind kind = kind_of(path.filename().native());
    struct stat st;
    if (kind == FileKind::Other || lstat(path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (kind == FileKind::Temporary) {
      if (st.st_mtim.tv_sec < now - kAbandoned) unlink(path.c_str());
      continue;
    }
    files.push_back({st.st_mtim.tv_sec, static_cast<uint64_t>(st.st_size), path});
    all += files.back().size;
  }
  if (all <= limit_) return;
  std::sort(files.begin(), files.end());
  for (const File& f : files) {
    if (all <= limit_ / 4 * 3) break;
    // What another process has removed meanwhile is gone as well.
    if (unlink(f.path.c_str()) == 0 || errno == ENOENT) all -= f.size;
  }
}

const DiskCache& disk_cache() {
  static const auto* cache = new DiskCache(cache_of_environment());
  return *cache;
}

}  // namespace numbus::compile
