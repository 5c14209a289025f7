#include "plan/model_costs.h"

#include "plan/model_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace colibri {
namespace {

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;

/// A V4.1 checkpoint as far as planning looks: two layers of four experts, tables, drafter and image tower.
class RecognisedModel : public testing::Test {
protected:
  RecognisedModel() {
    m_model.config.family = ModelFamily::kDeepSeekV41;
    m_model.config.modelType = "deepseek_v41";
    m_model.config.layers = 2;
    m_model.config.vocabSize = 1000;
    m_model.config.hiddenSize = 512;
    m_model.config.heads = 8;
    m_model.config.headDim = 64;
    m_model.config.ropeDim = 32;
    m_model.config.qLoraRank = 128;
    m_model.config.oGroups = 2;
    m_model.config.oLoraRank = 64;
    m_model.config.slidingWindow = 128;
    m_model.config.compressRatios = {0, 2};
    m_model.config.indexHeads = 4;
    m_model.config.indexHeadDim = 64;
    m_model.config.indexTopK = 64;
    m_model.config.routedExperts = 4;
    m_model.config.expertsPerToken = 2;
    m_model.config.moeIntermediate = 128;
    m_model.config.maxPositions = 65536;
    m_model.modelId = std::string(32, 'a');
    m_model.supported = Status(Code::kCheckpoint, "unsupported_model", "This version does not run it.");
    add("embed.weight", 100 * kMib);
    add("head.weight", 101 * kMib);
    for (const char* layer : {"layers.0.", "layers.1."}) {
      add(std::string(layer) + "attn.wq_a.weight", 40 * kMib);
      add(std::string(layer) + "ffn.shared_experts.w1.weight", 20 * kMib);
      add(std::string(layer) + "attn_norm.weight", 4096);
      for (const char* expert : {"0", "1", "2", "3"}) {
        for (const char* part : {"w1.weight", "w1.scale", "w2.weight", "w2.scale", "w3.weight", "w3.scale"}) {
          add(std::string(layer) + "ffn.experts." + expert + "." + part, 3 * kMib);
        }
      }
    }
    add("layers.1.engram.embed.weight", std::uint64_t{100} << 30);
    add("layers.1.engram.embed.scale", std::uint64_t{3} << 30);
    add("layers.1.engram.wkv.weight", 7 * kMib);
    add("mtp.0.attn.wq_a.weight", 11 * kMib);
    add("mtp.0.ffn.experts.0.w1.weight", 3 * kMib);
    add("vision.block.weight", 13 * kMib);
    std::sort(m_tensors.begin(), m_tensors.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    m_model.shards = ShardSet::assemble({Shard{}}, m_tensors);
  }

  void add(std::string name, std::uint64_t bytes) {
    TensorInfo tensor;
    tensor.name = std::move(name);
    tensor.dtype = Dtype::kF8E4M3;
    tensor.shape = {bytes / 1024, 1024};
    tensor.bytes = bytes;
    m_tensors.push_back(std::move(tensor));
  }

  PlannableModel m_model;
  std::vector<TensorInfo> m_tensors;
};

TEST_F(RecognisedModel, SizesComeFromTheHeaders) {
  const ModelSizes sizes = sizesFromHeaders(m_model.config, *m_model.shards);
  EXPECT_EQ(sizes.resident.head, 201 * kMib);
  EXPECT_EQ(sizes.resident.dense, 2 * (60 * kMib + 4096) + 7 * kMib);
  EXPECT_EQ(sizes.resident.draft, 11 * kMib);
  EXPECT_EQ(sizes.resident.vision, 13 * kMib);
  EXPECT_EQ(sizes.resident.streamable, 127 * kMib);
  EXPECT_GE(sizes.resident.windows, 127 * kMib);
  ASSERT_EQ(sizes.costs.layers.size(), 2U);
  EXPECT_EQ(sizes.costs.layers[0].denseBytes, 40 * kMib + 4096);
  EXPECT_EQ(sizes.costs.layers[1].denseBytes, 47 * kMib + 4096);
  EXPECT_EQ(sizes.costs.layers[1].sharedBytes, 20 * kMib);
  EXPECT_EQ(sizes.costs.layers[0].expertBytes, 18 * kMib);
  EXPECT_EQ(sizes.costs.totalExperts(), 8U);
  EXPECT_EQ(sizes.costs.routedBytesPerToken(), 2 * 2 * 18 * kMib);
  // The table of embeddings is not read by a token.
  EXPECT_EQ(sizes.costs.headBytes, 101 * kMib);
}

TEST_F(RecognisedModel, APlanIsMadeAndSaysThatItDoesNotRun) {
  EngineOptions options;
  options.context = 10000;
  options.ramBytes = 600 * kMib;
  PlanSurroundings around;
  around.freeBytes = std::uint64_t{64} << 30;
  around.physicalCores = 4;
  around.isa = "avx2";
  around.memoryBytesPerSecond = 40e9;
  PlannedDrive drive;
  drive.bytesPerSecond = 1e9;
  around.drives.push_back(drive);
  const auto planned = planOpened(options, m_model, around);
  ASSERT_TRUE(planned.isOk()) << planned.status().message();
  const EnginePlan& plan = planned->plan;
  std::uint64_t sum = 0;
  std::uint64_t kv = 0;
  for (const MemoryPart& part : plan.parts) {
    sum += part.bytes;
    if (part.tag == MemoryTag::kKv) kv = part.bytes;
  }
  EXPECT_EQ(sum, plan.usedBytes);
  EXPECT_LE(sum, plan.budgetBytes);
  // 890 bytes of compressed state and 4 of history a token; rings and open halves, and two copies of these.
  EXPECT_EQ(kv, 894U * 10000 + 3 * (2 * 128 * 64 * 4 + 24576));
  EXPECT_EQ(plan.expertSlots, 8U);
  EXPECT_GT(plan.prediction.decodeTokensPerSecond, 0);
  ASSERT_FALSE(plan.advice.empty());
  EXPECT_EQ(plan.advice.front(), "This version does not run it.");
}

}  // namespace
}  // namespace colibri
