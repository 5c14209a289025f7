#include "plan/probe_json.h"

#include "base/json.h"
#include "plan/planned_drives.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

RecordedMachine sample() {
  RecordedMachine machine;
  machine.machine.cpu = {"Test CPU", 16, 8, {"avx2"}};
  machine.machine.memory.totalBytes = 64 * kGib;
  machine.machine.memory.availableBytes = 60 * kGib;
  machine.machine.memory.limitBytes = 50 * kGib;
  machine.machine.memory.limitUsedBytes = 2 * kGib;
  machine.machine.numaNodes = 2;
  machine.isa = "avx2";
  machine.memoryBytesPerSecond = 41e9;
  PlannedDrive drive;
  drive.path = "/models";
  drive.kind = "nvme";
  drive.device = "nvme0n1";
  drive.bytesPerSecond = 3.2e9;
  drive.iops4k = 400000;
  drive.queueDepth = 8;
  machine.drives.push_back(drive);
  drive.path = "/copy";
  drive.device = "sdb";
  drive.kind = "ssd";
  drive.bytesPerSecond = 0.5e9;
  drive.weight = 0.2;
  drive.isMirror = true;
  drive.warning = "Slow.";
  machine.drives.push_back(drive);
  return machine;
}

Json parsed(const OrderedJson& json) {
  return Json::parse(json.dump());
}

TEST(ProbeJson, WhatIsWrittenIsRead) {
  for (const bool wrapped : {false, true}) {
    OrderedJson json = probeJson(sample());
    if (wrapped) json = {{"version", "x"}, {"probe", json}};
    const auto read = probeFromJson(parsed(json), "probe.json");
    ASSERT_TRUE(read.isOk()) << read.status().message();
    EXPECT_EQ(read->machine.memory.usableBytes(), 48 * kGib);
    EXPECT_EQ(read->machine.cpu.physicalCores, 8);
    EXPECT_EQ(read->machine.numaNodes, 2);
    EXPECT_EQ(read->isa, "avx2");
    EXPECT_EQ(read->memoryBytesPerSecond, 41e9);
    ASSERT_EQ(read->drives.size(), 2U);
    EXPECT_EQ(read->drives[0].path, "/models");
    EXPECT_EQ(read->drives[0].iops4k, 400000);
    EXPECT_EQ(read->drives[0].queueDepth, 8);
    EXPECT_FALSE(read->drives[0].isMirror);
    EXPECT_TRUE(read->drives[1].isMirror);
    EXPECT_EQ(read->drives[1].weight, 0.2);
    EXPECT_EQ(read->drives[1].warning, "Slow.");
    const PlanSurroundings around = read->surroundings();
    EXPECT_EQ(around.freeBytes, 48 * kGib);
    EXPECT_EQ(around.physicalCores, 8);
    EXPECT_TRUE(around.turns.empty());
  }
}

TEST(ProbeJson, LittleIsEnough) {
  const auto read = probeFromJson(Json::parse(R"({"cpu":{"physical_cores":4},"memory":{"usable_bytes":17179869184},
      "disks":[{"path":"a","bytes_per_s":2e9},{"path":"b","bytes_per_s":3e9}]})"),
                                  "x");
  ASSERT_TRUE(read.isOk()) << read.status().message();
  // The second is a copy on another drive: both read at once.
  EXPECT_TRUE(read->drives[1].isMirror);
  EXPECT_NEAR(combinedRate(read->drives), 5e9, 1e6);
}

TEST(ProbeJson, KernelsFollowFromFeaturesWhereTheyAreNotNamed) {
  const auto isaOf = [](const Json& features) {
    const Json json{{"cpu", {{"physical_cores", 4}, {"features", features}}}, {"memory", {{"usable_bytes", 1}}}};
    const auto read = probeFromJson(json, "x");
    return read ? read->isa : read.status().message();
  };
  EXPECT_EQ(isaOf({"avx2", "avx512f", "avx512_vnni"}), "avx512-vnni");
  EXPECT_EQ(isaOf({"avx512f", "avx2"}), "avx512");
  EXPECT_EQ(isaOf({"sse4_2"}), "scalar");
  EXPECT_EQ(isaOf({"asimd"}), "neon");
  EXPECT_EQ(isaOf(nullptr), "avx2");
}

