#pragma once
// What every stage of the image tower gets: the model, the tools, and one linear in the tower's conventions.

#include "checkpoint/model_config.h"
#include "kernels/kernels.h"
#include "model/team.h"
#include "model/vision_weights.h"
#include <colibri/cancellation.h>
#include <colibri/types.h>

#include <algorithm>
#include <cstddef>

namespace colibri {

/// Parts that do not change between images. References outlive every run.
struct VisionModel {
  const VisionConfig& config;
  int hiddenSize = 0;  ///< width of the language model
  const VisionWeights& weights;
  const Kernels& kernels;
  const Team& team;
  Numerics numerics = Numerics::kVendor;

  [[nodiscard]] bool vendor() const { return numerics == Numerics::kVendor; }
  [[nodiscard]] int headDim() const { return config.width / config.heads; }
};

/// One image on its way through the tower. Everything here may be called by several threads on disjoint outputs.
class VisionPass {
public:
  VisionPass(const VisionModel& model, const Cancellation& cancellation)
      : m_model(model), m_cancellation(cancellation) {}

  [[nodiscard]] const VisionModel& model() const { return m_model; }
  [[nodiscard]] const Kernels& kernels() const { return m_model.kernels; }
  /// Read between pieces of work; outputs are meaningless afterwards.
  [[nodiscard]] bool isCancelled() const { return m_cancellation.isCancelled(); }

  /// bf16 in the vendor profile, nothing otherwise.
  void round(float* x, std::ptrdiff_t n) const {
    if (m_model.vendor()) m_model.kernels.roundBf16(x, n);
  }

  /// Columns [n0, n1) of y = W x + b on the calling thread, rounded once, after the bias.
  void linear(RowsView x, const BiasedMatrix& w, float* y, std::ptrdiff_t yStride, int n0, int n1) const {
    for (int n = n0; n < n1 && !isCancelled(); n += kColumns) {
      const int end = std::min(n + kColumns, n1);
      m_model.kernels.linearBf16(x, w.matrix.weight, w.matrix.in, {y, yStride, n, end});
      for (int r = 0; r < x.rows; ++r) {
        float* row = y + r * yStride + n;
        if (!w.bias.empty()) m_model.kernels.add(w.bias.data() + n, row, end - n);
        round(row, end - n);
      }
    }
  }
  void linear(RowsView x, const BiasedMatrix& w, float* y, std::ptrdiff_t yStride) const {
    linear(x, w, y, yStride, 0, w.matrix.out);
  }

private:
  /// Work between two looks at the cancellation: 32 rows of it take milliseconds.
  static constexpr int kColumns = 512;
  const VisionModel& m_model;
  const Cancellation& m_cancellation;
};

}  // namespace colibri
