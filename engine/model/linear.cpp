#include "model/linear.h"

#include <algorithm>

namespace colibri {
namespace {

// Output rows of one work item: a whole number of kernel tiles, about eight items a thread, so that no thread waits
// long.
int itemRows(int out, int threads) {
  const int tiles = (out + kRowTile - 1) / kRowTile;
  return std::max(1, tiles / (threads * 8)) * kRowTile;
}

// Calls kernel(out view, thread) for all output rows, then rounds the item's results.
template <typename Kernel>
void overRows(const ModelContext& model, int out, int in, int rows, float* y, std::ptrdiff_t yStride, bool round,
              const Kernel& kernel) {
  const int step = itemRows(out, model.team.threads());
  const int items = (out + step - 1) / step;
  model.team.run(items, static_cast<std::int64_t>(out) * in * rows, [&](int item, int thread) {
    const int n0 = item * step;
    const int n1 = std::min(out, n0 + step);
    kernel(OutView{y, yStride, n0, n1}, thread);
    if (!round) return;
    for (int row = 0; row < rows; ++row) model.kernels.roundBf16(y + row * yStride + n0, n1 - n0);
  });
}

}  // namespace

void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Fp8Matrix& w, float* y,
            std::ptrdiff_t yStride, Rounding rounding) {
  const bool round = model.vendor() && rounding == Rounding::kBf16;
  overRows(model, w.out, w.in, rows, y, yStride, round, [&](OutView view, int thread) {
    float* scratch = model.work.linearScratch + static_cast<std::ptrdiff_t>(thread) * model.work.linearScratchStride;
    model.kernels.linearFp8(RowsView{x, rows, xStride}, w.weight, w.scale, w.in, w.block, view, scratch);
  });
}

void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Bf16Matrix& w, float* y,
            std::ptrdiff_t yStride, Rounding rounding) {
  const bool round = model.vendor() && rounding == Rounding::kBf16;
  overRows(model, w.out, w.in, rows, y, yStride, round, [&](OutView view, int) {
    model.kernels.linearBf16(RowsView{x, rows, xStride}, w.weight, w.in, view);
  });
}

void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const F32Matrix& w, float* y,
            std::ptrdiff_t yStride) {
  overRows(model, w.out, w.in, rows, y, yStride, false, [&](OutView view, int) {
    model.kernels.linearF32(RowsView{x, rows, xStride}, w.weight, w.in, view);
  });
}

void groupedLinear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Fp8Matrix& w,
                   int groups, float* y, std::ptrdiff_t yStride) {
  const int groupOut = w.out / groups;
  const int step = std::min(groupOut, itemRows(w.out, model.team.threads()));
  const int itemsPerGroup = (groupOut + step - 1) / step;
  model.team.run(groups * itemsPerGroup, static_cast<std::int64_t>(w.out) * w.in * rows, [&](int item, int thread) {
    const int group = item / itemsPerGroup;
    const int n0 = group * groupOut + item % itemsPerGroup * step;
    const int n1 = std::min((group + 1) * groupOut, n0 + step);
    float* scratch = model.work.linearScratch + static_cast<std::ptrdiff_t>(thread) * model.work.linearScratchStride;
    const RowsView slice{x + static_cast<std::ptrdiff_t>(group) * w.in, rows, xStride};
    model.kernels.linearFp8(slice, w.weight, w.scale, w.in, w.block, OutView{y, yStride, n0, n1}, scratch);
    for (int row = 0; row < rows; ++row) roundVendor(model, y + row * yStride + n0, n1 - n0);
  });
}

void expertLinear(const ModelContext& model, const std::byte* prepared, const float* x, int rows,
                  std::ptrdiff_t xStride, const std::uint8_t* w, const std::uint8_t* scale, int out, int in, float* y,
                  std::ptrdiff_t yStride) {
  overRows(model, out, in, rows, y, yStride, model.vendor(), [&](OutView view, int) {
    if (model.vendor()) {
      model.kernels.linearFp4(prepared, rows, w, scale, in, view);
    } else {
      model.kernels.linearFp4F32(RowsView{x, rows, xStride}, w, scale, in, view);
    }
  });
}

const float* quantiseActivation(const ModelContext& model, const float* x, int rows, int width, float* target) {
  if (!model.vendor()) return x;
  for (int row = 0; row < rows; ++row) {
    const auto offset = static_cast<std::ptrdiff_t>(row) * width;
    model.kernels.qdqE4m3(x + offset, target + offset, width, model.plan.block);
  }
  return target;
}

}  // namespace colibri
