#include "model/state.h"

#include <algorithm>
#include <limits>

namespace colibri {
namespace {

// Hands out consecutive pieces of a buffer; with no buffer it only counts.
class Carver {
public:
  explicit Carver(float* base) : m_base(base) {}
  float* take(std::size_t floats) {
    float* piece = m_base == nullptr ? nullptr : m_base + m_used;
    m_used += (floats + 15) / 16 * 16;
    return piece;
  }
  [[nodiscard]] std::size_t used() const { return m_used; }

private:
  float* m_base;
  std::size_t m_used = 0;
};

void carveCompressor(Carver& carver, const LayerSpec& spec, int width, CompressorState& state) {
  state.rows = spec.compressorRows();
  state.width = spec.overlapFactor() * width;
  const std::size_t floats = static_cast<std::size_t>(state.rows) * static_cast<std::size_t>(state.width);
  state.values = carver.take(floats);
  state.scores = carver.take(floats);
}

// Returns the floats of the volatile part; carver.used() is the whole.
std::size_t carve(Carver& carver, const ModelConfig& config, const LayerPlan& plan, int context,
                  std::vector<LayerState>& layers) {
  layers.assign(plan.layers.size(), {});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& spec = plan.layers[i];
    layers[i].window = carver.take(static_cast<std::size_t>(config.slidingWindow) * config.headDim);
    if (spec.ratio != 0) carveCompressor(carver, spec, config.headDim, layers[i].compressor);
    if (spec.indexer) carveCompressor(carver, spec, config.indexHeadDim, layers[i].indexCompressor);
  }
  const std::size_t volatileFloats = carver.used();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerSpec& spec = plan.layers[i];
    if (spec.ratio == 0) continue;
    const auto entries = static_cast<std::size_t>(context / spec.ratio);
    layers[i].compressed = carver.take(entries * config.headDim);
    if (spec.indexer) layers[i].indexKeys = carver.take(entries * config.indexHeadDim);
  }
  return volatileFloats;
}

}  // namespace

std::uint64_t SequenceState::bytes(const ModelConfig& config, const LayerPlan& plan, int context) {
  Carver carver(nullptr);
  std::vector<LayerState> layers;
  carve(carver, config, plan, context, layers);
  return carver.used() * sizeof(float);
}

Result<std::unique_ptr<SequenceState>> SequenceState::create(const ModelConfig& config, const LayerPlan& plan,
                                                             int context, std::shared_ptr<Ledger> ledger) {
  std::unique_ptr<SequenceState> state(new SequenceState());
  state->m_ledger = std::move(ledger);
  COLIBRI_ASSIGN_OR_RETURN(state->m_buffer,
                           Buffer::allocate(bytes(config, plan, context), MemoryTag::kKv, state->m_ledger));
  Carver carver(state->m_buffer.as<float>());
  state->m_volatileFloats = carve(carver, config, plan, context, state->m_layers);
  for (const LayerState& layer : state->m_layers) {
    for (const CompressorState* c : {&layer.compressor, &layer.indexCompressor}) {
      if (c->scores != nullptr) {
        state->m_scores.emplace_back(c->scores, static_cast<std::size_t>(c->rows) * static_cast<std::size_t>(c->width));
      }
    }
  }
  state->m_context = context;
  state->clear();
  return state;
}

void SequenceState::clear() {
  m_position = 0;
  std::fill_n(m_buffer.as<float>(), m_volatileFloats, 0.0F);
  // A block that does not exist must not be pooled: its scores are minus infinity, not zero.
  for (const auto& [scores, count] : m_scores) std::fill_n(scores, count, -std::numeric_limits<float>::infinity());
}

std::uint64_t SequenceState::snapshotBytes(const ModelConfig& config, const LayerPlan& plan) {
  Carver carver(nullptr);
  std::vector<LayerState> layers;
  return carve(carver, config, plan, 0, layers) * sizeof(float);
}

Result<SequenceState::Snapshot> SequenceState::snapshot() const {
  Snapshot copy;
  copy.position = m_position;
  COLIBRI_ASSIGN_OR_RETURN(copy.volatileRows,
                           Buffer::allocate(m_volatileFloats * sizeof(float), MemoryTag::kKv, m_ledger));
  std::copy_n(m_buffer.as<float>(), m_volatileFloats, copy.volatileRows.as<float>());
  return copy;
}

void SequenceState::restore(const Snapshot& snapshot) {
  std::copy_n(snapshot.volatileRows.as<float>(), m_volatileFloats, m_buffer.as<float>());
  m_position = snapshot.position;
}

}  // namespace colibri
