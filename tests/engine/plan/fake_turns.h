#pragma once
// A small model and turns on it, for tests of predictions.

#include "plan/model_costs.h"
#include "plan/turn_history.h"
#include "plan/turn_predictor.h"

namespace colibri {

inline constexpr std::uint64_t kTestMib = std::uint64_t{1} << 20;

/// V4 Flash's proportions in 8 layers of 64 experts.
inline ModelCosts smallCosts() {
  ModelCosts costs;
  costs.expertsPerToken = 6;
  costs.headBytes = 100 * kTestMib;
  costs.layers.resize(8);
  for (std::size_t i = 0; i < costs.layers.size(); ++i) {
    LayerCost& layer = costs.layers[i];
    layer.denseBytes = 120 * kTestMib;
    layer.sharedBytes = 25 * kTestMib;
    layer.streamedBytes = 140 * kTestMib;
    layer.expertBytes = 13 * kTestMib;
    layer.experts = 64;
    layer.knowsExpertsEarly = i < 2;
  }
  return costs;
}

inline PredictorFacts smallFacts(std::uint64_t slots) {
  PredictorFacts facts;
  facts.isa = "avx2";
  facts.threads = 4;
  facts.memoryBytesPerSecond = 40e9;
  facts.diskBytesPerSecond = 2e9;
  facts.drives = "0123456789abcdef";
  facts.slots = slots;
  facts.segment = 512;
  facts.chunk = 128;
  return facts;
}

inline TurnPredictor smallPredictor(std::uint64_t slots) {
  const ModelCosts costs = smallCosts();
  return TurnPredictor(costs, HitCurve(costs.totalExperts(), 48), smallFacts(slots));
}

/// A turn as a machine would measure it that computes a byte in `perByte` seconds, reads at `diskRate` and finds `hits`
/// of its experts; its reads are not hidden at all.
inline TurnRecord measuredTurn(double perByte, double diskRate, double hits, std::uint64_t slots) {
  const ModelCosts costs = smallCosts();
  TurnRecord turn;
  turn.time = 1;
  turn.isa = "avx2";
  turn.threads = 4;
  turn.drives = "0123456789abcdef";
  turn.segment = 512;
  turn.chunk = 128;
  turn.slots = slots;
  turn.readBytesPerSecond = diskRate;
  turn.decode.tokens = 100;
  turn.decode.requests = 4800;
  turn.decode.hits = static_cast<std::uint64_t>(4800 * hits);
  const auto routed = static_cast<double>(costs.routedBytesPerToken());
  const double shared = 8.0 * 25 * kTestMib;
  turn.decode.bytesRead = static_cast<std::uint64_t>(100 * routed * (1 - hits));
  turn.decode.split.diskWaitSeconds = 100 * routed * (1 - hits) / diskRate;
  turn.decode.split.expertSeconds = 100 * (routed + shared) * perByte;
  turn.decode.split.denseSeconds = 100 * (static_cast<double>(costs.denseBytesPerToken()) - shared) * perByte;
  turn.decode.seconds =
      turn.decode.split.diskWaitSeconds + turn.decode.split.expertSeconds + turn.decode.split.denseSeconds;
  return turn;
}

}  // namespace colibri
