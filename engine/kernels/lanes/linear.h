#pragma once
// Linears of rule 4: element k belongs to lane k mod 16, ascending. One loop for bf16, fp32, fp8 and fp4 weights; what
// differs is how 16 weights become fp32 (exactly). The tile sizes decide speed only: each output is its own chain.

#if defined(__clang__)
#define COLIBRI_UNROLL _Pragma("unroll")
#else
#define COLIBRI_UNROLL _Pragma("GCC unroll 16")
#endif

namespace colibri::COLIBRI_ISA {

/// 16 values from up to 15 elements: the rest of the last vector of a row, zero-padded.
template <typename Element, typename Load>
COLIBRI_INLINE F32x16 loadPadded(const Element* p, int count, Load loadFull) {
  Element padded[16] = {};
  for (int j = 0; j < count; ++j) padded[j] = p[j];
  return loadFull(padded);
}

/// Whether neighbouring outputs have the same scales.
enum class ScaleSharing { kAlways, kNever, kByBlock };

/// Scales of weights that have none.
struct NoScales {
  using Row = int;
  static constexpr ScaleSharing kSharing = ScaleSharing::kAlways;
  [[nodiscard]] COLIBRI_INLINE static Row scaleRow(int /*n*/) { return 0; }
  [[nodiscard]] COLIBRI_INLINE static F32x16 scale(Row /*row*/, int /*k0*/) { return broadcast(1.0F); }
};

struct Bf16Weights : NoScales {
  const std::uint16_t* w;
  int k;
  COLIBRI_INLINE Bf16Weights(const std::uint16_t* weights, int width) : w(weights), k(width) {}
  [[nodiscard]] COLIBRI_INLINE int chunk() const { return k; }
  [[nodiscard]] COLIBRI_INLINE const std::uint16_t* at(int n, int k0) const {
    return w + static_cast<std::ptrdiff_t>(n) * k + k0;
  }
  [[nodiscard]] COLIBRI_INLINE F32x16 weights(int n, int k0, F32x16 /*scale*/) const { return loadBf16(at(n, k0)); }
  [[nodiscard]] COLIBRI_INLINE F32x16 tail(int n, int k0, int count, F32x16 /*scale*/) const {
    return loadPadded(at(n, k0), count, [](const std::uint16_t* p) { return loadBf16(p); });
  }
};

struct F32Weights : NoScales {
  const float* w;
  int k;
  COLIBRI_INLINE F32Weights(const float* weights, int width) : w(weights), k(width) {}
  [[nodiscard]] COLIBRI_INLINE int chunk() const { return k; }
  [[nodiscard]] COLIBRI_INLINE const float* at(int n, int k0) const {
    return w + static_cast<std::ptrdiff_t>(n) * k + k0;
  }
  [[nodiscard]] COLIBRI_INLINE F32x16 weights(int n, int k0, F32x16 /*scale*/) const { return load(at(n, k0)); }
  [[nodiscard]] COLIBRI_INLINE F32x16 tail(int n, int k0, int count, F32x16 /*scale*/) const {
    return loadPartial(at(n, k0), count);
  }
};

/// e4m3 with a power-of-two scale a block. The scale multiplies the weight: the product of a power of two and a 4-bit
/// significand is exact, so each FMA sees the same number as when the activation carries the scale, for any number of
/// rows.
/// kBlock: the block's size where the compiler shall know it, else 0.
template <int kBlock>
struct Fp8Weights {
  using Row = const std::uint8_t*;
  static constexpr ScaleSharing kSharing = ScaleSharing::kByBlock;
  const std::uint8_t* w;
  const std::uint8_t* scales;
  int k;
  int blockBits;  ///< log2 of the block's size
  int blocksPerRow;
  [[nodiscard]] COLIBRI_INLINE int chunk() const { return kBlock > 0 ? kBlock : 1 << blockBits; }
  [[nodiscard]] COLIBRI_INLINE Row scaleRow(int n) const {
    return scales + static_cast<std::ptrdiff_t>(n >> blockBits) * blocksPerRow;
  }
  /// 2^8 (see loadE4m3Scaled) times the block's scale; scales above 2^119 would leave fp32 and are held there.
  [[nodiscard]] COLIBRI_INLINE F32x16 scale(Row row, int k0) const {
    const int stored = row[k0 >> blockBits] + 8;
    const int exponent = stored < 254 ? stored : 254;
    return broadcast(powerOfTwo(exponent - 127));
  }
  [[nodiscard]] COLIBRI_INLINE const std::uint8_t* at(int n, int k0) const {
    return w + static_cast<std::ptrdiff_t>(n) * k + k0;
  }
  [[nodiscard]] COLIBRI_INLINE F32x16 weights(int n, int k0, F32x16 scale) const {
    return loadE4m3Scaled(at(n, k0)) * scale;
  }
  [[nodiscard]] COLIBRI_INLINE F32x16 tail(int n, int k0, int count, F32x16 scale) const {
    return loadPadded(at(n, k0), count, [](const std::uint8_t* p) { return loadE4m3Scaled(p); }) * scale;
  }
};

/// Packed e2m1 with one scale per 32; k is a multiple of 32, so there is no tail.
struct Fp4Weights {
  using Row = const std::uint8_t*;
  static constexpr ScaleSharing kSharing = ScaleSharing::kNever;
  const std::uint8_t* w;
  const std::uint8_t* scales;
  int k;
  [[nodiscard]] COLIBRI_INLINE int chunk() const { return 32; }
  [[nodiscard]] COLIBRI_INLINE Row scaleRow(int n) const { return scales + static_cast<std::ptrdiff_t>(n) * (k / 32); }
  [[nodiscard]] COLIBRI_INLINE F32x16 scale(Row row, int k0) const {
    const std::uint8_t stored = row[k0 / 32];
    // 2^-127 is a denormal number.
    const std::uint32_t bits = stored == 0 ? 0x400000U : static_cast<std::uint32_t>(stored) << 23;
    return broadcast(__builtin_bit_cast(float, bits));
  }
  [[nodiscard]] COLIBRI_INLINE const std::uint8_t* at(int n, int k0) const {
    return w + static_cast<std::ptrdiff_t>(n) * (k / 2) + k0 / 2;
  }
  [[nodiscard]] COLIBRI_INLINE F32x16 weights(int n, int k0, F32x16 scale) const { return loadE2m1(at(n, k0)) * scale; }
  [[nodiscard]] COLIBRI_INLINE F32x16 tail(int n, int k0, int /*count*/, F32x16 scale) const {
    return weights(n, k0, scale);
  }
};

/// R rows of activations times N outputs, which have S (1 or N) rows of scales.
template <int R, int N, int S, typename Weights>
inline void linearTile(const float* x, std::ptrdiff_t stride, const Weights& weights, int k, float* y,
                       std::ptrdiff_t outStride, int n) {
  F32x16 sums[R][N];
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) sums[r][i] = broadcast(0.0F);
  }
  typename Weights::Row scaleRows[S];
  COLIBRI_UNROLL
  for (int i = 0; i < S; ++i) scaleRows[i] = weights.scaleRow(n + i);
  const int whole = k & ~15;
  const int chunk = weights.chunk();
  for (int k0 = 0; k0 < whole; k0 += chunk) {
    F32x16 scales[S];
    COLIBRI_UNROLL
    for (int i = 0; i < S; ++i) scales[i] = weights.scale(scaleRows[i], k0);
    const int end = whole - k0 < chunk ? whole : k0 + chunk;
    for (int c = k0; c < end; c += 16) {
      F32x16 activations[R];
      COLIBRI_UNROLL
      for (int r = 0; r < R; ++r) activations[r] = load(x + r * stride + c);
      COLIBRI_UNROLL
      for (int i = 0; i < N; ++i) {
        // The next tile's weights of the same columns.
        if (R == 1) prefetch(weights.at(n + N + i, c));
        const F32x16 w = weights.weights(n + i, c, scales[S == 1 ? 0 : i]);
        COLIBRI_UNROLL
        for (int r = 0; r < R; ++r) sums[r][i] = fma(activations[r], w, sums[r][i]);
      }
    }
  }
  if (whole < k) {
    const int count = k - whole;
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) {
      const F32x16 w = weights.tail(n + i, whole, count, weights.scale(scaleRows[S == 1 ? 0 : i], whole));
      COLIBRI_UNROLL
      for (int r = 0; r < R; ++r) sums[r][i] = fma(loadPartial(x + r * stride + whole, count), w, sums[r][i]);
    }
  }
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) y[r * outStride + n + i] = reduceAdd(sums[r][i]);
  }
}

