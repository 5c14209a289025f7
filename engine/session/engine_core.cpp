#include "session/engine_core.h"

#include "base/process_memory.h"
#include "checkpoint/model_id.h"
#include "plan/drive_memory.h"
#include "plan/memory_plan.h"
#include "plan/model_plan.h"
#include "plan/planned_drives.h"
#include "plan/surroundings.h"
#include "session/session_core.h"
#include "session/shard_files.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

namespace colibri {
namespace {

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
                                                     const Cancellation& cancellation, const ReadBackendWrapper& wrap,
                                                     const DenseStreamingHook& dense) {
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<EngineCore> engine(new EngineCore());
  engine->m_options = options;
  const std::uint64_t base = anonymousMemoryBytes().value_or(0);
  COLIBRI_RETURN_IF_ERROR(positive(options.prefillChunk, "--prefill-chunk"));
  COLIBRI_RETURN_IF_ERROR(positive(options.prefillSegment, "--prefill-segment"));
  COLIBRI_RETURN_IF_ERROR(positive(options.threads, "--threads"));
  COLIBRI_RETURN_IF_ERROR(positive(options.queueDepth, "--queue-depth"));
  COLIBRI_RETURN_IF_ERROR(positive(options.context, "--ctx"));
  COLIBRI_ASSIGN_OR_RETURN(engine->m_kernels, kernelsFor(options.isa));
  if (options.recordSpans) {
    COLIBRI_ASSIGN_OR_RETURN(engine->m_spans, SpanRecorder::create(engine->m_ledger));
  }
  COLIBRI_RETURN_IF_ERROR(engine->readModel());
  COLIBRI_RETURN_IF_ERROR(engine->planAndAllocate(cancellation));
  COLIBRI_RETURN_IF_ERROR(engine->loadWeights(progress, cancellation, dense));
  COLIBRI_RETURN_IF_ERROR(engine->openExperts(wrap));
  COLIBRI_RETURN_IF_ERROR(engine->openEngram());
  ModelContext context{engine->m_config,   engine->m_layers, engine->m_weights,
                       *engine->m_kernels, *engine->m_team,  *engine->m_experts,
                       *engine->m_work,    options.numerics, engine->m_dense->stream()};
  context.indexKeys = options.indexKeys;
  context.engram = engine->m_engram ? &*engine->m_engram : nullptr;
  engine->m_transformer = std::make_unique<Transformer>(context);
  engine->m_team->setLeaderWork([experts = engine->m_experts.get(), engram = engine->m_engramStore.get()] {
    experts->poll();
    if (engram != nullptr) engram->poll();
  });
  engine->m_governor.emplace(options.prefetch);
  engine->m_guard.emplace(engine->m_plan.budgetBytes, base, kProcessReserveBytes);
  if (options.preload) COLIBRI_RETURN_IF_ERROR(engine->preload(progress, cancellation));
  engine->m_loadSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return engine;
}

Status EngineCore::readModel() {
  COLIBRI_ASSIGN_OR_RETURN(m_config, ModelConfig::load(m_options.model));
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
  m_summary.imageToken = m_config.vision.present() ? m_config.imageToken : -1;
  return Status::ok();
}

Status EngineCore::measureDrives(const Cancellation& cancellation) {
  std::uint64_t experts = 0;
  for (int layer = 0; layer < m_layout.layers(); ++layer) {
    for (int expert = 0; expert < m_layout.experts(layer); ++expert) experts += m_layout.place(layer, expert).bytes();
  }
  if (m_options.dataFolder.empty() || experts < kWorthMeasuringBytes) return Status::ok();
  for (const std::filesystem::path& folder : weightFolders(m_options)) {
    const auto known = knownDrive(m_options.dataFolder, folder);
    if (known && !known->isStale) continue;
    const std::filesystem::path file = largestShard(*m_shards, folder);
    if (file.empty()) continue;
    DriveProbeOptions how;
    how.expertBytes = m_layout.maxExpertBytes();
    how.direct = m_options.direct;
    std::string notice;
    const auto facts = measureAndRemember(m_options.dataFolder, file, how, cancellation, &notice);
    if (!facts && facts.status().code() == Code::kCancelled) return facts.status();
    // A drive that cannot be measured is found out about when it is read.
    if (!notice.empty()) addNotices({notice});
  }
  return Status::ok();
}

Status EngineCore::planAndAllocate(const Cancellation& cancellation) {
  std::size_t experts = 0;
  for (int layer = 0; layer < m_layout.layers(); ++layer) experts += static_cast<std::size_t>(m_layout.experts(layer));
  COLIBRI_ASSIGN_OR_RETURN(m_log, TurnLog::open(m_options, m_summary.modelId, experts));
  COLIBRI_RETURN_IF_ERROR(measureDrives(cancellation));
  PlanSurroundings around = surroundingsHere(m_options, *m_shards, std::string(m_kernels->name), m_log->turns());
  around.usage = &m_log->usage();
  COLIBRI_ASSIGN_OR_RETURN(ModelPlan planned, planModel(m_options, {m_config, m_layers, *m_shards, m_layout}, around));
  m_plan = std::move(planned.plan);
  m_plan.isa = std::string(m_kernels->name);
  m_log->adopt(std::move(planned.predictor), m_plan, driveSetName(m_plan.drives));
  COLIBRI_ASSIGN_OR_RETURN(m_files, findShardFiles(m_options, *m_shards, m_plan.drives));
  addNotices(m_files.notices);
  m_team = std::make_unique<Team>(m_plan.threads);
  WorkspaceLimits limits;
  limits.context = m_options.context;
  limits.segment = m_plan.prefillSegment;
  limits.chunk = m_plan.prefillChunk;
  limits.threads = m_plan.threads;
  limits.numerics = m_options.numerics;
  COLIBRI_ASSIGN_OR_RETURN(m_work, Workspace::create(m_config, m_layers, limits, m_mostExperts, m_ledger));
  return Status::ok();
}

Status EngineCore::loadWeights(const std::function<void(const LoadProgress&)>& progress,
                               const Cancellation& cancellation, const DenseStreamingHook& hook) {
  ReadOptions read = readOptions(m_options, m_plan.queueDepth);
  read.drives = m_files.drives;
  COLIBRI_ASSIGN_OR_RETURN(const std::unique_ptr<ReadBackend> backend, openReadBackend(m_files.files, read));
  COLIBRI_ASSIGN_OR_RETURN(const std::vector<DenseStore::Want> wants,
                           ModelWeights::wants(m_config, m_layers, *m_shards));
  const DenseStore::Progress tell = [&](std::uint64_t done, std::uint64_t total) {
    m_denseBytes = total;
    if (progress) progress({done, total});
  };
  if (m_plan.streamsDense || hook.always) {
    // Threads read on while a layer computes; a ring would wait to be polled.
    read.kind = IoKind::kThreads;
    read.spans = m_spans.get();
    DenseStreaming streaming;
    streaming.threshold = hook.threshold;
    COLIBRI_ASSIGN_OR_RETURN(streaming.backend, openReadBackend(m_files.files, read));
    if (hook.wrap) streaming.backend = hook.wrap(std::move(streaming.backend));
    COLIBRI_ASSIGN_OR_RETURN(m_dense, DenseStore::loadStreaming(*m_shards, wants, *backend, std::move(streaming),
                                                                m_ledger, tell, cancellation));
  } else {
    COLIBRI_ASSIGN_OR_RETURN(m_dense, DenseStore::load(*m_shards, wants, *backend, m_ledger, tell, cancellation));
  }
  addNotices(backend->takeNotices());
  COLIBRI_ASSIGN_OR_RETURN(m_weights, ModelWeights::bind(m_config, m_layers, *m_shards, *m_dense));
  return Status::ok();
}

Status EngineCore::openExperts(const ReadBackendWrapper& wrap) {
  ReadOptions read = readOptions(m_options, m_plan.queueDepth);
  read.drives = m_files.drives;
  read.spans = m_spans.get();
  if (m_spans) {
    for (std::uint32_t i = 0; i < read.drives.size(); ++i) m_spans->nameDrive(i, read.drives[i].name);
  }
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<ReadBackend> backend, openReadBackend(m_files.files, read));
  m_plan.io = std::string(backend->name());
  if (wrap) backend = wrap(std::move(backend));
  ExpertStoreOptions options;
  options.slots = m_plan.expertSlots;
  options.history = &m_log->usage();
  COLIBRI_ASSIGN_OR_RETURN(m_experts, ExpertStore::create(m_layout, std::move(backend), options, m_ledger));
  return Status::ok();
}

