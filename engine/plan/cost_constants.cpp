#include "plan/cost_constants.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace colibri {
namespace {

/// What a kernel set reaches: bytes a second of weights that come from memory, as a share of what can be read, and one
/// core's own limit; and floating-point operations a second of one core on many rows.
struct KernelRates {
  std::string_view isa;
  double share;
  double denseLimit;
  double expertLimit;
  double flops;
};
// Rounded from runs of these kernels on matrices of V4's sizes; "avx512-vnni" starts with "avx512".
constexpr KernelRates kRates[] = {
    {"avx512", 0.60, 12e9, 9e9, 100e9},
    {"avx2", 0.55, 9e9, 6e9, 50e9},
    {"neon", 0.55, 8e9, 5e9, 40e9},
    {"scalar", 0.50, 0.1e9, 0.15e9, 0.3e9},
};
// Attention, norms and routing beside the matrices.
constexpr double kBesideDense = 1.2;
// e4m3 is one weight a byte; an expert's 17 bytes hold 32 weights. Two operations a weight and row.
constexpr double kDenseFlopsPerByte = 2;
constexpr double kExpertFlopsPerByte = 2 * 32.0 / 17;

constexpr double kTypicalBytesPerThread = 12e9;
constexpr double kTypicalMost = 48e9;

const KernelRates& ratesOf(std::string_view isa) {
  for (const KernelRates& rates : kRates) {
    if (isa.substr(0, rates.isa.size()) == rates.isa) return rates;
  }
  return kRates[3];
}

double denseSeconds(const TurnPhase& phase) {
  return phase.split.denseSeconds + phase.split.attentionSeconds + phase.split.otherSeconds;
}

/// Bytes of routed and shared experts that one token computes with.
double expertBytesPerToken(const ModelCosts& costs) {
  double sum = static_cast<double>(costs.routedBytesPerToken());
  for (const LayerCost& layer : costs.layers) sum += static_cast<double>(layer.sharedBytes);
  return sum;
}

double denseBytes(const ModelCosts& costs) {
  double sum = static_cast<double>(costs.headBytes);
  for (const LayerCost& layer : costs.layers) sum += static_cast<double>(layer.denseBytes);
  return sum;
}

bool isUsefulDecode(const TurnPhase& phase) {
  return phase.tokens >= 4 && phase.seconds > 0;
}

/// Too few rows say nothing about what a row costs.
bool isUsefulPrefill(const TurnRecord& turn) {
  return turn.prefill.tokens >= 16 && turn.prefill.seconds > 0 && turn.chunk > 0;
}

void learnDecode(const ModelCosts& costs, const std::vector<TurnRecord>& turns, CostConstants& constants) {
  std::vector<double> dense;
  std::vector<double> expert;
  for (const TurnRecord& turn : turns) {
    if (!isUsefulDecode(turn.decode)) continue;
    const auto tokens = static_cast<double>(turn.decode.tokens);
    dense.push_back(denseSeconds(turn.decode) / tokens / std::max(1.0, denseBytes(costs)));
    expert.push_back(turn.decode.split.expertSeconds / tokens / std::max(1.0, expertBytesPerToken(costs)));
  }
  if (const double value = medianOf(dense); value > 0) constants.dense = value;
  if (const double value = medianOf(expert); value > 0) constants.expert = value;
  constants.decodeTurns = static_cast<int>(dense.size());
}

void learnPrefill(const ModelCosts& costs, const std::vector<TurnRecord>& turns, CostConstants& constants) {
  std::vector<double> dense;
  std::vector<double> expert;
  for (const TurnRecord& turn : turns) {
    if (!isUsefulPrefill(turn)) continue;
    const auto rows = static_cast<double>(turn.prefill.tokens);
    const double passes = std::ceil(rows / turn.chunk);
    const double further = std::max(1.0, rows - passes);
    // Seconds = bytes (passes x first row + further rows); a row never costs less than nothing.
    const double d = denseSeconds(turn.prefill) / std::max(1.0, denseBytes(costs)) - passes * constants.dense;
    dense.push_back(std::max(d / further, 0.0));
    double firstRows = 0;
    double furtherRows = 0;
    for (const LayerCost& layer : costs.layers) {
      const double n = std::max(1, layer.experts);
      const double k = std::min<double>(costs.expertsPerToken, n);
      const double distinct = n * (1 - std::pow(1 - k / n, rows / passes)) * passes;
      firstRows += static_cast<double>(layer.expertBytes) * distinct + static_cast<double>(layer.sharedBytes) * passes;
      furtherRows += static_cast<double>(layer.expertBytes) * std::max(0.0, rows * k - distinct) +
                     static_cast<double>(layer.sharedBytes) * further;
    }
    const double e = turn.prefill.split.expertSeconds - firstRows * constants.expert;
    expert.push_back(std::max(e / std::max(1.0, furtherRows), 0.0));
  }
  // With none beyond the first row's the medians are zero, and what was assumed is as good as anything.
  if (const double value = medianOf(dense); value > 0) constants.denseRow = value;
  if (const double value = medianOf(expert); value > 0) constants.expertRow = value;
  constants.prefillTurns = static_cast<int>(dense.size());
}

}  // namespace

double medianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

CostConstants assumedConstants(std::string_view isa, int threads, double memoryBytesPerSecond) {
  const KernelRates& rates = ratesOf(isa);
  const double team = std::max(1, threads);
  const double memory =
      memoryBytesPerSecond > 0 ? memoryBytesPerSecond : std::min(kTypicalMost, kTypicalBytesPerThread * team);
  const double fromMemory = memory * rates.share;
  CostConstants constants;
  constants.dense = kBesideDense / std::min(fromMemory, rates.denseLimit * team);
  constants.expert = 1 / std::min(fromMemory, rates.expertLimit * team);
  constants.denseRow = kBesideDense * kDenseFlopsPerByte / (rates.flops * team);
  constants.expertRow = kExpertFlopsPerByte / (rates.flops * team);
  constants.computeBound = rates.expertLimit * team < fromMemory;
  return constants;
}

CostConstants measuredConstants(const CostConstants& assumed, const ModelCosts& costs,
                                std::span<const TurnRecord> turns, std::string_view drives) {
  CostConstants constants = assumed;
  const std::vector<TurnRecord> all(turns.begin(), turns.end());
  learnDecode(costs, all, constants);
  learnPrefill(costs, all, constants);
  // A few reads say little about a drive.
  constexpr std::uint64_t kEnoughBytes = std::uint64_t{64} << 20;
  std::vector<double> rates;
  for (const TurnRecord& turn : turns) {
    const bool enough = turn.prefill.bytesRead + turn.decode.bytesRead >= kEnoughBytes;
    if (turn.drives == drives && enough && turn.readBytesPerSecond > 0) rates.push_back(turn.readBytesPerSecond);
  }
  if (const double rate = medianOf(rates); rate > 0) constants.diskBytesPerSecond = rate;
  return constants;
}

}  // namespace colibri
