#pragma once
// Chooses which compressed entries each query attends to (spec deepseek-v4 3.7, deepseek-v41 3.8).

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// Fills work.choice [segment rows][KI] of the pass's rows, best first, -1 behind the last; a layer that chooses
/// candidates fills work.candidates too. x: attention input [rows][D]; qLora: what indexer.wq_b reads (quantised in the
/// vendor profile). The caches must hold every entry visible to these rows. The layer chooses (LayerSpec::chooses).
void chooseEntries(const ModelContext& model, const Pass& pass, int layer, const SequenceState& state, const float* x,
                   const float* qLora);

}  // namespace colibri
