// A window as text, and whether it holds together.
#include <cstdio>

#include "base/error.h"
#include "lazy/window.h"

namespace numbus {
namespace {

std::string text_of(const Scalar& s) {
  char text[64];
  switch (s.kind) {
    case Kind::Bool: return s.i ? "true" : "false";
    case Kind::Int: return std::to_string(s.i);
    case Kind::UInt: return std::to_string(s.u);
    case Kind::Float: std::snprintf(text, sizeof text, "%.17g", s.f[0]); break;
    case Kind::Complex: std::snprintf(text, sizeof text, "%.17g%+.17gj", s.f[0], s.f[1]); break;
  }
  return text;
}

// b2 is a base as it was before the window, b2%5 as instruction 5 has left it.
std::string version_of(int slot, int version) {
  return "b" + std::to_string(slot) + (version < 0 ? "" : "%" + std::to_string(version));
}

std::string view_of(const Operand& o) {
  std::string s = std::string(name(o.dtype)) + "[";
  const Layout& l = *o.layout;
  for (int d = 0; d < l.ndim(); ++d) s += (d ? ", " : "") + std::to_string(l.shape(d));
  s += "]";
  if (o.offset != 0) s += "+" + std::to_string(o.offset);
  if (l.c_contiguous()) return s;
  s += " by (";
  for (int d = 0; d < l.ndim(); ++d) s += (d ? ", " : "") + std::to_string(l.stride(d));
  return s + ")";
}

std::string operand_of(const Window& w, const Operand& o) {
  if (o.slot < 0) return text_of(w.scalars_[o.imm]);
  return version_of(o.slot, o.version) + ":" + view_of(o);
}

// What a write leaves of the version before it is part of the new one.
std::string result_of(const Window& w, const Operand& o, size_t n, bool partly) {
  bool whole = !partly && o.offset == 0 && o.layout->injective() &&
               o.layout->size() * o.layout->itemsize() == w.slots_[o.slot].base->nbytes;
  return version_of(o.slot, static_cast<int>(n)) + ":" + view_of(o) +
         (whole ? "" : " of " + version_of(o.slot, o.version));
}

}  // namespace

std::string print(const Window& w) {
  std::string s;
  for (size_t n = 0; n < w.instrs_.size(); ++n) {
    const Instr& i = w.instrs_[n];
    s += result_of(w, i.out, n, i.predicated || i.scatters());
    for (int k = i.inputs(); k < i.inputs() + i.more; ++k)
      s += ", " + result_of(w, i.in[k], n, false);
    s += " = ";
    s += std::string(i.code == Instr::Reduce ? reduction_name(i.reduction) : i.name()) + " ";
    if (i.loop != DType::Bool) s += "in " + std::string(name(i.loop)) + " ";
    for (int k = 0; k < i.nin; ++k) s += (k ? ", " : "") + operand_of(w, i.in[k]);
    if (i.predicated) s += " where " + operand_of(w, i.in[i.nin]);
    s += "\n";
  }
  return s;
}

void verify(const Window& w) {
  std::vector<int32_t> last(w.slots_.size(), -1);
  for (size_t n = 0; n < w.instrs_.size(); ++n) {
    const Instr& i = w.instrs_[n];
    auto check = [&](const Operand& o) {
      if (o.slot < 0 || o.version == last[o.slot]) return;
      raise(ErrorKind::Runtime, "window",
            "instruction " + std::to_string(n) + " has a wrong version",
            version_of(o.slot, o.version), version_of(o.slot, last[o.slot]));
    };
    for (int k = 0; k < i.inputs() + i.more; ++k) check(i.in[k]);
    check(i.out);
    last[i.out.slot] = static_cast<int32_t>(n);
    for (int k = i.inputs(); k < i.inputs() + i.more; ++k)
      last[i.in[k].slot] = static_cast<int32_t>(n);
  }
  for (size_t s = 0; s < last.size(); ++s)
    if (w.slots_[s].writer != last[s])
      raise(ErrorKind::Runtime, "window", "slot " + std::to_string(s) + " has a wrong writer",
            std::to_string(w.slots_[s].writer), std::to_string(last[s]));
}

}  // namespace numbus
