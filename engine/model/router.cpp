#include "model/router.h"

#include "model/linear.h"

#include <algorithm>

namespace colibri {

void route(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
           const float* x) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int k = c.expertsPerToken;
  const int experts = weights.experts;
  linear(model, x, pass.rows, c.hiddenSize, weights.gate, w.routerLogits, experts, Rounding::kNone);
  for (int row = 0; row < pass.rows; ++row) {
    float* scores = w.routerLogits + static_cast<std::ptrdiff_t>(row) * experts;
    std::int32_t* ids = w.routerIds + static_cast<std::ptrdiff_t>(row) * k;
    float* chosen = w.routerWeights + static_cast<std::ptrdiff_t>(row) * k;
    model.kernels.sqrtSoftplus(scores, scores, experts);
    if (spec.router == RouterKind::kHash) {
      const auto token = static_cast<std::size_t>(pass.tokens[static_cast<std::size_t>(row)]);
      std::copy_n(weights.hashTable.data() + token * static_cast<std::size_t>(k), k, ids);
      for (int i = 0; i < k; ++i) chosen[i] = scores[ids[i]];
    } else {
      // The bias decides who is chosen, never how much: the weights come from the unbiased scores.
      float* biased = w.routerBiased;
      std::copy_n(scores, experts, biased);
      const bool image = weights.gateImageBias != nullptr && pass.isImage(row);
      model.kernels.add(image ? weights.gateImageBias : weights.gateBias, biased, experts);
      topK(biased, experts, k, ids);
      for (int i = 0; i < k; ++i) chosen[i] = scores[ids[i]];
    }
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += chosen[i];
    for (int i = 0; i < k; ++i) chosen[i] = chosen[i] / sum * static_cast<float>(c.routedScale);
  }
}

}  // namespace colibri
