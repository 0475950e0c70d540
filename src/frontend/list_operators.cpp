// + and * of lists.
#include <utility>

#include "frontend/lower.h"

namespace numbus::frontend {

Value Lower::repeat_list(const Node& n, const Value& list, const Value& times) {
  Val length = list.shape()[0];
  Val by = b_->emit(Op::maximum, DType::I64, index_value(n, times), ci(0));
  // A product that wraps is one of too many items anyway.
  Val most = b_->emit(Op::floor_divide, DType::I64, ci(int64_t{1} << 60),
                      b_->emit(Op::maximum, DType::I64, length, ci(1)));
  Val count =
      b_->emit(Op::select, DType::I64, less(most, by), ci(int64_t{1} << 60), mul(length, by));
  count = b_->emit(Op::select, DType::I64, b_->emit(Op::equal, DType::Bool, length, ci(0)), ci(0),
                   count);
  Value r = materialise(n, lazy(list.type.dtype, std::vector<Val>{count},
                                [this, from = list, length](std::span<const Val> at) {
                                  Val i = constant_of(length) == 1
                                              ? ci(0)
                                              : b_->emit(Op::remainder, DType::I64, at[0], length);
                                  return element(from, std::vector<Val>{i});
                                }));
  r.type.text = "list";
  r.type.weak = list.type.weak;
  return r;
}

Value Lower::join_lists(const Node& n, const Value& a, const Value& b) {
  Type t;
  join(Type::number_of(a.type.dtype, a.type.weak), Type::number_of(b.type.dtype, b.type.weak), t);
  Val first = a.shape()[0], second = b.shape()[0];
  Value r = allocate(t.dtype, std::vector<Val>{add(first, second)});
  counted(first, [&](Val i) { set_element(n, r, std::vector<Val>{i}, element(a, {&i, 1})); });
  counted(second,
          [&](Val i) { set_element(n, r, std::vector<Val>{add(first, i)}, element(b, {&i, 1})); });
  r.type.text = "list";
  r.type.weak = t.weak;
  return r;
}

// a + b and a * n of lists whose items are no numbers: lists of their own.
Value Lower::binary_lists(const Node& n, Op op, const Value& given_a, const Value& given_b) {
  Value a = boxed(n, given_a), b = boxed(n, given_b);
  if (a.unknown() || b.unknown() || is_open(a.type) || is_open(b.type)) return {};
  if (op == Op::multiply && a.type.is_integer()) std::swap(a, b);
  const bool lists = a.type.is(Type::Tag::List) && b.type.is(Type::Tag::List);
  if (op == Op::multiply && a.type.is(Type::Tag::List) && b.type.is_integer()) {
    Value r =
        call_function({n, {a, integer(index_value(n, b))}, {}}, u_.program.library("list times"));
    r.fresh = true;
    return r;
  }
  if (op != Op::add || !lists)
    not_yet(n, "operators on a " + name((a.type.is(Type::Tag::List) ? a : b).type),
            "a loop over its items");
  Type both;
  if (!join(a.type, b.type, both))
    not_yet(n, "the sum of a " + name(a.type) + " and a " + name(b.type), "items of one type");
  Value r = new_list(both.items[0], ci(0), ci(0));
  for (const Value* v : {&a, &b})
    call_function({n, {r, *v}, {}}, u_.program.library("list extend list"));
  return r;
}

}  // namespace numbus::frontend
