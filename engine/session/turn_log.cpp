#include "session/turn_log.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace colibri {
namespace {

TurnPhase phaseBetween(const TurnMark& from, const TurnMark& to, std::int64_t rows) {
  TurnPhase phase;
  phase.tokens = rows;
  phase.seconds = to.seconds - from.seconds;
  phase.split.diskWaitSeconds = to.split.diskWaitSeconds - from.split.diskWaitSeconds;
  phase.split.expertSeconds = to.split.expertSeconds - from.split.expertSeconds;
  phase.split.denseSeconds = to.split.denseSeconds - from.split.denseSeconds;
  phase.split.attentionSeconds = to.split.attentionSeconds - from.split.attentionSeconds;
  phase.split.otherSeconds = to.split.otherSeconds - from.split.otherSeconds;
  phase.requests = to.experts.requests - from.experts.requests;
  phase.hits = to.experts.hits - from.experts.hits;
  phase.bytesRead = to.experts.bytesRead - from.experts.bytesRead;
  return phase;
}

}  // namespace

TimeSplit splitOf(const TimeLedger& time) {
  TimeSplit split;
  split.diskWaitSeconds = time.seconds(TimeCause::kDiskWait);
  split.expertSeconds = time.seconds(TimeCause::kExperts);
  split.denseSeconds = time.seconds(TimeCause::kDense);
  split.attentionSeconds = time.seconds(TimeCause::kAttention);
  split.otherSeconds = time.seconds(TimeCause::kOther);
  return split;
}

TurnMark markOf(TimeLedger& time, const ExpertStoreStats& experts) {
  time.enter(time.current());  // charges the time up to now
  return {time.total(), splitOf(time), experts};
}

Result<std::unique_ptr<TurnLog>> TurnLog::open(const EngineOptions& options, const std::string& modelId,
                                               std::size_t experts) {
  std::unique_ptr<TurnLog> log(new TurnLog());
  log->m_folder = options.dataFolder;
  log->m_modelId = modelId;
  log->m_savesUsage = options.recordUsage && !options.dataFolder.empty();
  COLIBRI_ASSIGN_OR_RETURN(
      log->m_usage,
      UsageHistory::load(options.recordUsage ? options.dataFolder : std::filesystem::path(), modelId, experts));
  log->m_turns = TurnHistory::load(options.dataFolder, modelId);
  log->notice(log->m_usage->notice());
  log->notice(log->m_turns.notice());
  log->m_savedAccesses = log->m_usage->accesses();
  return log;
}

void TurnLog::adopt(TurnPredictor predictor, const EnginePlan& plan, const std::string& drives) {
  m_predictor = std::move(predictor);
  m_template.isa = plan.isa;
  m_template.threads = plan.threads;
  m_template.drives = drives;
  m_template.segment = plan.prefillSegment;
  m_template.chunk = plan.prefillChunk;
  m_template.streamsDense = plan.streamsDense;
}

Prediction TurnLog::predict(const TurnShape& shape, std::uint64_t slots) const {
  TurnPredictor predictor = m_predictor;
  predictor.setSlots(slots);
  return predictor.predict(shape);
}

void TurnLog::finished(const TurnMark& begin, const TurnMark& prompt, const TurnMark& end, std::int64_t promptRows,
                       std::int64_t decodedRows, std::uint64_t residentAtStart, std::uint64_t slots,
                       const Prediction& predicted) {
  TurnRecord record = m_template;
  record.time =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  record.residentAtStart = residentAtStart;
  record.slots = slots;
  record.prefill = phaseBetween(begin, prompt, promptRows);
  record.decode = phaseBetween(prompt, end, decodedRows);
  const double reading = end.experts.readSeconds - begin.experts.readSeconds;
  if (reading > 0) {
    record.readBytesPerSecond = static_cast<double>(end.experts.bytesRead - begin.experts.bytesRead) / reading;
  }
  record.predictedDecodeTokensPerSecond = predicted.decodeTokensPerSecond;
  record.predictedFirstTokenSeconds = predicted.firstTokenSeconds;
  if (const Status status = m_turns.record(record); !status.isOk()) notice(status.message());
  m_predictor.learn(m_turns.turns());
}

void TurnLog::save() {
  if (!m_savesUsage || m_usage->accesses() == m_savedAccesses) return;
  m_savedAccesses = m_usage->accesses();
  if (const Status status = m_usage->save(m_folder, m_modelId); !status.isOk()) notice(status.message());
}

void TurnLog::notice(const std::string& sentence) {
  if (sentence.empty() || std::find(m_told.begin(), m_told.end(), sentence) != m_told.end()) return;
  m_told.push_back(sentence);
  m_notices.push_back(sentence);
}

std::vector<std::string> TurnLog::takeNotices() {
  return std::exchange(m_notices, {});
}

}  // namespace colibri
