// A recipe whose windows are kept, and carried out again without being recorded.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "array/capture.h"

namespace numbus {

class Repeat {
 public:
  explicit Repeat(std::shared_ptr<const Recipe> recipe) : recipe_(std::move(recipe)) {}
  ~Repeat();
  Repeat(const Repeat&) = delete;

  // Carries out the recipe for these operands at once. Nothing (and nothing is done): they, or what
  // is kept, are not as windows that are kept need them, such as pending or known to others.
  std::optional<std::vector<Array>> answer(std::span<const Array> given,
                                           std::span<const double> numbers);

 private:
  struct Part {
    std::unique_ptr<Window> window;
    std::vector<size_t> bases;                    // of the recipe, by slot
    std::vector<std::pair<size_t, int>> numbers;  // of its scalars, which number
  };
  bool is_ready(std::span<const Array> given) const;
  std::vector<Array> begin(std::span<const Array> given, std::span<const double> numbers);
  std::vector<Array> again(std::span<const Array> given, std::span<const double> numbers);

  const std::shared_ptr<const Recipe> recipe_;
  std::vector<Part> parts_;
  std::vector<Base*> own_;  // by base of the recipe: those of no result, which serve each time
  std::vector<char> results_;
  std::vector<char> pinned_;  // whether the user named the device of a result
  std::vector<Base*> slots_;
  int failures_ = 0;
  bool busy_ = false;
};

}  // namespace numbus
