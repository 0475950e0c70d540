// From a group of instructions to one kernel: dimensions ordered and collapsed, values kept in
// registers.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "lazy/planner.h"
#include "lazy/reduce.h"
#include "passes/expand.h"
#include "passes/lower.h"

namespace numbus {
namespace {

using ir::kNone;
using ir::Val;
using Vec = std::vector<int64_t>;

constexpr int64_t kStreamingBytes = 64 << 20;

struct KernelArg {
  int storage;
  DType dtype;
  int64_t offset;  // bytes from the base's start to the domain's origin
  Vec strides;     // per domain dimension
  bool written = false, stored = false;
};

// The value an argument has at this point of the body, and where in the domain it has it (kNone:
// everywhere).
struct Cell {
  Val value = kNone;
  Val where = kNone;
};

// Turns of a loop that do not fold after all: the window is planned again without.
struct NotFolded {};

class KernelBuilder {
  // How the arguments of one turn correspond to those of the next.
  struct TurnMap {
    explicit TurnMap(KernelBuilder& k) : k(k) {}
    bool find();

    KernelBuilder& k;
    size_t begin = 0, width = 0;  // the first turn's members
    int64_t count = 0;
    std::vector<std::pair<int, int>> carried;  // argument read by a turn before it writes it, and
                                               // the one (in terms of the second turn) whose value
                                               // at the end of the turn before that is
    std::vector<std::pair<int, int>> written;  // by the second turn, and its name in the last turn
    std::vector<int> only_read;
    std::vector<std::pair<size_t, int>> kept;  // carried value at the last turn's beginning, and
                                               // the argument that this is
  };

 public:
  KernelBuilder(Planner& p, Group& g) : p_(p), g_(g), b_(step_ir_) {}

  KernelStep build() {
    collect();
    choose_dimensions();
    fill_args();
    size_t folded = p_.repeats.count ? emit_repeats() : 0;
    for (size_t m = folded; m < g_.members.size(); ++m) emit(g_.members[m]);
    store_results();
    lower(step_ir_);
    find_stored();
    if (step_ir_.acc_fields.empty()) step_ir_.acc = ir::Acc::None;
    return finish();
  }

 private:
  int arg_of(const Access& a, const Member& m) {
    KernelArg k{a.storage, a.dtype, a.offset, Vec(g_.shape.size(), 0)};
    for (int d = 0; d < a.layout->ndim(); ++d) {
      k.strides[d] = g_.shape[d] > 1 ? a.layout->stride(d) : 0;
      k.offset -= m.at[d] * a.layout->stride(d);
    }
    for (size_t i = 0; i < args_.size(); ++i) {
      const KernelArg& o = args_[i];
      if (o.storage == k.storage && o.dtype == k.dtype && o.offset == k.offset &&
          o.strides == k.strides)
        return static_cast<int>(i);
    }
    args_.push_back(k);
    return static_cast<int>(args_.size() - 1);
  }

  bool whole(const Member& m) const { return p_.instrs[m.instr].shape == g_.shape; }

  void collect() {
    for (const Member& m : g_.members) {
      PlanInstr& p = p_.instrs[m.instr];
      for (int n = 0; n < p.inputs(); ++n)
        if (p.in[n].storage >= 0) arg_of(p.in[n], m);
      if (p.instr.code == Instr::Map) args_[arg_of(p.out, m)].written = true;
      if (!whole(m)) {
        Vec box;
        for (size_t d = 0; d < g_.shape.size(); ++d) {
          box.push_back(m.at[d]);
          box.push_back(m.at[d] + p.shape[d]);
        }
        if (std::find(boxes_.begin(), boxes_.end(), box) == boxes_.end()) boxes_.push_back(box);
      }
      if (p.instr.code == Instr::Reduce) {
        // Strides of the result along the input's dimensions; zero along reduced ones.
        ReduceStep r;
        r.kind = p.instr.reduction;
        r.in = p.instr.loop;
        r.out = p.out.dtype;
        r.ddof = p.instr.param;
        r.storage = p.out.storage;
        r.offset = p.out.offset;
        Vec strides;
        int kept = 0;
        bool keepdims = p.out.layout->ndim() == static_cast<int>(g_.shape.size());
        for (size_t d = 0; d < g_.shape.size(); ++d) {
          bool reduced = p.instr.axes >> d & 1;
          int od = keepdims ? static_cast<int>(d) : kept;
          strides.push_back(reduced ? 0 : p.out.layout->stride(od));
          kept += !reduced;
        }
        r.strides = strides;
        reduces_.push_back(r);
      }
      if (p.instr.op == Op::index && p.instr.code == Instr::Map) uses_index_ = true;
      if (p.instr.code == Instr::Reduce && needs_position(p.instr.reduction)) uses_index_ = true;
    }
    // Positions in NumPy's order, as an affine function of the point.
    weights_.assign(g_.shape.size(), 0);
    int64_t w = 1;
    for (size_t d = g_.shape.size(); d-- > 0;) {
      bool counts = !g_.reduces || g_.axes >> d & 1;
      weights_[d] = counts ? w : 0;
      if (counts) w *= g_.shape[d];
    }
  }

