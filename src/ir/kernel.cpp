// Building and printing kernel IR.
#include "ir/kernel.h"

#include <cstring>
#include <deque>
#include <mutex>

#include "base/hash.h"

namespace numbus::ir {
namespace {

// Those that are there stay where they are: threads that compile read them.
struct Tables {
  std::mutex lock;
  std::deque<ConstTable> all;
};
Tables& tables() {
  static auto* t = new Tables;
  return *t;
}

bool pure(Op op) {
  if (op >= Op::variable) return false;
  switch (op) {
    case Op::store:
    case Op::acc_load:
    case Op::acc_store:
    case Op::if_any:
    case Op::end_if:
    case Op::if_result:
    case Op::repeat:
    case Op::carry:
    case Op::carry_next:
    case Op::end_repeat:
    case Op::gather:
    case Op::scatter:
    case Op::scatter_add:
    case Op::scatter_min:
    case Op::scatter_max:
    case Op::check:
    case Op::load: return false;
    default: return true;
  }
}

}  // namespace

int intern_table(const double* values, int n) {
  std::lock_guard<std::mutex> guard(tables().lock);
  auto& all = tables().all;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].values.size() == static_cast<size_t>(n) &&
        std::memcmp(all[i].values.data(), values, n * sizeof(double)) == 0)
      return static_cast<int>(i);
  all.push_back({std::vector<double>(values, values + n)});
  return static_cast<int>(all.size() - 1);
}
const ConstTable& const_table(int id) {
  std::lock_guard<std::mutex> guard(tables().lock);
  return tables().all[static_cast<size_t>(id)];
}

Val Builder::emit(Op op, DType type, Val a, Val b, Val c, int64_t imm) {
  auto& body = body_;
  uint64_t h = mix(mix(mix(static_cast<uint64_t>(op) * 64 + static_cast<uint64_t>(type),
                           static_cast<uint64_t>(a)),
                       static_cast<uint64_t>(b) * 65599 + static_cast<uint64_t>(c)),
                   static_cast<uint64_t>(imm));
  auto& bucket = buckets_[h & (buckets_.size() - 1)];
  int scope = open_.empty() ? -1 : open_.back();
  if (pure(op)) {
    for (Val v : bucket) {
      const Inst& i = body[v];
      if (i.op != op || i.type != type || i.a != a || i.b != b || i.c != c || i.imm != imm)
        continue;
      // Reuse only what dominates and still means the same: a step outside any if_any or repeat, or
      // inside one that is still open.
      int s = scope_of_[v];
      if (s == -1) return v;
      for (Val open : open_)
        if (open == s) return v;
    }
  }
  body.push_back({op, type, a, b, c, imm});
  scope_of_.resize(body.size() - 1, -1);
  scope_of_.push_back(scope);
  Val v = static_cast<Val>(body.size() - 1);
  if (pure(op)) bucket.push_back(v);
  return v;
}

Val Builder::constant_bits(DType type, int64_t bits) {
  return emit(Op::constant, type, kNone, kNone, kNone, constant_of(type, bits));
}

Val Builder::constant(DType type, const Scalar& s) {
  if (is_complex(type)) {
    DType r = real_of(type);
    Val re = constant(r, Scalar::from_float(s.real()));
    return emit(Op::make_complex, type, re, constant(r, Scalar::from_float(s.imag())));
  }
  int64_t bits = 0;
  store_scalar(s, type, &bits);
  return constant_bits(type, bits);
}

Val Builder::cast(Val a, DType to) { return type(a) == to ? a : emit(Op::cast, to, a); }

Val Builder::begin_if_any(Val mask) {
  Val v = emit(Op::if_any, DType::Bool, mask);
  open_.push_back(v);
  return v;
}
void Builder::end_if_any(Val begin) {
  open_.pop_back();
  body_[begin].imm = emit(Op::end_if, DType::Bool, begin);
}

Val Builder::begin_repeat(Val count) {
  Val v = emit(Op::repeat, DType::I64, count);
  open_.push_back(v);
  return v;
}
void Builder::end_repeat(Val begin, const std::vector<std::pair<Val, Val>>& next, Val going_on) {
  for (auto [carry, value] : next) emit(Op::carry_next, type(carry), carry, value);
  open_.pop_back();
  emit(Op::end_repeat, DType::I64, begin, going_on);
}

void put_step(std::string& key, const Inst& i) {
  auto put = [&](const auto& v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(i.op);
  put(i.type);
  put(i.a);
  put(i.b);
  put(i.c);
  // Tables are numbered per process: their content is the identity, on disk as in memory.
  if (i.op == Op::table) {
    const auto& v = const_table(static_cast<int>(i.imm)).values;
    put(hash_bytes({reinterpret_cast<const char*>(v.data()), v.size() * sizeof(double)}));
  } else {
    put(i.imm);
  }
}

std::string Kernel::key() const {
  std::string s;
  auto put = [&](const auto& v) { s.append(reinterpret_cast<const char*>(&v), sizeof v); };
  put(rank);
  put(boxes);
  put(acc);
  put(streaming);
  put(one_by_one);
  put(tests);
  put(static_cast<int>(args.size()));
  for (const Arg& a : args) {
    put(a.dtype);
    put(a.inner);
    put(a.written);
    put(a.aligned);
  }
  put(static_cast<int>(scalars.size()));
  for (DType t : scalars) put(t);
  put(static_cast<int>(acc_fields.size()));
  for (DType t : acc_fields) put(t);
  for (const Inst& i : body) put_step(s, i);
  return s;
}

std::string print(const Kernel& k) {
  std::string s =
      "kernel rank=" + std::to_string(k.rank) + " boxes=" + std::to_string(k.boxes) + "\n";
  for (size_t i = 0; i < k.args.size(); ++i) {
    static const char* const kInner[] = {"uniform", "contiguous", "strided"};
    s += "  arg " + std::to_string(i) + ": " + std::string(name(k.args[i].dtype)) + " " +
         kInner[static_cast<int>(k.args[i].inner)] + (k.args[i].written ? " written\n" : "\n");
  }
  return s + print_steps(k.body);
}

std::string print_steps(const std::vector<Inst>& body) {
  std::string s;
  int indent = 2;
  for (size_t v = 0; v < body.size(); ++v) {
    const Inst& i = body[v];
    bool closes = i.op == Op::end_if || i.op == Op::end_repeat || i.op == Op::end_branch ||
                  i.op == Op::end_loop;
    bool divides = i.op == Op::branch_else || i.op == Op::loop_next;
    if (closes || divides) indent -= 2;
    s += std::string(indent, ' ') + "%" + std::to_string(v) + ": " + std::string(name(i.type)) +
         " = " + std::string(op_name(i.op));
    for (Val o : {i.a, i.b, i.c})
      if (o != kNone) s += " %" + std::to_string(o);
    if (i.imm) s += " #" + std::to_string(i.imm);
    s += "\n";
    if (i.op == Op::if_any || i.op == Op::repeat || i.op == Op::branch || i.op == Op::loop ||
        divides)
      indent += 2;
  }
  return s;
}

}  // namespace numbus::ir
