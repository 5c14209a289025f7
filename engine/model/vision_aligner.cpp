// The aligner: cells of patches become rows of the language model (spec deepseek-v41 6.3).
#include "model/vision_tower.h"

#include <algorithm>

namespace colibri {
namespace {

/// Columns of one work item, whose weights serve all rows of the image.
constexpr int kColumns = 64;
constexpr int kRows = 32;

}  // namespace

std::vector<float> VisionTower::align(const VisionPass& pass) {
  const VisionConfig& c = m_model->config;
  const int side = c.downsample;
  const int width = c.width;
  const int hidden = m_model->hiddenSize;
  const int cellColumns = (m_grid.columns + side - 1) / side;
  const int cells = (m_grid.rows + side - 1) / side * cellColumns;
  const std::ptrdiff_t cellWidth = std::ptrdiff_t{side} * side * width;
  float* gathered = m_queries.as<float>();
  float* inner = m_keys.as<float>();
  std::vector<float> rows(static_cast<std::size_t>(cells) * static_cast<std::size_t>(hidden));

  // Channel-major: all places of a channel stand together. Places beyond the picture are zero.
  forTiles(cells, 1, cells * cellWidth, pass, [&](int cell, int /*count*/, float* /*scratch*/) {
    float* target = gathered + cell * cellWidth;
    for (int place = 0; place < side * side; ++place) {
      const int row = cell / cellColumns * side + place / side;
      const int column = cell % cellColumns * side + place % side;
      const bool isInside = row < m_grid.rows && column < m_grid.columns;
      const float* source = m_stream.as<float>() + (std::ptrdiff_t{row} * m_grid.columns + column) * width;
      for (int channel = 0; channel < width; ++channel) {
        target[std::ptrdiff_t{channel} * side * side + place] = isInside ? source[channel] : 0.0F;
      }
    }
  });
  const auto linear = [&](const float* x, const BiasedMatrix& w, float* y, const auto& after) {
    const std::ptrdiff_t in = w.matrix.in;
    const std::int64_t work = cells * in * hidden;
    forTiles(hidden, kColumns, work, pass, [&](int first, int count, float* /*scratch*/) {
      for (int r = 0; r < cells && !pass.isCancelled(); r += kRows) {
        const int tile = std::min(kRows, cells - r);
        float* out = y + std::ptrdiff_t{r} * hidden;
        pass.linear({x + r * in, tile, in}, w, out, hidden, first, first + count);
        for (int i = 0; i < tile; ++i) after(out + std::ptrdiff_t{i} * hidden + first, count);
      }
    });
  };
  linear(gathered, m_model->weights.aligner1, inner, [&](float* values, int count) {
    pass.kernels().gelu(values, values, count);
    pass.round(values, count);
  });
  linear(inner, m_model->weights.aligner2, rows.data(), [](float* /*values*/, int /*count*/) {});
  return rows;
}

}  // namespace colibri
