#pragma once
// Activations and scratch of one pass, allocated once for the largest pass there can be.

#include "base/buffer.h"
#include "checkpoint/model_config.h"
#include "model/layer_plan.h"
#include <colibri/status.h>
#include <colibri/types.h>

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
  Numerics numerics = Numerics::kVendor;
};

/// Index keys that are scored at once.
inline constexpr int kScoreBlock = 256;
/// Rows that n-gram tables are mixed into at once.
inline constexpr int kEngramRows = 32;

/// Named pieces of one buffer; n = chunk rows. All fp32 unless said.
struct Workspace {
  WorkspaceLimits limits;

  float* streams = nullptr;         ///< [segment][m][D]
  float* streamsNext = nullptr;     ///< [n][m][D]
  float* mixes = nullptr;           ///< [n][(2+m)m]
  float* post = nullptr;            ///< [n][m]
  float* comb = nullptr;            ///< [n][m][m]
  float* pre = nullptr;             ///< [n][m]
  float* carriedMix = nullptr;      ///< [segment][m] pre mix that the next sublayer uses (LayerPlan::laggedMix)
  float* hidden = nullptr;          ///< [n][D] normed input of a sublayer
  float* quantised = nullptr;       ///< [n][D] the same through the activation quantiser
  float* sublayer = nullptr;        ///< [n][D] output of a sublayer
  float* qLora = nullptr;           ///< [n][Rq]
  float* qLoraQuantised = nullptr;  ///< [n][Rq]
  float* query = nullptr;           ///< [n][H*dh]
  float* attended = nullptr;        ///< [n][H*dh]
  float* grouped = nullptr;         ///< [n][G*Ro]
  float* window = nullptr;          ///< [W-1+n][dh] keys of the pass, positions ascending
  float* compressValues = nullptr;  ///< [n][2*dh]
  float* compressScores = nullptr;  ///< [n][2*dh]
  float* indexQuery = nullptr;      ///< [n][HI*dI]
  float* indexWeight = nullptr;     ///< [n][HI]
  float* indexScore = nullptr;      ///< [threads][kScoreBlock]
  float* indexScratch = nullptr;    ///< [threads][dI]
  std::uint64_t* best = nullptr;    ///< [threads][bestStride] room for choosing the best
  std::size_t bestStride = 0;
  std::int32_t* choice = nullptr;      ///< [segment][KI] entries of the last layer that chose, -1 = none
  std::int32_t* candidates = nullptr;  ///< [segment][candidate blocks], ascending; null where all are always candidates
  std::int32_t* candidateCount = nullptr;  ///< [segment]; -1: every visible block
  float* entry = nullptr;                  ///< [dh] one finished entry
  float* indexKey = nullptr;               ///< [dI]
  float* entryRows = nullptr;              ///< [threads][KI][dh] chosen entries as numbers, where they are packed
  float* allEntries = nullptr;   ///< [context/ratio][dh] all entries of a layer that does not choose, the same
  const float** keys = nullptr;  ///< [threads][W + max(KI, context/128)]
  int keysStride = 0;
  float* attentionScratch = nullptr;    ///< [threads][keysStride]
  std::int64_t* engramIds = nullptr;    ///< [segment][tables][columns] rows of the n-gram tables
  std::int64_t* engramBlock = nullptr;  ///< [kEngramRows][columns] of these, the ones looked up at once
  float* engramValues = nullptr;        ///< [kEngramRows][columns * dim]
  float* engramKeys = nullptr;          ///< [kEngramRows][(m+1) * D]: keys, then the value
  float* cosines = nullptr;             ///< [2 rope kinds][n][dr/2]
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
