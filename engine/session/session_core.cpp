#include "session/session_core.h"

#include "plan/model_plan.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace colibri {

SessionCore::SessionCore(std::shared_ptr<EngineCore> engine, std::unique_ptr<SequenceState> state)
    : m_engine(std::move(engine)), m_state(std::move(state)) {
  m_logits.resize(static_cast<std::size_t>(m_engine->config().vocabSize));
}

std::span<const float> SessionCore::logits() const {
  return m_logitsValid ? std::span<const float>(m_logits) : std::span<const float>();
}

void SessionCore::reset() {
  m_state->clear();
  m_tokens.clear();
  m_snapshots.clear();
  m_logitsValid = false;
}

Status SessionCore::checkTokens(std::span<const TokenId> tokens) const {
  const int vocab = m_engine->config().vocabSize;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || tokens[i] >= vocab) {
      return Status(Code::kUsage, "token_out_of_range",
                    "Token " + std::to_string(tokens[i]) + " at position " + std::to_string(i) +
                        " is not in the model's vocabulary (0 to " + std::to_string(vocab - 1) + ").");
    }
  }
  return Status::ok();
}

std::int64_t SessionCore::toCompute(std::span<const TokenId> prompt) const {
  const auto common = std::mismatch(m_tokens.begin(), m_tokens.end(), prompt.begin(), prompt.end()).second;
  return prompt.end() - common;
}

// Brings the state to the longest usable prefix of `tokens` and returns its length. The last token is always left to
// compute, unless its logits are still there.
int SessionCore::rewindFor(std::span<const TokenId> tokens) {
  const auto common = static_cast<int>(
      std::mismatch(m_tokens.begin(), m_tokens.end(), tokens.begin(), tokens.end()).first - m_tokens.begin());
  const int held = m_state->position();
  if (common == held && (held < static_cast<int>(tokens.size()) || m_logitsValid)) return held;
  const int limit = std::min(common, static_cast<int>(tokens.size()) - 1);
  while (!m_snapshots.empty() && m_snapshots.back().position > limit) m_snapshots.pop_back();
  if (m_snapshots.empty()) {
    reset();
    return 0;
  }
  m_state->restore(m_snapshots.back());
  m_tokens.resize(static_cast<std::size_t>(m_state->position()));
  m_logitsValid = false;
  return m_state->position();
}

// After a pass that did not finish, the layers disagree about the position: back to the last state that is whole.
void SessionCore::recover() {
  m_logitsValid = false;
  while (!m_snapshots.empty() && m_snapshots.back().position > m_state->position()) m_snapshots.pop_back();
  if (m_snapshots.empty()) {
    reset();
    return;
  }
  m_state->restore(m_snapshots.back());
  m_tokens.resize(static_cast<std::size_t>(m_state->position()));
}

void SessionCore::keepSnapshot() {
  if (m_snapshots.size() == kSessionSnapshots) m_snapshots.erase(m_snapshots.begin());
  // Without room for it the tokens are computed again one day; nothing else is lost.
  if (auto snapshot = m_state->snapshot()) m_snapshots.push_back(std::move(snapshot).value());
}

