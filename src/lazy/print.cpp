// A window as text, and whether it holds together; the groups that a planner has made of it.
#include <cstdio>

#include "base/error.h"
#include "lazy/planner.h"
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

std::string joined(const std::vector<Number>& numbers) {
  std::string s;
  for (Number n : numbers) s += (s.empty() ? "" : ", ") + std::to_string(n.value());
  return s;
}

// s3 is a storage, and what of it is accessed.
std::string access_of(const Planner& p, const Access& a) {
  if (a.storage < 0) return text_of(p.window.scalars_[a.imm]);
  std::string s = "s" + std::to_string(a.storage) + ":" + std::string(name(a.dtype)) + "[" +
                  joined(a.layout->shape()) + "]";
  if (a.offset.value() != 0) s += "+" + std::to_string(a.offset.value());
  return s + " by (" + joined(a.layout->strides()) + ")";
}

// The operation with the type that it is computed in.
std::string operation_of(const Instr& i) {
  std::string s(i.code == Instr::Reduce ? reduction_name(i.reduction) : i.name());
  return i.loop == DType::Bool ? s : s + " in " + std::string(name(i.loop));
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
    s += " = " + operation_of(i) + " ";
    for (int k = 0; k < i.nin; ++k) s += (k ? ", " : "") + operand_of(w, i.in[k]);
    if (i.predicated) s += " where " + operand_of(w, i.in[i.nin]);
    s += "\n";
  }
  return s;
}

std::string print(const Planner& p) {
  std::string s;
  for (size_t n = 0; n < p.storages.size(); ++n) {
    const PlanStorage& st = p.storages[n];
    s += "s" + std::to_string(n) + ": " + std::to_string(st.nbytes.value()) + " bytes";
    s += st.slot < 0 ? ", temporary" : " of b" + std::to_string(st.slot);
    s += std::string(st.initial ? ", there before" : "") + (st.needed ? "" : ", without memory") +
         "\n";
  }
  for (size_t n = 0; n < p.groups.size(); ++n) {
    const Group& g = p.groups[n];
    s += "group " + std::to_string(n) + ": shape (" + joined(g.shape) + ")";
    for (size_t d = 0; d < g.shape.size(); ++d)
      if (g.reduces && g.axes >> d & 1) s += ", reduces axis " + std::to_string(d);
    s += std::string(g.solo ? ", solo" : "");
    if (g.tail_of >= 0) s += ", tail of " + std::to_string(g.tail_of);
    s += "\n";
    for (const Member& m : g.members) {
      const PlanInstr& i = p.instrs[m.instr];
      s += "  %" + std::to_string(i.source) + ": " + access_of(p, i.out);
      for (int k = i.inputs(); k < i.inputs() + i.instr.more; ++k)
        s += ", " + access_of(p, i.in[k]);
      s += " = " + operation_of(i.instr);
      for (int k = 0; k < i.instr.nin; ++k) s += (k ? ", " : " ") + access_of(p, i.in[k]);
      if (i.instr.predicated) s += " where " + access_of(p, i.in[i.instr.nin]);
      bool inside = false;
      for (Number at : m.at) inside = inside || at.value() != 0;
      s += (inside ? " from (" + joined(m.at) + ")" : "") + "\n";
    }
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