Status EngineCore::openEngram() {
  if (!m_config.engram.present()) return Status::ok();
  std::vector<std::string> notices;
  COLIBRI_ASSIGN_OR_RETURN(m_engramTables, openEngramTables(m_config, m_options.model, m_tokenizer.get(),
                                                            m_options.dataFolder, m_summary.modelId, &notices));
  addNotices(std::move(notices));
  COLIBRI_ASSIGN_OR_RETURN(std::vector<EngramTable> tables, engramTables(m_config, *m_shards));
  ReadOptions read = readOptions(m_options, std::max(m_plan.queueDepth, kEngramQueueDepth));
  read.drives = m_files.drives;
  for (DriveOptions& drive : read.drives) drive.queueDepth = std::max(drive.queueDepth, kEngramQueueDepth);
  read.spans = m_spans.get();
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<ReadBackend> backend, openReadBackend(m_files.files, read));
  EngramStoreOptions options;
  for (const MemoryPart& part : m_plan.parts) {
    if (part.tag == MemoryTag::kEngramCache) options.cacheBytes = part.bytes;
  }
  COLIBRI_ASSIGN_OR_RETURN(m_engramStore,
                           EngramStore::create(std::move(tables), std::move(backend), options, m_ledger));
  m_engram.emplace(EngramContext{m_engramTables->hash, m_engramTables->classOf, *m_engramStore});
  return Status::ok();
}

