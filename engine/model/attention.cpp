#include "model/attention.h"

#include "model/compressor.h"
#include "model/indexer.h"
#include "model/linear.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

// Queries: low-rank projection, per-head norm where the plan has it, rope. Returns what indexer.wq_b reads.
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
      if (model.plan.headNorm && model.vendor()) {
        model.kernels.queryNormVendor(q, c.headDim, eps);
      } else if (model.plan.headNorm) {
        model.kernels.rmsNorm(q, nullptr, q, c.headDim, eps);
      }
      rotate(model, spec.rope, row, q, c.headDim, false);
    }
  });
  return qLora;
}

// The pass's own key/value vectors, behind those of the W-1 positions before it.
void makeWindow(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                const float* ring, const float* x) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int before = c.slidingWindow - 1;
  for (int i = 0; i < before; ++i) {
    const int position = pass.position - before + i;
    if (position < 0) continue;
    std::copy_n(ring + static_cast<std::ptrdiff_t>(position % c.slidingWindow) * c.headDim, c.headDim,
                w.window + static_cast<std::ptrdiff_t>(i) * c.headDim);
  }
  float* fresh = w.window + static_cast<std::ptrdiff_t>(before) * c.headDim;
  linear(model, x, pass.rows, c.hiddenSize, weights.wkv, fresh, c.headDim, Rounding::kBf16);
  for (int row = 0; row < pass.rows; ++row) {
    float* kv = fresh + static_cast<std::ptrdiff_t>(row) * c.headDim;
    model.kernels.rmsNorm(kv, weights.kvNorm.data(), kv, c.headDim, static_cast<float>(c.rmsEps));
    roundVendor(model, kv, c.headDim);
    rotate(model, spec.rope, row, kv, c.headDim, false);
    if (!model.vendor()) continue;
    if (model.plan.windowGrid == KvGrid::kFullE4m3) {
      model.kernels.qdqE4m3(kv, kv, c.headDim, 32);
    } else {
      model.kernels.qdqE4m3(kv, kv, c.headDim - c.ropeDim, 64);
    }
  }
}

// Only after every row has attended: earlier rows of the pass still need what this overwrites.
void storeWindow(const ModelContext& model, const Pass& pass, float* ring, Journal& journal) {
  const ModelConfig& c = model.config;
  const int kept = std::min(pass.rows, c.slidingWindow);
  for (int row = pass.rows - kept; row < pass.rows; ++row) {
    const int position = pass.position + row;
    float* slot = ring + static_cast<std::ptrdiff_t>(position % c.slidingWindow) * c.headDim;
    journal.save(position, slot, static_cast<std::size_t>(c.headDim));
    std::copy_n(model.work.window + (static_cast<std::ptrdiff_t>(c.slidingWindow) - 1 + row) * c.headDim, c.headDim,
                slot);
  }
}

// Where the keys of a pass's queries are.
class KeyRows {
public:
  KeyRows(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const SequenceState& state)
      : m_model(model), m_pass(pass), m_spec(spec), m_format(state.formats().entry) {
    if (spec.kvSource >= 0) m_entries = state.layer(spec.kvSource).entries;
    if (spec.kvSource < 0 || spec.indexSource >= 0) return;
    m_all = reinterpret_cast<const float*>(m_entries);
    if (!m_format.isFloat()) unpackAll();
  }

  /// Packed entries that `row` chose become numbers in `target` [KI][dh]; items of one row may be spread over threads.
  void unpack(int row, int from, int to, float* target) const {
    const std::int32_t* choice = choiceOf(row);
    for (int i = from; i < to && choice[i] >= 0; ++i) load(choice[i], target + at(i));
  }
  /// Whether unpack() is needed before list().
  [[nodiscard]] bool chosenArePacked() const { return m_spec.indexSource >= 0 && !m_format.isFloat(); }

  /// Key rows of one query in the order of the sums: window ascending, then entries ascending.
  int list(int row, const float* unpacked, const float** keys) const {
    const ModelConfig& c = m_model.config;
    const int position = m_pass.position + row;
    int count = 0;
    for (int p = std::max(0, position - c.slidingWindow + 1); p <= position; ++p) {
      keys[count++] = m_model.work.window + at(p - (m_pass.position - (c.slidingWindow - 1)));
    }
    if (m_spec.kvSource < 0) return count;
    if (m_spec.indexSource < 0) {
      const int visible = (position + 1) / m_spec.ratio;
      for (int b = 0; b < visible; ++b) keys[count++] = m_all + at(b);
      return count;
    }
    return count + listChosen(row, unpacked, keys + count);
  }

private:
  [[nodiscard]] std::ptrdiff_t at(std::ptrdiff_t row) const { return row * m_model.config.headDim; }
  [[nodiscard]] const std::int32_t* choiceOf(int row) const {
    return m_model.work.choice + static_cast<std::ptrdiff_t>(m_pass.first + row) * m_model.config.indexTopK;
  }
  void load(int entry, float* target) const {
    loadRow(m_model.kernels, m_format, m_entries + static_cast<std::size_t>(entry) * m_format.bytes(), target);
  }

  // The choice is best first; the sums go by entry.
  int listChosen(int row, const float* unpacked, const float** keys) const {
    const int most = m_model.config.indexTopK;
    const std::int32_t* choice = choiceOf(row);
    int count = 0;
    if (unpacked == nullptr) {
      for (; count < most && choice[count] >= 0; ++count) {
        keys[count] = reinterpret_cast<const float*>(m_entries) + at(choice[count]);
      }
      std::sort(keys, keys + count);
      return count;
    }
    while (count < most && choice[count] >= 0) ++count;
    const auto stride = static_cast<std::ptrdiff_t>(m_model.config.headDim);
    for (int i = 0; i < count; ++i) keys[i] = unpacked + at(i);
    std::sort(keys, keys + count, [&](const float* a, const float* b) {
      return choice[(a - unpacked) / stride] < choice[(b - unpacked) / stride];
    });
    return count;
  }

