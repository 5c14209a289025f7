#pragma once
// How long a turn will take: bytes of the model, rates of the machine, what the cache holds.

#include "plan/cost_constants.h"
#include "plan/hit_curve.h"
#include "plan/model_costs.h"
#include "plan/turn_history.h"
#include <colibri/plan.h>

#include <cstdint>
#include <span>
#include <string>

namespace colibri {

/// A turn to predict.
struct TurnShape {
  std::int64_t promptTokens = 128;  ///< to be computed, without what is reused
  std::int64_t answerTokens = 128;
  std::uint64_t residentExperts = 0;  ///< in the cache when it starts
};

/// What a predictor knows beside the model.
struct PredictorFacts {
  std::string isa;  ///< a kernel set's name ("avx2")
  int threads = 1;
  double memoryBytesPerSecond = 0;  ///< measured for all threads; 0: not measured
  double diskBytesPerSecond = 0;    ///< combinedRate() of the plan's drives; 0: unknown
  double smallReadsPerSecond = 0;   ///< random 4 KiB reads of the drive with the tables; 0: unknown
  std::string drives;               ///< driveSetName() of the plan's drives
  std::uint64_t slots = 0;
  bool streamsDense = false;
  int segment = 1;  ///< prompt tokens a sweep
  int chunk = 1;    ///< rows a pass
};

/// Time of one token, in layers: dense + max(reads, experts that compute meanwhile) + the expert that arrives last.
/// Hash-routed layers' reads start with the token and hide behind everything before them; misses of a layer are
/// binomial. Rows of n-gram tables are read from the token on as well. While a cache fills, its hit rate is that of a
/// cache of what it holds so far. Prefill: each segment sweeps all layers once, a layer takes max(reads of its distinct
/// experts, computing them) for the rows that it computes. Everything falls or stays when slots grow. Not thread-safe;
/// cheap enough (below a millisecond) for each turn.
class TurnPredictor {
public:
  /// Nothing to predict: predict() says nothing.
  TurnPredictor() = default;
  TurnPredictor(ModelCosts costs, const HitCurve& curve, PredictorFacts facts);

  /// Corrects constants and hit curve by the recorded turns of this isa and thread count.
  void learn(std::span<const TurnRecord> turns);

  /// The guard may have taken slots away.
  void setSlots(std::uint64_t slots) { m_facts.slots = slots; }

  [[nodiscard]] Prediction predict(const TurnShape& shape) const;
  /// The same prediction with something changed, for advice.
  [[nodiscard]] TurnPredictor with(const PredictorFacts& facts) const;

  [[nodiscard]] const PredictorFacts& facts() const { return m_facts; }
  [[nodiscard]] const ModelCosts& costs() const { return m_costs; }
  [[nodiscard]] const CostConstants& constants() const { return m_constants; }

private:
  struct Seconds {
    double total = 0;
    double disk = 0;     ///< if there were only reads
    double compute = 0;  ///< if there were none
  };
  struct Decode {
    Seconds perToken;
    double hitRate = 0;
  };
  [[nodiscard]] Seconds tokenSeconds(double hitRate) const;
  /// `after`: prompt tokens behind the segment.
  [[nodiscard]] Seconds segmentSeconds(int rows, std::int64_t after, double missShare) const;
  /// Reading one token's rows of the n-gram table before `layer`, none of them in the cache.
  [[nodiscard]] double tableSeconds(const LayerCost& layer) const;
  [[nodiscard]] Seconds prefillSeconds(std::int64_t tokens, double resident) const;
  [[nodiscard]] double distinctExperts(std::int64_t rows, std::int64_t after) const;
  /// Experts in the cache after a stretch of a prompt with `after` more tokens behind it.
  [[nodiscard]] double residentAfter(std::int64_t rows, std::int64_t after, double resident, double slots) const;
  [[nodiscard]] double meanHitRate(const HitCurve& curve, double resident, double slots, std::int64_t tokens) const;
  [[nodiscard]] Decode decode(const TurnShape& shape) const;
  [[nodiscard]] double fitExponent(const TurnRecord& turn) const;

  ModelCosts m_costs;
  HitCurve m_curve{0, 0};
  PredictorFacts m_facts;
  CostConstants m_constants;
};

}  // namespace colibri