  const Layout* order_layout() const {
    for (const Member& m : g_.members)
      if (p_.instrs[m.instr].instr.code == Instr::Reduce) return p_.instrs[m.instr].in[0].layout;
    return nullptr;
  }

  bool reduced(int d) const { return g_.reduces && (g_.axes >> d & 1); }

  // Dimensions from outermost to innermost in memory order, extents of one dropped, neighbours
  // merged where every argument walks them as one.
  void choose_dimensions() {
    std::vector<int> order;
    for (size_t d = 0; d < g_.shape.size(); ++d)
      if (g_.shape[d] != 1) order.push_back(static_cast<int>(d));
    auto reach = [&](int d) {
      __int128 sum = 0;
      // The order of a reduction must not depend on what it was fused with: its own input decides.
      if (g_.reduces) return static_cast<__int128>(std::abs(order_layout()->stride(d)));
      for (const KernelArg& a : args_) sum += std::abs(a.strides[d]);
      return sum;
    };
    if (!g_.solo)
      std::stable_sort(order.begin(), order.end(),
                       [&](int x, int y) { return reach(x) > reach(y); });
    if (g_.reduces && !order.empty()) {
      int inner = order.back();
      std::stable_partition(order.begin(), order.end() - (reduced(inner) ? 0 : 1),
                            [&](int d) { return !reduced(d); });
      if (reduced(inner)) {
        bool keeps = false;
        for (int d : order) keeps = keeps || !reduced(d);
        step_.keeps = keeps;
        step_ir_.acc = ir::Acc::Lanes;
      } else {
        step_.keeps = true;
        step_ir_.acc = ir::Acc::Columns;
      }
    } else if (g_.reduces) {
      step_ir_.acc = ir::Acc::Lanes;
    }
    for (int d : order) {
      bool merges = false;
      if (!dims_.empty()) {
        int last = dims_.back().back();
        merges = reduced(last) == reduced(d);
        auto walks_as_one = [&](const Vec& s) { return s[last] == s[d] * g_.shape[d]; };
        for (const KernelArg& a : args_) merges = merges && walks_as_one(a.strides);
        for (const ReduceStep& r : reduces_) merges = merges && walks_as_one(r.strides);
        if (uses_index_) merges = merges && walks_as_one(weights_);
        for (const Vec& box : boxes_) {
          merges = merges && box[2 * d] == 0 && box[2 * d + 1] == g_.shape[d];
          merges = merges && box[2 * last] == 0 && box[2 * last + 1] == g_.shape[last];
        }
      }
      if (merges)
        dims_.back().push_back(d);
      else
        dims_.push_back({d});
    }
    if (dims_.empty()) dims_.push_back({});
    step_ir_.rank = static_cast<int>(dims_.size());
    step_ir_.boxes = static_cast<int>(boxes_.size());
    for (const auto& group : dims_) {
      int64_t e = 1;
      for (int d : group) e *= g_.shape[d];
      extents_.push_back(e);
    }
  }

  // A per-domain-dimension vector over the kernel's dimensions: the innermost of a merged run
  // stands for it.
  int64_t over(const Vec& v, int dim) const {
    return dims_[dim].empty() ? 0 : v[dims_[dim].back()];
  }

