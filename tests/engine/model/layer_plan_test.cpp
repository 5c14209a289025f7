// Plans of both families, and what follows from them.

#include "model/layer_plan.h"

#include "engine/model/released_layouts.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace colibri {
namespace {

using test::flash4;
using test::flash41;

const LayerSpec& at(const LayerPlan& plan, int layer) {
  return plan.layers[static_cast<std::size_t>(layer)];
}

TEST(LayerPlan, SharedSourcesOfTheRelease) {
  const LayerPlan plan = LayerPlan::make(flash41());
  EXPECT_EQ(at(plan, 0).kvSource, -1);
  EXPECT_EQ(at(plan, 0).rope, RopeKind::kPlain);
  for (int layer = 2; layer < 40; ++layer) {
    const LayerSpec& spec = at(plan, layer);
    EXPECT_EQ(spec.kvSource, layer < 8 ? 2 : layer < 14 ? 8 : layer < 20 ? 14 : 20) << layer;
    EXPECT_EQ(spec.indexSource, layer < 24 ? spec.kvSource : layer / 4 * 4) << layer;
    EXPECT_EQ(spec.rope, RopeKind::kCompressed);
    EXPECT_EQ(spec.pooled, layer < 20);
    EXPECT_FALSE(spec.overlap);
    EXPECT_EQ(spec.indexKeys, spec.owns(layer) ? IndexKeys::kFromEntry : IndexKeys::kNone) << layer;
    const auto role = layer == 20                         ? CandidateRole::kChooses
                      : layer > 20 && spec.chooses(layer) ? CandidateRole::kRestricted
                                                          : CandidateRole::kNone;
    EXPECT_EQ(spec.candidates, role) << layer;
    EXPECT_EQ(spec.engram, layer == 14 ? 1 : -1);
    EXPECT_EQ(spec.router, RouterKind::kScore);
  }
  EXPECT_EQ(at(plan, 1).engram, 0);
  EXPECT_EQ(plan.lastSource, 20);
  EXPECT_EQ(plan.block, 32);
  EXPECT_TRUE(plan.laggedMix);
  EXPECT_FALSE(plan.headNorm);
}

TEST(LayerPlan, OwnSourcesOfTheFirstFamily) {
  const LayerPlan plan = LayerPlan::make(flash4());
  for (int layer = 0; layer < 43; ++layer) {
    const LayerSpec& spec = at(plan, layer);
    EXPECT_EQ(spec.owns(layer), layer >= 2);
    EXPECT_EQ(spec.chooses(layer), spec.ratio == 4);
    EXPECT_EQ(spec.overlap, spec.ratio == 4);
    EXPECT_EQ(spec.router, layer < 3 ? RouterKind::kHash : RouterKind::kScore);
    if (layer >= 2) {
      EXPECT_EQ(plan.publisher(layer, 77), layer);
    }
  }
  EXPECT_EQ(plan.firstDivergence(1), std::numeric_limits<int>::max());
  EXPECT_TRUE(plan.headNorm);
  EXPECT_FALSE(plan.laggedMix);
}

// Spec deepseek-v41 4.3: own keys at odd positions, layer 20's at even ones; always 20's from layer 20 on.
TEST(LayerPlan, PublishersOfTheRelease) {
  const LayerPlan plan = LayerPlan::make(flash41());
  for (int position = 1; position < 40; ++position) {
    for (const int layer : {2, 8, 14}) {
      EXPECT_EQ(plan.publisher(layer, position), position % 2 == 1 ? layer : 20) << layer << " at " << position;
    }
    for (const int layer : {20, 24, 36}) EXPECT_EQ(plan.publisher(layer, position), 20) << position;
  }
  EXPECT_EQ(plan.publisher(2, 0), -1);
  EXPECT_EQ(plan.publisher(20, 0), 20);
}

// The last publisher in order of position and layer, found by playing the order through.
TEST(LayerPlan, PublishersFollowTheOrderOfPublishing) {
  ModelConfig c = flash41();
  c.layers = 6;
  c.compressRatios = {0, 4, 4, 2, 2, 1};
  c.kvSourceLayers = {1, 3, 5};
  c.indexSourceLayers = {1, 2, 3, 5};
  c.candidateSourceLayer = -1;
  c.engram.layers = {};
  const LayerPlan plan = LayerPlan::make(c);
  int slot = -1;
  for (int position = 0; position < 24; ++position) {
    for (int layer = 0; layer < 6; ++layer) {
      const LayerSpec& spec = at(plan, layer);
      if (spec.owns(layer) && (position + 1) % spec.ratio == 0) slot = layer;
      if (!spec.chooses(layer)) continue;
      EXPECT_EQ(plan.publisher(layer, position), slot) << layer << " at " << position;
    }
  }
}

TEST(LayerPlan, DivergenceBeginsWhereTheChoiceIsReal) {
  const LayerPlan plan = LayerPlan::make(flash41());
  // 513 entries of two tokens exist from position 1025 on, which is odd; 1026 is the first even one.
  EXPECT_EQ(plan.firstDivergence(512), 1026);
  EXPECT_EQ(plan.firstDivergence(6), 14);
}

TEST(LayerPlan, ReachOfAPromptsEnd) {
  const LayerPlan plan = LayerPlan::make(flash41());
  EXPECT_EQ(plan.outputReach(39, 128), 1);
  EXPECT_EQ(plan.outputReach(38, 128), 128);
  EXPECT_EQ(plan.outputReach(37, 128), 255);
  EXPECT_EQ(plan.outputReach(20, 128), 2414);
  EXPECT_EQ(plan.outputReach(19, 128), 0);
  EXPECT_EQ(plan.outputReach(0, 128), 0);
  const LayerPlan first = LayerPlan::make(flash4());
  EXPECT_EQ(first.outputReach(42, 128), 1);
  EXPECT_EQ(first.outputReach(41, 128), 0);
}

}  // namespace
}  // namespace colibri
