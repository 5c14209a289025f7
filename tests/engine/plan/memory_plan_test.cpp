#include "plan/memory_plan.h"

#include <gtest/gtest.h>

#include <limits>

namespace colibri {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

/// V4 Flash in round numbers.
PlanInput flash() {
  PlanInput input;
  input.denseBytes = 6 * kGib;
  input.headBytes = kGib;
  input.kvBytes = 64 * kMib;
  input.scratchBytes = 128 * kMib;
  input.slotBytes = 13 * kMib;
  input.totalExperts = 43 * 256;
  input.expertsPerToken = 6;
  input.layers = 43;
  input.freeBytes = 32 * kGib;
  return input;
}

std::uint64_t partOf(const EnginePlan& plan, MemoryTag tag) {
  for (const MemoryPart& part : plan.parts) {
    if (part.tag == tag) return part.bytes;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

void expectConsistent(const EnginePlan& plan) {
  std::uint64_t sum = 0;
  for (const MemoryPart& part : plan.parts) sum += part.bytes;
  EXPECT_EQ(plan.parts.size(), static_cast<std::size_t>(MemoryTag::kCount));
  EXPECT_EQ(sum, plan.usedBytes);
  EXPECT_LE(plan.usedBytes, plan.budgetBytes);
}

TEST(MemoryPlan, FillsTheBudgetWithSlots) {
  PlanInput input = flash();
  input.ramBytes = 16 * kGib;
  const auto plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  expectConsistent(*plan);
  EXPECT_EQ(plan->budgetBytes, 16 * kGib);
  EXPECT_EQ(plan->expertSlots, (9 * kGib - 192 * kMib - kProcessReserveBytes) / (13 * kMib));
  EXPECT_EQ(partOf(*plan, MemoryTag::kExpertCache), plan->expertSlots * 13 * kMib);
  EXPECT_EQ(partOf(*plan, MemoryTag::kReserve), kProcessReserveBytes);
  EXPECT_EQ(partOf(*plan, MemoryTag::kHead), kGib);
}

TEST(MemoryPlan, WithoutABudgetLeavesAMarginOfFreeMemory) {
  const auto plan = planMemory(flash());
  ASSERT_TRUE(plan.isOk());
  expectConsistent(*plan);
  EXPECT_EQ(plan->budgetBytes, 30 * kGib);
  EXPECT_EQ(systemMargin(32 * kGib), 2 * kGib);
  EXPECT_EQ(systemMargin(4 * kGib), 512 * kMib);
  EXPECT_EQ(systemMargin(400 * kMib), 100 * kMib);
}

TEST(MemoryPlan, ABudgetBeyondFreeMemoryIsACeilingOnly) {
  PlanInput input = flash();
  input.ramBytes = 64 * kGib;
  const auto plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  EXPECT_EQ(plan->budgetBytes, 64 * kGib);
  EXPECT_LE(plan->usedBytes, 31 * kGib);
  EXPECT_GT(plan->usedBytes, 30 * kGib);
  input.cacheExperts = 4000;
  EXPECT_EQ(planMemory(input)->expertSlots, 4000U);
}

TEST(MemoryPlan, NeverMoreSlotsThanExperts) {
  PlanInput input = flash();
  input.freeBytes = input.ramBytes.emplace(1024 * kGib);
  EXPECT_EQ(planMemory(input)->expertSlots, 43U * 256U);
  input.cacheExperts = 20000;
  EXPECT_EQ(planMemory(input)->expertSlots, 43U * 256U);
  input.cacheExperts.reset();
  input.cap = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(planMemory(input)->expertSlots, 43U * 256U);
}

TEST(MemoryPlan, CapCountsPerLayerAndOneSlotIsLegal) {
  PlanInput input = flash();
  input.cap = 4;
  EXPECT_EQ(planMemory(input)->expertSlots, 172U);
  input.cap.reset();
  input.cacheExperts = 1;
  EXPECT_EQ(planMemory(input)->expertSlots, 1U);
}

TEST(MemoryPlan, TheBudgetForOneSlotIsTheLeastThatWorks) {
  PlanInput input = flash();
  const std::uint64_t least = 7 * kGib + 192 * kMib + kProcessReserveBytes + 13 * kMib;
  input.ramBytes = least;
  ASSERT_TRUE(planMemory(input).isOk());
  EXPECT_EQ(planMemory(input)->expertSlots, 1U);
  input.ramBytes = least - 1;
  const auto plan = planMemory(input);
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), Code::kMemory);
  EXPECT_NE(plan.status().detail().find("shortfall_bytes=1"), std::string::npos);
  // The advice must itself work.
  EXPECT_NE(plan.status().message().find("--ram " + std::to_string(least / kMib) + "M"), std::string::npos)
      << plan.status().message();
}

TEST(MemoryPlan, SlotsThatDoNotFitNameTheNumberThatDoes) {
  PlanInput input = flash();
  input.ramBytes = 8 * kGib;
  input.cacheExperts = 1000;
  const auto plan = planMemory(input);
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), Code::kMemory);
  const std::uint64_t fits = (kGib - 192 * kMib - kProcessReserveBytes) / (13 * kMib);
  EXPECT_NE(plan.status().message().find("--cache-experts " + std::to_string(fits)), std::string::npos)
      << plan.status().message();
  input.cacheExperts = fits;
  EXPECT_TRUE(planMemory(input).isOk());
  input.cacheExperts = fits + 1;
  EXPECT_FALSE(planMemory(input).isOk());
}

