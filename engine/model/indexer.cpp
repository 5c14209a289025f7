#include "model/indexer.h"

#include "model/linear.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

void prepareQueries(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                    const float* x, const float* qLora) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int width = c.indexHeads * c.indexHeadDim;
  linear(model, qLora, pass.rows, c.qLoraRank, weights.indexWqB, w.indexQuery, width, Rounding::kBf16);
  linear(model, x, pass.rows, c.hiddenSize, weights.indexWeights, w.indexWeight, c.indexHeads, Rounding::kBf16);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.indexHeadDim)) /
                                        std::sqrt(static_cast<double>(c.indexHeads)));
  model.team.run(pass.rows, static_cast<std::int64_t>(pass.rows) * width * 16, [&](int row, int) {
    float* weight = w.indexWeight + static_cast<std::ptrdiff_t>(row) * c.indexHeads;
    for (int head = 0; head < c.indexHeads; ++head) weight[head] *= scale;
    roundVendor(model, weight, c.indexHeads);
    for (int head = 0; head < c.indexHeads; ++head) {
      float* q =
          w.indexQuery + static_cast<std::ptrdiff_t>(row) * width + static_cast<std::ptrdiff_t>(head) * c.indexHeadDim;
      rotate(model, spec.rope, row, q, c.indexHeadDim, false);
      model.kernels.hadamard(q, c.indexHeadDim);
      roundVendor(model, q, c.indexHeadDim);
      if (model.vendor()) model.kernels.qdqE2m1(q, q, c.indexHeadDim);
    }
  });
}

}  // namespace

void chooseEntries(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                   const LayerState& state, const float* x, const float* qLora) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const auto visible = [&](int row) { return (pass.position + row + 1) / spec.ratio; };
  const bool scoring = visible(pass.rows - 1) > c.indexTopK;
  if (scoring) prepareQueries(model, pass, spec, weights, x, qLora);
  const std::ptrdiff_t scoreStride = w.limits.context / 4 + 1;
  const std::int64_t work =
      static_cast<std::int64_t>(pass.rows) * visible(pass.rows - 1) * c.indexHeads * c.indexHeadDim;
  model.team.run(pass.rows, scoring ? work : 0, [&](int row, int thread) {
    const int count = visible(row);
    std::int32_t* choice = w.indexChoice + static_cast<std::ptrdiff_t>(row) * c.indexTopK;
    const int chosen = std::min(count, c.indexTopK);
    std::fill(choice + chosen, choice + c.indexTopK, -1);
    if (count <= c.indexTopK) {
      for (int i = 0; i < chosen; ++i) choice[i] = i;
      return;
    }
    float* scores = w.indexScore + thread * scoreStride;
    model.kernels.indexScores(w.indexQuery + static_cast<std::ptrdiff_t>(row) * c.indexHeads * c.indexHeadDim,
                              w.indexWeight + static_cast<std::ptrdiff_t>(row) * c.indexHeads, c.indexHeads,
                              c.indexHeadDim, state.indexKeys, count, model.vendor(), scores);
    topK(scores, count, chosen, choice);
  });
}

}  // namespace colibri