  void fill_args() {
    int inner = step_ir_.rank - 1;
    for (KernelArg& a : args_) {
      int64_t stride = over(a.strides, inner);
      ir::Inner kind = extents_[inner] == 1 || stride == itemsize(a.dtype) ? ir::Inner::Contiguous
                       : stride == 0                                       ? ir::Inner::Uniform
                                                                           : ir::Inner::Strided;
      // Pool memory begins at a multiple of 64 bytes; foreign memory anywhere.
      const Storage& st = p_.storages[a.storage];
      const Base* base = st.slot >= 0 ? p_.window.slots_[st.slot].base : nullptr;
      bool aligned = kind == ir::Inner::Contiguous && (!base || base->owned || !st.initial) &&
                     a.offset % 64 == 0;
      // Steps of a reduction begin where the lane number does, which must then be a row's beginning
      // too.
      if (step_ir_.acc == ir::Acc::Lanes && step_ir_.rank > 1 && extents_[inner] % ir::kLanes)
        aligned = false;
      int64_t bytes = itemsize(a.dtype);
      for (int d = 0; d < step_ir_.rank; ++d) {
        if (d < inner) aligned = aligned && over(a.strides, d) % 64 == 0;
        if (over(a.strides, d)) bytes *= extents_[d];
      }
      step_ir_.args.push_back({a.dtype, kind, a.written, aligned});
      // A large result would only push out of the caches what the next kernel reads.
      if (a.written && aligned && bytes >= kStreamingBytes && p_.storages[a.storage].needed)
        step_ir_.streaming = true;
    }
    cells_.resize(args_.size());
  }

  Val scalar(int imm, DType t) {
    step_ir_.scalars.push_back(t);
    scalar_imms_.push_back({imm, 0});
    return b_.emit(Op::scalar, t, kNone, kNone, kNone,
                   static_cast<int64_t>(step_ir_.scalars.size() - 1));
  }
  Val fixed_scalar(int64_t value) {
    step_ir_.scalars.push_back(DType::I64);
    scalar_imms_.push_back({-1, value});
    return b_.emit(Op::scalar, DType::I64, kNone, kNone, kNone,
                   static_cast<int64_t>(step_ir_.scalars.size() - 1));
  }

  // The point's place in NumPy's order within the domain (or within the reduced part of it).
  Val position() {
    if (position_ != kNone) return position_;
    for (int d = 0; d < step_ir_.rank; ++d) {
      int64_t w = over(weights_, d);
      if (w == 0) continue;
      Val i = b_.emit(Op::index, DType::I64, kNone, kNone, kNone, d);
      if (w != 1) i = b_.emit(Op::multiply, DType::I64, i, fixed_scalar(w));
      position_ = position_ == kNone ? i : b_.emit(Op::add, DType::I64, position_, i);
    }
    if (position_ == kNone) position_ = b_.constant(DType::I64, Scalar::from_int(0));
    return position_;
  }

  Val box_of(const Member& m) {
    if (whole(m)) return kNone;
    Vec box;
    for (size_t d = 0; d < g_.shape.size(); ++d) {
      box.push_back(m.at[d]);
      box.push_back(m.at[d] + p_.instrs[m.instr].shape[d]);
    }
    auto at = std::find(boxes_.begin(), boxes_.end(), box) - boxes_.begin();
    return b_.emit(Op::in_box, DType::Bool, kNone, kNone, kNone, at);
  }

  Val both(Val x, Val y) {
    if (x == kNone) return y;
    if (y == kNone || x == y) return x;
    return b_.emit(Op::logical_and, DType::Bool, x, y);
  }

  Val load(int arg, Val where) {
    if (whole_loads_) where = kNone;
    return b_.emit(Op::load, step_ir_.args[arg].dtype, where, kNone, kNone, arg);
  }

  Val read(const Access& a, const Member& m, Val where) {
    if (a.storage < 0) return kNone;
    int arg = arg_of(a, m);
    Cell& c = cells_[arg];
    if (c.value == kNone) {
      // Loads are shared by all that read under the same predicate, or under none.
      for (auto [w, v] : loads_[arg])
        if (w == kNone || w == where) return v;
      Val v = load(arg, where);
      loads_[arg].emplace_back(where, v);
      return v;
    }
    if (c.where == kNone || c.where == where || !p_.storages[a.storage].needed) return c.value;
    return choose(b_, c.where, c.value, load(arg, where));
  }