/// The same model, whose layers' large matrices can be read for each pass.
PlanInput streamable() {
  PlanInput input = flash();
  input.streamableBytes = 5 * kGib;
  input.windowBytes = 256 * kMib;
  return input;
}

TEST(MemoryPlan, DenseWeightsAreStreamedWhenTheyDoNotFitBesideAWorkingSet) {
  PlanInput input = streamable();
  const std::uint64_t fixed = 7 * kGib + 192 * kMib + kProcessReserveBytes;
  input.ramBytes = fixed + 6 * 13 * kMib;
  auto plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  EXPECT_FALSE(plan->streamsDense);
  EXPECT_EQ(plan->expertSlots, 6U);
  expectConsistent(*plan);
  input.ramBytes = fixed + 6 * 13 * kMib - 1;
  plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  EXPECT_TRUE(plan->streamsDense);
  EXPECT_EQ(partOf(*plan, MemoryTag::kDense), kGib + 256 * kMib);
  EXPECT_GT(plan->expertSlots, 300U);
  expectConsistent(*plan);
  // What saves nothing is not done.
  input.windowBytes = 5 * kGib;
  plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  EXPECT_FALSE(plan->streamsDense);
  EXPECT_EQ(plan->expertSlots, 5U);
}

TEST(MemoryPlan, TheLeastBudgetStreamsAndItsRefusalNamesBothSettings) {
  PlanInput input = streamable();
  const std::uint64_t least = 2 * kGib + 256 * kMib + 192 * kMib + kProcessReserveBytes + 13 * kMib;
  input.ramBytes = least;
  ASSERT_TRUE(planMemory(input).isOk());
  EXPECT_EQ(planMemory(input)->expertSlots, 1U);
  input.ramBytes = least - 7;
  const auto plan = planMemory(input);
  ASSERT_FALSE(plan.isOk());
  EXPECT_EQ(plan.status().code(), Code::kMemory);
  EXPECT_NE(plan.status().detail().find("shortfall_bytes=7"), std::string::npos) << plan.status().detail();
  EXPECT_NE(plan.status().message().find("--ram " + std::to_string(least / kMib) + "M"), std::string::npos)
      << plan.status().message();
  const std::uint64_t resident = 7 * kGib + 192 * kMib + kProcessReserveBytes + 6 * 13 * kMib;
  EXPECT_NE(plan.status().message().find("(" + std::to_string(resident / kMib) + "M keeps"), std::string::npos)
      << plan.status().message();
}

