#include "model/rotary.h"

#include "model/linear.h"

#include <array>

namespace colibri {
namespace {
constexpr int kMostPairs = 256;  // ModelConfig refuses wider rotary parts
}

RotaryTables RotaryTables::make(const ModelConfig& c) {
  RotaryTables tables;
  const auto pairs = static_cast<std::size_t>(c.ropeDim / 2);
  tables.plain.resize(pairs);
  tables.compressed.resize(pairs);
  RopeParameters plain;
  plain.dims = c.ropeDim;
  plain.base = c.ropeTheta;
  ropeFrequencies(plain, tables.plain.data());
  RopeParameters compressed = plain;
  compressed.base = c.compressRopeTheta;
  compressed.factor = c.ropeFactor;
  compressed.originalContext = c.originalContext;
  compressed.betaFast = c.betaFast;
  compressed.betaSlow = c.betaSlow;
  ropeFrequencies(compressed, tables.compressed.data());
  return tables;
}

void prepareRotary(const ModelContext& model, const RotaryTables& tables, int position, int rows) {
  const int pairs = model.config.ropeDim / 2;
  for (const RopeKind kind : {RopeKind::kPlain, RopeKind::kCompressed}) {
    const std::ptrdiff_t base =
        kind == RopeKind::kPlain ? 0 : static_cast<std::ptrdiff_t>(model.work.limits.chunk) * pairs;
    for (int row = 0; row < rows; ++row) {
      const std::ptrdiff_t at = base + static_cast<std::ptrdiff_t>(row) * pairs;
      ropeAngles(position + row, tables.of(kind).data(), pairs, model.work.cosines + at, model.work.sines + at);
    }
  }
}

void rotate(const ModelContext& model, RopeKind kind, int row, float* x, int width, bool inverse) {
  const int pairs = model.config.ropeDim / 2;
  const std::ptrdiff_t at =
      (kind == RopeKind::kPlain ? 0 : static_cast<std::ptrdiff_t>(model.work.limits.chunk) * pairs) +
      static_cast<std::ptrdiff_t>(row) * pairs;
  float* tail = x + width - model.config.ropeDim;
  model.kernels.rope(tail, model.work.cosines + at, model.work.sines + at, pairs, inverse);
  roundVendor(model, tail, model.config.ropeDim);
}

void rotateAt(const ModelContext& model, const RotaryTables& tables, RopeKind kind, int position, float* x, int width) {
  const int pairs = model.config.ropeDim / 2;
  std::array<float, kMostPairs> cosines;
  std::array<float, kMostPairs> sines;
  ropeAngles(position, tables.of(kind).data(), pairs, cosines.data(), sines.data());
  float* tail = x + width - model.config.ropeDim;
  model.kernels.rope(tail, cosines.data(), sines.data(), pairs, false);
  roundVendor(model, tail, model.config.ropeDim);
}

}  // namespace colibri
