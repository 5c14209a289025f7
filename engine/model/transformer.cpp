#include "model/transformer.h"

#include "model/attention.h"
#include "model/hyper_connection.h"
#include "model/linear.h"
#include "model/moe.h"

#include <algorithm>

namespace colibri {
namespace {

template <typename T>
void record(std::vector<T>& target, const T* values, std::ptrdiff_t count) {
  target.insert(target.end(), values, values + count);
}

// RMS norm of the collapsed rows, in place in work.hidden.
void normRows(const ModelContext& model, int rows, const std::vector<float>& weight) {
  const ModelConfig& c = model.config;
  for (int row = 0; row < rows; ++row) {
    float* x = model.work.hidden + static_cast<std::ptrdiff_t>(row) * c.hiddenSize;
    model.kernels.rmsNorm(x, weight.data(), x, c.hiddenSize, static_cast<float>(c.rmsEps));
    roundVendor(model, x, c.hiddenSize);
  }
}

}  // namespace

void Transformer::embed(std::span<const TokenId> tokens) {
  const ModelConfig& c = m_model.config;
  const std::ptrdiff_t d = c.hiddenSize;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    float* row = m_model.work.streams + static_cast<std::ptrdiff_t>(i) * c.hcMult * d;
    m_model.kernels.decodeBf16(m_model.weights.embed.weight + static_cast<std::ptrdiff_t>(tokens[i]) * d, row, d);
    for (int stream = 1; stream < c.hcMult; ++stream) std::copy_n(row, d, row + stream * d);
  }
}

Status Transformer::waitForDense(int layer, const Cancellation& cancellation, TimeLedger& time) {
  if (m_model.dense == nullptr) return Status::ok();
  const TimeScope scope(time, TimeCause::kDiskWait);
  return m_model.dense->ensure(layer, cancellation);
}

Status Transformer::layerPass(int layer, LayerState& state, const Pass& pass, float* streams) {
  const ModelConfig& c = m_model.config;
  Workspace& w = m_model.work;
  const LayerWeights& weights = m_model.weights.layers[static_cast<std::size_t>(layer)];
  const std::ptrdiff_t values = static_cast<std::ptrdiff_t>(pass.rows) * c.hiddenSize;
  LayerTrace* trace = pass.trace == nullptr ? nullptr : &pass.trace->layers[static_cast<std::size_t>(layer)];

  pass.time->enter(TimeCause::kDense);
  hyperCollapse(m_model, streams, pass.rows, weights.hcAttn);
  normRows(m_model, pass.rows, weights.attnNorm);
  if (trace != nullptr) record(trace->attnIn, w.hidden, values);
  pass.time->enter(TimeCause::kAttention);
  attend(m_model, m_tables, pass, layer, state, w.hidden, w.sublayer);
  pass.time->enter(TimeCause::kDense);
  if (trace != nullptr) {
    record(trace->attnOut, w.sublayer, values);
    if (m_model.plan.layers[static_cast<std::size_t>(layer)].indexer) {
      record(trace->indexIds, w.indexChoice, static_cast<std::ptrdiff_t>(pass.rows) * c.indexTopK);
    }
  }
  hyperExpand(m_model, streams, pass.rows);

  hyperCollapse(m_model, streams, pass.rows, weights.hcFfn);
  normRows(m_model, pass.rows, weights.ffnNorm);
  if (trace != nullptr) record(trace->ffnIn, w.hidden, values);
  COLIBRI_RETURN_IF_ERROR(mixExperts(m_model, pass, layer, w.hidden, w.sublayer));
  if (trace != nullptr) {
    record(trace->ffnOut, w.sublayer, values);
    record(trace->routerIds, w.routerIds, static_cast<std::ptrdiff_t>(pass.rows) * c.expertsPerToken);
    record(trace->routerWeights, w.routerWeights, static_cast<std::ptrdiff_t>(pass.rows) * c.expertsPerToken);
  }
  hyperExpand(m_model, streams, pass.rows);
  if (trace != nullptr) record(trace->streams, streams, values * c.hcMult);
  return Status::ok();
}

void Transformer::head(const float* streams, float* logits) {
  const ModelConfig& c = m_model.config;
  Workspace& w = m_model.work;
  hyperHead(m_model, streams, w.hidden);
  normRows(m_model, 1, m_model.weights.norm);
  linear(m_model, w.hidden, 1, c.hiddenSize, m_model.weights.head, logits, c.vocabSize, Rounding::kNone);
}

Status Transformer::forward(SequenceState& state, std::span<const TokenId> tokens, const ForwardOutput& output,
                            const Cancellation& cancellation, TimeLedger& time,
                            const std::function<void(double)>& done) {
  const ModelConfig& c = m_model.config;
  const int total = static_cast<int>(tokens.size());
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(c.hcMult) * c.hiddenSize;
  if (output.trace != nullptr) output.trace->layers.resize(m_model.plan.layers.size());
  const PassScope onTimeline(time, output.phase == Phase::kDecode ? "decode" : "prefill", total, TimeCause::kDense);
  m_lookahead.begin(m_model, tokens);
  embed(tokens);
  for (int layer = 0; layer < c.layers; ++layer) {
    time.beginLayer(layer);
    COLIBRI_RETURN_IF_ERROR(waitForDense(layer, cancellation, time));
    for (int first = 0; first < total; first += m_model.work.limits.chunk) {
      if (cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
      Pass pass;
      pass.position = state.position() + first;
      pass.rows = std::min(m_model.work.limits.chunk, total - first);
      pass.first = first;
      pass.phase = output.phase;
      pass.predicts = output.predicts;
      pass.lookahead = &m_lookahead;
      pass.tokens = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(pass.rows));
      pass.cancellation = &cancellation;
      pass.time = &time;
      pass.trace = output.trace;
      prepareRotary(m_model, m_tables, pass.position, pass.rows);
      COLIBRI_RETURN_IF_ERROR(layerPass(layer, state.layer(layer), pass, m_model.work.streams + first * width));
      if (done) done((layer + static_cast<double>(first + pass.rows) / total) / c.layers);
    }
  }
  time.endLayers();
  if (m_model.dense != nullptr) m_model.dense->release();
  state.advance(total);
  if (output.want == ForwardOutput::Logits::kLast && total > 0) {
    head(m_model.work.streams + (total - 1) * width, output.logits);
  } else if (output.want == ForwardOutput::Logits::kAll) {
    for (int i = 0; i < total; ++i)
      head(m_model.work.streams + i * width, output.logits + static_cast<std::ptrdiff_t>(i) * c.vocabSize);
  }
  return Status::ok();
}

}  // namespace colibri