TEST(MemoryPlan, AskedSlotsWinOverResidentWeights) {
  PlanInput input = streamable();
  input.ramBytes = 8 * kGib;
  EXPECT_FALSE(planMemory(input)->streamsDense);
  input.cacheExperts = 300;
  const auto plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  EXPECT_TRUE(plan->streamsDense);
  EXPECT_EQ(plan->expertSlots, 300U);
  expectConsistent(*plan);
}

TEST(MemoryPlan, EveryBudgetOfAFineSweepIsUsed) {
  for (const PlanInput& model : {flash(), streamable()}) {
    std::uint64_t slotsBefore = 0;
    bool streamedBefore = true;
    int planned = 0;
    for (std::uint64_t ram = kGib; ram < 160 * kGib; ram += 37 * kMib) {
      PlanInput input = model;
      input.freeBytes = 400 * kGib;
      input.ramBytes = ram;
      const auto plan = planMemory(input);
      if (!plan.isOk()) {
        EXPECT_EQ(planned, 0) << "a larger budget is refused: " << ram;
        continue;
      }
      ++planned;
      expectConsistent(*plan);
      // Slots grow with the budget, but for the one step at which the dense weights move in.
      if (plan->streamsDense == streamedBefore) {
        EXPECT_GE(plan->expertSlots, slotsBefore) << ram;
      }
      EXPECT_TRUE(streamedBefore || !plan->streamsDense) << ram;
      streamedBefore = plan->streamsDense;
      slotsBefore = plan->expertSlots;
      if (plan->expertSlots < model.totalExperts) {
        EXPECT_GE(static_cast<double>(plan->usedBytes), 0.95 * static_cast<double>(ram)) << ram;
      }
    }
    EXPECT_GT(planned, 3000);
    EXPECT_EQ(slotsBefore, model.totalExperts);
  }
}

TEST(MemoryPlan, FurtherResidentPartsAreInTheSum) {
  PlanInput input = flash();
  input.ramBytes = 20 * kGib;
  const std::uint64_t before = planMemory(input)->expertSlots;
  input.draftBytes = 130 * kMib;
  input.visionBytes = 260 * kMib;
  input.engramBytes = 13 * kMib;
  const auto plan = planMemory(input);
  ASSERT_TRUE(plan.isOk());
  expectConsistent(*plan);
  EXPECT_EQ(partOf(*plan, MemoryTag::kDraft), 130 * kMib);
  EXPECT_EQ(partOf(*plan, MemoryTag::kVision), 260 * kMib);
  EXPECT_EQ(partOf(*plan, MemoryTag::kEngramCache), 13 * kMib);
  EXPECT_EQ(before - plan->expertSlots, 31U);
}

TEST(MemoryPlan, RefusesContradictionsAndZero) {
  PlanInput input = flash();
  input.cap = 1;
  input.cacheExperts = 1;
  EXPECT_EQ(planMemory(input).status().code(), Code::kUsage);
  input.cap.reset();
  input.cacheExperts = 0;
  EXPECT_EQ(planMemory(input).status().code(), Code::kUsage);
}

TEST(MemoryPlan, AbsurdSizesDoNotWrapAround) {
  PlanInput input = flash();
  input.denseBytes = std::numeric_limits<std::uint64_t>::max() - 5;
  input.kvBytes = std::numeric_limits<std::uint64_t>::max() / 2;
  EXPECT_EQ(planMemory(input).status().code(), Code::kMemory);
  input = flash();
  input.slotBytes = std::numeric_limits<std::uint64_t>::max() / 2;
  input.cacheExperts = 5;
  EXPECT_EQ(planMemory(input).status().code(), Code::kMemory);
}

}  // namespace
}  // namespace colibri
