#pragma once
// One conversation's state on an Engine: computes prompts, generates answers.

#include <colibri/cancellation.h>
#include <colibri/event.h>
#include <colibri/image.h>
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// temperature 0 is greedy. Filters apply in this order: top-k, top-p, min-p.
struct Sampling {
  double temperature = 0;
  int topK = 0;            ///< 0: off
  double topP = 1;         ///< 1: off
  double minP = 0;         ///< 0: off
  std::uint64_t seed = 0;  ///< with the token's position it names the random number, so no result depends on batching
};

struct GenerateOptions {
  std::int64_t maxTokens = -1;  ///< a ceiling; -1: until the context is full
  Sampling sampling;
  std::vector<std::string> stop;   ///< matched in the content across token borders; the match is not returned
  bool ignoreEos = false;          ///< end-of-sentence is never sampled
  bool startsInReasoning = false;  ///< the prompt ended in <think>
};

struct GenerateCallbacks {
  std::function<void(const PrefillEvent&)> prefill;  ///< at least each second
  std::function<void(const TokenEvent&)> token;
};

/// Not thread-safe: one caller at a time. After a cancel or an error the session can be used again at once.
class Session {
public:
  virtual ~Session() = default;

  /// Makes the state that of `input` (the whole prompt), reusing the longest prefix already computed.
  /// kUsage for an id outside the vocabulary or a prompt longer than the context (the state is unchanged); kCancelled,
  /// kIo.
  virtual Status sync(const ModelInput& input, const Cancellation& cancellation,
                      const std::function<void(const PrefillEvent&)>& progress = {}) = 0;
  /// The same for a prompt without images.
  Status sync(std::span<const TokenId> tokens, const Cancellation& cancellation,
              const std::function<void(const PrefillEvent&)>& progress = {}) {
    return sync(ModelInput{{tokens.begin(), tokens.end()}, {}}, cancellation, progress);
  }
  /// Computes one more token.
  virtual Status append(TokenId token, const Cancellation& cancellation) = 0;
  /// Tokens whose state is held.
  [[nodiscard]] virtual std::span<const TokenId> tokens() const = 0;
  /// Logits after the last computed token, vocab_size values; empty before the first.
  [[nodiscard]] virtual std::span<const float> logits() const = 0;
  /// Prefills `prompt` and generates. The answer holds what was generated also when cancelled or failed
  /// (finishReason kCancelled / kError); an error Status only when nothing could start.
  virtual Result<Answer> generate(const ModelInput& prompt, const GenerateOptions& options,
                                  const Cancellation& cancellation, const GenerateCallbacks& callbacks = {}) = 0;
  /// The same for a prompt without images.
  Result<Answer> generate(std::span<const TokenId> prompt, const GenerateOptions& options,
                          const Cancellation& cancellation, const GenerateCallbacks& callbacks = {}) {
    return generate(ModelInput{{prompt.begin(), prompt.end()}, {}}, options, cancellation, callbacks);
  }
  /// Forgets everything.
  virtual void reset() = 0;
};

}  // namespace colibri
