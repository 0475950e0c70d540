// What numba.cuda's names mean inside a kernel.
#include <algorithm>

#include "frontend/lower.h"

namespace numbus::frontend {

using ir::Intrinsic;

Value Lower::cuda_attribute(const Node& n, const std::string& name) {
  static const std::unordered_map<std::string, Intrinsic> kIndices = {
      {"threadIdx", Intrinsic::tid_x},
      {"blockDim", Intrinsic::ntid_x},
      {"blockIdx", Intrinsic::ctaid_x},
      {"gridDim", Intrinsic::nctaid_x}};
  std::string rest = name.substr(5);
  size_t dot = rest.find('.');
  if (!u_.options.kernel)
    fail(n, "cuda." + rest + " means something only inside a kernel", "decorate with @cuda.jit");
  if (dot != std::string::npos) {
    auto it = kIndices.find(rest.substr(0, dot));
    int axis = rest.back() - 'x';
    if (it != kIndices.end() && axis >= 0 && axis < 3) {
      Val v = intrinsic(static_cast<Intrinsic>(static_cast<int>(it->second) + axis), DType::I32);
      // Never negative, which a conversion from uint32 says best.
      return integer(b_->cast(b_->emit(Op::bits, DType::U32, v), DType::I64));
    }
  }
  if (rest == "laneid")
    return integer(b_->cast(intrinsic(Intrinsic::laneid, DType::I32), DType::I64));
  if (rest == "warpsize") return known_integer(32);
  fail(n, "cuda has no '" + rest + "' in kernels");
}

Value Lower::memory_array(const Call& c, ir::Space space) {
  const Value* shape = c.get(0, "shape");
  auto t = dtype_argument(c, 1, "dtype");
  std::string what = space == ir::Space::Shared ? "cuda.shared.array" : "cuda.local.array";
  if (!shape || !t) fail(c.n, what + " needs a shape and a type", what + "(64, np.float32)");
  std::vector<Val> extents = shape_argument(c.n, *shape);
  int64_t bytes = itemsize(*t);
  bool dynamic = false;
  for (Val e : extents) {
    auto k = constant_of(e);
    if (!k)
      fail(c.n, "the shape in " + what + " has to be known while compiling",
           "use a constant, or a global of the module");
    if (*k == 0 && space == ir::Space::Shared)
      dynamic = true;
    else if (*k <= 0)
      fail(c.n, "the shape in " + what + " has to be positive; got " + std::to_string(*k));
    bytes *= *k;
  }
  if (space == ir::Space::Shared && bytes > 227 * 1024)
    fail(c.n,
         "too much shared memory: " + std::to_string(bytes) + " bytes; a block has at most " +
             std::to_string(227 * 1024),
         "use smaller tiles");
  Value r;
  r.type = Type::array_of(*t, static_cast<int>(extents.size()));
  r.type.space = space;
  Val base, number = ir::kNone;
  if (dynamic) {
    base = intrinsic(Intrinsic::dynamic_shared, DType::I64, ir::kNone, ir::kNone, ir::kNone, space);
    // The launch says how many bytes; the extent is what they hold.
    Val size =
        intrinsic(Intrinsic::dynamic_shared, DType::I64, ir::kNone, ir::kNone, ir::kNone, space, 1);
    extents = {b_->emit(Op::floor_divide, DType::I64, size, ci(itemsize(*t)))};
    r.type.ndim = 1;
  } else {
    // Each call in the source is memory of its own.
    auto [known, fresh] = u_.memories.try_emplace({spec_.function, c.n.line, c.n.col},
                                                  static_cast<int>(u_.memories.size()));
    number = ci(known->second);
    base =
        intrinsic(space == ir::Space::Shared ? Intrinsic::shared_memory : Intrinsic::local_memory,
                  DType::I64, number, ir::kNone, ir::kNone, space, bytes);
  }
  r.v = {base, ci(0)};
  r.v.insert(r.v.end(), extents.begin(), extents.end());
  r.origin = uint64_t{1} << (32 + base % 32);
  if (space == ir::Space::Shared && checks_threads()) {
    SharedArray s{dynamic ? -1 : static_cast<int>(constant_of(number).value()),
                  "the array",
                  {},
                  itemsize(*t)};
    const Node* target = here_->kind == NodeKind::Assign ? here_->one(Field::targets) : nullptr;
    if (target && target->kind == NodeKind::Name) s.name = target->text;
    for (Val e : extents) s.shape.push_back(constant_of(e).value_or(0));
    auto known = [&](const SharedArray& o) { return o.number == s.number; };
    auto& all = u_.result.shared;
    if (std::none_of(all.begin(), all.end(), known)) all.push_back(std::move(s));
  }
  std::vector<Val> strides(extents.size());
  Val step = ci(itemsize(*t));
  for (size_t d = extents.size(); d-- > 0;) {
    strides[d] = step;
    step = mul(step, extents[d]);
  }
  r.v.insert(r.v.end(), strides.begin(), strides.end());
  return r;
}

Value Lower::atomic(const Call& c, const std::string& name) {
  static const std::unordered_map<std::string, Intrinsic> kKinds = {
      {"add", Intrinsic::atomic_add},       {"sub", Intrinsic::atomic_sub},
      {"and_", Intrinsic::atomic_and},      {"or_", Intrinsic::atomic_or},
      {"xor", Intrinsic::atomic_xor},       {"inc", Intrinsic::atomic_inc},
      {"dec", Intrinsic::atomic_dec},       {"exch", Intrinsic::atomic_exch},
      {"max", Intrinsic::atomic_max},       {"min", Intrinsic::atomic_min},
      {"nanmax", Intrinsic::atomic_nanmax}, {"nanmin", Intrinsic::atomic_nanmin},
      {"cas", Intrinsic::atomic_cas},       {"compare_and_swap", Intrinsic::atomic_cas},
      {"load", Intrinsic::atomic_load}};
  auto it = kKinds.find(name);
  if (it == kKinds.end()) fail(c.n, "cuda.atomic has no '" + name + "'");
  bool whole = name == "compare_and_swap", swaps = it->second == Intrinsic::atomic_cas;
  bool loads = it->second == Intrinsic::atomic_load;
  size_t need = loads ? 2 : swaps && !whole ? 4 : 3;
  expect(c, "cuda.atomic." + name, need, need);
  const Value& a = c.args[0];
  if (!a.type.is_array() || a.lazy)
    fail(c.n, "cuda.atomic works on an array; got " + frontend::name(a.type));
  DType t = a.type.dtype;
  if (itemsize(t) < 4 || is_complex(t))
    fail(c.n, "cuda.atomic works on 32- and 64-bit numbers; got " + frontend::name(a.type));
  bool bits = name == "and_" || name == "or_" || name == "xor" || name == "inc" || name == "dec";
  if (bits && is_float(t))
    fail(c.n, "cuda.atomic." + name + " needs integers; got " + frontend::name(a.type));
  if (!loads) {
    if (a.type.readonly) fail(c.n, "the array is read-only; got " + frontend::name(a.type));
    written_ |= a.origin;
  }
  std::vector<Value> by;
  if (whole)
    by.assign(a.type.ndim, known_integer(0));
  else if (c.args[1].type.is(Type::Tag::Tuple))
    by = c.args[1].items;
  else
    by = {c.args[1]};
  if (by.size() != a.type.ndim)
    fail(c.n, "an index for each dimension is needed: " + frontend::name(a.type) + " has " +
                  std::to_string(a.type.ndim) + ", got " + std::to_string(by.size()));
  Val at = a.v[0];
  const auto& given = c.n.all(Field::args);
  const Node* array = given.empty() ? nullptr : &given[0];
  for (size_t d = 0; d < by.size(); ++d)
    at =
        add(at, mul(wrapped(c.n, index_value(c.n, by[d]), a.shape()[d], d, array), a.strides()[d]));
  here_ = &c.n;
  watch(ir::Access::Atomic, t, at, ci(0), ir::kNone, a.type.space);
  if (loads) return number(intrinsic(it->second, t, at, ir::kNone, ir::kNone, a.type.space), t);
  if (swaps) {
    const Value &expected = c.args[whole ? 1 : 2], &desired = c.args[whole ? 2 : 3];
    return number(intrinsic(it->second, t, at, as(cast(c.n, desired, t), t),
                            as(cast(c.n, expected, t), t), a.type.space),
                  t);
  }
  return number(
      intrinsic(it->second, t, at, as(cast(c.n, c.args[2], t), t), ir::kNone, a.type.space), t);
}

Value Lower::call_cuda(const Call& c, const std::string& name) {
  const Node& n = c.n;
  Value none;
  none.type = Type::of(Type::Tag::None);
  auto i32 = [&](size_t i) { return as(cast(n, c.args.at(i), DType::I32), DType::I32); };
  // What waits for other threads says where it is, in a kernel that is checked.
  auto waiting = [&](Intrinsic i, Val a = ir::kNone, Val b = ir::kNone, Val by = ir::kNone,
                     DType t = DType::I32) {
    return intrinsic(i, t, a, b, by, ir::Space::Global, checks_threads() ? site_of(n) : 0);
  };
  auto from_i32 = [&](Val v) { return number(v, DType::I32); };
  if (!u_.options.kernel && name != "fma" && name != "popc" && name != "clz" && name != "brev" &&
      name != "mul_high" && name != "ffs" && name != "cbrt" && name != "selp" &&
      !name.starts_with("libdevice."))
    fail(n, "cuda." + name + " means something only inside a kernel", "decorate with @cuda.jit");
  if (name == "grid" || name == "gridsize") {
    auto k = c.args.size() == 1 ? known_int(c.args[0]) : std::nullopt;
    if (!k || *k < 1 || *k > 3)
      fail(n, "cuda." + name + "() takes the number of dimensions: 1, 2 or 3");
    Value r;
    r.type = Type::of(Type::Tag::Tuple);
    for (int d = 0; d < *k; ++d) {
      auto at = [&](Intrinsic i) {
        Val v = intrinsic(static_cast<Intrinsic>(static_cast<int>(i) + d), DType::I32);
        return b_->cast(b_->emit(Op::bits, DType::U32, v), DType::I64);
      };
      Val v = name == "grid"
                  ? add(mul(at(Intrinsic::ctaid_x), at(Intrinsic::ntid_x)), at(Intrinsic::tid_x))
                  : mul(at(Intrinsic::nctaid_x), at(Intrinsic::ntid_x));
      r.items.push_back(integer(v));
      r.type.items.push_back(r.items.back().type);
    }
    return *k == 1 ? r.items[0] : r;
  }
  if (name == "shared.array") return memory_array(c, ir::Space::Shared);
  if (name == "local.array") return memory_array(c, ir::Space::Local);
  if (name == "const.array_like") {
    expect(c, "cuda.const.array_like", 1, 1);
    if (!c.args[0].type.is_array() || !c.args[0].type.readonly)
      fail(n, "cuda.const.array_like takes a global array; got " + frontend::name(c.args[0].type));
    return c.args[0];
  }
  if (name.starts_with("atomic.")) return atomic(c, name.substr(7));
  if (name == "syncthreads") {
    waiting(Intrinsic::barrier);
    return none;
  }
  if (name == "syncthreads_count" || name == "syncthreads_and" || name == "syncthreads_or") {
    expect(c, "cuda." + name, 1, 1);
    Intrinsic i = name == "syncthreads_count" ? Intrinsic::barrier_count
                  : name == "syncthreads_and" ? Intrinsic::barrier_and
                                              : Intrinsic::barrier_or;
    return from_i32(waiting(i, truth(n, c.args[0])));
  }
  if (name == "threadfence" || name == "threadfence_block" || name == "threadfence_system") {
    intrinsic(name == "threadfence"         ? Intrinsic::fence
              : name == "threadfence_block" ? Intrinsic::fence_block
                                            : Intrinsic::fence_system,
              DType::I32);
    return none;
  }
  if (name == "cg.this_grid") {
    Value group;
    group.type = Type::of(Type::Tag::Function);
    group.type.text = "cuda.grid_group";
    return group;
  }
  if (name == "grid_group.sync") {
    waiting(Intrinsic::grid_barrier);
    return none;
  }
  if (name == "syncwarp") {
    Val mask = c.args.empty() ? b_->constant(DType::I32, Scalar::from_int(-1)) : i32(0);
    waiting(Intrinsic::syncwarp, mask);
    return none;
  }
  // Lanes at different calls are not together: each call is a site of its own.
  if (name == "activemask")
    return from_i32(intrinsic(Intrinsic::activemask, DType::I32, ir::kNone, ir::kNone, ir::kNone,
                              ir::Space::Global,
                              site(n, "", "activemask " + std::to_string(n.col)) + 1));
  if (name == "lanemask_lt") return from_i32(intrinsic(Intrinsic::lanemask_lt, DType::I32));
  if (name == "nanosleep") {
    intrinsic(Intrinsic::nanosleep, DType::I32, i32(0));
    return none;
  }
  if (name.starts_with("shfl_")) {
    expect(c, "cuda." + name, 3, 3);
    Intrinsic i = name == "shfl_sync"        ? Intrinsic::shfl_idx
                  : name == "shfl_up_sync"   ? Intrinsic::shfl_up
                  : name == "shfl_down_sync" ? Intrinsic::shfl_down
                                             : Intrinsic::shfl_xor;
    const Value& v = c.args[1];
    if (!v.type.is_number() || is_complex(v.type.dtype))
      fail(n, "cuda." + name + " moves a number; got " + frontend::name(v.type));
    DType t = v.type.dtype;
    DType word = itemsize(t) == 8 ? t : t == DType::F32 ? t : DType::I32;
    Val moved = waiting(i, i32(0), as(v, word), i32(2), word);
    return cast(n, number(moved, word, v.type.weak), t, v.type.weak);
  }
  if (name == "all_sync" || name == "any_sync" || name == "eq_sync" || name == "ballot_sync") {
    expect(c, "cuda." + name, 2, 2);
    Intrinsic i = name == "all_sync"   ? Intrinsic::all_sync
                  : name == "any_sync" ? Intrinsic::any_sync
                  : name == "eq_sync"  ? Intrinsic::eq_sync
                                       : Intrinsic::ballot;
    bool ballot = i == Intrinsic::ballot;
    Val mask = i32(0);
    Val v = waiting(i, mask, truth(n, c.args[1]), ir::kNone, ballot ? DType::I32 : DType::Bool);
    if (ballot) return number(b_->emit(Op::bits, DType::U32, v), DType::U32);
    return boolean(v);
  }
  if (name == "match_any_sync" || name == "match_all_sync") {
    bool any = name == "match_any_sync";
    expect(c, "cuda." + name, 2, any ? 3 : 2);
    const Value& v = c.args[1];
    DType word = itemsize(v.type.dtype) == 8 ? DType::I64 : DType::I32;
    Val bits = is_float(v.type.dtype) ? b_->emit(Op::bits, word, v.v[0]) : as(v, word);
    if (c.args.size() == 3) {
      auto k = known_int(c.args[2]);
      if (!k || *k < 1 || *k > 31 || !v.type.is_integer())
        fail(n, "cuda.match_any_sync compares 1 to 31 low bits of an integer",
             "a constant, such as cuda.match_any_sync(mask, value, 8)");
      bits = b_->emit(Op::bitwise_and, word, bits,
                      b_->constant(word, Scalar::from_int((int64_t{1} << *k) - 1)));
      if (!checks_threads()) {
        Val m = intrinsic(Intrinsic::match_any, DType::I32, i32(0), bits, ir::kNone,
                          ir::Space::Global, *k);
        return number(m, DType::I32);
      }
    }
    Val m = waiting(any ? Intrinsic::match_any : Intrinsic::match_all, i32(0), bits);
    Value mask = number(m, DType::I32);
    if (any) return mask;
    Value r;
    Value all = boolean(
        b_->emit(Op::not_equal, DType::Bool, m, b_->constant(DType::I32, Scalar::from_int(0))));
    r.items = {mask, all};
    r.type = Type::tuple_of({mask.type, all.type});
    return r;
  }
  if (name == "popc") {
    const Value& v = c.args.at(0);
    DType u = itemsize(v.type.dtype) == 8 ? DType::U64 : DType::U32;
    return cast(n, number(b_->emit(Op::bitwise_count, DType::U8, as(v, u)), DType::U8), DType::I64,
                true);
  }
  if (name == "clz" || name == "brev" || name == "ffs") {
    const Value& v = c.args.at(0);
    DType w = itemsize(v.type.dtype) == 8 ? DType::I64 : DType::I32;
    Intrinsic i = name == "clz"    ? Intrinsic::clz
                  : name == "brev" ? Intrinsic::brev
                                   : Intrinsic::ffs;
    Val r = intrinsic(i, w, as(v, w));
    return name == "brev" ? number(b_->emit(Op::bits, w == DType::I64 ? DType::U64 : DType::U32, r),
                                   w == DType::I64 ? DType::U64 : DType::U32)
                          : number(r, w);
  }
  if (name == "on_gpu") return boolean(intrinsic(Intrinsic::on_gpu, DType::Bool));
  if (name == "mma_tf32") {
    constexpr int kArguments = 10, kResults = 4;
    expect(c, "cuda.mma_tf32", kArguments, kArguments);
    std::vector<Val> given;
    for (const Value& a : c.args) given.push_back(as(a, DType::F32));
    Value r;
    std::vector<Type> types;
    for (int k = 0; k < kResults; ++k) {
      for (Val v : given) b_->emit(Op::argument, DType::F32, v);
      r.items.push_back(number(intrinsic(Intrinsic::mma_tf32, DType::F32, ir::kNone, ir::kNone,
                                         ir::kNone, ir::Space::Global, k),
                               DType::F32));
      types.push_back(r.items.back().type);
    }
    r.type = Type::tuple_of(types);
    return r;
  }
  if (name == "fma") {
    expect(c, "cuda.fma", 3, 3);
    DType t = DType::F32;
    bool weak = true;
    for (const Value& a : c.args) {
      if (!a.type.weak) weak = false;
      if (a.type.dtype == DType::F64 && !a.type.weak) t = DType::F64;
    }
    if (weak) t = DType::F64;
    return number(b_->emit(Op::fma, t, as(c.args[0], t), as(c.args[1], t), as(c.args[2], t)), t);
  }
  if (name == "mul_high") {
    expect(c, "cuda.mul_high", 2, 2);
    const Val a = as(cast(n, c.args[0], DType::U64), DType::U64);
    return number(
        b_->emit(Op::mul_high, DType::U64, a, as(cast(n, c.args[1], DType::U64), DType::U64)),
        DType::U64);
  }
  if (name == "cbrt") return unary(n, Op::cbrt, c.args.at(0));
  if (name == "selp") {
    expect(c, "cuda.selp", 3, 3);
    return choose(n, truth(n, c.args[0]), c.args[1], c.args[2]);
  }
  int library = u_.program.library("cuda." + name);
  if (library >= 0) return call_function(c, library);
  not_yet(n, "cuda." + name);
}

}  // namespace numbus::frontend
