#pragma once
// Hyper-connections with four streams.

namespace colibri::COLIBRI_ISA {

/// One Sinkhorn step over the four elements c[0], c[step], ...: division by (their sum, ascending, plus eps).
COLIBRI_INLINE void normalizeFour(float* c, int step, float eps) {
  const float sum = c[0] + c[step] + c[2 * step] + c[3 * step] + eps;
  for (int i = 0; i < 4; ++i) c[i * step] = c[i * step] / sum;
}

inline void hcSplit(const float* u, const float* base, const float* scale, int sinkhornIters, float eps, float* pre,
                    float* post, float* comb) {
  float gates[16];
  const float gateScales[8] = {scale[0], scale[0], scale[0], scale[0], scale[1], scale[1], scale[1], scale[1]};
  store(gates, sigmoid(fma(loadPartial(u, 8), loadPartial(gateScales, 8), loadPartial(base, 8))));
  for (int j = 0; j < 4; ++j) {
    pre[j] = gates[j] + eps;
    post[j] = 2.0F * gates[4 + j];
  }
  float c[16];
  store(c, fma(load(u + 8), broadcast(scale[2]), load(base + 8)));
  float largest[16];
  for (int j = 0; j < 4; ++j) {
    float m = c[4 * j];
    for (int k = 1; k < 4; ++k) m = c[4 * j + k] > m ? c[4 * j + k] : m;
    for (int k = 0; k < 4; ++k) largest[4 * j + k] = m;
  }
  store(c, exponential(load(c) - load(largest)));
  for (int j = 0; j < 4; ++j) {
    normalizeFour(c + 4 * j, 1, 0.0F);
    for (int k = 0; k < 4; ++k) c[4 * j + k] = c[4 * j + k] + eps;
  }
  for (int k = 0; k < 4; ++k) normalizeFour(c + k, 4, eps);
  for (int iteration = 1; iteration < sinkhornIters; ++iteration) {
    for (int j = 0; j < 4; ++j) normalizeFour(c + 4 * j, 1, eps);
    for (int k = 0; k < 4; ++k) normalizeFour(c + k, 4, eps);
  }
  for (int i = 0; i < 16; ++i) comb[i] = c[i];
}

inline void hcHeadSplit(const float* u, const float* base, float scale, float eps, float* pre) {
  storePartial(pre, sigmoid(fma(loadPartial(u, 4), broadcast(scale), loadPartial(base, 4))) + broadcast(eps), 4);
}

/// Products are rounded before they are added, and the update is added last, as the released code's tensors are.
inline void hcCollapse(const float* streams, const float* pre, int d, float* y) {
  for (int i = 0; i < d; i += 16) {
    const int count = d - i;
    F32x16 sum = broadcast(pre[0]) * loadUpTo(streams + i, count);
    for (int j = 1; j < 4; ++j) {
      sum = sum + broadcast(pre[j]) * loadUpTo(streams + static_cast<std::ptrdiff_t>(j) * d + i, count);
    }
    storeUpTo(y + i, sum, count);
  }
}

inline void hcExpand(const float* f, const float* post, const float* comb, const float* streams, int d, float* out) {
  for (int i = 0; i < d; i += 16) {
    const int count = d - i;
    const F32x16 update = loadUpTo(f + i, count);
    F32x16 sources[4];
    for (int j = 0; j < 4; ++j) sources[j] = loadUpTo(streams + static_cast<std::ptrdiff_t>(j) * d + i, count);
    for (int k = 0; k < 4; ++k) {
      F32x16 sum = broadcast(comb[k]) * sources[0];
      for (int j = 1; j < 4; ++j) sum = sum + broadcast(comb[4 * j + k]) * sources[j];
      storeUpTo(out + static_cast<std::ptrdiff_t>(k) * d + i, broadcast(post[k]) * update + sum, count);
    }
  }
}

}  // namespace colibri::COLIBRI_ISA
