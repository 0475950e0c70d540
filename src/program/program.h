// A program: the instructions that a thread recorded while it was watched, as far as they depend on
// watched arrays, with the values that their derivatives need.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "array/array.h"
#include "array/observer.h"
#include "program/bases.h"

namespace numbus::program {

// Part of a base's memory, also after the base's end.
struct Region {
  uint64_t base = 0;  // Base::id
  int64_t nbytes = 0;
  Device* device = nullptr;
  LayoutRef layout;
  int64_t offset = 0;
  DType dtype = DType::F64;
  uint64_t through = 0;  // Array::through

  Region() = default;
  explicit Region(const ViewRef& v)
      : base(v.base->id),
        nbytes(v.base->nbytes),
        device(v.base->device),
        layout(v.layout),
        offset(v.offset),
        dtype(v.dtype),
        through(v.through) {}
  bool same(const Region& o) const {
    return base == o.base && layout.get() == o.layout.get() && offset == o.offset &&
           dtype == o.dtype;
  }
  // The same part of another base.
  Region at(uint64_t other) const {
    Region r = *this;
    r.base = other;
    return r;
  }
  // Whether it is all of its base, each element once.
  bool whole() const {
    return layout->injective() && layout->size() * layout->itemsize() == nbytes;
  }
};

struct Operand {
  bool number = false;
  bool active = false;  // floating point, and it depends on what is watched
  Scalar scalar;        // of a number
  Region region;
  std::optional<Array> saved;  // its elements as they were, where a derivative needs them
};

// The derivative of work that is no recorded instruction: from the adjoints of its results (where
// there are none, nothing) those of its operands; an empty one for nothing.
using Pullback =
    std::function<std::vector<std::optional<Array>>(std::span<const std::optional<Array>>)>;

// Work whose derivative is made of its operands.
struct DerivedWork : HiddenWork {
  virtual std::string name() const = 0;
  virtual Pullback pullback(std::span<const Array> operands) const = 0;
  // What tells it from other work, first a number of the class's own, where its derivative depends
  // on this and the operands alone; nothing: it may depend on more.
  virtual std::vector<uint64_t> key() const { return {}; }
};

struct Entry {
  Entry() = default;
  explicit Entry(const Instr& i) : instr(i) {}

  // Its operands and results are those below; what it points to is gone.
  Instr instr;
  std::shared_ptr<const Recordable> function;
  std::string name;               // of work that is no instruction
  Pullback pullback;              // likewise
  std::vector<uint64_t> key;      // likewise: what tells it from others, or nothing
  std::vector<Array> held;        // by the pullback, if there is a key
  std::vector<Operand> operands;  // the predicate is the last one
  std::vector<Operand> results;   // none: the entry is gone, since nothing reaches it
  // Who is told of the adjoint of a part of the result, and may replace it.
  using Told = std::function<std::optional<Array>(const Array&)>;
  std::vector<std::pair<Region, Told>> told;
  bool gone() const { return results.empty(); }
  std::string title() const {
    if (pullback) return name;
    return std::string(instr.code == Instr::Reduce ? reduction_name(instr.reduction)
                                                   : instr.name());
  }
  const Operand* predicate() const {
    return !pullback && instr.predicated ? &operands[instr.nin] : nullptr;
  }
};

// What a program notes between `before` and `after` of one instruction, on one thread.
struct Recording {
  bool busy = false;                         // what the program records itself, it does not look at
  std::vector<std::optional<Array>> before;  // copies of what the instruction overwrites
};

// One watched run of a function. Bases are known by their numbers, so that what nobody holds is
// contracted as without a program; values that derivatives need are held, and copied before they
// are overwritten.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  virtual ~Program() = default;

  // Has the instructions recorded that depend on `a`, which is floating point.
  void watch(const Array& a);
  bool depends(const Array& a) const { return depends(a.base->id); }
  bool depends(uint64_t base) const {
    const KnownBase* const known = bases_.find(base);
    return known && known->active;
  }
  // Whether its elements were there before anything was recorded that made them.
  bool watched(uint64_t base) const {
    const KnownBase* const known = bases_.find(base);
    return known && known->watched;
  }

