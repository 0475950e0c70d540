// Integers of the planner that remember how they follow from a window's extents, strides and
// offsets, and the questions that planning asked of them.
//
// A plan made for one window serves every other window of the same key for which all questions have
// the same answers; its parameters are the same formulas over the other window's numbers. The types
// see to it that nothing is forgotten: a Number becomes a truth value by a comparison only, which
// is recorded, and an int64_t by Formulas::evaluate only.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "lazy/positions.h"

namespace numbus {

class Number {
 public:
  Number(int64_t value = 0) : value_(value) {}  // NOLINT: a constant, implicit on purpose
  Number(int64_t value, int32_t id) : value_(value), id_(id) {}
  // Negative: a constant.
  int32_t id() const { return id_; }
  // What the number is for the window that is being planned. Decisions must not look at it.
  int64_t value() const { return value_; }
  // Equal for equal formulas.
  uint64_t identity() const {
    return id_ < 0 ? static_cast<uint64_t>(value_) : ~0ull - static_cast<uint64_t>(id_);
  }
  Number& operator+=(Number o);
  Number& operator-=(Number o);
  Number& operator*=(Number o);

 private:
  int64_t value_;
  int32_t id_ = -1;
};

Number operator+(Number a, Number b);
Number operator-(Number a, Number b);
Number operator*(Number a, Number b);
Number operator/(Number a, Number b);  // b is not zero: ask first
Number operator%(Number a, Number b);
Number abs(Number a);
Number smaller(Number a, Number b);  // the minimum; no question is asked
// Questions: the answer belongs to the plan.
bool operator==(Number a, Number b);
bool operator<(Number a, Number b);
inline bool operator>(Number a, Number b) { return b < a; }
inline bool operator<=(Number a, Number b) { return !(b < a); }
inline bool operator>=(Number a, Number b) { return !(a < b); }
inline Number& Number::operator+=(Number o) { return *this = *this + o; }
inline Number& Number::operator-=(Number o) { return *this = *this - o; }
inline Number& Number::operator*=(Number o) { return *this = *this * o; }

// A layout as the planner sees it: one of the window's, or one that planning made.
class PlanLayout {
 public:
  int ndim() const { return static_cast<int>(shape_.size()); }
  Number shape(int d) const { return shape_[d]; }
  Number stride(int d) const { return strides_[d]; }
  const std::vector<Number>& shape() const { return shape_; }
  const std::vector<Number>& strides() const { return strides_; }
  Number size() const { return size_; }
  int itemsize() const { return itemsize_; }
  bool injective() const { return injective_; }
  bool same_shape(const PlanLayout& o) const { return this == &o || shape_ == o.shape_; }
  // Its number among the window's; negative: made by the planner.
  int number() const { return number_; }

 private:
  friend class Questions;
  std::vector<Number> shape_, strides_;
  Number size_ = 1;
  int itemsize_ = 1, number_ = -1;
  bool injective_ = true;
};

// What a plan computes of a window's numbers before it runs, and what it asks of them.
class Formulas {
 public:
  // Fills `values`, whose constants have been set, from the window's numbers; false where a
  // question has another answer.
  bool evaluate(const Positions& p, int64_t* values) const;
  std::vector<int64_t> constants() const;
  size_t questions() const { return questions_; }
  enum Code : uint8_t {
    Shape,
    Stride,
    Offset,
    Bytes,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Abs,
    Smaller,
    Equal,
    Less
  };

 private:
  friend class Questions;
  struct Step {
    Code code;
    bool answer = false;
    int32_t a = 0, b = 0, to = 0;
  };
  // What an instruction reads or writes: an offset by number of the value, a layout by its number
  // among those below.
  struct Access {
    int32_t offset, layout;
    bool operator==(const Access&) const = default;
  };
  // Two accesses, by number, and whether they overlap.
  struct Pair {
    int32_t a, b;
    bool answer;
  };
  struct Strided {
    int number;  // the window's layout, or negative: the values below
    int itemsize;
    std::vector<int32_t> shape, strides;
  };
  bool evaluate_overlaps(const Positions& p, const int64_t* values) const;
  bool overlap(const Positions& p, const int64_t* values, const Pair& pair) const;

  std::vector<Step> steps_;
  std::vector<Access> accesses_;
  std::vector<Pair> pairs_;  // asked after all steps: no step depends on the answers
  std::vector<Strided> layouts_;
  std::vector<std::pair<int32_t, int64_t>> constants_;
  size_t values_ = 0, questions_ = 0;
};

// Makes numbers and records questions while one plan is made; one at a time in a thread.
class Questions {
 public:
  explicit Questions(const Positions& p);
  ~Questions();
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  const PlanLayout* layout(const Layout* l);  // one of the window's
  // An access's offset within the base of a slot, in bytes.
  Number offset(int slot, int64_t bytes);
  Number bytes(int slot);  // of the slot's base
  // A dense layout in C's order; one that is known already where the numbers are equal.
  const PlanLayout* contiguous(const std::vector<Number>& shape, int itemsize);
  bool overlap(Number offset_a, const PlanLayout& a, Number offset_b, const PlanLayout& b);
  // All steps, once the plan is made. `kept` are the numbers that the plan's parameters need.
  Formulas finish(const std::vector<int32_t>& kept);
  // The layouts that numbers were given for; what points to them stays valid.
  std::deque<PlanLayout> take_layouts() { return std::move(layouts_); }

  static Questions& current();

 private:
  friend Number operator+(Number, Number);
  friend Number operator-(Number, Number);
  friend Number operator*(Number, Number);
  friend Number operator/(Number, Number);
  friend Number operator%(Number, Number);
  friend Number abs(Number);
  friend Number smaller(Number, Number);
  friend bool operator==(Number, Number);
  friend bool operator<(Number, Number);

  struct Key {
    uint32_t code;
    int32_t a, b;
    bool operator==(const Key&) const = default;
  };
  // Numbers by keys, looked up some thousand times for one plan.
  class Table {
   public:
    // The key's value, and whether it is new; then it is the given one.
    std::pair<int32_t, bool> add(const Key& k, int32_t value);
    const int32_t* find(const Key& k) const;

   private:
    struct Entry {
      Key key;
      int32_t value;
      bool used = false;
    };
    size_t index_of(const Key& k) const;  // of its entry, or of the one that it may take
    std::vector<Entry> entries_ = std::vector<Entry>(512);
    size_t used_ = 0;
  };
  // What an answer has shown a number to be, or the number itself.
  Number known(Number n) const;
  int64_t at_least(Number n) const;
  int32_t id_of(Number n);  // of a constant, too
  Number leaf(Formulas::Code code, int a, int b, int64_t value, int64_t at_least);
  Number made(Formulas::Code code, Number a, Number b, int64_t value, int64_t at_least);
  void ask(Formulas::Code code, Number a, Number b, bool answer);
  int strided(const PlanLayout& l);
  int access(Number offset, const PlanLayout& l);

  const Positions& positions_;
  Questions* outer_;
  Formulas formulas_;
  std::deque<PlanLayout> layouts_;
  std::vector<const PlanLayout*> window_layouts_;
  Table values_;                // ids of numbers and accesses; of questions, the answer
  std::vector<int64_t> least_;  // per number: it is no smaller than this
  std::vector<Number> known_;   // per number
  std::unordered_map<const PlanLayout*, int> strided_;
};

}  // namespace numbus