Result<std::shared_ptr<const EncodedImage>> EngineCore::encodeImage(const ImagePixels& pixels,
                                                                    const Cancellation& cancellation) {
  if (m_summary.imageToken < 0) {
    return Status(Code::kUnavailable, "no_images", "This model takes no images; leave the image out.");
  }
  if (!m_images) {
    COLIBRI_ASSIGN_OR_RETURN(m_images,
                             ImageEncoder::create(m_config, *m_shards, *m_kernels, *m_team, m_options.numerics,
                                                  m_options.maxImageTokens, m_files.files, m_ledger));
  }
  if (!m_images->loaded()) {
    // The tower takes its room from the expert cache, which fills what the budget leaves.
    const std::int64_t free = static_cast<std::int64_t>(m_plan.budgetBytes) - m_ledger->total();
    const auto needed = static_cast<std::int64_t>(m_images->bytesNeeded());
    if (needed > free) (void)m_experts->shrink(static_cast<std::uint64_t>(needed - free));
  }
  return m_images->encode(pixels, cancellation);
}

Status EngineCore::preload(const std::function<void(const LoadProgress&)>& progress, const Cancellation& cancellation) {
  std::vector<std::uint32_t> order = m_log->usage().hottest(m_experts->slots());
  // What was never used comes after, evenly over the layers.
  std::vector<std::uint32_t> firstOf;
  std::uint32_t flat = 0;
  for (int layer = 0; layer < m_layout.layers(); ++layer) {
    firstOf.push_back(flat);
    flat += static_cast<std::uint32_t>(m_layout.experts(layer));
  }
  std::vector<bool> listed(flat, false);
  for (const std::uint32_t index : order) listed[index] = true;
  for (int expert = 0; expert < m_mostExperts; ++expert) {
    for (int layer = 0; layer < m_layout.layers(); ++layer) {
      const std::uint32_t index = firstOf[static_cast<std::size_t>(layer)] + static_cast<std::uint32_t>(expert);
      if (expert < m_layout.experts(layer) && !listed[index]) order.push_back(index);
    }
  }
  const auto tell = [&](std::uint64_t done, std::uint64_t total) {
    if (progress) progress({m_denseBytes + done, m_denseBytes + total});
  };
  Status status = m_experts->preload(order, tell, cancellation);
  if (status.code() != Code::kIo) return status;
  addNotices({status.message()});
  return Status::ok();
}

