#include "model/engram.h"

#include "model/linear.h"

#include <algorithm>
#include <array>

namespace colibri {
namespace {

std::int64_t* rowsOf(const ModelContext& model, int segmentRow, int table) {
  const EngramConfig& c = model.config.engram;
  const auto tables = static_cast<std::ptrdiff_t>(c.layers.size());
  return model.work.engramIds + (segmentRow * tables + table) * c.columns();
}

// Asks for the rows of a stretch of the segment that are no image positions.
void request(const ModelContext& model, int table, int first, int rows, const std::int32_t* classes) {
  const auto columns = static_cast<std::size_t>(model.config.engram.columns());
  int begin = first;
  for (int row = first; row <= first + rows; ++row) {
    if (row < first + rows && classes[row] != kDeadClass) continue;
    if (row > begin) {
      model.engram->store.request(table, {rowsOf(model, begin, table), columns * static_cast<std::size_t>(row - begin)},
                                  ReadPriority::kCertain);
    }
    begin = row + 1;
  }
}

}  // namespace

void findEngramRows(const ModelContext& model, std::span<const TokenId> tokens, std::span<const float* const> images,
                    SequenceState& state) {
  if (model.engram == nullptr) return;
  const EngramConfig& c = model.config.engram;
  std::int32_t* classes = state.classes();
  const int position = state.position();
  const auto tables = static_cast<int>(c.layers.size());
  for (int row = 0; row < static_cast<int>(tokens.size()); ++row) {
    const auto at = static_cast<std::size_t>(row);
    const bool image = !images.empty() && images[at] != nullptr;
    classes[position + row] = image ? kDeadClass : model.engram->classOf[static_cast<std::size_t>(tokens[at])];
    for (int table = 0; table < tables; ++table)
      model.engram->hash.rows(table, {classes, static_cast<std::size_t>(position + row) + 1},
                              rowsOf(model, row, table));
  }
  const int chunk = std::min(static_cast<int>(tokens.size()), model.work.limits.chunk);
  for (int table = 0; table < tables; ++table) request(model, table, 0, chunk, classes + position);
}

void announceEngram(const ModelContext& model, TokenId token, SequenceState& state) {
  if (model.engram == nullptr || state.position() >= state.context()) return;
  findEngramRows(model, {&token, 1}, {}, state);
}

Status mixEngram(const ModelContext& model, const Pass& pass, int layer, SequenceState& state, float* streams) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  const EngramWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)].engram;
  const int columns = c.engram.columns();
  const int width = columns * c.engram.headDim;
  const int wide = (c.hcMult + 1) * c.hiddenSize;
  const std::ptrdiff_t streamWidth = static_cast<std::ptrdiff_t>(c.hcMult) * c.hiddenSize;
  std::array<int, kEngramRows> taking{};  // rows of the pass that are text, a block at a time
  for (int row = 0; row < pass.rows;) {
    int count = 0;
    for (; row < pass.rows && count < kEngramRows; ++row) {
      if (!pass.isImage(row)) taking[static_cast<std::size_t>(count++)] = row;
    }
    for (int i = 0; i < count; ++i) {
      std::copy_n(rowsOf(model, pass.first + taking[static_cast<std::size_t>(i)], spec.engram), columns,
                  w.engramBlock + static_cast<std::ptrdiff_t>(i) * columns);
    }
    const TimeCause before = pass.time->enter(TimeCause::kDiskWait);
    const Status read = model.engram->store.gather(
        spec.engram, {w.engramBlock, static_cast<std::size_t>(count) * static_cast<std::size_t>(columns)},
        w.engramValues, *pass.cancellation);
    pass.time->enter(before);
    COLIBRI_RETURN_IF_ERROR(read);
    for (int i = 0; i < count; ++i) roundVendor(model, w.engramValues + static_cast<std::ptrdiff_t>(i) * width, width);
    const float* values = quantiseActivation(model, w.engramValues, count, width, w.engramValues);
    linear(model, values, count, width, weights.wkv, w.engramKeys, wide, Rounding::kBf16);
    model.team.run(count, static_cast<std::int64_t>(count) * streamWidth * 8, [&](int i, int) {
      const float* keys = w.engramKeys + static_cast<std::ptrdiff_t>(i) * wide;
      float* stream = streams + taking[static_cast<std::size_t>(i)] * streamWidth;
      model.kernels.engramGate(stream, weights.query.data(), weights.key.data(), keys, keys + streamWidth, c.hiddenSize,
                               static_cast<float>(c.rmsEps));
      roundVendor(model, stream, streamWidth);
    });
  }
  const int next = pass.first + pass.rows;
  const int rows = std::min(model.work.limits.chunk, pass.total - next);
  if (rows > 0) request(model, spec.engram, next, rows, state.classes() + state.position());
  return Status::ok();
}

}  // namespace colibri
