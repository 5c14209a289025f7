// Measuring a drive and remembering it. Rates themselves are the machine's own; what is checked is what must hold on
// every machine.
#include "plan/drive_probe.h"

#include "base/json.h"
#include "plan/drive_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DriveProbe : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = fs::path(testing::TempDir()) /
               (std::string("drive_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(m_folder);
    fs::create_directories(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }

  [[nodiscard]] fs::path fileOf(std::size_t bytes) const {
    const fs::path path = m_folder / "shard.safetensors";
    std::ofstream out(path, std::ios::binary);
    std::mt19937_64 random(1);
    std::string block(std::size_t{1} << 16, '\0');
    for (char& c : block) c = static_cast<char>(random());
    for (std::size_t left = bytes; left > 0;) {
      const std::size_t count = std::min(left, block.size());
      out.write(block.data(), static_cast<std::streamsize>(count));
      left -= count;
    }
    return path;
  }
  [[nodiscard]] static DriveProbeOptions quick() {
    DriveProbeOptions options;
    options.expertBytes = 300000;
    options.depths = {1, 3, 8};
    options.seconds = 0.002;
    return options;
  }
  [[nodiscard]] fs::path data() const { return m_folder / "data"; }
  void writeMemory(const std::string& text) const {
    fs::create_directories(data());
    std::ofstream(data() / "drives.json", std::ios::binary | std::ios::trunc) << text;
  }
  void remember(double bytesPerSecond, int depth = 4) const {
    const Json entry{
        {"bytes_per_s", bytesPerSecond}, {"iops_4k", 1000}, {"queue_depth", depth}, {"direct", true}, {"kind", "ssd"},
        {"measured", "2026-01-01"}};
    writeMemory(Json{{"version", 1}, {"drives", {{driveKey(m_folder), entry}}}}.dump());
  }

  fs::path m_folder;
};

TEST_F(DriveProbe, MeasuresEveryDepthAndChoosesTheSmallestGoodOne) {
  DriveProbeOptions options = quick();
  options.expertBytes = std::uint64_t{1} << 20;
  const auto found = measureDrive(fileOf(std::size_t{5} << 20), options);
  ASSERT_TRUE(found.isOk()) << found.status().message();
  ASSERT_FALSE(found->depths.empty());
  double best = 0;
  for (const DepthRate& rate : found->depths) {
    EXPECT_GT(rate.bytesPerSecond, 0) << rate.depth;
    best = std::max(best, rate.bytesPerSecond);
  }
  for (const DepthRate& rate : found->depths) {
    const bool isGood = rate.bytesPerSecond >= 0.97 * best;
    if (rate.depth == found->queueDepth) {
      EXPECT_TRUE(isGood);
      EXPECT_EQ(rate.bytesPerSecond, found->bytesPerSecond);
    } else if (isGood && rate.depth >= kComfortableDepth) {
      EXPECT_EQ(found->queueDepth, kComfortableDepth) << rate.depth << " was as good";
    } else if (isGood) {
      EXPECT_TRUE(found->queueDepth < rate.depth || found->queueDepth >= kComfortableDepth);
    }
  }
  EXPECT_GT(found->queueDepth, 0);
  EXPECT_GT(found->iops4k, 0);
  EXPECT_EQ(found->direct, found->reason.empty());
  EXPECT_THAT(found->warning, HasSubstr("small"));
  EXPECT_FALSE(found->io.empty());
}

TEST_F(DriveProbe, ThreadsAndBufferedReadsWorkToo) {
  DriveProbeOptions options = quick();
  options.io = IoKind::kThreads;
  options.direct = false;
  const auto found = measureDrive(fileOf(std::size_t{2} << 20), options);
  ASSERT_TRUE(found.isOk()) << found.status().message();
  EXPECT_EQ(found->io, "threads");
  EXPECT_FALSE(found->direct);
  EXPECT_GT(found->bytesPerSecond, 0);
}

TEST_F(DriveProbe, FilesSmallerThanAnExpert) {
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{4097}, std::size_t{100000}}) {
    const auto found = measureDrive(fileOf(bytes), quick());
    ASSERT_TRUE(found.isOk()) << found.status().message();
    EXPECT_GT(found->bytesPerSecond, 0) << bytes;
  }
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4095}}) {
    const auto found = measureDrive(fileOf(bytes), quick());
    ASSERT_TRUE(found.isOk()) << found.status().message();
    EXPECT_EQ(found->queueDepth, 0);
    EXPECT_THAT(found->warning, HasSubstr("too small"));
  }
}

TEST_F(DriveProbe, HolesAreNotTakenForADrive) {
  const fs::path path = m_folder / "sparse.safetensors";
  std::ofstream(path) << "x";
  fs::resize_file(path, std::uintmax_t{1} << 30);
  std::string notice;
  const auto facts = measureAndRemember(data(), path, quick(), {}, &notice);
  ASSERT_TRUE(facts.isOk()) << facts.status().message();
  EXPECT_THAT(facts->warning, HasSubstr("holes"));
  EXPECT_FALSE(knownDrive(data(), path).has_value()) << "the figure is not kept";
  EXPECT_FALSE(fs::exists(data() / "drives.json"));
}

TEST_F(DriveProbe, StopsWhenAsked) {
  const Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(measureDrive(fileOf(std::size_t{1} << 20), quick(), cancellation).status().code(), Code::kCancelled);
}

TEST_F(DriveProbe, AbsentFilesAndFoldersAreErrors) {
  EXPECT_EQ(measureDrive(m_folder / "absent", quick()).status().code(), Code::kIo);
  EXPECT_EQ(measureDrive(m_folder, quick()).status().code(), Code::kIo);
}

