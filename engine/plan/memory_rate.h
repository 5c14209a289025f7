#pragma once
// How fast this machine reads its memory.

#include <cstdint>

namespace colibri {

/// Bytes a second that `threads` threads together read from a buffer of `bytes` that does not stay in their caches,
/// blocks that others interrupted left out, in at most about a tenth of a second. Takes and frees that memory; 0 when
/// it is not to be had. Blocks.
[[nodiscard]] double measureMemoryRate(int threads, std::uint64_t bytes = std::uint64_t{192} << 20);

}  // namespace colibri
