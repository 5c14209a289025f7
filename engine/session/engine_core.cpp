#include "session/engine_core.h"

#include "checkpoint/model_id.h"
#include "plan/model_plan.h"
#include "plan/probe.h"
#include "session/session_core.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace colibri {
namespace {

std::vector<std::filesystem::path> shardPaths(const ShardSet& shards) {
  std::vector<std::filesystem::path> paths;
  for (const Shard& shard : shards.shards()) paths.push_back(shard.path);
  return paths;
}

ReadOptions readOptions(const EngineOptions& options, int queueDepth) {
  ReadOptions read;
  read.direct = options.direct;
  read.queueDepth = queueDepth;
  switch (options.io) {
    case IoChoice::kAuto:
      read.kind = IoKind::kAuto;
      break;
    case IoChoice::kUring:
      read.kind = IoKind::kUring;
      break;
    case IoChoice::kThreads:
      read.kind = IoKind::kThreads;
      break;
  }
  return read;
}

Status positive(std::optional<int> value, std::string_view flag) {
  if (!value || *value >= 1) return Status::ok();
  return Status(Code::kUsage, "out_of_range", std::string(flag) + " must be at least 1.");
}

// Shapes that a legal config can have and the kernels cannot.
Status checkShapes(const ModelConfig& c) {
  const auto refuse = [](const std::string& what) {
    return Status(Code::kCheckpoint, "unsupported_model",
                  "This checkpoint has " + what + ", which this build cannot compute.");
  };
  if (c.hcMult != 4) return refuse(std::to_string(c.hcMult) + " residual streams (hc_mult; 4 is supported)");
  if (c.headDim % kLanes != 0)
    return refuse("a head_dim of " + std::to_string(c.headDim) + " (a multiple of 16 is needed)");
  if (c.indexHeadDim > 256) return refuse("an index_head_dim of " + std::to_string(c.indexHeadDim) + " (256 at most)");
  if (c.ropeDim > 512) return refuse("a qk_rope_head_dim of " + std::to_string(c.ropeDim) + " (512 at most)");
  return Status::ok();
}

}  // namespace

Result<std::shared_ptr<Engine>> Engine::open(const EngineOptions& options,
                                             const std::function<void(const LoadProgress&)>& progress,
                                             const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(std::shared_ptr<EngineCore> engine, EngineCore::open(options, progress, cancellation));
  return std::shared_ptr<Engine>(std::move(engine));
}

Result<std::shared_ptr<EngineCore>> EngineCore::open(const EngineOptions& options,
                                                     const std::function<void(const LoadProgress&)>& progress,
                                                     const Cancellation& cancellation, const ReadBackendWrapper& wrap) {
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<EngineCore> engine(new EngineCore());
  engine->m_options = options;
  COLIBRI_RETURN_IF_ERROR(positive(options.prefillChunk, "--prefill-chunk"));
  COLIBRI_RETURN_IF_ERROR(positive(options.prefillSegment, "--prefill-segment"));
  COLIBRI_RETURN_IF_ERROR(positive(options.threads, "--threads"));
  COLIBRI_RETURN_IF_ERROR(positive(options.queueDepth, "--queue-depth"));
  COLIBRI_RETURN_IF_ERROR(positive(options.context, "--ctx"));
  COLIBRI_ASSIGN_OR_RETURN(engine->m_kernels, kernelsFor(options.isa));
  COLIBRI_RETURN_IF_ERROR(engine->readModel());
  COLIBRI_RETURN_IF_ERROR(engine->planAndAllocate());
  COLIBRI_RETURN_IF_ERROR(engine->loadWeights(progress, cancellation));
  COLIBRI_RETURN_IF_ERROR(engine->openExperts(wrap));
  const ModelContext context{engine->m_config, engine->m_layers,   engine->m_weights, *engine->m_kernels,
                             *engine->m_team,  *engine->m_experts, *engine->m_work,   options.numerics};
  engine->m_transformer = std::make_unique<Transformer>(context);
  engine->m_loadSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return engine;
}

