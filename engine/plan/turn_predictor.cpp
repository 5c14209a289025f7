#include "plan/turn_predictor.h"

#include "io/read_backend.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace colibri {
namespace {

constexpr double kAssumedWidth = 0.5;  // of the range, either way
constexpr double kLeastWidth = 0.1;
constexpr double kFewTurnsWidth = 0.2;  // one or two own turns
constexpr int kManyTurns = 3;
constexpr int kTransientSteps = 64;
// A turn tells about routing when it misses this many times what it took to fill the cache.
constexpr double kFullFor = 4;

/// Mean of max(reads of m misses and the last arrival, computing meanwhile) with m binomial in k experts.
double meanOfLongest(int k, double missRate, double readSeconds, double lastSeconds, double computeSeconds) {
  double mean = 0;
  double probability = std::pow(1 - missRate, k);
  if (missRate >= 1) return std::max(k * readSeconds + lastSeconds, computeSeconds);
  for (int misses = 0; misses <= k; ++misses) {
    const double reads = misses == 0 ? 0 : misses * readSeconds + lastSeconds;
    mean += probability * std::max(reads, computeSeconds);
    probability *= missRate / (1 - missRate) * (k - misses) / (misses + 1);
  }
  return mean;
}

double widthOf(int turns, double spread) {
  if (turns == 0) return kAssumedWidth;
  const double least = turns < kManyTurns ? kFewTurnsWidth : kLeastWidth;
  return std::clamp(1.5 * spread, least, kAssumedWidth);
}

}  // namespace

TurnPredictor::TurnPredictor(ModelCosts costs, const HitCurve& curve, PredictorFacts facts)
    : m_costs(std::move(costs)),
      m_curve(curve),
      m_facts(std::move(facts)),
      m_constants(assumedConstants(m_facts.isa, m_facts.threads, m_facts.memoryBytesPerSecond)) {
  m_constants.diskBytesPerSecond = m_facts.diskBytesPerSecond;
}

TurnPredictor TurnPredictor::with(const PredictorFacts& facts) const {
  TurnPredictor changed = *this;
  if (m_facts.diskBytesPerSecond > 0) {
    changed.m_constants.diskBytesPerSecond *= facts.diskBytesPerSecond / m_facts.diskBytesPerSecond;
  } else {
    changed.m_constants.diskBytesPerSecond = facts.diskBytesPerSecond;
  }
  changed.m_facts = facts;
  return changed;
}

double TurnPredictor::tableSeconds(const LayerCost& layer) const {
  // A row's values and its scales lie in two places.
  const double reads = 2.0 * layer.tableRows;
  if (m_facts.smallReadsPerSecond > 0) return reads / m_facts.smallReadsPerSecond;
  return m_constants.diskBytesPerSecond > 0
             ? reads * static_cast<double>(kReadAlignment) / m_constants.diskBytesPerSecond
             : 0;
}

TurnPredictor::Seconds TurnPredictor::tokenSeconds(double hitRate) const {
  const CostConstants& c = m_constants;
  const double miss = std::clamp(1 - hitRate, 0.0, 1.0);
  const int k = m_costs.expertsPerToken;
  Seconds sum;
  double driveBusyUntil = 0;  // reads that can start with the token: hash layers', and dense weights read ahead
  for (const LayerCost& layer : m_costs.layers) {
    const auto expert = static_cast<double>(layer.expertBytes);
    const double read = c.diskBytesPerSecond > 0 ? expert / c.diskBytesPerSecond : 0;
    const double last = expert * c.expert;
    const double dense = static_cast<double>(layer.denseBytes) * c.dense;
    const double experts = (k * expert + static_cast<double>(layer.sharedBytes)) * c.expert;
    const double reads = k * miss * read;
    const double stream = m_facts.streamsDense && c.diskBytesPerSecond > 0
                              ? static_cast<double>(layer.streamedBytes) / c.diskBytesPerSecond
                              : 0;
    const double rows = tableSeconds(layer);
    sum.disk += reads + stream + rows;
    sum.compute += dense + experts;
    if (layer.knowsExpertsEarly || m_facts.streamsDense) driveBusyUntil += reads + stream;
    driveBusyUntil += rows;
    if (m_facts.slots < 2) {
      sum.total += dense + reads + experts;  // the one slot holds either a read or an expert at work
    } else if (layer.knowsExpertsEarly) {
      const double arrived = driveBusyUntil + last * std::min(1.0, k * miss);
      sum.total = std::max(sum.total + dense + experts, arrived);
    } else {
      sum.total += dense + meanOfLongest(k, miss, read, last, experts);
    }
    sum.total = std::max(sum.total, driveBusyUntil);
  }
  const double head = static_cast<double>(m_costs.headBytes) * c.dense;
  sum.compute += head;
  sum.total += head;
  return sum;
}

