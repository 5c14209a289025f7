// Profile `vendor`: each sublayer alone, fed the reference's own input, so that rounding cannot pile up over the
// network.

#include "engine/model/fixture.h"
#include "model/attention.h"
#include "model/moe.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace colibri::test {
namespace {

// One bf16 step at the size of the row's largest value.
float bf16Step(const float* row, int n) {
  float largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(row[i]));
  return std::ldexp(1.0F, std::ilogb(largest) - 7);
}

// Per row: largest difference in bf16 steps.
void addSteps(const float* got, const std::vector<float>& expected, int rows, int width, std::vector<float>& steps) {
  for (int row = 0; row < rows; ++row) {
    const float* want = expected.data() + static_cast<std::ptrdiff_t>(row) * width;
    const float* have = got + static_cast<std::ptrdiff_t>(row) * width;
    float worst = 0;
    for (int i = 0; i < width; ++i) worst = std::max(worst, std::abs(have[i] - want[i]));
    steps.push_back(worst / bf16Step(want, width));
  }
}

float quantile(std::vector<float> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

class Sublayer : public testing::TestWithParam<std::string> {};

TEST_P(Sublayer, MatchesTheReferenceWithinOneStep) {
  const Fixture fixture(GetParam());
  const auto engine = fixture.open(fixture.options(Numerics::kVendor));
  ASSERT_NE(engine, nullptr);
  const ModelContext& model = engine->transformer().context();
  const ModelConfig& c = model.config;
  const Cancellation cancellation;
  TimeLedger time;
  std::vector<float> attnSteps;
  std::vector<float> ffnSteps;
  int routed = 0;
  int routedEqual = 0;
  for (const GoldenCase& golden : fixture.cases()) {
    const std::string trace = "trace/" + golden.name + "/";
    if (!fixture.tensors().has(trace + "positions")) continue;
    const auto n = static_cast<int>(golden.prompt.size());
    if (fixture.tensors().tensor(trace + "positions").dim(0) != n) continue;
    auto state = SequenceState::create(c, model.plan, engine->options().context, nullptr);
    ASSERT_TRUE(state.isOk());
    for (int layer = 0; layer < c.layers; ++layer) {
      const std::string base = trace + fixture.vendorProfile() + "/layer" + std::to_string(layer) + "/";
      Pass pass;
      pass.rows = n;
      pass.tokens = golden.prompt;
      pass.cancellation = &cancellation;
      pass.time = &time;
      prepareRotary(model, engine->transformer().rotary(), 0, n);
      std::vector<float> out(static_cast<std::size_t>(n) * c.hiddenSize);
      attend(model, engine->transformer().rotary(), pass, layer, state.value()->layer(layer),
             fixture.tensors().tensor(base + "attn_in").floats().data(), out.data());
      std::vector<float> caseSteps;
      addSteps(out.data(), fixture.tensors().tensor(base + "attn_out").floats(), n, c.hiddenSize, caseSteps);
      attnSteps.insert(attnSteps.end(), caseSteps.begin(), caseSteps.end());
      const std::vector<float> ffnIn = fixture.tensors().tensor(base + "ffn_in").floats();
      ASSERT_TRUE(mixExperts(model, pass, layer, ffnIn.data(), out.data()).isOk());
      caseSteps.clear();
      addSteps(out.data(), fixture.tensors().tensor(base + "ffn_out").floats(), n, c.hiddenSize, caseSteps);
      ffnSteps.insert(ffnSteps.end(), caseSteps.begin(), caseSteps.end());
      const auto ids = fixture.tensors().tensor(base + "router_ids").as<std::int32_t>();
      for (int row = 0; row < n; ++row) {
        ++routed;
        routedEqual += std::equal(ids.begin() + row * c.expertsPerToken, ids.begin() + (row + 1) * c.expertsPerToken,
                                  model.work.routerIds + row * c.expertsPerToken);
      }
    }
  }
  ASSERT_FALSE(attnSteps.empty());
  EXPECT_LE(quantile(attnSteps, 0.5), 1.0F);
  EXPECT_LE(quantile(ffnSteps, 0.5), 1.0F);
  EXPECT_EQ(routedEqual, routed);
  std::printf("%s: attention median %.3f p99 %.3f worst %.3f steps; ffn median %.3f p99 %.3f worst %.3f steps\n",
              GetParam().c_str(), quantile(attnSteps, 0.5), quantile(attnSteps, 0.99), quantile(attnSteps, 1),
              quantile(ffnSteps, 0.5), quantile(ffnSteps, 0.99), quantile(ffnSteps, 1));
}

// april's vendor traces have neither the e4m3 window nor the shared clamp that later releases and this engine have.
INSTANTIATE_TEST_SUITE_P(Fixtures, Sublayer, testing::Values("shared-clamp", "dspark", "edge", "yarn"));

}  // namespace
}  // namespace colibri::test