TEST(ProbeJson, WhatIsWrongIsNamed) {
  struct Case {
    const char* pointer;
    Json value;
    const char* named;
  };
  const std::vector<Case> cases{{"/cpu", nullptr, "\"cpu\" is missing"},
                                {"/cpu/physical_cores", 0, "cpu.physical_cores"},
                                {"/cpu/physical_cores", 1e9, "cpu.physical_cores"},
                                {"/cpu/physical_cores", 1.5, "cpu.physical_cores"},
                                {"/cpu/physical_cores", "8", "cpu.physical_cores"},
                                {"/cpu/isa", 5, "cpu.isa"},
                                {"/cpu/features", 5, "cpu.features"},
                                {"/cpu/features", Json::array({1}), "cpu.features"},
                                {"/memory", Json::array(), "memory"},
                                {"/memory/usable_bytes", nullptr, "memory.usable_bytes"},
                                {"/memory/usable_bytes", -1, "memory.usable_bytes"},
                                {"/memory/usable_bytes", 1e30, "memory.usable_bytes"},
                                {"/memory/read_bytes_per_s", true, "memory.read_bytes_per_s"},
                                {"/disks", Json::object(), "disks"},
                                {"/disks", Json(std::vector<int>(100, 1)), "disks"},
                                {"/disks/1", 7, "disks[1]"},
                                {"/disks/1/bytes_per_s", -5, "disks[1].bytes_per_s"},
                                {"/disks/1/bytes_per_s", 1e300, "disks[1].bytes_per_s"},
                                {"/disks/0/queue_depth", 1e9, "disks[0].queue_depth"},
                                {"/disks/0/direct", "yes", "disks[0].direct"},
                                {"/disks/0/warnings", "x", "disks[0].warnings"},
                                {"/disks/0/warnings", Json::array({1}), "disks[0].warnings"},
                                {"/disks/0/path", std::string(9999, 'x'), "disks[0].path"}};
  for (const Case& one : cases) {
    Json json = parsed(probeJson(sample()));
    json[Json::json_pointer(one.pointer)] = one.value;
    const auto read = probeFromJson(json, "probe.json");
    ASSERT_FALSE(read.isOk()) << one.pointer << " " << one.value;
    EXPECT_EQ(read.status().code(), Code::kUsage);
    EXPECT_NE(read.status().message().find(one.named), std::string::npos) << read.status().message();
    EXPECT_EQ(read.status().message().find("probe.json"), 0U) << read.status().message();
  }
  for (const char* text : {"[]", "7", "null", "{}", "{\"probe\":[]}"}) {
    EXPECT_FALSE(probeFromJson(Json::parse(text), "x").isOk()) << text;
  }
}

TEST(PlannedDrives, RatesOfDrivesThatShareTheReads) {
  std::vector<PlannedDrive> drives(2);
  drives[0].bytesPerSecond = 2e9;
  drives[0].device = "a";
  drives[0].weight = 2;
  drives[1].bytesPerSecond = 1e9;
  drives[1].device = "b";
  drives[1].weight = 1;
  drives[1].isMirror = true;
  EXPECT_NEAR(combinedRate(drives), 3e9, 1);
  // Equal shares wait for the slower one.
  drives[0].weight = 1;
  EXPECT_NEAR(combinedRate(drives), 2e9, 1);
  // Two folders on one drive have its rate once.
  drives[1].device = "a";
  drives[1].bytesPerSecond = 0.1e9;
  EXPECT_NEAR(combinedRate(drives), 2e9, 1);
  drives[0].bytesPerSecond = 0;
  EXPECT_EQ(combinedRate(drives), 0);
  EXPECT_EQ(combinedRate({}), 0);
}

TEST(PlannedDrives, FoldersOfTheOptionsInTheirOrder) {
  EngineOptions options;
  options.model = COLIBRI_SOURCE_DIR;
  options.shardDirs = {COLIBRI_BINARY_DIR};
  options.mirrors = {COLIBRI_GOLDEN_DIR};
  const std::vector<std::uint64_t> held{300, 100};
  const std::vector<PlannedDrive> drives = plannedDrives(options, held);
  ASSERT_EQ(drives.size(), 3U);
  EXPECT_NEAR(drives[0].weight, 3 * drives[1].weight, 1e-6 * drives[0].weight);
  EXPECT_FALSE(drives[1].isMirror);
  EXPECT_TRUE(drives[2].isMirror);
  for (const PlannedDrive& drive : drives) {
    EXPECT_GT(drive.bytesPerSecond, 0);
    EXPECT_FALSE(drive.source.empty());
  }
  options.diskWeights = "1,4";
  const std::vector<PlannedDrive> weighted = plannedDrives(options, held);
  EXPECT_NEAR(weighted[2].weight, 4, 1e-9);
  EXPECT_NEAR(weighted[0].weight + weighted[1].weight, 1, 1e-9);
  EXPECT_NE(driveSetName(drives), driveSetName(std::span(drives).first(2)));
}

}  // namespace
}  // namespace colibri
