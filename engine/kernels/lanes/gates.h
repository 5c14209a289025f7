#pragma once
// Router scores, the gated activation of the experts and the gate of the n-gram tables.

namespace colibri::COLIBRI_ISA {

/// ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|): no cancellation on either side of zero.
inline void sqrtSoftplus(const float* x, float* y, int n) {
  for (int i = 0; i < n; i += 16) {
    const F32x16 v = loadUpTo(x + i, n - i);
    const F32x16 small = log1pUnit(exponential(negated(absolute(v))));
    const F32x16 softplus = maximum(v, broadcast(0.0F)) + small;
    storeUpTo(y + i, squareRoot(select(less(broadcast(20.0F), v), v, softplus)), n - i);
  }
}

inline void swiglu(const float* gate, const float* up, int n, float limit, float weight, float* h) {
  for (int i = 0; i < n; i += 16) {
    F32x16 g = loadUpTo(gate + i, n - i);
    F32x16 u = loadUpTo(up + i, n - i);
    if (limit > 0.0F) {
      g = minimum(broadcast(limit), g);
      u = maximum(broadcast(-limit), minimum(broadcast(limit), u));
    }
    const F32x16 silu = g / (broadcast(1.0F) + exponential(negated(g)));
    storeUpTo(h + i, silu * u * broadcast(weight), n - i);
  }
}

/// max(x, 0) - a P(X < -a) with a = |x|, X normal: no cancellation where x is negative. The tail is e^(-a^2/2) times
/// the Mills ratio, t p(t) with t = 1 / (1 + 0.3 a), within 4e-9 of it up to a = 15, where the exponential is 0.
COLIBRI_INLINE F32x16 gelu(F32x16 x) {
  const F32x16 a = minimum(broadcast(15.0F), absolute(x));
  const F32x16 t = broadcast(1.0F) / fma(a, broadcast(0x1.333334p-2F), broadcast(1.0F));
  F32x16 p = broadcast(-0x1.5216e8p-6F);
  p = fma(p, t, broadcast(0x1.cccd18p-4F));
  p = fma(p, t, broadcast(-0x1.d3b182p-3F));
  p = fma(p, t, broadcast(0x1.8930dcp-3F));
  p = fma(p, t, broadcast(-0x1.460282p-4F));
  p = fma(p, t, broadcast(0x1.8a3a58p-4F));
  p = fma(p, t, broadcast(0x1.40f50ap-4F));
  p = fma(p, t, broadcast(0x1.c38d1cp-4F));
  p = fma(p, t, broadcast(0x1.e9c352p-4F));
  p = fma(p, t, broadcast(0x1.ea3ca2p-4F));
  // What the square loses in rounding is put back: e^-(s + r)/2 = e^-s/2 (1 - r/2).
  const F32x16 square = a * a;
  const F32x16 rest = fma(a, a, negated(square));
  const F32x16 density = exponential(square * broadcast(-0.5F)) * fma(rest, broadcast(-0.5F), broadcast(1.0F));
  return maximum(x, broadcast(0.0F)) - a * (t * p) * density;
}

inline void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < n; i += 16) storeUpTo(y + i, gelu(loadUpTo(x + i, n - i)), n - i);
}

/// The products' order is the formula's; the update is rounded before it is added, as in the released code's tensors.
inline void engramGate(float* h, const float* queryWeight, const float* keyWeight, const float* key, const float* value,
                       int d, float eps) {
  const float width = 1.0F / __builtin_sqrtf(static_cast<float>(d));
  for (int c = 0; c < 4; ++c, h += d, queryWeight += d, keyWeight += d, key += d) {
    F32x16 sum = broadcast(0.0F);
    for (int i = 0; i < d; i += 16) {
      const int count = d - i;
      const F32x16 query = loadUpTo(h + i, count) * loadUpTo(queryWeight + i, count) * loadUpTo(keyWeight + i, count);
      sum = fma(query, loadUpTo(key + i, count), sum);
    }
    const float gamma = reduceAdd(sum) * inverseRms(h, d, eps) * inverseRms(key, d, eps) * width;
    const float magnitude = __builtin_fabsf(gamma);
    const float root = __builtin_sqrtf(magnitude < 1e-6F ? 1e-6F : magnitude);
    const F32x16 gate = sigmoid(broadcast(__builtin_copysignf(root, gamma)));
    for (int i = 0; i < d; i += 16) {
      const int count = d - i;
      storeUpTo(h + i, loadUpTo(h + i, count) + gate * loadUpTo(value + i, count), count);
    }
  }
}

}  // namespace colibri::COLIBRI_ISA