double TurnPredictor::distinctExperts(std::int64_t rows, std::int64_t after) const {
  double sum = 0;
  for (const LayerCost& layer : m_costs.layers) {
    const double n = std::max(1, layer.experts);
    const double k = std::min<double>(m_costs.expertsPerToken, n);
    if (layer.experts > 0) sum += n * (1 - std::pow(1 - k / n, static_cast<double>(layer.rowsOf(rows, after))));
  }
  return sum;
}

double TurnPredictor::residentAfter(std::int64_t rows, std::int64_t after, double resident, double slots) const {
  const double all = static_cast<double>(std::max<std::uint64_t>(1, m_costs.totalExperts()));
  return std::min(slots, resident + distinctExperts(rows, after) * (1 - std::min(1.0, resident / all)));
}

TurnPredictor::Seconds TurnPredictor::segmentSeconds(int segmentRows, std::int64_t after, double missShare) const {
  const CostConstants& c = m_constants;
  Seconds sum;
  for (const LayerCost& layer : m_costs.layers) {
    const auto rows = static_cast<double>(layer.rowsOf(segmentRows, after));
    if (rows == 0) continue;
    const double chunk = std::max(1.0, std::min<double>(m_facts.chunk, rows));
    const double passes = std::ceil(rows / chunk);
    const double further = rows - passes;
    const auto expert = static_cast<double>(layer.expertBytes);
    const auto shared = static_cast<double>(layer.sharedBytes);
    const double n = std::max(1, layer.experts);
    const double k = layer.experts > 0 ? std::min<double>(m_costs.expertsPerToken, n) : 0;
    const double distinct = n * (1 - std::pow(1 - k / n, rows));
    const double inPasses = n * (1 - std::pow(1 - k / n, rows / passes)) * passes;
    const double dense = static_cast<double>(layer.denseBytes) * (passes * c.dense + further * c.denseRow);
    const double experts = (expert * inPasses + shared * passes) * c.expert +
                           (expert * std::max(0.0, rows * k - inPasses) + shared * further) * c.expertRow;
    double bytes = distinct * missShare * expert;
    if (m_facts.streamsDense) bytes += static_cast<double>(layer.streamedBytes);
    const double reads =
        (c.diskBytesPerSecond > 0 ? bytes / c.diskBytesPerSecond : 0) + segmentRows * tableSeconds(layer);
    sum.disk += reads;
    sum.compute += dense + experts;
    sum.total += dense + (m_facts.slots < 2 ? reads + experts : std::max(reads, experts));
  }
  return sum;
}

TurnPredictor::Seconds TurnPredictor::prefillSeconds(std::int64_t tokens, double resident) const {
  const double all = static_cast<double>(std::max<std::uint64_t>(1, m_costs.totalExperts()));
  const auto slots = static_cast<double>(m_facts.slots);
  const int segment = std::max(1, m_facts.segment);
  Seconds sum;
  for (std::int64_t left = tokens; left > 0; left -= segment) {
    const int rows = static_cast<int>(std::min<std::int64_t>(left, segment));
    const Seconds one = segmentSeconds(rows, left - rows, 1 - std::min(1.0, resident / all));
    sum.total += one.total;
    sum.disk += one.disk;
    sum.compute += one.compute;
    resident = residentAfter(rows, left - rows, resident, slots);
  }
  const double head = static_cast<double>(m_costs.headBytes) * m_constants.dense;
  sum.total += head;
  sum.compute += head;
  return sum;
}

