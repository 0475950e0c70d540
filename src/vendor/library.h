// Libraries that are loaded at first use: where they are looked for, what was found, why not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace numbus::vendor {

struct TriedPath {
  std::string path;
  std::string outcome;  // "loaded", or why not
};

// A loaded shared library. It stays loaded to the end of the process.
class Library {
 public:
  Library(void* handle, std::string path, const char* operation, const char* what,
          const char* expected)
      : handle_(handle),
        path_(std::move(path)),
        operation_(operation),
        what_(what),
        expected_(expected) {}

  const std::string& path() const { return path_; }
  // For messages: who needs it, what it is, which one would do.
  const char* operation() const { return operation_; }
  const char* what() const { return what_; }
  const char* expected() const { return expected_; }
  // Null where the library has no such symbol.
  void* symbol(const std::string& name) const;

  template <class Function>
  Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* handle_;
  std::string path_;
  const char *operation_, *what_, *expected_;
};

struct LibraryReport {
  std::string found;  // empty where nothing loaded
  std::vector<TriedPath> tried;
};

// The known names are those of the table in library.cpp. All of this is thread-safe.

// The paths or bare file names to try, in this order. Changes nothing once the library is loaded;
// after a failure the next use tries again.
void set_candidates(std::string_view name, std::vector<std::string> paths);

// Loads the first candidate that works. Raises with every path tried and what to install.
const Library& require(std::string_view name);

// Whether it is loaded already.
bool is_loaded(std::string_view name);
// Whether there are paths to try.
bool is_offered(std::string_view name);

// Like require(), but tells instead of raising; for `python -m numbus info`.
LibraryReport library_report(std::string_view name);

std::vector<std::string> library_names();

// Forgets the candidates and what was loaded.
void reset_libraries_for_tests();

}  // namespace numbus::vendor
