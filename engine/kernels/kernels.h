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

/// Bytes of one activation row prepared for `linearFp4`, for inputs of width k (a multiple of 128).
[[nodiscard]] std::size_t fp4PreparedBytes(int k);

struct Kernels {
  Isa isa = Isa::kScalar;
  std::string_view name;

  // --- Linears: y[r][n] = sum_k x[r][k] * w[n][k] ---
  /// Rule 4, bf16 weights. Any k.
  void (*linearBf16)(RowsView x, const std::uint16_t* w, int k, OutView out);
  /// Rule 4, fp32 weights. Any k.
  void (*linearF32)(RowsView x, const float* w, int k, OutView out);
  /// Rule 3 then 4: e4m3 weights with e8m0 scales [ceil(n/block)][ceil(k/block)]. x is either raw (wo_a, `fp32`
  /// profile) or the output of qdqE4m3. `scratch`: room for k floats, for an instruction set that scales the activation
  /// first; those of today scale the weight (the same numbers) and take null.
  void (*linearFp8)(RowsView x, const std::uint8_t* w, const std::uint8_t* scale, int k, int block, OutView out,
                    float* scratch);
  /// Rule 2 (`vendor`): packed e2m1 weights [n][k/2] with e8m0 scales [n][k/32]; x: `rows` prepared rows,
  /// fp4PreparedBytes(k) apart. k a multiple of 128.
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
  /// The activation quantiser with `block` (128, V4.1: 32) into the form that linearFp4 takes.
  void (*prepareFp4)(const float* x, int k, int block, std::byte* prepared);
  /// The indexer's e2m1 quantiser, s = 2^ceil(log2(max(|x|max, 6*2^-126)/6)), blocks of 32, ties to the even code. In
  /// place allowed.
  void (*qdqE2m1)(const float* x, float* y, int n);
  /// x <- bf16(x), round to nearest even.
  void (*roundBf16)(float* x, std::ptrdiff_t n);
  void (*decodeBf16)(const std::uint16_t* x, float* y, std::ptrdiff_t n);

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
  /// Softmax pooling of the compressor: per channel c, out[c] = sum_t softmax_t(scores[t][c]) * values[t][c], t
  /// ascending, one division at the end; scores may be -inf (not all).
  void (*pool)(const float* const* values, const float* const* scores, int n, int width, float* out);

  // --- Router and experts ---
  /// y = sqrt(softplus(x)), softplus(x) = ln(1 + e^x), x itself above 20.
  void (*sqrtSoftplus)(const float* x, float* y, int n);
  /// h = silu(min(gate, limit)) * clamp(up, -limit, limit) * weight; limit 0 = no clamp.
  void (*swiglu)(const float* gate, const float* up, int n, float limit, float weight, float* h);
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
