#pragma once
// Chooses which compressed entries each query attends to (spec deepseek-v4 3.7).

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// Fills work.indexChoice [rows][KI], best first, -1 behind the last. x: attention input [rows][D]; qLora: what
/// indexer.wq_b reads (quantised in the vendor profile). state.indexKeys must hold every entry visible to these rows.
void chooseEntries(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                   const LayerState& state, const float* x, const float* qLora);

}  // namespace colibri
