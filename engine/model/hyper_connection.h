#pragma once
// Hyper-connections: four residual streams mixed before and after each sublayer (spec deepseek-v4 3.2, 3.3, 3.10).

#include "model/pass.h"

namespace colibri {

/// hc_pre of `rows` rows of streams [m][D], the segment's rows from `first` on: work.hidden gets the collapsed rows,
/// work.post and work.comb what hc_post needs. Where the plan's mix is lagged, rows are collapsed by the mix that the
/// sublayer before left in work.carriedMix, which gets this one's (spec deepseek-v41 3.2).
void hyperCollapse(const ModelContext& model, const float* streams, int first, int rows, const HyperWeights& weights);
/// The mix that the first sublayer of rows [first, first + rows) uses where the plan's mix is lagged: the first stream.
void startMix(const ModelContext& model, int first, int rows);
/// hc_post: mixes work.sublayer into the rows of `streams`, in place.
void hyperExpand(const ModelContext& model, float* streams, int rows);
/// Collapses one row, the segment's row `row`, for the head: y [D].
void hyperHead(const ModelContext& model, const float* streams, int row, float* y);

}  // namespace colibri