  void emit(const Member& m) {
    const PlanInstr& p = p_.instrs[m.instr];
    const Instr& i = p.instr;
    Val where = box_of(m);
    Val in[kMaxOperands] = {kNone, kNone, kNone, kNone};
    auto operand = [&](int n, DType t) {
      return convert(
          b_, p.in[n].storage < 0 ? scalar(p.in[n].imm, p.in[n].dtype) : read(p.in[n], m, where),
          t);
    };
    if (i.predicated) {
      where = both(where, operand(i.nin, DType::Bool));
    }
    if (i.code == Instr::Reduce) {
      Val v = operand(0, i.loop);
      auto fields = reduction_fields(i.reduction, i.loop);
      int first = static_cast<int>(step_ir_.acc_fields.size());
      step_ir_.acc_fields.insert(step_ir_.acc_fields.end(), fields.begin(), fields.end());
      emit_reduction_step(b_, i.reduction, first, v, where,
                          needs_position(i.reduction) ? position() : kNone);
      reduces_[next_reduce_].first_field = first;
      reduces_[next_reduce_++].fields = static_cast<int>(fields.size());
      return;
    }
    Val v;
    if (i.op == Op::index) {
      v = position();
      if (!whole(m)) raise(ErrorKind::Runtime, "planner: arange inside a larger domain");
      DType t = i.loop;
      v = expand(b_, Op::add, operand(0, t),
                 expand(b_, Op::multiply, convert(b_, v, t), operand(1, t)));
    } else if (i.op == Op::cast) {
      v = operand(0, p.out.dtype);
    } else if (i.op == Op::select) {
      Val c = operand(0, DType::Bool), x = operand(1, i.loop);
      v = choose(b_, c, x, operand(2, i.loop));
    } else {
      for (int n = 0; n < i.nin; ++n) in[n] = operand(n, i.loop);
      v = expand(b_, i.op, in[0], in[1]);
    }
    v = convert(b_, v, p.out.dtype);
    write(arg_of(p.out, m), v, where);
  }

  // The value of an argument for all points: what a predicate left out comes from memory.
  Val total(int arg) {
    const Cell& c = cells_[arg];
    if (c.value == kNone) return load(arg, kNone);
    if (c.where == kNone || !p_.storages[args_[arg].storage].needed) return c.value;
    return choose(b_, c.where, c.value, load(arg, kNone));
  }

  // Members that are many turns of one loop body: the first is emitted as it is, the second as the
  // body of a loop, whose state stays in registers. Gives the number of members this covers.
  size_t emit_repeats() {
    TurnMap turns(*this);
    if (!turns.find()) throw NotFolded{};
    size_t begin = turns.begin, width = turns.width;
    if (width == 0) return 0;
    whole_loads_ = true;  // what a predicate leaves out now another turn may need
    for (size_t m = 0; m < begin + width; ++m) emit(g_.members[m]);
    std::vector<Val> initial;
    for (auto [into, from] : turns.carried) initial.push_back(total(into));
    for (int arg : turns.only_read)
      if (cells_[arg].value == kNone && loads_[arg].empty())
        loads_[arg].emplace_back(kNone, load(arg, kNone));
    Val loop = b_.begin_repeat(fixed_scalar(turns.count - 1));
    std::vector<Val> carries, kept;
    std::map<int, Cell> last;  // what the arguments are behind the loop
    for (size_t c = 0; c < initial.size(); ++c) {
      carries.push_back(b_.carry(initial[c]));
      last[turns.carried[c].first] = cells_[turns.carried[c].first];
    }
    for (auto [c, arg] : turns.kept) {
      kept.push_back(b_.carry(initial[c]));
      last[arg] = {kept.back(), kNone};
    }
    for (size_t c = 0; c < carries.size(); ++c)
      cells_[turns.carried[c].first] = {carries[c], kNone};
    for (size_t m = begin + width; m < begin + 2 * width; ++m) emit(g_.members[m]);
    std::vector<std::pair<Val, Val>> next;
    for (size_t c = 0; c < carries.size(); ++c)
      next.emplace_back(carries[c], total(turns.carried[c].second));
    for (size_t n = 0; n < kept.size(); ++n)
      next.emplace_back(kept[n], carries[turns.kept[n].first]);
    b_.end_repeat(loop, next);
    for (auto [arg, in_last] : turns.written) {
      Cell c = cells_[arg];
      // A carried value is by now the next turn's.
      for (size_t k = 0; k < carries.size(); ++k)
        if (turns.carried[k].second == arg)
          c = {carries[k], kNone};
        else if (c.value == carries[k] && p_.storages[args_[in_last].storage].needed)
          throw NotFolded{};
      last[in_last] = c;
      cells_[arg] = {};
    }
    for (auto& [arg, cell] : last) cells_[arg] = cell;
    step_.turns = turns.count;
    return begin + width * turns.count;
  }

