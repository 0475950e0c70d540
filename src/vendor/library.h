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
  Library(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Null where the library has no such symbol.
  void* symbol(const std::string& name) const;

  template <class Function>
  Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* handle_;
  std::string path_;
};

struct LibraryReport {
  std::string found;  // empty where nothing loaded
  std::vector<TriedPath> tried;
};

// The known names are "blas" and "cublas". All of this is thread-safe.

// The paths or bare file names to try, in this order. Changes nothing once the library is loaded;
// after a failure the next use tries again.
void set_candidates(std::string_view name, std::vector<std::string> paths);

// Loads the first candidate that works. Raises with every path tried and what to install.
const Library& require(std::string_view name);

// Like require(), but tells instead of raising; for `python -m numbus info`.
LibraryReport library_report(std::string_view name);

// Forgets the candidates and what was loaded.
void reset_libraries_for_tests();

}  // namespace numbus::vendor
