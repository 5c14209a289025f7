#pragma once
// oracle.json: reference tokens and values that an engine is compared with.

#include "base/json.h"
#include <colibri/settings.h>
#include <colibri/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

struct OraclePosition {
  std::int64_t position = 0;   ///< counts prompt and continuation
  std::vector<TokenId> ids;    ///< best first
  std::vector<double> values;  ///< of those ids
};

struct OracleTolerance {
  std::optional<double> maxAbs;
  std::optional<double> rmsMedian;
  std::optional<double> rmsP90;
  std::optional<double> argmaxShare;
  std::optional<double> argmaxMargin;
  bool operator==(const OracleTolerance&) const = default;
  [[nodiscard]] bool statistical() const { return rmsMedian || rmsP90 || argmaxShare; }
  [[nodiscard]] bool any() const { return maxAbs || rmsMedian || rmsP90 || argmaxShare || argmaxMargin; }
};

struct OracleCase {
  std::string name;
  Numerics numerics = Numerics::kVendor;
  IndexKeyRule indexKeys = IndexKeyRule::kVendor;
  std::vector<TokenId> prompt;      ///< one id for each image
  std::vector<std::string> images;  ///< files beside the oracle, in order
  std::vector<OraclePosition> teacher;
  std::vector<TokenId> continuation;
  bool greedy = false;
  std::vector<double> margins;  ///< of each step of the continuation, may be empty
  OracleTolerance tolerance;
};

struct OracleFile {
  bool logprobs = false;  ///< values are natural logarithms of probabilities, not logits
  std::vector<OracleCase> cases;
};

/// Reads and checks a parsed oracle file. kUsage with the case's name for anything that does not fit the format;
/// kUnavailable for cases that need a feature which this version does not have.
Result<OracleFile> parseOracle(const Json& json);

}  // namespace colibri
