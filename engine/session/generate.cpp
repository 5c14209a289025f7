// Session::generate: the loop from prompt to answer.

#include "plan/model_plan.h"
#include "session/session_core.h"
#include "session/stop_matcher.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace colibri {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Splits generated text into reasoning and content, and looks for stop strings in the content alone.
class AnswerText {
public:
  AnswerText(const GenerateOptions& options) : m_inReasoning(options.startsInReasoning), m_stops(options.stop) {}

  // Takes new text; returns what may be shown of it now.
  std::string push(std::string_view text, Answer& answer) {
    std::string shown;
    if (m_inReasoning) {
      m_pending += text;
      const std::size_t end = m_pending.find(kClose);
      if (end == std::string::npos) {
        // A tag may arrive in pieces: what could be its beginning waits.
        std::size_t keep = std::min(m_pending.size(), kClose.size() - 1);
        while (keep > 0 && m_pending.compare(m_pending.size() - keep, keep, kClose, 0, keep) != 0) --keep;
        answer.reasoning.append(m_pending, 0, m_pending.size() - keep);
        m_pending.erase(0, m_pending.size() - keep);
        return std::string(text);
      }
      answer.reasoning.append(m_pending, 0, end);
      const std::string rest = m_pending.substr(end + kClose.size());
      m_pending.clear();
      m_inReasoning = false;
      shown = text.substr(0, text.size() - std::min(text.size(), rest.size()));
      text = {};
      return shown + content(rest, answer);
    }
    return content(text, answer);
  }

  std::string finish(Answer& answer) {
    answer.reasoning += std::exchange(m_pending, {});
    std::string rest = m_stops.finish();
    answer.text += rest;
    return rest;
  }

  [[nodiscard]] bool stopped() const { return m_stops.matched(); }

private:
  static constexpr std::string_view kClose = "</think>";

  std::string content(std::string_view text, Answer& answer) {
    std::string released = m_stops.push(text);
    answer.text += released;
    return released;
  }

  bool m_inReasoning;
  std::string m_pending;
  StopMatcher m_stops;
};

// Tokens that end a turn: end-of-sentence, and headers of another turn (they are never printed).
std::vector<TokenId> endOfTurn(const EngineCore& engine) {
  std::vector<TokenId> ids{engine.config().eosToken};
  if (engine.tokenizer() == nullptr) return ids;
  for (const std::string_view text : {"<｜User｜>", "<｜Assistant｜>", "<｜System｜>"}) {
    if (const auto id = engine.tokenizer()->find(text)) ids.push_back(*id);
  }
  return ids;
}

ExpertUse expertUse(const ExpertStoreStats& before, const ExpertStoreStats& after,
                    const std::vector<DriveCounters>& drivesBefore, std::vector<DriveCounters> drives) {
  ExpertUse use;
  use.requests = after.requests - before.requests;
  use.hits = after.hits - before.hits;
  use.misses = after.misses - before.misses;
  use.compulsoryMisses = after.compulsoryMisses - before.compulsoryMisses;
  use.bytesMissed = after.bytesMissed - before.bytesMissed;
  use.bytesRead = after.bytesRead - before.bytesRead;
  use.prefetched = after.prefetched - before.prefetched;
  use.prefetchedUsed = after.prefetchedUsed - before.prefetchedUsed;
  use.prefetchedUnused = after.prefetchedUnused - before.prefetchedUnused;
  use.busySeconds = after.readSeconds - before.readSeconds;
  use.readBytesPerSecond = use.busySeconds > 0 ? static_cast<double>(use.bytesRead) / use.busySeconds : 0;
  for (std::size_t i = 0; i < drives.size() && i < drivesBefore.size(); ++i) {
    drives[i].bytesRead -= drivesBefore[i].bytesRead;
    drives[i].requests -= drivesBefore[i].requests;
    drives[i].busySeconds -= drivesBefore[i].busySeconds;
  }
  use.disks = std::move(drives);
  return use;
}

EngramUse since(const EngramUse& before, EngramUse now) {
  now.rows -= before.rows;
  now.rowHits -= before.rowHits;
  now.bytesRead -= before.bytesRead;
  now.waitSeconds -= before.waitSeconds;
  return now;
}

void fillTimings(Answer& answer, TimeLedger& time, double prefill, double firstToken, double load) {
  time.enter(TimeCause::kOther);
  Timings& t = answer.timings;
  t.loadSeconds = load;
  t.prefillSeconds = prefill;
  t.decodeSeconds = std::max(0.0, time.total() - prefill);
  t.firstTokenSeconds = firstToken;
  const double afterFirst = time.total() - firstToken;
  if (answer.completionTokens > 1 && afterFirst > 0) {
    t.decodeTokensPerSecond = static_cast<double>(answer.completionTokens - 1) / afterFirst;
  }
  t.split = splitOf(time);
}

}  // namespace

