#pragma once
// The plan of one checkpoint on this machine: sizes from its headers, free memory from the probe.

#include "checkpoint/expert_layout.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "model/layer_plan.h"
#include <colibri/engine.h>
#include <colibri/status.h>

namespace colibri {

inline constexpr int kDefaultPrefillChunk = 128;
inline constexpr int kDefaultPrefillSegment = 512;
inline constexpr int kDefaultQueueDepth = 8;
/// Earlier positions that a session can go back to at once; their copies are planned as part of `kv`.
inline constexpr std::size_t kSessionSnapshots = 2;

/// What planModel() looks at; all outlive the call.
struct ModelFacts {
  const ModelConfig& config;
  const LayerPlan& layers;
  const ShardSet& shards;
  const ExpertLayout& layout;
};

/// Everything in the plan but isa and io, which are known when kernels and files are open. `freeBytes`:
/// availableMemoryBytes(). Errors as planMemory(), and kCheckpoint when a needed tensor is absent.
Result<EnginePlan> planModel(const EngineOptions& options, const ModelFacts& model, std::uint64_t freeBytes);

/// The same from a folder; reads headers only.
Result<EnginePlan> planFolder(const EngineOptions& options);

}  // namespace colibri
