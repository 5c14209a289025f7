#pragma once
// Inner values of a run, for teacher-forcing checks. Recording never changes a result.

#include <cstdint>
#include <vector>

namespace colibri {

/// Values of one layer for all rows computed so far, row after row.
struct LayerTrace {
  std::vector<float> attnIn;             ///< [D] normed input of the attention
  std::vector<float> attnOut;            ///< [D]
  std::vector<float> ffnIn;              ///< [D]
  std::vector<float> ffnOut;             ///< [D]
  std::vector<float> streams;            ///< [m][D] after the layer
  std::vector<std::int32_t> routerIds;   ///< [K]
  std::vector<float> routerWeights;      ///< [K]
  std::vector<std::int32_t> indexIds;    ///< [KI] best first, -1 = none; where the layer chooses
  std::vector<std::int32_t> candidates;  ///< [candidate blocks] ascending, -1 = none; of the layer that chooses them
  std::vector<std::int64_t> engramRows;  ///< [columns] table rows; where the layer reads a table
  std::vector<float> engramOut;          ///< [m][D] streams after them
};

struct Trace {
  std::vector<LayerTrace> layers;
  std::vector<float> finalNorm;  ///< [D] input of the head, for the rows whose logits were asked for
};

}  // namespace colibri
