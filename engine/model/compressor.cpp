#include "model/compressor.h"

#include "model/linear.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace colibri {
namespace {

constexpr int kMostRows = 1024;  // ModelConfig refuses longer blocks

// What one compressor works on.
struct Compressor {
  const LayerSpec& spec;
  const CompressorWeights& weights;
  CompressorState& state;
};

// Pools the state's rows into one entry: with overlap the earlier block gives its first half, this block its second.
void poolEntry(const ModelContext& model, const Compressor& c, float* entry) {
  std::array<const float*, kMostRows> values;
  std::array<const float*, kMostRows> scores;
  for (int i = 0; i < c.state.rows; ++i) {
    const std::ptrdiff_t half = c.spec.overlap && i >= c.spec.ratio ? c.weights.width : 0;
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * c.state.width + half;
    values[static_cast<std::size_t>(i)] = c.state.values + at;
    scores[static_cast<std::size_t>(i)] = c.state.scores + at;
  }
  model.kernels.pool(values.data(), scores.data(), c.state.rows, c.weights.width, entry);
}

void normEntry(const ModelContext& model, const std::vector<float>& norm, float* entry) {
  const auto width = static_cast<int>(norm.size());
  roundVendor(model, entry, width);
  model.kernels.rmsNorm(entry, norm.data(), entry, width, static_cast<float>(model.config.rmsEps));
  roundVendor(model, entry, width);
}

// Puts one row into a compressor's state; true when it completes a block. Saves what it writes over.
bool feed(const Compressor& c, Journal& journal, int position, const float* values, const float* scores) {
  const int offset = position % c.spec.ratio;
  const std::ptrdiff_t at = ((c.spec.overlap ? c.spec.ratio : 0) + offset) * static_cast<std::ptrdiff_t>(c.state.width);
  const auto wide = static_cast<std::size_t>(c.state.width);
  journal.save(position, c.state.values + at, wide);
  journal.save(position, c.state.scores + at, wide);
  std::copy_n(values, wide, c.state.values + at);
  std::copy_n(scores, wide, c.state.scores + at);
  return offset == c.spec.ratio - 1;
}

// Where entries overlap, the finished block is the next one's earlier half.
void shift(const Compressor& c, Journal& journal, int position) {
  if (!c.spec.overlap) return;
  const auto run = static_cast<std::size_t>(c.spec.ratio) * static_cast<std::size_t>(c.state.width);
  for (float* rows : {c.state.values, c.state.scores}) {
    journal.save(position, rows, run);
    std::copy_n(rows + run, run, rows);
  }
}

// Calls use(row, entry) for each entry that the pass's rows finish, in their order; entry [width] is not normed yet and
// may be changed.
template <typename Use>
void forEachEntry(const ModelContext& model, const Pass& pass, const Compressor& c, Journal& journal, const float* x,
                  float* entry, const Use& use) {
  Workspace& w = model.work;
  const int hidden = model.config.hiddenSize;
  const int wide = c.spec.overlapFactor() * c.weights.width;
  linear(model, x, pass.rows, hidden, c.weights.wkv, w.compressValues, wide, Rounding::kNone);
  if (c.spec.pooled) linear(model, x, pass.rows, hidden, c.weights.wgate, w.compressScores, wide, Rounding::kNone);
  for (int row = 0; row < pass.rows; ++row) {
    const float* values = w.compressValues + static_cast<std::ptrdiff_t>(row) * wide;
    if (!c.spec.pooled) {
      std::copy_n(values, wide, entry);
      use(row, entry);
      continue;
    }
    const int position = pass.position + row;
    float* scores = w.compressScores + static_cast<std::ptrdiff_t>(row) * wide;
    if (c.weights.ape != nullptr) {
      model.kernels.add(c.weights.ape + static_cast<std::ptrdiff_t>(position % c.spec.ratio) * wide, scores, wide);
    }
    if (!feed(c, journal, position, values, scores)) continue;
    poolEntry(model, c, entry);
    use(row, entry);
    shift(c, journal, position);
  }
}

void storeIndexKey(const ModelContext& model, const RotaryTables& tables, const LayerSpec& spec, int block, float* key,
                   SequenceState& state, LayerState& layer) {
  const int width = model.config.indexHeadDim;
  rotateAt(model, tables, spec.rope, block * spec.ratio, key, width);
  if (model.plan.indexHadamard) {
    model.kernels.hadamard(key, width);
    roundVendor(model, key, width);
  }
  const RowFormat& format = state.formats().indexKey;
  storeRow(model.kernels, format, key, layer.indexKeys + static_cast<std::size_t>(block) * format.bytes());
}

}  // namespace

void compress(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, const float* x,
              SequenceState& state) {
  const ModelConfig& config = model.config;
  Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];
  LayerState& caches = state.layer(layer);
  const auto blockOf = [&](int row) { return (pass.position + row) / spec.ratio; };
  forEachEntry(model, pass, {spec, weights.compressor, caches.compressor}, state.journal(), x, w.entry,
               [&](int row, float* entry) {
                 normEntry(model, weights.compressor.norm, entry);
                 if (spec.indexKeys == IndexKeys::kFromEntry) {
                   linear(model, entry, 1, config.headDim, weights.indexWk, w.indexKey, config.indexHeadDim,
                          Rounding::kBf16);
                   normEntry(model, weights.indexKeyNorm, w.indexKey);
                   storeIndexKey(model, tables, spec, blockOf(row), w.indexKey, state, caches);
                 }
                 rotateAt(model, tables, spec.rope, blockOf(row) * spec.ratio, entry, config.headDim);
                 const RowFormat& format = state.formats().entry;
                 storeRow(model.kernels, format, entry,
                          caches.entries + static_cast<std::size_t>(blockOf(row)) * format.bytes());
               });
  if (spec.indexKeys != IndexKeys::kOwnCompressor) return;
  forEachEntry(model, pass, {spec, weights.indexCompressor, caches.indexCompressor}, state.journal(), x, w.indexKey,
               [&](int row, float* key) {
                 normEntry(model, weights.indexCompressor.norm, key);
                 storeIndexKey(model, tables, spec, blockOf(row), key, state, caches);
               });
}

}  // namespace colibri