Status SessionCore::extend(Phase phase, std::span<const TokenId> tokens, const Cancellation& cancellation, Trace* trace,
                           std::vector<float>* all, const std::function<void(double)>& done) {
  TimeLedger own(m_engine->spans());
  TimeLedger& time = m_time == nullptr ? own : *m_time;
  const auto segment = static_cast<std::size_t>(m_engine->limits().segment);
  const auto vocab = static_cast<std::size_t>(m_engine->config().vocabSize);
  for (std::size_t first = 0; first < tokens.size(); first += segment) {
    const std::span<const TokenId> part = tokens.subspan(first, std::min(segment, tokens.size() - first));
    if (first != 0) keepSnapshot();  // a cancelled later segment then costs only itself
    ForwardOutput output;
    output.trace = trace;
    output.phase = phase;
    output.predicts = phase == Phase::kDecode && m_engine->prefetching().active();
    if (all != nullptr) {
      output.want = ForwardOutput::Logits::kAll;
      all->resize(all->size() + part.size() * vocab);
      output.logits = all->data() + (all->size() - part.size() * vocab);
    } else {
      output.want = first + part.size() == tokens.size() ? ForwardOutput::Logits::kLast : ForwardOutput::Logits::kNone;
      output.logits = m_logits.data();
    }
    const auto tell = [&](double fraction) {
      if (done)
        done((static_cast<double>(first) + fraction * static_cast<double>(part.size())) /
             static_cast<double>(tokens.size()));
    };
    m_logitsValid = false;
    const auto start = std::chrono::steady_clock::now();
    Status status = m_engine->transformer().forward(*m_state, part, output, cancellation, time, tell);
    if (!status.isOk()) {
      recover();
      return status;
    }
    m_tokens.insert(m_tokens.end(), part.begin(), part.end());
    m_engine->guardMemory();
    if (phase != Phase::kDecode) continue;
    const ExpertStoreStats stats = m_engine->experts().stats();
    m_engine->prefetching().tokenDone(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
                                      stats.prefetchedUsed, stats.prefetchedUnused);
  }
  if (all != nullptr && !all->empty())
    std::copy(all->end() - static_cast<std::ptrdiff_t>(vocab), all->end(), m_logits.begin());
  m_logitsValid = !tokens.empty() || m_logitsValid;
  return Status::ok();
}

Status SessionCore::sync(std::span<const TokenId> tokens, const Cancellation& cancellation,
                         const std::function<void(const PrefillEvent&)>& progress) {
  if (tokens.empty()) return Status(Code::kUsage, "empty_prompt", "The prompt is empty; give at least one token.");
  COLIBRI_RETURN_IF_ERROR(checkTokens(tokens));
  if (static_cast<int>(tokens.size()) > m_state->context()) {
    return Status(Code::kUsage, "context_full",
                  "The prompt has " + std::to_string(tokens.size()) + " tokens, but the context holds " +
                      std::to_string(m_state->context()) + ". Shorten it or raise --ctx.");
  }
  const int from = rewindFor(tokens);
  m_reused = from;
  const auto total = static_cast<std::int64_t>(tokens.size());
  const auto start = std::chrono::steady_clock::now();
  auto lastTold = start;
  if (progress) progress({from, total, 0});

  // A next prompt mostly shares all but the last token of this one (it ends in <think>, the next continues otherwise),
  // so the state before the last token is kept.
  std::size_t done = static_cast<std::size_t>(from);
  const std::size_t beforeLast = tokens.size() - 1;
  const auto part = [&](std::size_t end) -> Status {
    const std::size_t begin = done;
    if (begin == end) return Status::ok();
    const auto tell = [&](double fraction) {
      const auto now = std::chrono::steady_clock::now();
      if (!progress || now - lastTold < std::chrono::milliseconds(100)) return;
      lastTold = now;
      const double at = static_cast<double>(begin) + fraction * static_cast<double>(end - begin);
      const double elapsed = std::chrono::duration<double>(now - start).count();
      const double rate = (at - from) / elapsed;
      progress({static_cast<std::int64_t>(at), total, rate > 0 ? (static_cast<double>(total) - at) / rate : 0});
    };
    COLIBRI_RETURN_IF_ERROR(
        extend(Phase::kPrefill, tokens.subspan(begin, end - begin), cancellation, nullptr, nullptr, tell));
    done = end;
    return Status::ok();
  };
  if (beforeLast > done) {
    COLIBRI_RETURN_IF_ERROR(part(beforeLast));
    keepSnapshot();
  }
  COLIBRI_RETURN_IF_ERROR(part(tokens.size()));
  if (progress) progress({total, total, 0});
  return Status::ok();
}

Status SessionCore::append(TokenId token, const Cancellation& cancellation) {
  const std::span<const TokenId> one(&token, 1);
  COLIBRI_RETURN_IF_ERROR(checkTokens(one));
  if (m_state->position() >= m_state->context()) {
    return Status(Code::kUsage, "context_full",
                  "The context of " + std::to_string(m_state->context()) + " tokens is full.");
  }
  return extend(Phase::kDecode, one, cancellation, nullptr, nullptr);
}

}  // namespace colibri
