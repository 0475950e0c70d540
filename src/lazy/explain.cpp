// One block per flush, in it one per kernel.
#include "lazy/explain.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace numbus {
namespace {

std::string counted(int64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string in_bytes(int64_t n) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double v = static_cast<double>(n);
  int u = 0;
  for (; v >= 1000 && u < 4; ++u) v /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, u ? "%.1f %s" : "%.0f %s", v, units[u]);
  return text;
}

std::string how_it_ran(const Runtime& rt, const Window& w, const KernelStep& step,
                       const Stats& before) {
  if (w.slots_[0].base->device->counts_only()) return "counted only";
  if (step.call && step.call->routine == Routine::accumulate) return "scan";
  if (step.call) return applies(step.call->routine) ? "fold" : "library call";
  if (rt.stats.interpreted > before.interpreted)
    return step.serial ? "interpreted point by point" : "interpreted";
  if (rt.stats.compiles > before.compiles) {
    char text[48];
    std::snprintf(text, sizeof text, "compiled now in %.0f ms",
                  rt.stats.compile_ms - before.compile_ms);
    return text;
  }
  return rt.stats.disk_hits > before.disk_hits ? "compiled, from the cache on disk" : "compiled";
}

// What the step does, in program order; of a loop, one iteration.
std::vector<Work> one_iteration(const Window& w, const KernelStep& step) {
  std::vector<Work> works;
  const Repeats& r = w.repeats_;
  for (const Work& x : step.works)
    if (step.iterations == 1 || x.source < r.first + r.period ||
        x.source >= r.first + r.period * r.count)
      works.push_back(x);
  return works;
}

std::string names(const std::vector<Work>& works) {
  std::string s;
  for (const Work& x : works) s += (s.empty() ? "" : " ") + x.name + (x.masked ? "[mask]" : "");
  return s;
}

// "file.py:12, 13; other.py:5"
std::string lines(const Runtime& rt, const Window& w, const std::vector<Work>& works) {
  std::vector<std::pair<std::string, std::set<int>>> files;
  for (const Work& x : works) {
    if (!rt.describe_line) break;
    SourceLine at = rt.describe_line(w.instrs_[x.source].line);
    if (at.file.empty()) continue;
    std::string file = at.file.substr(at.file.find_last_of('/') + 1);
    auto known = std::find_if(files.begin(), files.end(), [&](auto& f) { return f.first == file; });
    if (known == files.end()) known = files.insert(files.end(), {file, {}});
    known->second.insert(at.line);
  }
  std::string s;
  for (auto& [file, numbers] : files) {
    s += (s.empty() ? "" : "; ") + file;
    const char* before = ":";
    for (int n : numbers) s += before + std::to_string(n), before = ", ";
  }
  return s;
}

std::string indented(const std::string& text, const char* by) {
  std::string s;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    s += by + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return s;
}

}  // namespace

void Explanation::flush(const char* reason, const Window& w, bool planned) {
  close();
  open_ = true;
  ++flushes_;
  Block b;
  b.reason = reason;
  b.instructions = static_cast<int64_t>(w.instrs_.size());
  b.planned = planned;
  if (with_ir_) b.body = indented(print(w), "  ");
  blocks_.push_back(std::move(b));
}

void Explanation::step(const Runtime& rt, const Window& w, const KernelStep& step,
                       const Stats& before, bool failed) {
  Block& b = blocks_.back();
  std::vector<Work> works = one_iteration(w, step);
  if (step.tail) {
    b.body += "    after it " + names(works) + "\n";
    return;
  }
  b.body += "  kernel " + std::to_string(b.kernels++) + ": shape " + shape_string(step.shape) +
            ", " + counted(step.points, "point") + ", " + in_bytes(step.bytes) + " moved, " +
            (failed ? "failed" : how_it_ran(rt, w, step, before)) + "\n";
  b.bytes += step.bytes;
  auto line = [&](const char* title, const std::string& text) {
    if (!text.empty()) b.body += "    " + std::string(title) + text + "\n";
  };
  line(works.size() > 1 ? "fused     " : "operation ", names(works));
  line("lines     ", lines(rt, w, works));
  if (step.iterations > 1)
    line("loop      ", counted(step.iterations, "iteration") + " of this body");
  if (step.contracted)
    line("registers ", counted(step.contracted, "value") + ", " + in_bytes(step.contracted_bytes) +
                           " never stored");
  if (step.temporaries)
    line("memory    ", counted(step.temporaries, "temporary value") + ", " +
                           in_bytes(step.temporary_bytes) + ", freed after it");
  if (with_ir_ && !step.call) b.body += indented(ir::print(step.code->ir), "    | ");
}

void Explanation::close() {
  if (!open_) return;
  open_ = false;
  Block& b = blocks_.back();
  kernels_ += b.kernels;
  bytes_ += b.bytes;
  size_t n = blocks_.size();
  if (n > 1 && blocks_[n - 2].reason == b.reason && blocks_[n - 2].body == b.body) {
    ++blocks_[n - 2].times;
    blocks_[n - 2].planned += b.planned;
    blocks_.pop_back();
  } else if (n > kMaxBlocks) {
    ++omitted_;
    blocks_.pop_back();
  }
}

std::string Explanation::text() const {
  Explanation done = *this;
  done.close();
  std::string s;
  int64_t number = 1;
  for (const Block& b : done.blocks_) {
    s += "flush " + std::to_string(number);
    if (b.times > 1) s += " to " + std::to_string(number + b.times - 1);
    number += b.times;
    s += " (" + b.reason + "): " + counted(b.instructions, "operation") + ", " +
         counted(b.kernels, "kernel") + ", " + in_bytes(b.bytes) + " moved" +
         (b.times > 1 ? " each" : "") + ", plan " + (b.planned ? "made" : "known") + "\n" + b.body;
  }
  if (done.omitted_) s += "(flushes not shown: " + std::to_string(done.omitted_) + ")\n";
  if (!done.flushes_) s += "nothing was pending, and nothing ran\n";
  if (done.flushes_ > 1)
    s += "in all: " + std::to_string(done.flushes_) + " flushes, " +
         counted(done.kernels_, "kernel") + ", " + in_bytes(done.bytes_) + " moved\n";
  if (from_host_) s += "copied to the device: " + in_bytes(from_host_) + "\n";
  if (to_host_) s += "copied from the device: " + in_bytes(to_host_) + "\n";
  for (bool to_device : {true, false})
    if (moves_[to_device])
      s += counted(moves_[to_device], "array") + " moved to " +
           (to_device ? "the device, " : "the host, ") + in_bytes(moved_bytes_[to_device]) +
           ": work there costs less\n";
  if (!done.fallbacks_.empty()) {
    s += "left for NumPy:";
    for (auto& [name, times] : done.fallbacks_)
      s += " " + name + (times > 1 ? " (" + std::to_string(times) + " times)" : "");
    s += "\n";
  }
  return s;
}

}  // namespace numbus