Status EngineCore::readModel() {
  COLIBRI_ASSIGN_OR_RETURN(m_config, ModelConfig::load(m_options.model));
  if (m_config.family != ModelFamily::kDeepSeekV4) {
    return Status(Code::kCheckpoint, "unsupported_model",
                  "This build computes DeepSeek V4 checkpoints; " + m_config.modelType +
                      " is recognised, but cannot be run yet. `coli info`, `tokenize` and `render` work with it.");
  }
  COLIBRI_RETURN_IF_ERROR(checkShapes(m_config));
  if (m_options.context > m_config.maxPositions) {
    return Status(Code::kUnavailable, "context_too_long",
                  "--ctx " + std::to_string(m_options.context) + " is more than this model's limit of " +
                      std::to_string(m_config.maxPositions) + " tokens.");
  }
  COLIBRI_ASSIGN_OR_RETURN(m_shards, ShardSet::open(m_options.model, m_options.shardDirs));
  m_layers = LayerPlan::make(m_config);
  COLIBRI_ASSIGN_OR_RETURN(m_layout, ExpertLayout::build(m_config, *m_shards));
  for (int layer = 0; layer < m_layout.layers(); ++layer)
    m_mostExperts = std::max(m_mostExperts, m_layout.experts(layer));
  Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(m_options.model);
  if (tokenizer) {
    m_tokenizer = std::move(tokenizer).value();
  } else if (m_options.needTokenizer || tokenizer.status().id() != "tokenizer_missing") {
    return tokenizer.status();
  }
  const std::filesystem::path folder = std::filesystem::absolute(m_options.model).lexically_normal();
  m_summary.name = folder.filename().empty() ? folder.parent_path().filename().string() : folder.filename().string();
  m_summary.modelType = m_config.modelType;
  COLIBRI_ASSIGN_OR_RETURN(m_summary.modelId, modelIdOf(m_options.model, *m_shards));
  m_summary.layers = m_config.layers;
  m_summary.expertsPerLayer = m_mostExperts;
  m_summary.vocabSize = m_config.vocabSize;
  m_summary.contextLimit = m_config.maxPositions;
  m_summary.expertBytes = m_layout.maxExpertBytes();
  return Status::ok();
}

Status EngineCore::planAndAllocate() {
  COLIBRI_ASSIGN_OR_RETURN(m_plan,
                           planModel(m_options, {m_config, m_layers, *m_shards, m_layout}, availableMemoryBytes()));
  m_plan.isa = std::string(m_kernels->name);
  m_team = std::make_unique<Team>(m_plan.threads);
  WorkspaceLimits limits;
  limits.context = m_options.context;
  limits.segment = m_plan.prefillSegment;
  limits.chunk = m_plan.prefillChunk;
  limits.threads = m_plan.threads;
  COLIBRI_ASSIGN_OR_RETURN(m_work, Workspace::create(m_config, m_layers, limits, m_mostExperts, m_ledger));
  return Status::ok();
}

Status EngineCore::loadWeights(const std::function<void(const LoadProgress&)>& progress,
                               const Cancellation& cancellation) {
  const std::vector<std::filesystem::path> paths = shardPaths(*m_shards);
  COLIBRI_ASSIGN_OR_RETURN(const std::unique_ptr<ReadBackend> backend,
                           openReadBackend(paths, readOptions(m_options, m_plan.queueDepth)));
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<DenseStore::Want> wants,
                           ModelWeights::wants(m_config, m_layers, *m_shards));
  const DenseStore::Progress tell = [&](std::uint64_t done, std::uint64_t total) {
    if (progress) progress({done, total});
  };
  COLIBRI_ASSIGN_OR_RETURN(m_dense, DenseStore::load(*m_shards, wants, *backend, m_ledger, tell, cancellation));
  COLIBRI_ASSIGN_OR_RETURN(m_weights, ModelWeights::bind(m_config, m_layers, *m_shards, *m_dense));
  return Status::ok();
}

Status EngineCore::openExperts(const ReadBackendWrapper& wrap) {
  const std::vector<std::filesystem::path> paths = shardPaths(*m_shards);
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<ReadBackend> backend,
                           openReadBackend(paths, readOptions(m_options, m_plan.queueDepth)));
  m_plan.io = std::string(backend->name());
  if (wrap) backend = wrap(std::move(backend));
  ExpertStoreOptions options;
  options.slots = m_plan.expertSlots;
  COLIBRI_ASSIGN_OR_RETURN(m_experts, ExpertStore::create(m_layout, std::move(backend), options, m_ledger));
  return Status::ok();
}

LiveCounters EngineCore::live() const {
  const ExpertStoreStats stats = m_experts->stats();
  LiveCounters counters;
  counters.expertRequests = stats.requests;
  counters.expertHits = stats.hits;
  counters.bytesRead = stats.bytesRead;
  counters.readSeconds = stats.readSeconds;
  counters.memoryBytes = m_ledger->total();
  counters.memoryBudgetBytes = static_cast<std::int64_t>(m_plan.budgetBytes);
  return counters;
}

std::vector<DriveCounters> EngineCore::drives() const {
  return {};
}

Prediction EngineCore::predict(std::int64_t promptTokens) const {
  (void)promptTokens;
  return m_plan.prediction;
}

std::vector<std::string> EngineCore::takeNotices() {
  return {};
}

Status EngineCore::writeTrace(const std::filesystem::path& file) const {
  (void)file;
  return Status(Code::kUsage, "no_trace", "This engine was opened without recording a timeline.");
}

Result<std::unique_ptr<Session>> EngineCore::newSession() {
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<SequenceState> state,
                           SequenceState::create(m_config, m_layers, m_options.context, m_ledger));
  return std::unique_ptr<Session>(std::make_unique<SessionCore>(shared_from_this(), std::move(state)));
}

}  // namespace colibri
