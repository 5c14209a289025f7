#pragma once
// The released number formats, one definition each (spec: OCP MX, fp8 e4m3fn). Exact conversions only.

#include <bit>
#include <cmath>
#include <cstdint>

namespace colibri {

/// bfloat16 bits to fp32 (exact).
inline float bf16ToFloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// fp32 to bfloat16, round to nearest even; NaN stays NaN.
inline std::uint16_t floatToBf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// e4m3fn bits to fp32: bias 7, no infinities, 0x7f/0xff are NaN.
inline float e4m3ToFloat(std::uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::bit_cast<float>(0x7fc00000U);
  const float magnitude = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9F
                                        : std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 120) << 23 |
                                                               static_cast<std::uint32_t>(mantissa) << 20);
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

/// e8m0 scale to fp32: 2^(bits - 127); 0 is the subnormal 2^-127. 0xff (NaN) must have been refused at load.
inline float e8m0ToFloat(std::uint8_t bits) {
  return bits == 0 ? 0x1p-127F : std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 23);
}

/// e2m1 nibble (bit 3 = sign) to fp32.
inline float e2m1ToFloat(std::uint8_t nibble) {
  constexpr float kValues[8] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
  const float magnitude = kValues[nibble & 7];
  return (nibble & 8) != 0 ? -magnitude : magnitude;
}

}  // namespace colibri
