#include "model/hyper_connection.h"

#include "model/linear.h"

#include <algorithm>

namespace colibri {

void startMix(const ModelContext& model, int first, int rows) {
  const int m = model.config.hcMult;
  for (int row = first; row < first + rows; ++row) {
    float* mix = model.work.carriedMix + static_cast<std::ptrdiff_t>(row) * m;
    std::fill_n(mix, m, 0.0F);
    mix[0] = 1.0F;
  }
}

void hyperCollapse(const ModelContext& model, const float* streams, int first, int rows, const HyperWeights& weights) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int m = c.hcMult;
  const int mixes = weights.fn.out;
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(m) * c.hiddenSize;
  linear(model, streams, rows, width, weights.fn, w.mixes, mixes);
  model.team.run(rows, rows * width * 4, [&](int row, int) {
    float* u = w.mixes + static_cast<std::ptrdiff_t>(row) * mixes;
    const float* x = streams + row * width;
    const float inverse = model.kernels.inverseRms(x, static_cast<int>(width), static_cast<float>(c.rmsEps));
    for (int i = 0; i < mixes; ++i) u[i] *= inverse;
    float* pre = w.pre + static_cast<std::ptrdiff_t>(row) * m;
    model.kernels.hcSplit(u, weights.base, weights.scale, c.hcSinkhornIters, static_cast<float>(c.hcEps), pre,
                          w.post + static_cast<std::ptrdiff_t>(row) * m,
                          w.comb + static_cast<std::ptrdiff_t>(row) * m * m);
    float* y = w.hidden + static_cast<std::ptrdiff_t>(row) * c.hiddenSize;
    if (model.plan.laggedMix) {
      float* carried = w.carriedMix + static_cast<std::ptrdiff_t>(first + row) * m;
      model.kernels.hcCollapse(x, carried, c.hiddenSize, y);
      std::copy_n(pre, m, carried);
    } else {
      model.kernels.hcCollapse(x, pre, c.hiddenSize, y);
    }
    roundVendor(model, y, c.hiddenSize);
  });
}

void hyperExpand(const ModelContext& model, float* streams, int rows) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  const int m = c.hcMult;
  const std::ptrdiff_t width = static_cast<std::ptrdiff_t>(m) * c.hiddenSize;
  model.team.run(rows, rows * width * (m + 1), [&](int row, int) {
    float* next = w.streamsNext + row * width;
    model.kernels.hcExpand(
        w.sublayer + static_cast<std::ptrdiff_t>(row) * c.hiddenSize, w.post + static_cast<std::ptrdiff_t>(row) * m,
        w.comb + static_cast<std::ptrdiff_t>(row) * m * m, streams + row * width, c.hiddenSize, next);
    roundVendor(model, next, width);
    std::copy_n(next, width, streams + row * width);
  });
}

void hyperHead(const ModelContext& model, const float* streams, int row, float* y) {
  const ModelConfig& c = model.config;
  Workspace& w = model.work;
  if (model.plan.laggedMix) {
    model.kernels.hcCollapse(streams, w.carriedMix + static_cast<std::ptrdiff_t>(row) * c.hcMult, c.hiddenSize, y);
    roundVendor(model, y, c.hiddenSize);
    return;
  }
  const int width = c.hcMult * c.hiddenSize;
  linear(model, streams, 1, width, model.weights.hcHeadFn, w.mixes, c.hcMult);
  const float inverse = model.kernels.inverseRms(streams, width, static_cast<float>(c.rmsEps));
  for (int i = 0; i < c.hcMult; ++i) w.mixes[i] *= inverse;
  model.kernels.hcHeadSplit(w.mixes, model.weights.hcHeadBase, model.weights.hcHeadScale[0],
                            static_cast<float>(c.hcEps), w.pre);
  model.kernels.hcCollapse(streams, w.pre, c.hiddenSize, y);
  roundVendor(model, y, c.hiddenSize);
}

}  // namespace colibri
