#pragma once
// Pools runs of tokens into compressed entries (spec deepseek-v4 3.6, deepseek-v41 3.7), for attention and for the
// indexer alike.

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// Feeds the pass's rows x [rows][D] to layer `layer`'s compressors: finished entries and their index keys go into the
/// layer's caches. The layer makes entries (LayerSpec::owns).
void compress(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, const float* x,
              SequenceState& state);

}  // namespace colibri
