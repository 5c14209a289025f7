#pragma once
// The Session that the public header promises.

#include "model/state.h"
#include "model/trace.h"
#include "session/engine_core.h"
#include "session/sampler.h"
#include "telemetry/time_split.h"
#include <colibri/session.h>

#include <memory>
#include <vector>

namespace colibri {

class SessionCore final : public Session {
public:
  SessionCore(std::shared_ptr<EngineCore> engine, std::unique_ptr<SequenceState> state);

  Status sync(std::span<const TokenId> tokens, const Cancellation& cancellation,
              const std::function<void(const PrefillEvent&)>& progress) override;
  Status append(TokenId token, const Cancellation& cancellation) override;
  [[nodiscard]] std::span<const TokenId> tokens() const override { return m_tokens; }
  [[nodiscard]] std::span<const float> logits() const override;
  Result<Answer> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                          const Cancellation& cancellation, const GenerateCallbacks& callbacks) override;
  void reset() override;

  /// Computes `tokens` behind the present state in passes of any size; `all` gets one row of logits per token when it
  /// is not null. For teacher forcing.
  Status extend(Phase phase, std::span<const TokenId> tokens, const Cancellation& cancellation, Trace* trace,
                std::vector<float>* all, const std::function<void(double)>& done = {});
  [[nodiscard]] EngineCore& engine() { return *m_engine; }
  /// Tokens that the last sync() did not have to compute.
  [[nodiscard]] std::int64_t reusedTokens() const { return m_reused; }

private:
  Status checkTokens(std::span<const TokenId> tokens) const;
  /// Tokens of a prompt that are not held already.
  [[nodiscard]] std::int64_t toCompute(std::span<const TokenId> prompt) const;
  int rewindFor(std::span<const TokenId> tokens);
  void recover();
  void keepSnapshot();

  std::shared_ptr<EngineCore> m_engine;
  std::unique_ptr<SequenceState> m_state;
  std::vector<TokenId> m_tokens;
  std::vector<float> m_logits;
  bool m_logitsValid = false;
  std::vector<SequenceState::Snapshot> m_snapshots;  ///< ascending positions of the held tokens
  std::int64_t m_reused = 0;
  TimeLedger* m_time = nullptr;  ///< the running answer's, or null
  Sampler m_sampler;
};

}  // namespace colibri
