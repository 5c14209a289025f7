// Anonymous memory: what counts, and how often it is asked for.

#include "base/process_memory.h"

#include "engine/io/test_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#if defined(__linux__)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace colibri {
namespace {

constexpr std::size_t kBytes = std::size_t{64} << 20;
constexpr double kTolerance = 8 << 20;

double held() {
  return static_cast<double>(anonymousMemoryBytes().value_or(0));
}

#if defined(__linux__)
TEST(AnonymousMemoryBytes, CountsTouchedPagesAndForgetsFreedOnes) {
  const double before = held();
  ASSERT_GT(before, 0);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_NEAR(held(), before, kTolerance) << "untouched pages take nothing";
  std::memset(memory, 1, kBytes);
  EXPECT_NEAR(held(), before + static_cast<double>(kBytes), kTolerance);
  ASSERT_EQ(munmap(memory, kBytes), 0);
  EXPECT_NEAR(held(), before, kTolerance);
}

TEST(AnonymousMemoryBytes, LeavesFilesAndSharedMemoryOut) {
  const testing::TemporaryFolder folder;
  testing::writeBytes(folder.path() / "file", std::vector<std::byte>(kBytes, std::byte{1}));
  const double before = held();
  const int file = open((folder.path() / "file").c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  void* mapped = mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  void* shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::memset(shared, 1, kBytes);
  EXPECT_NEAR(held(), before, kTolerance);
  (void)munmap(mapped, kBytes);
  (void)munmap(shared, kBytes);
  (void)close(file);
}
#endif

std::uint64_t now = 0;
int asked = 0;
std::optional<std::uint64_t> figure() {
  ++asked;
  return now;
}

TEST(AnonymousMemory, AsksOnceAnIntervalAndKeepsThePeak) {
  asked = 0;
  AnonymousMemory memory(std::chrono::milliseconds(100), figure);
  EXPECT_EQ(memory.bytes(), 0U);
  const auto start = AnonymousMemory::Clock::now();
  const auto after = [&](int milliseconds) { return start + std::chrono::milliseconds(milliseconds); };
  now = 500;
  EXPECT_EQ(memory.sample(after(0)), 500U);
  now = 900;
  EXPECT_EQ(memory.sample(after(99)), 500U);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(memory.sample(after(100)), 900U);
  now = 700;
  EXPECT_EQ(memory.sampleNow(after(101)), 700U);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(memory.bytes(), 700U);
  EXPECT_EQ(memory.peak(), 900U);
  memory.startPeak();
  EXPECT_EQ(memory.peak(), 700U);
}

TEST(AnonymousMemory, UnknownIsZero) {
  AnonymousMemory memory(std::chrono::milliseconds(0), [] { return std::optional<std::uint64_t>(); });
  EXPECT_EQ(memory.sampleNow(), 0U);
  EXPECT_EQ(memory.peak(), 0U);
}

}  // namespace
}  // namespace colibri
