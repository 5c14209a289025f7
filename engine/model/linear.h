#pragma once
// Linears over the team: rows of work in fixed tiles, rounding where the profile has it.

#include "model/pass.h"

namespace colibri {

/// Whether a linear's result is rounded to bf16 (in the vendor profile only).
enum class Rounding { kBf16, kNone };

/// y = x * W^T for all rows; x [rows][w.in] contiguous rows `xStride` apart, y rows `yStride` apart.
void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Fp8Matrix& w, float* y,
            std::ptrdiff_t yStride, Rounding rounding);
void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Bf16Matrix& w, float* y,
            std::ptrdiff_t yStride, Rounding rounding);
void linear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const F32Matrix& w, float* y,
            std::ptrdiff_t yStride);
/// The grouped output projection's first half: group g takes its own slice of x (spec deepseek-v4 3.5.8).
void groupedLinear(const ModelContext& model, const float* x, int rows, std::ptrdiff_t xStride, const Fp8Matrix& w,
                   int groups, float* y, std::ptrdiff_t yStride);

/// Routed-expert linear (packed e2m1). `prepared` rows in the vendor profile, raw `x` otherwise.
void expertLinear(const ModelContext& model, const std::byte* prepared, const float* x, int rows,
                  std::ptrdiff_t xStride, const std::uint8_t* w, const std::uint8_t* scale, int out, int in, float* y,
                  std::ptrdiff_t yStride);

/// The activation quantiser in front of an fp8 linear; returns what the linear must read: `target` in the vendor
/// profile, x itself otherwise. Rows of `width` floats, contiguous.
const float* quantiseActivation(const ModelContext& model, const float* x, int rows, int width, float* target);

/// bf16 rounding in the vendor profile, nothing otherwise.
inline void roundVendor(const ModelContext& model, float* x, std::ptrdiff_t n) {
  if (model.vendor()) model.kernels.roundBf16(x, n);
}

}  // namespace colibri
