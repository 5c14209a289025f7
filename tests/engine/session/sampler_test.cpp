#include "session/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace colibri {
namespace {

const std::vector<float> kLogits{1.0F, 3.0F, 2.0F, 3.0F, -1.0F};

Sampling sampling(double temperature, std::uint64_t seed = 0) {
  Sampling s;
  s.temperature = temperature;
  s.seed = seed;
  return s;
}

// Share of each token over many positions.
std::map<TokenId, double> shares(const Sampling& s, const std::vector<float>& logits, int n = 20000) {
  Sampler sampler;
  std::map<TokenId, double> counts;
  for (int i = 0; i < n; ++i) counts[sampler.choose(logits, s, static_cast<std::uint64_t>(i))] += 1.0 / n;
  return counts;
}

TEST(Sampler, GreedyTakesTheLowerOfTwoEqual) {
  Sampler sampler;
  EXPECT_EQ(sampler.choose(kLogits, sampling(0), 7), 1);
  EXPECT_EQ(sampler.choose(kLogits, sampling(0), 7, 1), 3);
}

TEST(Sampler, SharesFollowTheSoftmax) {
  double sum = 0;
  for (const float l : kLogits) sum += std::exp(l / 0.7);
  auto got = shares(sampling(0.7, 11), kLogits);
  for (std::size_t i = 0; i < kLogits.size(); ++i) {
    EXPECT_NEAR(got[static_cast<TokenId>(i)], std::exp(kLogits[i] / 0.7) / sum, 0.012) << i;
  }
}

TEST(Sampler, FiltersKeepWhatTheyShould) {
  const auto kept = [](const Sampling& s) {
    std::set<TokenId> ids;
    for (const auto& [id, share] : shares(s, {4.0F, 3.0F, 2.0F, 1.0F, 0.0F})) ids.insert(id);
    return ids;
  };
  Sampling s = sampling(1);
  s.topK = 2;
  EXPECT_EQ(kept(s), (std::set<TokenId>{0, 1}));
  s.topK = 0;
  s.topP = 0.7;  // 0.636 + 0.234 passes 0.7
  EXPECT_EQ(kept(s), (std::set<TokenId>{0, 1}));
  s.topP = 1;
  s.minP = 0.1;  // e^-2 = 0.135 stays, e^-3 = 0.05 goes
  EXPECT_EQ(kept(s), (std::set<TokenId>{0, 1, 2}));
  s.minP = 0;
  s.topP = 1e-9;
  EXPECT_EQ(kept(s), (std::set<TokenId>{0}));
}

TEST(Sampler, BannedTokenIsNeverChosen) {
  for (const auto& [id, share] : shares(sampling(2), kLogits)) EXPECT_GT(share, 0);
  Sampler sampler;
  for (std::uint64_t i = 0; i < 2000; ++i) EXPECT_NE(sampler.choose(kLogits, sampling(5), i, 3), 3);
}

TEST(Sampler, SeedAndPositionNameTheNumber) {
  Sampler a;
  Sampler b;
  bool differs = false;
  for (std::uint64_t i = 0; i < 100; ++i) {
    (void)b.choose(kLogits, sampling(1, 9), 1000 + i);  // what was drawn before does not matter
    EXPECT_EQ(a.choose(kLogits, sampling(1, 5), i), b.choose(kLogits, sampling(1, 5), i));
    differs |= a.choose(kLogits, sampling(1, 5), i) != a.choose(kLogits, sampling(1, 6), i);
  }
  EXPECT_TRUE(differs);
}

TEST(Sampler, UniformNumbersAreFixedAndSpread) {
  // Written down so that a seed means the same answer in every release.
  EXPECT_DOUBLE_EQ(counterUniform(0, 0), counterUniform(0, 0));
  double mean = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const double u = counterUniform(42, i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    mean += u / 10000;
  }
  EXPECT_NEAR(mean, 0.5, 0.01);
}

TEST(Sampler, PortableExpIsAccurate) {
  EXPECT_EQ(portableExp(0), 1.0);
  EXPECT_EQ(portableExp(-800), 0.0);
  EXPECT_EQ(portableExp(-std::numeric_limits<double>::infinity()), 0.0);
  for (double x = -700; x <= 0; x += 0.37) EXPECT_NEAR(portableExp(x) / std::exp(x), 1.0, 5e-16) << x;
}

TEST(Sampler, LogprobIsTheSoftmax) {
  double sum = 0;
  for (const float l : kLogits) sum += std::exp(static_cast<double>(l));
  EXPECT_NEAR(Sampler::logprob(kLogits, 2), 2.0 - std::log(sum), 1e-12);
}

}  // namespace
}  // namespace colibri
