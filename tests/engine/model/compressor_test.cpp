// The compressor against the reference's entries: exact in profile `vendor`, 1e-5 in `fp32`.

#include "model/compressor.h"

#include "engine/model/fixture.h"

#include <cmath>
#include <limits>

namespace colibri::test {
namespace {

struct Kind {
  const char* name;
  int ratio;
  EntryGrid grid;
};

class CompressorGolden : public testing::TestWithParam<Kind> {};

std::vector<float> entries(const Kind& kind, Numerics numerics, int width) {
  const Fixture fixture("long");  // any engine whose hidden size is the golden's 128
  const auto engine = fixture.open(fixture.options(numerics));
  const ModelContext& loaded = engine->transformer().context();
  ModelConfig config = loaded.config;
  // The golden was made with the released rotary constants.
  config.ropeDim = 64;
  config.compressRopeTheta = 160000;
  config.ropeFactor = 16;
  config.originalContext = 65536;
  const ModelContext model{config,      loaded.plan,    loaded.weights, loaded.kernels,
                           loaded.team, loaded.experts, loaded.work,    numerics};
  const GoldenFile golden("kernels/compressor.safetensors");
  const std::string base = std::string(kind.name) + "/";
  const std::vector<float> x = golden.tensor(base + "x").floats();
  const auto wkv = golden.tensor(base + "wkv").as<std::uint16_t>();
  const auto wgate = golden.tensor(base + "wgate").as<std::uint16_t>();
  const auto ape = golden.tensor(base + "ape").as<float>();
  LayerSpec spec;
  spec.ratio = kind.ratio;
  spec.overlap = kind.ratio == 4;
  spec.rope = RopeKind::kCompressed;
  CompressorWeights weights;
  weights.width = width;
  weights.wkv = {wkv.data(), spec.overlapFactor() * width, config.hiddenSize};
  weights.wgate = {wgate.data(), spec.overlapFactor() * width, config.hiddenSize};
  weights.ape = ape.data();
  weights.norm = golden.tensor(base + "norm").floats();
  CompressorState state;
  state.rows = spec.compressorRows();
  state.width = spec.overlapFactor() * width;
  const auto floats = static_cast<std::size_t>(state.rows) * static_cast<std::size_t>(state.width);
  std::vector<float> values(floats, 0.0F);
  std::vector<float> scores(floats, -std::numeric_limits<float>::infinity());
  state.values = values.data();
  state.scores = scores.data();
  Pass pass;
  pass.rows = golden.tensor(base + "x").dim(0);
  std::vector<float> out(static_cast<std::size_t>(pass.rows / kind.ratio) * static_cast<std::size_t>(width));
  compress(model, RotaryTables::make(config), pass, spec, weights, kind.grid, x.data(), state, out.data());
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
                         testing::Values(Kind{"r4", 4, EntryGrid::kAttention},
                                         Kind{"r4_indexer", 4, EntryGrid::kIndexer},
                                         Kind{"r128", 128, EntryGrid::kAttention}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace colibri::test
