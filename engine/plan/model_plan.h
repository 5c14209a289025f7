#pragma once
// The plan of one checkpoint on one machine: sizes from its headers, memory and rates from a probe, speed from the
// user's own turns where there are any.
//
// An engine: TurnHistory::load(), surroundingsHere(), then planModel() with both; the returned predictor answers
// Engine::predict() with what the cache holds at that moment. See turn_history.h for what follows each turn.

#include "checkpoint/expert_layout.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "model/layer_plan.h"
#include "plan/surroundings.h"
#include "plan/turn_predictor.h"
#include <colibri/engine.h>
#include <colibri/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

struct ModelPlan {
  EnginePlan plan;  ///< everything but io, which is known when files are open
  TurnPredictor predictor;
};

/// The turn that a plan's prediction speaks of unless a command knows better: the first one, its cache empty.
inline constexpr TurnShape kTypicalTurn{128, 128, 0};

/// kUnavailable ("setting_has_no_effect") when a setting was given that the model has no use for, with the reason.
Status checkSettingsFit(const EngineOptions& options, const ModelConfig& config);

/// Plans, predicts a typical first turn and gives advice, found by planning again with one thing changed. A plan whose
/// usage history is preloaded (options.preload) starts with a full cache. Errors as checkSettingsFit() and
/// planMemory(), and kCheckpoint when a needed tensor is absent.
Result<ModelPlan> planModel(const EngineOptions& options, const ModelFacts& model,
                            const PlanSurroundings& surroundings);

/// Memory, threads and prefill alone, on this machine. `freeBytes`: availableMemoryBytes().
Result<EnginePlan> planModel(const EngineOptions& options, const ModelFacts& model, std::uint64_t freeBytes);

/// A checkpoint that was opened for planning; headers only.
struct PlannableModel {
  ModelConfig config;
  std::shared_ptr<const ShardSet> shards;
  std::string modelId;
};
Result<PlannableModel> openForPlanning(const EngineOptions& options);

/// The same from a folder's headers.
Result<ModelPlan> planOpened(const EngineOptions& options, const PlannableModel& model,
                             const PlanSurroundings& surroundings);

}  // namespace colibri
