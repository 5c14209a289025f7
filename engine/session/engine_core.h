#pragma once
// The Engine that the public header promises: weights, expert cache, kernels and workspace of one loaded model.

#include "base/ledger.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "kernels/kernels.h"
#include "model/layer_plan.h"
#include "model/transformer.h"
#include "model/weights.h"
#include "store/dense_store.h"
#include "store/expert_store.h"
#include <colibri/engine.h>
#include <colibri/tokenizer.h>

#include <memory>

namespace colibri {

/// How the routed experts' reads are made; tests put a fault-injecting backend in between.
using ReadBackendWrapper = std::function<std::unique_ptr<ReadBackend>(std::unique_ptr<ReadBackend>)>;

class EngineCore final : public Engine, public std::enable_shared_from_this<EngineCore> {
public:
  /// Engine::open, with a hook around the expert reads.
  static Result<std::shared_ptr<EngineCore>> open(const EngineOptions& options,
                                                  const std::function<void(const LoadProgress&)>& progress,
                                                  const Cancellation& cancellation,
                                                  const ReadBackendWrapper& wrap = {});

  [[nodiscard]] const EngineOptions& options() const override { return m_options; }
  [[nodiscard]] const EnginePlan& plan() const override { return m_plan; }
  [[nodiscard]] const ModelSummary& model() const override { return m_summary; }
  [[nodiscard]] double loadSeconds() const override { return m_loadSeconds; }
  [[nodiscard]] const Tokenizer* tokenizer() const override { return m_tokenizer.get(); }
  [[nodiscard]] LiveCounters live() const override;
  [[nodiscard]] std::vector<std::uint8_t> residency() const override { return m_experts->residency(); }
  [[nodiscard]] std::vector<std::uint8_t> heat() const override { return m_experts->heat(); }
  [[nodiscard]] std::vector<DriveCounters> drives() const override;
  [[nodiscard]] Prediction predict(std::int64_t promptTokens) const override;
  [[nodiscard]] std::vector<std::string> takeNotices() override;
  Status writeTrace(const std::filesystem::path& file) const override;
  Result<std::unique_ptr<Session>> newSession() override;

  [[nodiscard]] const ModelConfig& config() const { return m_config; }
  [[nodiscard]] const LayerPlan& layers() const { return m_layers; }
  [[nodiscard]] const WorkspaceLimits& limits() const { return m_work->limits; }
  [[nodiscard]] Transformer& transformer() { return *m_transformer; }
  [[nodiscard]] ExpertStore& experts() { return *m_experts; }
  [[nodiscard]] const std::shared_ptr<Ledger>& ledger() const { return m_ledger; }

private:
  EngineCore() = default;
  Status readModel();
  Status planAndAllocate();
  Status loadWeights(const std::function<void(const LoadProgress&)>& progress, const Cancellation& cancellation);
  Status openExperts(const ReadBackendWrapper& wrap);

  EngineOptions m_options;
  EnginePlan m_plan;
  ModelSummary m_summary;
  double m_loadSeconds = 0;
  std::shared_ptr<Ledger> m_ledger = std::make_shared<Ledger>();
  ModelConfig m_config;
  LayerPlan m_layers;
  std::shared_ptr<const ShardSet> m_shards;
  std::shared_ptr<const Tokenizer> m_tokenizer;
  ExpertLayout m_layout;
  int m_mostExperts = 0;
  const Kernels* m_kernels = nullptr;
  std::unique_ptr<DenseStore> m_dense;
  ModelWeights m_weights;
  std::unique_ptr<ExpertStore> m_experts;
  std::unique_ptr<Workspace> m_work;
  std::unique_ptr<Team> m_team;
  std::unique_ptr<Transformer> m_transformer;
};

}  // namespace colibri
