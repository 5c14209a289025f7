#pragma once
// Hyper-connections: four residual streams mixed before and after each sublayer (spec deepseek-v4 3.2, 3.3, 3.10).

#include "model/pass.h"

namespace colibri {

/// hc_pre of `rows` rows of streams [m][D]: work.hidden gets the collapsed rows, work.post and work.comb what hc_post
/// needs.
void hyperCollapse(const ModelContext& model, const float* streams, int rows, const HyperWeights& weights);
/// hc_post: mixes work.sublayer into the rows of `streams`, in place.
void hyperExpand(const ModelContext& model, float* streams, int rows);
/// hc_head of one row: y [D].
void hyperHead(const ModelContext& model, const float* streams, float* y);

}  // namespace colibri
