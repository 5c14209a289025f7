// Profile `vendor`: each sublayer alone, fed the reference's own input, so that rounding cannot pile up over the
// network.

#include "engine/model/bf16_steps.h"
#include "engine/model/fixture.h"
#include "model/attention.h"
#include "model/moe.h"

#include <algorithm>
#include <cstdio>

namespace colibri::test {
namespace {

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
    auto state = SequenceState::create(c, model.plan, engine->options().context, Numerics::kVendor, nullptr);
    ASSERT_TRUE(state.isOk());
    for (int layer = 0; layer < c.layers; ++layer) {
      const std::string base = trace + fixture.vendorProfile() + "/layer" + std::to_string(layer) + "/";
      Pass pass;
      pass.rows = n;
      pass.total = n;
      pass.tokens = golden.prompt;
      pass.cancellation = &cancellation;
      pass.time = &time;
      prepareRotary(model, engine->transformer().rotary(), 0, n);
      std::vector<float> out(static_cast<std::size_t>(n) * c.hiddenSize);
      attend(model, engine->transformer().rotary(), pass, layer, *state.value(),
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