  void write(int arg, Val v, Val where) {
    Cell& c = cells_[arg];
    if (where == kNone) {
      c = {v, kNone};
    } else if (c.value == kNone) {
      c = {v, where};
    } else {
      Val w = c.where == kNone   ? kNone
              : c.where == where ? where
                                 : b_.emit(Op::logical_or, DType::Bool, c.where, where);
      // Where only the new predicate holds the old value is nobody's: the select's other side is
      // not used.
      c = {choose(b_, where, v, c.value), w};
    }
  }

  void store_results() {
    for (size_t a = 0; a < args_.size(); ++a) {
      if (cells_[a].value == kNone || !p_.storages[args_[a].storage].needed) continue;
      b_.emit(Op::store, args_[a].dtype, cells_[a].value, cells_[a].where, kNone,
              static_cast<int64_t>(a));
    }
  }

  void find_stored() {
    for (const ir::Inst& i : step_ir_.body)
      if (i.op == Op::load || i.op == Op::store) args_[i.imm].stored = true;
  }

  // Drops arguments that never touch memory, and writes the run-time parameters.
  KernelStep finish() {
    std::vector<int> renumber(args_.size(), -1);
    std::vector<ir::Arg> kept;
    std::vector<KernelArg> kept_args;
    for (size_t a = 0; a < args_.size(); ++a) {
      if (!args_[a].stored) continue;
      renumber[a] = static_cast<int>(kept.size());
      kept.push_back(step_ir_.args[a]);
      kept_args.push_back(args_[a]);
    }
    for (ir::Inst& i : step_ir_.body)
      if (i.op == Op::load || i.op == Op::store) i.imm = renumber[i.imm];
    step_ir_.args = std::move(kept);

    ir::Kernel& k = step_ir_;
    step_.params.assign(k.param_words(), 0);
    for (int d = 0; d < k.rank; ++d) step_.params[k.param_shape(d)] = extents_[d];
    for (int x = 0; x < k.boxes; ++x) {
      for (int d = 0; d < k.rank; ++d) {
        const auto& run = dims_[d];
        int64_t lo = 0, hi = extents_[d];
        if (run.size() == 1) {
          lo = boxes_[x][2 * run[0]];
          hi = boxes_[x][2 * run[0] + 1];
        }
        step_.params[k.param_box(x, d)] = lo;
        step_.params[k.param_box(x, d) + 1] = hi;
      }
      // Dimensions of extent one were dropped: a box is never empty there.
    }
    for (size_t a = 0; a < kept_args.size(); ++a) {
      const KernelArg& arg = kept_args[a];
      int word = k.param_arg(static_cast<int>(a));
      const Storage& st = p_.storages[arg.storage];
      int64_t first = st.slot >= 0 ? p_.window.slots_[st.slot].first_offset : 0;
      step_.patches.push_back(
          {word, arg.storage, arg.offset - first, -1, DType::Bool, k.args[a].written});
      for (int d = 0; d < k.rank; ++d) step_.params[word + 1 + d] = over(arg.strides, d);
      if (k.args[a].inner == ir::Inner::Contiguous)
        step_.params[word + k.rank] = itemsize(arg.dtype);
      int64_t touched = itemsize(arg.dtype);
      for (int d = 0; d < k.rank; ++d) touched *= over(arg.strides, d) == 0 ? 1 : extents_[d];
      step_.bytes += touched;
    }
    for (size_t s = 0; s < scalar_imms_.size(); ++s) {
      int word = k.param_scalar(static_cast<int>(s));
      if (scalar_imms_[s].first < 0)
        step_.params[word] = scalar_imms_[s].second;
      else
        step_.patches.push_back({word, -1, 0, scalar_imms_[s].first, k.scalars[s], false});
    }
    for (ReduceStep& r : reduces_) {
      const Storage& st = p_.storages[r.storage];
      int64_t first = st.slot >= 0 ? p_.window.slots_[st.slot].first_offset : 0;
      r.offset -= first;
      Vec strides;
      for (int d = 0; d < k.rank; ++d) strides.push_back(over(r.strides, d));
      r.strides = strides;
      step_.reduces.push_back(r);
    }
    step_.cols = extents_.back();
    step_.points = step_.cols;
    for (int d = 0; d + 1 < k.rank; ++d) {
      step_.rows *= extents_[d];
      step_.points *= extents_[d];
      bool red = !dims_[d].empty() && reduced(dims_[d].back());
      if (step_.keeps && red) step_.sequential *= extents_[d];
    }
    step_.serial = g_.solo;
    step_.tail = g_.tail_of >= 0;
    for (const Member& m : g_.members) step_.instrs.push_back(p_.instrs[m.instr].source);
    ir::verify(k);
    step_.code = kernel_code(std::move(k));
    return std::move(step_);
  }

