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
  Bf16Matrix wkv;              ///< [c*width][D]
  Bf16Matrix wgate;            ///< the same, where entries are pooled
  const float* ape = nullptr;  ///< [ratio][c*width]; null without a bias by place
  std::vector<float> norm;     ///< [width]
  int width = 0;
};

/// What mixes an n-gram table's rows into the streams (spec deepseek-v41 3.9).
struct EngramWeights {
  Fp8Matrix wkv;             ///< [(m+1)*D][columns*dim]: a key for each stream, then the value
  std::vector<float> query;  ///< [m][D]
  std::vector<float> key;    ///< [m][D]
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
  CompressorWeights compressor;       ///< ratio != 0
  Fp8Matrix indexWqB;                 ///< where the layer chooses entries
  Bf16Matrix indexWeights;            ///< [HI][D]
  CompressorWeights indexCompressor;  ///< IndexKeys::kOwnCompressor
  Bf16Matrix indexWk;                 ///< [dI][dh]; IndexKeys::kFromEntry
  std::vector<float> indexKeyNorm;    ///< [dI]
  EngramWeights engram;
  Bf16Matrix gate;                       ///< [E][D]
  const float* gateBias = nullptr;       ///< score router
  const float* gateImageBias = nullptr;  ///< the same for positions of an image; null where there are none
  std::vector<std::int32_t> hashTable;   ///< hash router: [V][K], checked against E
  Fp8Matrix sharedW1;
  Fp8Matrix sharedW2;
  Fp8Matrix sharedW3;
  int experts = 0;
};

struct ModelWeights {
  Bf16Matrix embed;
  Bf16Matrix head;
  std::vector<float> norm;
  F32Matrix hcHeadFn;  ///< the head's own hyper-connection; empty where the last layer's mix serves it
  const float* hcHeadBase = nullptr;
  const float* hcHeadScale = nullptr;
  std::vector<LayerWeights> layers;
  std::vector<float> imageStart;  ///< [D] embedding of an image's first position; empty without images
  std::vector<float> imageNewline;
  std::vector<float> imageEnd;

  /// The tensors that must be resident for the main stack, with their tags. kCheckpoint when one is missing or
  /// misshapen.
  static Result<std::vector<DenseStore::Want>> wants(const ModelConfig& config, const LayerPlan& plan,
                                                     const ShardSet& shards);
  /// Views over a store loaded with wants(). kCheckpoint for a hash table entry that names no expert.
  static Result<ModelWeights> bind(const ModelConfig& config, const LayerPlan& plan, const ShardSet& shards,
                                   const DenseStore& store);
};

}  // namespace colibri
