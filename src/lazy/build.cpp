// From a group of instructions to one kernel: dimensions ordered and collapsed, arguments, run-time
// parameters.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/printing.h"
#include "lazy/examine.h"
#include "lazy/kernel_builder.h"
#include "lazy/move_cpu.h"
#include "lazy/reduce.h"
#include "passes/pipeline.h"

namespace numbus {
namespace {

constexpr int64_t kStreamingBytes = 64 << 20;

bool touches_memory(Op op) {
  return op == Op::load || op == Op::store || op == Op::gather || scatters_by(op);
}

// The name of what the program asked for.
Work work_of(const PlanInstr& p) {
  const Instr& i = p.instr;
  std::string name(i.name());
  if (i.code == Instr::Call && i.routine == Routine::affine)
    name = i.attributes[1] ? "matmul, add, relu" : "matmul, add";
  else if (i.code == Instr::Call)
    name = call_name(i.routine, i.op);
  else if (i.code == Instr::Reduce)
    name = reduction_name(i.reduction);
  else if (i.op == Op::cast)
    name = p.in[0].storage < 0 ? "fill" : p.in[0].dtype == p.out.dtype ? "copy" : "astype";
  else if (i.op == Op::select)
    name = "where";
  else if (i.op == Op::index)
    name = "arange";
  return {p.source, name, i.predicated};
}

}  // namespace

PlanStep KernelBuilder::build() {
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

int KernelBuilder::add_arg(KernelArg k, const Member& m) {
  for (size_t d = 0; d < k.strides.size(); ++d) {
    k.offset -= m.at[d] * k.strides[d];
    if (g_.shape[d] == 1) k.strides[d] = 0;
  }
  for (size_t i = 0; i < args_.size(); ++i) {
    const KernelArg& o = args_[i];
    if (o.storage == k.storage && o.dtype == k.dtype && o.offset == k.offset &&
        o.strides == k.strides)
      return static_cast<int>(i);
  }
  args_.push_back(std::move(k));
  return static_cast<int>(args_.size() - 1);
}

int KernelBuilder::arg_of(const Access& a, const Member& m) {
  KernelArg k{a.storage, a.dtype, a.offset, Vec(g_.shape.size(), 0)};
  for (int d = 0; d < a.layout->ndim(); ++d) k.strides[d] = a.layout->stride(d);
  return add_arg(std::move(k), m);
}

int KernelBuilder::spread_arg(const PlanInstr& p, const Access& a, const Member& m) {
  KernelArg k{a.storage, a.dtype, a.offset, Vec(g_.shape.size(), 0)};
  size_t at = 0, indices = g_.shape.size();
  for (int d = 0; d < a.layout->ndim(); ++d) indices -= !(p.instr.axes >> d & 1);
  for (int d = 0; d < a.layout->ndim(); ++d) {
    if (p.instr.axes >> d & 1) continue;
    if (at == p.instr.first_axis) at += indices;
    k.strides[at++] = a.layout->stride(d);
  }
  return add_arg(std::move(k), m);
}

void KernelBuilder::collect() {
  for (const Member& m : g_.members) {
    PlanInstr& p = p_.instrs[m.instr];
    for (int n = 0; n < p.inputs(); ++n)
      if (p.in[n].storage >= 0) p.in[n].spread ? spread_arg(p, p.in[n], m) : arg_of(p.in[n], m);
    if (p.instr.code == Instr::Map)
      args_[p.out.spread ? spread_arg(p, p.out, m) : arg_of(p.out, m)].written = true;
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
      ReduceOf<Number> r;
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
        strides.push_back(reduced ? Number(0) : p.out.layout->stride(od));
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
  Number w = 1;
  for (size_t d = g_.shape.size(); d-- > 0;) {
    bool counts = !g_.reduces || g_.axes >> d & 1;
    weights_[d] = counts ? w : Number(0);
    if (counts) w *= g_.shape[d];
  }
}

const PlanLayout* KernelBuilder::order_layout() const {
  for (const Member& m : g_.members)
    if (p_.instrs[m.instr].instr.code == Instr::Reduce) return p_.instrs[m.instr].in[0].layout;
  return nullptr;
}

// Dimensions from outermost to innermost in memory order, extents of one dropped, neighbours
// merged where every argument walks them as one.
void KernelBuilder::choose_dimensions() {
  std::vector<int> order;
  for (size_t d = 0; d < g_.shape.size(); ++d)
    if (g_.shape[d] != 1) order.push_back(static_cast<int>(d));
  auto reach = [&](int d) {
    Number sum = 0;
    // The order of a reduction must not depend on what it was fused with: its own input decides.
    if (g_.reduces) return abs(order_layout()->stride(d));
    for (const KernelArg& a : args_) sum += abs(a.strides[d]);
    return sum;
  };
  // Along equal strides (windows over one series) the kept dimension comes last: its results stand
  // side by side, and so do the elements they begin with.
  auto before = [&](int x, int y) {
    if (reach(x) != reach(y)) return reach(x) > reach(y);
    return g_.reduces && reduced(x) && !reduced(y);
  };
  if (!g_.solo) std::stable_sort(order.begin(), order.end(), before);
  auto merge = [&](int last, int d) {
    bool yes = reduced(last) == reduced(d);
    auto walks_as_one = [&](const Vec& s) { return s[last] == s[d] * g_.shape[d]; };
    for (const KernelArg& a : args_) yes = yes && walks_as_one(a.strides);
    for (const ReduceOf<Number>& r : reduces_) yes = yes && walks_as_one(r.strides);
    if (uses_index_) yes = yes && walks_as_one(weights_);
    for (const Vec& box : boxes_) {
      yes = yes && box[2 * d] == 0 && box[2 * d + 1] == g_.shape[d];
      yes = yes && box[2 * last] == 0 && box[2 * last + 1] == g_.shape[last];
    }
    return yes;
  };
  if (g_.reduces && !order.empty() && reduced(order.back())) {
    // Short rows: side by side, as columns, rather than each for itself.
    int64_t short_row = kShortRow;
    for (const ReduceOf<Number>& r : reduces_)
      if (needs_position(r.kind)) short_row = ir::kShortPositions;
    Number points = 1, columns = 1;
    std::vector<int> kept, across;
    for (int d : order) (reduced(d) ? across : kept).push_back(d);
    for (int d : across) points *= g_.shape[d];
    const PlanLayout* own = order_layout();
    for (size_t k = kept.size(); k-- > 0;) {
      columns *= g_.shape[kept[k]];
      if (k == 0 || own->stride(kept[k - 1]) != own->stride(kept[k]) * g_.shape[kept[k]]) break;
    }
    if (points <= short_row && columns >= ir::kFewColumns && !g_.solo) {
      size_t first = kept.size() - 1;
      while (first > 0 && merge(kept[first - 1], kept[first])) --first;
      order.assign(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(first));
      order.insert(order.end(), across.begin(), across.end());
      order.insert(order.end(), kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end());
    }
  }
  if (g_.reduces && !order.empty()) {
    int inner = order.back();
    size_t run = order.size() - 1;  // kept dimensions that are one stay together
    while (!reduced(inner) && run > 0 && !reduced(order[run - 1]) &&
           merge(order[run - 1], order[run]))
      --run;
    std::stable_partition(
        order.begin(),
        order.end() - (reduced(inner) ? 0 : static_cast<std::ptrdiff_t>(order.size() - run)),
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
    bool merges = !dims_.empty() && merge(dims_.back().back(), d);
    if (merges)
      dims_.back().push_back(d);
    else
      dims_.push_back({d});
  }
  if (dims_.empty()) dims_.push_back({});
  step_ir_.rank = static_cast<int>(dims_.size());
  step_ir_.boxes = static_cast<int>(boxes_.size());
  for (const auto& group : dims_) {
    Number e = 1;
    for (int d : group) e *= g_.shape[d];
    extents_.push_back(e);
  }
}

// A per-domain-dimension vector over the kernel's dimensions: the innermost of a merged run
// stands for it.
Number KernelBuilder::over(const Vec& v, int dim) const {
  return dims_[dim].empty() ? Number(0) : v[dims_[dim].back()];
}

void KernelBuilder::fill_args() {
  int inner = step_ir_.rank - 1;
  for (KernelArg& a : args_) {
    Number stride = over(a.strides, inner);
    ir::Inner kind = extents_[inner] == 1 || stride == itemsize(a.dtype) ? ir::Inner::Contiguous
                     : stride == 0                                       ? ir::Inner::Uniform
                                                                         : ir::Inner::Strided;
    // Pool memory begins at a multiple of 64 bytes; foreign memory anywhere.
    const PlanStorage& st = p_.storages[a.storage];
    const Base* base = st.slot >= 0 ? p_.window.slots_[st.slot].base : nullptr;
    bool aligned = kind == ir::Inner::Contiguous && (!base || base->owned || !st.initial) &&
                   a.offset % 64 == 0;
    // Steps of a reduction begin where the lane number does, which must then be a row's beginning
    // too.
    if (step_ir_.acc == ir::Acc::Lanes && step_ir_.rank > 1 && extents_[inner] % ir::kLanes != 0)
      aligned = false;
    Number bytes = itemsize(a.dtype);
    for (int d = 0; d < step_ir_.rank; ++d) {
      if (d < inner) aligned = aligned && over(a.strides, d) % 64 == 0;
      if (a.written && aligned && over(a.strides, d) != 0) bytes *= extents_[d];
    }
    step_ir_.args.push_back({a.dtype, kind, a.written, aligned});
    // A large result would only push out of the caches what the next kernel reads.
    if (a.written && aligned && bytes >= kStreamingBytes && p_.storages[a.storage].needed)
      step_ir_.streaming = true;
  }
  cells_.resize(args_.size());
}

void KernelBuilder::find_stored() {
  for (const ir::Inst& i : step_ir_.body)
    if (touches_memory(i.op)) args_[i.imm].stored = true;
}

namespace {

// Whether the kernel finds extremes of an argument's rows, and nothing else.
bool searches(const ir::Kernel& k, const std::vector<ReduceOf<Number>>& reduces) {
  if (reduces.size() != 1 || k.acc != ir::Acc::Lanes || k.args.size() != 1 ||
      k.args[0].inner != ir::Inner::Contiguous || k.args[0].dtype != reduces[0].in ||
      is_complex(reduces[0].in) || k.boxes)
    return false;
  const bool positions = needs_position(reduces[0].kind);
  // Truth values of foreign memory may be other bytes than 0 and 1.
  if (!positions && ((reduces[0].kind != Reduction::Min && reduces[0].kind != Reduction::Max) ||
                     reduces[0].in == DType::Bool))
    return false;
  ir::Kernel plain;
  plain.acc_fields = k.acc_fields;
  ir::Builder b(plain);
  const ir::Val element = b.emit(Op::load, k.args[0].dtype);
  const ir::Val position =
      positions ? b.emit(Op::index, DType::I64, ir::kNone, ir::kNone, ir::kNone, k.rank - 1)
                : ir::kNone;
  emit_reduction_step(b, reduces[0].kind, 0, element, ir::kNone, position);
  return std::equal(plain.body.begin(), plain.body.end(), k.body.begin(), k.body.end(),
                    [](const ir::Inst& x, const ir::Inst& y) {
                      return x.op == y.op && x.type == y.type && x.a == y.a && x.b == y.b &&
                             x.c == y.c && x.imm == y.imm;
                    });
}

}  // namespace

// Drops arguments that never touch memory, and writes the run-time parameters.
PlanStep KernelBuilder::finish() {
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
    if (touches_memory(i.op)) i.imm = renumber[i.imm];
  step_ir_.args = std::move(kept);

  ir::Kernel& k = step_ir_;
  step_.params.assign(k.param_words(), 0);
  for (int d = 0; d < k.rank; ++d) step_.params[k.param_shape(d)] = extents_[d];
  for (int x = 0; x < k.boxes; ++x) {
    for (int d = 0; d < k.rank; ++d) {
      const auto& run = dims_[d];
      Number lo = 0, hi = extents_[d];
      if (run.size() == 1) {
        lo = boxes_[x][2 * run[0]];
        hi = boxes_[x][2 * run[0] + 1];
      }
      step_.params[k.param_box(x, d)] = lo;
      step_.params[k.param_box(x, d) + 1] = hi;
    }
    // Dimensions of extent one were dropped: a box is never empty there.
  }
  std::vector<char> loaded(kept_args.size(), 0), spread(kept_args.size(), 0);
  for (const ir::Inst& i : k.body) {
    if (i.op == Op::load || i.op == Op::gather) loaded[i.imm] = 1;
    if (i.op == Op::gather || scatters_by(i.op)) spread[i.imm] = 1;
  }
  std::map<int, Number> read;
  for (size_t a = 0; a < kept_args.size(); ++a) {
    const KernelArg& arg = kept_args[a];
    int word = k.param_arg(static_cast<int>(a));
    step_.patches.push_back({word, arg.storage, arg.offset, -1, DType::Bool, k.args[a].written});
    for (int d = 0; d < k.rank; ++d) step_.params[word + 1 + d] = over(arg.strides, d);
    if (k.args[a].inner == ir::Inner::Contiguous) step_.params[word + k.rank] = itemsize(arg.dtype);
    Number touched = itemsize(arg.dtype);
    for (int d = 0; d < k.rank; ++d)
      if (spread[a] || over(arg.strides, d) != 0) touched *= extents_[d];
    if (loaded[a]) read[arg.storage] += touched;
    if (k.args[a].written) step_.bytes += touched;
  }
  // Views that overlap, as a stencil's do, come from memory once.
  for (auto [storage, bytes] : read) step_.bytes += smaller(bytes, p_.storages[storage].nbytes);
  for (size_t s = 0; s < scalar_imms_.size(); ++s) {
    int word = k.param_scalar(static_cast<int>(s));
    if (scalar_imms_[s].first < 0)
      step_.params[word] = scalar_imms_[s].second;
    else
      step_.patches.push_back({word, -1, 0, scalar_imms_[s].first, k.scalars[s], false});
  }
  for (ReduceOf<Number>& r : reduces_) {
    Vec strides;
    for (int d = 0; d < k.rank; ++d) strides.push_back(over(r.strides, d));
    r.strides = strides;
    step_.reduces.push_back(r);
  }
  find_takes(kept_args);
  step_.cols = extents_.back();
  step_.points = step_.cols;
  for (int d = 0; d + 1 < k.rank; ++d) {
    step_.rows *= extents_[d];
    step_.points *= extents_[d];
    bool red = !dims_[d].empty() && reduced(dims_[d].back());
    if (step_.keeps && red) step_.sequential *= extents_[d];
  }
  step_.guards = part_ == Part::Guard;
  step_.ordered = p_.instrs[g_.members[0].instr].instr.scatters() && !step_.guards;
  step_.serial = g_.solo && !step_.ordered && !step_.guards;
  step_.tail = g_.tail_of >= 0;
  step_.shape = g_.shape;
  for (const Member& m : g_.members) {
    step_.works.push_back(work_of(p_.instrs[m.instr]));
    if (step_.guards) step_.works.back().name = "indices of " + step_.works.back().name;
  }
  trace();
  for (const ir::Inst& i : k.body)
    step_.loops = step_.loops || (i.op == Op::repeat && i.a == kNone);
  step_.flops = step_.points * flops_of(k, step_.iterations);
  step_.searches = searches(k, step_.reduces);
  step_.copies = copies(k);
  step_.takes_rows = g_.members.size() == 1 && gathers_only(k);
  step_.puts = step_.ordered && g_.members.size() == 1 && scatters_only(k);
  ir::verify(k);
  step_.code = kernel_code(std::move(k));
  return std::move(step_);
}

// How its instructions can be computed again, one by one.
void KernelBuilder::trace() {
  step_.exact = true;
  bool possible = part_ == Part::Whole;
  for (const Member& m : g_.members) {
    const PlanInstr& p = p_.instrs[m.instr];
    const Instr& i = p.instr;
    if (p.made == PlanInstr::Otherwise || i.code == Instr::Call) possible = false;
    const bool sum = i.code == Instr::Reduce && !i.predicated &&
                     (i.reduction == Reduction::Sum || i.reduction == Reduction::Prod);
    const float_errors::Evidence by = i.code == Instr::Map
                                          ? float_errors::evidence_of(i, p.out.dtype)
                                          : float_errors::Evidence::None;
    if (by == float_errors::Evidence::Result || by == float_errors::Evidence::Any ||
        by == float_errors::Evidence::Large)
      step_.tested = true;
    if (by == float_errors::Evidence::Cast) {
      step_.casts = true;
      if (p.out.dtype == DType::I32 || p.out.dtype == DType::I64) step_.tested = true;
    }
    if (by == float_errors::Evidence::Divisor)
      step_.divides.push_back(static_cast<int>(step_.traced.size()));
    if (i.code == Instr::Map ? !float_errors::keeps_flags_clean(i, p.out.dtype)
                             : !sum || !is_float(i.loop) || is_half(i.loop))
      step_.exact = false;
    Traced t;
    t.source = p.made == PlanInstr::WholeCopy ? -1 : p.source;
    t.out = p.out.storage;
    for (int n = 0; n < p.inputs(); ++n) t.in[n] = p.in[n].storage;
    step_.traced.push_back(t);
  }
  if (!possible) step_.traced.clear(), step_.divides.clear();
  // What needs no memory to be read again. Points that are computed in order are few.
  const Device& device = *p_.window.slots_[0].base->device;
  step_ir_.tests = step_.tested && device.runs_on_host() && !step_ir_.one_by_one;
  step_.params.resize(step_ir_.param_words());
  // Points outside of a box have no element, and those of a scatter are found out in the kernel.
  if (step_ir_.boxes > 0) step_.tested = false;
  for (const ir::Inst& i : step_ir_.body)
    if (scatters_by(i.op)) step_.tested = false;
}

// Which arguments an output could take the storage of, were that free: those at the identical
// access.
void KernelBuilder::find_takes(const std::vector<KernelArg>& args) {
  if (g_.solo) return;
  Number points = 1;
  for (Number e : g_.shape) points *= e;
  std::map<int, int> uses;
  for (const KernelArg& a : args) ++uses[a.storage];
  for (const ReduceOf<Number>& r : reduces_) ++uses[r.storage];
  std::vector<char> spread(args.size(), 0);
  for (const ir::Inst& i : step_ir_.body)
    if (i.op == Op::gather || scatters_by(i.op)) spread[i.imm] = 1;
  auto whole = [&](size_t k) {
    const PlanStorage& st = p_.storages[args[k].storage];
    return uses[args[k].storage] == 1 && !spread[k] &&
           points * itemsize(args[k].dtype) == st.nbytes;
  };
  for (size_t o = 0; o < args.size(); ++o) {
    if (!args[o].written || p_.storages[args[o].storage].initial || !whole(o)) continue;
    for (size_t i = 0; i < args.size(); ++i)
      if (!args[i].written && whole(i) && args[i].offset == args[o].offset &&
          args[i].strides == args[o].strides)
        step_.takes.emplace_back(args[o].storage, args[i].storage);
  }
}

namespace {

PlanStep build_call(const PlanInstr& i) {
  PlanStep step;
  step.call.emplace(
      CallStep{i.instr.routine, i.instr.op, i.instr.loop, i.instr.attributes, {}, {}});
  for_accesses(i, [&](const Access& a, bool write, bool) {
    int word = static_cast<int>(step.layouts.size());
    step.patches.push_back({word, a.storage, a.offset, -1, a.dtype, write});
    step.layouts.push_back(a.layout);
    step.call->types.push_back(a.dtype);
    step.bytes += a.layout->size() * a.layout->itemsize();
  });
  step.params.assign(step.layouts.size(), 0);
  step.points = i.out.layout->size();
  step.shape = i.shape;
  step.works.push_back(work_of(i));
  return step;
}

}  // namespace

PlanStep build_kernel(Planner& p, Group& g, Part part) {
  const PlanInstr& first = p.instrs[g.members[0].instr];
  if (first.instr.code == Instr::Call) return build_call(first);
  return KernelBuilder(p, g, part).build();
}

namespace {

std::shared_ptr<const Plan> make_plan(const Window& w, const Positions& positions,
                                      Repeats repeats) {
  Questions questions(positions);
  Planner p(w, questions, repeats);
  p.rewrite();
  p.end_products();
  p.find_dependences();
  p.fuse();
  p.order();
  auto plan = std::make_shared<Plan>();
  p.assign_storage(*plan);
  if (prints(Stage::Groups)) print_stage("groups:", print(p));
  std::vector<size_t> step_of;  // group
  auto add_step = [&](Group& g, Part part) {
    plan->steps.push_back(build_kernel(p, g, part));
    for (CheckOf<Number>& c : plan->steps.back().checks) c.spoils = p.spoiled_by(c.instr);
  };
  for (Group& g : p.groups) {
    const Instr& i = p.instrs[g.members[0].instr].instr;
    bool guarded = i.scatters() && i.bounds == Instr::Report;
    if (guarded) add_step(g, Part::Guard);
    add_step(g, guarded ? Part::Guarded : Part::Whole);
    step_of.push_back(plan->steps.size() - 1);
  }
  plan->storages = p.storages;
  // When each temporary, or dropped array, is last used.
  std::vector<int> last(plan->storages.size(), -1);
  for (size_t g = 0; g < p.groups.size(); ++g)
    for (const Member& m : p.groups[g].members)
      for_accesses(p.instrs[m.instr],
                   [&](const Access& a, bool, bool) { last[a.storage] = static_cast<int>(g); });
  for (size_t s = 0; s < plan->storages.size(); ++s) {
    const PlanStorage& st = plan->storages[s];
    if (last[s] < 0) continue;
    PlanStep& step = plan->steps[step_of[last[s]]];
    if (!st.needed) {
      ++step.contracted;
      step.contracted_bytes += st.nbytes;
      continue;
    }
    bool is_final = st.slot >= 0 && plan->final_storage[st.slot] == static_cast<int>(s);
    const Base* base = st.slot >= 0 ? w.slots_[st.slot].base : nullptr;
    bool kept = is_final && (base->handles > 0 || base->outside());
    if (kept) continue;
    step.free_after.push_back(static_cast<int>(s));
    if (st.initial) continue;
    ++step.temporaries;
    step.temporary_bytes += st.nbytes;
  }
  for (PlanStep& step : plan->steps) {
    std::vector<std::pair<int, int>> possible;
    std::swap(possible, step.takes);
    for (auto [fresh, dying] : possible) {
      bool dies = std::count(step.free_after.begin(), step.free_after.end(), dying) > 0;
      for (auto [f, d] : step.takes) dies = dies && f != fresh && d != dying;
      if (dies) step.takes.emplace_back(fresh, dying);
    }
  }
  std::vector<int32_t> kept;
  auto keep = [&](Number n) { kept.push_back(n.id()); };
  for (const PlanStep& step : plan->steps) {
    for_numbers(step, keep);
    for (const PlanLayout* l : step.layouts) {
      for (Number n : l->shape()) keep(n);
      for (Number n : l->strides()) keep(n);
    }
  }
  for (const PlanStorage& st : plan->storages) keep(st.nbytes);
  keep(plan->contracted_bytes);
  plan->key = positions.key;
  for (const Layout* l : positions.layouts)
    if (!l->kind().exact) plan->layouts.emplace_back(l);
  plan->formulas = questions.finish(kept);
  plan->made_layouts = questions.take_layouts();
  return plan;
}

}  // namespace

std::shared_ptr<const Plan> make_plan(const Window& w, const Positions& positions) {
  try {
    return make_plan(w, positions, w.repeats_);
  } catch (const NotFolded&) {
    return make_plan(w, positions, {});
  }
}

}  // namespace numbus
