#pragma once
// Attention over a sliding window and compressed entries, one shared key/value vector, with a sink (spec
// deepseek-v4 3.5, deepseek-v41 3.6).

#include "model/pass.h"
#include "model/rotary.h"
#include "model/state.h"

namespace colibri {

/// One pass through layer `layer`'s attention: x [rows][D] (normed) in, out [rows][D]; reads and writes the layer's
/// state, and reads that of the layers whose entries and choice it uses. prepareRotary() must have been called for
/// these rows.
void attend(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, SequenceState& state,
            const float* x, float* out);
/// The part of it that later rows need of rows whose own output nobody needs: their keys and entries.
void feedAttention(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer,
                   SequenceState& state, const float* x);

}  // namespace colibri
