#pragma once
// exp, sigmoid, log1p and roundings over 16 lanes: one polynomial each, the same operations on every instruction set.
// Included by the instruction-set files only, after their vector.h.

namespace colibri::COLIBRI_ISA {

/// Loads up to 16 values; a full vector takes the plain load.
COLIBRI_INLINE F32x16 loadUpTo(const float* p, std::ptrdiff_t count) {
  return count >= 16 ? load(p) : loadPartial(p, static_cast<int>(count));
}
COLIBRI_INLINE void storeUpTo(float* p, F32x16 a, std::ptrdiff_t count) {
  if (count >= 16) {
    store(p, a);
  } else {
    storePartial(p, a, static_cast<int>(count));
  }
}

COLIBRI_INLINE F32x16 absolute(F32x16 a) {
  return fromBits(bitsOf(a) & broadcastInt(0x7fffffff));
}
COLIBRI_INLINE F32x16 negated(F32x16 a) {
  return broadcast(-0.0F) - a;
}

/// e^x within 1 ulp (2 ulp among denormal results, which are kept); +inf from 88.73 on, 0 below -103.98 and at -inf.
/// x = n ln 2 + r with |r| <= ln 2 / 2; Taylor to r^7 leaves 5e-9; 2^n is applied in two factors so that neither
/// overflows.
COLIBRI_INLINE F32x16 exponential(F32x16 x) {
  // The bounds come first: a NaN, as the second operand, stays.
  x = minimum(broadcast(89.0F), maximum(broadcast(-104.0F), x));
  const F32x16 magic = broadcast(0x1.8p23F);
  const F32x16 shifted = fma(x, broadcast(0x1.715476p+0F), magic);
  const F32x16 n = shifted - magic;
  F32x16 r = fma(n, broadcast(-0x1.62e4p-1F), x);
  r = fma(n, broadcast(-0x1.7f7d1cp-20F), r);
  F32x16 p = broadcast(1.0F / 5040.0F);
  p = fma(p, r, broadcast(1.0F / 720.0F));
  p = fma(p, r, broadcast(1.0F / 120.0F));
  p = fma(p, r, broadcast(1.0F / 24.0F));
  p = fma(p, r, broadcast(1.0F / 6.0F));
  p = fma(p, r, broadcast(0.5F));
  p = fma(p, r, broadcast(1.0F));
  p = fma(p, r, broadcast(1.0F));
  const I32x16 exponent = toInt(n);
  const I32x16 half = shiftRightSigned<1>(exponent);
  const I32x16 bias = broadcastInt(127);
  const F32x16 first = fromBits(shiftLeft<23>(half + bias));
  const F32x16 second = fromBits(shiftLeft<23>(exponent - half + bias));
  return p * first * second;
}
COLIBRI_INLINE float exponential(float x) {
  return firstLane(exponential(broadcast(x)));
}

/// 1 / (1 + e^-x).
COLIBRI_INLINE F32x16 sigmoid(F32x16 x) {
  const F32x16 one = broadcast(1.0F);
  return one / (one + exponential(negated(x)));
}

/// ln(1 + t) for 0 <= t <= 1: 2 atanh(s), s = t / (2 + t) <= 1/3, series to s^15 (leaves 1.4e-9), small t kept to the
/// last bit.
COLIBRI_INLINE F32x16 log1pUnit(F32x16 t) {
  const F32x16 s = t / (broadcast(2.0F) + t);
  const F32x16 z = s * s;
  F32x16 p = broadcast(1.0F / 15.0F);
  p = fma(p, z, broadcast(1.0F / 13.0F));
  p = fma(p, z, broadcast(1.0F / 11.0F));
  p = fma(p, z, broadcast(1.0F / 9.0F));
  p = fma(p, z, broadcast(1.0F / 7.0F));
  p = fma(p, z, broadcast(1.0F / 5.0F));
  p = fma(p, z, broadcast(1.0F / 3.0F));
  const F32x16 twice = s + s;
  return fma(twice * z, p, twice);
}

/// bf16 grid, round to nearest even; NaN stays NaN.
COLIBRI_INLINE F32x16 toBf16Grid(F32x16 a) {
  const I32x16 bits = bitsOf(a);
  const I32x16 odd = shiftRight<16>(bits) & broadcastInt(1);
  const I32x16 rounded = bits + broadcastInt(0x7fff) + odd;
  const I32x16 quiet = bits | broadcastInt(0x400000);
  const Mask16 isNan = less(broadcastInt(0x7f800000), bits & broadcastInt(0x7fffffff));
  return fromBits(select(isNan, quiet, rounded) & broadcastInt(-0x10000));
}
COLIBRI_INLINE float toBf16Grid(float a) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, a);
  const std::uint32_t rounded =
      (bits & 0x7fffffffU) > 0x7f800000U ? bits | 0x400000U : bits + 0x7fffU + ((bits >> 16) & 1U);
  return __builtin_bit_cast(float, rounded & 0xffff0000U);
}

/// 2^exponent for -126 <= exponent <= 127.
COLIBRI_INLINE float powerOfTwo(int exponent) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Sum over 16 lanes of x[i]*y[i], rule 4 order.
COLIBRI_INLINE float dot(const float* x, const float* y, int n) {
  F32x16 sum = broadcast(0.0F);
  for (int i = 0; i < n; i += 16) sum = fma(loadUpTo(x + i, n - i), loadUpTo(y + i, n - i), sum);
  return reduceAdd(sum);
}

}  // namespace colibri::COLIBRI_ISA
