#pragma once
// What the two AVX-512 forms of rule 2 share: decoding weights and scales.

namespace colibri::COLIBRI_ISA {

template <int R>
inline constexpr int kFp4OutputsAtOnce = R == 1 ? 4 : 2;

/// Doubled e2m1 values plus 12 as bytes.
struct Fp4Codes {
  __m512i even;
  __m512i odd;
};

COLIBRI_INLINE Fp4Codes decodeFp4(const std::uint8_t* packed) {
  const __m512i table =
      _mm512_broadcast_i32x4(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  const __m512i mask = _mm512_set1_epi8(15);
  const __m512i bytes = _mm512_loadu_si512(packed);
  return {_mm512_shuffle_epi8(table, _mm512_and_si512(bytes, mask)),
          _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), mask))};
}

COLIBRI_INLINE __m512i limbOf(const PreparedBlock& x, int limb, int odd) {
  return _mm512_loadu_si512(x.limbs[limb][odd]);
}

/// See scalar/fp4_core.h.
COLIBRI_INLINE F32x16 fp4GroupScales(const std::uint8_t* scale) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, scale, sizeof(four));
  const __m128i stored =
      _mm_min_epu8(_mm_adds_epu8(_mm_cvtsi32_si128(four), _mm_set1_epi8(1)), _mm_set1_epi8(static_cast<char>(254)));
  const __m128i spread = _mm_shuffle_epi8(stored, _mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(spread), 23))};
}

}  // namespace colibri::COLIBRI_ISA
