// The cache of compiled code: what it refuses to load, how it makes room, and many users at once.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "compile/disk_cache.h"

using numbus::compile::DiskCache;
using numbus::compile::parse_bytes;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t kLots = 1 << 30;

struct Folder {
  std::string path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "numbus-cache-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code problem;
    fs::remove_all(path, problem);
  }
};

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void overwrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

void set_time(const std::string& path, time_t seconds) {
  timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

size_t count(const std::string& folder, const std::string& ending) {
  return static_cast<size_t>(std::count_if(fs::directory_iterator(folder), {}, [&](const auto& f) {
    return f.path().string().ends_with(ending);
  }));
}

std::string random_text(std::mt19937_64& random, size_t size) {
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

}  // namespace

TEST_CASE("the disk cache gives back what was stored, under its own key only") {
  Folder folder;
  DiskCache cache(folder.path, kLots);
  CHECK(cache.problem() == "");
  CHECK(cache.load("key") == "");
  const std::string code("code\0with a zero", 16);
  cache.store("key", code);
  CHECK(cache.load("key") == code);
  CHECK(cache.load("key2") == "");
  cache.store("key", "newer");
  CHECK(cache.load("key") == "newer");
  CHECK(DiskCache(folder.path + "//", kLots).load("key") == "newer");
  CHECK(count(folder.path, ".tmp") == 0);
  // The file of another key, under this key's name.
  cache.store("other", "other code");
  fs::copy_file(cache.path_of("other"), cache.path_of("key"), fs::copy_options::overwrite_existing);
  CHECK(cache.load("key") == "");
}

TEST_CASE("no mutated file of the disk cache is ever loaded") {
  Folder folder;
  DiskCache cache(folder.path, kLots);
  std::mt19937_64 random(20261123);
  for (int i = 0; i < 500; ++i) {
    const std::string key = random_text(random, random() % 60),
                      code = random_text(random, 1 + random() % 90);
    cache.store(key, code);
    const std::string path = cache.path_of(key), good = content(path);
    std::string bad = good;
    switch (random() % 5) {
      case 0:  // some bytes, more often than not in the header
        for (uint64_t n = 1 + random() % 4; n > 0; --n)
          bad[random() % (random() % 2 ? 32 : bad.size())] ^= static_cast<char>(1 + random() % 255);
        break;
      case 1: bad.resize(random() % bad.size()); break;
      case 2: bad += random_text(random, 1 + random() % 9); break;
      case 3: {  // a part filled with zeros, as after a crash
        size_t from = random() % bad.size();
        std::fill(bad.begin() + static_cast<int64_t>(from), bad.end(), '\0');
        break;
      }
      default: {  // the code's end moved into the key or back, lengths to match
        uint64_t sizes[2] = {key.size() + 1, code.size() - 1};
        bad.replace(8, sizeof sizes, reinterpret_cast<const char*>(sizes), sizeof sizes);
      }
    }
    if (bad == good) continue;
    overwrite(path, bad);
    CHECK(cache.load(key) == "");
    cache.store(key, code);
    CHECK(cache.load(key) == code);
  }
}

TEST_CASE("the disk cache loads no file that others can have written") {
  Folder folder;
  DiskCache cache(folder.path, kLots);
  cache.store("key", "code");
  const std::string path = cache.path_of("key");
  for (mode_t mode : {0600, 0644, 0400, 0622, 0620, 0602, 0777}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    CAPTURE(mode);
    CHECK(cache.load("key") == (mode & 022 ? "" : "code"));
  }
  cache.store("key", "code");
  CHECK(cache.load("key") == "code");

  fs::rename(path, folder.path + "/elsewhere");
  fs::create_symlink(folder.path + "/elsewhere", path);
  CHECK(cache.load("key") == "");
  cache.store("key", "code");
  CHECK(cache.load("key") == "code");
  CHECK_FALSE(fs::is_symlink(path));

  fs::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK(cache.load("key") == "");
  cache.store("key", "code");
  CHECK(cache.load("key") == "code");

  fs::remove(path);
  fs::create_directory(path);
  CHECK(cache.load("key") == "");
  cache.store("key", "code");
  CHECK(cache.load("key") == "");
  CHECK(count(folder.path, ".tmp") == 0);
}

TEST_CASE("the disk cache uses no directory that others can write") {
  Folder folder;
  const std::string path = folder.path + "/cache";
  DiskCache(path, kLots).store("key", "code");
  for (mode_t mode : {0700, 0755, 0775, 0757, 01777}) {
    REQUIRE(chmod(path.c_str(), mode) == 0);
    DiskCache cache(path, kLots);
    CAPTURE(mode);
    CHECK((cache.problem() == "") == !(mode & 022));
    CHECK(cache.load("key") == (mode & 022 ? "" : "code"));
    if (mode & 022) CHECK(cache.problem() == "can be written by others");
  }
  overwrite(folder.path + "/file", "");
  CHECK(DiskCache(folder.path + "/file", kLots).problem() == "is no directory");
  DiskCache missing(folder.path + "/missing/cache", kLots);
  CHECK(missing.problem().starts_with("cannot be made: "));
  missing.store("key", "code");
  CHECK(missing.load("key") == "");
}

TEST_CASE("the disk cache takes nothing from other users") {
  if (geteuid() != 0) return;  // only root can make files of others
  Folder folder;
  {
    DiskCache cache(folder.path, kLots);
    cache.store("key", "code");
    REQUIRE(chown(cache.path_of("key").c_str(), 12345, 12345) == 0);
    CHECK(cache.load("key") == "");
    cache.store("key", "code");
    CHECK(cache.load("key") == "code");
  }
  REQUIRE(chown((folder.path + "/secret").c_str(), 12345, 12345) == 0);
  {
    DiskCache cache(folder.path, kLots);  // with a new secret
    CHECK(cache.problem() == "");
    CHECK(cache.load("key") == "");
  }
  REQUIRE(chown(folder.path.c_str(), 12345, 12345) == 0);
  CHECK(DiskCache(folder.path, kLots).problem() == "belongs to another user");
}

TEST_CASE("a damaged or open secret of the disk cache is replaced") {
  Folder folder;
  const std::string secret = folder.path + "/secret";
  for (int damage = 0; damage < 5; ++damage) {
    CAPTURE(damage);
    DiskCache(folder.path, kLots).store("key", "code");
    const std::string before = content(secret);
    REQUIRE(before.size() == 16);
    if (damage == 0) overwrite(secret, before.substr(1));
    if (damage == 1) overwrite(secret, before + "x");
    if (damage == 2) REQUIRE(chmod(secret.c_str(), 0644) == 0);
    if (damage == 3) fs::remove(secret);
    if (damage == 4) {
      fs::rename(secret, folder.path + "/elsewhere");
      fs::create_symlink(folder.path + "/elsewhere", secret);
    }
    DiskCache cache(folder.path, kLots);
    CHECK(cache.problem() == "");
    CHECK(cache.load("key") == "");
    CHECK(content(secret).size() == 16);
    CHECK(content(secret) != before);
    CHECK(count(folder.path, ".tmp") == 0);
  }
}

TEST_CASE("a full disk leaves nothing behind and removes nothing") {
  Folder folder;
  DiskCache cache(folder.path, kLots);
  const std::string small(100, 's'), large(10000, 'l');
  cache.store("key", small);
  auto* before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &usual) == 0);
  rlimit little{5000, usual.rlim_max}, none{0, usual.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &little) == 0);
  cache.store("key", large);
  cache.store("key2", large);
  const std::string kept = cache.load("key"), other = cache.load("key2");
  REQUIRE(setrlimit(RLIMIT_FSIZE, &none) == 0);
  DiskCache unborn(folder.path + "/new", kLots);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &usual) == 0);
  std::signal(SIGXFSZ, before);
  CHECK(kept == small);
  CHECK(other == "");
  CHECK(count(folder.path, ".tmp") == 0);
  CHECK(unborn.problem().starts_with("cannot be written: "));
  unborn.store("key", small);
  CHECK(unborn.load("key") == "");
  CHECK(fs::is_empty(folder.path + "/new"));
}