double TurnPredictor::meanHitRate(const HitCurve& curve, double resident, double slots, std::int64_t tokens) const {
  const auto all = static_cast<double>(m_costs.totalExperts());
  if (all <= 0) return 1;
  double perToken = 0;
  for (const LayerCost& layer : m_costs.layers) {
    perToken += std::min<double>(m_costs.expertsPerToken, layer.experts);
  }
  const double count = static_cast<double>(std::max<std::int64_t>(1, tokens));
  const double step = std::max(1.0, count / kTransientSteps);
  double sum = 0;
  double held = std::min(resident, slots);
  for (double at = 0; at < count; at += step) {
    const double weight = std::min(step, count - at);
    const double rate = curve.rate(static_cast<std::uint64_t>(held));
    sum += rate * weight;
    held = std::min(slots, held + perToken * (1 - rate) * weight);
  }
  return sum / count;
}

TurnPredictor::Decode TurnPredictor::decode(const TurnShape& shape) const {
  const auto slots = static_cast<double>(m_facts.slots);
  const double held = residentAfter(shape.promptTokens, 0, static_cast<double>(shape.residentExperts), slots);
  Decode result;
  result.hitRate = meanHitRate(m_curve, held, slots, shape.answerTokens - 1);
  result.perToken = tokenSeconds(result.hitRate);
  return result;
}

