// Formulas over a window's numbers, made while a plan is made and evaluated when it is used again.
#include "lazy/number.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/hash.h"

namespace numbus {
namespace {

thread_local Questions* asking = nullptr;

// Extents and strides of real arrays are far from overflow; made-up ones wrap without harm, because
// the same formula gives the same bits whenever it is evaluated.
int64_t wrapped(uint64_t v) { return static_cast<int64_t>(v); }
int64_t plus(int64_t a, int64_t b) {
  return wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t minus(int64_t a, int64_t b) {
  return wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t times(int64_t a, int64_t b) {
  return wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t magnitude(int64_t a) { return a < 0 ? minus(0, a) : a; }
int64_t quotient(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? minus(0, a) : a / b; }
int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }

// Keys beside those of Formulas::Code.
constexpr uint32_t kConstant = 1000, kOverlap = 1001, kAccess = 1002;

// Lower bounds, where they exist.
constexpr int64_t kNoBound = INT64_MIN;
int64_t sum_bound(int64_t a, int64_t b) {
  int64_t r;
  return a < 0 || b < 0 || __builtin_add_overflow(a, b, &r) ? kNoBound : r;
}
int64_t product_bound(int64_t a, int64_t b) {
  int64_t r;
  return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &r) ? kNoBound : r;
}

}  // namespace

size_t Questions::Table::index_of(const Key& k) const {
  const size_t mask = entries_.size() - 1;
  size_t i = mix(mix(k.code, static_cast<uint32_t>(k.a)), static_cast<uint32_t>(k.b)) & mask;
  while (entries_[i].used && !(entries_[i].key == k)) i = (i + 1) & mask;
  return i;
}

const int32_t* Questions::Table::find(const Key& k) const {
  const Entry& e = entries_[index_of(k)];
  return e.used ? &e.value : nullptr;
}

std::pair<int32_t, bool> Questions::Table::add(const Key& k, int32_t value) {
  Entry& e = entries_[index_of(k)];
  if (e.used) return {e.value, false};
  e = {k, value, true};
  if (2 * ++used_ > entries_.size()) {
    std::vector<Entry> old(2 * entries_.size());
    old.swap(entries_);
    for (const Entry& o : old)
      if (o.used) entries_[index_of(o.key)] = o;
  }
  return {value, true};
}

Questions::Questions(const Positions& p) : positions_(p), outer_(asking) {
  window_layouts_.assign(p.layouts.size(), nullptr);
  asking = this;
}
Questions::~Questions() { asking = outer_; }

Questions& Questions::current() {
  if (!asking) raise(ErrorKind::Runtime, "planner: a number outside of planning");
  return *asking;
}

Number Questions::known(Number n) const {
  while (n.id() >= 0 && known_[n.id()].id() != n.id()) n = known_[n.id()];
  return n;
}

int64_t Questions::at_least(Number n) const { return n.id() < 0 ? n.value() : least_[n.id()]; }

int32_t Questions::id_of(Number n) {
  if (n.id() >= 0) return n.id();
  auto v = static_cast<uint64_t>(n.value());
  auto [id, fresh] = values_.add(
      Key{kConstant, static_cast<int32_t>(v >> 32), static_cast<int32_t>(v & 0xFFFFFFFF)},
      static_cast<int32_t>(known_.size()));
  if (fresh) {
    formulas_.constants_.emplace_back(id, n.value());
    known_.push_back(n);
    least_.push_back(n.value());
  }
  return id;
}

Number Questions::leaf(Formulas::Code code, int a, int b, int64_t value, int64_t at_least) {
  auto [id, fresh] = values_.add(Key{code, a, b}, static_cast<int32_t>(known_.size()));
  Number n(value, id);
  if (fresh) {
    formulas_.steps_.push_back({code, false, a, b, n.id()});
    known_.push_back(n);
    least_.push_back(at_least);
  }
  return n;
}

Number Questions::made(Formulas::Code code, Number a, Number b, int64_t value, int64_t at_least) {
  int32_t x = id_of(a), y = id_of(b);
  if ((code == Formulas::Add || code == Formulas::Multiply || code == Formulas::Smaller) && x > y)
    std::swap(x, y);
  return known(leaf(code, x, y, value, at_least));
}

void Questions::ask(Formulas::Code code, Number a, Number b, bool answer) {
  int32_t x = id_of(a), y = id_of(b);
  if (!values_.add(Key{code, x, y}, answer).second) return;
  formulas_.steps_.push_back({code, answer, x, y, 0});
  ++formulas_.questions_;
  if (code != Formulas::Equal || !answer) return;
  if (b.id() < 0 || (a.id() >= 0 && b.id() < a.id()))
    known_[a.id()] = b;
  else
    known_[b.id()] = a;
}

const PlanLayout* Questions::layout(const Layout* l) {
  int number = positions_.number_of(l);
  const PlanLayout*& known = window_layouts_[number];
  if (known) return known;
  PlanLayout& made = layouts_.emplace_back();
  known = &made;
  made.number_ = number;
  made.itemsize_ = l->itemsize();
  made.injective_ = l->injective();
  int n = l->ndim();
  Layout::Kind kind = l->kind();
  made.strides_.resize(n);
  for (int d = 0; d < n; ++d) {
    int64_t e = l->shape(d);
    bool in_key = kind.exact && e <= 1;
    made.shape_.push_back(in_key ? Number(e)
                                 : leaf(Formulas::Shape, number, d, e, kind.exact ? 2 : 0));
    made.size_ = made.size_ * made.shape_[d];
  }
  if (kind.c_order || kind.f_order) {
    Number step = l->itemsize();
    for (int k = 0; k < n; ++k) {
      int d = kind.c_order ? n - 1 - k : k;
      made.strides_[d] = step;
      step = step * made.shape_[d];
    }
    return known;
  }
  for (int d = 0; d < n; ++d) {
    int64_t s = l->stride(d);
    bool in_key = kind.exact && (s == 0 || s == l->itemsize());
    made.strides_[d] =
        in_key ? Number(s)
               : leaf(Formulas::Stride, number, d, s, kind.exact && s > 0 ? 1 : kNoBound);
  }
  return known;
}

Number Questions::offset(int slot, int64_t bytes) {
  if (bytes == 0) return 0;  // which of the offsets are zero stands in the key
  return leaf(Formulas::Offset, positions_.number_of(slot, bytes), 0, bytes, 0);
}

Number Questions::bytes(int slot) {
  const Positions::Slot& s = positions_.slots[slot];
  if (s.whole) {
    const PlanLayout* first = layout(positions_.layouts[s.layout]);
    return first->size() * first->itemsize();
  }
  return leaf(Formulas::Bytes, slot, 0, s.bytes, 0);
}

const PlanLayout* Questions::contiguous(const std::vector<Number>& shape, int itemsize) {
  PlanLayout made;
  made.itemsize_ = itemsize;
  made.shape_ = shape;
  made.strides_.resize(shape.size());
  Number step = itemsize;
  for (size_t d = shape.size(); d-- > 0;) {
    made.strides_[d] = step;
    // NumPy keeps the strides of an empty array as if the zero extent were one.
    if (!(shape[d] == 0)) step = step * shape[d];
    made.size_ = made.size_ * shape[d];
  }
  auto equal = [](const std::vector<Number>& x, const std::vector<Number>& y) {
    for (size_t d = 0; d < x.size(); ++d)
      if (x[d].value() != y[d].value()) return false;
    return true;
  };
  // Accesses are the same only if their layouts are: what is equal here has to be equal wherever
  // the plan serves. Of what is different by value nothing need be asked: it is taken for
  // different, which is never wrong.
  for (const PlanLayout& l : layouts_)
    if (l.ndim() == made.ndim() && l.itemsize() == itemsize && equal(l.shape_, made.shape_) &&
        equal(l.strides_, made.strides_) && l.shape_ == made.shape_ && l.strides_ == made.strides_)
      return &l;
  return &layouts_.emplace_back(std::move(made));
}

int Questions::strided(const PlanLayout& l) {
  auto [at, fresh] = strided_.try_emplace(&l, static_cast<int>(formulas_.layouts_.size()));
  if (fresh) {
    Formulas::Strided s{l.number(), l.itemsize(), {}, {}};
    if (s.number < 0)
      for (int d = 0; d < l.ndim(); ++d) {
        s.shape.push_back(id_of(known(l.shape(d))));
        s.strides.push_back(id_of(known(l.stride(d))));
      }
    formulas_.layouts_.push_back(std::move(s));
  }
  return at->second;
}

int Questions::access(Number offset, const PlanLayout& l) {
  const Formulas::Access made{id_of(offset), strided(l)};
  auto& all = formulas_.accesses_;
  auto [at, fresh] =
      values_.add(Key{kAccess, made.offset, made.layout}, static_cast<int32_t>(all.size()));
  if (fresh) all.push_back(made);
  return at;
}

bool Questions::overlap(Number offset_a, const PlanLayout& a, Number offset_b,
                        const PlanLayout& b) {
  offset_a = known(offset_a);
  offset_b = known(offset_b);
  int x = access(offset_a, a), y = access(offset_b, b);
  if (x > y) std::swap(x, y);
  const Key key{kOverlap, x, y};
  if (const int32_t* known = values_.find(key)) return *known != 0;
  auto view = [](const PlanLayout& l, std::vector<int64_t>& memory) {
    for (Number n : l.shape()) memory.push_back(n.value());
    for (Number n : l.strides()) memory.push_back(n.value());
    size_t n = l.shape().size();
    return StridedBytes({memory.data(), n}, {memory.data() + n, n}, l.itemsize());
  };
  std::vector<int64_t> memory_a, memory_b;
  StridedBytes va = view(a, memory_a), vb = view(b, memory_b);
  bool answer = may_overlap(offset_a.value(), va, offset_b.value(), vb);
  values_.add(key, answer);
  formulas_.pairs_.push_back({x, y, answer});
  ++formulas_.questions_;
  return answer;
}

Formulas Questions::finish(const std::vector<int32_t>& kept) {
  // Only what the parameters need, or a question.
  std::vector<char> needed(known_.size(), 0);
  for (int32_t id : kept)
    if (id >= 0) needed[id] = 1;
  for (const Formulas::Access& a : formulas_.accesses_) needed[a.offset] = 1;
  for (const Formulas::Strided& l : formulas_.layouts_) {
    for (int32_t id : l.shape) needed[id] = 1;
    for (int32_t id : l.strides) needed[id] = 1;
  }
  std::vector<Formulas::Step> steps;
  for (size_t n = formulas_.steps_.size(); n-- > 0;) {
    const Formulas::Step& s = formulas_.steps_[n];
    bool question = s.code >= Formulas::Equal;
    if (!question && !needed[s.to]) continue;
    if (s.code >= Formulas::Add) needed[s.a] = needed[s.b] = 1;
    steps.push_back(s);
  }
  std::reverse(steps.begin(), steps.end());
  formulas_.steps_ = std::move(steps);
  formulas_.values_ = known_.size();
  return std::move(formulas_);
}

std::vector<int64_t> Formulas::constants() const {
  std::vector<int64_t> v(values_, 0);
  for (auto [id, value] : constants_) v[id] = value;
  return v;
}

bool Formulas::evaluate(const Positions& p, int64_t* v) const {
  for (const Step& s : steps_) {
    switch (s.code) {
      case Shape: v[s.to] = p.layouts[s.a]->shape(s.b); break;
      case Stride: v[s.to] = p.layouts[s.a]->stride(s.b); break;
      case Offset: v[s.to] = p.offsets[s.a].bytes; break;
      case Bytes: v[s.to] = p.slots[s.a].bytes; break;
      case Add: v[s.to] = plus(v[s.a], v[s.b]); break;
      case Subtract: v[s.to] = minus(v[s.a], v[s.b]); break;
      case Multiply: v[s.to] = times(v[s.a], v[s.b]); break;
      case Divide: v[s.to] = quotient(v[s.a], v[s.b]); break;
      case Remainder: v[s.to] = remainder(v[s.a], v[s.b]); break;
      case Abs: v[s.to] = magnitude(v[s.a]); break;
      case Smaller: v[s.to] = std::min(v[s.a], v[s.b]); break;
      case Equal:
        if ((v[s.a] == v[s.b]) != s.answer) return false;
        break;
      case Less:
        if ((v[s.a] < v[s.b]) != s.answer) return false;
        break;
    }
  }
  return pairs_.empty() || evaluate_overlaps(p, v);
}

bool Formulas::evaluate_overlaps(const Positions& p, const int64_t* v) const {
  // Mostly the bounds tell. Each access's are found once, as many pairs share it; those of a layout
  // that planning made tell nothing.
  struct Bounds {
    int64_t low, high;
  };
  constexpr size_t kFew = 32;
  Bounds few[kFew];
  std::vector<Bounds> many;
  Bounds* bounds = few;
  if (accesses_.size() > kFew) {
    many.resize(accesses_.size());
    bounds = many.data();
  }
  for (size_t n = 0; n < accesses_.size(); ++n) {
    const int32_t number = layouts_[accesses_[n].layout].number;
    const int64_t offset = v[accesses_[n].offset];
    bounds[n] = {INT64_MIN, INT64_MAX};
    if (number < 0) continue;
    const Layout& l = *p.layouts[number];
    bounds[n] = {offset + l.low(), offset + l.high()};
  }
  for (const Pair& pair : pairs_) {
    const Bounds a = bounds[pair.a], b = bounds[pair.b];
    const bool apart = a.high <= b.low || b.high <= a.low;
    if ((apart ? false : overlap(p, v, pair)) != pair.answer) return false;
  }
  return true;
}

bool Formulas::overlap(const Positions& p, const int64_t* v, const Pair& pair) const {
  int64_t memory[2][2 * kMaxDims];
  auto view = [&](const Strided& l, int64_t* m) {
    if (l.number >= 0) return StridedBytes(*p.layouts[l.number]);
    size_t n = l.shape.size();
    for (size_t d = 0; d < n; ++d) {
      m[d] = v[l.shape[d]];
      m[n + d] = v[l.strides[d]];
    }
    return StridedBytes({m, n}, {m + n, n}, l.itemsize);
  };
  const Access &a = accesses_[pair.a], &b = accesses_[pair.b];
  return may_overlap(v[a.offset], view(layouts_[a.layout], memory[0]), v[b.offset],
                     view(layouts_[b.layout], memory[1]));
}

Number operator+(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return plus(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() < 0 && b.id() < 0) return plus(a.value(), b.value());
  if (a.id() < 0 && a.value() == 0) return b;
  if (b.id() < 0 && b.value() == 0) return a;
  return q.made(Formulas::Add, a, b, plus(a.value(), b.value()),
                sum_bound(q.at_least(a), q.at_least(b)));
}

Number operator-(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return minus(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() == b.id() && a.id() >= 0) return 0;
  if (a.id() < 0 && b.id() < 0) return minus(a.value(), b.value());
  if (b.id() < 0 && b.value() == 0) return a;
  return q.made(Formulas::Subtract, a, b, minus(a.value(), b.value()), kNoBound);
}

Number operator*(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return times(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() < 0) std::swap(a, b);
  if (b.id() < 0) {
    if (a.id() < 0) return times(a.value(), b.value());
    if (b.value() == 0) return 0;
    if (b.value() == 1) return a;
  }
  return q.made(Formulas::Multiply, a, b, times(a.value(), b.value()),
                product_bound(q.at_least(a), q.at_least(b)));
}

Number operator/(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return quotient(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() < 0 && b.id() < 0) return quotient(a.value(), b.value());
  if (b.id() < 0 && b.value() == 1) return a;
  return q.made(Formulas::Divide, a, b, quotient(a.value(), b.value()), kNoBound);
}

Number operator%(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return remainder(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() < 0 && b.id() < 0) return remainder(a.value(), b.value());
  if (b.id() < 0 && b.value() == 1) return 0;
  return q.made(Formulas::Remainder, a, b, remainder(a.value(), b.value()), kNoBound);
}

Number abs(Number a) {
  if (a.id() < 0) return magnitude(a.value());
  Questions& q = Questions::current();
  a = q.known(a);
  if (a.id() < 0) return magnitude(a.value());
  if (q.at_least(a) >= 0) return a;
  return q.made(Formulas::Abs, a, a, magnitude(a.value()), 0);
}

Number smaller(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return std::min(a.value(), b.value());
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  if (a.id() < 0 && b.id() < 0) return std::min(a.value(), b.value());
  if (a.id() == b.id()) return a;
  return q.made(Formulas::Smaller, a, b, std::min(a.value(), b.value()),
                std::min(q.at_least(a), q.at_least(b)));
}

bool operator==(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return a.value() == b.value();
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  bool answer = a.value() == b.value();
  if (a.id() == b.id()) return a.id() >= 0 || answer;
  if (a.id() < 0) std::swap(a, b);
  if (b.id() < 0 && q.at_least(a) > b.value()) return false;
  if (b.id() >= 0 && a.id() < b.id()) std::swap(a, b);
  q.ask(Formulas::Equal, a, b, answer);
  return answer;
}

bool operator<(Number a, Number b) {
  if (a.id() < 0 && b.id() < 0) return a.value() < b.value();
  Questions& q = Questions::current();
  a = q.known(a), b = q.known(b);
  bool answer = a.value() < b.value();
  if (a.id() == b.id()) return a.id() < 0 && answer;
  if (b.id() < 0 && q.at_least(a) >= b.value()) return false;
  if (a.id() < 0 && q.at_least(b) > a.value()) return true;
  q.ask(Formulas::Less, a, b, answer);
  return answer;
}

}  // namespace numbus
