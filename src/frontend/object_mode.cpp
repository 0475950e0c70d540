// `with objmode(…)`: statements that Python runs. The block is a function of Python's by now, which
// is called with the names that it reads and gives those that the program has declared
// (python/numbus/kernels/_object_mode.py).
#include <algorithm>

#include "base/host_call.h"
#include "frontend/lower.h"

namespace numbus::frontend {

namespace {

// What Python can be given and what it does to it is seen: lists are copies there, which the
// bindings look at.
bool can_be_given(const Type& t) {
  if (t.is(Type::Tag::Tuple) && !t.text.empty()) return false;
  return !t.is(Type::Tag::Generator) && !t.is_set() && std::ranges::all_of(t.items, can_be_given);
}

}  // namespace

Value Lower::call_object_mode(const Call& c, const Type& block) {
  const Node& n = c.n;
  refuse_in_kernel(n, "objmode");
  if (portion_) not_yet(n, "objmode in a parallel loop", "range instead of prange");
  if (generates_) not_yet(n, "objmode in a generator", "a function that it calls");
  if (!spec_.runs_python) spec_.runs_python = changed_ = true;
  std::vector<Type> types;
  std::vector<Val> given;
  for (const auto& [name, value] : c.keywords) {
    Value v = held(n, boxed(n, value.lazy ? materialise(n, value) : value));
    if (v.unknown() || is_open(v.type)) return {};
    if (only_inside(v.type) || !can_be_given(v.type))
      not_yet(n, "'" + name + "' in objmode, of the type " + frontend::name(v.type),
              "arrays, numbers, strings, and tuples of these");
    written_ |= origin_of(v);
    put_in_lists(origin_of(v));
    v.type = of_any_value(v.type);
    types.push_back(v.type);
    for (Val w : flatten(v)) given.push_back(w);
  }
  std::vector<Type> results = block.items;
  for (Type& t : results) {
    hold_python_numbers(t);
    own_arrays(t);
  }
  const Type result = Type::tuple_of(results);
  const std::vector<DType> parts = words(result);
  auto memory = [&](size_t count) {
    const Val owner = intrinsic(ir::Intrinsic::allocate, DType::I64,
                                ci(8 * static_cast<int64_t>(std::max<size_t>(count, 1))));
    expect_memory(owner);
    own(owner);
    return intrinsic(ir::Intrinsic::data_of, DType::I64, owner);
  };
  const Val from = memory(given.size()), to = memory(parts.size());
  for (size_t k = 0; k < given.size(); ++k) {
    const DType t = stored(b_->type(given[k]));
    write_at(t, b_->cast(given[k], t), from, ci(8 * static_cast<int64_t>(k)), ir::Space::Global);
  }
  auto described = [&](const std::string& text, const Type& t) {
    const int s = site(n, "objmode", text);
    u_.result.sites[static_cast<size_t>(s)].argument = t;
    u_.result.sites[static_cast<size_t>(s)].missing = true;
    return s;
  };
  const std::string number = std::to_string(block.number);
  const int asks = described(number, Type::tuple_of(types));
  const int gives = described(number + " gives", result);
  const Val sites = intrinsic(ir::Intrinsic::caught, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                              ir::Space::Global, static_cast<int64_t>(ir::Noted::Sites));
  for (Val w : {ci(0), sites, ci(asks), ci(gives), from, to}) b_->emit(Op::argument, DType::I64, w);
  const Val raised =
      intrinsic(ir::Intrinsic::host_call, DType::I64, ir::kNone, ir::kNone, ir::kNone,
                ir::Space::Global, static_cast<int64_t>(HostCall::ObjectMode));
  when(b_->emit(Op::not_equal, DType::Bool, raised, ci(0)),
       [&] { raise_at(site(n, "objmode", "raised"), raised); });
  std::vector<Val> got;
  for (size_t k = 0; k < parts.size(); ++k) {
    const Val word =
        read_at(stored(parts[k]), to, ci(8 * static_cast<int64_t>(k)), ir::Space::Global).v[0];
    got.push_back(b_->cast(word, parts[k]));
  }
  size_t next = 0;
  Value r = unflatten(result, got, next);
  for (size_t o : owners(result)) own(got[o]);
  // An array of the function's may come back.
  set_origin(r, ~uint64_t{0});
  return r.items.size() == 1 ? r.items[0] : r;
}

}  // namespace numbus::frontend
