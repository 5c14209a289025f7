#pragma once
// The 16-lane vector as two AVX2 registers; operation by operation what scalar/vector.h documents.

#include <immintrin.h>

#include <cstdint>

#ifndef COLIBRI_ISA
#error "define COLIBRI_ISA (the namespace of this instruction set) first"
#endif
#define COLIBRI_INLINE inline __attribute__((always_inline))

namespace colibri::COLIBRI_ISA {

struct F32x16 {
  __m256 low, high;
};
struct I32x16 {
  __m256i low, high;
};
struct Mask16 {
  __m256 low, high;
};

template <int R>
inline constexpr int kOutputsAtOnce = R == 1 ? 4 : 1;

COLIBRI_INLINE F32x16 broadcast(float x) {
  return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
COLIBRI_INLINE I32x16 broadcastInt(std::int32_t x) {
  return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
COLIBRI_INLINE F32x16 load(const float* p) {
  return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
COLIBRI_INLINE __m256i partialMask(int first, int count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count - first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
COLIBRI_INLINE F32x16 loadPartial(const float* p, int count) {
  return {_mm256_maskload_ps(p, partialMask(0, count)), _mm256_maskload_ps(p + 8, partialMask(8, count))};
}
COLIBRI_INLINE void store(float* p, F32x16 a) {
  _mm256_storeu_ps(p, a.low);
  _mm256_storeu_ps(p + 8, a.high);
}
COLIBRI_INLINE void storePartial(float* p, F32x16 a, int count) {
  _mm256_maskstore_ps(p, partialMask(0, count), a.low);
  _mm256_maskstore_ps(p + 8, partialMask(8, count), a.high);
}
COLIBRI_INLINE void storeInt(std::int32_t* p, I32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.low);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), a.high);
}
COLIBRI_INLINE F32x16 operator+(F32x16 a, F32x16 b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
COLIBRI_INLINE F32x16 operator-(F32x16 a, F32x16 b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
COLIBRI_INLINE F32x16 operator*(F32x16 a, F32x16 b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
COLIBRI_INLINE F32x16 operator/(F32x16 a, F32x16 b) {
  return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)};
}
COLIBRI_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
COLIBRI_INLINE F32x16 squareRoot(F32x16 a) {
  return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)};
}
COLIBRI_INLINE F32x16 minimum(F32x16 a, F32x16 b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
COLIBRI_INLINE F32x16 maximum(F32x16 a, F32x16 b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}
COLIBRI_INLINE I32x16 bitsOf(F32x16 a) {
  return {_mm256_castps_si256(a.low), _mm256_castps_si256(a.high)};
}
COLIBRI_INLINE F32x16 fromBits(I32x16 a) {
  return {_mm256_castsi256_ps(a.low), _mm256_castsi256_ps(a.high)};
}
COLIBRI_INLINE I32x16 toInt(F32x16 a) {
  return {_mm256_cvttps_epi32(a.low), _mm256_cvttps_epi32(a.high)};
}
COLIBRI_INLINE F32x16 toFloat(I32x16 a) {
  return {_mm256_cvtepi32_ps(a.low), _mm256_cvtepi32_ps(a.high)};
}
COLIBRI_INLINE I32x16 operator+(I32x16 a, I32x16 b) {
  return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)};
}
COLIBRI_INLINE I32x16 operator-(I32x16 a, I32x16 b) {
  return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)};
}
COLIBRI_INLINE I32x16 operator&(I32x16 a, I32x16 b) {
  return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
COLIBRI_INLINE I32x16 operator|(I32x16 a, I32x16 b) {
  return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftLeft(I32x16 a) {
  return {_mm256_slli_epi32(a.low, kBits), _mm256_slli_epi32(a.high, kBits)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftRight(I32x16 a) {
  return {_mm256_srli_epi32(a.low, kBits), _mm256_srli_epi32(a.high, kBits)};
}
template <int kBits>
COLIBRI_INLINE I32x16 shiftRightSigned(I32x16 a) {
  return {_mm256_srai_epi32(a.low, kBits), _mm256_srai_epi32(a.high, kBits)};
}
COLIBRI_INLINE I32x16 minimum(I32x16 a, I32x16 b) {
  return {_mm256_min_epi32(a.low, b.low), _mm256_min_epi32(a.high, b.high)};
}
COLIBRI_INLINE I32x16 maximum(I32x16 a, I32x16 b) {
  return {_mm256_max_epi32(a.low, b.low), _mm256_max_epi32(a.high, b.high)};
}
COLIBRI_INLINE Mask16 less(F32x16 a, F32x16 b) {
  return {_mm256_cmp_ps(a.low, b.low, _CMP_LT_OQ), _mm256_cmp_ps(a.high, b.high, _CMP_LT_OQ)};
}
COLIBRI_INLINE Mask16 less(I32x16 a, I32x16 b) {
  return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(b.low, a.low)),
          _mm256_castsi256_ps(_mm256_cmpgt_epi32(b.high, a.high))};
}
COLIBRI_INLINE F32x16 select(Mask16 mask, F32x16 yes, F32x16 no) {
  return {_mm256_blendv_ps(no.low, yes.low, mask.low), _mm256_blendv_ps(no.high, yes.high, mask.high)};
}
COLIBRI_INLINE I32x16 select(Mask16 mask, I32x16 yes, I32x16 no) {
  return bitsOf(select(mask, fromBits(yes), fromBits(no)));
}
COLIBRI_INLINE float reduceAdd(F32x16 a) {
  const __m256 eight = _mm256_add_ps(a.low, a.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
COLIBRI_INLINE std::int32_t reduceMax(I32x16 a) {
  const __m256i eight = _mm256_max_epi32(a.low, a.high);
  const __m128i four = _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}
COLIBRI_INLINE float firstLane(F32x16 a) {
  return _mm256_cvtss_f32(a.low);
}
COLIBRI_INLINE F32x16 swapPairs(F32x16 a) {
  return {_mm256_permute_ps(a.low, 0xb1), _mm256_permute_ps(a.high, 0xb1)};
}
COLIBRI_INLINE F32x16 loadTwice(const float* p) {
  const __m256 eight = _mm256_loadu_ps(p);
  return {_mm256_permutevar8x32_ps(eight, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)),
          _mm256_permutevar8x32_ps(eight, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7))};
}
COLIBRI_INLINE F32x16 loadBf16(const std::uint16_t* p) {
  const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8));
  return fromBits(shiftLeft<16>(I32x16{_mm256_cvtepu16_epi32(low), _mm256_cvtepu16_epi32(high)}));
}
/// The sign-extended byte shifted left by 7 is, without its copy of the sign at bit 14, a half-precision number of 2^-8
/// the value: four exponent bits land in the lower four of five. Denormals included.
COLIBRI_INLINE F32x16 loadE4m3Scaled(const std::uint8_t* p) {
  const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  const __m256i half = _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<short>(0xbf80)));
  return {_mm256_cvtph_ps(_mm256_castsi256_si128(half)), _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1))};
}
/// Looked up as bf16 numbers, upper and lower byte apart.
COLIBRI_INLINE F32x16 loadE2m1(const std::uint8_t* p) {
  const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  const __m128i mask = _mm_set1_epi8(15);
  const __m128i nibbles =
      _mm_unpacklo_epi8(_mm_and_si128(packed, mask), _mm_and_si128(_mm_srli_epi16(packed, 4), mask));
  const __m128i upper =
      _mm_setr_epi8(0x00, 0x3f, 0x3f, 0x3f, 0x40, 0x40, 0x40, 0x40, static_cast<char>(0x80), static_cast<char>(0xbf),
                    static_cast<char>(0xbf), static_cast<char>(0xbf), static_cast<char>(0xc0), static_cast<char>(0xc0),
                    static_cast<char>(0xc0), static_cast<char>(0xc0));
  const __m128i lower =
      _mm_setr_epi8(0x00, 0x00, static_cast<char>(0x80), static_cast<char>(0xc0), 0x00, 0x40, static_cast<char>(0x80),
                    static_cast<char>(0xc0), 0x00, 0x00, static_cast<char>(0x80), static_cast<char>(0xc0), 0x00, 0x40,
                    static_cast<char>(0x80), static_cast<char>(0xc0));
  const __m128i high = _mm_shuffle_epi8(upper, nibbles);
  const __m128i low = _mm_shuffle_epi8(lower, nibbles);
  const __m128i first = _mm_unpacklo_epi8(low, high);
  const __m128i second = _mm_unpackhi_epi8(low, high);
  return fromBits(shiftLeft<16>(I32x16{_mm256_cvtepu16_epi32(first), _mm256_cvtepu16_epi32(second)}));
}
COLIBRI_INLINE void prefetch(const void* p) {
  _mm_prefetch(static_cast<const char*>(p), _MM_HINT_T0);
}

}  // namespace colibri::COLIBRI_ISA
