// What a function recorded for one example, recorded for all examples of a batch at once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "array/capture.h"

namespace numbus {

// The instructions of a recipe get a leading axis where they depend on an example: the memory of
// each such base is that of one example, as many times as there are examples.
class Batch {
 public:
  Batch(std::shared_ptr<const Recipe> recipe, int64_t examples);
  // Null, or why the examples cannot be worked on at once.
  const char* why() const { return why_; }
  // `given`: what stands for the operands of the recipe, dense, of which the first axis counts the
  // examples. Gives the results; those
  // that `is_batched` have a leading axis.
  std::vector<Array> record(std::span<const Array> given);
  bool is_batched(size_t result) const;

 private:
  using Step = Capture::Step;
  using View = Capture::View;
  struct Made;  // an instruction that is being put together

  void spread();
  const char* refuses(const Step& s) const;
  const char* refuses_routine(const Step& s) const;
  bool batched(const View& v) const { return batched_[v.base]; }
  bool any_index_batched(const Step& s) const;

  const Handle& base_of(const View& v);
  int64_t lead(const View& v) const { return batched(v) ? bases()[v.base].nbytes : 0; }
  const std::vector<Capture::Known>& bases() const;
  Array plain(const View& v);
  Array leading(const View& v);
  Array leading(const View& v, std::span<const int> order);
  void record_step(const Step& s);
  void record_indexing(const Step& s);
  void record_dense(const Step& s);
  void record_stacks(const Step& s);
  void record_positions(const Step& s);
  bool is_grouped(const Step& s) const;
  Array as_channels(const View& v);
  Array as_images(const View& v);
  void record_convolution(const Step& s);
  void record_linalg(const Step& s);
  void put(Made& m, const Array& out, bool seen);

  std::shared_ptr<const Recipe> recipe_;
  int64_t n_;
  const char* why_ = nullptr;
  std::vector<bool> batched_;
  std::vector<Handle> made_;
};

}  // namespace numbus
