#pragma once
// Activations and scratch of one pass, allocated once for the largest pass there can be.

#include "base/buffer.h"
#include "checkpoint/model_config.h"
#include "model/layer_plan.h"
#include <colibri/status.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace colibri {

/// Limits that size the workspace.
struct WorkspaceLimits {
  int segment = 1;  ///< tokens whose streams are held at once
  int chunk = 1;    ///< rows of one pass over a layer, <= segment
  int context = 1;  ///< tokens a sequence can have
  int threads = 1;
};

/// Named pieces of one buffer; n = chunk rows. All fp32 unless said.
struct Workspace {
  WorkspaceLimits limits;

  float* streams = nullptr;             ///< [segment][m][D]
  float* streamsNext = nullptr;         ///< [n][m][D]
  float* mixes = nullptr;               ///< [n][(2+m)m]
  float* post = nullptr;                ///< [n][m]
  float* comb = nullptr;                ///< [n][m][m]
  float* pre = nullptr;                 ///< [n][m]
  float* hidden = nullptr;              ///< [n][D] normed input of a sublayer
  float* quantised = nullptr;           ///< [n][D] the same through the activation quantiser
  float* sublayer = nullptr;            ///< [n][D] output of a sublayer
  float* qLora = nullptr;               ///< [n][Rq]
  float* qLoraQuantised = nullptr;      ///< [n][Rq]
  float* query = nullptr;               ///< [n][H*dh]
  float* attended = nullptr;            ///< [n][H*dh]
  float* grouped = nullptr;             ///< [n][G*Ro]
  float* window = nullptr;              ///< [W-1+n][dh] keys of the pass, positions ascending
  float* compressValues = nullptr;      ///< [n][2*dh]
  float* compressScores = nullptr;      ///< [n][2*dh]
  float* indexQuery = nullptr;          ///< [n][HI*dI]
  float* indexWeight = nullptr;         ///< [n][HI]
  float* indexScore = nullptr;          ///< [threads][context/4]
  std::int32_t* indexChoice = nullptr;  ///< [n][KI], -1 = none
  const float** keys = nullptr;         ///< [threads][W + max(KI, context/128)]
  int keysStride = 0;
  float* attentionScratch = nullptr;  ///< [threads][keysStride]
  float* cosines = nullptr;           ///< [2 rope kinds][n][dr/2]
  float* sines = nullptr;
  float* routerLogits = nullptr;        ///< [n][E]
  float* routerBiased = nullptr;        ///< [E]
  std::int32_t* routerIds = nullptr;    ///< [n][K]
  float* routerWeights = nullptr;       ///< [n][K]
  std::byte* prepared = nullptr;        ///< [n] rows prepared for the fp4 linears, input D
  std::byte* preparedGather = nullptr;  ///< the same, gathered for one expert
  std::byte* preparedHidden = nullptr;  ///< [n] rows prepared, input I
  std::size_t preparedStride = 0;
  std::size_t preparedHiddenStride = 0;
  float* gathered = nullptr;       ///< [n][D] raw rows of one expert (`fp32`)
  float* gate = nullptr;           ///< [n][I]
  float* up = nullptr;             ///< [n][I]
  float* activated = nullptr;      ///< [n][I]
  float* expertOut = nullptr;      ///< [n][K][D] partial outputs, kept apart
  float* expertRows = nullptr;     ///< [n][D] output rows of one expert
  float* rowWeights = nullptr;     ///< [n] routing weights of one expert's rows
  int* sumOrder = nullptr;         ///< [K]
  float* linearScratch = nullptr;  ///< [threads][widest input]
  int linearScratchStride = 0;
  int mostExperts = 0;

  /// Bytes for these limits; `mostExperts` is the largest layer's number of routed experts.
  static std::uint64_t bytes(const ModelConfig& config, const LayerPlan& plan, const WorkspaceLimits& limits,
                             int mostExperts);
  static Result<std::unique_ptr<Workspace>> create(const ModelConfig& config, const LayerPlan& plan,
                                                   const WorkspaceLimits& limits, int mostExperts,
                                                   std::shared_ptr<Ledger> ledger);

private:
  std::uint64_t carve(std::byte* base, const ModelConfig& config, const LayerPlan& plan);
  Buffer m_buffer;
};

}  // namespace colibri
