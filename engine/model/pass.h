#pragma once
// What every block of one pass over a layer gets: the model, the tools and the rows.

#include "checkpoint/model_config.h"
#include "kernels/kernels.h"
#include "model/engram_hash.h"
#include "model/layer_plan.h"
#include "model/team.h"
#include "model/trace.h"
#include "model/weights.h"
#include "model/workspace.h"
#include "store/dense_streaming.h"
#include "store/engram_store.h"
#include "store/expert_store.h"
#include "telemetry/time_split.h"
#include <colibri/cancellation.h>
#include <colibri/types.h>

#include <cstdint>
#include <span>

namespace colibri {

/// N-gram tables of a model that has them.
struct EngramContext {
  const EngramHash& hash;
  std::span<const std::int32_t> classOf;  ///< [vocab]
  EngramStore& store;
};

/// Parts of the model that do not change between passes. References outlive every pass.
struct ModelContext {
  const ModelConfig& config;
  const LayerPlan& plan;
  const ModelWeights& weights;
  const Kernels& kernels;
  const Team& team;
  ExpertStore& experts;
  Workspace& work;
  Numerics numerics = Numerics::kVendor;
  DenseStream* dense = nullptr;  ///< null: all dense weights are resident
  IndexKeyRule indexKeys = IndexKeyRule::kVendor;
  const EngramContext* engram = nullptr;  ///< null: the model has no n-gram tables

  [[nodiscard]] bool vendor() const { return numerics == Numerics::kVendor; }
};

/// What a forward call is for. Said by the caller, never inferred from positions or counts.
enum class Phase {
  kPrefill,
  kDecode,  ///< tokens that are computed one at a time
  kVerify   ///< several tokens at once with the results of one at a time
};

class ExpertLookahead;

/// One pass: `rows` consecutive tokens of a sequence from `position` on, through one layer.
struct Pass {
  int position = 0;
  int rows = 0;
  int first = 0;                         ///< of these rows in the forward call
  int total = 0;                         ///< rows of the forward call
  std::span<const TokenId> tokens;       ///< the rows' ids
  std::span<const float* const> images;  ///< empty, or a row's embedding where it belongs to an image, else null
  Phase phase = Phase::kPrefill;
  const Cancellation* cancellation = nullptr;
  TimeLedger* time = nullptr;            ///< never null
  Trace* trace = nullptr;                ///< null: nothing is recorded
  ExpertLookahead* lookahead = nullptr;  ///< told when a pass has its experts; may be null
  bool predicts = false;                 ///< the next layer's experts are guessed and read ahead

  [[nodiscard]] bool isImage(int row) const {
    return !images.empty() && images[static_cast<std::size_t>(row)] != nullptr;
  }
};

}  // namespace colibri
