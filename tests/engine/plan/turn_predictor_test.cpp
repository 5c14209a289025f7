#include "plan/turn_predictor.h"

#include "fake_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace colibri {
namespace {

constexpr std::uint64_t kAll = 8 * 64;
/// A long conversation in a full cache: nothing left of the beginning.
constexpr TurnShape kWarm{1, 2, kAll};

TEST(TurnPredictor, NothingIsFasterThanItsBytes) {
  const ModelCosts costs = smallCosts();
  for (const std::uint64_t slots : {1ULL, 10ULL, 100ULL, 400ULL, 512ULL}) {
    const TurnPredictor predictor = smallPredictor(slots);
    const Prediction prediction = predictor.predict({128, 128, 0});
    const double seconds = 1 / prediction.decodeTokensPerSecond;
    const double read = static_cast<double>(costs.routedBytesPerToken()) * (1 - prediction.hitRate) / 2e9;
    const CostConstants& c = predictor.constants();
    const double computed = static_cast<double>(costs.denseBytesPerToken()) * std::min(c.dense, c.expert);
    EXPECT_GE(seconds, computed);
    // The two hash layers' reads may hide behind what comes before, all others within their own layer only.
    EXPECT_GE(seconds, read * 0.75);
    EXPECT_LE(seconds, read + static_cast<double>(costs.denseBytesPerToken() + costs.routedBytesPerToken()) *
                                  std::max(c.dense, c.expert) * 1.2);
    EXPECT_LE(prediction.decodeLow, prediction.decodeTokensPerSecond);
    EXPECT_GE(prediction.decodeHigh, prediction.decodeTokensPerSecond);
    EXPECT_EQ(prediction.source, "assumed");
  }
}

TEST(TurnPredictor, ComputingHidesReadsWithinALayer) {
  // A hit rate of one half: three experts are read while the others and the shared one compute.
  PredictorFacts facts = smallFacts(256);
  const TurnPredictor fast = smallPredictor(256).with(facts);
  facts.diskBytesPerSecond = 1e13;
  const TurnPredictor free = fast.with(facts);
  const double freeSeconds = 1 / free.predict(kWarm).decodeTokensPerSecond;
  const CostConstants& c = fast.constants();
  const ModelCosts costs = smallCosts();
  const double computeAll = static_cast<double>(costs.denseBytesPerToken() - 8 * 25 * kTestMib) * c.dense +
                            static_cast<double>(costs.routedBytesPerToken() + 8 * 25 * kTestMib) * c.expert;
  // With a drive that takes no time only computing is left.
  EXPECT_NEAR(freeSeconds, computeAll, computeAll * 0.001);
  EXPECT_LT(freeSeconds, 1 / fast.predict({1, 128, 0}).decodeTokensPerSecond);
}

TEST(TurnPredictor, HashLayersReadBehindWhatComesBefore) {
  ModelCosts early = smallCosts();
  ModelCosts late = smallCosts();
  for (LayerCost& layer : late.layers) layer.knowsExpertsEarly = false;
  for (std::size_t i = 0; i < 6; ++i) early.layers[i].knowsExpertsEarly = true;
  const HitCurve curve(kAll, 48);
  const TurnPredictor a(early, curve, smallFacts(100));
  const TurnPredictor b(late, curve, smallFacts(100));
  EXPECT_GT(a.predict({128, 128, 0}).decodeTokensPerSecond, b.predict({128, 128, 0}).decodeTokensPerSecond * 1.01);
}

TEST(TurnPredictor, MoreSlotsAreNeverSlower) {
  for (const bool learned : {false, true}) {
    double before = 0;
    double firstBefore = 1e9;
    for (std::uint64_t slots = 1; slots <= kAll; slots += 3) {
      TurnPredictor predictor = smallPredictor(slots);
      if (learned) predictor.learn(std::vector<TurnRecord>{measuredTurn(1e-10, 1.5e9, 0.6, 200)});
      const Prediction prediction = predictor.predict({600, 100, 0});
      EXPECT_GE(prediction.decodeTokensPerSecond, before * (1 - 1e-9)) << slots;
      EXPECT_LE(prediction.firstTokenSeconds, firstBefore * (1 + 1e-9)) << slots;
      before = prediction.decodeTokensPerSecond;
      firstBefore = prediction.firstTokenSeconds;
    }
  }
}

TEST(TurnPredictor, AWarmCacheIsFasterThanAColdOne) {
  const TurnPredictor predictor = smallPredictor(kAll);
  const Prediction cold = predictor.predict({16, 32, 0});
  const Prediction warm = predictor.predict({16, 32, kAll});
  EXPECT_LT(cold.hitRate, 1);
  EXPECT_EQ(warm.hitRate, 1);
  EXPECT_GT(warm.decodeTokensPerSecond, cold.decodeTokensPerSecond);
  EXPECT_LT(warm.firstTokenSeconds, cold.firstTokenSeconds);
  EXPECT_NE(warm.boundBy, "disk");
}

TEST(TurnPredictor, LongerPromptsTakeLongerAndSegmentsSaveSweeps) {
  PredictorFacts facts = smallFacts(60);
  facts.diskBytesPerSecond = 0.1e9;
  const TurnPredictor small = smallPredictor(60).with(facts);
  facts.segment = 4096;
  const TurnPredictor large = small.with(facts);
  double before = 0;
  for (const std::int64_t tokens : {1, 8, 64, 512, 4096}) {
    const double seconds = small.predict({tokens, 1, 0}).firstTokenSeconds;
    EXPECT_GT(seconds, before);
    before = seconds;
  }
  EXPECT_LT(large.predict({4096, 1, 0}).firstTokenSeconds, small.predict({4096, 1, 0}).firstTokenSeconds);
}

TEST(TurnPredictor, StreamingTheDenseWeightsCostsTheirReads) {
  PredictorFacts facts = smallFacts(60);
  const TurnPredictor resident = smallPredictor(60);
  facts.streamsDense = true;
  const TurnPredictor streamed = resident.with(facts);
  const double atLeast = 8.0 * 140 * kTestMib / 2e9;
  EXPECT_GE(1 / streamed.predict({128, 128, 0}).decodeTokensPerSecond, atLeast);
  EXPECT_LT(streamed.predict({128, 128, 0}).decodeTokensPerSecond,
            resident.predict({128, 128, 0}).decodeTokensPerSecond);
  EXPECT_EQ(streamed.predict(kWarm).boundBy, "disk");
  facts.diskBytesPerSecond = 0.2e9;
  const double prompt = resident.with(facts).predict({1, 1, kAll}).firstTokenSeconds;
  EXPECT_GE(prompt, 8.0 * 140 * kTestMib / 0.2e9);
}

TEST(TurnPredictor, OwnTurnsReplaceWhatWasAssumed) {
  // A machine three times slower than assumed, with routing that is not concentrated at all.
  const TurnRecord turn = measuredTurn(3e-10, 0.7e9, 0.39, 200);
  TurnPredictor predictor = smallPredictor(200);
  const double measured = static_cast<double>(turn.decode.tokens) / turn.decode.seconds;
  EXPECT_GT(predictor.predict({128, 101, 0}).decodeTokensPerSecond, measured * 1.5);
  predictor.learn(std::vector<TurnRecord>(3, turn));
  const Prediction prediction = predictor.predict({0, 101, 0});
  EXPECT_NEAR(prediction.decodeTokensPerSecond, measured, measured * 0.03);
  EXPECT_NEAR(prediction.hitRate, 0.39, 0.01);
  EXPECT_LE(prediction.decodeLow, measured);
  EXPECT_GE(prediction.decodeHigh, measured);
  EXPECT_LT(prediction.decodeHigh - prediction.decodeLow, 0.5 * prediction.decodeTokensPerSecond);
  EXPECT_NE(prediction.source, "assumed");
}

TEST(TurnPredictor, OneDisturbedTurnChangesLittle) {
  std::vector<TurnRecord> turns(5, measuredTurn(1e-10, 2e9, 0.6, 200));
  TurnPredictor clean = smallPredictor(200);
  clean.learn(turns);
  turns[2] = measuredTurn(2e-9, 0.1e9, 0.1, 200);
  TurnPredictor disturbed = smallPredictor(200);
  disturbed.learn(turns);
  EXPECT_NEAR(disturbed.predict({128, 100, 0}).decodeTokensPerSecond,
              clean.predict({128, 100, 0}).decodeTokensPerSecond,
              clean.predict({128, 100, 0}).decodeTokensPerSecond * 0.1);
}

TEST(TurnPredictor, TurnsOfOtherKernelsOrThreadsSayNothing) {
  TurnRecord turn = measuredTurn(3e-9, 0.7e9, 0.3, 200);
  turn.isa = "scalar";
  TurnPredictor predictor = smallPredictor(200);
  predictor.learn(std::vector<TurnRecord>(3, turn));
  EXPECT_EQ(predictor.predict({128, 100, 0}).source, "assumed");
  turn.isa = "avx2";
  turn.threads = 8;
  predictor.learn(std::vector<TurnRecord>(3, turn));
  EXPECT_EQ(predictor.predict({128, 100, 0}).source, "assumed");
}

TEST(TurnPredictor, ADriveThatNobodyKnowsGivesNoFigures) {
  PredictorFacts facts = smallFacts(200);
  facts.diskBytesPerSecond = 0;
  const ModelCosts costs = smallCosts();
  const TurnPredictor predictor(costs, HitCurve(costs.totalExperts(), 48), facts);
  EXPECT_EQ(predictor.predict({128, 100, 0}).decodeTokensPerSecond, 0);
  EXPECT_EQ(TurnPredictor().predict({128, 100, 0}).decodeTokensPerSecond, 0);
}

/// A turn played through expert by expert: uniform routing, an LRU cache, reads that hide behind the layer's computing.
TurnRecord playedTurn(std::uint64_t slots, std::int64_t tokens) {
  const ModelCosts costs = smallCosts();
  constexpr double kPerByte = 1.5e-10;
  constexpr double kDisk = 1.2e9;
  std::mt19937 random(7);
  std::vector<int> recent;  // latest last
  TurnRecord turn = measuredTurn(kPerByte, kDisk, 0.5, slots);
  turn.decode = {};
  const auto pass = [&](TurnPhase& phase) {
    for (std::size_t layer = 0; layer < costs.layers.size(); ++layer) {
      const LayerCost& cost = costs.layers[layer];
      std::set<int> chosen;
      while (chosen.size() < 6) chosen.insert(static_cast<int>(layer) * 64 + static_cast<int>(random() % 64));
      double misses = 0;
      for (const int expert : chosen) {
        const auto at = std::find(recent.begin(), recent.end(), expert);
        if (at == recent.end()) {
          misses += 1;
        } else {
          ++phase.hits;
          recent.erase(at);
        }
        recent.push_back(expert);
        if (recent.size() > slots) recent.erase(recent.begin());
      }
      phase.requests += 6;
      const auto bytes = static_cast<double>(cost.expertBytes);
      const double dense = static_cast<double>(cost.denseBytes) * kPerByte;
      const double computing = (6 * bytes + static_cast<double>(cost.sharedBytes)) * kPerByte;
      const double reading = misses > 0 ? misses * bytes / kDisk + bytes * kPerByte : 0;
      phase.bytesRead += static_cast<std::uint64_t>(misses * bytes);
      phase.split.denseSeconds += dense;
      phase.split.expertSeconds += computing;
      phase.split.diskWaitSeconds += std::max(0.0, reading - computing);
    }
    phase.split.denseSeconds += static_cast<double>(costs.headBytes) * kPerByte;
    ++phase.tokens;
    phase.seconds = phase.split.denseSeconds + phase.split.expertSeconds + phase.split.diskWaitSeconds;
  };
  for (int i = 0; i < 8; ++i) pass(turn.prefill);
  for (std::int64_t i = 0; i < tokens; ++i) pass(turn.decode);
  return turn;
}

TEST(TurnPredictor, WhatTwoTurnsTeachHoldsForOtherBudgets) {
  const std::vector<TurnRecord> seen{playedTurn(100, 64), playedTurn(300, 64)};
  for (const std::uint64_t slots : {8ULL, 30ULL, 60ULL, 150ULL, 220ULL, 380ULL, 450ULL, 512ULL}) {
    const TurnRecord turn = playedTurn(slots, 64);
    TurnPredictor predictor = smallPredictor(slots);
    predictor.learn(seen);
    const double measured = static_cast<double>(turn.decode.tokens) / turn.decode.seconds;
    const double predicted = predictor.predict({8, 65, 0}).decodeTokensPerSecond;
    EXPECT_NEAR(predicted, measured, 0.2 * measured) << slots;
  }
}

TEST(CostConstants, TheMedianOfFewAndMany) {
  EXPECT_EQ(medianOf({}), 0);
  EXPECT_EQ(medianOf({3}), 3);
  EXPECT_EQ(medianOf({9, 1, 5}), 5);
  EXPECT_EQ(medianOf({4, 1, 9, 2}), 3);
}

TEST(CostConstants, FewCoresComputeSlowerThanMemoryReads) {
  EXPECT_TRUE(assumedConstants("scalar", 4, 40e9).computeBound);
  EXPECT_FALSE(assumedConstants("avx512-vnni", 16, 40e9).computeBound);
  EXPECT_TRUE(assumedConstants("avx512-vnni", 2, 200e9).computeBound);
  EXPECT_LT(assumedConstants("avx2", 8, 80e9).expert, assumedConstants("avx2", 4, 40e9).expert);
  EXPECT_LT(assumedConstants("avx512", 8, 1e12).expert, assumedConstants("avx2", 8, 1e12).expert);
}

TEST(HitCurve, RisesFromNothingToAll) {
  const HitCurve curve(11008, 258);
  double before = -1;
  for (std::uint64_t slots = 0; slots <= 11008; slots += 16) {
    EXPECT_GE(curve.rate(slots), before);
    before = curve.rate(slots);
  }
  EXPECT_EQ(curve.rate(0), 0);
  EXPECT_EQ(curve.rate(11008), 1);
  EXPECT_EQ(curve.rate(1 << 20), 1);
  // Published: 59.4 % with 11 % of the experts, first touches included.
  EXPECT_NEAR(curve.rate(1211), 0.62, 0.02);
}

TEST(HitCurve, TheUsersOwnRecordTakesOver) {
  HitCurve curve(1000, 60);
  const double prior = curve.rate(200);
  const auto uniform = [](std::uint64_t slots) { return static_cast<double>(slots) / 1000 * 0.9; };
  curve.learn(uniform, 0.1, 60 * 16);
  EXPECT_NEAR(curve.rate(200), (prior + 0.2) / 2, 0.01);
  HitCurve sure(1000, 60);
  sure.learn(uniform, 0.1, 60 * 64000);
  EXPECT_NEAR(sure.rate(200), 0.2, 0.01);
  EXPECT_NEAR(sure.rate(900), 0.9, 0.01);
  // Nonsense from outside must not make the curve fall.
  HitCurve odd(1000, 60);
  odd.learn([](std::uint64_t slots) { return slots % 7 == 0 ? std::nan("") : 5.0; }, 2.0, 1000);
  odd.learn([](std::uint64_t slots) { return slots % 7 == 0 ? std::nan("") : -1.0 / static_cast<double>(slots); }, 0,
            1000);
  EXPECT_GE(odd.rate(500), odd.rate(100));
}

}  // namespace
}  // namespace colibri
