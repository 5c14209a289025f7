#pragma once
// Catches damaged weights at load without reading everything twice.

#include "checkpoint/tensor.h"
#include <colibri/status.h>

#include <cstddef>

namespace colibri {

/// Looks at a sample of the values at `data` for what no model can use (NaN scales, NaN or infinite weights): all of a
/// small tensor, evenly spread blocks of a large one, first and last always. kCheckpoint "bad_value" names tensor and
/// index.
Status checkWeightSample(const TensorInfo& tensor, const std::byte* data);

}  // namespace colibri