TEST_CASE("the disk cache makes room by removing what was used longest ago") {
  Folder folder;
  DiskCache cache(folder.path, 20000);
  const std::string code(900, 'c');
  std::vector<std::string> keys;
  for (int i = 0; i < 30; ++i) {
    keys.push_back("k" + std::to_string(i));
    DiskCache(folder.path, kLots).store(keys.back(), code);
    set_time(cache.path_of(keys.back()), 1000000 + i);
  }
  CHECK(cache.load(keys[3]) == code);  // its file is now the newest
  const std::string own = folder.path + "/mine.o", odd = folder.path + "/0123456789abcdef.out",
                    young = cache.path_of("k") + ".0123456789abcdef.tmp",
                    old = cache.path_of("k") + ".fedcba9876543210.tmp";
  for (const std::string& path : {own, odd, young, old}) overwrite(path, code);
  for (const std::string& path : {own, odd, old}) set_time(path, 1000000);
  cache.make_room();
  const uint64_t each = fs::file_size(cache.path_of(keys[3])), left = count(folder.path, ".o") - 1;
  CHECK(left * each <= 15000);
  CHECK((left + 1) * each > 15000);
  CHECK(cache.load(keys[3]) == code);
  for (int i = 0; i < 30; ++i)
    if (i != 3) CHECK((cache.load(keys[i]) == code) == (i > 30 - static_cast<int>(left)));
  CHECK(fs::exists(own));
  CHECK(fs::exists(odd));
  CHECK(fs::exists(young));
  CHECK_FALSE(fs::exists(old));

  // Whatever is stored, the limit holds but for a sixteenth, on average.
  for (int i = 0; i < 400; ++i) cache.store("more" + std::to_string(i), code);
  CHECK(count(folder.path, ".o") * each < 30000);
  DiskCache(folder.path, 100).store("large", code);  // larger than all there may be
  CHECK(cache.load("large") == "");
}