  void before(Recording& r, const Instr& i, const Array& out, std::span<const Window::Input> in);
  void after(Recording& r, const Instr& i, const Array& out, std::span<const Window::Input> in);
  // A write to these bytes is about to happen.
  void before_write(Recording& r, const Array& a);
  void moved(const Array& from, const Array& to);
  void selected(const Array& full, const Array& mask, const Array& dense);
  // Work of others that made `results`, fresh arrays, of `operands`.
  void add(std::string name, std::span<const Array> operands, std::span<const Array> results,
           Pullback pullback, std::vector<uint64_t> key = {});

  // They stay where they are in memory while others are added.
  const std::deque<Entry>& entries() const { return entries_; }

 protected:
  // An entry is complete. A tape counts what it refers to.
  virtual void added(const Entry& /*e*/, int64_t /*number*/) {}
  // A saved value becomes a copy, `kept`.
  virtual void keep(Use u, const Array& kept) { at(u).saved = kept; }
  // Whether copies of saved values are entries, too: derivatives of derivatives by the program
  // itself need that.
  virtual bool records_copies() const { return false; }
  Operand& at(Use u);
  void save(Use u, const ViewRef& v);
  void note_saved(uint64_t base, Use u) {
    KnownBase& known = bases_.of(base);
    saved_ += known.saved.empty();
    known.saved.push_back(u);
  }
  void require_numbers(const ViewRef& v, const Instr& i) const;
  void keep_saved(const ViewRef& written);

  std::deque<Entry> entries_;
  int64_t first_ = 0;  // the number of the first of them
  Bases bases_;
  size_t saved_ = 0;  // of the bases: those whose memory saved values share
};

// One line for each entry.
std::string print(const Program& p);
// Raises where an entry is not as those who read it take for granted.
void verify(const Program& p);

// The programs that watch this thread, the outermost first. `end` is for the last `begin`.
void begin(Program& p);
void end(Program& p);
bool watching();
// Whether any program of the thread sees more than writes.
bool seeing();
// Whether what this thread records now is seen by the program.
bool sees(const Program& p);
// Whether any of them depends on the array.
bool depends(const Array& a);
// While it lives, elements that depend on what is watched may be read as constants.
class Constants {
 public:
  Constants();
  ~Constants();
  Constants(const Constants&) = delete;

 private:
  bool before_;
};
// While it lives, the programs of this thread see nothing but writes to what they keep, and what
// depends on what they watch may not be used.
class Closed {
 public:
  explicit Closed(std::string name);
  ~Closed();
  Closed(const Closed&) = delete;

 private:
  size_t before_, hidden_before_;
  std::string name_before_;
};
// While it lives, the programs of this thread see nothing but writes to what they keep: what is
// done meanwhile is constant.
class Constant {
 public:
  Constant();
  ~Constant();
  Constant(const Constant&) = delete;

 private:
  size_t before_;
  int& hidden_;  // of the capture
};
// What this thread looks at for numbers that are none: nothing, each derivative when it is found,
// or what each operation makes as well.
enum class Anomalies : uint8_t { None, Derivatives, All };
Anomalies detect_anomalies(Anomalies which);  // gives what it was before
Anomalies detected_anomalies();
bool has_nan(const Array& a);
// Adds work of others to all programs of this thread that depend on one of the operands.
void add_work(const std::string& name, std::span<const Array> operands,
              std::span<const Array> results, const Pullback& pullback);

// The derivatives of the sum of the products of `outputs` and `seeds` (of the outputs' shapes and
// types) by arrays, as they were when they were watched or made; nothing: it does not depend on
// them. Of complex numbers z = x + iy: d/dx + i d/dy. The program may be asked again.
std::vector<std::optional<Array>> gradient(Program& p, std::span<const Array> outputs,
                                           std::span<const Array> seeds,
                                           std::span<const Array> inputs);

}  // namespace numbus::program
