#include "plan/hit_curve.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace colibri {
namespace {

struct Point {
  double fraction;
  double hit;
};
// Published for V4 Flash with 14, 28, 56, 112 and 224 LRU slots of 256 a layer (40.5 to 91.0 %), divided by what the
// fully resident run reached (91.3 %), since its misses were first touches; rounded down.
constexpr std::array<Point, 8> kPrior{
    {{0, 0}, {0.01, 0.13}, {0.055, 0.43}, {0.11, 0.62}, {0.22, 0.79}, {0.44, 0.91}, {0.88, 0.99}, {1, 1}}};

// Tokens' worth of accesses at which the user's own record counts as much as the prior.
constexpr double kOwnTokens = 16;

}  // namespace

HitCurve::HitCurve(std::uint64_t experts, std::uint64_t perToken) : m_experts(experts), m_perToken(perToken) {}

void HitCurve::learn(const std::function<double(std::uint64_t)>& hitRate, double firstTouches, std::uint64_t accesses) {
  if (accesses == 0 || m_experts == 0 || m_perToken == 0) return;
  const double repeats = 1 - std::clamp(firstTouches, 0.0, 1.0);
  if (!(repeats > 0)) return;
  double before = 0;
  for (int i = 0; i <= kOwnPoints; ++i) {
    const double rate = hitRate(m_experts * static_cast<std::uint64_t>(i) / kOwnPoints) / repeats;
    before = std::max(before, std::isfinite(rate) ? std::clamp(rate, 0.0, 1.0) : 0.0);
    m_own[i] = before;
  }
  const double tokens = static_cast<double>(accesses) / static_cast<double>(m_perToken);
  m_ownWeight = tokens / (tokens + kOwnTokens);
}

double HitCurve::prior(double slots) const {
  const double fraction = std::clamp(slots / static_cast<double>(m_experts), 0.0, 1.0);
  std::size_t above = 1;
  while (above + 1 < kPrior.size() && kPrior[above].fraction < fraction) ++above;
  const Point& a = kPrior[above - 1];
  const Point& b = kPrior[above];
  const double hit = a.hit + (b.hit - a.hit) * (fraction - a.fraction) / (b.fraction - a.fraction);
  return hit * std::min(1.0, slots / std::max(1.0, static_cast<double>(m_perToken)));
}

double HitCurve::own(double slots) const {
  const double at = std::clamp(slots / static_cast<double>(m_experts), 0.0, 1.0) * kOwnPoints;
  const int below = std::min(kOwnPoints - 1, static_cast<int>(at));
  return m_own[below] + (m_own[below + 1] - m_own[below]) * (at - below);
}

double HitCurve::rate(std::uint64_t slots) const {
  if (m_experts == 0) return 1;
  if (slots >= m_experts) return 1;
  const double x = static_cast<double>(slots);
  const double mixed = m_ownWeight * own(x) + (1 - m_ownWeight) * prior(x);
  // The exponent mends the prior; a curve of one's own needs no mending.
  return std::clamp(std::pow(mixed, 1 + (m_exponent - 1) * (1 - m_ownWeight)), 0.0, 1.0);
}

}  // namespace colibri