void EngineCore::addNotices(std::vector<std::string> notices) {
  const std::lock_guard lock(m_noticesMutex);
  m_notices.insert(m_notices.end(), std::make_move_iterator(notices.begin()), std::make_move_iterator(notices.end()));
}

std::vector<std::string> EngineCore::takeNotices() {
  addNotices(m_experts->backend().takeNotices());
  const std::lock_guard lock(m_noticesMutex);
  return std::exchange(m_notices, {});
}

void EngineCore::guardMemory() {
  // The image tower goes first: only the next image needs it again.
  const auto spare = [this]() -> std::uint64_t {
    if (!m_images || !m_images->loaded()) return 0;
    m_images->drop();
    return m_images->bytesNeeded();
  };
  if (std::string notice = m_guard->check(*m_experts, spare); !notice.empty()) addNotices({std::move(notice)});
}

EngramUse EngineCore::engramUse() const {
  if (!m_engramStore) return {};
  const EngramStoreStats stats = m_engramStore->stats();
  return {stats.rows, stats.rowHits, stats.bytesRead, stats.waitSeconds};
}

std::uint64_t EngineCore::residentExperts() const {
  std::uint64_t resident = 0;
  for (const std::uint8_t flag : m_experts->residency()) resident += flag;
  return resident;
}

LiveCounters EngineCore::live() const {
  const ExpertStoreStats stats = m_experts->stats();
  LiveCounters counters;
  counters.expertRequests = stats.requests;
  counters.expertHits = stats.hits;
  counters.bytesRead = stats.bytesRead;
  counters.readSeconds = stats.readSeconds;
  counters.expertsPrefetched = stats.prefetched;
  counters.prefetchedUsed = stats.prefetchedUsed;
  counters.prefetchedUnused = stats.prefetchedUnused;
  const EngramUse engram = engramUse();
  counters.engramRows = engram.rows;
  counters.engramHits = engram.rowHits;
  counters.engramBytesRead = engram.bytesRead;
  counters.expertSlots = m_experts->slots();
  counters.anonymousBytes = static_cast<std::int64_t>(m_guard->bytes());
  counters.memoryBytes = m_ledger->total();
  counters.memoryBudgetBytes = static_cast<std::int64_t>(m_plan.budgetBytes);
  return counters;
}

std::vector<DriveCounters> EngineCore::drives() const {
  return m_experts->backend().driveCounters();
}

Prediction EngineCore::predict(std::int64_t promptTokens, std::int64_t answerTokens) const {
  return m_log->predict({promptTokens, answerTokens, residentExperts()}, m_experts->slots());
}

Status EngineCore::writeTrace(const std::filesystem::path& file) const {
  if (m_spans) return m_spans->write(file);
  return Status(Code::kUsage, "no_trace", "This engine was opened without recording a timeline.");
}

Result<std::unique_ptr<Session>> EngineCore::newSession() {
  COLIBRI_ASSIGN_OR_RETURN(std::unique_ptr<SequenceState> state,
                           SequenceState::create(m_config, m_layers, m_options.context, m_options.numerics, m_ledger));
  return std::unique_ptr<Session>(std::make_unique<SessionCore>(shared_from_this(), std::move(state)));
}

}  // namespace colibri
