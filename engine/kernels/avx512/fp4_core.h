#pragma once
// Rule 2 without VNNI: maddubs on weights made unsigned by an offset of 12, limbs joined after widening.

namespace colibri::COLIBRI_ISA {

/// Sums of a lane's products with one limb, as two 16-bit halves: at most 2 * 2 * 24 * 128 each, no saturation.
COLIBRI_INLINE __m512i limbProducts(const Fp4Codes& codes, const PreparedBlock& x, int limb) {
  return _mm512_add_epi16(_mm512_maddubs_epi16(codes.even, limbOf(x, limb, 0)),
                          _mm512_maddubs_epi16(codes.odd, limbOf(x, limb, 1)));
}

COLIBRI_INLINE I32x16 fp4LaneSums(const Fp4Codes& codes, const PreparedBlock& x) {
  const __m512i low = _mm512_madd_epi16(limbProducts(codes, x, 0), _mm512_set1_epi16(1));
  const __m512i middle = _mm512_madd_epi16(limbProducts(codes, x, 1), _mm512_set1_epi16(256));
  const __m512i high = _mm512_slli_epi32(_mm512_madd_epi16(limbProducts(codes, x, 2), _mm512_set1_epi16(1)), 16);
  const __m512i offset = _mm512_loadu_si512(x.offset);
  return {_mm512_add_epi32(_mm512_add_epi32(low, middle), _mm512_add_epi32(high, offset))};
}

}  // namespace colibri::COLIBRI_ISA
