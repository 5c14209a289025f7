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

/// What a forward call gives back besides the state.
struct ForwardOutput {
  enum class Logits { kNone, kLast, kAll };
  Logits want = Logits::kLast;
  Phase phase = Phase::kPrefill;
  bool predicts = false;    ///< decode guesses the next layer's experts and reads them ahead
  float* logits = nullptr;  ///< [vocab], or [tokens][vocab] for kAll
  Trace* trace = nullptr;   ///< appended to when given
};

/// Borrows everything in its context. One caller at a time.
class Transformer {
public:
  Transformer(const ModelContext& model) : m_model(model), m_tables(RotaryTables::make(model.config)) {}

  /// Computes `tokens` (at most limits.segment) behind state's position and advances it. `done` is told the tokens
  /// whose layers are finished, in fractions of the call, at least once a layer. On error or cancel the state is torn:
  /// clear or restore it before the next call. Token ids must be valid.
  Status forward(SequenceState& state, std::span<const TokenId> tokens, const ForwardOutput& output,
                 const Cancellation& cancellation, TimeLedger& time, const std::function<void(double)>& done = {});

  /// `tokens` will be the next call's: reads of experts that they are certain to need begin now.
  void announce(std::span<const TokenId> tokens) { m_lookahead.begin(m_model, tokens); }

  [[nodiscard]] const ModelContext& context() const { return m_model; }
  [[nodiscard]] const RotaryTables& rotary() const { return m_tables; }

private:
  void embed(std::span<const TokenId> tokens);
  Status waitForDense(int layer, const Cancellation& cancellation, TimeLedger& time);
  Status layerPass(int layer, LayerState& state, const Pass& pass, float* streams);
  void head(const float* streams, float* logits);

  ModelContext m_model;
  RotaryTables m_tables;
  ExpertLookahead m_lookahead;
};

}  // namespace colibri
