#include "model/transformer.h"

#include "model/attention.h"
#include "model/engram.h"
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

// Entries chosen by a layer that chooses, and its candidates.
void recordChoice(const ModelContext& model, const Pass& pass, int layer, LayerTrace& trace) {
  const ModelConfig& c = model.config;
  const Workspace& w = model.work;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(layer)];
  if (!spec.chooses(layer)) return;
  record(trace.indexIds, w.choice + static_cast<std::ptrdiff_t>(pass.first) * c.indexTopK,
         static_cast<std::ptrdiff_t>(pass.rows) * c.indexTopK);
  if (spec.candidates != CandidateRole::kChooses) return;
  for (int row = 0; row < pass.rows; ++row) {
    const std::ptrdiff_t at = pass.first + row;
    const int visible = (pass.position + row + 1) / spec.ratio;
    const bool all = w.candidates == nullptr || w.candidateCount[at] < 0;
    const int count = all ? (visible + c.candidateBlockSize - 1) / c.candidateBlockSize : w.candidateCount[at];
    for (int i = 0; i < c.candidateBlocks; ++i) {
      const int block = i >= count ? -1 : all ? i : w.candidates[at * c.candidateBlocks + i];
      trace.candidates.push_back(block);
    }
  }
}

}  // namespace

// One forward call, as its passes see it.
struct Transformer::Call {
  SequenceState& state;
  const ForwardInput& input;
  const ForwardOutput& output;
  const Cancellation& cancellation;
  TimeLedger& time;
  const std::function<void(double)>& done;

  [[nodiscard]] int total() const { return static_cast<int>(input.tokens.size()); }
};

void Transformer::embed(const ForwardInput& input) {
  const ModelConfig& c = m_model.config;
  const std::ptrdiff_t d = c.hiddenSize;
  for (std::size_t i = 0; i < input.tokens.size(); ++i) {
    float* row = m_model.work.streams + static_cast<std::ptrdiff_t>(i) * c.hcMult * d;
    if (!input.images.empty() && input.images[i] != nullptr) {
      std::copy_n(input.images[i], d, row);
    } else {
      m_model.kernels.decodeBf16(m_model.weights.embed.weight + static_cast<std::ptrdiff_t>(input.tokens[i]) * d, row,
                                 d);
    }
    for (int stream = 1; stream < c.hcMult; ++stream) std::copy_n(row, d, row + stream * d);
  }
  if (m_model.plan.laggedMix) startMix(m_model, 0, static_cast<int>(input.tokens.size()));
}

void Transformer::announce(TokenId token, SequenceState& state) {
  m_lookahead.begin(m_model, {&token, 1});
  announceEngram(m_model, token, state);
}

int Transformer::promptReach() const {
  return m_model.plan.outputReach(std::max(0, m_model.plan.lastSource), m_model.config.slidingWindow);
}

Status Transformer::waitForDense(int layer, const Cancellation& cancellation, TimeLedger& time) {
  if (m_model.dense == nullptr) return Status::ok();
  const TimeScope scope(time, TimeCause::kDiskWait);
  return m_model.dense->ensure(layer, cancellation);
}

// What comes before a layer's attention: its n-gram table, the collapsed and normed rows in work.hidden.
Status Transformer::collapseForAttention(int layer, SequenceState& state, const Pass& pass, float* streams) {
  const LayerWeights& weights = m_model.weights.layers[static_cast<std::size_t>(layer)];
  pass.time->enter(TimeCause::kDense);
  if (m_model.engram != nullptr && m_model.plan.layers[static_cast<std::size_t>(layer)].engram >= 0) {
    COLIBRI_RETURN_IF_ERROR(mixEngram(m_model, pass, layer, state, streams));
    if (pass.trace != nullptr) {
      const ModelConfig& c = m_model.config;
      LayerTrace& trace = pass.trace->layers[static_cast<std::size_t>(layer)];
      const auto tables = static_cast<std::ptrdiff_t>(c.engram.layers.size());
      const int table = m_model.plan.layers[static_cast<std::size_t>(layer)].engram;
      for (int row = pass.first; row < pass.first + pass.rows; ++row)
        record(trace.engramRows, m_model.work.engramIds + (row * tables + table) * c.engram.columns(),
               c.engram.columns());
      record(trace.engramOut, streams, static_cast<std::ptrdiff_t>(pass.rows) * c.hcMult * c.hiddenSize);
    }
  }
  hyperCollapse(m_model, streams, pass.first, pass.rows, weights.hcAttn);
  normRows(m_model, pass.rows, weights.attnNorm);
  return Status::ok();
}

Status Transformer::feedPass(int layer, SequenceState& state, const Pass& pass, float* streams) {
  COLIBRI_RETURN_IF_ERROR(collapseForAttention(layer, state, pass, streams));
  pass.time->enter(TimeCause::kAttention);
  feedAttention(m_model, m_tables, pass, layer, state, m_model.work.hidden);
  pass.time->enter(TimeCause::kDense);
  return Status::ok();
}

