#pragma once
// The Engine that the public header promises: weights, expert cache, kernels and workspace of one loaded model.

#include "base/ledger.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "kernels/kernels.h"
#include "model/layer_plan.h"
#include "model/prefetch_governor.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "session/engram_tables.h"
#include "session/image_encoder.h"
#include "session/memory_guard.h"
#include "session/shard_files.h"
#include "session/turn_log.h"
#include "store/dense_store.h"
#include "store/dense_streaming.h"
#include "store/engram_store.h"
#include "store/expert_store.h"
#include "telemetry/span_recorder.h"
#include <colibri/engine.h>
#include <colibri/tokenizer.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

/// How the routed experts' reads are made; tests put a fault-injecting backend in between.
using ReadBackendWrapper = std::function<std::unique_ptr<ReadBackend>(std::unique_ptr<ReadBackend>)>;

/// How dense weights are streamed, for tests: always instead of when the plan says so, smaller tensors too, through
/// another backend.
struct DenseStreamingHook {
  bool always = false;
  std::uint64_t threshold = kStreamedTensorBytes;
  ReadBackendWrapper wrap;
};

class EngineCore final : public Engine, public std::enable_shared_from_this<EngineCore> {
public:
  /// Engine::open, with hooks around the expert reads and the streaming of dense weights.
  static Result<std::shared_ptr<EngineCore>> open(const EngineOptions& options,
                                                  const std::function<void(const LoadProgress&)>& progress,
                                                  const Cancellation& cancellation, const ReadBackendWrapper& wrap = {},
                                                  const DenseStreamingHook& dense = {});

  [[nodiscard]] const EngineOptions& options() const override { return m_options; }
  [[nodiscard]] const EnginePlan& plan() const override { return m_plan; }
  [[nodiscard]] const ModelSummary& model() const override { return m_summary; }
  [[nodiscard]] double loadSeconds() const override { return m_loadSeconds; }
  [[nodiscard]] const Tokenizer* tokenizer() const override { return m_tokenizer.get(); }
  [[nodiscard]] LiveCounters live() const override;
  [[nodiscard]] std::vector<std::uint8_t> residency() const override { return m_experts->residency(); }
  [[nodiscard]] std::vector<std::uint8_t> heat() const override { return m_experts->heat(); }
  [[nodiscard]] std::vector<DriveCounters> drives() const override;
  [[nodiscard]] Prediction predict(std::int64_t promptTokens, std::int64_t answerTokens) const override;
  [[nodiscard]] std::vector<std::string> takeNotices() override;
  Status writeTrace(const std::filesystem::path& file) const override;
  Result<std::shared_ptr<const EncodedImage>> encodeImage(const ImagePixels& pixels,
                                                          const Cancellation& cancellation) override;
  Result<std::unique_ptr<Session>> newSession() override;

  [[nodiscard]] const ModelConfig& config() const { return m_config; }
  [[nodiscard]] const LayerPlan& layers() const { return m_layers; }
  [[nodiscard]] const WorkspaceLimits& limits() const { return m_work->limits; }
  [[nodiscard]] Transformer& transformer() { return *m_transformer; }
  [[nodiscard]] const ModelWeights& weights() const { return m_weights; }
  [[nodiscard]] ExpertStore& experts() { return *m_experts; }
  /// N-gram rows read so far; all zero for models without such tables.
  [[nodiscard]] EngramUse engramUse() const;
  [[nodiscard]] PrefetchGovernor& prefetching() { return *m_governor; }
  [[nodiscard]] TurnLog& log() { return *m_log; }
  [[nodiscard]] std::uint64_t residentExperts() const;
  /// Highest anonymous memory of the process since loading; 0: unknown.
  [[nodiscard]] std::uint64_t anonymousPeak() const { return m_guard->peak(); }
  /// Between passes: the cache shrinks when the process holds more than its budget.
  void guardMemory();
  void addNotices(std::vector<std::string> notices);
  [[nodiscard]] const std::shared_ptr<Ledger>& ledger() const { return m_ledger; }
  /// Where the timeline goes; nullptr without EngineOptions::recordSpans.
  [[nodiscard]] SpanRecorder* spans() const { return m_spans.get(); }

private:
  EngineCore() = default;
  Status readModel();
  /// Measures the drives that are not known yet, when the model is large enough to make it matter.
  Status measureDrives(const Cancellation& cancellation);
  Status planAndAllocate(const Cancellation& cancellation);
  Status loadWeights(const std::function<void(const LoadProgress&)>& progress, const Cancellation& cancellation,
                     const DenseStreamingHook& hook);
  Status openExperts(const ReadBackendWrapper& wrap);
  Status openEngram();
  Status preload(const std::function<void(const LoadProgress&)>& progress, const Cancellation& cancellation);

  EngineOptions m_options;
  EnginePlan m_plan;
  ModelSummary m_summary;
  double m_loadSeconds = 0;
  std::uint64_t m_denseBytes = 0;  ///< read at load
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  std::unique_ptr<SpanRecorder> m_spans;
  std::unique_ptr<TurnLog> m_log;
  std::optional<MemoryGuard> m_guard;
  std::optional<PrefetchGovernor> m_governor;
  std::mutex m_noticesMutex;
  std::vector<std::string> m_notices;  ///< under m_noticesMutex
  ModelConfig m_config;
  LayerPlan m_layers;
  std::shared_ptr<const ShardSet> m_shards;
  std::shared_ptr<const Tokenizer> m_tokenizer;
  ExpertLayout m_layout;
  ShardFiles m_files;
  int m_mostExperts = 0;
  const Kernels* m_kernels = nullptr;
  std::unique_ptr<DenseStore> m_dense;
  ModelWeights m_weights;
  std::unique_ptr<ExpertStore> m_experts;
  std::optional<EngramTables> m_engramTables;
  std::unique_ptr<EngramStore> m_engramStore;
  std::optional<EngramContext> m_engram;
  std::unique_ptr<ImageEncoder> m_images;
  std::unique_ptr<Workspace> m_work;
  std::unique_ptr<Team> m_team;
  std::unique_ptr<Transformer> m_transformer;
};

}  // namespace colibri
