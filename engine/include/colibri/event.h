#pragma once
// What the engine tells while it works: plain values, safe to hand to another thread.

#include <colibri/drive_counters.h>
#include <colibri/plan.h>
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace colibri {

enum class FinishReason { kStop, kLength, kCancelled, kError };

/// Progress of reading the prompt, in tokens.
struct PrefillEvent {
  std::int64_t done = 0;
  std::int64_t total = 0;
  double etaSeconds = 0;  ///< 0 while unknown
};

/// One generated token. `text` may be empty while the bytes of a character are incomplete, or while it may turn into a
/// stop string. A last event with id -1 may bring text that was held back.
struct TokenEvent {
  TokenId id = 0;
  std::string text;
  double logprob = 0;  ///< natural logarithm of its probability before temperature and filters
};

/// Wall time of an answer by cause; the parts add up to prefill + decode.
struct TimeSplit {
  double diskWaitSeconds = 0;
  double expertSeconds = 0;
  double denseSeconds = 0;
  double attentionSeconds = 0;
  double otherSeconds = 0;
};

struct Timings {
  double loadSeconds = 0;
  double prefillSeconds = 0;
  double decodeSeconds = 0;
  double firstTokenSeconds = 0;
  double decodeTokensPerSecond = 0;
  TimeSplit split;
};

struct ExpertUse {
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t compulsoryMisses = 0;
  std::uint64_t bytesMissed = 0;
  std::uint64_t bytesRead = 0;
  std::uint64_t prefetched = 0;        ///< experts read before they were asked for
  std::uint64_t prefetchedUsed = 0;    ///< of all prefetched ones, asked for in this answer
  std::uint64_t prefetchedUnused = 0;  ///< of all prefetched ones, given up unused in this answer
  double readBytesPerSecond = 0;
  double busySeconds = 0;            ///< time with at least one expert read in flight
  std::vector<DriveCounters> disks;  ///< a row each folder that was given; latencies since the model was loaded
};

/// Rows of n-gram tables (V4.1); all zero for other models.
struct EngramUse {
  std::uint64_t rows = 0;     ///< asked for, doubles within one step counted once
  std::uint64_t rowHits = 0;  ///< of those, found in the cache
  std::uint64_t bytesRead = 0;
  double waitSeconds = 0;  ///< time in which computing stood still for them
};

/// Everything known about one finished answer.
struct Answer {
  std::string text;             ///< visible content
  std::string reasoning;        ///< text before </think>, without the tags
  std::vector<TokenId> tokens;  ///< generated tokens, end-of-sentence included when it was sampled
  FinishReason finishReason = FinishReason::kStop;
  Status error;  ///< why, for kError and kCancelled; otherwise ok
  std::int64_t promptTokens = 0;
  std::int64_t completionTokens = 0;
  std::int64_t reusedTokens = 0;
  Timings timings;
  ExpertUse experts;
  EngramUse engram;
  std::int64_t memoryBudgetBytes = 0;
  std::int64_t memoryPeakBytes = 0;
  std::int64_t anonymousPeakBytes = 0;  ///< of the process, as sampled; 0: unknown
  Prediction prediction;                ///< made before the turn
  std::vector<std::string> notices;     ///< what went wrong without ending the turn, one sentence each
};

[[nodiscard]] const char* finishReasonName(FinishReason reason);
/// One JSON object: the `done` event of `coli run --json` (docs/cli.md).
[[nodiscard]] std::string answerJson(const Answer& answer);

}  // namespace colibri