  Planner& p_;
  Group& g_;
  ir::Kernel step_ir_;
  ir::Builder b_;
  KernelStep step_;
  std::vector<KernelArg> args_;
  std::vector<Cell> cells_;
  std::map<int, std::vector<std::pair<Val, Val>>> loads_;
  std::vector<Vec> boxes_;
  std::vector<std::vector<int>> dims_;
  Vec extents_, weights_;
  std::vector<ReduceStep> reduces_;
  std::vector<std::pair<int, int64_t>> scalar_imms_;
  size_t next_reduce_ = 0;
  Val position_ = kNone;
  bool uses_index_ = false, whole_loads_ = false;
};

}  // namespace

bool KernelBuilder::TurnMap::find() {
  const Repeats& r = k.p_.repeats;
  const std::vector<Member>& members = k.g_.members;
  count = r.count;
  while (begin < members.size() && members[begin].instr < r.first) ++begin;
  while (begin + width < members.size() && members[begin + width].instr < r.first + r.period)
    ++width;
  if (width == 0) return true;
  if (members.size() < begin + width * count) return false;
  auto instr = [&](int64_t turn, size_t m) -> const Member& {
    return members[begin + turn * width + m];
  };
  // Every turn has the same members, each over the whole domain.
  for (int64_t t = 0; t < count; ++t)
    for (size_t m = 0; m < width; ++m)
      if (instr(t, m).instr != instr(0, m).instr + t * r.period || !k.whole(instr(t, m)))
        return false;
  auto accesses = [&](int64_t turn, auto&& use) {
    for (size_t m = 0; m < width; ++m)
      for_accesses(k.p_.instrs[instr(turn, m).instr], [&](const Access& a, bool write, bool) {
        use(k.arg_of(a, instr(turn, m)), write);
      });
  };
  // The second turn's arguments in order of appearance, how each is used first, and its names.
  std::vector<int> args, names;
  std::map<int, size_t> place;
  std::vector<char> read_first, writes;
  accesses(1, [&](int arg, bool write) {
    auto [at, fresh] = place.try_emplace(arg, args.size());
    if (fresh) {
      args.push_back(arg);
      read_first.push_back(!write);
      writes.push_back(0);
    }
    if (write) writes[at->second] = 1;
  });
  auto names_in = [&](int64_t turn) -> bool {
    names.assign(args.size(), -1);
    std::map<int, size_t> back;
    size_t access = 0;
    bool ok = true;
    std::vector<size_t> order;
    accesses(1, [&](int arg, bool) { order.push_back(place[arg]); });
    accesses(turn, [&](int arg, bool) {
      size_t x = order[access++];
      if (names[x] >= 0 && names[x] != arg) ok = false;
      names[x] = arg;
      auto [at, fresh] = back.try_emplace(arg, x);
      ok = ok && at->second == x;
    });
    return ok;
  };
  auto needed = [&](int arg) { return k.p_.storages[k.args_[arg].storage].needed; };
  std::vector<int> before = args, source(args.size(), -1), wanted;
  for (int64_t t = 2; t < count; ++t) {
    if (!names_in(t)) return false;
    for (size_t x = 0; x < args.size(); ++x) {
      // What the turn before made and the program still holds.
      if (writes[x] && names[x] != before[x] && needed(before[x])) wanted.push_back(before[x]);
      if (!read_first[x]) continue;
      int from = -1;
      for (size_t y = 0; y < args.size(); ++y)
        if (before[y] == names[x] && (writes[y] || y != x)) from = static_cast<int>(y);
      if (t == 2) source[x] = from;
      if (source[x] != from || (from < 0 && names[x] != args[x])) return false;
    }
    before = names;
  }
  for (size_t x = 0; x < args.size(); ++x) {
    if (writes[x]) written.emplace_back(args[x], names[x]);
    if (!read_first[x]) continue;
    if (source[x] < 0)
      only_read.push_back(args[x]);
    else
      carried.emplace_back(args[x], args[source[x]]);
  }
  // Of earlier turns only what the last one still reads is at hand.
  for (int arg : wanted) {
    size_t c = 0;
    while (c < carried.size() && names[place[carried[c].first]] != arg) ++c;
    if (c == carried.size()) return false;
    kept.emplace_back(c, arg);
  }
  return true;
}

namespace {

KernelStep build_call(Planner& p, const PlanInstr& i) {
  KernelStep step;
  step.call.emplace(CallStep{i.instr.routine, i.instr.loop, {}});
  for_accesses(i, [&](const Access& a, bool write, bool) {
    const Storage& st = p.storages[a.storage];
    int64_t first = st.slot >= 0 ? p.window.slots_[st.slot].first_offset : 0;
    int word = static_cast<int>(step.call->layouts.size());
    step.patches.push_back({word, a.storage, a.offset - first, -1, a.dtype, write});
    step.call->layouts.push_back(a.layout);
    step.bytes += a.layout->size() * a.layout->itemsize();
  });
  step.params.assign(step.call->layouts.size(), 0);
  step.points = i.out.layout->size();
  step.instrs.push_back(i.source);
  return step;
}

}  // namespace

KernelStep build_kernel(Planner& p, Group& g) {
  const PlanInstr& first = p.instrs[g.members[0].instr];
  if (first.instr.code == Instr::Call) return build_call(p, first);
  return KernelBuilder(p, g).build();
}

namespace {

std::unique_ptr<Plan> make_plan(const Window& w, Repeats repeats) {
  Planner p(w, repeats);
  p.rewrite();
  p.find_dependences();
  p.fuse();
  p.order();
  auto plan = std::make_unique<Plan>();
  p.place_storage(*plan);
  for (Group& g : p.groups) plan->steps.push_back(build_kernel(p, g));
  plan->storages = p.storages;
  for (const LayoutRef& l : p.keep) plan->layouts.push_back(l);
  // When each temporary, or dropped array, is last used.
  std::vector<int> last(plan->storages.size(), -1);
  for (size_t g = 0; g < p.groups.size(); ++g)
    for (const Member& m : p.groups[g].members)
      for_accesses(p.instrs[m.instr],
                   [&](const Access& a, bool, bool) { last[a.storage] = static_cast<int>(g); });
  for (size_t s = 0; s < plan->storages.size(); ++s) {
    const Storage& st = plan->storages[s];
    if (!st.needed || last[s] < 0) continue;
    bool is_final = st.slot >= 0 && plan->final_storage[st.slot] == static_cast<int>(s);
    const Base* base = st.slot >= 0 ? w.slots_[st.slot].base : nullptr;
    bool kept = is_final && (base->handles > 0 || base->shared > 0);
    if (!kept) plan->steps[last[s]].free_after.push_back(static_cast<int>(s));
  }
  return plan;
}

}  // namespace

std::unique_ptr<Plan> make_plan(const Window& w) {
  try {
    return make_plan(w, w.repeats_);
  } catch (const NotFolded&) {
    return make_plan(w, {});
  }
}

}  // namespace numbus
