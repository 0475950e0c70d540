// The bodies of a scan, as kernel IR.
#include "compile/scan.h"

#include "passes/expand.h"
#include "passes/expand_complex.h"
#include "passes/pipeline.h"

namespace numbus::compile {
namespace {

using ir::Val;

ir::Kernel with_state(DType type) {
  ir::Kernel k;
  k.acc = ir::Acc::Lanes;
  k.acc_fields.assign(is_complex(type) ? 2 : 1, real_of(type));
  return k;
}

Val load_state(ir::Builder& b, DType type) {
  auto field = [&](int f) {
    return b.emit(Op::acc_load, real_of(type), ir::kNone, ir::kNone, ir::kNone, f);
  };
  Val re = field(0);
  return is_complex(type) ? make_complex(b, re, field(1)) : re;
}

void store_state(ir::Builder& b, DType type, Val v) {
  auto field = [&](Val x, int f) {
    b.emit(Op::acc_store, real_of(type), x, ir::kNone, ir::kNone, f);
  };
  field(is_complex(type) ? real_part(b, v) : v, 0);
  if (is_complex(type)) field(imag_part(b, v), 1);
}

Val load(ir::Builder& b, DType t) {
  return b.emit(Op::load, t, ir::kNone, ir::kNone, ir::kNone, 0);
}

void finish(ir::Kernel& k) {
  lower(k);
  ir::verify(k);
}

}  // namespace

ScanCode scan_code(Op op, DType in, DType type, bool in_contiguous, bool out_contiguous,
                   bool aligned) {
  auto inner = [](bool contiguous) {
    return contiguous ? ir::Inner::Contiguous : ir::Inner::Strided;
  };
  ScanCode c{type, with_state(type), with_state(type), with_state(type)};
  {
    c.read.args.push_back({in, inner(in_contiguous), false, aligned && in_contiguous});
    ir::Builder b(c.read);
    store_state(b, type, convert(b, load(b, in), type));
    finish(c.read);
  }
  {
    c.combine.args.push_back({type, ir::Inner::Uniform, false, false});
    ir::Builder b(c.combine);
    Val before = load_state(b, type);
    store_state(b, type, expand(b, op, before, load(b, type)));
    finish(c.combine);
  }
  {
    c.write.args.push_back({type, inner(out_contiguous), true, aligned && out_contiguous});
    ir::Builder b(c.write);
    b.emit(Op::store, type, load_state(b, type), ir::kNone, ir::kNone, 0);
    finish(c.write);
  }
  return c;
}

std::string ScanCode::key() const {
  return "scan" + std::string(1, static_cast<char>(type)) +
         (stores     ? streaming ? "n" : "s"
          : in_order ? "o"
                     : "t") +
         read.key() + combine.key() + write.key();
}

bool is_associative(Op op) {
  switch (op) {
    case Op::add:
    case Op::multiply:
    case Op::maximum:
    case Op::minimum:
    case Op::fmax:
    case Op::fmin:
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor: return true;
    default: return false;
  }
}

}  // namespace numbus::compile
