#pragma once
// `coli bench --turn`: a real turn beside the limits that this machine sets it.

#include <colibri/cancellation.h>
#include <colibri/engine.h>
#include <colibri/event.h>
#include <colibri/status.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace colibri {

struct TurnBenchOptions {
  EngineOptions engine;
  int maxTokens = 32;  ///< decoded in each turn, at least 2
  bool quick = false;  ///< ceilings are measured for some milliseconds only
};

/// Decode of one turn. Times in seconds, rates in bytes a second.
struct TurnFigure {
  std::string name;  ///< "cold" (nothing cached) or "warm" (the same turn again)
  std::int64_t promptTokens = 0;
  std::int64_t decodedTokens = 0;  ///< computed passes; the first token comes from the prompt
  double prefillSeconds = 0;
  double decodeSeconds = 0;
  double tokensPerSecond = 0;
  ExpertUse experts;                    ///< of decode alone
  double busyFraction = 0;              ///< of decode with at least one expert read in flight
  double readOverMissed = 0;            ///< bytes read / bytes missed; 0 without misses
  double splitOverWall = 0;             ///< sum of the split / wall time
  TimeSplit split;                      ///< of decode
  double ceiling = 0;                   ///< bare loop over the same files before and after the turn, mean
  double diskLimitSeconds = 0;          ///< bytes missed / ceiling
  double computeSeconds = 0;            ///< the same turn without any miss
  bool computeMeasured = false;         ///< else estimated: decode less the waits for the drive
  double wallOverLimit = 0;             ///< decode / max(disk limit, compute)
  double predictedTokensPerSecond = 0;  ///< before the turn; 0: not said
};

struct TurnBenchReport {
  std::uint64_t budgetBytes = 0;
  std::uint64_t expertSlots = 0;
  std::uint64_t totalExperts = 0;
  std::int64_t memoryPeakBytes = 0;
  std::int64_t anonymousPeakBytes = 0;
  std::vector<TurnFigure> turns;
  std::vector<std::string> notices;
};

/// Loads the model with these settings, makes a fixed turn with an empty cache and again, then once more with every
/// expert in memory where that fits. kInternal when the turns differ in their tokens; else errors as Engine::open and
/// Session::generate.
Result<TurnBenchReport> benchTurn(const TurnBenchOptions& options,
                                  const std::function<void(const LoadProgress&)>& progress,
                                  const Cancellation& cancellation);

}  // namespace colibri
