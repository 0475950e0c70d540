// Iterations of a loop in the program that become a loop inside one kernel.
#include "lazy/kernel_builder.h"
#include "passes/expand.h"

namespace numbus {

// The value of an argument for all points: what a predicate left out comes from memory.
ir::Val KernelBuilder::total(int arg) {
  const Cell& c = cells_[arg];
  if (c.value == kNone) return load(arg, kNone);
  if (c.where == kNone || !p_.storages[args_[arg].storage].needed) return c.value;
  return choose(b_, c.where, c.value, load(arg, kNone));
}

// Members that are many iterations of one loop body: the first is emitted as it is, the second as
// the body of a loop, whose state stays in registers. Gives the number of members this covers.
size_t KernelBuilder::emit_repeats() {
  IterationMap iterations(*this);
  if (!iterations.find()) throw NotFolded{};
  size_t begin = iterations.begin, width = iterations.width;
  if (width == 0) return 0;
  whole_loads_ = true;  // what a predicate leaves out now another iteration may need
  for (size_t m = 0; m < begin + width; ++m) emit(g_.members[m]);
  std::vector<Val> initial;
  for (auto [into, from] : iterations.carried) initial.push_back(total(into));
  for (int arg : iterations.only_read)
    if (cells_[arg].value == kNone && loads_[arg].empty())
      loads_[arg].emplace_back(kNone, load(arg, kNone));
  Val loop = b_.begin_repeat(fixed_scalar(iterations.count - 1));
  std::vector<Val> carries, kept;
  std::map<int, Cell> last;  // what the arguments are after the loop
  for (size_t c = 0; c < initial.size(); ++c) {
    carries.push_back(b_.carry(initial[c]));
    last[iterations.carried[c].first] = cells_[iterations.carried[c].first];
  }
  for (auto [c, arg] : iterations.kept) {
    kept.push_back(b_.carry(initial[c]));
    last[arg] = {kept.back(), kNone};
  }
  for (size_t c = 0; c < carries.size(); ++c)
    cells_[iterations.carried[c].first] = {carries[c], kNone};
  for (size_t m = begin + width; m < begin + 2 * width; ++m) emit(g_.members[m]);
  std::vector<std::pair<Val, Val>> next;
  for (size_t c = 0; c < carries.size(); ++c)
    next.emplace_back(carries[c], total(iterations.carried[c].second));
  for (size_t n = 0; n < kept.size(); ++n)
    next.emplace_back(kept[n], carries[iterations.kept[n].first]);
  b_.end_repeat(loop, next);
  for (auto [arg, in_last] : iterations.written) {
    Cell c = cells_[arg];
    // A carried value is by now the next iteration's.
    for (size_t k = 0; k < carries.size(); ++k)
      if (iterations.carried[k].second == arg)
        c = {carries[k], kNone};
      else if (c.value == carries[k] && p_.storages[args_[in_last].storage].needed)
        throw NotFolded{};
    last[in_last] = c;
    cells_[arg] = {};
  }
  for (auto& [arg, cell] : last) cells_[arg] = cell;
  step_.iterations = iterations.count;
  return begin + width * iterations.count;
}

bool KernelBuilder::IterationMap::find() {
  const Repeats& r = k.p_.repeats;
  const std::vector<Member>& members = k.g_.members;
  count = r.count;
  while (begin < members.size() && members[begin].instr < r.first) ++begin;
  while (begin + width < members.size() && members[begin + width].instr < r.first + r.period)
    ++width;
  if (width == 0) return true;
  if (members.size() < begin + width * count) return false;
  auto instr = [&](int64_t iteration, size_t m) -> const Member& {
    return members[begin + iteration * width + m];
  };
  // Every iteration has the same members, each over the whole domain.
  for (int64_t t = 0; t < count; ++t)
    for (size_t m = 0; m < width; ++m)
      if (instr(t, m).instr != instr(0, m).instr + t * r.period || !k.whole(instr(t, m)))
        return false;
  auto accesses = [&](int64_t iteration, auto&& use) {
    for (size_t m = 0; m < width; ++m)
      for_accesses(k.p_.instrs[instr(iteration, m).instr], [&](const Access& a, bool write, bool) {
        use(k.arg_of(a, instr(iteration, m)), write,
            k.p_.instrs[instr(iteration, m).instr].instr.predicated);
      });
  };
  // The second iteration's arguments in order of appearance, how each is used first, and its names.
  std::vector<int> args, names;
  std::map<int, size_t> index;
  // A write under a predicate leaves the rest as it was: it reads, unless there is nothing to read.
  enum Use : char { Written, Read, WrittenInPart };
  std::vector<char> read_first, writes;
  accesses(1, [&](int arg, bool write, bool in_part) {
    auto [at, fresh] = index.try_emplace(arg, args.size());
    if (fresh) {
      args.push_back(arg);
      read_first.push_back(!write ? Read : in_part ? WrittenInPart : Written);
      writes.push_back(0);
    }
    if (write) writes[at->second] = 1;
  });
  auto names_in = [&](int64_t iteration) -> bool {
    names.assign(args.size(), -1);
    std::map<int, size_t> back;
    size_t access = 0;
    bool ok = true;
    std::vector<size_t> order;
    accesses(1, [&](int arg, bool, bool) { order.push_back(index[arg]); });
    accesses(iteration, [&](int arg, bool, bool) {
      size_t x = order[access++];
      if (names[x] >= 0 && names[x] != arg) ok = false;
      names[x] = arg;
      auto [at, fresh] = back.try_emplace(arg, x);
      ok = ok && at->second == x;
    });
    return ok;
  };
  // By the program, or by what follows the loop in this kernel.
  std::vector<char> read_later(k.args_.size(), 0);
  for (size_t m = begin + width * count; m < members.size(); ++m)
    for_accesses(k.p_.instrs[members[m].instr], [&](const Access& a, bool write, bool) {
      if (!write && !a.spread) read_later[k.arg_of(a, members[m])] = 1;
    });
  auto needed = [&](int arg) {
    return read_later[arg] || k.p_.storages[k.args_[arg].storage].needed;
  };
  std::vector<int> before = args, source(args.size(), -1), wanted;
  for (int64_t t = 2; t < count; ++t) {
    if (!names_in(t)) return false;
    for (size_t x = 0; x < args.size(); ++x) {
      if (k.args_[names[x]].dtype != k.args_[args[x]].dtype) return false;
      // The preceding iteration wrote this value, and a later instruction still reads it.
      if (writes[x] && names[x] != before[x] && needed(before[x])) wanted.push_back(before[x]);
      if (!read_first[x]) continue;
      int from = -1;
      for (size_t y = 0; y < args.size(); ++y)
        if (before[y] == names[x] && (writes[y] || y != x)) from = static_cast<int>(y);
      if (t == 2) source[x] = from;
      if (source[x] != from) return false;
      if (from < 0 && names[x] != args[x] && read_first[x] == Read) return false;
    }
    before = names;
  }
  for (size_t x = 0; x < args.size(); ++x) {
    if (writes[x]) written.emplace_back(args[x], names[x]);
    if (!read_first[x]) continue;
    if (source[x] < 0 && read_first[x] == Read) only_read.push_back(args[x]);
    if (source[x] >= 0) carried.emplace_back(args[x], args[source[x]]);
  }
  // A value of an earlier iteration is available only if the last iteration reads it, too.
  for (int arg : wanted) {
    size_t c = 0;
    while (c < carried.size() && names[index[carried[c].first]] != arg) ++c;
    if (c == carried.size()) return false;
    kept.emplace_back(c, arg);
  }
  return true;
}

}  // namespace numbus
