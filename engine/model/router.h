#pragma once
// Which experts each row goes to, and with what weight (spec deepseek-v4 3.8).

#include "model/pass.h"

namespace colibri {

/// Fills work.routerIds and work.routerWeights [rows][K] for x [rows][D]: score layers best first, hash layers in table
/// order.
void route(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
           const float* x);

}  // namespace colibri
