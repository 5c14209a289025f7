#include "model/cache_rows.h"

#include <cstdint>
#include <cstring>

namespace colibri {
namespace {

constexpr int kE4m3Block = 64;
constexpr int kE2m1Group = 16;
constexpr int kE2m1Block = 32;

int blocks(int channels, int block) {
  return (channels + block - 1) / block;
}

std::uint8_t* bytesAt(std::byte* row, std::size_t offset) {
  return reinterpret_cast<std::uint8_t*>(row) + offset;
}
const std::uint8_t* bytesAt(const std::byte* row, std::size_t offset) {
  return reinterpret_cast<const std::uint8_t*>(row) + offset;
}

}  // namespace

std::size_t RowFormat::bytes() const {
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  switch (kind) {
    case Kind::kFloat:
      return size(width) * sizeof(float);
    case Kind::kHeadE4m3:
      return size(width - plain) + size(blocks(width - plain, kE4m3Block)) + 2 * size(plain);
    case Kind::kE2m1Groups16:
      return size(width) / 2 + size(blocks(width, kE2m1Group));
    case Kind::kE2m1Blocks32:
      return size(width) / 2 + size(blocks(width, kE2m1Block));
  }
  return 0;
}

CacheFormats CacheFormats::make(const ModelConfig& config, const LayerPlan& plan, Numerics numerics) {
  CacheFormats formats;
  formats.entry.width = config.headDim;
  formats.indexKey.width = config.indexHeadDim;
  if (numerics == Numerics::kFp32) return formats;
  formats.indexKey.kind = RowFormat::Kind::kE2m1Blocks32;
  if (plan.entryGrid == KvGrid::kFullE2m1) {
    formats.entry.kind = RowFormat::Kind::kE2m1Groups16;
  } else {
    formats.entry.kind = RowFormat::Kind::kHeadE4m3;
    formats.entry.plain = config.ropeDim;
  }
  return formats;
}

void storeRow(const Kernels& kernels, const RowFormat& format, const float* x, std::byte* row) {
  const int packed = format.width - format.plain;
  switch (format.kind) {
    case RowFormat::Kind::kFloat:
      std::memcpy(row, x, format.bytes());
      return;
    case RowFormat::Kind::kHeadE4m3: {
      const auto scales = static_cast<std::size_t>(packed);
      const auto rest = scales + static_cast<std::size_t>(blocks(packed, kE4m3Block));
      kernels.quantizeE4m3(x, packed, kE4m3Block, bytesAt(row, 0), reinterpret_cast<std::int8_t*>(row + scales));
      kernels.encodeBf16(x + packed, format.plain, bytesAt(row, rest));
      return;
    }
    case RowFormat::Kind::kE2m1Groups16:
      kernels.encodeE2m1Groups16(x, packed, bytesAt(row, 0), bytesAt(row, static_cast<std::size_t>(packed) / 2));
      return;
    case RowFormat::Kind::kE2m1Blocks32:
      kernels.encodeE2m1(x, packed, bytesAt(row, 0),
                         reinterpret_cast<std::int8_t*>(row + static_cast<std::size_t>(packed) / 2));
      return;
  }
}

void loadRow(const Kernels& kernels, const RowFormat& format, const std::byte* row, float* y) {
  const int packed = format.width - format.plain;
  switch (format.kind) {
    case RowFormat::Kind::kFloat:
      std::memcpy(y, row, format.bytes());
      return;
    case RowFormat::Kind::kHeadE4m3: {
      const auto scales = static_cast<std::size_t>(packed);
      const auto rest = scales + static_cast<std::size_t>(blocks(packed, kE4m3Block));
      kernels.decodeE4m3(bytesAt(row, 0), reinterpret_cast<const std::int8_t*>(row + scales), packed, kE4m3Block, y);
      kernels.decodeBf16Bytes(bytesAt(row, rest), format.plain, y + packed);
      return;
    }
    case RowFormat::Kind::kE2m1Groups16:
      kernels.decodeE2m1Groups16(bytesAt(row, 0), bytesAt(row, static_cast<std::size_t>(packed) / 2), packed, y);
      return;
    case RowFormat::Kind::kE2m1Blocks32:
      kernels.decodeE2m1(bytesAt(row, 0),
                         reinterpret_cast<const std::int8_t*>(row + static_cast<std::size_t>(packed) / 2), packed, y);
      return;
  }
}

}  // namespace colibri
