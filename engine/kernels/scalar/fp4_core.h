#pragma once
// Rule 2 in plain integers.

namespace colibri::COLIBRI_ISA {

template <int R>
inline constexpr int kFp4OutputsAtOnce = 1;

/// Doubled e2m1 values plus 12, in the order of PreparedBlock::limbs: [odd][lane*4 + i].
struct Fp4Codes {
  std::int32_t v[2][64];
};

COLIBRI_INLINE Fp4Codes decodeFp4(const std::uint8_t* packed) {
  constexpr std::int32_t kOffsetValues[16] = {12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0};
  Fp4Codes codes;
  for (int i = 0; i < 64; ++i) {
    codes.v[0][i] = kOffsetValues[packed[i] & 15];
    codes.v[1][i] = kOffsetValues[packed[i] >> 4];
  }
  return codes;
}

/// The lanes' exact sums of 8 products q * doubled weight.
COLIBRI_INLINE I32x16 fp4LaneSums(const Fp4Codes& codes, const PreparedBlock& x) {
  I32x16 sums;
  for (int lane = 0; lane < 16; ++lane) {
    std::int32_t sum = x.offset[lane];
    for (int i = 4 * lane; i < 4 * lane + 4; ++i) {
      for (int odd = 0; odd < 2; ++odd) {
        const std::int32_t q = x.limbs[0][odd][i] + 256 * x.limbs[1][odd][i] + 65536 * x.limbs[2][odd][i];
        sum += codes.v[odd][i] * q;
      }
    }
    sums.v[lane] = sum;
  }
  return sums;
}

/// The four group scales of a block as fp32, each over its four lanes: 2^(stored - 126), i.e. twice the scale, so that
/// a stored 0 is a normal number; PreparedBlock::scale holds the other half. Scales above 2^126 are held there.
COLIBRI_INLINE F32x16 fp4GroupScales(const std::uint8_t* scale) {
  F32x16 result;
  for (int j = 0; j < 16; ++j) {
    const int exponent = scale[j / 4] + 1;
    result.v[j] = powerOfTwo((exponent < 254 ? exponent : 254) - 127);
  }
  return result;
}

}  // namespace colibri::COLIBRI_ISA
