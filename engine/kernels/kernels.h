#pragma once
// The one table of compute kernels. Every entry obeys docs/numerics.md, so each instruction set gives the same bits.
//
// Conventions: activations are fp32 arrays (in the `vendor` profile their values lie on the bf16 grid where the vendor
// rounds); weights are in their released form, row-major [out][in]; `stride` counts elements between rows. No kernel
// allocates, locks, calls libm or looks at more than its arguments; each is safe to call from several threads on
// disjoint outputs. Output rows may be split at any multiple of kRowTile without changing a bit.

#include <colibri/status.h>
#include <colibri/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace colibri {

inline constexpr int kLanes = 16;    ///< accumulators of a dot product (numerics rule 1)
inline constexpr int kRowTile = 16;  ///< output rows of one work item

inline constexpr std::int8_t kNanExponent = -128;  ///< of a packed block that has a NaN

/// Rows of activations: `rows` x `k`, row r at x + r*stride.
struct RowsView {
  const float* x = nullptr;
  int rows = 0;
  std::ptrdiff_t stride = 0;
};
/// Where a linear writes: y[r*stride + n] for n in [n0, n1).
struct OutView {
  float* y = nullptr;
  std::ptrdiff_t stride = 0;
  int n0 = 0;
  int n1 = 0;
};

/// Bytes of one activation row prepared for `linearFp4`, for inputs of width k (a multiple of 32; the last block of 128
/// is padded with zeros).
[[nodiscard]] std::size_t fp4PreparedBytes(int k);

struct Kernels {
  Isa isa = Isa::kScalar;
  std::string_view name;

  // --- Linears: y[r][n] = sum_k x[r][k] * w[n][k] ---
  /// Rule 4, bf16 weights. Any k.
  void (*linearBf16)(RowsView x, const std::uint16_t* w, int k, OutView out);
  /// Rule 4, fp32 weights. Any k.
  void (*linearF32)(RowsView x, const float* w, int k, OutView out);
  /// Rule 3 then 4: e4m3 weights with e8m0 scales [ceil(n/block)][ceil(k/block)]; block a power of two from 16 on. x is
  /// either raw (wo_a, `fp32` profile) or the output of qdqE4m3. `scratch`: room for k floats, for an instruction set
  /// that scales the activation first; those of today scale the weight (the same numbers) and take null.
  void (*linearFp8)(RowsView x, const std::uint8_t* w, const std::uint8_t* scale, int k, int block, OutView out,
                    float* scratch);
  /// Rule 2 (`vendor`): packed e2m1 weights [n][k/2] with e8m0 scales [n][k/32]; x: `rows` prepared rows,
  /// fp4PreparedBytes(k) apart. k a multiple of 32; nothing behind a row's k/2 bytes and k/32 scales is read or counts.
  void (*linearFp4)(const std::byte* prepared, int rows, const std::uint8_t* w, const std::uint8_t* scale, int k,
                    OutView out);
  /// Rule 4 (`fp32`): the same weights decoded exactly, x raw.
  void (*linearFp4F32)(RowsView x, const std::uint8_t* w, const std::uint8_t* scale, int k, OutView out);

  // --- Quantisers ---
  /// The activation quantiser: blocks of `block`; s = 2^ceil(log2(max(|x|max, 1e-4)/448)); y = e4m3(clamp(x/s, +-448))
  /// * s. In place allowed. With block 64 it is the KV quantiser (the result lies on the bf16 grid).
  void (*qdqE4m3)(const float* x, float* y, int n, int block);
  /// The same quantiser's codes and scale exponents (scale = 2^exponent, one per block).
  void (*quantizeE4m3)(const float* x, int n, int block, std::uint8_t* codes, std::int8_t* exponents);
  /// The activation quantiser with `block` (128, V4.1: 32) into the form that linearFp4 takes; k a multiple of 32.
  void (*prepareFp4)(const float* x, int k, int block, std::byte* prepared);
  /// The indexer's e2m1 quantiser, s = 2^ceil(log2(max(|x|max, 6*2^-126)/6)), blocks of 32, ties to the even code. In
  /// place allowed.
  void (*qdqE2m1)(const float* x, float* y, int n);
  /// The quantiser of V4.1's compressed entries (spec deepseek-v41 7.3): groups of 16, s = e4m3(max(|x|max, 6*2^-9)/6),
  /// at most 448; y = e2m1(clamp(x/s, +-6)) * s, which lies on the bf16 grid. A NaN makes its whole group NaN. n a
  /// multiple of 16. In place allowed.
  void (*qdqE2m1Groups16)(const float* x, float* y, int n);
  /// x <- bf16(x), round to nearest even.
  void (*roundBf16)(float* x, std::ptrdiff_t n);
  void (*decodeBf16)(const std::uint16_t* x, float* y, std::ptrdiff_t n);

