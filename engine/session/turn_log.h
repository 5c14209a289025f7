#pragma once
// What an engine learns from its turns: how its experts are used, how long turns take, and what the next will take.

#include "plan/turn_history.h"
#include "plan/turn_predictor.h"
#include "store/expert_store.h"
#include "store/usage_history.h"
#include "telemetry/time_split.h"
#include <colibri/engine.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace colibri {

/// Counters at one moment of a turn; a phase is the difference of two.
struct TurnMark {
  double seconds = 0;
  TimeSplit split;
  ExpertStoreStats experts;
};

/// The parts of a TimeLedger as events show them.
[[nodiscard]] TimeSplit splitOf(const TimeLedger& time);
[[nodiscard]] TurnMark markOf(TimeLedger& time, const ExpertStoreStats& experts);

/// Owner thread of the engine. Nothing here has a part in a result.
class TurnLog {
public:
  /// What is remembered of this model. Without a data folder, or when `options.recordUsage` is off, usage is kept for
  /// this run alone.
  static Result<std::unique_ptr<TurnLog>> open(const EngineOptions& options, const std::string& modelId,
                                               std::size_t experts);

  [[nodiscard]] UsageHistory& usage() { return *m_usage; }
  [[nodiscard]] const std::vector<TurnRecord>& turns() const { return m_turns.turns(); }
  /// The plan's predictor and the figures that records carry.
  void adopt(TurnPredictor predictor, const EnginePlan& plan, const std::string& drives);

  [[nodiscard]] Prediction predict(const TurnShape& shape, std::uint64_t slots) const;
  /// A turn that ended without an error: the marks at its begin, after its prompt and at its end, rows computed and
  /// tokens decoded after the first.
  void finished(const TurnMark& begin, const TurnMark& prompt, const TurnMark& end, std::int64_t promptRows,
                std::int64_t decodedRows, std::uint64_t residentAtStart, std::uint64_t slots,
                const Prediction& predicted);
  /// Writes the usage history. Called after turns, at most every few seconds, and at the end.
  void save();
  /// Sentences about what could not be read or written, each once.
  [[nodiscard]] std::vector<std::string> takeNotices();

private:
  TurnLog() = default;
  void notice(const std::string& sentence);

  std::filesystem::path m_folder;  ///< empty: nothing is written
  std::string m_modelId;
  bool m_savesUsage = false;
  std::unique_ptr<UsageHistory> m_usage;
  TurnHistory m_turns;
  TurnPredictor m_predictor;
  TurnRecord m_template;
  std::uint64_t m_savedAccesses = 0;
  std::vector<std::string> m_notices;
  std::vector<std::string> m_told;
};

}  // namespace colibri
