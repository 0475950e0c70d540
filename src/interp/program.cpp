// Step dispatch of the block interpreter.
#include "interp/program.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "interp/blocks.h"

namespace numbus::interp {

using ir::Inst;
using ir::kNone;
using ir::Val;

const LoopSet& loops() {
  static const LoopSet& set = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                                      __builtin_cpu_supports("bmi2")
                                  ? kLoopsV3
                                  : kLoopsBaseline;
  return set;
}

namespace {

constexpr int kBlock = 256;

// As move_strided(), of elements at an offset each, in bytes, where the mask (null: everywhere)
// holds.
template <class U, bool kGather>
void move_scattered(char* memory, int64_t stride, const int64_t* offset, const char* mask,
                    char* block, int64_t n) {
  U* dense = reinterpret_cast<U*>(block);
  for (int64_t i = 0; i < n; ++i) {
    if (mask && !mask[i]) continue;
    char* there = memory + i * stride + offset[i];
    if constexpr (kGather)
      std::memcpy(dense + i, there, sizeof(U));
    else
      std::memcpy(there, dense + i, sizeof(U));
  }
}
template <bool kGather>
void move(int size, char* memory, int64_t stride, const int64_t* offset, const char* mask,
          char* block, int64_t n) {
  switch (size) {
    case 1: return move_scattered<uint8_t, kGather>(memory, stride, offset, mask, block, n);
    case 2: return move_scattered<uint16_t, kGather>(memory, stride, offset, mask, block, n);
    case 4: return move_scattered<uint32_t, kGather>(memory, stride, offset, mask, block, n);
    default: return move_scattered<uint64_t, kGather>(memory, stride, offset, mask, block, n);
  }
}

// The element becomes what the scatter makes of it and the value.
void combine(const Inst& i, char* element, const char* value, int size) {
  alignas(8) char old[8], now[8], given[8];
  const DType t = real_of(i.type), computed = computed_in(t);
  std::memcpy(old, element, size);
  if (t == computed) {
    loops().row(combines_by(i.op), t)(now, old, value, nullptr, 1);
  } else {
    alignas(8) char result[8];
    loops().cast(t, computed)(given, old, nullptr, nullptr, 1);
    std::memcpy(old, given, sizeof given);
    loops().cast(t, computed)(given, value, nullptr, nullptr, 1);
    loops().row(combines_by(i.op), computed)(result, old, given, nullptr, 1);
    loops().cast(computed, t)(now, result, nullptr, nullptr, 1);
  }
  std::memcpy(element, now, size);
}

}  // namespace

Program::Program(const ir::Kernel& k)
    : kernel_(k),
      block_(k.one_by_one              ? 1
             : k.acc == ir::Acc::Lanes ? ir::kLanes
                                       : kBlock) {
  for (const Inst& i : k.body) {
    Step s{i};
    if (i.a != kNone) s.operand = k.body[i.a].type;
    if (static_cast<int>(i.op) < kNumRows) {
      s.loop = loops().row(i.op, s.operand);
    } else if (i.op == Op::cast) {
      s.loop = loops().cast(s.operand, i.type);
    } else if (i.op == Op::select || i.op == Op::if_result) {
      s.loop = loops().select(itemsize(i.type));
    }
    bool needs_loop = static_cast<int>(i.op) < kNumRows || i.op == Op::cast;
    if (needs_loop && !s.loop)
      raise(ErrorKind::Runtime, "interpreter: no loop for " + std::string(op_name(i.op)));
    s.fixed = i.op == Op::constant || i.op == Op::scalar;
    steps_.push_back(s);
  }
  const size_t total = assign_buffers();
  // What is stored as it was loaded, or says where, needs a copy: an earlier store may go to the
  // same memory.
  for (const Inst& i : k.body) {
    if (i.op != Op::store) continue;
    for (Val v : {i.a, i.b}) {
      while (v != kNone && (k.body[v].op == Op::bits || k.body[v].op == Op::real_part))
        v = k.body[v].a;
      if (v != kNone) steps_[v].stored = true;
    }
  }
  arena_.reset(new char[total + 64]);
  at_.resize(steps_.size());
  for (size_t v = 0; v < steps_.size(); ++v) {
    at_[v] = buffer(static_cast<Val>(v));
    if (steps_[v].inst.op == Op::constant)
      fill(static_cast<Val>(v), &steps_[v].inst.imm, itemsize(steps_[v].inst.type), block_);
  }
}

// Gives each value a place in the arena, which it leaves after its last use, so that a block's
// values stay in the first-level cache. The arena's bytes.
size_t Program::assign_buffers() {
  const auto n = static_cast<Val>(steps_.size());
  // Parts of values, and what is only seen as another type, are where the values are.
  std::vector<Val> root(steps_.size()), last(steps_.size());
  std::vector<std::pair<Val, Val>> open, repeats;
  for (Val v = 0; v < n; ++v) {
    const Inst& i = steps_[v].inst;
    const bool alias = i.op == Op::bits || i.op == Op::real_part || i.op == Op::imag_part;
    root[v] = alias ? root[i.a] : v;
    last[v] = v;
    for (Val o : {i.a, i.b, i.c})
      if (o != kNone) last[root[o]] = v;
    if (i.op == Op::repeat) open.emplace_back(v, v);
    if (i.op == Op::end_repeat) {
      repeats.emplace_back(open.back().first, v);
      open.pop_back();
    }
  }
  // What a loop's iterations pass on, and what they read from outside, lasts as long as the loop;
  // inner loops come first.
  for (auto [begin, end] : repeats)
    for (Val v = 0; v < end; ++v) {
      const Op op = steps_[v].inst.op;
      const bool passed_on = v > begin && (op == Op::carry || op == Op::carry_next);
      if (passed_on || (v < begin && last[v] > begin)) last[v] = std::max(last[v], end);
    }
  std::vector<std::vector<Val>> ending(steps_.size());
  for (Val v = 0; v < n; ++v)
    if (root[v] == v) ending[last[v]].push_back(v);
  offset_.resize(steps_.size());
  std::vector<size_t> free[2];  // of one plane, of two
  size_t total = 0;
  for (Val v = 0; v < n; ++v) {
    const bool two = is_complex(steps_[v].inst.type);
    if (root[v] != v) {
      offset_[v] = offset_[root[v]];
    } else if (steps_[v].fixed || free[two].empty()) {  // constants are set once
      offset_[v] = total;
      total += static_cast<size_t>(block_) * (two ? 16 : 8);
      // Rows of a vector's width begin at a multiple of it.
      total = (total + 63) & ~size_t{63};
    } else {
      offset_[v] = free[two].back();
      free[two].pop_back();
    }
    // After this step, which must not write where it reads.
    for (Val o : ending[v])
      if (!steps_[o].fixed) free[is_complex(steps_[o].inst.type)].push_back(offset_[o]);
  }
  return total;
}

void Program::fill(Val v, const void* value, int size, int64_t n) {
  interp::fill(value, size, buffer(v), n);
}

void Program::run(const int64_t* params, int64_t row_begin, int64_t row_end, int64_t col_begin,
                  int64_t col_end, char* acc, int64_t row_origin) {
  const ir::Kernel& k = kernel_;
  int64_t widest = std::min<int64_t>(block_, col_end - col_begin);
  for (size_t v = 0; v < steps_.size(); ++v) {
    const Inst& i = steps_[v].inst;
    if (i.op != Op::scalar) continue;
    const auto* value =
        reinterpret_cast<const char*>(params + k.param_scalar(static_cast<int>(i.imm)));
    int size = itemsize(real_of(i.type));
    fill(static_cast<Val>(v), value, size, widest);
    if (is_complex(i.type)) {  // second plane
      uint64_t u = 0;
      std::memcpy(&u, value + size, size);
      char* im = buffer(static_cast<Val>(v)) + static_cast<size_t>(block_) * size;
      for (int64_t j = 0; j < widest; ++j) std::memcpy(im + j * size, &u, size);
    }
  }
  int nargs = static_cast<int>(k.args.size());
  char* rows[64];
  std::vector<char*> many;
  char** row_ptr = rows;
  if (nargs > 64) {
    many.resize(nargs);
    row_ptr = many.data();
  }
  int64_t index[ir::kMaxRank];
  for (int64_t r = row_begin; r < row_end; ++r) {
    int64_t rest = r;
    for (int d = k.rank - 2; d >= 0; --d) {
      int64_t extent = params[k.param_shape(d)];
      index[d] = rest % extent;
      rest /= extent;
    }
    for (int a = 0; a < nargs; ++a) {
      const int64_t* p = params + k.param_arg(a);
      char* ptr = reinterpret_cast<char*>(p[0]);
      for (int d = 0; d < k.rank - 1; ++d) ptr += index[d] * p[1 + d];
      row_ptr[a] = ptr;
    }
    int64_t flat = (r - row_origin) * params[k.param_shape(k.rank - 1)];
    for (int64_t col = col_begin, n; col < col_end; col += n) {
      int64_t at = col - col_begin;
      n = std::min<int64_t>(block_, col_end - col);
      if (k.acc == ir::Acc::Lanes) {  // a block never wraps around the lanes
        at = (flat + col) % ir::kLanes;
        n = std::min<int64_t>(n, ir::kLanes - at);
      }
      run_block(params, row_ptr, index, col, n, acc, at);
    }
  }
}

void Program::run_block(const int64_t* params, char* const* rows, const int64_t* index, int64_t col,
                        int64_t n, char* acc, int64_t acc_col) {
  const ir::Kernel& k = kernel_;
  int inner = k.rank - 1;
  std::vector<int64_t> remaining;
  auto copy_value = [&](char* to, const char* from, DType t, int64_t count) {
    int size = itemsize(real_of(t));
    for (int part = 0; part < (is_complex(t) ? 2 : 1); ++part) {
      size_t plane = static_cast<size_t>(part) * block_ * size;
      std::memcpy(to + plane, from + plane, count * size);
    }
  };
  auto any = [&](const char* mask) {
    return std::any_of(mask, mask + n, [](char c) { return c; });
  };
  for (size_t v = 0; v < steps_.size(); ++v) {
    const Step& s = steps_[v];
    if (s.fixed) continue;
    const Inst& i = s.inst;
    auto at = [&](Val o) -> const char* { return o == kNone ? nullptr : at_[o]; };
    char* out = buffer(static_cast<Val>(v));
    if (s.loop) {
      if (i.op == Op::if_result)
        s.loop(out, at(i.c), at(i.b), at(i.a), n);
      else
        s.loop(out, at(i.a), at(i.b), at(i.c), n);
      continue;
    }
    switch (i.op) {
      case Op::bits: at_[v] = at_[i.a]; break;
      case Op::index: {
        auto* to = reinterpret_cast<int64_t*>(out);
        bool innermost = i.imm == inner;
        for (int64_t j = 0; j < n; ++j) to[j] = innermost ? col + j : index[i.imm];
        break;
      }
      case Op::in_box: {
        bool row_in = true;
        const int64_t* p = params + k.param_box(static_cast<int>(i.imm), 0);
        for (int d = 0; d < inner; ++d)
          row_in = row_in && index[d] >= p[2 * d] && index[d] < p[2 * d + 1];
        const int64_t lo = std::clamp<int64_t>(p[2 * inner] - col, 0, n),
                      hi = row_in ? std::clamp<int64_t>(p[2 * inner + 1] - col, lo, n) : lo;
        std::memset(out, 0, static_cast<size_t>(n));
        std::memset(out + lo, 1, static_cast<size_t>(hi - lo));
        break;
      }
      case Op::load: {
        const ir::Arg& a = k.args[i.imm];
        int64_t stride = params[k.param_arg(static_cast<int>(i.imm)) + 1 + inner];
        char* from = rows[i.imm] + col * stride;
        int size = itemsize(real_of(i.type));
        // A predicated load (a: where) must not touch what lies outside.
        const char* mask = at(i.a);
        if (is_complex(i.type)) {
          for (int part = 0; part < 2; ++part) {
            char* plane = out + static_cast<size_t>(part) * block_ * size;
            if (mask)
              move_where<true>(size, from + part * size, stride, plane, mask, n);
            else
              move<true>(size, from + part * size, stride, plane, n);
          }
        } else if (mask) {
          move_where<true>(size, from, stride, out, mask, n);
        } else if (a.inner == ir::Inner::Contiguous && !a.written && !s.stored) {
          if (i.type == DType::Bool)
            normalise(from, out, n);
          else
            at_[v] = from;
          break;
        } else if (a.inner == ir::Inner::Uniform) {
          fill(static_cast<Val>(v), from, size, n);
        } else {
          move<true>(size, from, stride, out, n);
        }
        if (i.type == DType::Bool) normalise(out, out, n);
        break;
      }
      case Op::store: {
        int64_t stride = params[k.param_arg(static_cast<int>(i.imm)) + 1 + inner];
        char* to = rows[i.imm] + col * stride;
        int size = itemsize(real_of(i.type));
        int parts = is_complex(i.type) ? 2 : 1;
        for (int part = 0; part < parts; ++part) {
          auto* plane = const_cast<char*>(at(i.a)) + static_cast<size_t>(part) * block_ * size;
          if (i.b != kNone) {
            move_where<false>(size, to + part * size, stride, plane, at(i.b), n);
          } else if (parts == 1 && stride == size) {
            std::memcpy(to, plane, n * size);
          } else {
            move<false>(size, to + part * size, stride, plane, n);
          }
        }
        break;
      }
      case Op::real_part: at_[v] = at_[i.a]; break;
      case Op::imag_part: at_[v] = at_[i.a] + static_cast<size_t>(block_) * itemsize(i.type); break;
      case Op::make_complex: {
        int size = itemsize(real_of(i.type));
        std::memcpy(out, at(i.a), n * size);
        std::memcpy(out + static_cast<size_t>(block_) * size, at(i.b), n * size);
        break;
      }
      case Op::table: {
        const auto& values = ir::const_table(static_cast<int>(i.imm)).values;
        bool wide = itemsize(s.operand) == 8;
        for (int64_t j = 0; j < n; ++j) {
          int64_t t = wide ? reinterpret_cast<const int64_t*>(at(i.a))[j]
                           : reinterpret_cast<const int32_t*>(at(i.a))[j];
          // Lanes that no predicate enabled hold anything; their value is never used.
          t = std::clamp<int64_t>(t, 0, static_cast<int64_t>(values.size()) - 1);
          if (i.type == DType::F32)
            reinterpret_cast<float*>(out)[j] = static_cast<float>(values[t]);
          else
            reinterpret_cast<double*>(out)[j] = values[t];
        }
        break;
      }
      case Op::acc_load:
      case Op::acc_store: {
        int width = k.acc == ir::Acc::Lanes ? ir::kLanes : ir::kColumns;
        char* field = acc;
        for (int f = 0; f < i.imm; ++f)
          field += static_cast<size_t>(width) * itemsize(k.acc_fields[f]);
        int size = itemsize(i.type);
        field += acc_col * size;
        if (i.op == Op::acc_load)
          std::memcpy(out, field, n * size);
        else if (i.b == kNone)
          std::memcpy(field, at(i.a), n * size);
        else
          move_where<false>(size, field, size, const_cast<char*>(at(i.a)), at(i.b), n);
        break;
      }
      case Op::gather:
      case Op::scatter:
      case Op::scatter_add:
      case Op::scatter_min:
      case Op::scatter_max: {
        bool loads = i.op == Op::gather;
        int64_t stride = params[k.param_arg(static_cast<int>(i.imm)) + 1 + inner];
        char* base = rows[i.imm] + col * stride;
        int size = itemsize(real_of(i.type));
        const auto* offset = reinterpret_cast<const int64_t*>(at(loads ? i.a : i.c));
        const char* mask = at(i.b);
        for (int part = 0; part < (is_complex(i.type) ? 2 : 1); ++part) {
          size_t plane = static_cast<size_t>(part) * block_ * size;
          char* from = base + part * size;
          if (loads) {
            move<true>(size, from, stride, offset, mask, out + plane, n);
          } else if (i.op == Op::scatter) {
            move<false>(size, from, stride, offset, mask, const_cast<char*>(at(i.a)) + plane, n);
          } else {
            for (int64_t j = 0; j < n; ++j)
              if (!mask || mask[j])
                combine(i, from + j * stride + offset[j], at(i.a) + plane + j * size, size);
          }
        }
        if (loads && i.type == DType::Bool) normalise(out, out, n);
        break;
      }
      case Op::check: {
        const char* wrong = at(i.a);
        auto* report = reinterpret_cast<int64_t*>(params[k.param_report()]) + 2 * i.imm;
        for (int64_t j = 0; j < n; ++j) {
          if (!wrong[j] || report[0]) continue;
          report[0] = 1;
          report[1] = reinterpret_cast<const int64_t*>(at(i.b))[j];
        }
        break;
      }
      case Op::repeat:
        remaining.push_back(i.a == kNone ? 0 : *reinterpret_cast<const int64_t*>(at(i.a)));
        break;
      case Op::carry: copy_value(out, at(i.a), i.type, n); break;
      case Op::carry_next: copy_value(out, at(i.b), i.type, n); break;
      case Op::end_repeat: {
        bool again = i.b == kNone ? --remaining.back() > 0 : any(at(i.b));
        // All at once: the next value of one may be the present one of another.
        for (size_t c = v; steps_[--c].inst.op == Op::carry_next;) {
          Val carry = steps_[c].inst.a;
          copy_value(buffer(carry), at_[c], steps_[c].inst.type, n);
        }
        if (again) {
          v = static_cast<size_t>(i.a);
          while (steps_[v + 1].inst.op == Op::carry) ++v;
        } else {
          remaining.pop_back();
        }
        break;
      }
      case Op::if_any:
        if (!any(at(i.a))) v = static_cast<size_t>(i.imm);
        break;
      default: break;
    }
  }
}

}  // namespace numbus::interp
