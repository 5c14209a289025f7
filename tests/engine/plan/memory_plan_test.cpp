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
  EXPECT_LE(plan->usedBytes, 30 * kGib);
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
