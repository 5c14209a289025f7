#pragma once
// Inner values of a run, for teacher-forcing checks. Recording never changes a result.

#include <cstdint>
#include <vector>

namespace colibri {

/// Values of one layer for all rows computed so far, row after row.
struct LayerTrace {
  std::vector<float> attnIn;            ///< [D] normed input of the attention
  std::vector<float> attnOut;           ///< [D]
  std::vector<float> ffnIn;             ///< [D]
  std::vector<float> ffnOut;            ///< [D]
  std::vector<float> streams;           ///< [m][D] after the layer
  std::vector<std::int32_t> routerIds;  ///< [K]
  std::vector<float> routerWeights;     ///< [K]
  std::vector<std::int32_t> indexIds;   ///< [KI] best first, -1 = none
};

struct Trace {
  std::vector<LayerTrace> layers;
};

}  // namespace colibri
