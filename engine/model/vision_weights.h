#pragma once
// The image tower's and the aligner's weights, by role (spec deepseek-v41 2.6). The bytes belong to a DenseStore.

#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "model/weights.h"
#include "store/dense_store.h"
#include <colibri/status.h>

#include <vector>

namespace colibri {

/// y = W x + b. The bias is empty where the release has none.
struct BiasedMatrix {
  Bf16Matrix matrix;
  std::vector<float> bias;  ///< [out]
};

struct VisionBlockWeights {
  std::vector<float> norm1;  ///< [w]
  std::vector<float> norm2;
  BiasedMatrix wqkv;  ///< [3w][w]: queries, keys, values
  BiasedMatrix wo;    ///< [w][w]
  BiasedMatrix w1;    ///< [2 inner][w]: gate, then up
  BiasedMatrix w2;    ///< [w][inner]
};

struct VisionWeights {
  BiasedMatrix patches;  ///< [w][3 * patch * patch]
  std::vector<VisionBlockWeights> blocks;
  std::vector<float> norm;
  BiasedMatrix aligner1;  ///< [D][downsample^2 * w]
  BiasedMatrix aligner2;  ///< [D][D]

  /// The tensors to load, tagged kVision. kCheckpoint when one is missing or misshapen.
  static Result<std::vector<DenseStore::Want>> wants(const ModelConfig& config, const ShardSet& shards);
  /// Views over a store loaded with wants().
  static Result<VisionWeights> bind(const ModelConfig& config, const ShardSet& shards, const DenseStore& store);
};

}  // namespace colibri
