// What a sequence's state and a pass's scratch cost.

#include "model/state.h"

#include "engine/model/released_layouts.h"
#include "model/workspace.h"

#include <gtest/gtest.h>

namespace colibri::test {
namespace {

// Bytes that each further token of context takes.
std::uint64_t perToken(const ModelConfig& config, Numerics numerics) {
  const LayerPlan plan = LayerPlan::make(config);
  constexpr int kShort = 1 << 16;
  constexpr int kLong = 1 << 20;
  const std::uint64_t more =
      SequenceState::bytes(config, plan, kLong, numerics) - SequenceState::bytes(config, plan, kShort, numerics);
  EXPECT_EQ(more % (kLong - kShort), 0U);
  return more / (kLong - kShort);
}

TEST(SequenceState, PackedRowsAsTheReleaseRoundsThem) {
  const ModelConfig config = flash41();
  const CacheFormats formats = CacheFormats::make(config, LayerPlan::make(config), Numerics::kVendor);
  EXPECT_EQ(formats.entry.bytes(), 288U);
  EXPECT_EQ(formats.indexKey.bytes(), 68U);
  const ModelConfig first = flash4();
  EXPECT_EQ(CacheFormats::make(first, LayerPlan::make(first), Numerics::kVendor).entry.bytes(), 583U);
  // 2.5 entries and index keys a token, and four bytes of n-gram history.
  EXPECT_EQ(perToken(config, Numerics::kVendor), 890U + 4U);
  EXPECT_EQ(perToken(config, Numerics::kFp32), 6400U + 4U);
}

// A window ring of 128 fp32 rows a layer, two waiting rows for each of three compressors, the journal.
TEST(SequenceState, FixedPartOfTheRelease) {
  const ModelConfig config = flash41();
  const LayerPlan plan = LayerPlan::make(config);
  EXPECT_EQ(SequenceState::snapshotBytes(config, plan), 10485760U + 24576U);
}

TEST(Workspace, ScratchDoesNotGrowWithTheContext) {
  const ModelConfig config = flash41();
  const LayerPlan plan = LayerPlan::make(config);
  for (const Numerics numerics : {Numerics::kVendor, Numerics::kFp32}) {
    WorkspaceLimits limits;
    limits.segment = 512;
    limits.chunk = 128;
    limits.threads = 2;
    limits.numerics = numerics;
    limits.context = 1 << 13;
    const std::uint64_t small = Workspace::bytes(config, plan, limits, config.routedExperts);
    limits.context = 1 << 16;
    const std::uint64_t large = Workspace::bytes(config, plan, limits, config.routedExperts);
    limits.context = 1 << 20;
    EXPECT_EQ(Workspace::bytes(config, plan, limits, config.routedExperts), large);
    // Only from 16,384 entries on are there candidates to remember: a list for each token of a segment.
    EXPECT_EQ(large - small, 512U * (2048U + 1U) * 4U);
    EXPECT_LE(static_cast<double>(large), 1.1 * static_cast<double>(small));
  }
}

}  // namespace
}  // namespace colibri::test
