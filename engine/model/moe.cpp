#include "model/moe.h"

#include "model/expert_lookahead.h"
#include "model/linear.h"
#include "model/router.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace colibri {
namespace {

// One (row, choice) pair that an expert has to compute.
struct Assignment {
  int expert = 0;
  int row = 0;
  int choice = 0;
};

std::vector<Assignment> assign(const ModelContext& model, const Pass& pass) {
  const int k = model.config.expertsPerToken;
  std::vector<Assignment> all;
  all.reserve(static_cast<std::size_t>(pass.rows) * static_cast<std::size_t>(k));
  for (int row = 0; row < pass.rows; ++row) {
    for (int i = 0; i < k; ++i) all.push_back({model.work.routerIds[row * k + i], row, i});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Assignment& a, const Assignment& b) { return a.expert < b.expert; });
  return all;
}

void activate(const ModelContext& model, int rows, const float* weightOfRow) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int width = c.moeIntermediate;
  model.team.run(rows, static_cast<std::int64_t>(rows) * width * 24, [&](int row, int) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(row) * width;
    const float weight = weightOfRow == nullptr ? 1.0F : weightOfRow[row];
    model.kernels.swiglu(w.gate + at, w.up + at, width, static_cast<float>(c.swigluLimit), weight, w.activated + at);
    roundVendor(model, w.activated + at, width);
  });
}

// Shared expert for all rows: out [rows][D].
void sharedExpert(const ModelContext& model, const Pass& pass, const LayerWeights& weights, const float* x,
                  float* out) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const float* quantised = quantiseActivation(model, x, pass.rows, c.hiddenSize, w.quantised);
  linear(model, quantised, pass.rows, c.hiddenSize, weights.sharedW1, w.gate, c.moeIntermediate, Rounding::kBf16);
  linear(model, quantised, pass.rows, c.hiddenSize, weights.sharedW3, w.up, c.moeIntermediate, Rounding::kBf16);
  activate(model, pass.rows, nullptr);
  const float* hidden = quantiseActivation(model, w.activated, pass.rows, c.moeIntermediate, w.activated);
  linear(model, hidden, pass.rows, c.moeIntermediate, weights.sharedW2, out, c.hiddenSize, Rounding::kBf16);
}

// One routed expert for its rows; results go to work.expertOut, kept apart until all are there.
void routedExpert(const ModelContext& model, const ExpertView& view, const Assignment* rows, int count,
                  const float* x) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int d = c.hiddenSize;
  const int k = c.expertsPerToken;
  for (int i = 0; i < count; ++i) {
    w.rowWeights[i] = w.routerWeights[rows[i].row * k + rows[i].choice];
    const auto row = static_cast<std::size_t>(rows[i].row);
    if (model.vendor()) {
      std::memcpy(w.preparedGather + static_cast<std::size_t>(i) * w.preparedStride,
                  w.prepared + row * w.preparedStride, w.preparedStride);
    } else {
      std::copy_n(x + static_cast<std::ptrdiff_t>(row) * d, d, w.gathered + static_cast<std::ptrdiff_t>(i) * d);
    }
  }
  const int width = c.moeIntermediate;
  expertLinear(model, w.preparedGather, w.gathered, count, d, view.part(ExpertPart::kW1),
               view.part(ExpertPart::kW1Scale), width, d, w.gate, width);
  expertLinear(model, w.preparedGather, w.gathered, count, d, view.part(ExpertPart::kW3),
               view.part(ExpertPart::kW3Scale), width, d, w.up, width);
  activate(model, count, w.rowWeights);
  if (model.vendor()) {
    for (int i = 0; i < count; ++i) {
      model.kernels.prepareFp4(w.activated + static_cast<std::ptrdiff_t>(i) * width, width, model.plan.block,
                               w.preparedHidden + static_cast<std::size_t>(i) * w.preparedHiddenStride);
    }
  }
  expertLinear(model, w.preparedHidden, w.activated, count, width, view.part(ExpertPart::kW2),
               view.part(ExpertPart::kW2Scale), d, width, w.expertRows, d);
  for (int i = 0; i < count; ++i) {
    std::copy_n(w.expertRows + static_cast<std::ptrdiff_t>(i) * d, d,
                w.expertOut + (static_cast<std::ptrdiff_t>(rows[i].row) * k + rows[i].choice) * d);
  }
}

