#pragma once
// Rule 2 with VNNI: four byte products added to each 32-bit lane in one instruction; limbs joined by shifting the sum.

namespace colibri::COLIBRI_ISA {

COLIBRI_INLINE I32x16 fp4LaneSums(const Fp4Codes& codes, const PreparedBlock& x) {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i offset = _mm512_loadu_si512(x.offset);
  __m512i high = _mm512_dpbusd_epi32(zero, codes.even, limbOf(x, 2, 0));
  high = _mm512_dpbusd_epi32(high, codes.odd, limbOf(x, 2, 1));
  __m512i middle = _mm512_dpbusd_epi32(_mm512_slli_epi32(high, 8), codes.even, limbOf(x, 1, 0));
  middle = _mm512_dpbusd_epi32(middle, codes.odd, limbOf(x, 1, 1));
  __m512i low = _mm512_dpbusd_epi32(offset, codes.even, limbOf(x, 0, 0));
  low = _mm512_dpbusd_epi32(low, codes.odd, limbOf(x, 0, 1));
  return {_mm512_add_epi32(low, _mm512_slli_epi32(middle, 8))};
}

}  // namespace colibri::COLIBRI_ISA