  // All rows of the pass read the same entries, so they become numbers once.
  void unpackAll() {
    const int visible = (m_pass.position + m_pass.rows) / m_spec.ratio;
    float* target = m_model.work.allEntries;
    m_model.team.run(visible, static_cast<std::int64_t>(visible) * m_model.config.headDim * 2,
                     [&](int entry, int) { load(entry, target + at(entry)); });
    m_all = target;
  }

  const ModelContext& m_model;
  const Pass& m_pass;
  const LayerSpec& m_spec;
  const RowFormat& m_format;
  const std::byte* m_entries = nullptr;
  const float* m_all = nullptr;
};

// Heads [head, head + count) of one row.
void attendHeads(const ModelContext& model, const LayerSpec& spec, const LayerWeights& weights, int row, int head,
                 int count, const float* const* keys, int keyCount, float* scratch) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(c.headDim)));
  const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(row) * c.heads + head) * c.headDim;
  model.kernels.attention(w.query + at, count, c.headDim, keys, keyCount, weights.attnSink + head, scale,
                          model.vendor(), w.attended + at, scratch);
  for (int h = 0; h < count; ++h) {
    float* o = w.attended + at + static_cast<std::ptrdiff_t>(h) * c.headDim;
    roundVendor(model, o, c.headDim);
    rotate(model, spec.rope, row, o, c.headDim, true);
  }
}

void attendRows(const ModelContext& model, const Pass& pass, const LayerSpec& spec, const LayerWeights& weights,
                const SequenceState& state) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const KeyRows rows(model, pass, spec, state);
  const auto keysOf = [&](int thread) { return w.keys + static_cast<std::ptrdiff_t>(thread) * w.keysStride; };
  const auto scratchOf = [&](int thread) {
    return w.attentionScratch + static_cast<std::ptrdiff_t>(thread) * w.keysStride;
  };
  const std::ptrdiff_t entryStride = static_cast<std::ptrdiff_t>(c.indexTopK) * c.headDim;
  const std::int64_t work =
      static_cast<std::int64_t>(c.heads) * c.headDim * 2 * (c.slidingWindow + (spec.ratio == 0 ? 0 : w.keysStride / 2));
  if (pass.rows >= 2 * model.team.threads()) {
    model.team.run(pass.rows, work * pass.rows, [&](int row, int thread) {
      float* unpacked = rows.chosenArePacked() ? w.entryRows + thread * entryStride : nullptr;
      if (unpacked != nullptr) rows.unpack(row, 0, c.indexTopK, unpacked);
      const int count = rows.list(row, unpacked, keysOf(thread));
      attendHeads(model, spec, weights, row, 0, c.heads, keysOf(thread), count, scratchOf(thread));
    });
    return;
  }
  // With few rows the heads of each are spread over the team.
  for (int row = 0; row < pass.rows; ++row) {
    float* unpacked = rows.chosenArePacked() ? w.entryRows : nullptr;
    if (unpacked != nullptr) {
      constexpr int kAtOnce = 32;
      model.team.run((c.indexTopK + kAtOnce - 1) / kAtOnce, entryStride * 2, [&](int item, int) {
        rows.unpack(row, item * kAtOnce, std::min(c.indexTopK, (item + 1) * kAtOnce), unpacked);
      });
    }
    const int count = rows.list(row, unpacked, w.keys);
    model.team.run(c.heads, work, [&](int head, int thread) {
      attendHeads(model, spec, weights, row, head, 1, w.keys, count, scratchOf(thread));
    });
  }
}

}  // namespace

void feedAttention(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer,
                   SequenceState& state, const float* x) {
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];
  float* ring = state.layer(layer).window;
  const float* quantised = quantiseActivation(model, x, pass.rows, model.config.hiddenSize, model.work.quantised);
  makeWindow(model, pass, spec, weights, ring, quantised);
  if (spec.owns(layer)) compress(model, tables, pass, layer, x, state);
  storeWindow(model, pass, ring, state.journal());
}

void attend(const ModelContext& model, const RotaryTables& tables, const Pass& pass, int layer, SequenceState& state,
            const float* x, float* out) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];
  float* ring = state.layer(layer).window;

  const float* quantised = quantiseActivation(model, x, pass.rows, c.hiddenSize, w.quantised);
  const float* qLora = makeQueries(model, pass, spec, weights, quantised);
  makeWindow(model, pass, spec, weights, ring, quantised);
  if (spec.owns(layer)) compress(model, tables, pass, layer, x, state);
  if (spec.chooses(layer)) chooseEntries(model, pass, layer, state, x, qLora);
  attendRows(model, pass, spec, weights, state);
  storeWindow(model, pass, ring, state.journal());

  const int grouped = c.oGroups * c.oLoraRank;
  groupedLinear(model, w.attended, pass.rows, static_cast<std::ptrdiff_t>(c.heads) * c.headDim, weights.woA, c.oGroups,
                w.grouped, grouped);
  const float* narrow = quantiseActivation(model, w.grouped, pass.rows, grouped, w.grouped);
  linear(model, narrow, pass.rows, grouped, weights.woB, out, c.hiddenSize, Rounding::kBf16);
}

}  // namespace colibri
