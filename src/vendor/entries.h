// The entry points of a library, resolved once for each copy that was loaded.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "vendor/library.h"

namespace numbus::vendor {

// Finds one entry point. The row of the library's table says what the library is and where a
// complete one comes from.
template <class Function>
void resolve(const Library& library, const std::string& name, Function** entry) {
  *entry = library.function<Function>(name);
  if (*entry != nullptr) return;
  raise(ErrorKind::Runtime, library.operation(),
        std::string("the ") + library.what() + " is too old or damaged",
        library.path() + " without " + name, library.expected());
}

// Api(const Library&) fetches the addresses. The library is loaded at the first call; the result is
// never deleted, because other threads may be in a call.
template <class Api>
const Api& entries_of(const char* name) {
  using Known = std::pair<const Library* const, Api>;
  static std::atomic<const Known*> latest{nullptr};
  const Library& library = require(name);
  const Known* current = latest.load(std::memory_order_acquire);
  if (current != nullptr && current->first == &library) return current->second;
  static std::mutex mutex;
  static auto* all = new std::map<const Library*, Api>;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = all->find(&library);
  if (found == all->end()) found = all->try_emplace(&library, library).first;
  latest.store(&*found, std::memory_order_release);
  return found->second;
}

}  // namespace numbus::vendor
