#pragma once
// The 16-lane vector in portable C++: the readable reference of what avx2/vector.h and avx512/vector.h do with
// registers. Every operation rounds once, to nearest even (std::fma's guarantee where fused), so all implementations
// agree in every bit. Nothing here may call an inline function of another header: its copy could be compiled for one
// instruction set and chosen by the linker for all.

#include <cstdint>

#ifndef COLIBRI_ISA
#error "define COLIBRI_ISA (the namespace of this instruction set) first"
#endif
#define COLIBRI_INLINE inline __attribute__((always_inline))

namespace colibri::COLIBRI_ISA {

struct F32x16 {
  float v[16];
};
struct I32x16 {
  std::int32_t v[16];
};
struct Mask16 {
  bool v[16];
};

/// Outputs of a linear computed side by side for R rows of activations; chosen for the register file, no effect on
/// results.
template <int R>
inline constexpr int kOutputsAtOnce = 1;

#define COLIBRI_LANES(expression) \
  for (int j = 0; j < 16; ++j) {  \
    result.v[j] = (expression);   \
  }                               \
  return result

COLIBRI_INLINE F32x16 broadcast(float x) {
  F32x16 result;
  COLIBRI_LANES(x);
}
COLIBRI_INLINE I32x16 broadcastInt(std::int32_t x) {
  I32x16 result;
  COLIBRI_LANES(x);
}
COLIBRI_INLINE F32x16 load(const float* p) {
  F32x16 result;
  COLIBRI_LANES(p[j]);
}
/// Lanes from `count` on are zero and their memory is not touched.
COLIBRI_INLINE F32x16 loadPartial(const float* p, int count) {
  F32x16 result;
  COLIBRI_LANES(j < count ? p[j] : 0.0F);
}
COLIBRI_INLINE void store(float* p, F32x16 a) {
  for (int j = 0; j < 16; ++j) p[j] = a.v[j];
}
COLIBRI_INLINE void storePartial(float* p, F32x16 a, int count) {
  for (int j = 0; j < count; ++j) p[j] = a.v[j];
}
COLIBRI_INLINE void storeInt(std::int32_t* p, I32x16 a) {
  for (int j = 0; j < 16; ++j) p[j] = a.v[j];
}
COLIBRI_INLINE F32x16 operator+(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] + b.v[j]);
}
COLIBRI_INLINE F32x16 operator-(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] - b.v[j]);
}
COLIBRI_INLINE F32x16 operator*(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] * b.v[j]);
}
COLIBRI_INLINE F32x16 operator/(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] / b.v[j]);
}
/// a*b + c, rounded once.
COLIBRI_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  F32x16 result;
  COLIBRI_LANES(__builtin_fmaf(a.v[j], b.v[j], c.v[j]));
}
COLIBRI_INLINE F32x16 squareRoot(F32x16 a) {
  F32x16 result;
  COLIBRI_LANES(__builtin_sqrtf(a.v[j]));
}
/// The second operand when the two are equal or one is NaN, as the x86 instructions do.
COLIBRI_INLINE F32x16 minimum(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] < b.v[j] ? a.v[j] : b.v[j]);
}
COLIBRI_INLINE F32x16 maximum(F32x16 a, F32x16 b) {
  F32x16 result;
  COLIBRI_LANES(a.v[j] > b.v[j] ? a.v[j] : b.v[j]);
}
COLIBRI_INLINE I32x16 bitsOf(F32x16 a) {
  return __builtin_bit_cast(I32x16, a);
}
COLIBRI_INLINE F32x16 fromBits(I32x16 a) {
  return __builtin_bit_cast(F32x16, a);
}
/// fp32 holding an integer of at most 31 bits, exactly.
COLIBRI_INLINE I32x16 toInt(F32x16 a) {
  I32x16 result;
  COLIBRI_LANES(static_cast<std::int32_t>(a.v[j]));
}
/// Round to nearest even.
COLIBRI_INLINE F32x16 toFloat(I32x16 a) {
  F32x16 result;
  COLIBRI_LANES(static_cast<float>(a.v[j]));
}
// Integer arithmetic wraps.
COLIBRI_INLINE I32x16 operator+(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) + static_cast<std::uint32_t>(b.v[j])));
}
COLIBRI_INLINE I32x16 operator-(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) - static_cast<std::uint32_t>(b.v[j])));
}
COLIBRI_INLINE I32x16 operator&(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(a.v[j] & b.v[j]);
}
COLIBRI_INLINE I32x16 operator|(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(a.v[j] | b.v[j]);
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftLeft(I32x16 a) {
  I32x16 result;
  COLIBRI_LANES(static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) << kBits));
}
/// Fills with zeros.
template <int kBits>
COLIBRI_INLINE I32x16 shiftRight(I32x16 a) {
  I32x16 result;
  COLIBRI_LANES(static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[j]) >> kBits));
}
/// Fills with the sign.
template <int kBits>
COLIBRI_INLINE I32x16 shiftRightSigned(I32x16 a) {
  I32x16 result;
  COLIBRI_LANES(a.v[j] >> kBits);
}
COLIBRI_INLINE I32x16 minimum(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(a.v[j] < b.v[j] ? a.v[j] : b.v[j]);
}
COLIBRI_INLINE I32x16 maximum(I32x16 a, I32x16 b) {
  I32x16 result;
  COLIBRI_LANES(a.v[j] > b.v[j] ? a.v[j] : b.v[j]);
}
COLIBRI_INLINE Mask16 less(F32x16 a, F32x16 b) {
  Mask16 result;
  COLIBRI_LANES(a.v[j] < b.v[j]);
}
COLIBRI_INLINE Mask16 less(I32x16 a, I32x16 b) {
  Mask16 result;
  COLIBRI_LANES(a.v[j] < b.v[j]);
}
COLIBRI_INLINE F32x16 select(Mask16 mask, F32x16 yes, F32x16 no) {
  F32x16 result;
  COLIBRI_LANES(mask.v[j] ? yes.v[j] : no.v[j]);
}
COLIBRI_INLINE I32x16 select(Mask16 mask, I32x16 yes, I32x16 no) {
  I32x16 result;
  COLIBRI_LANES(mask.v[j] ? yes.v[j] : no.v[j]);
}
/// The sum over the lanes by halving: (j, j+8), (j, j+4), (j, j+2), (j, j+1).
COLIBRI_INLINE float reduceAdd(F32x16 a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) a.v[j] = a.v[j] + a.v[j + half];
  }
  return a.v[0];
}
COLIBRI_INLINE std::int32_t reduceMax(I32x16 a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) a.v[j] = a.v[j] > a.v[j + half] ? a.v[j] : a.v[j + half];
  }
  return a.v[0];
}
COLIBRI_INLINE float firstLane(F32x16 a) {
  return a.v[0];
}
/// Lanes 2i and 2i+1 exchanged.
COLIBRI_INLINE F32x16 swapPairs(F32x16 a) {
  F32x16 result;
  COLIBRI_LANES(a.v[j ^ 1]);
}
/// Eight values, each twice: p[0] p[0] p[1] p[1] ...
COLIBRI_INLINE F32x16 loadTwice(const float* p) {
  F32x16 result;
  COLIBRI_LANES(p[j / 2]);
}
COLIBRI_INLINE F32x16 loadBf16(const std::uint16_t* p) {
  I32x16 result;
  for (int j = 0; j < 16; ++j) result.v[j] = static_cast<std::int32_t>(static_cast<std::uint32_t>(p[j]) << 16);
  return fromBits(result);
}
/// Sixteen e4m3 values, each times 2^-8 (the factor that the half-precision conversion of the other files leaves).
COLIBRI_INLINE F32x16 loadE4m3Scaled(const std::uint8_t* p) {
  F32x16 result;
  for (int j = 0; j < 16; ++j) {
    const int exponent = (p[j] >> 3) & 15;
    const int mantissa = p[j] & 7;
    const std::uint32_t bits = static_cast<std::uint32_t>(exponent + 112) << 23 | static_cast<std::uint32_t>(mantissa)
                                                                                      << 20;
    const float magnitude = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-17F : __builtin_bit_cast(float, bits);
    result.v[j] = (p[j] & 0x80) != 0 ? -magnitude : magnitude;
  }
  return result;
}
/// Sixteen e2m1 values from eight bytes, low nibble first.
COLIBRI_INLINE F32x16 loadE2m1(const std::uint8_t* p) {
  constexpr float kValues[16] = {0.0F,  0.5F,  1.0F,  1.5F,  2.0F,  3.0F,  4.0F,  6.0F,
                                 -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
  F32x16 result;
  COLIBRI_LANES(kValues[(j & 1) != 0 ? p[j / 2] >> 4 : p[j / 2] & 15]);
}
COLIBRI_INLINE void prefetch(const void* p) {
  (void)p;
}

#undef COLIBRI_LANES

}  // namespace colibri::COLIBRI_ISA
