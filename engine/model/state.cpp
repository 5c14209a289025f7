#include "model/state.h"

#include "base/carver.h"

#include <algorithm>
#include <limits>

namespace colibri {
namespace {

void carveCompressor(Carver& carver, const LayerSpec& spec, int width, CompressorState& state) {
  state.rows = spec.compressorRows();
  state.width = spec.overlapFactor() * width;
  const std::size_t floats = static_cast<std::size_t>(state.rows) * static_cast<std::size_t>(state.width);
  state.values = carver.take<float>(floats);
  state.scores = carver.take<float>(floats);
}

// The volatile part stands first: what snapshots copy and the journal saves. Returns its bytes; carver.used() is the
// whole.
std::size_t carve(Carver& carver, const ModelConfig& config, const LayerPlan& plan, int context,
                  const CacheFormats& formats, std::vector<LayerState>& layers, std::int32_t*& classes) {
  layers.assign(plan.layers.size(), {});
  for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
    const LayerSpec& spec = plan.layers[static_cast<std::size_t>(i)];
    LayerState& layer = layers[static_cast<std::size_t>(i)];
    layer.window = carver.take<float>(static_cast<std::size_t>(config.slidingWindow) * config.headDim);
    if (spec.owns(i) && spec.pooled) carveCompressor(carver, spec, config.headDim, layer.compressor);
    if (spec.indexKeys == IndexKeys::kOwnCompressor)
      carveCompressor(carver, spec, config.indexHeadDim, layer.indexCompressor);
  }
  const std::size_t volatileBytes = carver.used();
  if (config.engram.present()) classes = carver.take<std::int32_t>(static_cast<std::size_t>(context));
  for (int i = 0; i < static_cast<int>(layers.size()); ++i) {
    const LayerSpec& spec = plan.layers[static_cast<std::size_t>(i)];
    if (!spec.owns(i)) continue;
    const auto entries = static_cast<std::size_t>(context / spec.ratio);
    layers[static_cast<std::size_t>(i)].entries = carver.take<std::byte>(entries * formats.entry.bytes());
    if (spec.indexKeys != IndexKeys::kNone)
      layers[static_cast<std::size_t>(i)].indexKeys = carver.take<std::byte>(entries * formats.indexKey.bytes());
  }
  return volatileBytes;
}

struct JournalSize {
  std::size_t floats = 0;
  std::size_t records = 0;
};

void addCompressor(const LayerSpec& spec, int width, JournalSize& size) {
  const auto rows = static_cast<std::size_t>(spec.compressorRows());
  const std::size_t wide = static_cast<std::size_t>(spec.overlapFactor()) * static_cast<std::size_t>(width);
  // A token's own row; where entries overlap, a finished one moves all rows.
  const std::size_t moves = spec.overlap ? static_cast<std::size_t>(kJournalTokens / spec.ratio + 1) : 0;
  size.floats += 2 * wide * (kJournalTokens + moves * rows);
  size.records += 2 * (kJournalTokens + moves);
}

// What kJournalTokens tokens can write over.
JournalSize journalSize(const ModelConfig& config, const LayerPlan& plan) {
  JournalSize size;
  for (int i = 0; i < static_cast<int>(plan.layers.size()); ++i) {
    const LayerSpec& spec = plan.layers[static_cast<std::size_t>(i)];
    size.floats += static_cast<std::size_t>(kJournalTokens) * static_cast<std::size_t>(config.headDim);
    size.records += kJournalTokens;
    if (spec.owns(i) && spec.pooled) addCompressor(spec, config.headDim, size);
    if (spec.indexKeys == IndexKeys::kOwnCompressor) addCompressor(spec, config.indexHeadDim, size);
  }
  return size;
}

}  // namespace

std::uint64_t SequenceState::bytes(const ModelConfig& config, const LayerPlan& plan, int context, Numerics numerics) {
  Carver carver(nullptr);
  std::vector<LayerState> layers;
  std::int32_t* classes = nullptr;
  carve(carver, config, plan, context, CacheFormats::make(config, plan, numerics), layers, classes);
  const JournalSize journal = journalSize(config, plan);
  return carver.used() + Journal::bytes(journal.floats, journal.records);
}

Result<std::unique_ptr<SequenceState>> SequenceState::create(const ModelConfig& config, const LayerPlan& plan,
                                                             int context, Numerics numerics,
                                                             std::shared_ptr<Ledger> ledger) {
  std::unique_ptr<SequenceState> state(new SequenceState());
  state->m_ledger = std::move(ledger);
  state->m_formats = CacheFormats::make(config, plan, numerics);
  Carver counter(nullptr);
  carve(counter, config, plan, context, state->m_formats, state->m_layers, state->m_classes);
  COLIBRI_ASSIGN_OR_RETURN(state->m_buffer, Buffer::allocate(counter.used(), MemoryTag::kKv, state->m_ledger));
  Carver carver(state->m_buffer.data());
  state->m_volatileBytes = carve(carver, config, plan, context, state->m_formats, state->m_layers, state->m_classes);
  const JournalSize journal = journalSize(config, plan);
  COLIBRI_ASSIGN_OR_RETURN(state->m_journal, Journal::create(journal.floats, journal.records, state->m_ledger));
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
  m_incompleteUntil = 0;
  std::fill_n(m_buffer.data(), m_volatileBytes, std::byte{0});
  // A block that does not exist must not be pooled: its scores are minus infinity, not zero.
  for (const auto& [scores, count] : m_scores) std::fill_n(scores, count, -std::numeric_limits<float>::infinity());
}

bool SequenceState::rollBack(int position) {
  if (!m_journal.complete()) return false;
  m_journal.rollBack(position);
  m_position = std::min(m_position, position);
  return true;
}

std::uint64_t SequenceState::snapshotBytes(const ModelConfig& config, const LayerPlan& plan) {
  Carver carver(nullptr);
  std::vector<LayerState> layers;
  std::int32_t* classes = nullptr;
  return carve(carver, config, plan, 0, {}, layers, classes);
}

Result<SequenceState::Snapshot> SequenceState::snapshot() const {
  Snapshot copy;
  copy.position = m_position;
  copy.incompleteUntil = m_incompleteUntil;
  COLIBRI_ASSIGN_OR_RETURN(copy.volatileRows, Buffer::allocate(m_volatileBytes, MemoryTag::kKv, m_ledger));
  std::copy_n(m_buffer.data(), m_volatileBytes, copy.volatileRows.data());
  return copy;
}

void SequenceState::restore(const Snapshot& snapshot) {
  std::copy_n(snapshot.volatileRows.data(), m_volatileBytes, m_buffer.data());
  m_position = snapshot.position;
  m_incompleteUntil = snapshot.incompleteUntil;
}

}  // namespace colibri