double TurnPredictor::fitExponent(const TurnRecord& turn) const {
  const TurnPhase& phase = turn.decode;
  if (phase.requests == 0 || phase.tokens < 4 || turn.slots == 0) return 0;
  const double measured = static_cast<double>(phase.hits) / static_cast<double>(phase.requests);
  if (measured < 0.005 || measured > 0.995) return 0;
  const auto slots = static_cast<double>(turn.slots);
  const auto missed = static_cast<double>(turn.prefill.requests - std::min(turn.prefill.requests, turn.prefill.hits));
  const double held = std::min(slots, static_cast<double>(turn.residentAtStart) + missed);
  // While a cache fills, first touches say little about how often experts come back.
  if (static_cast<double>(phase.requests - phase.hits) < kFullFor * (slots - held)) return 0;
  HitCurve curve = m_curve;
  double low = std::log(0.05);
  double high = std::log(20.0);
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    curve.sharpen(std::exp(middle));
    (meanHitRate(curve, held, slots, phase.tokens) > measured ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

void TurnPredictor::learn(std::span<const TurnRecord> turns) {
  std::vector<TurnRecord> own;
  for (const TurnRecord& turn : turns) {
    if (turn.isa == m_facts.isa && turn.threads == m_facts.threads) own.push_back(turn);
  }
  if (own.size() > kTurnsUsed) own.erase(own.begin(), own.end() - kTurnsUsed);
  const double planned = m_facts.diskBytesPerSecond;
  CostConstants assumed = assumedConstants(m_facts.isa, m_facts.threads, m_facts.memoryBytesPerSecond);
  assumed.diskBytesPerSecond = planned;
  m_constants = measuredConstants(assumed, m_costs, own, m_facts.drives);

  m_curve.sharpen(1);
  std::vector<double> exponents;
  for (const TurnRecord& turn : own) {
    if (const double exponent = fitExponent(turn); exponent > 0) exponents.push_back(exponent);
  }
  m_constants.hitExponent = exponents.empty() ? 1 : medianOf(exponents);
  m_curve.sharpen(m_constants.hitExponent);

  // What the formulas leave out, and how far single turns are from it.
  std::vector<double> decodeRatios;
  std::vector<double> prefillRatios;
  std::vector<double> decodeErrors;
  for (const TurnRecord& turn : own) {
    PredictorFacts facts = m_facts;
    facts.slots = turn.slots;
    facts.streamsDense = turn.streamsDense;
    facts.segment = turn.segment;
    facts.chunk = turn.chunk;
    const TurnPredictor then = with(facts);
    if (turn.decode.tokens >= 4 && turn.decode.seconds > 0) {
      const double measured = turn.decode.seconds / static_cast<double>(turn.decode.tokens);
      const double hits = turn.decode.requests == 0
                              ? 1
                              : static_cast<double>(turn.decode.hits) / static_cast<double>(turn.decode.requests);
      decodeRatios.push_back(measured / std::max(1e-12, then.tokenSeconds(hits).total));
      const TurnShape shape{turn.prefill.tokens, turn.decode.tokens + 1, turn.residentAtStart};
      decodeErrors.push_back(measured / std::max(1e-12, then.decode(shape).perToken.total));
    }
    if (turn.prefill.tokens > 0 && turn.prefill.seconds > 0) {
      const double modelled = then.prefillSeconds(turn.prefill.tokens, static_cast<double>(turn.residentAtStart)).total;
      prefillRatios.push_back(turn.prefill.seconds / std::max(1e-12, modelled));
    }
  }
  const auto spread = [](std::vector<double> ratios, double factor) {
    for (double& ratio : ratios) ratio = std::abs(ratio / factor - 1);
    return medianOf(std::move(ratios));
  };
  if (!decodeRatios.empty()) {
    m_constants.decodeFactor = std::clamp(medianOf(decodeRatios), 0.1, 10.0);
    m_constants.decodeSpread = spread(std::move(decodeErrors), m_constants.decodeFactor);
  }
  m_constants.decodeTurns = static_cast<int>(decodeRatios.size());
  if (!prefillRatios.empty()) {
    m_constants.prefillFactor = std::clamp(medianOf(prefillRatios), 0.1, 10.0);
    m_constants.prefillSpread = spread(prefillRatios, m_constants.prefillFactor);
  }
  m_constants.prefillTurns = static_cast<int>(prefillRatios.size());
}

Prediction TurnPredictor::predict(const TurnShape& shape) const {
  Prediction prediction;
  if (m_costs.layers.empty()) return prediction;
  const Decode decoded = decode(shape);
  prediction.hitRate = decoded.hitRate;
  prediction.promptTokens = shape.promptTokens;
  prediction.source = m_constants.decodeTurns > 0 ? "this machine's own turns" : "assumed";
  const bool reads = decoded.hitRate < 1 || m_facts.streamsDense || shape.residentExperts < m_costs.totalExperts();
  if (reads && !(m_constants.diskBytesPerSecond > 0)) return prediction;
  const double seconds = decoded.perToken.total * m_constants.decodeFactor;
  const double width = widthOf(m_constants.decodeTurns, m_constants.decodeSpread);
  if (seconds > 0) {
    prediction.decodeTokensPerSecond = 1 / seconds;
    prediction.decodeLow = prediction.decodeTokensPerSecond * (1 - width);
    prediction.decodeHigh = prediction.decodeTokensPerSecond * (1 + width);
  }
  prediction.firstTokenSeconds =
      prefillSeconds(shape.promptTokens, static_cast<double>(shape.residentExperts)).total * m_constants.prefillFactor;
  const double prefillWidth = widthOf(m_constants.prefillTurns, m_constants.prefillSpread);
  prediction.firstTokenLow = prediction.firstTokenSeconds * (1 - prefillWidth);
  prediction.firstTokenHigh = prediction.firstTokenSeconds * (1 + prefillWidth);
  const bool disk = decoded.perToken.disk > decoded.perToken.compute;
  prediction.boundBy = disk ? "disk" : m_constants.computeBound ? "compute" : "memory";
  return prediction;
}

}  // namespace colibri
