#pragma once
// What one pass over the model touches, in bytes by layer: the data that predictions are computed from.

#include "checkpoint/expert_layout.h"
#include "checkpoint/model_config.h"
#include "model/layer_plan.h"
#include "store/dense_store.h"
#include <colibri/types.h>

#include <cstdint>
#include <span>
#include <vector>

namespace colibri {

/// Weight bytes of one layer for one token. Lookup tables, of which a token reads one row, are not counted.
struct LayerCost {
  std::uint64_t denseBytes = 0;     ///< attention, router, norms, hyper-connections
  std::uint64_t sharedBytes = 0;    ///< the shared expert
  std::uint64_t streamedBytes = 0;  ///< of both, what is read from disk for each pass when dense weights do not fit
  std::uint64_t expertBytes = 0;    ///< payload of one routed expert
  int experts = 0;                  ///< routed experts; 0: none
  bool knowsExpertsEarly = false;   ///< chosen by token id, so they can be read while earlier layers compute
  int promptReach = 0;              ///< last prompt positions that are computed here; 0: all (LayerPlan::outputReach)
  int tableRows = 0;                ///< rows of an n-gram table that one token reads before this layer

  /// Rows of a stretch of `rows` prompt tokens, with `after` more behind it, that are computed here.
  [[nodiscard]] std::int64_t rowsOf(std::int64_t rows, std::int64_t after) const;
};

struct ModelCosts {
  std::vector<LayerCost> layers;
  std::uint64_t headBytes = 0;  ///< output head
  int expertsPerToken = 0;

  [[nodiscard]] std::uint64_t totalExperts() const;
  /// Routed expert payload that one token needs.
  [[nodiscard]] std::uint64_t routedBytesPerToken() const;
  /// Weights that every token needs: all layers' dense and shared bytes and the head.
  [[nodiscard]] std::uint64_t denseBytesPerToken() const;
};

/// Resident tensors of a checkpoint by purpose, in bytes.
struct ResidentBytes {
  std::uint64_t dense = 0;
  std::uint64_t head = 0;        ///< output head and embedding table
  std::uint64_t streamable = 0;  ///< part of dense that can be read for each pass
  std::uint64_t windows = 0;     ///< RAM that the streamable part needs when it is
};

struct ModelSizes {
  ModelCosts costs;
  ResidentBytes resident;
};

/// `wants` are the tensors that the engine keeps in RAM (ModelWeights::wants). Drafter and image tower are not among
/// them: the one is not used yet, the other is loaded with the first image.
[[nodiscard]] ModelSizes sizesOf(const ModelConfig& config, const LayerPlan& layers,
                                 std::span<const DenseStore::Want> wants, const ExpertLayout& layout);

}  // namespace colibri