  // --- Packed rows: what a quantiser gives, without loss. decode(encode(x)) has the bits of the qdq kernel ---
  /// Values of quantizeE4m3's codes. A NaN keeps its sign, not its payload. Any n.
  void (*decodeE4m3)(const std::uint8_t* codes, const std::int8_t* exponents, int n, int block, float* y);
  /// qdqE2m1 as codes, two in a byte, the lower element in the lower half: codes [n/2], one exponent a block of 32
  /// (scale = 2^exponent). n a multiple of 16. A block with a NaN has exponent kNanExponent and is NaN throughout when
  /// it is decoded.
  void (*encodeE2m1)(const float* x, int n, std::uint8_t* codes, std::int8_t* exponents);
  void (*decodeE2m1)(const std::uint8_t* codes, const std::int8_t* exponents, int n, float* y);
  /// qdqE2m1Groups16 as codes [n/2], packed as above, and e4m3 scales [n/16].
  void (*encodeE2m1Groups16)(const float* x, int n, std::uint8_t* codes, std::uint8_t* scales);
  void (*decodeE2m1Groups16)(const std::uint8_t* codes, const std::uint8_t* scales, int n, float* y);
  /// bf16 numbers as bytes [2n], lower byte first, at any address; rounds to nearest even.
  void (*encodeBf16)(const float* x, int n, std::uint8_t* bytes);
  void (*decodeBf16Bytes)(const std::uint8_t* bytes, int n, float* y);

  // --- Norms and rotations ---
  /// y = w * (x * rsqrt(mean(x^2) + eps)); w fp32, may be null (all ones). No rounding. In place allowed.
  void (*rmsNorm)(const float* x, const float* w, float* y, int n, float eps);
  /// The per-head query norm as the vendor does it in bf16 tensors: every step rounded. In place.
  void (*queryNormVendor)(float* x, int n, float eps);
  /// rsqrt(mean(x^2) + eps) alone.
  float (*inverseRms)(const float* x, int n, float eps);
  /// Interleaved pairs: (a, b) <- (a cos - b sin, a sin + b cos); inverse negates sin. `pairs` cosines and sines. In
  /// place.
  void (*rope)(float* x, const float* cosines, const float* sines, int pairs, bool inverse);
  /// y = n^-1/2 H x, H[i][j] = (-1)^popcount(i & j); n a power of two <= 256. In place.
  void (*hadamard)(float* x, int n);

  // --- Hyper-connections (m = 4) ---
  /// u: 24 values already times the inverse RMS; base [24], scale [3]. pre[4], post[4], comb[4][4] (first index: source
  /// stream).
  void (*hcSplit)(const float* u, const float* base, const float* scale, int sinkhornIters, float eps, float* pre,
                  float* post, float* comb);
  /// hc_head: pre_j = sigmoid(u_j*scale + base_j) + eps.
  void (*hcHeadSplit)(const float* u, const float* base, float scale, float eps, float* pre);
  /// y[d] = sum_j pre[j] * streams[j][d], j ascending, streams [4][d].
  void (*hcCollapse)(const float* streams, const float* pre, int d, float* y);
  /// out[k][d] = post[k]*f[d] + sum_j comb[j][k]*streams[j][d]. out must not alias streams.
  void (*hcExpand)(const float* f, const float* post, const float* comb, const float* streams, int d, float* out);

