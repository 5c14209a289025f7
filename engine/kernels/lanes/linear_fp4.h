#pragma once
// The routed experts' linear of profile `vendor` (rule 2): exact integer sums of 8 products a lane, one rounding to
// fp32, one FMA with the scales. The instruction set's fp4_core.h supplies Fp4Codes, decodeFp4, fp4LaneSums and
// fp4GroupScales.

namespace colibri::COLIBRI_ISA {

template <int R, int N>
inline void fp4Tile(const PreparedBlock* x, std::ptrdiff_t blocks, const std::uint8_t* w, const std::uint8_t* scale,
                    float* y, std::ptrdiff_t outStride, int n) {
  F32x16 sums[R][N];
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) sums[r][i] = broadcast(0.0F);
  }
  const std::uint8_t* weights = w + n * blocks * 64;
  const std::uint8_t* scales = scale + n * blocks * 4;
  for (std::ptrdiff_t b = 0; b < blocks; ++b) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) {
      const std::uint8_t* block = weights + (i * blocks + b) * 64;
      // The next tile's weights of the same columns.
      if (R == 1) prefetch(block + N * blocks * 64);
      const Fp4Codes codes = decodeFp4(block);
      const F32x16 groupScales = fp4GroupScales(scales + (i * blocks + b) * 4);
      COLIBRI_UNROLL
      for (int r = 0; r < R; ++r) {
        const PreparedBlock& activations = x[r * blocks + b];
        const F32x16 exact = toFloat(fp4LaneSums(codes, activations));
        sums[r][i] = fma(exact, groupScales * load(activations.scale), sums[r][i]);
      }
    }
  }
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) y[r * outStride + n + i] = reduceAdd(sums[r][i]);
  }
}

template <int R>
inline void fp4Rows(const PreparedBlock* x, std::ptrdiff_t blocks, const std::uint8_t* w, const std::uint8_t* scale,
                    float* y, std::ptrdiff_t outStride, int n, int count) {
  if (count == kFp4OutputsAtOnce<R>) {
    fp4Tile<R, kFp4OutputsAtOnce<R>>(x, blocks, w, scale, y, outStride, n);
    return;
  }
  for (int i = 0; i < count; ++i) fp4Tile<R, 1>(x, blocks, w, scale, y, outStride, n + i);
}

inline void linearFp4(const std::byte* prepared, int rows, const std::uint8_t* w, const std::uint8_t* scale, int k,
                      OutView out) {
  const auto* x = reinterpret_cast<const PreparedBlock*>(prepared);
  const std::ptrdiff_t blocks = k / 128;
  const int tile = rows == 1 ? kFp4OutputsAtOnce<1> : kFp4OutputsAtOnce<4>;
  for (int n = out.n0; n < out.n1; n += tile) {
    const int count = out.n1 - n < tile ? out.n1 - n : tile;
    int r = 0;
    for (; r + 4 <= rows; r += 4) {
      fp4Rows<4>(x + r * blocks, blocks, w, scale, out.y + r * out.stride, out.stride, n, count);
    }
    float* y = out.y + r * out.stride;
    switch (rows - r) {
      case 1:
        fp4Rows<1>(x + r * blocks, blocks, w, scale, y, out.stride, n, count);
        break;
      case 2:
        fp4Rows<2>(x + r * blocks, blocks, w, scale, y, out.stride, n, count);
        break;
      case 3:
        fp4Rows<3>(x + r * blocks, blocks, w, scale, y, out.stride, n, count);
        break;
      default:
        break;
    }
  }
}

}  // namespace colibri::COLIBRI_ISA
