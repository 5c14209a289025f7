#include "plan/probe.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace colibri {
namespace {

namespace fs = std::filesystem;

/// A folder that stands in for "/".
class FakeRoot {
public:
  FakeRoot() : m_path(fs::path(testing::TempDir()) / ("colibri_root_" + std::to_string(::getpid()))) {
    fs::remove_all(m_path);
  }
  ~FakeRoot() { fs::remove_all(m_path); }
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((m_path / file).parent_path());
    std::ofstream(m_path / file) << text;
  }
  [[nodiscard]] const fs::path& path() const { return m_path; }

private:
  fs::path m_path;
};

constexpr const char* kMeminfo =
    "MemTotal:       65536000 kB\nMemFree: 1000 kB\nMemAvailable:   32768000 kB\nCached: 5 kB\n";

TEST(Probe, MemoryComesFromMeminfo) {
  const FakeRoot root;
  root.write("proc/meminfo", kMeminfo);
  const MemoryProbe probe = probeMemory(root.path());
  EXPECT_EQ(probe.totalBytes, 65536000ULL * 1024);
  EXPECT_EQ(probe.usableBytes(), 32768000ULL * 1024);
  EXPECT_FALSE(probe.limitBytes.has_value());
}

TEST(Probe, UnifiedGroupLimitsAnywhereAboveCount) {
  const FakeRoot root;
  root.write("proc/meminfo", kMeminfo);
  root.write("proc/self/cgroup", "0::/user/job\n");
  root.write("sys/fs/cgroup/user/job/memory.max", "max\n");
  root.write("sys/fs/cgroup/user/memory.max", "1000000000\n");
  root.write("sys/fs/cgroup/user/memory.current", "400000000\n");
  root.write("sys/fs/cgroup/user/memory.stat", "anon 1\ninactive_file 100000000\n");
  EXPECT_EQ(probeMemory(root.path()).usableBytes(), 700000000U);
}

TEST(Probe, OldGroupsAndTheRootOfAContainerCount) {
  const FakeRoot root;
  root.write("proc/meminfo", kMeminfo);
  root.write("proc/self/cgroup", "5:cpu,memory:/docker/abc\n0::/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000000\n");
  EXPECT_EQ(probeMemory(root.path()).usableBytes(), 1500000000U);
}

TEST(Probe, AGroupWithoutALimitIsNoLimit) {
  const FakeRoot root;
  root.write("proc/meminfo", kMeminfo);
  root.write("proc/self/cgroup", "5:memory:/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(probeMemory(root.path()).limitBytes.has_value());
}

TEST(Probe, ProcessorFeaturesAndName) {
  const FakeRoot root;
  root.write("proc/cpuinfo",
             "processor\t: 0\nmodel name\t: Test CPU @ 2GHz: fast\nflags\t\t: fpu avx2 fma avx512f avx512_vnni mmx\n");
  const CpuProbe probe = probeCpu(root.path());
  EXPECT_EQ(probe.model, "Test CPU @ 2GHz: fast");
  EXPECT_EQ(probe.features, (std::vector<std::string>{"avx2", "fma", "avx512f", "avx512_vnni"}));
  EXPECT_GE(probe.physicalCores, 1);
}

TEST(Probe, SiblingsShareACore) {
  const FakeRoot root;
  const int logical = probeCpu().logicalCores;
  for (int cpu = 0; cpu < 128; ++cpu) {
    root.write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/core_cpus_list", "0-1023\n");
  }
  EXPECT_EQ(probeCpu(root.path()).physicalCores, 1);
  EXPECT_EQ(probeCpu(root.path()).logicalCores, logical);
}

TEST(Probe, ThisMachineAnswers) {
  const MachineProbe probe = probeMachine();
  EXPECT_GT(probe.memory.totalBytes, 0U);
  EXPECT_GT(availableMemoryBytes(), 0U);
  EXPECT_LE(availableMemoryBytes(), probe.memory.totalBytes);
  EXPECT_LE(probe.cpu.physicalCores, probe.cpu.logicalCores);
  const FileSystemProbe files = probeFileSystem(COLIBRI_SOURCE_DIR);
  EXPECT_FALSE(files.type.empty());
  EXPECT_GT(files.freeBytes, 0U);
}

TEST(Probe, AFolderThatIsNotThereHasAWarning) {
  EXPECT_FALSE(probeFileSystem("/no/such/folder/anywhere").warning.empty());
}

}  // namespace
}  // namespace colibri
