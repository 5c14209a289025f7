#pragma once
// Rows of the compressed caches as they are stored: in the `vendor` profile packed on the grid that the released code
// rounds them to, which loses nothing; in `fp32` as they are.

#include "checkpoint/model_config.h"
#include "kernels/kernels.h"
#include "model/layer_plan.h"
#include <colibri/types.h>

#include <cstddef>

namespace colibri {

/// One row's form. Packed rows stand without gaps, so they are not aligned.
struct RowFormat {
  enum class Kind {
    kFloat,         ///< fp32
    kHeadE4m3,      ///< e4m3 with an exponent per 64 channels, then `plain` channels in bf16
    kE2m1Groups16,  ///< e2m1 with an e4m3 scale per 16 channels
    kE2m1Blocks32   ///< e2m1 with an exponent per 32 channels
  };
  Kind kind = Kind::kFloat;
  int width = 0;  ///< channels
  int plain = 0;  ///< of these, the last ones that the grid leaves alone

  [[nodiscard]] std::size_t bytes() const;
  /// Whether a stored row is its fp32 values, which can be read in place.
  [[nodiscard]] bool isFloat() const { return kind == Kind::kFloat; }
};

/// Forms of a model's caches.
struct CacheFormats {
  RowFormat entry;
  RowFormat indexKey;
  static CacheFormats make(const ModelConfig& config, const LayerPlan& plan, Numerics numerics);
};

/// Rounds x [width] to the row's grid and stores it.
void storeRow(const Kernels& kernels, const RowFormat& format, const float* x, std::byte* row);
/// The row's values: y [width].
void loadRow(const Kernels& kernels, const RowFormat& format, const std::byte* row, float* y);

}  // namespace colibri