Status Transformer::layerPass(int layer, SequenceState& state, const Pass& pass, float* streams) {
  const ModelConfig& c = m_model.config;
  Workspace& w = m_model.work;
  const LayerWeights& weights = m_model.weights.layers[static_cast<std::size_t>(layer)];
  const std::ptrdiff_t values = static_cast<std::ptrdiff_t>(pass.rows) * c.hiddenSize;
  LayerTrace* trace = pass.trace == nullptr ? nullptr : &pass.trace->layers[static_cast<std::size_t>(layer)];

  COLIBRI_RETURN_IF_ERROR(collapseForAttention(layer, state, pass, streams));
  if (trace != nullptr) record(trace->attnIn, w.hidden, values);
  pass.time->enter(TimeCause::kAttention);
  attend(m_model, m_tables, pass, layer, state, w.hidden, w.sublayer);
  pass.time->enter(TimeCause::kDense);
  if (trace != nullptr) {
    record(trace->attnOut, w.sublayer, values);
    recordChoice(m_model, pass, layer, *trace);
  }
  hyperExpand(m_model, streams, pass.rows);

  hyperCollapse(m_model, streams, pass.first, pass.rows, weights.hcFfn);
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

void Transformer::head(int row, float* logits, Trace* trace) {
  const ModelConfig& c = m_model.config;
  Workspace& w = m_model.work;
  const float* streams = w.streams + static_cast<std::ptrdiff_t>(row) * c.hcMult * c.hiddenSize;
  hyperHead(m_model, streams, row, w.hidden);
  normRows(m_model, 1, m_model.weights.norm);
  if (trace != nullptr) record(trace->finalNorm, w.hidden, c.hiddenSize);
  linear(m_model, w.hidden, 1, c.hiddenSize, m_model.weights.head, logits, c.vocabSize, Rounding::kNone);
}

// Rows [from, to) of the call through one layer, in passes of a chunk.
Status Transformer::layerRows(const Call& call, int layer, int from, int to, bool feedsOnly) {
  const ModelConfig& c = m_model.config;
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(c.hcMult) * c.hiddenSize;
  for (int first = from; first < to; first += m_model.work.limits.chunk) {
    if (call.cancellation.isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
    Pass pass;
    pass.position = call.state.position() + first;
    pass.rows = std::min(m_model.work.limits.chunk, to - first);
    pass.first = first;
    pass.total = call.total();
    pass.phase = call.output.phase;
    pass.predicts = call.output.predicts;
    pass.lookahead = &m_lookahead;
    pass.tokens = call.input.tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(pass.rows));
    if (!call.input.images.empty()) {
      pass.images = call.input.images.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(pass.rows));
    }
    pass.cancellation = &call.cancellation;
    pass.time = &call.time;
    pass.trace = call.output.trace;
    prepareRotary(m_model, m_tables, pass.position, pass.rows);
    float* streams = m_model.work.streams + first * width;
    COLIBRI_RETURN_IF_ERROR(feedsOnly ? feedPass(layer, call.state, pass, streams)
                                      : layerPass(layer, call.state, pass, streams));
    if (call.done) call.done((layer + static_cast<double>(first + pass.rows) / call.total()) / c.layers);
  }
  return Status::ok();
}

Status Transformer::forward(SequenceState& state, const ForwardInput& input, const ForwardOutput& output,
                            const Cancellation& cancellation, TimeLedger& time,
                            const std::function<void(double)>& done) {
  const ModelConfig& c = m_model.config;
  const Call call{state, input, output, cancellation, time, done};
  const int total = call.total();
  if (output.trace != nullptr) output.trace->layers.resize(m_model.plan.layers.size());
  const PassScope onTimeline(time, output.phase == Phase::kPrefill ? "prefill" : "decode", total, TimeCause::kDense);
  m_lookahead.begin(m_model, input.tokens);
  findEngramRows(m_model, input.tokens, input.images, state);
  embed(input);
  // Rows below the first are not needed: their keys from `feeds` on, their outputs from `outputs` on.
  const auto firstNeeded = [&](int reach) {
    return output.promptEnd == 0 || reach == 0 ? 0 : std::clamp(output.promptEnd - reach - state.position(), 0, total);
  };
  int feeds = 0;
  for (int layer = 0; layer < c.layers; ++layer) {
    time.beginLayer(layer);
    COLIBRI_RETURN_IF_ERROR(waitForDense(layer, cancellation, time));
    const int outputs = firstNeeded(m_model.plan.outputReach(layer, c.slidingWindow));
    COLIBRI_RETURN_IF_ERROR(layerRows(call, layer, feeds, outputs, true));
    COLIBRI_RETURN_IF_ERROR(layerRows(call, layer, outputs, total, false));
    feeds = outputs;
  }
  time.endLayers();
  if (m_model.dense != nullptr) m_model.dense->release();
  state.advance(total);
  if (output.promptEnd != 0) state.setIncompleteUntil(output.promptEnd);
  if (output.want == ForwardOutput::Logits::kLast && total > 0) {
    head(total - 1, output.logits, output.trace);
  } else if (output.want == ForwardOutput::Logits::kAll) {
    for (int i = 0; i < total; ++i) head(i, output.logits + static_cast<std::ptrdiff_t>(i) * c.vocabSize, output.trace);
  }
  return Status::ok();
}

}  // namespace colibri
