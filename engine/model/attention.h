#pragma once
// Attention over a sliding window and compressed entries, one shared key/value vector, with a sink (spec
// deepseek-v4 3.5).

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// One pass through layer `layer`'s attention: x [rows][D] (normed) in, out [rows][D]; reads and writes the layer's
/// state. prepareRotary() must have been called for these rows.
void attend(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, LayerState& state,
            const float* x, float* out);

}  // namespace colibri
