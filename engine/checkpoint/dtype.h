#pragma once
// Names of element types as they stand in a safetensors header.

#include "checkpoint/tensor.h"

#include <optional>
#include <string_view>

namespace colibri {

/// The type of that exact spelling; nothing when the name is unknown (case matters).
[[nodiscard]] std::optional<Dtype> dtypeFromName(std::string_view name);

}  // namespace colibri
