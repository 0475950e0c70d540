// Copies the bodies of called functions to where they are called.
#include "passes/inline_functions.h"

namespace numbus {
namespace {

using ir::Function;
using ir::Inst;
using ir::kNone;
using ir::Val;

class Inliner {
 public:
  Inliner(const ir::Module& m, std::vector<Inst>& to) : m_(m), to_(to) {}

  // False where functions call themselves.
  bool copy(const Function& f, const std::vector<Val>* args, Val status,
            const std::vector<Val>* results, int depth) {
    if (depth > 32 || f.recursive) return false;
    std::vector<Val> at(f.body.size(), kNone), arguments;
    // A call's variables begin anew each time.
    if (args)
      for (size_t n = 0; n < f.body.size(); ++n)
        if (f.body[n].op == Op::variable) {
          at[n] = put(f.body[n]);
          Val zero = put({Op::constant, f.body[n].type});
          put({Op::set, f.body[n].type, at[n], zero});
        }
    std::vector<std::pair<Val, std::vector<Val>>> calls(f.body.size());
    for (size_t n = 0; n < f.body.size(); ++n) {
      Inst i = f.body[n];
      for (Val* o : {&i.a, &i.b, &i.c})
        if (*o != kNone) *o = at[*o];
      switch (i.op) {
        case Op::variable:
          if (!args) at[n] = put(i);
          break;
        case Op::param: at[n] = args ? (*args)[i.imm] : put(i); break;
        case Op::give:
          if (args)
            put({Op::set, i.type, (*results)[i.imm], i.a});
          else
            put(i);
          break;
        case Op::ret:
          if (args)
            put({Op::set, DType::I32, status, i.a});
          else
            put(i);
          break;
        case Op::argument: arguments.push_back(i.a); break;
        case Op::call: {
          const Function& g = m_.functions[i.imm];
          Val s = put({Op::variable, DType::I32});
          std::vector<Val> r;
          for (DType t : g.results) r.push_back(put({Op::variable, t}));
          std::vector<Val> given = std::move(arguments);
          arguments.clear();
          if (!copy(g, &given, s, &r, depth + 1)) return false;
          at[n] = put({Op::get, DType::I32, s});
          calls[n] = {s, r};
          break;
        }
        case Op::call_result:
          at[n] = put({Op::get, i.type, calls[f.body[n].a].second[i.imm]});
          break;
        case Op::intrinsic:
          for (Val a : arguments) put({Op::argument, to_[a].type, a});
          arguments.clear();
          at[n] = put(i);
          break;
        default: at[n] = put(i);
      }
    }
    return true;
  }

 private:
  Val put(const Inst& i) {
    to_.push_back(i);
    return static_cast<Val>(to_.size()) - 1;
  }
  const ir::Module& m_;
  std::vector<Inst>& to_;
};

}  // namespace

std::optional<Function> inlined(const ir::Module& m, const Function& f) {
  Function r = f;
  r.body.clear();
  if (!Inliner(m, r.body).copy(f, nullptr, kNone, nullptr, 0)) return {};
  // if_any keeps the index of its end.
  std::vector<Val> open;
  for (size_t n = 0; n < r.body.size(); ++n) {
    if (r.body[n].op == Op::if_any) open.push_back(static_cast<Val>(n));
    if (r.body[n].op == Op::end_if) {
      r.body[open.back()].imm = static_cast<Val>(n);
      open.pop_back();
    }
  }
  return r;
}

}  // namespace numbus
