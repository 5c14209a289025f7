#pragma once
// Values that no model can use, found while a shard is read: NaN scales, NaN and infinite weights, experts that do not
// exist.

#include "checkpoint/tensor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace colibri {

/// Element size in bytes of the types that are checked; 0 for those whose every bit pattern is a value.
[[nodiscard]] unsigned checkedElementBytes(Dtype dtype);

/// Index of the first impossible element in `piece`, which holds whole elements. `experts` bounds an I64 routing table
/// (0: no bound).
[[nodiscard]] std::optional<std::uint64_t> firstBadElement(Dtype dtype, std::span<const std::byte> piece,
                                                           std::int64_t experts);

}  // namespace colibri
