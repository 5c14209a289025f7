#pragma once
// The model as data: what each layer is. The blocks read properties from here and never ask for a model's name.

#include "checkpoint/model_config.h"

#include <vector>

namespace colibri {

enum class RouterKind { kHash, kScore };

/// Rotary tables of a layer: plain base, or the base and YaRN ramp of compressed layers (spec deepseek-v4 3.0).
enum class RopeKind { kPlain, kCompressed };

struct LayerSpec {
  int ratio = 0;         ///< tokens per compressed entry: 0 (window only), 4 or 128
  bool indexer = false;  ///< compressed entries are chosen by the indexer
  bool overlap = false;  ///< a compressed entry also pools the block before it
  RouterKind router = RouterKind::kScore;
  RopeKind rope = RopeKind::kPlain;

  /// Width factor of the compressor's projections: each token feeds two entries where they overlap.
  [[nodiscard]] int overlapFactor() const { return overlap ? 2 : 1; }
  /// Rows of compressor state kept between calls.
  [[nodiscard]] int compressorRows() const { return overlapFactor() * ratio; }
};

struct LayerPlan {
  std::vector<LayerSpec> layers;
  /// Pure function of the config.
  static LayerPlan make(const ModelConfig& config);
};

}  // namespace colibri
