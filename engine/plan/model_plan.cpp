#include "plan/model_plan.h"

#include "base/units.h"
#include "checkpoint/model_id.h"
#include "model/state.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "plan/advice.h"
#include "plan/memory_plan.h"
#include "plan/model_costs.h"
#include "plan/planned_drives.h"
#include "plan/probe.h"
#include "store/expert_store.h"
#include "store/usage_history.h"

#include <algorithm>
#include <functional>

namespace colibri {
namespace {

WorkspaceLimits limitsOf(const EngineOptions& options, int physicalCores) {
  WorkspaceLimits limits;
  limits.context = options.context;
  limits.segment = std::min(options.prefillSegment.value_or(kDefaultPrefillSegment), options.context);
  limits.chunk = std::min(options.prefillChunk.value_or(kDefaultPrefillChunk), limits.segment);
  limits.threads = options.threads.value_or(physicalCores);
  return limits;
}

/// Everything of one model that a plan is made of.
struct Sizes {
  ModelSizes model;
  std::uint64_t slotBytes = 0;
  std::uint64_t kvBytes = 0;
  std::uint64_t engramBytes = 0;
  std::function<std::uint64_t(const WorkspaceLimits&)> scratchBytes;
};

int mostExperts(const ModelCosts& costs) {
  int most = 0;
  for (const LayerCost& layer : costs.layers) most = std::max(most, layer.experts);
  return most;
}

Result<Sizes> sizesOfRunnable(const EngineOptions& options, const ModelFacts& model) {
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<DenseStore::Want> wants,
                           ModelWeights::wants(model.config, model.layers, model.shards));
  Sizes sizes;
  sizes.model = sizesOf(model.config, wants, model.layout);
  sizes.slotBytes = ExpertStore::slotBytes(model.layout);
  sizes.kvBytes = SequenceState::bytes(model.config, model.layers, options.context) +
                  kSessionSnapshots * SequenceState::snapshotBytes(model.config, model.layers);
  const int most = mostExperts(sizes.model.costs);
  sizes.scratchBytes = [model, most](const WorkspaceLimits& limits) {
    return Workspace::bytes(model.config, model.layers, limits, most);
  };
  return sizes;
}

/// V4.1, which is recognised only: state by its specification's figures in released packing, weights by their headers.
Sizes sizesOfRecognised(const EngineOptions& options, const ModelConfig& config, const ShardSet& shards) {
  // 2.5 compressed and index rows a token, 288 + 68 bytes each; 4 bytes of n-gram history.
  constexpr std::uint64_t kStatePerToken = 890 + 4;
  // Open halves of the ratio-2 compressors: 3 layers, 2 slots, two fp32 rows.
  constexpr std::uint64_t kCompressorRows = 24576;
  // Raw rows of the two n-gram tables, 65,536 of 264 bytes each.
  constexpr std::uint64_t kEngramRows = 2 * 65536;
  constexpr std::uint64_t kEngramRowBytes = 264;
  Sizes sizes;
  sizes.model = sizesFromHeaders(config, shards);
  // An expert's weights and scales are two extents, each read with the blocks around its ends.
  constexpr std::uint64_t kEdges = 4 * kReadAlignment;
  std::uint64_t expert = 0;
  for (const LayerCost& layer : sizes.model.costs.layers) expert = std::max(expert, layer.expertBytes);
  sizes.slotBytes = expert == 0 ? 0 : alignUp(expert) + kEdges;
  const std::uint64_t rings = static_cast<std::uint64_t>(config.layers) *
                              static_cast<std::uint64_t>(config.slidingWindow) *
                              static_cast<std::uint64_t>(config.headDim) * sizeof(float);
  sizes.kvBytes = kStatePerToken * static_cast<std::uint64_t>(options.context) +
                  (1 + kSessionSnapshots) * (rings + kCompressorRows);
  sizes.engramBytes = kEngramRows * kEngramRowBytes;
  const int most = mostExperts(sizes.model.costs);
  const LayerPlan layers = LayerPlan::make(config);
  sizes.scratchBytes = [&config, layers, most](const WorkspaceLimits& limits) {
    return Workspace::bytes(config, layers, limits, most);
  };
  return sizes;
}

PlanInput inputOf(const EngineOptions& options, const ModelConfig& config, const Sizes& sizes,
                  const WorkspaceLimits& limits, std::uint64_t freeBytes) {
  const ResidentBytes& resident = sizes.model.resident;
  PlanInput input;
  input.denseBytes = resident.dense;
  input.streamableBytes = resident.streamable;
  input.windowBytes = resident.windows;
  input.headBytes = resident.head;
  input.draftBytes = resident.draft;
  input.visionBytes = resident.vision;
  input.engramBytes = sizes.engramBytes;
  input.kvBytes = sizes.kvBytes;
  input.scratchBytes = sizes.scratchBytes(limits);
  input.slotBytes = sizes.slotBytes;
  input.totalExperts = sizes.model.costs.totalExperts();
  input.expertsPerToken = config.expertsPerToken;
  input.layers = config.layers;
  input.ramBytes = options.ramBytes;
  input.cacheExperts = options.cacheExperts;
  input.cap = options.cap;
  input.freeBytes = freeBytes;
  return input;
}

int queueDepthOf(const EngineOptions& options, const std::vector<PlannedDrive>& drives) {
  if (options.queueDepth) return *options.queueDepth;
  int measured = 0;
  for (const PlannedDrive& drive : drives) measured = std::max(measured, drive.queueDepth);
  return measured > 0 ? measured : kDefaultQueueDepth;
}

HitCurve curveOf(const ModelCosts& costs, const UsageHistory* usage) {
  std::uint64_t perToken = 0;
  for (const LayerCost& layer : costs.layers) {
    perToken += static_cast<std::uint64_t>(std::min(costs.expertsPerToken, layer.experts));
  }
  HitCurve curve(costs.totalExperts(), perToken);
  if (usage != nullptr && usage->experts() == costs.totalExperts()) {
    curve.learn([usage](std::uint64_t slots) { return usage->hitRate(slots); }, usage->firstTouchRate(),
                usage->recordedAccesses());
  }
  return curve;
}

Result<ModelPlan> planSizes(const EngineOptions& options, const ModelConfig& config, const Sizes& sizes,
                            const PlanSurroundings& around) {
  const WorkspaceLimits limits = limitsOf(options, around.physicalCores);
  const PlanInput input = inputOf(options, config, sizes, limits, around.freeBytes);
  ModelPlan result;
  COLIBRI_ASSIGN_OR_RETURN(result.plan, planMemory(input));
  EnginePlan& plan = result.plan;
  plan.threads = limits.threads;
  plan.prefillChunk = limits.chunk;
  plan.prefillSegment = limits.segment;
  plan.queueDepth = queueDepthOf(options, around.drives);
  plan.isa = around.isa;
  plan.drives = around.drives;

  PredictorFacts facts;
  facts.isa = around.isa;
  facts.threads = limits.threads;
  facts.memoryBytesPerSecond = around.memoryBytesPerSecond;
  facts.diskBytesPerSecond = combinedRate(around.drives);
  facts.drives = driveSetName(around.drives);
  facts.slots = plan.expertSlots;
  facts.streamsDense = plan.streamsDense;
  facts.segment = limits.segment;
  facts.chunk = limits.chunk;
  result.predictor = TurnPredictor(sizes.model.costs, curveOf(sizes.model.costs, around.usage), facts);
  result.predictor.learn(around.turns);

  TurnShape shape = kTypicalTurn;
  shape.promptTokens = std::clamp<std::int64_t>(options.context - 1, 1, shape.promptTokens);
  if (options.preload) shape.residentExperts = plan.expertSlots;
  plan.prediction = result.predictor.predict(shape);
  AdviceFacts advice{plan, input, result.predictor, shape, options.context, options.prefillSegment.has_value(), {}};
  advice.scratchBytes = [&sizes, limits](int segment) {
    WorkspaceLimits longer = limits;
    longer.segment = segment;
    return sizes.scratchBytes(longer);
  };
  plan.advice = adviceFor(advice);
  return result;
}

}  // namespace

