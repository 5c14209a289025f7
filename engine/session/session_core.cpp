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
  m_images.clear();
  m_decodedFrom = kNeverDecoded;
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

Status SessionCore::checkImages(const ModelInput& input) const {
  const ModelConfig& c = m_engine->config();
  if (input.images.empty()) return Status::ok();
  if (c.imageToken < 0) {
    return Status(Code::kUnavailable, "no_images", "This model takes no images; leave the image out.");
  }
  std::int64_t end = 0;
  for (const PlacedImage& placed : input.images) {
    const std::int64_t length = placed.image == nullptr ? 0 : placed.image->grid.tokens();
    const bool inside = placed.image != nullptr && placed.first >= end &&
                        placed.first + length <= static_cast<std::int64_t>(input.tokens.size());
    const auto begin = input.tokens.begin() + static_cast<std::ptrdiff_t>(inside ? placed.first : 0);
    if (!inside || std::any_of(begin, begin + static_cast<std::ptrdiff_t>(length),
                               [&](TokenId token) { return token != c.imageToken; })) {
      return Status(Code::kUsage, "image_place",
                    "An image's place in the prompt does not hold as many image tokens as the image has.");
    }
    const ImageGrid& grid = placed.image->grid;
    const std::size_t values = static_cast<std::size_t>(grid.rows) * static_cast<std::size_t>(grid.columns) *
                               static_cast<std::size_t>(c.hiddenSize);
    if (placed.image->rows.size() != values)
      return Status(Code::kUsage, "image_size", "An image was encoded for another model.");
    end = placed.first + length;
  }
  return Status::ok();
}

std::span<const float* const> SessionCore::embeddingsOf(std::span<const PlacedImage> images, std::int64_t first,
                                                        std::size_t count) {
  m_embeddings.clear();
  const ModelWeights& weights = m_engine->weights();
  const std::size_t width = weights.imageStart.size();
  for (const PlacedImage& placed : images) {
    const ImageGrid& grid = placed.image->grid;
    const std::int64_t from = std::max(first, placed.first);
    const std::int64_t to = std::min(first + static_cast<std::int64_t>(count), placed.first + grid.tokens());
    if (from < to) m_embeddings.resize(count, nullptr);
    for (std::int64_t at = from; at < to; ++at) {
      // Start, then for each row of the grid its cells and a newline, then end (spec deepseek-v41 6.4).
      const std::int64_t inside = at - placed.first - 1;
      const std::int64_t row = inside / (grid.columns + 1);
      const std::int64_t column = inside % (grid.columns + 1);
      const float* values = weights.imageStart.data();
      if (inside >= 0 && row == grid.rows) {
        values = weights.imageEnd.data();
      } else if (inside >= 0 && column == grid.columns) {
        values = weights.imageNewline.data();
      } else if (inside >= 0) {
        values = placed.image->rows.data() + static_cast<std::size_t>(row * grid.columns + column) * width;
      }
      m_embeddings[static_cast<std::size_t>(at - first)] = values;
    }
  }
  return m_embeddings;
}

int SessionCore::sharedWith(const ModelInput& input) const {
  const auto& tokens = input.tokens;
  auto common = static_cast<std::int64_t>(
      std::mismatch(m_tokens.begin(), m_tokens.end(), tokens.begin(), tokens.end()).first - m_tokens.begin());
  // Equal ids stand for equal images only where the same image stands at the same place.
  const auto same = std::mismatch(
      m_images.begin(), m_images.end(), input.images.begin(), input.images.end(),
      [](const PlacedImage& a, const PlacedImage& b) { return a.first == b.first && a.image->id == b.image->id; });
  if (same.first != m_images.end()) common = std::min(common, same.first->first);
  if (same.second != input.images.end()) common = std::min(common, same.second->first);
  // Tokens of an answer may have been computed with other index keys than those of a prompt.
  const EngineOptions& options = m_engine->options();
  if (options.indexKeys == IndexKeyRule::kVendor && !options.reuseGenerated) {
    const int divergent = std::max(m_decodedFrom, m_engine->layers().firstDivergence(m_engine->config().indexTopK));
    common = std::min(common, static_cast<std::int64_t>(divergent));
  }
  return static_cast<int>(common);
}

std::int64_t SessionCore::toCompute(const ModelInput& prompt) const {
  return static_cast<std::int64_t>(prompt.tokens.size()) - sharedWith(prompt);
}

bool SessionCore::reaches(int position, int incompleteUntil, int end) const {
  if (incompleteUntil <= position || end >= incompleteUntil) return true;
  return end - position >= m_engine->transformer().promptReach();
}

void SessionCore::restore(const SequenceState::Snapshot& snapshot) {
  m_state->restore(snapshot);
  m_tokens.resize(static_cast<std::size_t>(m_state->position()));
  while (!m_images.empty() && m_images.back().first >= m_state->position()) m_images.pop_back();
  if (m_decodedFrom >= m_state->position()) m_decodedFrom = kNeverDecoded;
  m_logitsValid = false;
}

