#include "model/compressor.h"

#include "model/linear.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace colibri {
namespace {

constexpr int kMostRows = 1024;  // ModelConfig refuses longer blocks

// Pools the state's rows into one entry: with overlap the earlier block gives its first half, this block its second.
void poolEntry(const ModelContext& model, const LayerSpec& spec, const CompressorState& state, int width,
               float* entry) {
  std::array<const float*, kMostRows> values;
  std::array<const float*, kMostRows> scores;
  for (int i = 0; i < state.rows; ++i) {
    const std::ptrdiff_t half = spec.overlap && i >= spec.ratio ? width : 0;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * state.width + half;
    values[static_cast<std::size_t>(i)] = state.values + at;
    scores[static_cast<std::size_t>(i)] = state.scores + at;
  }
  model.kernels.pool(values.data(), scores.data(), state.rows, width, entry);
}

void finishEntry(const ModelContext& model, const RotaryTables& tables, const LayerSpec& spec,
                 const CompressorWeights& weights, EntryGrid grid, int block, float* entry) {
  const int width = weights.width;
  roundVendor(model, entry, width);
  model.kernels.rmsNorm(entry, weights.norm.data(), entry, width, static_cast<float>(model.config.rmsEps));
  roundVendor(model, entry, width);
  rotateAt(model, tables, spec.rope, block * spec.ratio, entry, width);
  if (grid == EntryGrid::kIndexer) {
    model.kernels.hadamard(entry, width);
    roundVendor(model, entry, width);
    if (model.vendor()) model.kernels.qdqE2m1(entry, entry, width);
  } else if (model.vendor()) {
    model.kernels.qdqE4m3(entry, entry, width - model.config.ropeDim, 64);
  }
}

}  // namespace

void compress(const ModelContext& model, const RotaryTables& tables, const Pass& pass, const LayerSpec& spec,
              const CompressorWeights& weights, EntryGrid grid, const float* x, CompressorState& state,
              float* entries) {
  Workspace& w = model.work;
  const int wide = state.width;
  linear(model, x, pass.rows, model.config.hiddenSize, weights.wkv, w.compressValues, wide, Rounding::kNone);
  linear(model, x, pass.rows, model.config.hiddenSize, weights.wgate, w.compressScores, wide, Rounding::kNone);
  for (int row = 0; row < pass.rows; ++row) {
    const int position = pass.position + row;
    const int offset = position % spec.ratio;
    const std::ptrdiff_t slot = (spec.overlap ? spec.ratio : 0) + offset;
    float* score = w.compressScores + static_cast<std::ptrdiff_t>(row) * wide;
    model.kernels.add(weights.ape + static_cast<std::ptrdiff_t>(offset) * wide, score, wide);
    std::copy_n(w.compressValues + static_cast<std::ptrdiff_t>(row) * wide, wide, state.values + slot * wide);
    std::copy_n(score, wide, state.scores + slot * wide);
    if (offset != spec.ratio - 1) continue;
    const int block = position / spec.ratio;
    float* entry = entries + static_cast<std::ptrdiff_t>(block) * weights.width;
    poolEntry(model, spec, state, weights.width, entry);
    finishEntry(model, tables, spec, weights, grid, block, entry);
    if (spec.overlap) {
      const std::ptrdiff_t run = static_cast<std::ptrdiff_t>(spec.ratio) * wide;
      std::copy_n(state.values + run, run, state.values);
      std::copy_n(state.scores + run, run, state.scores);
    }
  }
}

}  // namespace colibri
