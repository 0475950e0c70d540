// Sums of products of up to two values, with whole factors: what is known of indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace numbus {

constexpr int64_t kMostFactor = int64_t{1} << 50;

struct Term {
  int a = -1, b = -1;  // values by number, a <= b; a -1: only b
  int64_t k = 0;
};

// k + the terms, as numbers without bounds. Not `good`: more than fits in here.
struct Sum {
  int64_t k = 0;
  std::vector<Term> terms;
  bool good = true;

  static Sum of(int value) {
    Sum s;
    s.terms.push_back({-1, value, 1});
    return s;
  }
  static Sum number(int64_t k) {
    Sum s;
    s.k = k;
    s.good = k > -kMostFactor && k < kMostFactor;
    return s;
  }
  bool constant() const { return terms.empty(); }

  void put(int a, int b, __int128 k) {
    if (a > b) std::swap(a, b);
    for (size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].a != a || terms[t].b != b) continue;
      __int128 sum = terms[t].k + k;
      if (sum == 0)
        terms.erase(terms.begin() + static_cast<int64_t>(t));
      else
        terms[t].k = fits(sum);
      return;
    }
    if (k != 0) terms.push_back({a, b, fits(k)});
    if (terms.size() > 12) good = false;
  }
  // This and `by` times the other, which may be multiplied by a value, too.
  void add(const Sum& o, __int128 by, int value = -1) {
    good = good && o.good;
    if (value < 0)
      k = fits(k + o.k * by);
    else if (o.k != 0)
      put(-1, value, o.k * by);
    for (const Term& t : o.terms) {
      if (value >= 0 && t.a >= 0) {
        good = false;
        return;
      }
      put(value >= 0 ? value : t.a, t.b, t.k * by);
    }
  }
  static Sum product(const Sum& x, const Sum& y) {
    Sum r;
    r.add(x, y.k);
    for (const Term& t : y.terms) {
      if (t.a >= 0) {
        if (!x.constant()) r.good = false;
        r.put(t.a, t.b, static_cast<__int128>(t.k) * x.k);
      } else {
        r.add(x, t.k, t.b);
      }
    }
    r.good = r.good && y.good;
    return r;
  }
  bool operator==(const Sum& o) const {
    if (k != o.k || terms.size() != o.terms.size()) return false;
    return std::all_of(terms.begin(), terms.end(), [&](const Term& t) {
      return std::any_of(o.terms.begin(), o.terms.end(),
                         [&](const Term& u) { return t.a == u.a && t.b == u.b && t.k == u.k; });
    });
  }

 private:
  int64_t fits(__int128 n) {
    if (n > -kMostFactor && n < kMostFactor) return static_cast<int64_t>(n);
    good = false;
    return 0;
  }
};

}  // namespace numbus