// Brings the state to the longest usable prefix of `input` and returns its length. The last token is always left to
// compute, unless its logits are still there.
int SessionCore::rewindFor(const ModelInput& input) {
  const int total = static_cast<int>(input.tokens.size());
  const int common = sharedWith(input);
  const int held = m_state->position();
  if (common == held && (held < total || m_logitsValid) && reaches(held, m_state->incompleteUntil(), total - 1))
    return held;
  const int limit = std::min(common, total - 1);
  const auto useless = [&](const SequenceState::Snapshot& snapshot) {
    return snapshot.position > limit || !reaches(snapshot.position, snapshot.incompleteUntil, total - 1);
  };
  while (!m_snapshots.empty() && useless(m_snapshots.back())) m_snapshots.pop_back();
  if (m_snapshots.empty()) {
    reset();
    return 0;
  }
  restore(m_snapshots.back());
  return m_state->position();
}

// After a pass that did not finish, the layers disagree about the position: back to the last state that is whole.
void SessionCore::recover() {
  while (!m_snapshots.empty() && m_snapshots.back().position > m_state->position()) m_snapshots.pop_back();
  if (m_snapshots.empty()) {
    reset();
    return;
  }
  restore(m_snapshots.back());
}

void SessionCore::keepSnapshot() {
  if (m_snapshots.size() == kSessionSnapshots) m_snapshots.erase(m_snapshots.begin());
  // Without room for it the tokens are computed again one day; nothing else is lost.
  if (auto snapshot = m_state->snapshot()) m_snapshots.push_back(std::move(snapshot).value());
}

Status SessionCore::extend(Phase phase, std::span<const TokenId> tokens, std::span<const PlacedImage> images,
                           const Cancellation& cancellation, Trace* trace, std::vector<float>* all,
                           const std::function<void(double)>& done) {
  TimeLedger own(m_engine->spans());
  TimeLedger& time = m_time == nullptr ? own : *m_time;
  const auto segment = static_cast<std::size_t>(m_engine->limits().segment);
  const auto vocab = static_cast<std::size_t>(m_engine->config().vocabSize);
  const bool lastOnly = phase == Phase::kPrefill && all == nullptr && trace == nullptr;
  const int promptEnd = lastOnly ? m_state->position() + static_cast<int>(tokens.size()) : 0;
  for (std::size_t first = 0; first < tokens.size(); first += segment) {
    const std::span<const TokenId> part = tokens.subspan(first, std::min(segment, tokens.size() - first));
    if (first != 0) keepSnapshot();  // a cancelled later segment then costs only itself
    ForwardOutput output;
    output.trace = trace;
    output.phase = phase;
    output.promptEnd = promptEnd;
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
    const int position = m_state->position();
    const ForwardInput input{part, embeddingsOf(images, position, part.size())};
    const bool hadLogits = std::exchange(m_logitsValid, false);
    const auto start = std::chrono::steady_clock::now();
    if (phase != Phase::kPrefill) m_state->beginJournal();
    Status status = m_engine->transformer().forward(*m_state, input, output, cancellation, time, tell);
    m_state->journal().end();
    if (!status.isOk()) {
      if (phase != Phase::kPrefill && m_state->rollBack(position)) {
        m_logitsValid = hadLogits && all == nullptr;  // nothing wrote to them
      } else {
        recover();
      }
      return status;
    }
    m_tokens.insert(m_tokens.end(), part.begin(), part.end());
    for (const PlacedImage& placed : images) {
      if (placed.first >= position && placed.first < m_state->position()) m_images.push_back(placed);
    }
    if (phase != Phase::kPrefill) m_decodedFrom = std::min(m_decodedFrom, position);
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

Status SessionCore::sync(const ModelInput& input, const Cancellation& cancellation,
                         const std::function<void(const PrefillEvent&)>& progress) {
  const std::span<const TokenId> tokens = input.tokens;
  if (tokens.empty()) return Status(Code::kUsage, "empty_prompt", "The prompt is empty; give at least one token.");
  COLIBRI_RETURN_IF_ERROR(checkTokens(tokens));
  if (static_cast<int>(tokens.size()) > m_state->context()) {
    return Status(Code::kUsage, "context_full",
                  "The prompt has " + std::to_string(tokens.size()) + " tokens, but the context holds " +
                      std::to_string(m_state->context()) + ". Shorten it or raise --ctx.");
  }
  COLIBRI_RETURN_IF_ERROR(checkImages(input));
  const int from = rewindFor(input);
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
    COLIBRI_RETURN_IF_ERROR(extend(Phase::kPrefill, tokens.subspan(begin, end - begin), input.images, cancellation,
                                   nullptr, nullptr, tell));
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
  if (m_state->incompleteUntil() != 0) {
    // What is held is part of a prompt that was cancelled; only as a prompt can it go on.
    ModelInput input{m_tokens, m_images};
    input.tokens.push_back(token);
    return sync(input, cancellation, {});
  }
  return extend(Phase::kDecode, one, {}, cancellation, nullptr, nullptr);
}

}  // namespace colibri
