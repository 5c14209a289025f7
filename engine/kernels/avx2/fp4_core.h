#pragma once
// Rule 2 with byte products: maddubs on weights made unsigned by an offset of 12, limbs joined after widening.

namespace colibri::COLIBRI_ISA {

template <int R>
inline constexpr int kFp4OutputsAtOnce = R == 1 ? 2 : 1;

/// Doubled e2m1 values plus 12 as bytes; [half of the lanes].
struct Fp4Codes {
  __m256i even[2];
  __m256i odd[2];
};

COLIBRI_INLINE Fp4Codes decodeFp4(const std::uint8_t* packed) {
  const __m256i table =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0));
  const __m256i mask = _mm256_set1_epi8(15);
  Fp4Codes codes;
  COLIBRI_UNROLL
  for (int half = 0; half < 2; ++half) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed + 32 * half));
    codes.even[half] = _mm256_shuffle_epi8(table, _mm256_and_si256(bytes, mask));
    codes.odd[half] = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), mask));
  }
  return codes;
}

/// Sums of a lane's products with one limb, as two 16-bit halves: at most 2 * 2 * 24 * 128 each, no saturation.
COLIBRI_INLINE __m256i limbProducts(const Fp4Codes& codes, const PreparedBlock& x, int limb, int half) {
  const auto* even = reinterpret_cast<const __m256i*>(x.limbs[limb][0] + 32 * half);
  const auto* odd = reinterpret_cast<const __m256i*>(x.limbs[limb][1] + 32 * half);
  return _mm256_add_epi16(_mm256_maddubs_epi16(codes.even[half], _mm256_loadu_si256(even)),
                          _mm256_maddubs_epi16(codes.odd[half], _mm256_loadu_si256(odd)));
}

COLIBRI_INLINE __m256i laneSumsOfHalf(const Fp4Codes& codes, const PreparedBlock& x, int half) {
  const __m256i low = _mm256_madd_epi16(limbProducts(codes, x, 0, half), _mm256_set1_epi16(1));
  const __m256i middle = _mm256_madd_epi16(limbProducts(codes, x, 1, half), _mm256_set1_epi16(256));
  const __m256i high = _mm256_slli_epi32(_mm256_madd_epi16(limbProducts(codes, x, 2, half), _mm256_set1_epi16(1)), 16);
  const __m256i offset = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x.offset + 8 * half));
  return _mm256_add_epi32(_mm256_add_epi32(low, middle), _mm256_add_epi32(high, offset));
}

COLIBRI_INLINE I32x16 fp4LaneSums(const Fp4Codes& codes, const PreparedBlock& x) {
  return {laneSumsOfHalf(codes, x, 0), laneSumsOfHalf(codes, x, 1)};
}

/// See scalar/fp4_core.h.
COLIBRI_INLINE F32x16 fp4GroupScales(const std::uint8_t* scale) {
  std::int32_t four = 0;
  __builtin_memcpy(&four, scale, sizeof(four));
  const __m128i stored =
      _mm_min_epu8(_mm_adds_epu8(_mm_cvtsi32_si128(four), _mm_set1_epi8(1)), _mm_set1_epi8(static_cast<char>(254)));
  // Each byte to the low byte of four lanes, then to the exponent's place.
  const __m256i low = _mm256_setr_epi8(0, -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 1, -1, -1, -1, 1, -1,
                                       -1, -1, 1, -1, -1, -1, 1, -1, -1, -1);
  const __m256i high = _mm256_setr_epi8(2, -1, -1, -1, 2, -1, -1, -1, 2, -1, -1, -1, 2, -1, -1, -1, 3, -1, -1, -1, 3,
                                        -1, -1, -1, 3, -1, -1, -1, 3, -1, -1, -1);
  const __m256i both = _mm256_broadcastsi128_si256(stored);
  return fromBits(shiftLeft<23>(I32x16{_mm256_shuffle_epi8(both, low), _mm256_shuffle_epi8(both, high)}));
}

}  // namespace colibri::COLIBRI_ISA