TEST_CASE("a disk cache has many users at once") {
  Folder folder;
  auto code_of = [](int k) { return std::string(static_cast<size_t>(500 + 37 * k), 'a'); };
  std::vector<std::thread> threads;
  std::vector<int> wrong(8), found(8);
  for (size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      // All make the directory and its secret, and the half of them has little room.
      DiskCache cache(folder.path + "/cache", t % 2 ? kLots : 8000);
      std::mt19937_64 random(t);
      if (!cache.problem().empty()) ++wrong[t];
      for (int i = 0; i < 150; ++i) {
        int k = static_cast<int>(random() % 20);
        std::string key = "k" + std::to_string(k), code = cache.load(key);
        if (code.empty())
          cache.store(key, code_of(k));
        else
          ++(code == code_of(k) ? found : wrong)[t];
      }
    });
  for (std::thread& t : threads) t.join();
  for (size_t t = 0; t < 8; ++t) {
    CHECK(wrong[t] == 0);
    CHECK(found[t] > 0);
  }
  CHECK(count(folder.path + "/cache", ".tmp") == 0);
}

TEST_CASE("numbers of bytes") {
  uint64_t bytes = 7;
  for (auto [text, value] : {std::pair{"0", uint64_t{0}},
                             {"5000", 5000},
                             {"3K", 3072},
                             {"200M", 200u << 20},
                             {"2G", uint64_t{2} << 30},
                             {"2GB", uint64_t{2} << 30},
                             {"1T", uint64_t{1} << 40},
                             {"8B", 8}}) {
    CAPTURE(text);
    CHECK(parse_bytes(text, bytes));
    CHECK(bytes == value);
  }
  for (const char* text :
       {"", "G", "1.5G", "-1", "1KK", "1 G", "99999999999999999999", "20000000T"})
    CHECK_FALSE(parse_bytes(text, bytes));
}
