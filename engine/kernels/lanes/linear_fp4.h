#pragma once
// The routed experts' linear of profile `vendor` (rule 2): exact integer sums of 8 products a lane, one rounding to
// fp32, one FMA with the scales. The instruction set's fp4_core.h supplies Fp4Codes, decodeFp4, fp4LaneSums and
// fp4GroupScales.

namespace colibri::COLIBRI_ISA {

/// Where a linear's operands are: `blocks` prepared blocks a row of activations, of which the last may stand for fewer
/// than 128 elements.
struct Fp4Operands {
  const PreparedBlock* x;
  std::ptrdiff_t blocks;
  const std::uint8_t* w;
  const std::uint8_t* scale;
  int k;
};

/// One block of N outputs' weights: adds its R x N products.
template <int R, int N>
COLIBRI_INLINE void fp4Block(const Fp4Operands& in, std::ptrdiff_t b, int i, const std::uint8_t* weights,
                             const std::uint8_t* scales, F32x16 (&sums)[R][N]) {
  const Fp4Codes codes = decodeFp4(weights);
  const F32x16 groupScales = fp4GroupScales(scales);
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    const PreparedBlock& activations = in.x[r * in.blocks + b];
    const F32x16 exact = toFloat(fp4LaneSums(codes, activations));
    sums[r][i] = fma(exact, groupScales * load(activations.scale), sums[r][i]);
  }
}

template <int R, int N>
inline void fp4Tile(const Fp4Operands& in, float* y, std::ptrdiff_t outStride, int n) {
  F32x16 sums[R][N];
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) sums[r][i] = broadcast(0.0F);
  }
  const std::ptrdiff_t rowBytes = in.k / 2;
  const std::ptrdiff_t rowScales = in.k / 32;
  const std::uint8_t* weights = in.w + n * rowBytes;
  const std::uint8_t* scales = in.scale + n * rowScales;
  const std::ptrdiff_t whole = in.k / 128;
  for (std::ptrdiff_t b = 0; b < whole; ++b) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) {
      const std::uint8_t* block = weights + i * rowBytes + b * 64;
      // The next tile's weights of the same columns.
      if (R == 1) prefetch(block + N * rowBytes);
      fp4Block<R, N>(in, b, i, block, scales + i * rowScales + b * 4, sums);
    }
  }
  if (whole < in.blocks) {
    // The rest of a row, zero-padded: what stands behind it is another row or the end of the file.
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) {
      std::uint8_t codes[64] = {};
      std::uint8_t groups[4] = {127, 127, 127, 127};
      for (std::ptrdiff_t j = 0; j < rowBytes - whole * 64; ++j) codes[j] = weights[i * rowBytes + whole * 64 + j];
      for (std::ptrdiff_t j = 0; j < rowScales - whole * 4; ++j) groups[j] = scales[i * rowScales + whole * 4 + j];
      fp4Block<R, N>(in, whole, i, codes, groups, sums);
    }
  }
  COLIBRI_UNROLL
  for (int r = 0; r < R; ++r) {
    COLIBRI_UNROLL
    for (int i = 0; i < N; ++i) y[r * outStride + n + i] = reduceAdd(sums[r][i]);
  }
}

template <int R>
inline void fp4Rows(const Fp4Operands& in, float* y, std::ptrdiff_t outStride, int n, int count) {
  if (count == kFp4OutputsAtOnce<R>) {
    fp4Tile<R, kFp4OutputsAtOnce<R>>(in, y, outStride, n);
    return;
  }
  for (int i = 0; i < count; ++i) fp4Tile<R, 1>(in, y, outStride, n + i);
}

inline void linearFp4(const std::byte* prepared, int rows, const std::uint8_t* w, const std::uint8_t* scale, int k,
                      OutView out) {
  const std::ptrdiff_t blocks = (k + 127) / 128;
  const int tile = rows == 1 ? kFp4OutputsAtOnce<1> : kFp4OutputsAtOnce<4>;
  for (int n = out.n0; n < out.n1; n += tile) {
    const int count = out.n1 - n < tile ? out.n1 - n : tile;
    Fp4Operands in{reinterpret_cast<const PreparedBlock*>(prepared), blocks, w, scale, k};
    int r = 0;
    for (; r + 4 <= rows; r += 4, in.x += 4 * blocks) {
      fp4Rows<4>(in, out.y + r * out.stride, out.stride, n, count);
    }
    float* y = out.y + r * out.stride;
    switch (rows - r) {
      case 1:
        fp4Rows<1>(in, y, out.stride, n, count);
        break;
      case 2:
        fp4Rows<2>(in, y, out.stride, n, count);
        break;
      case 3:
        fp4Rows<3>(in, y, out.stride, n, count);
        break;
      default:
        break;
    }
  }
}

}  // namespace colibri::COLIBRI_ISA
