// Finds the steps that only prepare what is stored or accumulated.
#include "compile/gpu_split.h"

namespace numbus::compile {

using ir::Inst;
using ir::kNone;
using ir::Val;

namespace {

// Steps that cost nothing to have twice.
bool free_step(const Inst& i) {
  switch (i.op) {
    case Op::constant:
    case Op::scalar:
    case Op::index:
    case Op::in_box: return true;
    default: return false;
  }
}

// Copies steps into another body, with their operands' new numbers.
struct Copy {
  explicit Copy(size_t steps, ir::Kernel& to) : to(to), at(steps, kNone) {}
  Val operand(Val v) const { return v == kNone ? kNone : at[v]; }
  Val emit(Inst i) {
    to.body.push_back(i);
    return static_cast<Val>(to.body.size() - 1);
  }
  void step(Val v, Inst i) {
    i.a = operand(i.a), i.b = operand(i.b), i.c = operand(i.c);
    at[v] = emit(i);
  }
  ir::Kernel& to;
  std::vector<Val> at;
};

}  // namespace

std::optional<Split> split_rare(const ir::Kernel& k) {
  size_t n = k.body.size();
  std::vector<char> late(n, 0), handed(n, 0);
  int rare = 0;
  bool wrote = false;
  for (size_t v = 0; v < n; ++v) {
    const Inst& i = k.body[v];
    if (i.op >= Op::repeat) return {};
    if (i.op == Op::load && wrote) return {};
    wrote = wrote || i.op == Op::store;
    bool floats = i.type == DType::F32 || i.type == DType::F64;
    rare += i.op == Op::if_any || (i.op == Op::divide && floats && !i.imm) ||
            (i.op == Op::sqrt && i.type == DType::F32);
    late[v] = i.op == Op::store || i.op == Op::acc_load || i.op == Op::acc_store;
    for (Val o : {i.a, i.b, i.c}) late[v] = late[v] || (o != kNone && late[o]);
    if (late[v] && (i.op == Op::if_any || i.op == Op::if_result || i.op == Op::load)) return {};
  }
  // One division among loads is not worth the second body.
  if (rare == 0 || (rare == 1 && n < 64)) return {};
  std::vector<Val> values;
  for (size_t v = 0; v < n; ++v) {
    if (!late[v]) continue;
    const Inst& i = k.body[v];
    for (Val o : {i.a, i.b, i.c}) {
      if (o == kNone || late[o] || handed[o] || free_step(k.body[o])) continue;
      if (is_complex(k.body[o].type)) return {};
      handed[o] = 1;
      values.push_back(o);
    }
  }
  Split s;
  s.own_fields = k.acc_fields.size();
  s.quick = s.whole = s.finish = k;
  for (ir::Kernel* part : {&s.quick, &s.whole, &s.finish}) {
    part->body.clear();
    for (Val v : values) part->acc_fields.push_back(k.body[v].type);
  }
  s.quick.acc_fields.push_back(DType::Bool);
  Copy quick(n, s.quick), whole(n, s.whole), finish(n, s.finish);
  Val flag = kNone;
  int64_t field = static_cast<int64_t>(s.own_fields);
  for (size_t f = 0; f < values.size(); ++f)
    finish.at[values[f]] = finish.emit({Op::acc_load, k.body[values[f]].type, kNone, kNone, kNone,
                                        field + static_cast<int64_t>(f)});
  for (size_t v = 0; v < n; ++v) {
    const Inst& i = k.body[v];
    Val me = static_cast<Val>(v);
    if (late[v] || free_step(i)) finish.step(me, i);
    if (late[v]) continue;
    whole.step(me, i);
    if (i.op == Op::if_any) s.whole.body[whole.at[v]].imm = -1;
    if (i.op == Op::end_if) s.whole.body[whole.at[i.a]].imm = whole.at[v];
  }
  for (size_t v = 0; v < n; ++v) {
    const Inst& i = k.body[v];
    if (late[v]) continue;
    if (i.op == Op::if_any) {
      Val mask = quick.at[i.a];
      flag = flag == kNone ? mask : quick.emit({Op::logical_or, DType::Bool, flag, mask, kNone, 0});
      v = static_cast<size_t>(i.imm);  // its end_if
    } else if (i.op == Op::if_result) {
      quick.at[v] = quick.at[i.a];
    } else {
      quick.step(static_cast<Val>(v), i);
    }
  }
  if (flag == kNone) flag = quick.emit({Op::constant, DType::Bool, kNone, kNone, kNone, 0});
  for (size_t f = 0; f < values.size(); ++f) {
    Val v = values[f];
    DType t = k.body[v].type;
    int64_t to = field + static_cast<int64_t>(f);
    quick.emit({Op::acc_store, t, quick.at[v], kNone, kNone, to});
    whole.emit({Op::acc_store, t, whole.at[v], kNone, kNone, to});
  }
  quick.emit({Op::acc_store, DType::Bool, flag, kNone, kNone,
              field + static_cast<int64_t>(values.size())});
  return s;
}

}  // namespace numbus::compile
