#include "cli/oracle_verdict.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

TokenId bestOf(std::span<const float> row) {
  return static_cast<TokenId>(std::max_element(row.begin(), row.end()) - row.begin());
}

/// What to take off a logit to get the natural logarithm of its probability.
double logNormaliser(std::span<const float> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const float value : row) sum += std::exp(static_cast<double>(value) - top);
  return top + std::log(sum);
}

std::string number(double value) {
  std::string text = std::to_string(value);
  return text;
}

/// Notes what is outside a tolerance; only the first one of a run is kept.
class Failures {
public:
  Failures(OracleReport& report, const std::string& name) : m_report(report), m_name(name) {}
  void add(std::int64_t position, const std::string& reason) {
    m_report.ok = false;
    if (!m_report.first) m_report.first = OracleReport::Difference{m_name, position, reason};
  }

private:
  OracleReport& m_report;
  const std::string& m_name;
};

struct PositionResult {
  std::int64_t position = 0;
  double rms = 0;
  double maxAbs = 0;
  bool argmaxEqual = false;
  double margin = 0;  ///< lead of the oracle's best value
};

PositionResult compare(const OraclePosition& expected, std::span<const float> row, bool logprobs,
                       OracleReport& report) {
  const double shift = logprobs ? logNormaliser(row) : 0;
  PositionResult result;
  result.position = expected.position;
  double squares = 0;
  for (std::size_t i = 0; i < expected.ids.size(); ++i) {
    const double difference = std::abs(row[static_cast<std::size_t>(expected.ids[i])] - shift - expected.values[i]);
    // A NaN compares false everywhere; it must count as the worst.
    const double size = std::isnan(difference) ? HUGE_VAL : difference;
    squares += size * size;
    result.maxAbs = std::max(result.maxAbs, size);
    report.sumAbsDiff += size;
    ++report.values;
  }
  result.rms = std::sqrt(squares / static_cast<double>(expected.ids.size()));
  result.argmaxEqual = bestOf(row) == expected.ids.front();
  result.margin = expected.values.size() > 1 ? expected.values[0] - expected.values[1] : HUGE_VAL;
  report.maxAbsDiff = std::max(report.maxAbsDiff, result.maxAbs);
  report.argmaxEqual += result.argmaxEqual ? 1 : 0;
  ++report.positions;
  return result;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

OracleReport::Pool& poolOf(const OracleCase& oracle, OracleReport& report) {
  for (OracleReport::Pool& pool : report.pools) {
    if (pool.numerics == oracle.numerics && pool.tolerance == oracle.tolerance) return pool;
  }
  OracleReport::Pool& pool = report.pools.emplace_back();
  pool.numerics = oracle.numerics;
  pool.tolerance = oracle.tolerance;
  return pool;
}

void judgePositions(const OracleCase& oracle, const std::vector<PositionResult>& results, Failures& failures,
                    OracleReport& report) {
  const OracleTolerance& tolerance = oracle.tolerance;
  for (const PositionResult& result : results) {
    if (tolerance.maxAbs && result.maxAbs > *tolerance.maxAbs) {
      failures.add(result.position, "a value differs by " + number(result.maxAbs));
    }
    if (tolerance.maxAbs && !result.argmaxEqual) failures.add(result.position, "another token is best");
    if (tolerance.argmaxMargin && result.margin >= *tolerance.argmaxMargin && !result.argmaxEqual) {
      failures.add(result.position, "another token is best although the lead is " + number(result.margin));
    }
    if (!tolerance.statistical()) continue;
    OracleReport::Pool& pool = poolOf(oracle, report);
    pool.lastCase = oracle.name;
    pool.lastPosition = result.position;
    pool.rms.push_back(result.rms);
    pool.equal += result.argmaxEqual ? 1 : 0;
  }
}

}  // namespace

Status judgeCase(const OracleCase& oracle, bool logprobs, const OracleRun& run, OracleReport& report) {
  Failures failures(report, oracle.name);
  const auto rowAt = [&](std::size_t position) {
    return run.rows.subspan(position * static_cast<std::size_t>(run.vocab), static_cast<std::size_t>(run.vocab));
  };
  ++report.cases;
  std::vector<PositionResult> results;
  for (const OraclePosition& expected : oracle.teacher) {
    for (const TokenId id : expected.ids) {
      if (id >= run.vocab) {
        return Status(
            Code::kUsage, "bad_oracle",
            "Case " + oracle.name + " names token " + std::to_string(id) + ", which the model does not have.");
      }
    }
    results.push_back(compare(expected, rowAt(static_cast<std::size_t>(expected.position)), logprobs, report));
  }
  judgePositions(oracle, results, failures, report);
  if (!oracle.greedy) return Status::ok();

  ++report.greedyCases;
  const auto prompt = static_cast<std::int64_t>(oracle.prompt.size());
  bool allEqual = true;
  for (std::size_t i = 0; i < oracle.continuation.size(); ++i) {
    // By forcing (chaotic profiles), or by the engine's own tokens.
    const TokenId chosen = run.greedy.empty() ? bestOf(rowAt(oracle.prompt.size() + i - 1)) : run.greedy[i];
    const bool equal = chosen == oracle.continuation[i];
    ++report.greedyTokens;
    report.greedyTokensEqual += equal ? 1 : 0;
    if (equal) continue;
    allEqual = false;
    const bool counts = oracle.tolerance.argmaxMargin
                            ? i >= oracle.margins.size() || oracle.margins[i] >= *oracle.tolerance.argmaxMargin
                            : oracle.tolerance.any();
    if (counts) {
      failures.add(prompt + static_cast<std::int64_t>(i),
                   "the greedy token is " + std::to_string(chosen) + ", not " + std::to_string(oracle.continuation[i]));
    }
  }
  report.tokenEqual += allEqual ? 1 : 0;
  return Status::ok();
}

void judgePools(OracleReport& report) {
  const std::vector<OracleReport::Pool> pools = report.pools;
  for (const OracleReport::Pool& pool : pools) {
    Failures failures(report, pool.lastCase);
    const auto over = [&](const std::string& what) {
      failures.add(pool.lastPosition, what + " over " + std::to_string(pool.rms.size()) + " positions");
    };
    const OracleTolerance& tolerance = pool.tolerance;
    const double median = quantile(pool.rms, 0.5);
    const double p90 = quantile(pool.rms, 0.9);
    const double share = static_cast<double>(pool.equal) / static_cast<double>(pool.rms.size());
    if (tolerance.rmsMedian && median > *tolerance.rmsMedian)
      over("the median of the RMS differences is " + number(median));
    if (tolerance.rmsP90 && p90 > *tolerance.rmsP90)
      over("the 90th percentile of the RMS differences is " + number(p90));
    if (tolerance.argmaxShare && share < *tolerance.argmaxShare) {
      over("the best token is equal at a share of only " + number(share));
    }
  }
}

}  // namespace colibri
