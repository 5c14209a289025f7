#pragma once
// Router scores and the experts' gated activation.

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

}  // namespace colibri::COLIBRI_ISA
