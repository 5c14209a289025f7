#pragma once
// Rotary tables of a pass, and their use on the last channels of a vector.

#include "model/pass.h"

#include <vector>

namespace colibri {

/// Frequencies of both rope kinds for a config; made once at load.
struct RotaryTables {
  std::vector<float> plain;       ///< [dr/2]
  std::vector<float> compressed;  ///< [dr/2], YaRN where the config has it
  static RotaryTables make(const ModelConfig& config);
  [[nodiscard]] const std::vector<float>& of(RopeKind kind) const {
    return kind == RopeKind::kPlain ? plain : compressed;
  }
};

/// Fills work.cosines / work.sines for the rows of a segment's pass, both kinds.
void prepareRotary(const ModelContext& model, const RotaryTables& tables, int position, int rows);

/// Rotates the last dr of `width` channels of x for row `row` of the pass.
void rotate(const ModelContext& model, RopeKind kind, int row, float* x, int width, bool inverse);
/// The same at any position (compressed entries stand at their block's first token).
void rotateAt(const ModelContext& model, const RotaryTables& tables, RopeKind kind, int position, float* x, int width);

}  // namespace colibri
