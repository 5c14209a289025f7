// Whole network against the reference: profile `fp32` everywhere and exactly, `vendor` by statistics.

#include "engine/model/fixture.h"
#include "engine/model/teacher_run.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace colibri::test {
namespace {

// The prompt followed by the reference's greedy tokens but the last: one logits row for each of them.
std::vector<TokenId> forced(const GoldenCase& golden, const std::string& profile) {
  std::vector<TokenId> tokens = golden.prompt;
  const auto ids = golden.json.at("profiles").at(profile).at("greedy").at("ids").get<std::vector<TokenId>>();
  tokens.insert(tokens.end(), ids.begin(), ids.end() - 1);
  return tokens;
}

class GoldenLogits : public testing::TestWithParam<std::string> {};

TEST_P(GoldenLogits, Fp32WithinAThousandthByPrefillAndByDecode) {
  const Fixture fixture(GetParam());
  const std::string profile = fixture.fp32Profile();
  const auto engine = fixture.open(fixture.options(Numerics::kFp32));
  ASSERT_NE(engine, nullptr);
  const int vocab = engine->config().vocabSize;
  for (const GoldenCase& golden : fixture.cases()) {
    const std::string base = "case/" + golden.name + "/";
    const auto positions = fixture.tensors().tensor(base + "positions").as<std::int32_t>();
    const auto expected = fixture.tensors().tensor(base + profile + "/logits").floats();
    const auto greedy = fixture.tensors().tensor(base + profile + "/greedy_logits").floats();
    const auto ids = golden.json.at("profiles").at(profile).at("greedy").at("ids").get<std::vector<TokenId>>();
    const auto n = static_cast<int>(golden.prompt.size());
    const std::vector<TokenId> tokens = forced(golden, profile);
    const TeacherRun prefill(*engine, golden.prompt, {});
    TeacherOptions split;
    split.via = TeacherOptions::Via::kSplit;
    split.split = n;
    const TeacherRun decode(*engine, tokens, split);
    const std::vector<float> prompt = prefill.get("logits");
    const std::vector<float> all = decode.get("logits");
    ASSERT_EQ(all.size(), tokens.size() * static_cast<std::size_t>(vocab));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const float* want = expected.data() + i * static_cast<std::size_t>(vocab);
      const float* have = prompt.data() + static_cast<std::ptrdiff_t>(positions[i]) * vocab;
      ASSERT_LE(largestDifference(want, have, vocab), 1e-3F) << golden.name << " position " << positions[i];
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const float* have = all.data() + (static_cast<std::ptrdiff_t>(n) - 1 + static_cast<std::ptrdiff_t>(i)) * vocab;
      ASSERT_LE(largestDifference(greedy.data() + i * static_cast<std::size_t>(vocab), have, vocab), 1e-3F)
          << golden.name << " greedy step " << i;
      ASSERT_EQ(best(have, vocab), ids[i]) << golden.name << " greedy step " << i;
    }
  }
}

