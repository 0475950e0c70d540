// The program of tensors, which stays while any of them reaches what was recorded: `backward()`
// differentiates by it, PyTorch's way.
#pragma once

#include <memory>
#include <unordered_set>

#include "program/adjoints.h"
#include "program/program.h"
#include "program/views.h"

namespace numbus::program {

// What tells a tape from others as far as a pass by all of it depends on it: two tapes with equal
// words make the same instructions, of their own saved values.
struct TapeKey {
  std::vector<uint64_t> words;
  std::vector<Array> saved;      // the values that derivatives may read
  std::vector<uint64_t> bases;   // by their numbers in the words
  std::vector<int64_t> entries;  // by their numbers in the words
  // Whose addresses are among the words, for whoever keeps these.
  std::vector<LayoutRef> layouts;
};

// Entries are counted as the nodes of a graph are: by the memory (bases) that tensors hold and that
// other entries read. There is one tape for the process; Python's lock guards it.
class Tape : public Program {
 public:
  static Tape& get();

  // A tensor holds the base, or no longer.
  void hold(uint64_t base) { refer(base); }
  void release(uint64_t base);
  // A leaf is one no longer.
  void unwatch(const Array& a);
  // Whether values are kept that a write might change.
  bool keeps() const { return saved_ > 0; }
  // The number of the next entry; entries from a number on that nothing reaches go. It is called
  // when tensors hold what an operation made.
  int64_t now() const { return first_ + static_cast<int64_t>(entries_.size()); }
  void settle(int64_t since);
  // Drops entries that refer to each other in a circle, as those do whose operand was changed in
  // place later, by a walk from what tensors hold. Unless `always`, when the tape has grown. To be
  // called where tensors hold all that they will: it does nothing while an operation is recorded.
  void drop_circles(bool always = false);
  // Between the two, results are recorded that no tensor holds yet.
  void begin_recording() { ++recorded_; }
  void end_recording() { --recorded_; }
  // Likewise adjoints, of which hooks may have held some for a moment: what nothing reaches stays.
  void begin_pulling() {
    begin_recording();
    ++pulled_;
  }
  void end_pulling();
  // The number of the entry that made what the array holds now; -1: none.
  int64_t writer(const Array& a) const;
  // Whether entries after the one of that number read anything of an array's memory.
  bool reads(int64_t writer, const Array& a) const;
  // The memory (numbers of bases) that derivatives by the array would reach, its own included.
  std::vector<uint64_t> reached_from(const Array& a) const;
  // Has `told` called with the adjoint of the result of an entry, as far as the array shows it.
  void tell(int64_t writer, const Array& a, Entry::Told told);

  // What a tensor's array is to be seen through (views.h), which a function has made: the number of
  // its base, or a new one where it is a view.
  uint64_t number_view(const Array& a);
  // Null: none is known.
  const KnownView* view(uint64_t base, uint64_t number) const;
  // Raises where an entry after the view has written to its memory.
  void require_unwritten(uint64_t base, const KnownView& v) const;
  // Has `told` called with the derivative by a view in each pass, as long as its tensor is alive or
  // something was read through it.
  void tell_view(const Array& a, Entry::Told told, std::function<bool()> alive);

  // The adjoints of all that the sum of the products of `outputs` and `seeds` depends on. Unless
  // `keep`, the entries that were passed go; to pass where entries have gone raises. Each of
  // `milestones` is told once the adjoints of its bases are complete, while others are not; of
  // bases that no entry reads it is told at the end.
  struct Milestone {
    std::vector<uint64_t> bases;
    std::function<void(const std::shared_ptr<Adjoints>&)> told;
  };
  // The numbers of the entries that were passed are added to `which`; `apart`: views whose
  // derivatives are asked for; `targets`: tensors that alone count, none: all do.
  std::shared_ptr<Adjoints> backward(std::span<const Array> outputs, std::span<const Array> seeds,
                                     bool keep, std::span<const Milestone> milestones = {},
                                     std::vector<int64_t>* which = nullptr,
                                     std::vector<ToldView> apart = {},
                                     std::span<const Array> targets = {});
  // False where a pass may depend on more than the key can hold; `own`: with what it points to.
  bool read(TapeKey& key, const Array& output, bool own) const;
  // These entries go, as by a pass.
  void pass(std::span<const int64_t> numbers);
  // Whether an entry that made elements of the base was passed, and has gone.
  bool is_spent(uint64_t base) const {
    const KnownBase* const known = bases_.find(base);
    return known && known->spent;
  }

 private:
  void added(const Entry& e, int64_t number) override;
  void keep(Use u, const Array& kept) override;
  bool records_copies() const override { return true; }

  void refer(uint64_t base) { ++bases_.of(base).references; }
  void unrefer(uint64_t base);
  bool referred(uint64_t base) const {
    const KnownBase* const known = bases_.find(base);
    return known && known->references > 0;
  }
  bool reached(const Entry& e) const;
  // From memory to the entries that made its elements, and to the memory that these read, with
  // `saved` also to that which they keep for derivatives.
  struct Walk {
    std::unordered_set<uint64_t> bases;
    std::vector<uint64_t> next;
    std::unordered_set<int64_t> entries;

    void reach(uint64_t base) {
      if (bases.insert(base).second) next.push_back(base);
    }
  };
  void follow(Walk& walk, bool saved) const;
  Entry& numbered(int64_t number) { return entries_[static_cast<size_t>(number - first_)]; }
  void drop(int64_t number);
  void spend(std::span<const int64_t> numbers);
  void drop_unreached();
  std::vector<std::pair<size_t, const Milestone*>> first_reads(
      std::span<const Milestone> milestones) const;
  void trim();
  void renumber();

  void forget_told_views();
  std::vector<ToldView> told_views_;
  int64_t made_views_ = 0;
  int64_t last_view_ = 0;            // the largest number of an entry that a view was made before
  std::vector<uint64_t> unreached_;  // bases to look at
  size_t gone_ = 0;                  // of the entries
  int recorded_ = 0;                 // operations that are being recorded
  int pulled_ = 0;                   // of these derivatives that are being found
  size_t walk_at_ = 256;             // so many entries that are there are worth a walk
  bool held_ = false;  // entries stay for now: derivatives are being found, or entries dropped
};

}  // namespace numbus::program
