#include "plan/probe.h"

#include "plan/small_file.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace colibri {
namespace {

namespace fs = std::filesystem;

std::uint64_t fieldOf(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, key.size(), key) == 0) {
      std::istringstream rest(line.substr(key.size()));
      std::uint64_t value = 0;
      rest >> value;
      return value;
    }
  }
  return 0;
}

/// Tightens the probe by one control group's limit. File cache of the group can be dropped, so it is not counted as
/// used.
void applyGroup(MemoryProbe& probe, std::optional<std::uint64_t> limit, std::optional<std::uint64_t> used,
                std::uint64_t fileCache) {
  if (!limit || *limit >= probe.totalBytes) return;
  const std::uint64_t held = used.value_or(0) - std::min(used.value_or(0), fileCache);
  const std::uint64_t left = *limit - std::min(*limit, held);
  const std::uint64_t leftBefore = probe.limitBytes
                                       ? *probe.limitBytes - std::min(*probe.limitBytes, probe.limitUsedBytes)
                                       : std::numeric_limits<std::uint64_t>::max();
  if (left < leftBefore) {
    probe.limitBytes = limit;
    probe.limitUsedBytes = held;
  }
}

void probeGroups(MemoryProbe& probe, const fs::path& root) {
  std::istringstream lines(readSmall(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t second = line.rfind(':');
    const std::size_t first = line.find(':');
    if (first == std::string::npos || second == first) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    const bool unified = controllers.empty();
    if (!unified && ("," + controllers + ",").find(",memory,") == std::string::npos) continue;
    const fs::path base = root / (unified ? "sys/fs/cgroup" : "sys/fs/cgroup/memory");
    // A limit may stand at any level above; inside a container the path may not exist and the root is the own group.
    for (;;) {
      const fs::path folder = group.empty() ? base : base / group;
      if (unified) {
        applyGroup(probe, readNumber(folder / "memory.max"), readNumber(folder / "memory.current"),
                   fieldOf(readSmall(folder / "memory.stat"), "inactive_file "));
      } else {
        applyGroup(probe, readNumber(folder / "memory.limit_in_bytes"), readNumber(folder / "memory.usage_in_bytes"),
                   fieldOf(readSmall(folder / "memory.stat"), "total_inactive_file "));
      }
      if (group.empty()) break;
      group = group.parent_path();
    }
  }
}

std::vector<int> usableCpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

int countNodes(const fs::path& root) {
  std::error_code error;
  int nodes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "sys/devices/system/node", error)) {
    const std::string name = entry.path().filename().string();
    const bool numbered = name.size() > 4 && name.compare(0, 4, "node") == 0 &&
                          name.find_first_not_of("0123456789", 4) == std::string::npos;
    if (numbered) ++nodes;
  }
  return std::max(nodes, 1);
}

}  // namespace

std::uint64_t MemoryProbe::usableBytes() const {
  if (!limitBytes) return availableBytes;
  return std::min(availableBytes, *limitBytes - std::min(*limitBytes, limitUsedBytes));
}

MemoryProbe probeMemory(const fs::path& root) {
  MemoryProbe probe;
  const std::string text = readSmall(root / "proc/meminfo");
  probe.totalBytes = fieldOf(text, "MemTotal:") * 1024;
  probe.availableBytes = fieldOf(text, "MemAvailable:") * 1024;
  if (probe.availableBytes == 0) {
    probe.availableBytes = (fieldOf(text, "MemFree:") + fieldOf(text, "Cached:")) * 1024;
  }
  probeGroups(probe, root);
  return probe;
}

CpuProbe probeCpu(const fs::path& root) {
  CpuProbe probe;
  const std::vector<int> cpus = usableCpus();
  probe.logicalCores = static_cast<int>(cpus.size());
  std::set<std::string> cores;
  for (const int cpu : cpus) {
    const fs::path topology = root / ("sys/devices/system/cpu/cpu" + std::to_string(cpu)) / "topology";
    std::string siblings = readSmall(topology / "core_cpus_list");
    if (siblings.empty()) siblings = readSmall(topology / "thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  probe.physicalCores = std::max(1, static_cast<int>(cores.size()));

  std::istringstream lines(readSmall(root / "proc/cpuinfo"));
  constexpr std::array<std::string_view, 11> kWanted{"sse4_2",      "avx2",     "fma",      "f16c",
                                                     "avx512f",     "avx512bw", "avx512vl", "avx512dq",
                                                     "avx512_vnni", "asimd",    "asimddp"};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = colon + 2 <= line.size() ? line.substr(colon + 2) : std::string();
    if (key == "model name" && probe.model.empty()) probe.model = value;
    if ((key == "flags" || key == "Features") && probe.features.empty()) {
      std::istringstream words(value);
      std::set<std::string, std::less<>> present;
      for (std::string word; words >> word;) present.insert(word);
      for (const std::string_view wanted : kWanted) {
        if (present.count(wanted) != 0) probe.features.emplace_back(wanted);
      }
    }
    if (!probe.model.empty() && !probe.features.empty()) break;
  }
  return probe;
}

MachineProbe probeMachine(const fs::path& root) {
  MachineProbe probe;
  probe.cpu = probeCpu(root);
  probe.memory = probeMemory(root);
  probe.pageBytes = static_cast<std::uint64_t>(std::max(sysconf(_SC_PAGESIZE), 4096L));
  const std::string choice = readSmall(root / "sys/kernel/mm/transparent_hugepage/enabled");
  const std::size_t open = choice.find('[');
  const std::size_t close = choice.find(']');
  if (open != std::string::npos && close != std::string::npos && close > open) {
    probe.hugePages = choice.substr(open + 1, close - open - 1);
  }
  const std::string memory = readSmall(root / "proc/meminfo");
  probe.hugePageBytes = fieldOf(memory, "Hugepagesize:") * 1024;
  probe.freeHugePageBytes = fieldOf(memory, "HugePages_Free:") * probe.hugePageBytes;
  probe.numaNodes = countNodes(root);
  return probe;
}

std::uint64_t availableMemoryBytes() {
  return probeMemory().usableBytes();
}

int physicalCores() {
  return probeCpu().physicalCores;
}

}  // namespace colibri
