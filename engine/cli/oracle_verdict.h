#pragma once
// Comparing an engine's logits with an oracle's cases.

#include "cli/oracle_file.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Figures over all cases so far.
struct OracleReport {
  std::int64_t cases = 0;
  std::int64_t positions = 0;
  std::int64_t argmaxEqual = 0;
  double maxAbsDiff = 0;
  double sumAbsDiff = 0;
  std::int64_t values = 0;
  std::int64_t greedyCases = 0;
  std::int64_t tokenEqual = 0;  ///< greedy cases whose every token is equal
  std::int64_t greedyTokens = 0;
  std::int64_t greedyTokensEqual = 0;
  bool ok = true;
  /// Positions of the cases that share a profile and a statistical tolerance. A share of a dozen positions says little
  /// about a chaotic profile, so medians and shares are taken over all of them (tests/golden/v4/README.md).
  struct Pool {
    std::string lastCase;
    std::int64_t lastPosition = 0;
    Numerics numerics = Numerics::kVendor;
    OracleTolerance tolerance;
    std::vector<double> rms;
    std::int64_t equal = 0;
  };
  std::vector<Pool> pools;
  /// The first thing that is not within its tolerance: case, position, and why.
  struct Difference {
    std::string name;
    std::int64_t position = 0;
    std::string reason;
  };
  std::optional<Difference> first;
};

/// Logits rows [positions, vocab] of prompt + continuation; row p is the value after tokens 0 … p. `greedy`: the
/// engine's own continuation, empty when the case does not ask for one.
struct OracleRun {
  std::span<const float> rows;
  std::int64_t vocab = 0;
  std::vector<TokenId> greedy;
};

/// Adds one case to the report: each value, token and lead is judged at once, medians and shares by judgePools().
/// kUsage for an id beyond the vocabulary.
Status judgeCase(const OracleCase& oracle, bool logprobs, const OracleRun& run, OracleReport& report);

/// Judges the statistics over the whole file; call it once, after the last case.
void judgePools(OracleReport& report);

}  // namespace colibri
