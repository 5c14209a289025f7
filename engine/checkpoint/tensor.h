#pragma once
// What a safetensors header says about one tensor, and where its bytes are.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

enum class Dtype : std::uint8_t {
  kBool,
  kU8,
  kI8,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBf16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};

/// Spelling in the header ("F8_E8M0").
[[nodiscard]] std::string_view dtypeName(Dtype dtype);
[[nodiscard]] unsigned dtypeBits(Dtype dtype);

/// One tensor of a shard. Offsets are absolute in the file, so a read needs nothing else.
struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::kU8;
  std::vector<std::uint64_t> shape;
  std::uint32_t shard = 0;   ///< index into ShardSet::shards()
  std::uint64_t offset = 0;  ///< first byte, from the start of the file
  std::uint64_t bytes = 0;
};

/// A run of bytes of one shard file.
struct Extent {
  std::uint32_t shard = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

}  // namespace colibri
