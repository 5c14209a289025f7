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

TEST(Probe, NodesAndReservedHugePages) {
  const FakeRoot root;
  root.write("proc/meminfo", std::string(kMeminfo) + "HugePages_Free:       3\nHugepagesize:       2048 kB\n");
  for (const char* name : {"node0/cpulist", "node1/cpulist", "nodes/x", "possible"}) {
    root.write(std::string("sys/devices/system/node/") + name, "0\n");
  }
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const MachineProbe probe = probeMachine(root.path());
  EXPECT_EQ(probe.numaNodes, 2);
  EXPECT_EQ(probe.hugePages, "madvise");
  EXPECT_EQ(probe.hugePageBytes, std::uint64_t{2} << 20);
  EXPECT_EQ(probe.freeHugePageBytes, std::uint64_t{6} << 20);
  EXPECT_EQ(probeMachine(FakeRoot().path()).numaNodes, 1);
}

/// A root whose mount table puts the folder of the test on `device`.
class FakeDrive : public FakeRoot {
public:
  FakeDrive(const std::string& device, const std::string& name) {
    write("proc/self/mounts", device + " / ext4 rw 0 0\n");
    write("dev/" + name, "");
  }
  void block(const std::string& name, const std::string& where, const char* rotational) const {
    write("sys/devices/" + where + "/" + name + "/queue/rotational", rotational);
    fs::create_directories(path() / "sys/class/block");
    fs::create_symlink(path() / "sys/devices" / where / name, path() / "sys/class/block" / name);
  }
};

TEST(Probe, KindsOfDrives) {
  const FakeDrive nvme("/dev/nvme0n1", "nvme0n1");
  nvme.block("nvme0n1", "pci0/nvme", "0\n");
  EXPECT_EQ(probeFileSystem(COLIBRI_SOURCE_DIR, nvme.path()).kind, "nvme");
  EXPECT_EQ(probeFileSystem(COLIBRI_SOURCE_DIR, nvme.path()).device, "nvme0n1");
}

TEST(Probe, AUsbDriveIsToldAndAPartitionIsItsDrive) {
  const FakeDrive usb("/dev/sdb1", "sdb1");
  usb.block("sdb", "pci0/usb2/2-1", "0\n");
  usb.write("sys/devices/pci0/usb2/2-1/sdb/sdb1/partition", "1\n");
  fs::create_symlink(usb.path() / "sys/devices/pci0/usb2/2-1/sdb/sdb1", usb.path() / "sys/class/block/sdb1");
  const FileSystemProbe probe = probeFileSystem(COLIBRI_SOURCE_DIR, usb.path());
  EXPECT_EQ(probe.kind, "ssd");
  EXPECT_TRUE(probe.isUsb);
  EXPECT_NE(probe.warning.find("USB"), std::string::npos);
}

TEST(Probe, AMappedDeviceIsAsSlowAsItsSlowestPart) {
  const FakeDrive mapped("/dev/mapper/data", "dm-0");
  fs::create_directories(mapped.path() / "dev/mapper");
  fs::create_symlink("../dm-0", mapped.path() / "dev/mapper/data");
  mapped.block("dm-0", "virtual/block", "0\n");
  mapped.block("nvme0n1", "pci0/nvme", "0\n");
  mapped.block("sda", "pci0/ata1", "1\n");
  mapped.write("sys/devices/virtual/block/dm-0/slaves/nvme0n1/x", "");
  mapped.write("sys/devices/virtual/block/dm-0/slaves/sda/x", "");
  const FileSystemProbe probe = probeFileSystem(COLIBRI_SOURCE_DIR, mapped.path());
  EXPECT_EQ(probe.device, "dm-0");
  EXPECT_EQ(probe.kind, "hdd");
  EXPECT_NE(probe.warning.find("rotating"), std::string::npos);
}

TEST(Probe, BadPlacesForExpertsAreTold) {
  const auto warning = [](const char* type, const char* kind) {
    FileSystemProbe probe;
    probe.type = type;
    probe.kind = kind;
    return fileSystemWarning(probe);
  };
  EXPECT_NE(warning("9p", "network").find("9p"), std::string::npos);
  EXPECT_NE(warning("nfs", "network").find("network"), std::string::npos);
  EXPECT_NE(warning("fuse.sshfs", "network").find("network"), std::string::npos);
  EXPECT_NE(warning("fuse.mergerfs", "unknown").find("direct"), std::string::npos);
  EXPECT_NE(warning("tmpfs", "memory").find("memory"), std::string::npos);
  EXPECT_NE(warning("ext4", "hdd").find("rotating"), std::string::npos);
  EXPECT_EQ(warning("ext4", "nvme"), "");
}

TEST(Probe, AFolderThatIsNotThereHasAWarning) {
  EXPECT_FALSE(probeFileSystem("/no/such/folder/anywhere").warning.empty());
}

}  // namespace
}  // namespace colibri
