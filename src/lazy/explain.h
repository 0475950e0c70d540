// What nb.explain() shows: every flush of a stretch of the program, why it happened, and its
// kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lazy/runtime.h"

namespace numbus {

class Explanation {
 public:
  explicit Explanation(bool with_ir) : with_ir_(with_ir) {}

  void flush(const char* reason, const Window& w, bool planned);
  // A step of the flush has run, or failed; `before` are the counters as they were then.
  void step(const Runtime& rt, const Window& w, const KernelStep& step, const Stats& before,
            bool failed);
  void left_for_numpy(const std::string& name) { ++fallbacks_[name]; }
  void copied(int64_t bytes, bool to_host) { (to_host ? to_host_ : from_host_) += bytes; }
  void moved(int64_t bytes, bool to_device) {
    ++moves_[to_device];
    moved_bytes_[to_device] += bytes;
  }
  std::string text() const;

 private:
  // Equal flushes in a row are one block.
  struct Block {
    std::string reason, body;
    int64_t instructions = 0, kernels = 0, bytes = 0, planned = 0, times = 1;
  };
  void close();  // the flush going on is complete
  static constexpr size_t kMaxBlocks = 200;

  bool with_ir_;
  std::vector<Block> blocks_;
  bool open_ = false;
  int64_t flushes_ = 0, kernels_ = 0, bytes_ = 0, omitted_ = 0, to_host_ = 0, from_host_ = 0;
  int64_t moves_[2] = {}, moved_bytes_[2] = {};  // of arrays whose devices are chosen by cost
  std::map<std::string, int64_t> fallbacks_;
};

}  // namespace numbus
