#pragma once
// The Session that the public header promises.

#include "model/state.h"
#include "model/trace.h"
#include "session/engine_core.h"
#include "session/sampler.h"
#include "telemetry/time_split.h"
#include <colibri/session.h>

#include <limits>
#include <memory>
#include <vector>

namespace colibri {

class SessionCore final : public Session {
public:
  SessionCore(std::shared_ptr<EngineCore> engine, std::unique_ptr<SequenceState> state);

  using Session::generate;
  using Session::sync;
  Status sync(const ModelInput& input, const Cancellation& cancellation,
              const std::function<void(const PrefillEvent&)>& progress) override;
  Status append(TokenId token, const Cancellation& cancellation) override;
  [[nodiscard]] std::span<const TokenId> tokens() const override { return m_tokens; }
  [[nodiscard]] std::span<const float> logits() const override;
  Result<Answer> generate(const ModelInput& prompt, const GenerateOptions& options, const Cancellation& cancellation,
                          const GenerateCallbacks& callbacks) override;
  void reset() override;

  /// Computes `tokens` behind the present state in passes of any size; `all` gets one row of logits per token when it
  /// is not null. `images`: those of the whole sequence. A prompt of which neither all logits nor a trace are wanted is
  /// computed only as far as its last token and later ones need it. For teacher forcing.
  Status extend(Phase phase, std::span<const TokenId> tokens, std::span<const PlacedImage> images,
                const Cancellation& cancellation, Trace* trace, std::vector<float>* all,
                const std::function<void(double)>& done = {});
  /// kUsage when an image's place or size is wrong, kUnavailable when the model takes none.
  Status checkImages(const ModelInput& input) const;
  [[nodiscard]] EngineCore& engine() { return *m_engine; }
  [[nodiscard]] SequenceState& state() { return *m_state; }
  /// Tokens that the last sync() did not have to compute.
  [[nodiscard]] std::int64_t reusedTokens() const { return m_reused; }

private:
  static constexpr int kNeverDecoded = std::numeric_limits<int>::max();
  Status checkTokens(std::span<const TokenId> tokens) const;
  /// Tokens of a prompt that are not held already.
  [[nodiscard]] std::int64_t toCompute(const ModelInput& prompt) const;
  /// Tokens at the beginning that the state shares with `input`, and that a prompt would have computed alike.
  [[nodiscard]] int sharedWith(const ModelInput& input) const;
  /// Whether the state at `position` can go on to a prompt that ends at `end`.
  [[nodiscard]] bool reaches(int position, int incompleteUntil, int end) const;
  int rewindFor(const ModelInput& input);
  void restore(const SequenceState::Snapshot& snapshot);
  void recover();
  void keepSnapshot();
  /// For each of `count` tokens from `first` on its image's embedding, or null; empty when no image is among them.
  std::span<const float* const> embeddingsOf(std::span<const PlacedImage> images, std::int64_t first,
                                             std::size_t count);

  std::shared_ptr<EngineCore> m_engine;
  std::unique_ptr<SequenceState> m_state;
  std::vector<TokenId> m_tokens;
  std::vector<PlacedImage> m_images;       ///< of m_tokens
  std::vector<const float*> m_embeddings;  ///< of the tokens being computed
  int m_decodedFrom = kNeverDecoded;       ///< first token that was not computed as part of a prompt
  std::vector<float> m_logits;
  bool m_logitsValid = false;
  std::vector<SequenceState::Snapshot> m_snapshots;  ///< ascending positions of the held tokens
  std::int64_t m_reused = 0;
  TimeLedger* m_time = nullptr;  ///< the running answer's, or null
  Sampler m_sampler;
};

}  // namespace colibri
