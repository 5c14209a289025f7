#pragma once
// Chooses the next token from logits. Deterministic: the random number is a function of (seed, position) alone.

#include <colibri/session.h>
#include <colibri/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// Uniform number in [0, 1) of a seed and a counter (two rounds of a 64-bit mixer); the same on every machine.
[[nodiscard]] double counterUniform(std::uint64_t seed, std::uint64_t counter);

/// e^x in double for x <= 0, error below 2 units in the last place, the same bits on every machine (no libm).
[[nodiscard]] double portableExp(double x);

/// Reusable chooser. One caller at a time.
class Sampler {
public:
  /// `position`: index of the token being chosen, counted from the start of the sequence. Greedy for temperature 0
  /// (ties to the lower id). Filters: top-k, then top-p over what is left, then min-p relative to the best. `banned`
  /// (or -1) is never chosen.
  [[nodiscard]] TokenId choose(std::span<const float> logits, const Sampling& sampling, std::uint64_t position,
                               TokenId banned = -1);

  /// Natural logarithm of the token's probability under the unfiltered logits at temperature 1.
  [[nodiscard]] static double logprob(std::span<const float> logits, TokenId token);

private:
  struct Candidate {
    TokenId id;
    float logit;
    double weight;
  };
  std::vector<Candidate> m_candidates;
};

}  // namespace colibri
