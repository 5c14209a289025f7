#pragma once
// Rows of the caches packed on the grid of their quantiser, and their way back. Each pair gives the bits of the
// quantiser alone: a code times its scale is the product that the quantiser stores.

namespace colibri::COLIBRI_ISA {

/// Codes of values on the e2m1 grid, the sign in bit 3.
COLIBRI_INLINE I32x16 e2m1Codes(F32x16 q) {
  const I32x16 bits = bitsOf(q);
  const F32x16 magnitude = absolute(q);
  const I32x16 normal = shiftRight<22>(bitsOf(magnitude)) - broadcastInt(126 << 1);
  const I32x16 small = toInt(magnitude * broadcast(2.0F));
  const I32x16 code = select(less(magnitude, broadcast(1.0F)), small, normal);
  return code | (shiftRight<28>(bits) & broadcastInt(8));
}

/// Eight bytes from 16 codes, the lower element in the lower half.
COLIBRI_INLINE void storeE2m1(std::uint8_t* bytes, I32x16 codes) {
  std::int32_t wide[16];
  storeInt(wide, codes);
  for (int j = 0; j < 8; ++j) bytes[j] = static_cast<std::uint8_t>(wide[2 * j] | wide[2 * j + 1] << 4);
}

/// Sixteen values of e4m3 codes; unlike loadE4m3Scaled with NaNs.
COLIBRI_INLINE F32x16 e4m3Values(const std::uint8_t* codes) {
  const F32x16 value = loadE4m3Scaled(codes) * broadcast(256.0F);
  const I32x16 nan = bitsOf(value) | broadcastInt(0x7fc00000);
  // The code of NaN comes out as 480, the next value of the grid.
  return select(less(broadcast(448.0F), absolute(value)), fromBits(nan), value);
}

inline void decodeE4m3(const std::uint8_t* codes, const std::int8_t* exponents, int n, int block, float* y) {
  for (int b = 0; b < n; b += block) {
    const int end = n - b < block ? n : b + block;
    const F32x16 scale = broadcast(powerOfTwo(*exponents++));
    for (int i = b; i < end; i += 16) {
      if (end - i >= 16) {
        store(y + i, e4m3Values(codes + i) * scale);
      } else {
        storePartial(y + i, loadPadded(codes + i, end - i, [](const std::uint8_t* p) { return e4m3Values(p); }) * scale,
                     end - i);
      }
    }
  }
}

inline void encodeE2m1(const float* x, int n, std::uint8_t* codes, std::int8_t* exponents) {
  for (int b = 0; b < n; b += 32) {
    const int end = n - b < 32 ? n : b + 32;
    const std::int32_t largest = blockMaximum(x + b, end - b);
    const bool isNan = largest > kInfinityBits;
    const int exponent = e2m1Exponent(largest);
    *exponents++ = isNan ? kNanExponent : static_cast<std::int8_t>(exponent);
    const F32x16 inverse = broadcast(powerOfTwo(-exponent));
    for (int i = b; i < end; i += 16) {
      const F32x16 q = isNan ? broadcast(0.0F) : toE2m1Grid(load(x + i) * inverse);
      storeE2m1(codes + i / 2, e2m1Codes(q));
    }
  }
}

inline void decodeE2m1(const std::uint8_t* codes, const std::int8_t* exponents, int n, float* y) {
  for (int b = 0; b < n; b += 32) {
    const std::int8_t exponent = *exponents++;
    const F32x16 scale = broadcast(exponent == kNanExponent ? __builtin_nanf("") : powerOfTwo(exponent));
    for (int i = b; i < n && i < b + 32; i += 16) store(y + i, loadE2m1(codes + i / 2) * scale);
  }
}

/// Scale of a group of 16 from the bits of its largest magnitude; never 0, NaN for a NaN.
COLIBRI_INLINE float e2m1GroupScale(std::int32_t largest) {
  constexpr auto kLeast = __builtin_bit_cast(std::int32_t, 6.0F * 0x1p-9F);
  if (largest > kInfinityBits) return __builtin_nanf("");
  return firstLane(toE4m3Grid(broadcast(__builtin_bit_cast(float, largest > kLeast ? largest : kLeast) / 6.0F)));
}

inline void qdqE2m1Groups16(const float* x, float* y, int n) {
  for (int i = 0; i < n; i += 16) {
    const F32x16 scale = broadcast(e2m1GroupScale(blockMaximum(x + i, 16)));
    store(y + i, toE2m1Grid(load(x + i) / scale) * scale);
  }
}

inline void encodeE2m1Groups16(const float* x, int n, std::uint8_t* codes, std::uint8_t* scales) {
  for (int i = 0; i < n; i += 16) {
    const F32x16 scale = broadcast(e2m1GroupScale(blockMaximum(x + i, 16)));
    std::int32_t code[16];
    storeInt(code, e4m3Codes(scale));
    *scales++ = static_cast<std::uint8_t>(code[0]);
    const F32x16 q = code[0] == 0x7f ? broadcast(0.0F) : toE2m1Grid(load(x + i) / scale);
    storeE2m1(codes + i / 2, e2m1Codes(q));
  }
}

inline void decodeE2m1Groups16(const std::uint8_t* codes, const std::uint8_t* scales, int n, float* y) {
  for (int i = 0; i < n; i += 256) {
    const int groups = n - i < 256 ? (n - i) / 16 : 16;
    float values[16];
    store(values, groups == 16
                      ? e4m3Values(scales + i / 16)
                      : loadPadded(scales + i / 16, groups, [](const std::uint8_t* p) { return e4m3Values(p); }));
    for (int g = 0; g < groups; ++g) store(y + i + 16 * g, loadE2m1(codes + i / 2 + 8 * g) * broadcast(values[g]));
  }
}

inline void encodeBf16(const float* x, int n, std::uint8_t* bytes) {
  for (int i = 0; i < n; ++i) {
    const auto bits = static_cast<std::uint16_t>(__builtin_bit_cast(std::uint32_t, toBf16Grid(x[i])) >> 16);
    __builtin_memcpy(bytes + 2 * i, &bits, sizeof(bits));
  }
}

inline void decodeBf16Bytes(const std::uint8_t* bytes, int n, float* y) {
  for (int i = 0; i < n; ++i) {
    std::uint16_t bits = 0;
    __builtin_memcpy(&bits, bytes + 2 * i, sizeof(bits));
    y[i] = __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
}

inline void indexScoresPacked(const float* q, const float* w, int heads, int d, const std::uint8_t* rows,
                              std::ptrdiff_t stride, int n, bool vendorRounding, float* scores, float* scratch) {
  for (int b = 0; b < n; ++b, rows += stride) {
    decodeE2m1(rows, reinterpret_cast<const std::int8_t*>(rows + d / 2), d, scratch);
    indexScores(q, w, heads, d, scratch, 1, vendorRounding, scores + b);
  }
}

}  // namespace colibri::COLIBRI_ISA
