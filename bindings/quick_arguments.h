// Arguments of calls as most calls have them (numbers, arrays at rest in the host's memory, tuples
// of these), read without an allocation.
#pragma once

#include <array>
#include <string_view>

#include "convert.h"

namespace numbus::bindings {

// What tells the types of arguments apart, one code an argument or the head of a tuple, and the
// words that they are passed as. Arrays of ours count as shared while this lives.
class QuickArguments {
 public:
  static constexpr size_t kMostCodes = 16, kMostWords = 96;

  QuickArguments() = default;
  QuickArguments(const QuickArguments&) = delete;
  ~QuickArguments() {
    for (size_t k = 0; k < lent_; ++k) {
      --bases_[k]->shared;
      bases_[k]->changed();
    }
  }

  // False: one is of another kind, and the general conversion has to be asked. May raise what
  // stopped the work that an array of ours waits for.
  bool read(PyObject* const* args, size_t n) {
    for (size_t k = 0; k < n; ++k)
      if (!add(args[k])) return false;
    return true;
  }

  bool read(nb::handle tuple);

  // The codes as bytes.
  std::string_view code_bytes() const {
    return {reinterpret_cast<const char*>(codes_.data()), codes_used_ * sizeof(codes_[0])};
  }
  const int64_t* words() const { return words_.data(); }
  bool has_ours() const { return lent_ > 0; }

 private:
  enum Kind : uint32_t { kNumber = 1, kNone, kArray, kTuple };
  bool add(PyObject* o);
  bool add_numpy(PyObject* o);
  bool add_ours(PyObject* o);
  bool code(Kind kind, uint32_t what) {
    if (codes_used_ == kMostCodes) return false;
    codes_[codes_used_++] = static_cast<uint32_t>(kind) << 28 | what;
    return true;
  }
  bool number(DType t, bool weak, int64_t word) {
    if (words_used_ == kMostWords) return false;
    words_[words_used_++] = word;
    return code(kNumber, static_cast<uint32_t>(t) | static_cast<uint32_t>(weak) << 8);
  }
  // False where it has no elements, or too many axes.
  bool array(char* data, DType t, std::span<const int64_t> shape, const int64_t* strides,
             uint32_t properties);

  size_t codes_used_ = 0, words_used_ = 0, lent_ = 0;
  // Not set to zero: only what is in use is read.
  std::array<uint32_t, kMostCodes> codes_;
  std::array<int64_t, kMostWords> words_;
  std::array<Base*, kMostCodes> bases_;  // of arrays of ours
};

// The words of a number of NumPy's type.
inline size_t number_words(const Scalar& s, DType t, int64_t (&words)[2]) {
  words[0] = words[1] = 0;
  store_scalar(s, t, words);
  if (t == DType::C64) {
    words[1] = static_cast<int64_t>(static_cast<uint64_t>(words[0]) >> 32);
    words[0] &= 0xffffffff;
  }
  return is_complex(t) ? 2 : 1;
}

}  // namespace numbus::bindings
