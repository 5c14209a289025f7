// What a V4.1 model costs and is planned with: n-gram tables, the end of long prompts, settings without a use.
#include "plan/model_costs.h"

#include "fake_turns.h"
#include "model/weights.h"
#include "plan/memory_plan.h"
#include "plan/model_plan.h"
#include "store/engram_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace colibri {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(COLIBRI_GOLDEN_DIR) / name / "checkpoint";
}

PlanSurroundings machine() {
  PlanSurroundings around;
  around.freeBytes = std::uint64_t{64} << 30;
  around.physicalCores = 4;
  around.isa = "avx2";
  around.memoryBytesPerSecond = 40e9;
  PlannedDrive drive;
  drive.bytesPerSecond = 1e9;
  drive.iops4k = 100000;
  around.drives.push_back(drive);
  return around;
}

std::uint64_t part(const EnginePlan& plan, MemoryTag tag) {
  for (const MemoryPart& one : plan.parts) {
    if (one.tag == tag) return one.bytes;
  }
  return 0;
}

Result<ModelPlan> planGolden(const char* name, EngineOptions options) {
  options.model = golden(name);
  const auto model = openForPlanning(options);
  EXPECT_TRUE(model) << model.status().message();
  if (!model) return model.status();
  options.context = 256;
  return planOpened(options, *model, machine());
}

TEST(ModelCostsV41, LayersKnowTheirTablesAndHowMuchOfAPromptTheyNeed) {
  const auto config = ModelConfig::load(golden("v41/text"));
  ASSERT_TRUE(config) << config.status().message();
  const auto shards = ShardSet::open(golden("v41/text"));
  ASSERT_TRUE(shards);
  const LayerPlan layers = LayerPlan::make(*config);
  const auto layout = ExpertLayout::build(*config, **shards);
  const auto wants = ModelWeights::wants(*config, layers, **shards);
  ASSERT_TRUE(layout && wants);
  const ModelSizes sizes = sizesOf(*config, layers, *wants, *layout);
  ASSERT_EQ(sizes.costs.layers.size(), 12U);
  EXPECT_EQ(sizes.costs.layers[1].tableRows, 12);
  EXPECT_EQ(sizes.costs.layers[4].tableRows, 12);
  EXPECT_EQ(sizes.costs.layers[2].tableRows, 0);
  EXPECT_EQ(sizes.costs.layers[5].promptReach, 0);
  EXPECT_EQ(sizes.costs.layers[6].promptReach, 16 + 15 * 4);
  EXPECT_EQ(sizes.costs.layers[11].promptReach, 1);
  EXPECT_FALSE(sizes.costs.layers[0].knowsExpertsEarly);
  // A plain layer beside one with a table's projection, [640, 384] and a scale for each 32 x 32, and two gate vectors.
  EXPECT_EQ(sizes.costs.layers[1].denseBytes - sizes.costs.layers[0].denseBytes,
            640U * 384 + 640 / 32 * (384 / 32) + 2U * 4 * 128 * 2);
}

TEST(ModelCostsV41, RowsAtTheEndOfAPrompt) {
  LayerCost layer;
  EXPECT_EQ(layer.rowsOf(512, 10000), 512);
  layer.promptReach = 100;
  EXPECT_EQ(layer.rowsOf(512, 0), 100);
  EXPECT_EQ(layer.rowsOf(64, 0), 64);
  EXPECT_EQ(layer.rowsOf(64, 90), 10);
  EXPECT_EQ(layer.rowsOf(64, 100), 0);
}

TEST(TurnPredictorV41, LongPromptsCostTheLowerLayersOnly) {
  ModelCosts costs = smallCosts();
  const HitCurve curve(costs.totalExperts(), 48);
  const TurnPredictor whole(costs, curve, smallFacts(400));
  for (std::size_t i = 4; i < costs.layers.size(); ++i) costs.layers[i].promptReach = 64;
  const TurnPredictor cone(costs, curve, smallFacts(400));
  const auto first = [](const TurnPredictor& predictor, std::int64_t tokens) {
    return predictor.predict({tokens, 16, 0}).firstTokenSeconds;
  };
  EXPECT_DOUBLE_EQ(first(cone, 32), first(whole, 32));
  EXPECT_LT(first(cone, 8192), 0.6 * first(whole, 8192));
  EXPECT_GT(first(cone, 8192), 0.4 * first(whole, 8192));
}

