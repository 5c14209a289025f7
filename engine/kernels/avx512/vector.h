#pragma once
// The 16-lane vector as one AVX-512 register; operation by operation what scalar/vector.h documents.

#include <immintrin.h>

#include <cstdint>

#ifndef COLIBRI_ISA
#error "define COLIBRI_ISA (the namespace of this instruction set) first"
#endif
#define COLIBRI_INLINE inline __attribute__((always_inline))

namespace colibri::COLIBRI_ISA {

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};
struct Mask16 {
  __mmask16 v;
};

template <int R>
inline constexpr int kOutputsAtOnce = R == 1 ? 8 : 4;

COLIBRI_INLINE F32x16 broadcast(float x) {
  return {_mm512_set1_ps(x)};
}
COLIBRI_INLINE I32x16 broadcastInt(std::int32_t x) {
  return {_mm512_set1_epi32(x)};
}
COLIBRI_INLINE F32x16 load(const float* p) {
  return {_mm512_loadu_ps(p)};
}
COLIBRI_INLINE __mmask16 partialMask(int count) {
  return static_cast<__mmask16>((1U << count) - 1U);
}
COLIBRI_INLINE F32x16 loadPartial(const float* p, int count) {
  return {_mm512_maskz_loadu_ps(partialMask(count), p)};
}
COLIBRI_INLINE void store(float* p, F32x16 a) {
  _mm512_storeu_ps(p, a.v);
}
COLIBRI_INLINE void storePartial(float* p, F32x16 a, int count) {
  _mm512_mask_storeu_ps(p, partialMask(count), a.v);
}
COLIBRI_INLINE void storeInt(std::int32_t* p, I32x16 a) {
  _mm512_storeu_si512(p, a.v);
}
COLIBRI_INLINE F32x16 operator+(F32x16 a, F32x16 b) {
  return {_mm512_add_ps(a.v, b.v)};
}
COLIBRI_INLINE F32x16 operator-(F32x16 a, F32x16 b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
COLIBRI_INLINE F32x16 operator*(F32x16 a, F32x16 b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
COLIBRI_INLINE F32x16 operator/(F32x16 a, F32x16 b) {
  return {_mm512_div_ps(a.v, b.v)};
}
COLIBRI_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
COLIBRI_INLINE F32x16 squareRoot(F32x16 a) {
  return {_mm512_sqrt_ps(a.v)};
}
COLIBRI_INLINE F32x16 minimum(F32x16 a, F32x16 b) {
  return {_mm512_min_ps(a.v, b.v)};
}
COLIBRI_INLINE F32x16 maximum(F32x16 a, F32x16 b) {
  return {_mm512_max_ps(a.v, b.v)};
}
COLIBRI_INLINE I32x16 bitsOf(F32x16 a) {
  return {_mm512_castps_si512(a.v)};
}
COLIBRI_INLINE F32x16 fromBits(I32x16 a) {
  return {_mm512_castsi512_ps(a.v)};
}
COLIBRI_INLINE I32x16 toInt(F32x16 a) {
  return {_mm512_cvttps_epi32(a.v)};
}
COLIBRI_INLINE F32x16 toFloat(I32x16 a) {
  return {_mm512_cvtepi32_ps(a.v)};
}
COLIBRI_INLINE I32x16 operator+(I32x16 a, I32x16 b) {
  return {_mm512_add_epi32(a.v, b.v)};
}
COLIBRI_INLINE I32x16 operator-(I32x16 a, I32x16 b) {
  return {_mm512_sub_epi32(a.v, b.v)};
}
COLIBRI_INLINE I32x16 operator&(I32x16 a, I32x16 b) {
  return {_mm512_and_si512(a.v, b.v)};
}
COLIBRI_INLINE I32x16 operator|(I32x16 a, I32x16 b) {
  return {_mm512_or_si512(a.v, b.v)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftLeft(I32x16 a) {
  return {_mm512_slli_epi32(a.v, kBits)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftRight(I32x16 a) {
  return {_mm512_srli_epi32(a.v, kBits)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftRightSigned(I32x16 a) {
  return {_mm512_srai_epi32(a.v, kBits)};
}
COLIBRI_INLINE I32x16 minimum(I32x16 a, I32x16 b) {
  return {_mm512_min_epi32(a.v, b.v)};
}
COLIBRI_INLINE I32x16 maximum(I32x16 a, I32x16 b) {
  return {_mm512_max_epi32(a.v, b.v)};
}
COLIBRI_INLINE Mask16 less(F32x16 a, F32x16 b) {
  return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)};
}
COLIBRI_INLINE Mask16 less(I32x16 a, I32x16 b) {
  return {_mm512_cmplt_epi32_mask(a.v, b.v)};
}
COLIBRI_INLINE F32x16 select(Mask16 mask, F32x16 yes, F32x16 no) {
  return {_mm512_mask_blend_ps(mask.v, no.v, yes.v)};
}
COLIBRI_INLINE I32x16 select(Mask16 mask, I32x16 yes, I32x16 no) {
  return {_mm512_mask_blend_epi32(mask.v, no.v, yes.v)};
}
COLIBRI_INLINE float reduceAdd(F32x16 a) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
COLIBRI_INLINE std::int32_t reduceMax(I32x16 a) {
  return _mm512_reduce_max_epi32(a.v);
}
COLIBRI_INLINE float firstLane(F32x16 a) {
  return _mm512_cvtss_f32(a.v);
}
COLIBRI_INLINE F32x16 swapPairs(F32x16 a) {
  return {_mm512_permute_ps(a.v, 0xb1)};
}
COLIBRI_INLINE F32x16 loadTwice(const float* p) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return {_mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(p)))};
}
COLIBRI_INLINE F32x16 loadBf16(const std::uint16_t* p) {
  const __m256i half = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16))};
}
/// The sign-extended byte shifted left by 7 is, without its copy of the sign at bit 14, a half-precision number of 2^-8
/// the value: four exponent bits land in the lower four of five. Denormals included.
COLIBRI_INLINE F32x16 loadE4m3Scaled(const std::uint8_t* p) {
  const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const __m256i half = _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<short>(0xbf80)));
  return {_mm512_cvtph_ps(half)};
}
COLIBRI_INLINE F32x16 loadE2m1(const std::uint8_t* p) {
  const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  const __m512i nibbles = _mm512_cvtepu8_epi32(_mm_unpacklo_epi8(packed, _mm_srli_epi16(packed, 4)));
  // The permutation looks at four bits of each index.
  const __m512 values = _mm512_setr_ps(0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F, -0.0F, -0.5F, -1.0F, -1.5F,
                                       -2.0F, -3.0F, -4.0F, -6.0F);
  return {_mm512_permutexvar_ps(nibbles, values)};
}
COLIBRI_INLINE void prefetch(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
}

}  // namespace colibri::COLIBRI_ISA
