// The list, and the text of errors.
#include "lazy/live.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "lazy/runtime.h"

namespace numbus {
namespace {

Live* first = nullptr;
Live* last = nullptr;

std::string size_text(double bytes) {
  const char* const units[] = {"bytes", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 4; ++unit) bytes /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, bytes < 9.995 && unit ? "%.2f %s" : "%.0f %s", bytes,
                units[unit]);
  return text;
}

// What an array is and where it was made.
std::string described(const Live& l) {
  std::string s;
  if (l.layout) s.append(", ").append(name(l.dtype)).append(" ").append(shape_string(*l.layout));
  const Runtime& rt = Runtime::get();
  const SourceLine at = rt.describe_line && l.line ? rt.describe_line(l.line) : SourceLine();
  if (!at.file.empty()) s += ", made at " + at.file + ", line " + std::to_string(at.line);
  return s;
}

// Arrays that are described alike.
struct Alike {
  int64_t nbytes;
  std::string text;
  int64_t count;
};

}  // namespace

constinit int64_t Live::least = kLeast;

Live::Live(Base& b) : base(b) { link(); }
Live::~Live() { unlink(); }

void Live::link() {
  older = first;
  newer = nullptr;
  (first ? first->newer : last) = this;
  first = this;
}

void Live::unlink() {
  (newer ? newer->older : first) = older;
  (older ? older->newer : last) = newer;
}

void Live::touch() {
  ++touches;
  if (first == this) return;
  unlink();
  link();
}

Live* Live::latest() { return first; }
Live* Live::oldest() { return last; }

std::string largest_arrays(const Device& d) {
  constexpr size_t kShown = 8, kLooked = 256;
  std::vector<const Live*> all;
  for (const Live* l = first; l; l = l->older)
    if (l->base.device == &d && l->base.data && l->base.owned) all.push_back(l);
  if (all.empty()) return "";
  std::stable_sort(all.begin(), all.end(),
                   [](const Live* a, const Live* b) { return a->base.nbytes > b->base.nbytes; });
  std::vector<Alike> kinds;
  for (size_t n = 0; n < std::min(all.size(), kLooked); ++n) {
    const std::string text = described(*all[n]);
    const int64_t nbytes = all[n]->base.nbytes;
    auto known = std::find_if(kinds.begin(), kinds.end(),
                              [&](const Alike& k) { return k.nbytes == nbytes && k.text == text; });
    if (known == kinds.end()) known = kinds.insert(known, {nbytes, text, 0});
    ++known->count;
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const Alike& a, const Alike& b) {
    return a.nbytes * a.count > b.nbytes * b.count;
  });
  std::string s = "\nThe largest arrays on " + d.label() + ", where " +
                  size_text(static_cast<double>(d.memory_stats().used_bytes)) + " are in use:";
  size_t told = 0;
  for (size_t k = 0; k < std::min(kinds.size(), kShown); ++k) {
    const std::string size = size_text(static_cast<double>(kinds[k].nbytes));
    s += "\n  ";
    s += kinds[k].count > 1 ? std::to_string(kinds[k].count) + " of " + size + " each" : size;
    s += kinds[k].text;
    told += static_cast<size_t>(kinds[k].count);
  }
  if (told < all.size()) s += "\n  and " + std::to_string(all.size() - told) + " more";
  return s;
}

}  // namespace numbus
