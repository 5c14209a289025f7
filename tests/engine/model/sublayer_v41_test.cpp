// V4.1 in profile `vendor`, block by block: n-gram gate, attention, experts and residual mix alone, each fed what the
// reference had before it, so that rounding cannot pile up over the network.

#include "engine/model/bf16_steps.h"
#include "engine/model/fixture.h"
#include "model/attention.h"
#include "model/engram.h"
#include "model/hyper_connection.h"
#include "model/linear.h"
#include "model/moe.h"

#include <cstdio>

namespace colibri::test {
namespace {

// A case whose states are stored, layer by layer.
class StoredLayers {
public:
  StoredLayers(const Fixture& fixture, const GoldenCase& golden, const ModelConfig& config)
      : m_config(config), m_rows(static_cast<std::ptrdiff_t>(golden.prompt.size())) {
    const std::string base = golden.name + ".vendor.";
    m_streams = fixture.tensors().tensor(base + "h").floats();
    m_preMix = fixture.tensors().tensor(base + "pre_mix").floats();
    m_attention = fixture.tensors().tensor(base + "attn_out").floats();
    m_experts = fixture.tensors().tensor(base + "ffn_out").floats();
    for (const int layer : config.engram.layers)
      m_engram.push_back(fixture.tensors().tensor(base + "engram_out." + std::to_string(layer)).floats());
  }
  // After the layer: [rows][m][D] and [rows][m].
  [[nodiscard]] std::vector<float> streams(int layer) const {
    return part(m_streams, layer, m_config.hcMult * width());
  }
  [[nodiscard]] std::vector<float> preMix(int layer) const { return part(m_preMix, layer, m_config.hcMult); }
  // [rows][D].
  [[nodiscard]] std::vector<float> attention(int layer) const { return part(m_attention, layer, width()); }
  [[nodiscard]] std::vector<float> experts(int layer) const { return part(m_experts, layer, width()); }
  // Streams behind the gate of a table.
  [[nodiscard]] const std::vector<float>& engram(int table) const { return m_engram[static_cast<std::size_t>(table)]; }

private:
  [[nodiscard]] std::ptrdiff_t width() const { return m_config.hiddenSize; }
  [[nodiscard]] std::vector<float> part(const std::vector<float>& all, int layer, std::ptrdiff_t size) const {
    const auto begin = all.begin() + layer * m_rows * size;
    return {begin, begin + m_rows * size};
  }

  const ModelConfig& m_config;
  std::ptrdiff_t m_rows;
  std::vector<float> m_streams;
  std::vector<float> m_preMix;
  std::vector<float> m_attention;
  std::vector<float> m_experts;
  std::vector<std::vector<float>> m_engram;
};

// What every layer's blocks were off by, in bf16 steps of their rows.
struct Steps {
  std::vector<float> engram;
  std::vector<float> attention;
  std::vector<float> experts;
  std::vector<float> streams;
  float preMix = 0;  ///< largest difference
  int routed = 0;
  int routedEqual = 0;
};

void normHidden(const ModelContext& model, int rows, const std::vector<float>& weight) {
  const int d = model.config.hiddenSize;
  for (int row = 0; row < rows; ++row) {
    float* x = model.work.hidden + static_cast<std::ptrdiff_t>(row) * d;
    model.kernels.rmsNorm(x, weight.data(), x, d, static_cast<float>(model.config.rmsEps));
    roundVendor(model, x, d);
  }
}

// Streams before the first layer.
std::vector<float> embedded(const ModelContext& model, const std::vector<TokenId>& tokens) {
  const std::ptrdiff_t d = model.config.hiddenSize;
  std::vector<float> out(tokens.size() * static_cast<std::size_t>(model.config.hcMult * d));
  float* row = out.data();
  for (const TokenId token : tokens) {
    for (int stream = 0; stream < model.config.hcMult; ++stream, row += d)
      model.kernels.decodeBf16(model.weights.embed.weight + token * d, row, d);
  }
  return out;
}

void layerAlone(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer,
                const StoredLayers& stored, std::vector<float> streams, SequenceState& state, Steps& steps) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];
  const int n = pass.rows;
  const int wide = c.hcMult * c.hiddenSize;
  const int table = model.plan.layers[static_cast<std::size_t>(layer)].engram;
  if (table >= 0) {
    ASSERT_TRUE(mixEngram(model, pass, layer, state, streams.data()).isOk());
    addSteps(streams.data(), stored.engram(table), n, wide, steps.engram);
    streams = stored.engram(table);
  }
  if (layer == 0) {
    startMix(model, 0, n);
  } else {
    const std::vector<float> mix = stored.preMix(layer - 1);
    std::copy(mix.begin(), mix.end(), w.carriedMix);
  }
  hyperCollapse(model, streams.data(), 0, n, weights.hcAttn);
  normHidden(model, n, weights.attnNorm);
  attend(model, tables, pass, layer, state, w.hidden, w.sublayer);
  const std::vector<float> attention = stored.attention(layer);
  addSteps(w.sublayer, attention, n, c.hiddenSize, steps.attention);
  std::copy(attention.begin(), attention.end(), w.sublayer);
  hyperExpand(model, streams.data(), n);

