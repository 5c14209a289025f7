// The arena's memory: huge-page aligned, zero, and not taken from the system before it is used.

#include "base/buffer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace colibri {
namespace {

std::int64_t residentPages(const Buffer& buffer) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((buffer.size() + page - 1) / page);
  EXPECT_EQ(mincore(buffer.data(), buffer.size(), pages.data()), 0);
  return std::count_if(pages.begin(), pages.end(), [](unsigned char flags) { return (flags & 1) != 0; });
}

TEST(Arena, TakesPagesOnlyWhenUsed) {
  const auto ledger = std::make_shared<Ledger>();
  {
    auto buffer = Buffer::allocateUntouched(std::size_t{256} << 20, MemoryTag::kExpertCache, ledger);
    ASSERT_TRUE(buffer.isOk());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % (std::size_t{2} << 20), 0U);
    EXPECT_EQ(ledger->bytes(MemoryTag::kExpertCache), std::int64_t{256} << 20);
    EXPECT_EQ(residentPages(*buffer), 0);
    EXPECT_EQ(buffer->data()[12'345], std::byte{0});
    buffer->data()[buffer->size() - 1] = std::byte{1};
    EXPECT_GT(residentPages(*buffer), 0);
  }
  EXPECT_EQ(ledger->total(), 0);
}

TEST(Arena, PagesAreGivenBackAndTakenOffTheLedger) {
  const auto ledger = std::make_shared<Ledger>();
  {
    auto buffer = Buffer::allocateUntouched(std::size_t{8} << 20, MemoryTag::kExpertCache, ledger);
    ASSERT_TRUE(buffer.isOk());
    std::fill_n(buffer->data(), buffer->size(), std::byte{7});
    const std::int64_t before = residentPages(*buffer);
    ASSERT_TRUE(buffer->discard(std::size_t{2} << 20, std::size_t{4} << 20));
    EXPECT_EQ(residentPages(*buffer), before / 2);
    EXPECT_EQ(ledger->bytes(MemoryTag::kExpertCache), std::int64_t{4} << 20);
    EXPECT_EQ(buffer->data()[(std::size_t{2} << 20) - 1], std::byte{7});
    EXPECT_EQ(buffer->data()[std::size_t{6} << 20], std::byte{7});
    EXPECT_FALSE(buffer->discard(buffer->size(), 4096));
  }
  EXPECT_EQ(ledger->total(), 0);
  auto plain = Buffer::allocate(std::size_t{4} << 20, MemoryTag::kScratch, nullptr);
  ASSERT_TRUE(plain.isOk());
  EXPECT_FALSE(plain->discard(0, std::size_t{2} << 20));
}

TEST(Arena, SmallOnesAreAlignedToBlocks) {
  auto buffer = Buffer::allocateUntouched(5000, MemoryTag::kScratch, nullptr);
  ASSERT_TRUE(buffer.isOk());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 4096, 0U);
  std::fill_n(buffer->data(), 8192, std::byte{7});
}

TEST(Arena, RefusesWhatCannotBe) {
  for (const std::size_t size : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 62}) {
    EXPECT_EQ(Buffer::allocateUntouched(size, MemoryTag::kExpertCache, nullptr).status().code(), Code::kMemory);
  }
}

}  // namespace
}  // namespace colibri
