#pragma once
// Which share of the routed experts that a token asks for is in the cache, as a function of the cache's size.

#include <cstdint>
#include <functional>

namespace colibri {

/// Steady state, first touches not counted as misses (a turn's transient is the predictor's). Non-decreasing in slots.
class HitCurve {
public:
  /// The prior: hit rates that were published for this family with LRU caches of 5.5, 11, 22, 44 and 88 % of the
  /// experts, interpolated. `perToken`: experts that one token asks for in all layers; a smaller cache is swept before
  /// anything in it is used again.
  HitCurve(std::uint64_t experts, std::uint64_t perToken);

  /// The user's own: `hitRate(slots)` of the recorded accesses (non-decreasing; first touches being misses, their share
  /// is `firstTouches`). It takes over as accesses grow beyond a few hundred tokens' worth.
  void learn(const std::function<double(std::uint64_t)>& hitRate, double firstTouches, std::uint64_t accesses);

  /// Makes routing more (exponent < 1) or less concentrated: rates become rate^exponent.
  void sharpen(double exponent) { m_exponent = exponent; }

  /// 0 to 1.
  [[nodiscard]] double rate(std::uint64_t slots) const;
  [[nodiscard]] std::uint64_t experts() const { return m_experts; }
  /// Weight of the user's own record, 0 to 1.
  [[nodiscard]] double ownWeight() const { return m_ownWeight; }

private:
  static constexpr int kOwnPoints = 256;
  [[nodiscard]] double prior(double slots) const;
  [[nodiscard]] double own(double slots) const;

  std::uint64_t m_experts = 0;
  std::uint64_t m_perToken = 0;
  double m_exponent = 1;
  double m_ownWeight = 0;
  double m_own[kOwnPoints + 1] = {};  ///< at equal steps of slots, from none to all
};

}  // namespace colibri
