// Reads the affinity mask, /proc and the cgroup files.
#include "device/cpu/cpu_info.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace numbus {
namespace {

// The directories that may limit this process, its own cgroup first, then the parents.
std::vector<std::string> cgroup_directories(const std::string& controller) {
  std::vector<std::string> found;
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    bool unified = names == ",,";
    if (!unified && names.find("," + controller + ",") == std::string::npos) continue;
    std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
    std::string path = line.substr(second + 1);
    while (path.size() > 1) {
      found.push_back(root + path);
      path.resize(path.rfind('/'));
    }
    found.push_back(root);
  }
  return found;
}

bool read_words(const std::string& path, std::string* first, std::string* second) {
  std::ifstream file(path);
  if (!(file >> *first)) return false;
  if (!(file >> *second)) second->clear();
  return true;
}

double cgroup_cpus() {
  double least = 1e9;
  for (const std::string& dir : cgroup_directories("cpu")) {
    std::string quota, period, unused;
    bool found = read_words(dir + "/cpu.max", &quota, &period) ||
                 (read_words(dir + "/cpu.cfs_quota_us", &quota, &unused) &&
                  read_words(dir + "/cpu.cfs_period_us", &period, &unused));
    if (!found) continue;
    double q = std::atof(quota.c_str()), p = std::atof(period.c_str());
    if (q > 0 && p > 0) least = std::min(least, q / p);
  }
  return least;
}

}  // namespace

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

int available_cpus() {
  int count = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  // A machine may have more processors than cpu_set_t has bits; then the call fails and the count
  // of processors stands.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
  double quota = cgroup_cpus();
  if (quota < count) count = static_cast<int>(std::ceil(quota));
  return std::max(count, 1);
}

int configured_threads() {
  const char* text = std::getenv("NUMBUS_NUM_THREADS");
  if (text == nullptr || *text == 0) return available_cpus();
  char* end = nullptr;
  long count = std::strtol(text, &end, 10);
  if (*end != 0 || count < 1 || count > 1024) {
    raise(ErrorKind::Value, "num_threads", "NUMBUS_NUM_THREADS is no usable number",
          "'" + std::string(text) + "'", "a whole number from 1 to 1024");
  }
  return static_cast<int>(count);
}

size_t available_memory() {
  size_t least = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  for (const std::string& dir : cgroup_directories("memory")) {
    for (const char* name : {"/memory.max", "/memory.limit_in_bytes"}) {
      std::string value, unused;
      if (!read_words(dir + name, &value, &unused)) continue;
      char* end = nullptr;
      unsigned long long limit = std::strtoull(value.c_str(), &end, 10);
      if (*end == 0 && limit > 0) least = std::min<size_t>(least, limit);
    }
  }
  return least;
}

}  // namespace numbus
