#include "session/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace colibri {
namespace {

std::uint64_t mix(std::uint64_t x) {
  // The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

TokenId best(std::span<const float> logits, TokenId banned) {
  TokenId id = -1;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (static_cast<TokenId>(i) == banned) continue;
    if (id < 0 || logits[i] > logits[static_cast<std::size_t>(id)]) id = static_cast<TokenId>(i);
  }
  return id;
}

}  // namespace

double counterUniform(std::uint64_t seed, std::uint64_t counter) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t bits = mix(mix(seed + kGolden) + (counter + 1) * kGolden);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

double portableExp(double x) {
  if (!(x > -708.0)) return 0.0;
  constexpr double kLog2e = 1.4426950408889634074;
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  const double n = std::nearbyint(x * kLog2e);
  const double r = std::fma(-n, kLn2Low, std::fma(-n, kLn2High, x));
  // Taylor to r^13: |r| <= 0.347, the first term left out is below 5e-18.
  double p = 1.0 / 6227020800.0;
  for (const double c :
       {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0}) {
    p = std::fma(p, r, 1.0 / c);
  }
  const auto exponent = static_cast<std::int64_t>(n) + 1023;
  return p * std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << 52);
}

TokenId Sampler::choose(std::span<const float> logits, const Sampling& sampling, std::uint64_t position,
                        TokenId banned) {
  const TokenId top = best(logits, banned);
  if (sampling.temperature <= 0 || top < 0) return top;
  const double highest = logits[static_cast<std::size_t>(top)];
  m_candidates.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto id = static_cast<TokenId>(i);
    if (id == banned) continue;
    const double weight = portableExp((static_cast<double>(logits[i]) - highest) / sampling.temperature);
    if (weight < sampling.minP || weight == 0) continue;  // min-p relative to the best, whose weight is 1
    m_candidates.push_back({id, logits[i], weight});
  }
  std::sort(m_candidates.begin(), m_candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  });
  if (sampling.topK > 0 && m_candidates.size() > static_cast<std::size_t>(sampling.topK)) {
    m_candidates.resize(static_cast<std::size_t>(sampling.topK));
  }
  double sum = 0;
  for (const Candidate& c : m_candidates) sum += c.weight;
  if (sampling.topP < 1) {
    double kept = 0;
    std::size_t count = 0;
    while (count < m_candidates.size() && (count == 0 || kept < sampling.topP * sum))
      kept += m_candidates[count++].weight;
    m_candidates.resize(count);
    sum = kept;
  }
  const double target = counterUniform(sampling.seed, position) * sum;
  double passed = 0;
  for (const Candidate& c : m_candidates) {
    passed += c.weight;
    if (target < passed) return c.id;
  }
  return m_candidates.back().id;
}

double Sampler::logprob(std::span<const float> logits, TokenId token) {
  double highest = -INFINITY;
  for (const float logit : logits) highest = std::max(highest, static_cast<double>(logit));
  double sum = 0;
  for (const float logit : logits) sum += portableExp(static_cast<double>(logit) - highest);
  return static_cast<double>(logits[static_cast<std::size_t>(token)]) - highest - std::log(sum);
}

}  // namespace colibri
