// Values by key, the most recently used ones only.
#pragma once

#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace numbus {

// Values are held by shared pointers: what is dropped here lives on where it is in use.
template <class Value>
class Recent {
 public:
  explicit Recent(size_t limit) : limit_(limit) {}

  // Null: not known.
  Value* find(const std::string& key) {
    auto it = by_key_.find(key);
    if (it == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }
  // The key is not known. One value goes for each that comes once there are as many as the limit.
  Value& keep(std::string key, Value value) {
    entries_.emplace_front(std::move(key), std::move(value));
    try {
      by_key_.emplace(entries_.front().first, entries_.begin());
    } catch (...) {
      entries_.pop_front();
      throw;
    }
    if (entries_.size() > limit_) {
      by_key_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;  // the latest used first
  size_t limit_;
  Entries entries_;
  std::unordered_map<std::string_view, typename Entries::iterator> by_key_;  // keys of the entries
};

}  // namespace numbus
