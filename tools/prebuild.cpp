// Makes the machine code that the library carries (compile/prebuilt.h): kernels of single
// operations that no loop of the interpreter carries out, over dense elements of common types.
//
//     numbus_prebuild FILE
#include <cstdio>
#include <fstream>
#include <set>

#include "base/error.h"
#include "compile/compiler.h"
#include "compile/prebuilt.h"
#include "lazy/single.h"

namespace numbus {
namespace {

constexpr DType kTypes[] = {DType::F32,  DType::F64, DType::C64,
                            DType::C128, DType::I32, DType::I64};

std::vector<compile::PrebuiltEntry> entries;
std::set<std::string> seen;

// Operands are arrays, or for `numbers` with that bit a number.
void add(const Instr& i, DType result, unsigned numbers) {
  ViewRef views[3] = {};
  Window::Input in[3];
  for (int n = 0; n < i.nin; ++n) {
    views[n].dtype = in[n].dtype = i.loop;
    if (!(numbers >> n & 1)) in[n].view = &views[n];
  }
  small::Single single;
  if (single.find(i, result, result, in, i.nin)) return;
  const ir::Kernel k = small::ready_ir(i, result, in, i.nin);
  std::string key = k.key();
  if (!seen.insert(key).second) return;
  for (int level : compile::kPrebuiltLevels)
    entries.push_back({level, key, compile::object_for(k, level)});
}

void add_row(Op op, DType t) {
  const Row& r = row(op);
  if (!r.published || r.nin > 3) return;
  const DType types[3] = {t, t, t};
  Resolved found;
  try {
    found = resolve(op, {types, r.nin});
  } catch (const Error&) {  // it takes no such type
    return;
  }
  for (int n = 0; n < r.nin; ++n)
    if (found.op != op || found.in[n] != t) return;
  Instr i;
  i.op = op;
  i.loop = t;
  i.nin = r.nin;
  add(i, found.out, 0);
  if (r.nin != 2) return;
  add(i, found.out, 1);
  add(i, found.out, 2);
}

}  // namespace
}  // namespace numbus

int main(int argc, char** argv) {
  using namespace numbus;
  if (argc != 2) {
    std::fprintf(stderr, "usage: numbus_prebuild FILE\n");
    return 2;
  }
  try {
    for (int op = 0; op < kNumRows; ++op)
      for (DType t : kTypes) add_row(static_cast<Op>(op), t);
    const std::string all = compile::pack_prebuilt(entries);
    std::ofstream file(argv[1], std::ios::binary);
    file.write(all.data(), static_cast<std::streamsize>(all.size()));
    file.close();
    if (!file) throw std::runtime_error(std::string("cannot write ") + argv[1]);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "numbus_prebuild: %s\n", e.what());
    return 1;
  }
  return 0;
}