Result<ModelPlan> planModel(const EngineOptions& options, const ModelFacts& model,
                            const PlanSurroundings& surroundings) {
  COLIBRI_ASSIGN_OR_RETURN(const Sizes sizes, sizesOfRunnable(options, model));
  return planSizes(options, model.config, sizes, surroundings);
}

Result<EnginePlan> planModel(const EngineOptions& options, const ModelFacts& model, std::uint64_t freeBytes) {
  PlanSurroundings surroundings;
  surroundings.freeBytes = freeBytes;
  surroundings.physicalCores = physicalCores();
  COLIBRI_ASSIGN_OR_RETURN(ModelPlan planned, planModel(options, model, surroundings));
  return std::move(planned.plan);
}

Result<PlannableModel> openForPlanning(const EngineOptions& options) {
  COLIBRI_RETURN_IF_ERROR(parseDiskWeights(options).status());
  PlannableModel model;
  COLIBRI_ASSIGN_OR_RETURN(model.config, ModelConfig::load(options.model));
  COLIBRI_ASSIGN_OR_RETURN(model.shards, ShardSet::open(options.model, options.shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(model.modelId, modelIdOf(options.model, *model.shards));
  model.supported = model.config.supported();
  return model;
}

Result<ModelPlan> planOpened(const EngineOptions& options, const PlannableModel& model,
                             const PlanSurroundings& surroundings) {
  if (model.supported.isOk()) {
    COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(model.config, *model.shards));
    const LayerPlan layers = LayerPlan::make(model.config);
    return planModel(options, {model.config, layers, *model.shards, layout}, surroundings);
  }
  const Sizes sizes = sizesOfRecognised(options, model.config, *model.shards);
  COLIBRI_ASSIGN_OR_RETURN(ModelPlan planned, planSizes(options, model.config, sizes, surroundings));
  planned.plan.advice.insert(planned.plan.advice.begin(), model.supported.message());
  return planned;
}

}  // namespace colibri