TEST_P(GoldenLogits, Fp32TracesRoutersAndIndexerMatch) {
  const Fixture fixture(GetParam());
  const std::string profile = fixture.fp32Profile();
  const auto engine = fixture.open(fixture.options(Numerics::kFp32));
  ASSERT_NE(engine, nullptr);
  const ModelConfig& c = engine->config();
  int compared = 0;
  int indexed = 0;
  for (const GoldenCase& golden : fixture.cases()) {
    TeacherOptions options;
    options.trace = true;
    const TeacherRun run(*engine, golden.prompt, options);
    const std::string trace = "trace/" + golden.name + "/";
    for (int layer = 0; layer < c.layers; ++layer) {
      const std::string l = std::to_string(layer);
      const std::string base = trace + profile + "/layer" + l + "/";
      if (fixture.tensors().has(base + "attn_in")) {
        const auto positions = fixture.tensors().tensor(trace + "positions").as<std::int32_t>();
        const struct {
          const char* golden;
          std::string ours;
          int width;
        } kinds[] = {{"attn_in", "attn." + l + ".in", c.hiddenSize},
                     {"attn_out", "attn." + l + ".out", c.hiddenSize},
                     {"ffn_in", "ffn." + l + ".in", c.hiddenSize},
                     {"ffn_out", "ffn." + l + ".out", c.hiddenSize},
                     {"streams", "layer." + l, c.hcMult * c.hiddenSize}};
        for (const auto& kind : kinds) {
          const auto want = fixture.tensors().tensor(base + kind.golden).floats();
          const auto have = run.get(kind.ours);
          for (std::size_t i = 0; i < positions.size(); ++i) {
            const float* a = want.data() + i * static_cast<std::size_t>(kind.width);
            float largest = 0;
            for (int j = 0; j < kind.width; ++j) largest = std::max(largest, std::abs(a[j]));
            EXPECT_LE(
                largestDifference(a, have.data() + static_cast<std::ptrdiff_t>(positions[i]) * kind.width, kind.width),
                1e-4F * largest)
                << golden.name << " layer " << layer << " " << kind.golden << " position " << positions[i];
            ++compared;
          }
        }
        const auto ids = fixture.tensors().tensor(base + "router_ids").as<std::int32_t>();
        const auto weights = fixture.tensors().tensor(base + "router_weights").floats();
        const auto ourIds = run.get<std::int32_t>("router." + l + ".ids");
        const auto ourWeights = run.get("router." + l + ".weights");
        const auto k = static_cast<std::size_t>(c.expertsPerToken);
        for (std::size_t i = 0; i < positions.size(); ++i) {
          for (std::size_t j = 0; j < k; ++j) {
            const std::size_t at = static_cast<std::size_t>(positions[i]) * k + j;
            EXPECT_EQ(ids[i * k + j], ourIds[at]) << golden.name << " layer " << layer << " position " << positions[i];
            EXPECT_NEAR(weights[i * k + j], ourWeights[at], 1e-5F * std::max(1.0F, weights[i * k + j]));
          }
        }
      }
      const std::string index = "index/" + golden.name + "/" + profile + "/layer" + l + "/";
      if (!fixture.tensors().has(index + "ids")) continue;
      const GoldenTensor& goldenIds = fixture.tensors().tensor(index + "ids");
      const auto want = goldenIds.as<std::int32_t>();
      const auto gaps = fixture.tensors().tensor(index + "kth_gap").floats();
      const auto have = run.get<std::int32_t>("indexer." + l + ".ids");
      const auto width = static_cast<std::size_t>(goldenIds.dim(1));
      ASSERT_LE(width, static_cast<std::size_t>(c.indexTopK));
      for (std::size_t row = 0; row < gaps.size(); ++row) {
        if (gaps[row] != 0 && gaps[row] <= 1e-4F) continue;
        const auto ourRow = have.begin() + static_cast<std::ptrdiff_t>(row) * c.indexTopK;
        std::multiset<int> a(want.begin() + static_cast<std::ptrdiff_t>(row * width),
                             want.begin() + static_cast<std::ptrdiff_t>((row + 1) * width));
        std::multiset<int> b(ourRow, ourRow + c.indexTopK);
        a.erase(-1);
        b.erase(-1);
        EXPECT_EQ(a, b) << golden.name << " layer " << layer << " query " << row;
        ++indexed;
      }
    }
  }
  if (fixture.name() != "april") {
    EXPECT_GT(compared, 0);
  }
  // Only the fixtures with long prompts store what the indexer chose.
  const bool storesIndex = fixture.name() == "long" || fixture.name() == "edge" || fixture.name() == "yarn";
  EXPECT_EQ(indexed > 0, storesIndex);
}

// April's vendor values are of the first release's kernels (no e4m3 window, shared expert unclamped), so not of this
// engine.
TEST_P(GoldenLogits, VendorWithinTheStatistics) {
  const Fixture fixture(GetParam());
  if (fixture.name() == "april") return;
  const auto engine = fixture.open(fixture.options(Numerics::kVendor));
  ASSERT_NE(engine, nullptr);
  const int vocab = engine->config().vocabSize;
  std::vector<double> rms;
  int equal = 0;
  for (const GoldenCase& golden : fixture.cases()) {
    const std::string base = "case/" + golden.name + "/";
    const auto positions = fixture.tensors().tensor(base + "positions").as<std::int32_t>();
    const auto expected = fixture.tensors().tensor(base + "vendor/logits").floats();
    const auto greedy = fixture.tensors().tensor(base + "vendor/greedy_logits").floats();
    const auto margins = golden.json.at("profiles").at("vendor").at("greedy").at("margins").get<std::vector<double>>();
    const auto n = static_cast<std::ptrdiff_t>(golden.prompt.size());
    const std::vector<float> all = TeacherRun(*engine, forced(golden, "vendor"), {}).get("logits");
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const float* want = expected.data() + i * static_cast<std::size_t>(vocab);
      const float* have = all.data() + static_cast<std::ptrdiff_t>(positions[i]) * vocab;
      double squares = 0;
      for (int v = 0; v < vocab; ++v) squares += (want[v] - have[v]) * static_cast<double>(want[v] - have[v]);
      rms.push_back(std::sqrt(squares / vocab));
      equal += best(want, vocab) == best(have, vocab);
    }
    for (std::size_t i = 0; i < margins.size(); ++i) {
      if (margins[i] <= 1.0) continue;
      const float* have = all.data() + (n - 1 + static_cast<std::ptrdiff_t>(i)) * vocab;
      EXPECT_EQ(best(greedy.data() + i * static_cast<std::size_t>(vocab), vocab), best(have, vocab))
          << golden.name << " step " << i << " margin " << margins[i];
    }
  }
  std::sort(rms.begin(), rms.end());
  const double share = equal / static_cast<double>(rms.size());
  std::printf("%s: rms median %.3f p90 %.3f worst %.3f, best token equal at %.1f %% of %zu positions\n",
              GetParam().c_str(), rms[rms.size() / 2], rms[rms.size() * 9 / 10], rms.back(), 100 * share, rms.size());
  EXPECT_LE(rms[rms.size() / 2], 0.25);
  EXPECT_LE(rms[rms.size() * 9 / 10], 0.6);
  EXPECT_GE(share, 0.85);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GoldenLogits, testing::ValuesIn(fixtureNames()));

}  // namespace
}  // namespace colibri::test
