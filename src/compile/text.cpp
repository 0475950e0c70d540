// Strings for generated host code: what is printed, numbers as text, text as numbers.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "compile/runtime.h"

namespace numbus::compile {
namespace {

void put_utf8(std::string& to, char32_t c) {
  auto put = [&](unsigned b) { to += static_cast<char>(b); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// With a presentation type of Python's: digits are rounded from the exact value, as in CPython.
std::string formatted(double x, char kind, int digits) {
  const bool upper = kind == 'E' || kind == 'F' || kind == 'G';
  const char lower = upper ? static_cast<char>(kind + ('a' - 'A')) : kind;
  if (kind == '%') x *= 100;
  std::string s;
  if (!std::isfinite(x)) {
    s = std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
  } else {
    char text[kFloatRoom];
    auto format = lower == 'e'   ? std::chars_format::scientific
                  : lower == 'g' ? std::chars_format::general
                                 : std::chars_format::fixed;
    s.assign(text, std::to_chars(text, text + sizeof text, x, format, digits).ptr);
  }
  if (upper)
    for (char& c : s)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - ('a' - 'A'));
  return kind == '%' ? s + "%" : s;
}

bool digit(char c) { return c >= '0' && c <= '9'; }

// A number as Python's float() reads it, without spaces around it.
bool read_float(std::string_view s, double& x) {
  bool negative = false;
  if (!s.empty() && (s[0] == '+' || s[0] == '-')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  std::string plain;
  for (size_t i = 0; i < s.size(); ++i) {
    // An underscore stands between two digits.
    if (s[i] == '_') {
      if (i == 0 || i + 1 == s.size() || !digit(s[i - 1]) || !digit(s[i + 1])) return false;
      continue;
    }
    plain += s[i] >= 'A' && s[i] <= 'Z' ? static_cast<char>(s[i] + ('a' - 'A')) : s[i];
  }
  double size = 0;
  if (plain == "inf" || plain == "infinity") {
    size = INFINITY;
  } else if (plain == "nan") {
    size = NAN;
  } else {
    // Digits with at most one point, and an exponent.
    size_t at = 0, digits = 0, first = 0;
    int64_t point = -1, leading = -1;
    for (; at < plain.size() && (digit(plain[at]) || (plain[at] == '.' && point < 0)); ++at) {
      if (plain[at] == '.') {
        point = static_cast<int64_t>(digits);
        continue;
      }
      if (leading < 0 && plain[at] != '0') leading = static_cast<int64_t>(digits);
      ++digits;
    }
    if (digits == 0) return false;
    if (point < 0) point = static_cast<int64_t>(digits);
    double exponent = 0;
    if (at < plain.size()) {
      if (plain[at] != 'e') return false;
      first = at + 1;
      const bool less = first < plain.size() && plain[first] == '-';
      if (first < plain.size() && (plain[first] == '+' || plain[first] == '-')) ++first;
      if (first == plain.size()) return false;
      for (size_t k = first; k < plain.size(); ++k) {
        if (!digit(plain[k])) return false;
        exponent = exponent * 10 + (plain[k] - '0');
      }
      if (less) exponent = -exponent;
    }
    auto read = std::from_chars(plain.data(), plain.data() + plain.size(), size);
    if (read.ec == std::errc::result_out_of_range) {
      const bool large = leading >= 0 && exponent + static_cast<double>(point - leading) > 0;
      size = large ? INFINITY : 0;
    } else if (read.ec != std::errc() || read.ptr != plain.data() + plain.size()) {
      return false;
    }
  }
  x = negative ? -size : size;
  return true;
}

}  // namespace

// The shortest text that reads back as the same number.
std::string float_text(double x, int64_t how) {
  std::string sign = how & kSigned && !std::signbit(x) ? "+" : "";
  if (std::isnan(x)) return sign + "nan";
  if (std::isinf(x)) return sign + (x < 0 ? "-inf" : "inf");
  char text[40];
  double size = std::abs(x);
  bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  auto end = how & kSingle ? std::to_chars(text, text + sizeof text, static_cast<float>(x), format)
                           : std::to_chars(text, text + sizeof text, x, format);
  std::string s(text, end.ptr);
  if (fixed && !(how & kPart) && s.find('.') == std::string::npos) s += ".0";
  return sign + s;
}

extern "C" {

int64_t numbus_print_string(int64_t* context, const char32_t* text, int64_t length) {
  std::string s;
  for (int64_t i = 0; i < length; ++i) put_utf8(s, text[i]);
  numbus_print_text(context, s.data(), static_cast<int64_t>(s.size()));
  return 0;
}

int64_t numbus_text_of_float(int64_t bits, char32_t* to, int64_t format) {
  const auto x = std::bit_cast<double>(bits);
  const char kind = static_cast<char>(format >> 8 & 255);
  const std::string s =
      kind ? formatted(x, kind, static_cast<int>(format >> 16)) : float_text(x, format & 255);
  for (char c : s) *to++ = static_cast<char32_t>(c);
  return static_cast<int64_t>(s.size());
}

int64_t numbus_text_room(int64_t owner, int64_t end) {
  auto* o = reinterpret_cast<Owner*>(owner);
  if (!o || o->item != 0 || __atomic_load_n(&o->count, __ATOMIC_ACQUIRE) != 1) return 0;
  return end <= owner + static_cast<int64_t>(o->bytes) ? 2 : 1;
}

int64_t numbus_float_of_text(const char32_t* text, int64_t length, double* to) {
  std::string s;
  for (int64_t i = 0; i < length; ++i) {
    if (text[i] >= 0x80) return 0;
    s += static_cast<char>(text[i]);
  }
  double x = 0;
  if (!read_float(s, x)) return 0;
  std::memcpy(to, &x, sizeof x);
  return 1;
}

}  // extern "C"

}  // namespace numbus::compile
