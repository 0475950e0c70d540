// The steps of a kernel's body: values kept in registers from one instruction to the next.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "lazy/inline_function.h"
#include "lazy/kernel_builder.h"
#include "lazy/reduce.h"
#include "passes/expand.h"

namespace numbus {

ir::Val KernelBuilder::scalar(int imm, DType t) {
  step_ir_.scalars.push_back(t);
  scalar_imms_.push_back({imm, 0});
  return b_.emit(Op::scalar, t, kNone, kNone, kNone,
                 static_cast<int64_t>(step_ir_.scalars.size() - 1));
}

ir::Val KernelBuilder::fixed_scalar(Number value) {
  step_ir_.scalars.push_back(DType::I64);
  scalar_imms_.push_back({-1, value});
  return b_.emit(Op::scalar, DType::I64, kNone, kNone, kNone,
                 static_cast<int64_t>(step_ir_.scalars.size() - 1));
}

// The point's index in NumPy's order within the domain (or within the reduced part of it).
ir::Val KernelBuilder::position() {
  if (position_ != kNone) return position_;
  for (int d = 0; d < step_ir_.rank; ++d) {
    Number w = over(weights_, d);
    if (w == 0) continue;
    Val i = b_.emit(Op::index, DType::I64, kNone, kNone, kNone, d);
    if (w != 1) i = b_.emit(Op::multiply, DType::I64, i, fixed_scalar(w));
    position_ = position_ == kNone ? i : b_.emit(Op::add, DType::I64, position_, i);
  }
  if (position_ == kNone) position_ = b_.constant(DType::I64, Scalar::from_int(0));
  return position_;
}

ir::Val KernelBuilder::box_of(const Member& m) {
  if (whole(m)) return kNone;
  Vec box;
  for (size_t d = 0; d < g_.shape.size(); ++d) {
    box.push_back(m.at[d]);
    box.push_back(m.at[d] + p_.instrs[m.instr].shape[d]);
  }
  auto at = std::find(boxes_.begin(), boxes_.end(), box) - boxes_.begin();
  return b_.emit(Op::in_box, DType::Bool, kNone, kNone, kNone, at);
}

ir::Val KernelBuilder::both(Val x, Val y) { return numbus::both(b_, x, y); }

ir::Val KernelBuilder::load(int arg, Val where) {
  if (whole_loads_) where = kNone;
  return b_.emit(Op::load, step_ir_.args[arg].dtype, where, kNone, kNone, arg);
}

ir::Val KernelBuilder::read(const Access& a, const Member& m, Val where) {
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

void KernelBuilder::check(CheckOf<Number> c, const Member& m, Val wrong, Val value) {
  b_.emit(Op::check, DType::Bool, wrong, convert(b_, value, DType::I64), kNone, step_ir_.checks++);
  c.instr = m.instr;
  c.source = p_.instrs[m.instr].source;
  step_.checks.push_back(std::move(c));
}

ir::Val KernelBuilder::spread_offset(const PlanInstr& p, const Access& a, const Member& m,
                                     Val& where) {
  Val offset = kNone, zero = b_.constant(DType::I64, Scalar::from_int(0));
  // A scatter's indices have to be right whatever its predicate says.
  Val known = p.instr.scatters() ? kNone : where;
  auto index = [&](Op op, DType t, Val x, Val y) { return b_.emit(op, t, x, y); };
  for (int d = 0, n = 1; d < a.layout->ndim(); ++d) {
    if (!(p.instr.axes >> d & 1)) continue;
    Val given = convert(b_, read(p.in[n++], m, known), DType::I64);
    Val extent = fixed_scalar(a.layout->shape(d));
    Val at = b_.emit(Op::select, DType::I64, index(Op::less, DType::Bool, given, zero),
                     index(Op::add, DType::I64, given, extent), given);
    if (p.instr.bounds != Instr::Sure && part_ != Part::Guarded) {
      Val wrong = index(Op::logical_or, DType::Bool, index(Op::less, DType::Bool, at, zero),
                        index(Op::greater_equal, DType::Bool, at, extent));
      if (p.instr.bounds == Instr::Report) {
        CheckOf<Number> c;
        c.axis = d;
        c.extent = a.layout->shape(d);
        check(c, m, both(known, wrong), given);
      }
      where = both(where, b_.emit(Op::logical_not, DType::Bool, wrong));
    }
    Val bytes = index(Op::multiply, DType::I64, at, fixed_scalar(a.layout->stride(d)));
    offset = offset == kNone ? bytes : index(Op::add, DType::I64, offset, bytes);
  }
  return offset;
}

void KernelBuilder::emit(const Member& m) {
  const PlanInstr& p = p_.instrs[m.instr];
  const Instr& i = p.instr;
  Val where = box_of(m);
  auto operand = [&](int n, DType t) {
    return convert(
        b_, p.in[n].storage < 0 ? scalar(p.in[n].imm, p.in[n].dtype) : read(p.in[n], m, where), t);
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
  } else if (i.scatters()) {
    Val offset = spread_offset(p, p.out, m, where);
    if (part_ == Part::Guard) return;
    const int arg = spread_arg(p, p.out, m);
    if (i.by == Op::cast) {
      b_.emit(i.op, p.out.dtype, operand(0, p.out.dtype), where, offset, arg);
      return;
    }
    // The next point may be the same element.
    step_ir_.one_by_one = true;
    Val old = convert(b_, b_.emit(Op::gather, p.out.dtype, offset, where, kNone, arg), i.loop);
    Val now = expand(b_, i.by, old, row(i.by).nin == 2 ? operand(0, i.loop) : kNone);
    b_.emit(i.op, p.out.dtype, convert(b_, now, p.out.dtype), where, offset, arg);
    return;
  } else if (i.gathers()) {
    Val sane = where, offset = spread_offset(p, p.in[0], m, sane);
    v = b_.emit(Op::gather, p.in[0].dtype, offset, sane, kNone, spread_arg(p, p.in[0], m));
    // What leaves the process before the report is read (gradients, to other ranks) tells, too.
    if (i.bounds == Instr::Report && part_ != Part::Guarded && kind(p.in[0].dtype) == Kind::Float)
      v = choose(
          b_, sane, v,
          b_.constant(p.in[0].dtype, Scalar::from_float(std::numeric_limits<double>::quiet_NaN())));
  } else if (i.op == Op::apply) {
    v = inline_function(b_, *i.function, operand, where);
  } else {
    // Scalars have been looked at when they were given.
    if (i.op == Op::power && kind(i.loop) == Kind::Int && p.in[1].storage >= 0 &&
        kind(p.in[1].dtype) == Kind::Int) {
      CheckOf<Number> c;
      c.kind = CheckOf<Number>::NegativePower;
      const Val zero = b_.constant(i.loop, Scalar::from_int(0)), exponent = operand(1, i.loop);
      check(c, m, both(where, b_.emit(Op::less, DType::Bool, exponent, zero)), exponent);
    }
    v = map_value(b_, i.op, i.loop, p.out.dtype, i.nin, operand);
  }
  v = convert(b_, v, p.out.dtype);
  write(arg_of(p.out, m), v, where);
}

void KernelBuilder::write(int arg, Val v, Val where) {
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

void KernelBuilder::store_results() {
  for (size_t a = 0; a < args_.size(); ++a) {
    if (cells_[a].value == kNone || !p_.storages[args_[a].storage].needed) continue;
    b_.emit(Op::store, args_[a].dtype, cells_[a].value, cells_[a].where, kNone,
            static_cast<int64_t>(a));
  }
}

}  // namespace numbus
