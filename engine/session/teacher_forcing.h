#pragma once
// Logits of given tokens, computed in a chosen way; the basis of `coli logits`, `coli oracle` and the invariance tests.

#include "checkpoint/tensor.h"
#include <colibri/cancellation.h>
#include <colibri/engine.h>
#include <colibri/image.h>
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace colibri {

struct TeacherOptions {
  enum class Via { kPrefill, kDecode, kSplit };
  bool allPositions = true;  ///< false: the last position only
  bool trace = false;        ///< also inner values of every layer
  Via via = Via::kPrefill;
  int split = 0;  ///< kSplit: tokens of the prefill; the rest is decoded one by one
};

/// A tensor in memory, named as in a safetensors file.
struct NamedTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> data;
};

/// "logits" F32 [positions, vocab] first; with trace also layer.{i} F32 [tokens, m, D], router.{i}.ids I32,
/// router.{i}.weights F32, indexer.{i}.ids I32, attn.{i}.in/out and ffn.{i}.in/out F32 [tokens, D]; where the model has
/// them candidates.{i} I32 [tokens, blocks], engram.{i}.rows I64 [tokens, columns] and engram.{i}.out F32 [tokens, m,
/// D]; final_norm F32 [positions, D]. A new session is used. kUsage for bad tokens.
Result<std::vector<NamedTensor>> computeLogits(Engine& engine, const ModelInput& input, const TeacherOptions& options,
                                               const Cancellation& cancellation);
/// The same for tokens without images.
Result<std::vector<NamedTensor>> computeLogits(Engine& engine, std::span<const TokenId> tokens,
                                               const TeacherOptions& options, const Cancellation& cancellation);

}  // namespace colibri
