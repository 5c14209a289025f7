// The compressor against the reference's entries: exact in profile `vendor`, 1e-5 in `fp32`.

#include "model/compressor.h"

#include "engine/model/fixture.h"

#include <cmath>

namespace colibri::test {
namespace {

struct Kind {
  const char* name;
  int ratio;
  bool isIndexKey;
};

class CompressorGolden : public testing::TestWithParam<Kind> {};

// All entries that a compressor of the released rotary constants makes of the golden's input, or its index keys.
std::vector<float> entries(const Kind& kind, Numerics numerics, int width) {
  const Fixture fixture("long");  // any engine whose hidden size is the golden's 128
  const auto engine = fixture.open(fixture.options(numerics));
  const ModelContext& loaded = engine->transformer().context();
  ModelConfig config = loaded.config;
  config.headDim = width;
  config.indexHeadDim = width;
  config.ropeDim = 64;
  config.compressRopeTheta = 160000;
  config.ropeFactor = 16;
  config.originalContext = 65536;
  LayerPlan plan;
  plan.layers.emplace_back();
  LayerSpec& spec = plan.layers.front();
  spec.ratio = kind.ratio;
  spec.overlap = kind.ratio == 4;
  spec.pooled = true;
  spec.positionBias = true;
  spec.kvSource = 0;
  spec.indexKeys = kind.isIndexKey ? IndexKeys::kOwnCompressor : IndexKeys::kNone;
  spec.rope = RopeKind::kCompressed;
  plan.indexHadamard = true;
  const GoldenFile golden("kernels/compressor.safetensors");
  const std::string base = std::string(kind.name) + "/";
  const std::vector<float> x = golden.tensor(base + "x").floats();
  const auto wkv = golden.tensor(base + "wkv").as<std::uint16_t>();
  const auto wgate = golden.tensor(base + "wgate").as<std::uint16_t>();
  const auto ape = golden.tensor(base + "ape").as<float>();
  ModelWeights model;
  model.layers.resize(1);
  CompressorWeights& weights = model.layers.front().compressor;
  weights.width = width;
  weights.wkv = {wkv.data(), spec.overlapFactor() * width, config.hiddenSize};
  weights.wgate = {wgate.data(), spec.overlapFactor() * width, config.hiddenSize};
  weights.ape = ape.data();
  weights.norm = golden.tensor(base + "norm").floats();
  model.layers.front().indexCompressor = weights;
  const ModelContext context{config, plan, model, loaded.kernels, loaded.team, loaded.experts, loaded.work, numerics};
  Pass pass;
  pass.rows = golden.tensor(base + "x").dim(0);
  auto state = SequenceState::create(config, plan, pass.rows, numerics, nullptr);
  EXPECT_TRUE(state.isOk());
  compress(context, RotaryTables::make(config), pass, 0, x.data(), *state.value());
  const LayerState& caches = state.value()->layer(0);
  const RowFormat& format = kind.isIndexKey ? state.value()->formats().indexKey : state.value()->formats().entry;
  const std::byte* rows = kind.isIndexKey ? caches.indexKeys : caches.entries;
  std::vector<float> out(static_cast<std::size_t>(pass.rows / kind.ratio) * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < static_cast<std::size_t>(pass.rows / kind.ratio); ++i) {
    loadRow(loaded.kernels, format, rows + i * format.bytes(), out.data() + i * static_cast<std::size_t>(width));
  }
  return out;
}

TEST_P(CompressorGolden, EntriesEqual) {
  const GoldenFile golden("kernels/compressor.safetensors");
  const std::string base = std::string(GetParam().name) + "/entries_";
  EXPECT_EQ(entries(GetParam(), Numerics::kVendor, 128), golden.tensor(base + "vendor").floats());
  const auto want = golden.tensor(base + "fp32").floats();
  const auto have = entries(GetParam(), Numerics::kFp32, 128);
  ASSERT_EQ(want.size(), have.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(want[i], have[i], 4e-5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, CompressorGolden,
                         testing::Values(Kind{"r4", 4, false}, Kind{"r4_indexer", 4, true}, Kind{"r128", 128, false}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace colibri::test