Result<Answer> SessionCore::generate(const ModelInput& prompt, const GenerateOptions& options,
                                     const Cancellation& cancellation, const GenerateCallbacks& callbacks) {
  TimeLedger time(m_engine->spans());
  const auto start = Clock::now();
  ExpertStore& experts = m_engine->experts();
  const TurnMark begin = markOf(time, experts.stats());
  const std::vector<DriveCounters> drivesBefore = m_engine->drives();
  const EngramUse engramBefore = m_engine->engramUse();
  const std::uint64_t resident = m_engine->residentExperts();
  m_time = &time;
  Answer answer;
  std::int64_t limit = m_state->context() - static_cast<std::int64_t>(prompt.tokens.size());
  if (options.maxTokens >= 0) limit = std::min(limit, options.maxTokens);
  // Without a limit of its own an answer mostly ends long before the context does.
  const std::int64_t likely = options.maxTokens >= 0 ? limit : std::min(limit, kTypicalTurn.answerTokens);
  answer.prediction = m_engine->predict(toCompute(prompt), likely);
  Status status = sync(prompt, cancellation, callbacks.prefill);
  if (!status.isOk() && status.code() != Code::kCancelled) {
    m_time = nullptr;
    return status;
  }
  const double prefill = secondsSince(start);
  const TurnMark prompted = markOf(time, experts.stats());
  double firstToken = prefill;
  answer.promptTokens = static_cast<std::int64_t>(prompt.tokens.size());
  answer.reusedTokens = m_reused;

  AnswerText text(options);
  const Tokenizer* tokenizer = m_engine->tokenizer();
  std::optional<StreamingDetokenizer> detokenizer;
  if (tokenizer != nullptr) detokenizer.emplace(*tokenizer);
  const std::vector<TokenId> ends = endOfTurn(*m_engine);
  const TokenId banned = options.ignoreEos ? ends.front() : -1;
  answer.finishReason = FinishReason::kLength;
  while (status.isOk() && answer.completionTokens < limit) {
    if (cancellation.isCancelled()) {
      status = Status(Code::kCancelled, "cancelled", "Stopped.");
      break;
    }
    const auto position = static_cast<std::uint64_t>(m_tokens.size());
    const TokenId token = m_sampler.choose(m_logits, options.sampling, position, banned);
    TokenEvent event;
    event.id = token;
    event.logprob = Sampler::logprob(m_logits, token);
    answer.tokens.push_back(token);
    ++answer.completionTokens;
    const bool ended = std::find(ends.begin(), ends.end(), token) != ends.end() && token != banned;
    // What this token is certain to need, experts and n-gram rows, is read while its text is shown.
    if (!ended && answer.completionTokens < limit) m_engine->transformer().announce(token, *m_state);
    if (!ended && detokenizer) event.text = text.push(detokenizer->push(token), answer);
    if (answer.completionTokens == 1) firstToken = secondsSince(start);
    if (callbacks.token) callbacks.token(event);
    if (ended || text.stopped()) {
      answer.finishReason = FinishReason::kStop;
      break;
    }
    if (answer.completionTokens == limit) break;
    status = append(token, cancellation);
  }
  if (!status.isOk()) {
    answer.finishReason = status.code() == Code::kCancelled ? FinishReason::kCancelled : FinishReason::kError;
    answer.error = status;
  }
  m_time = nullptr;
  if (detokenizer) {
    std::string rest = text.push(detokenizer->finish(), answer);
    rest += text.finish(answer);
    if (!rest.empty() && callbacks.token) callbacks.token(TokenEvent{-1, rest, 0});
  }
  fillTimings(answer, time, prefill, firstToken, m_engine->loadSeconds());
  const TurnMark end = markOf(time, experts.stats());
  answer.experts = expertUse(begin.experts, end.experts, drivesBefore, m_engine->drives());
  answer.engram = since(engramBefore, m_engine->engramUse());
  answer.memoryBudgetBytes = static_cast<std::int64_t>(m_engine->plan().budgetBytes);
  answer.memoryPeakBytes = m_engine->ledger()->peak();
  answer.anonymousPeakBytes = static_cast<std::int64_t>(m_engine->anonymousPeak());
  TurnLog& log = m_engine->log();
  if (status.isOk()) {
    log.finished(begin, prompted, end, answer.promptTokens - answer.reusedTokens,
                 std::max<std::int64_t>(answer.completionTokens - 1, 0), resident, experts.slots(), answer.prediction);
  }
  log.save();
  m_engine->addNotices(log.takeNotices());
  answer.notices = m_engine->takeNotices();
  return answer;
}

}  // namespace colibri