// out holds the shared expert's rows; adds the routed ones in ascending expert id first, the shared one last.
void sumOutputs(const ModelContext& model, const Pass& pass, float* out) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int d = c.hiddenSize;
  const int k = c.expertsPerToken;
  for (int row = 0; row < pass.rows; ++row) {
    int* order = w.sumOrder;
    for (int i = 0; i < k; ++i) order[i] = i;
    const std::int32_t* ids = w.routerIds + static_cast<std::ptrdiff_t>(row) * k;
    std::sort(order, order + k, [&](int a, int b) { return ids[a] != ids[b] ? ids[a] < ids[b] : a < b; });
    float* sum = w.expertRows;
    std::fill_n(sum, d, 0.0F);
    for (int i = 0; i < k; ++i) {
      model.kernels.add(w.expertOut + (static_cast<std::ptrdiff_t>(row) * k + order[i]) * d, sum, d);
    }
    float* y = out + static_cast<std::ptrdiff_t>(row) * d;
    model.kernels.add(y, sum, d);
    std::copy_n(sum, d, y);
    roundVendor(model, y, d);
  }
}

// Guesses the next layer's experts by showing its router this layer's input (the residual streams change little from
// layer to layer) and has them read ahead. The router's own outputs of this layer stay as they are.
void predictNext(const ModelContext& model, const Pass& pass, int next, const float* x) {
  if (next >= model.config.layers || pass.rows != 1) return;
  const LayerSpec& spec = model.plan.layers[static_cast<std::size_t>(next)];
  if (spec.router == RouterKind::kHash) return;  // those are known, not guessed
  Workspace& w = model.work;
  const int k = model.config.expertsPerToken;
  const std::vector<std::int32_t> ids(w.routerIds, w.routerIds + k);
  const std::vector<float> weights(w.routerWeights, w.routerWeights + k);
  route(model, pass, spec, model.weights.layers[static_cast<std::size_t>(next)], x);
  const std::vector<int> guesses(w.routerIds, w.routerIds + k);
  std::copy(ids.begin(), ids.end(), w.routerIds);
  std::copy(weights.begin(), weights.end(), w.routerWeights);
  (void)model.experts.prefetch(next, guesses, ReadPriority::kPredicted);
}

}  // namespace

Status mixExperts(const ModelContext& model, const Pass& pass, int layer, const float* x, float* out) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const LayerWeights& weights = model.weights.layers[static_cast<std::size_t>(layer)];
  const TimeScope scope(*pass.time, TimeCause::kExperts);

  route(model, pass, model.plan.layers[static_cast<std::size_t>(layer)], weights, x);
  const std::vector<Assignment> all = assign(model, pass);
  std::vector<int> wanted;
  for (const Assignment& a : all) {
    if (wanted.empty() || wanted.back() != a.expert) wanted.push_back(a.expert);
  }
  // The reads start here; the shared expert computes while they land.
  COLIBRI_ASSIGN_OR_RETURN(ExpertBatch batch, model.experts.resolve(layer, wanted, pass.phase != Phase::kPrefill));
  if (pass.lookahead != nullptr) pass.lookahead->advance(model, layer, pass.first);
  if (pass.predicts) predictNext(model, pass, layer + 1, x);
  sharedExpert(model, pass, weights, x, out);
  if (model.vendor()) {
    for (int row = 0; row < pass.rows; ++row) {
      model.kernels.prepareFp4(x + static_cast<std::ptrdiff_t>(row) * c.hiddenSize, c.hiddenSize, model.plan.block,
                               w.prepared + static_cast<std::size_t>(row) * w.preparedStride);
    }
  }
  while (batch.hasNext()) {
    pass.time->enter(TimeCause::kDiskWait);
    Result<ExpertLease> lease = batch.next(*pass.cancellation);
    pass.time->enter(TimeCause::kExperts);
    if (!lease) return lease.status();
    const auto [first, last] =
        std::equal_range(all.begin(), all.end(), Assignment{lease->expert(), 0, 0},
                         [](const Assignment& a, const Assignment& b) { return a.expert < b.expert; });
    // A table may name an expert twice for one token, so an expert can have more assignments than the pass has rows.
    for (auto part = first; part != last;) {
      const auto count = std::min<std::ptrdiff_t>(last - part, pass.rows);
      routedExpert(model, lease->view(), &*part, static_cast<int>(count), x);
      part += count;
    }
    if (pass.cancellation->isCancelled()) return Status(Code::kCancelled, "cancelled", "Stopped.");
  }
  sumOutputs(model, pass, out);
  return Status::ok();
}

}  // namespace colibri
