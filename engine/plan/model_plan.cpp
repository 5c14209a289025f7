#include "plan/model_plan.h"

#include "model/state.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "plan/memory_plan.h"
#include "plan/probe.h"
#include "store/expert_store.h"

#include <algorithm>

namespace colibri {

Result<EnginePlan> planModel(const EngineOptions& options, const ModelFacts& model, std::uint64_t freeBytes) {
  WorkspaceLimits limits;
  limits.context = options.context;
  limits.segment = std::min(options.prefillSegment.value_or(kDefaultPrefillSegment), options.context);
  limits.chunk = std::min(options.prefillChunk.value_or(kDefaultPrefillChunk), limits.segment);
  limits.threads = options.threads.value_or(physicalCores());

  PlanInput input;
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<DenseStore::Want> wants,
                           ModelWeights::wants(model.config, model.layers, model.shards));
  for (const DenseStore::Want& want : wants) {
    (want.tag == MemoryTag::kHead ? input.headBytes : input.denseBytes) += want.tensor->bytes;
  }
  int mostExperts = 0;
  for (int layer = 0; layer < model.layout.layers(); ++layer) {
    mostExperts = std::max(mostExperts, model.layout.experts(layer));
    input.totalExperts += static_cast<std::uint64_t>(model.layout.experts(layer));
  }
  input.kvBytes = SequenceState::bytes(model.config, model.layers, options.context) +
                  kSessionSnapshots * SequenceState::snapshotBytes(model.config, model.layers);
  input.scratchBytes = Workspace::bytes(model.config, model.layers, limits, mostExperts);
  input.slotBytes = ExpertStore::slotBytes(model.layout);
  input.expertsPerToken = model.config.expertsPerToken;
  input.layers = model.config.layers;
  input.ramBytes = options.ramBytes;
  input.cacheExperts = options.cacheExperts;
  input.cap = options.cap;
  input.freeBytes = freeBytes;
  COLIBRI_ASSIGN_OR_RETURN(EnginePlan plan, planMemory(input));
  plan.threads = limits.threads;
  plan.prefillChunk = limits.chunk;
  plan.prefillSegment = limits.segment;
  plan.queueDepth = options.queueDepth.value_or(kDefaultQueueDepth);
  return plan;
}

Result<EnginePlan> planFolder(const EngineOptions& options) {
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(options.model));
  if (config.family != ModelFamily::kDeepSeekV4) {
    return Status(Code::kCheckpoint, "unsupported_model",
                  config.modelType + " is recognised, but this version cannot run it.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(options.model, options.shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(config, *shards));
  const LayerPlan layers = LayerPlan::make(config);
  return planModel(options, {config, layers, *shards, layout}, availableMemoryBytes());
}

}  // namespace colibri
