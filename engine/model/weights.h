#pragma once
// Typed views of the resident weights, by role. The bytes belong to the DenseStore.

#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "model/layer_plan.h"
#include "store/dense_store.h"
#include <colibri/status.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// e4m3 [out][in] with e8m0 scales of `block` x `block`.
struct Fp8Matrix {
  const std::uint8_t* weight = nullptr;
  const std::uint8_t* scale = nullptr;
  int out = 0;
  int in = 0;
  int block = 128;
};
struct Bf16Matrix {
  const std::uint16_t* weight = nullptr;
  int out = 0;
  int in = 0;
};
struct F32Matrix {
  const float* weight = nullptr;
  int out = 0;
  int in = 0;
};

/// Parameters of one hyper-connection: fn [(2+m)m][m*D], base, scale [3].
struct HyperWeights {
  F32Matrix fn;
  const float* base = nullptr;
  const float* scale = nullptr;
};

/// Compressor of width `width` (head_dim, or index_head_dim for the indexer's own).
struct CompressorWeights {
  Bf16Matrix wkv;  ///< [c*width][D]
  Bf16Matrix wgate;
  const float* ape = nullptr;  ///< [ratio][c*width]
  std::vector<float> norm;     ///< [width]
  int width = 0;
};

struct LayerWeights {
  HyperWeights hcAttn;
  HyperWeights hcFfn;
  std::vector<float> attnNorm;
  std::vector<float> ffnNorm;
  const float* attnSink = nullptr;
  Fp8Matrix wqA;
  Fp8Matrix wqB;
  Fp8Matrix wkv;
  Fp8Matrix woA;
  Fp8Matrix woB;
  std::vector<float> qNorm;
  std::vector<float> kvNorm;
  CompressorWeights compressor;  ///< ratio != 0
  Fp8Matrix indexWqB;            ///< indexer
  Bf16Matrix indexWeights;       ///< [HI][D]
  CompressorWeights indexCompressor;
  Bf16Matrix gate;                      ///< [E][D]
  const float* gateBias = nullptr;      ///< score router
  std::vector<std::int32_t> hashTable;  ///< hash router: [V][K], checked against E
  Fp8Matrix sharedW1;
  Fp8Matrix sharedW2;
  Fp8Matrix sharedW3;
  int experts = 0;
};

struct ModelWeights {
  Bf16Matrix embed;
  Bf16Matrix head;
  std::vector<float> norm;
  F32Matrix hcHeadFn;
  const float* hcHeadBase = nullptr;
  const float* hcHeadScale = nullptr;
  std::vector<LayerWeights> layers;

  /// The tensors that must be resident for the main stack, with their tags. kCheckpoint when one is missing or
  /// misshapen.
  static Result<std::vector<DenseStore::Want>> wants(const ModelConfig& config, const LayerPlan& plan,
                                                     const ShardSet& shards);
  /// Views over a store loaded with wants(). kCheckpoint for a hash table entry that names no expert.
  static Result<ModelWeights> bind(const ModelConfig& config, const LayerPlan& plan, const ShardSet& shards,
                                   const DenseStore& store);
};

}  // namespace colibri
