#include "model/attention.h"

#include "model/compressor.h"
#include "model/indexer.h"
#include "model/linear.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

// Queries: low-rank projection, per-head norm, rope. Returns what indexer.wq_b reads.
const float* makeQueries(const ModelContext& model, const Pass& pass, const LayerSpec& spec,
                         const LayerWeights& weights, const float* x) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const auto eps = static_cast<float>(c.rmsEps);
  linear(model, x, pass.rows, c.hiddenSize, weights.wqA, w.qLora, c.qLoraRank, Rounding::kBf16);
  for (int row = 0; row < pass.rows; ++row) {
    float* q = w.qLora + static_cast<std::ptrdiff_t>(row) * c.qLoraRank;
    model.kernels.rmsNorm(q, weights.qNorm.data(), q, c.qLoraRank, eps);
    roundVendor(model, q, c.qLoraRank);
  }
  const float* qLora = quantiseActivation(model, w.qLora, pass.rows, c.qLoraRank, w.qLoraQuantised);
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(c.heads) * c.headDim;
  linear(model, qLora, pass.rows, c.qLoraRank, weights.wqB, w.query, width, Rounding::kBf16);
  model.team.run(pass.rows, pass.rows * width * 8, [&](int row, int) {
    for (int head = 0; head < c.heads; ++head) {
      float* q = w.query + row * width + static_cast<std::ptrdiff_t>(head) * c.headDim;
      if (model.vendor()) {
        model.kernels.queryNormVendor(q, c.headDim, eps);
      } else {
        model.kernels.rmsNorm(q, nullptr, q, c.headDim, eps);
      }
      rotate(model, spec.rope, row, q, c.headDim, false);
    }
  });
  return qLora;
}

// The pass's own key/value vectors, behind those of the W-1 positions before it.
void makeWindow(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                const LayerState& state, const float* x) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int before = c.slidingWindow - 1;
  for (int i = 0; i < before; ++i) {
    const int position = pass.position - before + i;
    if (position < 0) continue;
    std::copy_n(state.window + static_cast<std::ptrdiff_t>(position % c.slidingWindow) * c.headDim, c.headDim,
                w.window + static_cast<std::ptrdiff_t>(i) * c.headDim);
  }
  float* fresh = w.window + static_cast<std::ptrdiff_t>(before) * c.headDim;
  linear(model, x, pass.rows, c.hiddenSize, weights.wkv, fresh, c.headDim, Rounding::kBf16);
  for (int row = 0; row < pass.rows; ++row) {
    float* kv = fresh + static_cast<std::ptrdiff_t>(row) * c.headDim;
    model.kernels.rmsNorm(kv, weights.kvNorm.data(), kv, c.headDim, static_cast<float>(c.rmsEps));
    roundVendor(model, kv, c.headDim);
    rotate(model, spec.rope, row, kv, c.headDim, false);
    if (model.vendor()) model.kernels.qdqE4m3(kv, kv, c.headDim - c.ropeDim, 64);
  }
}

// Only after every row has attended: earlier rows of the pass still need what this overwrites.
void storeWindow(const ModelContext& model, const Pass& pass, LayerState& state) {
  const ModelConfig& c = model.config;
  const int kept = std::min(pass.rows, c.slidingWindow);
  for (int row = pass.rows - kept; row < pass.rows; ++row) {
    const int slot = (pass.position + row) % c.slidingWindow;
    std::copy_n(model.work.window + (static_cast<std::ptrdiff_t>(c.slidingWindow) - 1 + row) * c.headDim, c.headDim,
                state.window + static_cast<std::ptrdiff_t>(slot) * c.headDim);
  }
}

