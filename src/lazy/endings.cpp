// Products that end with a bias and an activation, in place of a kernel that reads them again.
#include <algorithm>

#include "lazy/planner.h"
#include "vendor/blas.h"

namespace numbus {
namespace {

constexpr int64_t kAlignment = 16;  // of what the library reads beside the operands

bool has_endings(DType t) { return t == DType::F32 || is_half(t); }

// Whether the layout is that of C's order.
bool is_dense(const PlanLayout& l) {
  Number step = l.itemsize();
  for (int d = l.ndim(); d-- > 0;) {
    if (l.shape(d) > 1 && !(l.stride(d) == step)) return false;
    step *= l.shape(d);
  }
  return true;
}

// Whether each of the `cols` last elements has one, which all rows share.
bool is_one_a_column(const PlanLayout& l, Number cols) {
  const int last = l.ndim() - 1;
  if (last < 0 || !(l.shape(last) == cols) || !(l.stride(last) == l.itemsize())) return false;
  for (int d = 0; d < last; ++d)
    if (l.shape(d) > 1 && !(l.stride(d) == 0)) return false;
  return true;
}

// Of 16 bits, whether no line ends within 16 bytes: otherwise the library may round a result before
// it adds the bias, as it does with bfloat16.
bool is_rounded_once(const PlanInstr& p) {
  if (!is_half(p.instr.loop)) return true;
  constexpr int64_t kNumbers = kAlignment / 2;
  return p.out.layout->shape(2) % kNumbers == 0 && p.in[0].layout->shape(2) % kNumbers == 0 &&
         p.in[0].layout->shape(1) % kNumbers == 0;
}

// The matrices of a stack are the rows of one.
bool is_one_product(const PlanInstr& p) {
  const PlanLayout &a = *p.in[0].layout, &b = *p.in[1].layout, &out = *p.out.layout;
  if (!is_dense(out)) return false;
  if (out.shape(0) == 1) return true;
  return b.stride(0) == 0 && a.stride(0) == a.shape(1) * a.stride(1);
}

struct Uses {
  int count = 0;
  int reader = -1;  // the last instruction that reads it
};

class Endings {
 public:
  explicit Endings(Planner& p) : p_(p), uses_(p.storages.size()) {
    for (size_t i = 0; i < p.instrs.size(); ++i)
      for_accesses(p.instrs[i], [&](const Access& a, bool write, bool) {
        Uses& u = uses_[a.storage];
        ++u.count;
        if (!write) u.reader = static_cast<int>(i);
      });
  }

  void find() {
    gone_.assign(p_.instrs.size(), 0);
    for (size_t c = 0; c < p_.instrs.size(); ++c) end(static_cast<int>(c));
    size_t kept = 0;
    for (size_t i = 0; i < p_.instrs.size(); ++i)
      if (!gone_[i]) {
        if (kept != i) p_.instrs[kept] = std::move(p_.instrs[i]);
        ++kept;
      }
    p_.instrs.resize(kept);
  }

 private:
  void end(int c) {
    const PlanInstr& product = p_.instrs[c];
    if (product.instr.code != Instr::Call || product.instr.routine != Routine::matmul ||
        !has_endings(product.instr.loop))
      return;
    const DType t = product.instr.loop;
    const int a = only_reader(product.out);
    if (a < 0) return;
    const PlanInstr& sum = p_.instrs[a];
    if (!is_map(sum, Op::add, t)) return;
    const int of_product = sum.in[0].storage == product.out.storage ? 0 : 1;
    const Access &made = sum.in[of_product], &bias = sum.in[1 - of_product];
    const Number cols = product.out.layout->shape(2);
    if (bias.storage < 0 || made.storage != product.out.storage || bias.dtype != t ||
        made.dtype != t || bias.spread || made.spread || !(cols > 1) || !is_one_product(product) ||
        !is_rounded_once(product) || !is_same(made, product.out) ||
        !is_one_a_column(*bias.layout, cols) || !is_aligned(bias) || !is_same(sum.out, product.out))
      return;
    int last = a;
    const int r = only_reader(sum.out);
    if (r >= 0 && is_map(p_.instrs[r], Op::relu, t) &&
        p_.instrs[r].in[0].layout == sum.out.layout && is_same(p_.instrs[r].out, product.out))
      last = r;
    const Access& result = p_.instrs[last].out;
    if (result.dtype != t || !is_aligned(result) || is_disturbed(c, a, last)) return;
    PlanInstr made_so = product;
    made_so.instr.routine = Routine::affine;
    made_so.instr.nin = 3;
    made_so.instr.attributes[1] = last != a;
    made_so.in[2] = bias;
    made_so.in[2].layout = p_.questions.contiguous({cols}, itemsize(t));
    made_so.out.storage = result.storage;
    made_so.out.offset = result.offset;
    made_so.source = p_.instrs[last].source;
    p_.instrs[last] = std::move(made_so);
    gone_[c] = 1;
    if (last != a) gone_[a] = 1;
  }

  static bool is_map(const PlanInstr& p, Op op, DType t) {
    return p.instr.code == Instr::Map && p.instr.op == op && !p.instr.predicated &&
           p.instr.loop == t && p.out.dtype == t && !p.solo && p.made == PlanInstr::Recorded;
  }

  // The one instruction that reads what another one makes, which nobody else will ever see.
  int only_reader(const Access& made) const {
    const PlanStorage& st = p_.storages[made.storage];
    const Uses& u = uses_[made.storage];
    if (st.initial || u.count != 2 || u.reader < 0) return -1;
    if (st.slot >= 0 && p_.current[st.slot] == made.storage) {
      const Base& base = *p_.window.slots_[st.slot].base;
      if (base.handles > 0 || base.outside()) return -1;
    }
    if (!(made.layout->size() * made.layout->itemsize() == st.nbytes)) return -1;
    return u.reader;
  }

  // Whether an access walks as many elements as the product has, in the same order.
  static bool is_same(const Access& x, const Access& product) {
    return x.layout == product.layout ||
           (x.layout->size() == product.layout->size() && is_dense(*x.layout));
  }

  bool is_aligned(const Access& a) const {
    const PlanStorage& st = p_.storages[a.storage];
    const Base* base = st.slot >= 0 ? p_.window.slots_[st.slot].base : nullptr;
    return (!base || base->owned || !st.initial) && a.offset % kAlignment == 0;
  }

  // Whether what the product reads, or what the last instruction writes, is touched in between.
  bool is_disturbed(int c, int a, int last) const {
    const int read[] = {p_.instrs[c].in[0].storage, p_.instrs[c].in[1].storage,
                        p_.instrs[a].in[0].storage, p_.instrs[a].in[1].storage};
    const int written = p_.instrs[last].out.storage;
    bool yes = std::ranges::count(read, written) > 0;
    for (int i = c + 1; i < last; ++i) {
      if (gone_[i] || i == a) continue;
      for_accesses(p_.instrs[i], [&](const Access& x, bool write, bool) {
        yes = yes || x.storage == written || (write && std::ranges::count(read, x.storage) > 0);
      });
    }
    return yes;
  }

  Planner& p_;
  std::vector<Uses> uses_;
  std::vector<char> gone_;
};

}  // namespace

void Planner::end_products() {
  if (window.slots_.empty() || repeats.count) return;
  const Device& device = *window.slots_[0].base->device;
  if (device.host_readable()) return;
  const bool any = std::ranges::any_of(instrs, [](const PlanInstr& p) {
    return p.instr.code == Instr::Call && p.instr.routine == Routine::matmul;
  });
  if (any && vendor::takes_endings(device)) Endings(*this).find();
}

}  // namespace numbus