template <int R, typename Weights>
inline void linearRows(const float* x, std::ptrdiff_t stride, const Weights& weights, int k, float* y,
                       std::ptrdiff_t outStride, int n, int count) {
  constexpr int kAtOnce = kOutputsAtOnce<R>;
  if (count == kAtOnce) {
    bool shared = Weights::kSharing == ScaleSharing::kAlways;
    if constexpr (Weights::kSharing == ScaleSharing::kByBlock) {
      shared = weights.scaleRow(n) == weights.scaleRow(n + kAtOnce - 1);
    }
    if constexpr (Weights::kSharing != ScaleSharing::kNever) {
      if (shared) linearTile<R, kAtOnce, 1>(x, stride, weights, k, y, outStride, n);
    }
    if constexpr (Weights::kSharing != ScaleSharing::kAlways) {
      if (!shared) linearTile<R, kAtOnce, kAtOnce>(x, stride, weights, k, y, outStride, n);
    }
    return;
  }
  for (int i = 0; i < count; ++i) linearTile<R, 1, 1>(x, stride, weights, k, y, outStride, n + i);
}

/// All rows over outputs [n0, n1): tiles of weights outside, rows inside, so that decoded weights serve four rows.
template <typename Weights>
inline void linear(RowsView x, const Weights& weights, int k, OutView out) {
  const int tile = x.rows == 1 ? kOutputsAtOnce<1> : kOutputsAtOnce<4>;
  for (int n = out.n0; n < out.n1; n += tile) {
    const int count = out.n1 - n < tile ? out.n1 - n : tile;
    int r = 0;
    for (; r + 4 <= x.rows; r += 4) {
      linearRows<4>(x.x + r * x.stride, x.stride, weights, k, out.y + r * out.stride, out.stride, n, count);
    }
    const float* rest = x.x + r * x.stride;
    float* y = out.y + r * out.stride;
    switch (x.rows - r) {
      case 1:
        linearRows<1>(rest, x.stride, weights, k, y, out.stride, n, count);
        break;
      case 2:
        linearRows<2>(rest, x.stride, weights, k, y, out.stride, n, count);
        break;
      case 3:
        linearRows<3>(rest, x.stride, weights, k, y, out.stride, n, count);
        break;
      default:
        break;
    }
  }
}

inline void linearBf16(RowsView x, const std::uint16_t* w, int k, OutView out) {
  linear(x, Bf16Weights{w, k}, k, out);
}
inline void linearF32(RowsView x, const float* w, int k, OutView out) {
  linear(x, F32Weights{w, k}, k, out);
}
inline void linearFp8(RowsView x, const std::uint8_t* w, const std::uint8_t* scale, int k, int block, OutView out,
                      float* /*scratch*/) {
  const int bits = __builtin_ctz(static_cast<unsigned>(block));
  const int blocksPerRow = (k + block - 1) / block;
  if (block == 32) {
    linear(x, Fp8Weights<32>{w, scale, k, bits, blocksPerRow}, k, out);
  } else {
    linear(x, Fp8Weights<0>{w, scale, k, bits, blocksPerRow}, k, out);
  }
}
inline void linearFp4F32(RowsView x, const std::uint8_t* w, const std::uint8_t* scale, int k, OutView out) {
  linear(x, Fp4Weights{w, scale, k}, k, out);
}

}  // namespace colibri::COLIBRI_ISA
