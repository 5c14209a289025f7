#pragma once
// Activation quantisers: power-of-two scale of a block, values rounded to the e4m3 or e2m1 grid.

namespace colibri::COLIBRI_ISA {

inline constexpr std::int32_t kInfinityBits = 0x7f800000;

/// Bits of the largest magnitude; as integers they are in the magnitudes' order, and a NaN is above infinity.
COLIBRI_INLINE std::int32_t blockMaximum(const float* x, int n) {
  I32x16 largest = broadcastInt(0);
  for (int i = 0; i < n; i += 16) largest = maximum(bitsOf(absolute(loadUpTo(x + i, n - i))), largest);
  return reduceMax(largest);
}

/// Smallest k with a <= 1.75 * 2^(k + 8) = 448 * 2^k where a is at least 1e-4; 0 (scale 1) when a is not finite, as in
/// the reference.
COLIBRI_INLINE int e4m3Exponent(std::int32_t a) {
  constexpr auto kLeast = __builtin_bit_cast(std::int32_t, 1e-4F);
  if (a >= kInfinityBits) return 0;
  a = a > kLeast ? a : kLeast;
  return (a >> 23) - 127 - 8 + ((a & 0x7fffff) > 0x600000 ? 1 : 0);
}
/// Smallest k with a <= 1.5 * 2^(k + 2) = 6 * 2^k where a is at least 6 * 2^-126, which gives -126.
COLIBRI_INLINE int e2m1Exponent(std::int32_t a) {
  constexpr auto kLeast = __builtin_bit_cast(std::int32_t, 6.0F * 0x1p-126F);
  if (a >= kInfinityBits) return 0;
  a = a > kLeast ? a : kLeast;
  return (a >> 23) - 127 - 2 + ((a & 0x7fffff) > 0x400000 ? 1 : 0);
}

/// Rounds to the nearest value with `kMantissaBits` after the leading bit, ties to even, the binade of 2^kLeastExponent
/// and all below it sharing one step; clamps to +-limit first, keeps the sign of zero and NaN. Adding 1.5 * 2^23 steps
/// makes the addition round.
template <int kMantissaBits, int kLeastExponent>
COLIBRI_INLINE F32x16 toMiniGrid(F32x16 x, float limit) {
  const I32x16 sign = bitsOf(x) & broadcastInt(static_cast<std::int32_t>(0x80000000U));
  const F32x16 magnitude = minimum(broadcast(limit), absolute(x));
  const I32x16 exponent = maximum(shiftRight<23>(bitsOf(magnitude)), broadcastInt(kLeastExponent + 127));
  const F32x16 magic = fromBits(shiftLeft<23>(exponent + broadcastInt(23 - kMantissaBits)) | broadcastInt(0x400000));
  return fromBits(bitsOf((magnitude + magic) - magic) | sign);
}
COLIBRI_INLINE F32x16 toE4m3Grid(F32x16 x) {
  return toMiniGrid<3, -6>(x, 448.0F);
}
COLIBRI_INLINE F32x16 toE2m1Grid(F32x16 x) {
  return toMiniGrid<1, 0>(x, 6.0F);
}

inline void qdqE4m3(const float* x, float* y, int n, int block) {
  for (int b = 0; b < n; b += block) {
    const int count = n - b < block ? n - b : block;
    const int exponent = e4m3Exponent(blockMaximum(x + b, count));
    const F32x16 scale = broadcast(powerOfTwo(exponent));
    const F32x16 inverse = broadcast(powerOfTwo(-exponent));
    for (int i = b; i < b + count; i += 16) {
      const F32x16 q = toE4m3Grid(loadUpTo(x + i, b + count - i) * inverse);
      storeUpTo(y + i, q * scale, b + count - i);
    }
  }
}

/// Codes of values on the e4m3 grid.
COLIBRI_INLINE I32x16 e4m3Codes(F32x16 q) {
  const I32x16 bits = bitsOf(q);
  const F32x16 magnitude = absolute(q);
  const I32x16 normal = shiftRight<20>(bitsOf(magnitude)) - broadcastInt(120 << 3);
  const I32x16 small = toInt(magnitude * broadcast(512.0F));
  // 0x7f is NaN.
  const I32x16 code = select(less(magnitude, broadcast(0x1p-6F)), small, minimum(normal, broadcastInt(0x7f)));
  return code | (shiftRight<24>(bits) & broadcastInt(0x80));
}

inline void quantizeE4m3(const float* x, int n, int block, std::uint8_t* codes, std::int8_t* exponents) {
  for (int b = 0; b < n; b += block) {
    const int count = n - b < block ? n - b : block;
    const int exponent = e4m3Exponent(blockMaximum(x + b, count));
    *exponents++ = static_cast<std::int8_t>(exponent);
    const F32x16 inverse = broadcast(powerOfTwo(-exponent));
    for (int i = b; i < b + count; i += 16) {
      std::int32_t wide[16];
      storeInt(wide, e4m3Codes(toE4m3Grid(loadUpTo(x + i, b + count - i) * inverse)));
      const int lanes = b + count - i < 16 ? b + count - i : 16;
      for (int j = 0; j < lanes; ++j) codes[i + j] = static_cast<std::uint8_t>(wide[j]);
    }
  }
}

inline void qdqE2m1(const float* x, float* y, int n) {
  for (int b = 0; b < n; b += 32) {
    const int count = n - b < 32 ? n - b : 32;
    const int exponent = e2m1Exponent(blockMaximum(x + b, count));
    const F32x16 scale = broadcast(powerOfTwo(exponent));
    const F32x16 inverse = broadcast(powerOfTwo(-exponent));
    for (int i = b; i < b + count; i += 16) {
      const F32x16 q = toE2m1Grid(loadUpTo(x + i, b + count - i) * inverse);
      storeUpTo(y + i, q * scale, b + count - i);
    }
  }
}

/// One block of 128 with `block` values a scale. A NaN has no integer: it makes its block's scale NaN instead.
inline void prepareBlock(const float* x, int block, PreparedBlock& out) {
  for (int b = 0; b < 128; b += block) {
    const std::int32_t largest = blockMaximum(x + b, block);
    const bool isNan = largest > kInfinityBits;
    const int exponent = e4m3Exponent(largest);
    const float scale = isNan ? __builtin_nanf("") : powerOfTwo(exponent - 11);
    const F32x16 inverse = broadcast(powerOfTwo(-exponent));
    for (int i = b; i < b + block; i += 16) {
      std::int32_t q[16];
      const F32x16 values = isNan ? broadcast(0.0F) : load(x + i);
      storeInt(q, toInt(toE4m3Grid(values * inverse) * broadcast(512.0F)));
      for (int j = 0; j < 16; ++j) {
        // Signed bytes, lowest first: ((v + 128) & 255) - 128 leaves a multiple of 256 for the next limb.
        const std::int32_t low = ((q[j] + 128) & 255) - 128;
        const std::int32_t rest = (q[j] - low) / 256;
        const std::int32_t middle = ((rest + 128) & 255) - 128;
        const std::int32_t high = (rest - middle) / 256;
        const int element = (i + j) / 2;
        const int odd = j & 1;
        out.limbs[0][odd][element] = static_cast<std::int8_t>(low);
        out.limbs[1][odd][element] = static_cast<std::int8_t>(middle);
        out.limbs[2][odd][element] = static_cast<std::int8_t>(high);
      }
      for (int lane = i / 8; lane < i / 8 + 2; ++lane) {
        std::int32_t sum = 0;
        for (int j = 0; j < 8; ++j) sum += q[8 * (lane - i / 8) + j];
        out.offset[lane] = -12 * sum;
        out.scale[lane] = scale;
      }
    }
  }
}

inline void prepareFp4(const float* x, int k, int block, std::byte* prepared) {
  auto* out = reinterpret_cast<PreparedBlock*>(prepared);
  const int whole = k / 128;
  for (int b = 0; b < whole; ++b) prepareBlock(x + 128 * static_cast<std::ptrdiff_t>(b), block, out[b]);
  if (k % 128 == 0) return;
  float padded[128] = {};
  for (int i = 0; i < k % 128; ++i) padded[i] = x[128 * static_cast<std::ptrdiff_t>(whole) + i];
  prepareBlock(padded, block, out[whole]);
}

inline void roundBf16(float* x, std::ptrdiff_t n) {
  for (std::ptrdiff_t i = 0; i < n; i += 16) storeUpTo(x + i, toBf16Grid(loadUpTo(x + i, n - i)), n - i);
}

inline void decodeBf16(const std::uint16_t* x, float* y, std::ptrdiff_t n) {
  std::ptrdiff_t i = 0;
  for (; i + 16 <= n; i += 16) store(y + i, loadBf16(x + i));
  for (; i < n; ++i) y[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(x[i]) << 16);
}

}  // namespace colibri::COLIBRI_ISA
