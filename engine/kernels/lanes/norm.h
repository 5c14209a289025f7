#pragma once
// Norms, rotations and small elementwise kernels.

namespace colibri::COLIBRI_ISA {

inline float inverseRms(const float* x, int n, float eps) {
  return 1.0F / __builtin_sqrtf(dot(x, x, n) / static_cast<float>(n) + eps);
}

inline void rmsNorm(const float* x, const float* w, float* y, int n, float eps) {
  const F32x16 factor = broadcast(inverseRms(x, n, eps));
  for (int i = 0; i < n; i += 16) {
    F32x16 t = loadUpTo(x + i, n - i) * factor;
    if (w != nullptr) t = loadUpTo(w + i, n - i) * t;
    storeUpTo(y + i, t, n - i);
  }
}

/// Square, mean, + eps, root, reciprocal, product: each rounded to bf16, as the reference's tensor operations do.
inline void queryNormVendor(float* x, int n, float eps) {
  F32x16 sum = broadcast(0.0F);
  for (int i = 0; i < n; i += 16) {
    const F32x16 v = loadUpTo(x + i, n - i);
    sum = sum + toBf16Grid(v * v);
  }
  const float mean = toBf16Grid(reduceAdd(sum) / static_cast<float>(n));
  const float factor = toBf16Grid(1.0F / toBf16Grid(__builtin_sqrtf(toBf16Grid(mean + eps))));
  for (int i = 0; i < n; i += 16) {
    storeUpTo(x + i, toBf16Grid(loadUpTo(x + i, n - i) * broadcast(factor)), n - i);
  }
}

/// Products rounded before they are added, as a complex multiplication in the reference does.
inline void rope(float* x, const float* cosines, const float* sines, int pairs, bool inverse) {
  alignas(64) constexpr float kSigns[16] = {-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1};
  const F32x16 signs = inverse ? negated(load(kSigns)) : load(kSigns);
  int i = 0;
  for (; i + 8 <= pairs; i += 8) {
    const F32x16 v = load(x + 2 * i);
    store(x + 2 * i, v * loadTwice(cosines + i) + swapPairs(v) * (loadTwice(sines + i) * signs));
  }
  for (; i < pairs; ++i) {
    const float sine = inverse ? -sines[i] : sines[i];
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    x[2 * i] = a * cosines[i] + b * -sine;
    x[2 * i + 1] = b * cosines[i] + a * sine;
  }
}

/// Butterflies of distance 1, 2, 4, ...: additions only, so plain loops round the same everywhere.
inline void hadamard(float* x, int n) {
  for (int half = 1; half < n; half *= 2) {
    for (int i = 0; i < n; i += 2 * half) {
      for (int j = i; j < i + half; ++j) {
        const float a = x[j];
        const float b = x[j + half];
        x[j] = a + b;
        x[j + half] = a - b;
      }
    }
  }
  const F32x16 factor = broadcast(1.0F / __builtin_sqrtf(static_cast<float>(n)));
  for (int i = 0; i < n; i += 16) storeUpTo(x + i, loadUpTo(x + i, n - i) * factor, n - i);
}

inline void add(const float* x, float* y, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += 16) {
    storeUpTo(y + i, loadUpTo(y + i, n - i) + loadUpTo(x + i, n - i), n - i);
  }
}

}  // namespace colibri::COLIBRI_ISA
