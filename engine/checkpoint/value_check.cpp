#include "checkpoint/value_check.h"

#include <algorithm>
#include <cstring>

namespace colibri {
namespace {

// Whole blocks first, so that the common case (nothing wrong) is a plain vector loop without branches.
template <typename T, typename Bad>
std::optional<std::uint64_t> scan(std::span<const std::byte> piece, Bad bad) {
  constexpr std::size_t kBlock = 1024;
  const std::size_t count = piece.size() / sizeof(T);
  T block[kBlock];
  for (std::size_t at = 0; at < count; at += kBlock) {
    const std::size_t n = std::min(kBlock, count - at);
    std::memcpy(block, piece.data() + at * sizeof(T), n * sizeof(T));  // the file's alignment is anyone's guess
    unsigned any = 0;
    for (std::size_t i = 0; i < n; ++i) any |= static_cast<unsigned>(bad(block[i]));
    if (any == 0) continue;
    for (std::size_t i = 0; i < n; ++i) {
      if (bad(block[i])) return at + i;
    }
  }
  return std::nullopt;
}

}  // namespace

unsigned checkedElementBytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF8E8M0:
    case Dtype::kF8E4M3:
      return 1;
    case Dtype::kBf16:
    case Dtype::kF16:
      return 2;
    case Dtype::kF32:
      return 4;
    case Dtype::kI64:
      return 8;
    default:
      return 0;
  }
}

std::optional<std::uint64_t> firstBadElement(Dtype dtype, std::span<const std::byte> piece, std::int64_t experts) {
  switch (dtype) {
    case Dtype::kF8E8M0:
      return scan<std::uint8_t>(piece, [](std::uint8_t bits) { return bits == 0xFF; });
    case Dtype::kF8E4M3:
      return scan<std::uint8_t>(piece, [](std::uint8_t bits) { return (bits & 0x7F) == 0x7F; });
    case Dtype::kBf16:
      return scan<std::uint16_t>(piece, [](std::uint16_t bits) { return (bits & 0x7F80) == 0x7F80; });
    case Dtype::kF16:
      return scan<std::uint16_t>(piece, [](std::uint16_t bits) { return (bits & 0x7C00) == 0x7C00; });
    case Dtype::kF32:
      return scan<std::uint32_t>(piece, [](std::uint32_t bits) { return (bits & 0x7F800000U) == 0x7F800000U; });
    case Dtype::kI64:
      if (experts == 0) return std::nullopt;
      return scan<std::int64_t>(piece, [experts](std::int64_t id) { return id < 0 || id >= experts; });
    default:
      return std::nullopt;
  }
}

}  // namespace colibri
