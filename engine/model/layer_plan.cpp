#include "model/layer_plan.h"

#include <algorithm>
#include <limits>

namespace colibri {
namespace {

// V4: every layer with a ratio has its own compressor; ratio 4 overlaps and is chosen from.
void addOwnSources(const ModelConfig& config, LayerPlan& plan) {
  for (int layer = 0; layer < config.layers; ++layer) {
    LayerSpec& spec = plan.layers[static_cast<std::size_t>(layer)];
    spec.overlap = spec.ratio == 4;
    if (spec.ratio == 0) continue;
    spec.kvSource = layer;
    spec.pooled = true;
    spec.positionBias = true;
    if (spec.overlap) {
      spec.indexSource = layer;
      spec.indexKeys = IndexKeys::kOwnCompressor;
    }
  }
}

// V4.1: the largest source up to a layer serves it (spec deepseek-v41 3.4).
void addSharedSources(const ModelConfig& config, LayerPlan& plan) {
  const auto sourceOf = [](const std::vector<int>& sources, int layer) {
    const auto above = std::upper_bound(sources.begin(), sources.end(), layer);
    return above == sources.begin() ? -1 : *(above - 1);
  };
  for (int layer = 0; layer < config.layers; ++layer) {
    LayerSpec& spec = plan.layers[static_cast<std::size_t>(layer)];
    if (spec.ratio == 0) continue;
    spec.kvSource = sourceOf(config.kvSourceLayers, layer);
    spec.indexSource = sourceOf(config.indexSourceLayers, layer);
    spec.pooled = spec.ratio > 1;
    if (spec.owns(layer)) spec.indexKeys = IndexKeys::kFromEntry;
    if (config.candidateSourceLayer >= 0 && spec.chooses(layer)) {
      spec.candidates = layer == config.candidateSourceLayer  ? CandidateRole::kChooses
                        : layer > config.candidateSourceLayer ? CandidateRole::kRestricted
                                                              : CandidateRole::kNone;
    }
  }
}

}  // namespace

LayerPlan LayerPlan::make(const ModelConfig& config) {
  LayerPlan plan;
  plan.block = config.weightBlock;
  for (int layer = 0; layer < config.layers; ++layer) {
    LayerSpec spec;
    spec.ratio = config.compressRatios[static_cast<std::size_t>(layer)];
    spec.router = layer < config.hashLayers ? RouterKind::kHash : RouterKind::kScore;
    spec.rope = spec.ratio == 0 ? RopeKind::kPlain : RopeKind::kCompressed;
    plan.layers.push_back(spec);
  }
  if (config.family == ModelFamily::kDeepSeekV41) {
    addSharedSources(config, plan);
    plan.windowGrid = KvGrid::kFullE4m3;
    plan.entryGrid = KvGrid::kFullE2m1;
    plan.laggedMix = true;
  } else {
    addOwnSources(config, plan);
    plan.headNorm = true;
    plan.indexHadamard = true;
  }
  for (std::size_t i = 0; i < config.engram.layers.size(); ++i)
    plan.layers[static_cast<std::size_t>(config.engram.layers[i])].engram = static_cast<int>(i);
  for (int layer = 0; layer < config.layers; ++layer) {
    if (plan.layers[static_cast<std::size_t>(layer)].owns(layer)) plan.lastSource = layer;
  }
  return plan;
}

int LayerPlan::publisher(int layer, int position) const {
  const LayerSpec& asking = layers[static_cast<std::size_t>(layer)];
  const auto publishes = [&](int source, int at) {
    const LayerSpec& spec = layers[static_cast<std::size_t>(source)];
    return spec.indexKeys == IndexKeys::kFromEntry && (at + 1) % spec.ratio == 0;
  };
  if (asking.kvSource < 0 || layers[static_cast<std::size_t>(asking.kvSource)].indexKeys != IndexKeys::kFromEntry)
    return layer;
  for (int source = layer; source >= 0; --source) {
    if (publishes(source, position)) return source;
  }
  // Sources of the same ratio publish together, so the last one within a ratio's length is found.
  for (int at = position - 1; at >= 0; --at) {
    for (int source = static_cast<int>(layers.size()) - 1; source >= 0; --source) {
      if (publishes(source, at)) return source;
    }
  }
  return -1;
}

int LayerPlan::firstDivergence(int topK) const {
  int first = std::numeric_limits<int>::max();
  for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
    const LayerSpec& spec = layers[static_cast<std::size_t>(layer)];
    if (!spec.chooses(layer) || spec.indexKeys == IndexKeys::kOwnCompressor) continue;
    // More than topK entries exist from this position on; who publishes repeats with the sources' ratios.
    const std::int64_t from = (static_cast<std::int64_t>(topK) + 1) * spec.ratio - 1;
    constexpr int kMostRatio = 1024;
    for (std::int64_t at = from; at <= from + kMostRatio && at < first; ++at) {
      if (publisher(layer, static_cast<int>(at)) != spec.kvSource) first = static_cast<int>(at);
    }
  }
  return first;
}

int LayerPlan::outputReach(int layer, int slidingWindow) const {
  if (layer < lastSource) return 0;
  const auto above = static_cast<std::int64_t>(layers.size()) - 1 - layer;
  if (above == 0) return 1;
  const std::int64_t reach = slidingWindow + (above - 1) * (static_cast<std::int64_t>(slidingWindow) - 1);
  return static_cast<int>(std::min<std::int64_t>(reach, std::numeric_limits<int>::max()));
}

}  // namespace colibri