  // --- Attention ---
  /// One query row, `heads` heads of width d (a multiple of 16), keys = values: n rows by pointer in the order of the
  /// sums. z = (q.key)*scale; M = max z; e = exp(z - M); out = sum e*key / (sum e + exp(sink_h - M)), divided once at
  /// the end. roundProbabilities: e is rounded to bf16 for the value product only (`vendor`). scratch: n floats; n is
  /// at least 1.
  void (*attention)(const float* q, int heads, int d, const float* const* keys, int n, const float* sinks, float scale,
                    bool roundProbabilities, float* out, float* scratch);
  /// scores[b] = sum_h relu(q_h . k_b) * w_h, h ascending; k: n rows of d. vendorRounding: dot, product and score to
  /// bf16 (sum in fp32).
  void (*indexScores)(const float* q, const float* w, int heads, int d, const float* k, int n, bool vendorRounding,
                      float* scores);
  /// indexScores of packed keys, with the bits of decodeE2m1 and then indexScores. Key b stands at rows + b*stride:
  /// codes [d/2], then exponents [ceil(d/32)]. scratch: d floats.
  void (*indexScoresPacked)(const float* q, const float* w, int heads, int d, const std::uint8_t* rows,
                            std::ptrdiff_t stride, int n, bool vendorRounding, float* scores, float* scratch);
  /// Softmax without its division: z = x*scale, y = exp(z - max z); returns the sum of y over the lanes (rule 1). n at
  /// least 1. In place allowed.
  float (*softmaxExp)(const float* x, float scale, int n, float* y);
  /// Softmax pooling of the compressor: per channel c, out[c] = sum_t softmax_t(scores[t][c]) * values[t][c], t
  /// ascending, one division at the end; scores may be -inf (not all).
  void (*pool)(const float* const* values, const float* const* scores, int n, int width, float* out);

  // --- Router and experts ---
  /// y = sqrt(softplus(x)), softplus(x) = ln(1 + e^x), x itself above 20.
  void (*sqrtSoftplus)(const float* x, float* y, int n);
  /// h = silu(min(gate, limit)) * clamp(up, -limit, limit) * weight; limit 0 = no clamp.
  void (*swiglu)(const float* gate, const float* up, int n, float limit, float weight, float* h);
  /// y = x/2 (1 + erf(x/sqrt 2)), within 6 ulp. In place allowed.
  void (*gelu)(const float* x, float* y, int n);
  /// An n-gram row enters the four residual streams (spec deepseek-v41 3.9 "Apply"): for each stream c
  /// g = sum_k h*queryWeight*keyWeight*key times the inverse RMS of h and of key and d^-1/2;
  /// h[c] += sigmoid(+-sqrt(max(|g|, 1e-6))) * value, with g's sign. h, weights and key [4][d], value [d]; h in place,
  /// unrounded.
  void (*engramGate)(float* h, const float* queryWeight, const float* keyWeight, const float* key, const float* value,
                     int d, float eps);
  /// y += x.
  void (*add)(const float* x, float* y, std::ptrdiff_t n);
};

/// The kernels of an instruction set; kAuto takes the best one here. kUnavailable with the reason when this processor
/// or build lacks it.
Result<const Kernels*> kernelsFor(Isa isa);
[[nodiscard]] std::string_view isaName(Isa isa);

/// Indices of the k largest of n values, best first, ties to the lower index (rule 7). k <= n. Not by instruction set.
void topK(const float* values, int n, int k, int* ids);

/// Rotary frequencies of one kind of layer: `pairs` values in fp32. factor 1 = no YaRN.
struct RopeParameters {
  int dims = 64;
  double base = 10000;
  double factor = 1;
  int originalContext = 0;
  double betaFast = 32;
  double betaSlow = 1;
};
void ropeFrequencies(const RopeParameters& parameters, float* frequencies);
/// cos and sin of the fp32 product position*frequency, each the nearest fp32 number up to 2^21 radians.
void ropeAngles(int position, const float* frequencies, int pairs, float* cosines, float* sines);

}  // namespace colibri