TEST(TurnPredictorV41, TablesTakeTheDrivesSmallReads) {
  ModelCosts costs = smallCosts();
  const HitCurve curve(costs.totalExperts(), 48);
  PredictorFacts facts = smallFacts(costs.totalExperts());
  facts.smallReadsPerSecond = 1000;
  const auto seconds = [&] {
    return 1 / TurnPredictor(costs, curve, facts).predict({1, 128, costs.totalExperts()}).decodeTokensPerSecond;
  };
  const double without = seconds();
  // 2 x 24 reads in 48 ms are behind layers that need less than that before this one.
  costs.layers[1].tableRows = 24;
  const double slow = seconds();
  EXPECT_GT(slow, without);
  EXPECT_LT(slow, without + 0.048);
  facts.smallReadsPerSecond = 1e6;
  EXPECT_NEAR(seconds(), without, 0.001);
}

TEST(ModelPlanV41, TheCacheOfRowsFollowsTheBudgetOrTheUser) {
  const auto config = ModelConfig::load(golden("v41/text"));
  ASSERT_TRUE(config);
  const auto planned = planGolden("v41/text", {});
  ASSERT_TRUE(planned) << planned.status().message();
  const EnginePlan& plan = planned->plan;
  EXPECT_EQ(part(plan, MemoryTag::kEngramCache), EngramStore::bytesFor(config->engram, 65536));
  EXPECT_EQ(part(plan, MemoryTag::kVision), 0U);
  EXPECT_EQ(part(plan, MemoryTag::kDraft), 0U);
  EXPECT_GT(part(plan, MemoryTag::kKv), 0U);
  EXPECT_TRUE(std::any_of(plan.advice.begin(), plan.advice.end(), [](const std::string& sentence) {
    return sentence.find("image tower") != std::string::npos;
  }));
  EngineOptions options;
  options.engramRows = 7;
  const auto seven = planGolden("v41/text", options);
  ASSERT_TRUE(seven);
  EXPECT_EQ(part(seven->plan, MemoryTag::kEngramCache), EngramStore::bytesFor(config->engram, 7));
  options.engramRows = 0;
  const auto none = planGolden("v41/text", options);
  ASSERT_TRUE(none);
  EXPECT_EQ(part(none->plan, MemoryTag::kEngramCache), EngramStore::bytesFor(config->engram, 0));
}

TEST(MemoryPlanEngram, RowsTakeASixteenthOfWhatExpertsCouldHave) {
  PlanInput input;
  input.denseBytes = 100 * kMib;
  input.slotBytes = kMib;
  input.totalExperts = 100000;
  input.expertsPerToken = 4;
  input.layers = 10;
  input.engramBytes = 2 * kMib;
  input.engramMoreBytes = 50 * kMib;
  input.freeBytes = std::uint64_t{64} << 30;
  const auto rows = [&](std::uint64_t mib) {
    input.ramBytes = mib * kMib;
    const auto plan = planMemory(input);
    EXPECT_TRUE(plan) << plan.status().message();
    EXPECT_LE(plan->usedBytes, *input.ramBytes);
    return part(*plan, MemoryTag::kEngramCache);
  };
  const std::uint64_t fixed = 32 + 100 + 2 + 4;  // reserve, dense weights, least rows, a step's experts
  EXPECT_EQ(rows(fixed), 2 * kMib);
  EXPECT_EQ(rows(fixed + 160), 12 * kMib);
  EXPECT_EQ(rows(fixed + 1600), 52 * kMib);
}

TEST(SettingsFit, WhatAModelHasNoUseForIsRefusedWithTheReason) {
  const auto v4 = ModelConfig::load(golden("v4/april"));
  const auto v41 = ModelConfig::load(golden("v41/text"));
  ASSERT_TRUE(v4 && v41);
  const auto check = [&](const char* what, const auto& set) {
    EngineOptions options;
    set(options);
    const Status refused = checkSettingsFit(options, *v4);
    EXPECT_EQ(refused.code(), Code::kUnavailable) << what;
    EXPECT_NE(refused.message().find(what), std::string::npos) << refused.message();
    EXPECT_TRUE(checkSettingsFit(options, *v41).isOk()) << what;
  };
  check("--index-keys", [](EngineOptions& options) { options.indexKeys = IndexKeyRule::kOwner; });
  check("--engram-rows", [](EngineOptions& options) { options.engramRows = 100; });
  check("--max-image-tokens", [](EngineOptions& options) { options.maxImageTokens = 20; });
  check("--kv-prefix", [](EngineOptions& options) { options.reuseGenerated = true; });
  EngineOptions options;
  EXPECT_TRUE(checkSettingsFit(options, *v4).isOk());
  options.maxImageTokens = 41;  // the model's limit is 40
  const Status tooMany = checkSettingsFit(options, *v41);
  EXPECT_EQ(tooMany.code(), Code::kUnavailable);
  EXPECT_NE(tooMany.message().find("at most 40"), std::string::npos) << tooMany.message();
  const auto planned = planGolden("v41/text", options);
  EXPECT_EQ(planned.status().id(), "setting_has_no_effect");
}

}  // namespace
}  // namespace colibri
