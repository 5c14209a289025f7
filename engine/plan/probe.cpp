#include "plan/probe.h"

#include <sched.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
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

std::string readSmall(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  // Files of /proc have no size of their own; the cap keeps a mistaken path harmless.
  std::string text(std::size_t{1} << 20, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::optional<std::uint64_t> readNumber(const fs::path& path) {
  std::istringstream text(readSmall(path));
  std::uint64_t value = 0;
  if (!(text >> value)) return std::nullopt;
  return value;
}

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

struct KnownFileSystem {
  std::uint64_t magic;
  const char* name;
};
constexpr std::array<KnownFileSystem, 18> kFileSystems{{{0xef53, "ext4"},
                                                        {0x58465342, "xfs"},
                                                        {0x9123683e, "btrfs"},
                                                        {0x01021994, "tmpfs"},
                                                        {0x858458f6, "ramfs"},
                                                        {0x794c7630, "overlayfs"},
                                                        {0x6969, "nfs"},
                                                        {0xff534d42, "cifs"},
                                                        {0xfe534d42, "smb2"},
                                                        {0x01021997, "9p"},
                                                        {0x65735546, "fuse"},
                                                        {0x2fc12fc1, "zfs"},
                                                        {0xf2f52010, "f2fs"},
                                                        {0x4d44, "vfat"},
                                                        {0x2011bab0, "exfat"},
                                                        {0x5346544e, "ntfs"},
                                                        {0x7366746e, "ntfs3"},
                                                        {0x73717368, "squashfs"}}};

std::string fileSystemName(std::uint64_t magic) {
  for (const KnownFileSystem& known : kFileSystems) {
    if (known.magic == magic) return known.name;
  }
  std::ostringstream text;
  text << "0x" << std::hex << magic;
  return text.str();
}

/// Source and mount point with the longest path that holds `folder`.
std::string mountedDevice(const fs::path& folder) {
  std::istringstream lines(readSmall("/proc/self/mounts"));
  std::string best;
  std::size_t bestLength = 0;
  const std::string text = folder.string();
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string source;
    std::string point;
    fields >> source >> point;
    const std::string prefix = point == "/" ? "/" : point + "/";
    if ((text == point || text.compare(0, prefix.size(), prefix) == 0) && point.size() >= bestLength) {
      best = source;
      bestLength = point.size();
    }
  }
  return best.compare(0, 5, "/dev/") == 0 ? best.substr(5) : std::string();
}

std::string driveKind(const std::string& device) {
  if (device.empty()) return "unknown";
  std::error_code error;
  // A virtual drive says nothing true about what is behind it (it often claims to rotate).
  if (device.compare(0, 2, "vd") == 0 || device.compare(0, 3, "xvd") == 0) return "virtual";
  fs::path entry = fs::canonical(fs::path("/sys/class/block") / device, error);
  if (error) return "unknown";
  if (fs::exists(entry / "partition", error)) entry = entry.parent_path();
  const auto rotational = readNumber(entry / "queue/rotational");
  if (!rotational) return "unknown";
  if (*rotational == 1) return "hdd";
  return entry.filename().string().compare(0, 4, "nvme") == 0 ? "nvme" : "ssd";
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
  return probe;
}

FileSystemProbe probeFileSystem(const fs::path& folder) {
  FileSystemProbe probe;
  std::error_code error;
  probe.path = fs::weakly_canonical(folder, error);
  if (error) probe.path = folder;
  probe.kind = "unknown";
  struct statfs info {};
  if (statfs(probe.path.c_str(), &info) != 0) {
    probe.warning = "The folder cannot be examined.";
    return probe;
  }
  probe.type = fileSystemName(static_cast<std::uint64_t>(info.f_type) & 0xffffffffU);
  probe.freeBytes = static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  probe.device = mountedDevice(probe.path);
  probe.kind = driveKind(probe.device);
  if (probe.type == "tmpfs" || probe.type == "ramfs") {
    probe.kind = "memory";
    probe.warning = "This folder lies in memory: reads are buffered and the files take RAM away from the expert cache.";
  } else if (probe.type == "nfs" || probe.type == "cifs" || probe.type == "smb2" || probe.type == "9p") {
    probe.kind = "network";
    probe.warning = "This folder lies on a network drive; every expert is read over the network.";
  } else if (probe.type == "fuse" || probe.type == "ntfs" || probe.type == "vfat" || probe.type == "squashfs") {
    probe.warning =
        "This file system (" + probe.type + ") often refuses direct reads; then experts pass the page cache.";
  } else if (probe.kind == "hdd") {
    probe.warning = "This is a rotating drive; reading scattered experts from it is slow.";
  }
  return probe;
}

std::uint64_t availableMemoryBytes() {
  return probeMemory().usableBytes();
}

int physicalCores() {
  return probeCpu().physicalCores;
}

}  // namespace colibri