// Key rows of one query in the order of the sums: window ascending, then compressed entries ascending.
int listKeys(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerState& state, int row,
             const float** keys) {
  const ModelConfig& c = model.config;
  const Workspace& w = model.work;
  const int position = pass.position + row;
  int count = 0;
  for (int p = std::max(0, position - c.slidingWindow + 1); p <= position; ++p) {
    const std::ptrdiff_t index = p - (pass.position - (c.slidingWindow - 1));
    keys[count++] = w.window + index * c.headDim;
  }
  if (spec.ratio == 0) return count;
  if (!spec.indexer) {
    const int visible = (position + 1) / spec.ratio;
    for (int b = 0; b < visible; ++b) keys[count++] = state.compressed + static_cast<std::ptrdiff_t>(b) * c.headDim;
    return count;
  }
  const int first = count;
  const std::int32_t* choice = w.indexChoice + static_cast<std::ptrdiff_t>(row) * c.indexTopK;
  for (int i = 0; i < c.indexTopK && choice[i] >= 0; ++i) {
    keys[count++] = state.compressed + static_cast<std::ptrdiff_t>(choice[i]) * c.headDim;
  }
  std::sort(keys + first, keys + count);
  return count;
}

void attendRows(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                const LayerState& state) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.headDim)));
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(c.heads) * c.headDim;
  // With few rows the heads are spread over the team, with many each item takes a whole row.
  const int groups = pass.rows >= 2 * model.team.threads() ? 1 : c.heads;
  const int headsPerItem = c.heads / groups;
  const std::int64_t work = pass.rows * width * 2 * (c.slidingWindow + (spec.ratio == 0 ? 0 : w.keysStride / 2));
  model.team.run(pass.rows * groups, work, [&](int item, int thread) {
    const int row = item / groups;
    const int head = item % groups * headsPerItem;
    const float** keys = w.keys + static_cast<std::ptrdiff_t>(thread) * w.keysStride;
    const int count = listKeys(model, pass, spec, state, row, keys);
    const std::ptrdiff_t at = row * width + static_cast<std::ptrdiff_t>(head) * c.headDim;
    model.kernels.attention(w.query + at, headsPerItem, c.headDim, keys, count, weights.attnSink + head, scale,
                            model.vendor(), w.attended + at,
                            w.attentionScratch + static_cast<std::ptrdiff_t>(thread) * w.keysStride);
    for (int h = 0; h < headsPerItem; ++h) {
      float* o = w.attended + at + static_cast<std::ptrdiff_t>(h) * c.headDim;
      roundVendor(model, o, c.headDim);
      rotate(model, spec.rope, row, o, c.headDim, true);
    }
  });
}

}  // namespace

void attend(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, LayerState& state,
            const float* x, float* out) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];

  const float* quantised = quantiseActivation(model, x, pass.rows, c.hiddenSize, w.quantised);
  const float* qLora = makeQueries(model, pass, spec, weights, quantised);
  makeWindow(model, pass, spec, weights, state, quantised);
  if (spec.ratio != 0) {
    compress(model, tables, pass, spec, weights.compressor, EntryGrid::kAttention, x, state.compressor,
             state.compressed);
  }
  if (spec.indexer) {
    compress(model, tables, pass, spec, weights.indexCompressor, EntryGrid::kIndexer, x, state.indexCompressor,
             state.indexKeys);
    chooseEntries(model, pass, spec, weights, state, x, qLora);
  }
  attendRows(model, pass, spec, weights, state);
  storeWindow(model, pass, state);

  const int grouped = c.oGroups * c.oLoraRank;
  groupedLinear(model, w.attended, pass.rows, static_cast<std::ptrdiff_t>(c.heads) * c.headDim, weights.woA, c.oGroups,
                w.grouped, grouped);
  for (int row = 0; row < pass.rows && model.vendor(); ++row) {
    float* g = w.grouped + static_cast<std::ptrdiff_t>(row) * grouped;
    model.kernels.qdqE4m3(g, g, grouped, 128);
  }
  linear(model, w.grouped, pass.rows, grouped, weights.woB, out, c.hiddenSize, Rounding::kBf16);
}

}  // namespace colibri
