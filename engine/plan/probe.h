#pragma once
// What this machine offers: cores, memory, processor features, the drive under a folder. Reads /proc and /sys; no side
// effects.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

struct MemoryProbe {
  std::uint64_t totalBytes = 0;
  std::uint64_t availableBytes = 0;         ///< what the kernel can hand out without swapping (MemAvailable)
  std::optional<std::uint64_t> limitBytes;  ///< tightest control-group limit, if any
  std::uint64_t limitUsedBytes = 0;         ///< used inside that group, file cache not counted
  /// The smaller of what is available and what the control group leaves.
  [[nodiscard]] std::uint64_t usableBytes() const;
};

struct CpuProbe {
  std::string model;
  int logicalCores = 1;               ///< that this process may run on
  int physicalCores = 1;              ///< distinct cores among them
  std::vector<std::string> features;  ///< those that kernels are written for ("avx2", "fma", "avx512f", …)
};

struct FileSystemProbe {
  std::filesystem::path path;
  std::string type;    ///< "ext4", "tmpfs", … or "0x…" when unknown; "fuse.sshfs" where the mount table says more
  std::string device;  ///< block device name, empty when there is none
  std::string kind;    ///< "nvme", "ssd", "hdd", "virtual", "network", "memory" or "unknown"; of the slowest part of a
                       ///< RAID or mapped device
  bool isUsb = false;
  std::uint64_t freeBytes = 0;
  std::string warning;  ///< why reading experts from here is a problem; empty when it is not
};

struct MachineProbe {
  CpuProbe cpu;
  MemoryProbe memory;
  int numaNodes = 1;
  std::uint64_t pageBytes = 4096;
  std::string hugePages;                ///< transparent ones: "always", "madvise", "never" or empty
  std::uint64_t hugePageBytes = 0;      ///< size of a reserved huge page
  std::uint64_t freeHugePageBytes = 0;  ///< reserved huge pages that are free, in bytes
};

/// `root` replaces "/" in every path read, so tests can describe a machine.
[[nodiscard]] MemoryProbe probeMemory(const std::filesystem::path& root = "/");
[[nodiscard]] CpuProbe probeCpu(const std::filesystem::path& root = "/");
[[nodiscard]] MachineProbe probeMachine(const std::filesystem::path& root = "/");
[[nodiscard]] FileSystemProbe probeFileSystem(const std::filesystem::path& folder,
                                              const std::filesystem::path& root = "/");
/// Why a file system or drive is a bad place for experts; empty when it is not. From type, kind and isUsb alone.
[[nodiscard]] std::string fileSystemWarning(const FileSystemProbe& probe);

/// Memory that this process may still take: probeMemory().usableBytes().
[[nodiscard]] std::uint64_t availableMemoryBytes();
/// Distinct physical cores that this process may run on; at least 1.
[[nodiscard]] int physicalCores();

}  // namespace colibri
