#pragma once
// The forward pass: embedding, layers, head. Works on any number of consecutive tokens; nothing depends on how they are
// cut.

#include "model/expert_lookahead.h"
#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"
#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <functional>
#include <memory>
#include <span>

namespace colibri {

/// Tokens of a forward call.
struct ForwardInput {
  std::span<const TokenId> tokens;
  /// Empty, or for each token null or its embedding [D] when its position belongs to an image.
  std::span<const float* const> images;
};

/// What a forward call gives back besides the state.
struct ForwardOutput {
  enum class Logits { kNone, kLast, kAll };
  Logits want = Logits::kLast;
  Phase phase = Phase::kPrefill;
  /// Where the prompt ends (the position behind its last token) when only what its last token and all later ones need
  /// is computed; 0: the outputs of every token. The state then is whole at that position (incompleteUntil()).
  int promptEnd = 0;
  bool predicts = false;    ///< decode guesses the next layer's experts and reads them ahead
  float* logits = nullptr;  ///< [vocab], or [tokens][vocab] for kAll
  Trace* trace = nullptr;   ///< appended to when given
};

/// Borrows everything in its context. One caller at a time.
class Transformer {
public:
  Transformer(const ModelContext& model) : m_model(model), m_tables(RotaryTables::make(model.config)) {}

  /// Computes `input` (at most limits.segment tokens) behind state's position and advances it. `done` is told the
  /// tokens whose layers are finished, in fractions of the call, at least once a layer. On error or cancel the state is
  /// torn: clear, restore or roll it back before the next call. Token ids must be valid.
  Status forward(SequenceState& state, const ForwardInput& input, const ForwardOutput& output,
                 const Cancellation& cancellation, TimeLedger& time, const std::function<void(double)>& done = {});

  /// `token` will be the next call's: reads of what it is certain to need begin now, experts and n-gram rows.
  void announce(TokenId token, SequenceState& state);
  /// Tokens before the end of a prompt whose outputs are needed at most when ForwardOutput::promptEnd is given; a rest
  /// of this length needs nothing of an incomplete state.
  [[nodiscard]] int promptReach() const;

  [[nodiscard]] const ModelContext& context() const { return m_model; }
  [[nodiscard]] const RotaryTables& rotary() const { return m_tables; }

private:
  struct Call;
  void embed(const ForwardInput& input);
  Status waitForDense(int layer, const Cancellation& cancellation, TimeLedger& time);
  Status layerRows(const Call& call, int layer, int from, int to, bool feedsOnly);
  Status layerPass(int layer, SequenceState& state, const Pass& pass, float* streams);
  Status feedPass(int layer, SequenceState& state, const Pass& pass, float* streams);
  Status collapseForAttention(int layer, SequenceState& state, const Pass& pass, float* streams);
  void head(int row, float* logits, Trace* trace);

  ModelContext m_model;
  RotaryTables m_tables;
  ExpertLookahead m_lookahead;
};

}  // namespace colibri
