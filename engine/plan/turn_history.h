#pragma once
// What was predicted and what was measured, turn by turn, remembered for each model.
//
// How a session uses it: when a model is loaded, TurnHistory::load(options.dataFolder, modelId) gives what
// planModel(…, PlanSurroundings) takes as `turns`. While a turn runs, take the
// TimeLedger's and the expert store's counters where the prompt ends and where the answer ends, and fill
// TurnRecord::prefill and decode with the differences; the other fields are the plan's, and what
// ExpertStore::residency() counted before the turn. After a turn that ended without an error, record() it and give
// turns() to TurnPredictor::learn(). A Status of record() is a notice for the user, never the turn's error.

#include <colibri/event.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

/// One half of a turn.
struct TurnPhase {
  std::int64_t tokens = 0;  ///< rows that went through the model: new prompt tokens, or tokens decoded after the first
  double seconds = 0;       ///< wall time
  TimeSplit split;          ///< of these seconds
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytesRead = 0;
};

struct TurnRecord {
  std::int64_t time = 0;  ///< seconds since 1970
  std::string isa;        ///< Kernels::name
  int threads = 0;
  std::string drives;  ///< driveSetName() of the plan's drives
  int segment = 0;
  int chunk = 0;
  bool streamsDense = false;
  std::uint64_t slots = 0;
  std::uint64_t residentAtStart = 0;  ///< experts in the cache before the turn
  TurnPhase prefill;
  TurnPhase decode;
  double readBytesPerSecond = 0;              ///< of expert reads, over the time with at least one in flight; 0: none
  double predictedDecodeTokensPerSecond = 0;  ///< what was said before; 0: nothing
  double predictedFirstTokenSeconds = 0;
};

/// The last turns of one model, oldest first. One owner thread.
class TurnHistory {
public:
  static constexpr std::size_t kMostTurns = 100;

  /// What dataFolder/turns/<modelId>.json holds. A file that is absent gives an empty history; one that is damaged or
  /// too large, or entries with impossible figures, are left out, which notice() says. An empty folder or an id that is
  /// not 32 hex digits: an empty history that record() does not write.
  static TurnHistory load(const std::filesystem::path& dataFolder, std::string_view modelId);

  /// Adds a turn, forgets the oldest beyond kMostTurns and writes the file under a new name that then replaces it; kIo
  /// when that fails (the turn is in turns() all the same). Turns without a measured phase are not taken.
  Status record(const TurnRecord& turn);

  [[nodiscard]] const std::vector<TurnRecord>& turns() const { return m_turns; }
  /// Why something in the file was not used, a sentence; empty when all was.
  [[nodiscard]] const std::string& notice() const { return m_notice; }
  /// Removes what is stored for one model, or for all when `modelId` is empty; ok when there is nothing. kIo, kUsage.
  static Status forget(const std::filesystem::path& dataFolder, std::string_view modelId);

private:
  std::filesystem::path m_file;  ///< empty: nothing is written
  std::vector<TurnRecord> m_turns;
  std::string m_notice;
};

}  // namespace colibri