TEST_F(DriveProbe, RemembersAFileWorthMeasuringWith) {
  // Blocks that are there, but no data to write: fast to make and not sparse.
  const fs::path path = m_folder / "big.safetensors";
  std::ofstream(path) << "";
  const int descriptor = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(descriptor, 0);
  const int error = posix_fallocate(descriptor, 0, off_t{300} << 20);
  ::close(descriptor);
  if (error != 0) GTEST_SKIP() << "no room for 300 MB";
  EXPECT_FALSE(knownDrive(data(), path).has_value());
  const auto facts = measureAndRemember(data(), path, quick());
  ASSERT_TRUE(facts.isOk()) << facts.status().message();
  ASSERT_THAT(facts->warning, IsEmpty());
  const auto known = knownDrive(data(), m_folder);
  ASSERT_TRUE(known.has_value()) << "any path of the same file system";
  EXPECT_EQ(known->key, driveKey(path));
  EXPECT_DOUBLE_EQ(known->bytesPerSecond, facts->bytesPerSecond);
  EXPECT_DOUBLE_EQ(known->iops4k, facts->iops4k);
  EXPECT_EQ(known->queueDepth, facts->queueDepth);
  EXPECT_EQ(known->direct, facts->direct);
  EXPECT_EQ(known->measured.size(), 10U);
  EXPECT_FALSE(known->isStale);
}

TEST_F(DriveProbe, ARunThatDisagreesMakesItStale) {
  remember(1e9);
  ASSERT_TRUE(noteObserved(data(), m_folder, 0.85e9).isOk());
  EXPECT_FALSE(knownDrive(data(), m_folder)->isStale);
  ASSERT_TRUE(noteObserved(data(), m_folder, 1.19e9).isOk());
  EXPECT_FALSE(knownDrive(data(), m_folder)->isStale);
  ASSERT_TRUE(noteObserved(data(), m_folder, 0.79e9).isOk());
  const auto known = knownDrive(data(), m_folder);
  ASSERT_TRUE(known.has_value());
  EXPECT_TRUE(known->isStale);
  EXPECT_DOUBLE_EQ(known->bytesPerSecond, 1e9) << "what was measured stays until it is measured again";
  remember(1e9);
  ASSERT_TRUE(noteObserved(data(), m_folder, 1.21e9).isOk());
  EXPECT_TRUE(knownDrive(data(), m_folder)->isStale);
}

TEST_F(DriveProbe, NothingIsRememberedWithoutAFolder) {
  EXPECT_FALSE(knownDrive({}, m_folder).has_value());
  EXPECT_TRUE(noteObserved({}, m_folder, 1).isOk());
  EXPECT_TRUE(noteObserved(data(), m_folder, 1e9).isOk()) << "an unknown drive";
  EXPECT_FALSE(fs::exists(data()));
  EXPECT_THAT(driveKey(m_folder / "absent"), IsEmpty());
}

TEST_F(DriveProbe, HostileMemoryIsIgnored) {
  const std::string key = driveKey(m_folder);
  remember(1e9);
  ASSERT_TRUE(knownDrive(data(), m_folder).has_value());
  std::vector<std::string> texts{"",
                                 "{",
                                 "[]",
                                 "null",
                                 R"({"drives":7})",
                                 R"({"drives":[]})",
                                 "\xff\xfe",
                                 std::string(std::size_t{2} << 20, '['),
                                 std::string(100, '[')};
  for (const char* entry :
       {"null", "7", "[]", "{}", R"({"bytes_per_s":-1,"queue_depth":4})", R"({"bytes_per_s":1e300,"queue_depth":4})",
        R"({"bytes_per_s":"x","queue_depth":4})", R"({"bytes_per_s":1e9,"queue_depth":0})",
        R"({"bytes_per_s":1e9,"queue_depth":1e9})", R"({"bytes_per_s":1e9,"queue_depth":4,"iops_4k":-5})"}) {
    texts.push_back(R"({"drives":{)" + Json(key).dump() + ":" + entry + "}}");
  }
  for (const std::string& text : texts) {
    writeMemory(text);
    EXPECT_FALSE(knownDrive(data(), m_folder).has_value()) << text.substr(0, 80);
    EXPECT_TRUE(noteObserved(data(), m_folder, 1e9).isOk());
  }
}

TEST_F(DriveProbe, TheMemoryIsBounded) {
  Json drives = Json::object();
  for (int i = 0; i < 200; ++i) {
    drives["uuid:" + std::to_string(i)] = {{"bytes_per_s", 1e9}, {"queue_depth", 4}, {"measured", "2020-01-01"}};
  }
  drives[driveKey(m_folder)] = {{"bytes_per_s", 1e9}, {"queue_depth", 4}, {"measured", "2019-01-01"}};
  writeMemory(Json{{"version", 1}, {"drives", drives}}.dump());
  ASSERT_TRUE(noteObserved(data(), m_folder, 5e9).isOk());
  const auto text = readFile(data() / "drives.json", std::size_t{1} << 20);
  ASSERT_TRUE(text.isOk());
  EXPECT_LE(Json::parse(*text)["drives"].size(), 64U);
  EXPECT_TRUE(knownDrive(data(), m_folder)->isStale) << "the one in use is never dropped";
}

TEST_F(DriveProbe, AFolderThatCannotBeWrittenIsNoError) {
  remember(1e9);
  fs::remove_all(data());
  std::ofstream(data()) << "a file where the folder should be";
  EXPECT_FALSE(knownDrive(data(), m_folder).has_value());
  const auto facts = measureAndRemember(data(), fileOf(std::size_t{1} << 20), quick());
  EXPECT_TRUE(facts.isOk());
}

}  // namespace
}  // namespace colibri
