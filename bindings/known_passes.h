// Backward passes that are recorded again for tapes like one that was passed before.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "array/capture.h"
#include "tensors.h"

namespace numbus::bindings {

// The tensors in a base's memory whose derivative is asked for, the first ones first. They are
// held, as the collector, which may run wherever an object is made, may find them to be garbage.
std::vector<nb::object> leaves_in(uint64_t base);

using LeafGradients = std::vector<std::pair<nb::object, Array>>;

// A pass by all of the tape from one output, which nobody looks at on the way. The rules of
// derivatives depend on the tape's entries alone, so that a tape with an equal key gives the same
// instructions: the second such pass is captured, later ones are recorded from that.
class KnownPasses {
 public:
  static int64_t answers;  // how many passes asked no rule

  // The derivatives of a number by each leaf that it depends on; the entries go.
  static LeafGradients derivatives(const Array& of);

 private:
  struct Ended {  // a base that has an adjoint in the end
    size_t base;
    std::vector<program::Region> leaves;
    std::vector<bool> has;  // which of them have a derivative
  };
  struct Pass {
    std::vector<uint64_t> words;     // of the tape's key
    std::vector<LayoutRef> layouts;  // whose addresses are among them
    std::shared_ptr<const Recipe> recipe;
    std::vector<size_t> passed;  // of the key's entries
    std::vector<Ended> ended;
    bool hopeless = false;
  };
  using Passed = std::shared_ptr<Pass>;

  static LeafGradients found_by_rules(const Array& of, const program::TapeKey* key, Pass* noted);
  static std::optional<LeafGradients> made_by(const Pass& pass, const program::TapeKey& key);
  static Passed known(const program::TapeKey& key);

  static std::deque<Passed>& all();
};

}  // namespace numbus::bindings
