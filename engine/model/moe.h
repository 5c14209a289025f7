#pragma once
// Mixture of experts: routed experts streamed from the store, one shared expert (spec deepseek-v4 3.9).

#include "model/pass.h"
#include <colibri/status.h>

namespace colibri {

/// out [rows][D] = routed experts in ascending id, then the shared one. x [rows][D] is the normed input.
/// A failed read or kCancelled leaves `out` undefined and no lease behind.
Status mixExperts(const ModelContext& model, const Pass& pass, int layer, const float* x, float* out);

}  // namespace colibri
