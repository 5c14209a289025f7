#include "model/layer_plan.h"

namespace colibri {

LayerPlan LayerPlan::make(const ModelConfig& config) {
  LayerPlan plan;
  for (int layer = 0; layer < config.layers; ++layer) {
    LayerSpec spec;
    spec.ratio = config.compressRatios[static_cast<std::size_t>(layer)];
    spec.indexer = spec.ratio == 4;
    spec.overlap = spec.ratio == 4;
    spec.router = layer < config.hashLayers ? RouterKind::kHash : RouterKind::kScore;
    spec.rope = spec.ratio == 0 ? RopeKind::kPlain : RopeKind::kCompressed;
    plan.layers.push_back(spec);
  }
  return plan;
}

}  // namespace colibri
