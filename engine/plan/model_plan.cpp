#include "plan/model_plan.h"

#include "base/units.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/model_id.h"
#include "model/state.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "plan/advice.h"
#include "plan/memory_plan.h"
#include "plan/model_costs.h"
#include "plan/planned_drives.h"
#include "plan/probe.h"
#include "store/engram_store.h"
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
  limits.numerics = options.numerics;
  return limits;
}

/// Everything of one model that a plan is made of.
struct Sizes {
  ModelSizes model;
  std::uint64_t slotBytes = 0;
  std::uint64_t kvBytes = 0;
  std::uint64_t visionBytes = 0;  ///< of the image tower, once there is an image
  std::function<std::uint64_t(const WorkspaceLimits&)> scratchBytes;
};

int mostExperts(const ModelCosts& costs) {
  int most = 0;
  for (const LayerCost& layer : costs.layers) most = std::max(most, layer.experts);
  return most;
}

Result<Sizes> sizesOfModel(const EngineOptions& options, const ModelFacts& model) {
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<DenseStore::Want> wants,
                           ModelWeights::wants(model.config, model.layers, model.shards));
  Sizes sizes;
  sizes.model = sizesOf(model.config, model.layers, wants, model.layout);
  sizes.slotBytes = ExpertStore::slotBytes(model.layout);
  sizes.kvBytes = SequenceState::bytes(model.config, model.layers, options.context, options.numerics) +
                  kSessionSnapshots * SequenceState::snapshotBytes(model.config, model.layers);
  for (const TensorInfo& tensor : model.shards.tensors()) {
    if (tensorRole(tensor.name) == TensorRole::kVision) sizes.visionBytes += tensor.bytes;
  }
  const int most = mostExperts(sizes.model.costs);
  sizes.scratchBytes = [model, most](const WorkspaceLimits& limits) {
    return Workspace::bytes(model.config, model.layers, limits, most);
  };
  return sizes;
}

/// Cache of n-gram rows: exactly what was asked for; else at least what one pass over a few tokens needs, and as far as
/// memory goes enough for the rows of some thousands of tokens.
void planEngram(const EngineOptions& options, const EngramConfig& config, PlanInput& input) {
  if (!config.present()) return;
  if (options.engramRows) {
    input.engramBytes = EngramStore::bytesFor(config, *options.engramRows);
    return;
  }
  constexpr std::uint64_t kRows = 65536;
  constexpr std::uint64_t kLeastTokens = 16;
  const auto columns = static_cast<std::uint64_t>(config.columns());
  input.engramBytes = EngramStore::bytesFor(config, kLeastTokens * columns);
  const std::uint64_t most = EngramStore::bytesFor(config, kRows);
  input.engramMoreBytes = most - std::min(most, input.engramBytes);
}

PlanInput inputOf(const EngineOptions& options, const ModelConfig& config, const Sizes& sizes,
                  const WorkspaceLimits& limits, std::uint64_t freeBytes) {
  const ResidentBytes& resident = sizes.model.resident;
  PlanInput input;
  input.denseBytes = resident.dense;
  input.streamableBytes = resident.streamable;
  input.windowBytes = resident.windows;
  input.headBytes = resident.head;
  planEngram(options, config.engram, input);
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
  for (const PlannedDrive& drive : around.drives) {
    if (!drive.isMirror) facts.smallReadsPerSecond = std::max(facts.smallReadsPerSecond, drive.iops4k);
  }
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
  if (config.vision.present()) {
    plan.advice.push_back("The image tower is read with the first image and takes its " +
                          binarySize(sizes.visionBytes) + " from the expert cache.");
  }
  return result;
}

}  // namespace

Status checkSettingsFit(const EngineOptions& options, const ModelConfig& config) {
  const auto refuse = [](const std::string& setting, const std::string& why) {
    return Status(Code::kUnavailable, "setting_has_no_effect", setting + " cannot take effect with this model: " + why);
  };
  if (config.kvSourceLayers.empty()) {
    const std::string own = "each of its layers has entries and index keys of its own. Leave it out.";
    if (options.indexKeys != IndexKeyRule::kVendor) return refuse("--index-keys owner", own);
    if (options.reuseGenerated) return refuse("--kv-prefix on", own);
  }
  if (options.engramRows && !config.engram.present())
    return refuse("--engram-rows", "it has no n-gram tables. Leave it out.");
  if (!options.maxImageTokens) return Status::ok();
  if (!config.vision.present()) return refuse("--max-image-tokens", "it takes no images. Leave it out.");
  if (*options.maxImageTokens <= config.vision.maxImageTokens) return Status::ok();
  return refuse("--max-image-tokens " + std::to_string(*options.maxImageTokens),
                "an image has at most " + std::to_string(config.vision.maxImageTokens) + " tokens. Give fewer.");
}

Result<ModelPlan> planModel(const EngineOptions& options, const ModelFacts& model,
                            const PlanSurroundings& surroundings) {
  COLIBRI_RETURN_IF_ERROR(checkSettingsFit(options, model.config));
  COLIBRI_ASSIGN_OR_RETURN(const Sizes sizes, sizesOfModel(options, model));
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
  return model;
}

Result<ModelPlan> planOpened(const EngineOptions& options, const PlannableModel& model,
                             const PlanSurroundings& surroundings) {
  COLIBRI_ASSIGN_OR_RETURN(const ExpertLayout layout, ExpertLayout::build(model.config, *model.shards));
  const LayerPlan layers = LayerPlan::make(model.config);
  return planModel(options, {model.config, layers, *model.shards, layout}, surroundings);
}

}  // namespace colibri