  hyperCollapse(model, streams.data(), 0, n, weights.hcFfn);
  normHidden(model, n, weights.ffnNorm);
  ASSERT_TRUE(mixExperts(model, pass, layer, w.hidden, w.sublayer).isOk());
  const std::vector<float> experts = stored.experts(layer);
  addSteps(w.sublayer, experts, n, c.hiddenSize, steps.experts);
  std::copy(experts.begin(), experts.end(), w.sublayer);
  hyperExpand(model, streams.data(), n);
  addSteps(streams.data(), stored.streams(layer), n, wide, steps.streams);
  const std::vector<float> mix = stored.preMix(layer);
  for (std::size_t i = 0; i < mix.size(); ++i)
    steps.preMix = std::max(steps.preMix, std::abs(mix[i] - w.carriedMix[i]));
}

void countRouting(const ModelContext& model, const std::vector<std::int32_t>& ids, int rows, int layer, Steps& steps) {
  const int k = model.config.expertsPerToken;
  for (int row = 0; row < rows; ++row) {
    const auto want = ids.begin() + (static_cast<std::ptrdiff_t>(row) * model.config.layers + layer) * k;
    ++steps.routed;
    steps.routedEqual += std::equal(want, want + k, model.work.routerIds + static_cast<std::ptrdiff_t>(row) * k);
  }
}

class SublayerV41 : public testing::TestWithParam<std::string> {};

TEST_P(SublayerV41, MatchesTheReferenceWithinOneStep) {
  const Fixture fixture(GetParam(), "v41");
  const auto engine = fixture.open(fixture.options(Numerics::kVendor));
  ASSERT_NE(engine, nullptr);
  const ModelContext& model = engine->transformer().context();
  const ModelConfig& c = model.config;
  const Cancellation cancellation;
  TimeLedger time;
  Steps steps;
  for (const GoldenCase& golden : fixture.cases()) {
    if (!fixture.tensors().has(golden.name + ".vendor.h")) continue;
    const StoredLayers stored(fixture, golden, c);
    const auto n = static_cast<int>(golden.prompt.size());
    auto state = SequenceState::create(c, model.plan, engine->options().context, Numerics::kVendor, nullptr);
    ASSERT_TRUE(state.isOk());
    Pass pass;
    pass.rows = n;
    pass.total = n;
    pass.tokens = golden.prompt;
    pass.cancellation = &cancellation;
    pass.time = &time;
    findEngramRows(model, golden.prompt, {}, *state.value());
    prepareRotary(model, engine->transformer().rotary(), 0, n);
    const auto ids = fixture.tensors().tensor(golden.name + ".vendor.router_ids").as<std::int32_t>();
    for (int layer = 0; layer < c.layers; ++layer) {
      layerAlone(model, engine->transformer().rotary(), pass, layer, stored,
                 layer == 0 ? embedded(model, golden.prompt) : stored.streams(layer - 1), *state.value(), steps);
      ASSERT_FALSE(HasFatalFailure());
      countRouting(model, ids, n, layer, steps);
    }
  }
  const std::pair<const char*, const std::vector<float>*> kinds[] = {{"engram", &steps.engram},
                                                                     {"attention", &steps.attention},
                                                                     {"experts", &steps.experts},
                                                                     {"streams", &steps.streams}};
  for (const auto& [name, values] : kinds) {
    ASSERT_FALSE(values->empty()) << name;
    EXPECT_LE(quantile(*values, 0.5), 0.0F) << name;
    EXPECT_LE(quantile(*values, 1), 1.0F) << name;
    std::printf("%s: %s median %.3f p90 %.3f worst %.3f steps\n", GetParam().c_str(), name, quantile(*values, 0.5),
                quantile(*values, 0.9), quantile(*values, 1));
  }
  EXPECT_LE(steps.preMix, 1e-5F);
  EXPECT_EQ(steps.routedEqual, steps.routed);
  std::printf("%s: mix within %.2g, %d rows routed\n", GetParam().c_str(), static_cast<double>(steps.preMix),
              steps.routed);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SublayerV41, testing::Values("text", "edge"));

}  // namespace
}  // namespace colibri::test
