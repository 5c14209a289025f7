#pragma once
// Attention over a list of entries (key = value), the indexer's scores and the compressor's pooling. Sums over entries
// run in the entries' order, one chain a channel, two passes: the exact maximum first.

namespace colibri::COLIBRI_ISA {

/// Dots of one query with T keys of width d (a multiple of 16).
template <int T>
COLIBRI_INLINE void dots(const float* q, const float* const* keys, int d, float* out) {
  F32x16 sums[T];
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) sums[t] = broadcast(0.0F);
  for (int c = 0; c < d; c += 16) {
    const F32x16 query = load(q + c);
    COLIBRI_UNROLL
    for (int t = 0; t < T; ++t) sums[t] = fma(query, load(keys[t] + c), sums[t]);
  }
  COLIBRI_UNROLL
  for (int t = 0; t < T; ++t) out[t] = reduceAdd(sums[t]);
}

/// out[c .. c + 16 C) = sum_t e[t]*keys[t][c ..] / total.
template <int C>
COLIBRI_INLINE void weightedSum(const float* e, const float* const* keys, int n, int c, float total, float* out) {
  F32x16 sums[C];
  COLIBRI_UNROLL
  for (int i = 0; i < C; ++i) sums[i] = broadcast(0.0F);
  for (int t = 0; t < n; ++t) {
    const F32x16 weight = broadcast(e[t]);
    COLIBRI_UNROLL
    for (int i = 0; i < C; ++i) sums[i] = fma(weight, load(keys[t] + c + 16 * i), sums[i]);
  }
  COLIBRI_UNROLL
  for (int i = 0; i < C; ++i) store(out + c + 16 * i, sums[i] / broadcast(total));
}

inline void attention(const float* q, int heads, int d, const float* const* keys, int n, const float* sinks,
                      float scale, bool roundProbabilities, float* out, float* scratch) {
  for (int h = 0; h < heads; ++h, q += d, out += d) {
    int t = 0;
    for (; t + 4 <= n; t += 4) dots<4>(q, keys + t, d, scratch + t);
    for (; t < n; ++t) dots<1>(q, keys + t, d, scratch + t);

    float largest = scratch[0] * scale;
    for (t = 0; t < n; ++t) {
      scratch[t] = scratch[t] * scale;
      largest = scratch[t] > largest ? scratch[t] : largest;
    }
    for (t = 0; t < n; t += 16) {
      storeUpTo(scratch + t, exponential(loadUpTo(scratch + t, n - t) - broadcast(largest)), n - t);
    }
    float total = 0.0F;
    for (t = 0; t < n; ++t) total = total + scratch[t];
    total = total + exponential(sinks[h] - largest);

    if (roundProbabilities) roundBf16(scratch, n);
    int c = 0;
    for (; c + 64 <= d; c += 64) weightedSum<4>(scratch, keys, n, c, total, out);
    for (; c < d; c += 16) weightedSum<1>(scratch, keys, n, c, total, out);
  }
}

inline void indexScores(const float* q, const float* w, int heads, int d, const float* k, int n, bool vendorRounding,
                        float* scores) {
  for (int b = 0; b < n; ++b) {
    const float* key = k + static_cast<std::ptrdiff_t>(b) * d;
    const float* query = q;
    float score = 0.0F;
    int h = 0;
    while (h < heads) {
      const int count = heads - h < 4 ? 1 : 4;
      float products[4];
      if (count == 4) {
        const float* const queries[4] = {query, query + d, query + 2 * static_cast<std::ptrdiff_t>(d),
                                         query + 3 * static_cast<std::ptrdiff_t>(d)};
        dots<4>(key, queries, d, products);
      } else {
        dots<1>(key, &query, d, products);
      }
      for (int i = 0; i < count; ++i) {
        const float product = vendorRounding ? toBf16Grid(products[i]) : products[i];
        const float positive = product > 0.0F ? product : 0.0F;
        score = vendorRounding ? score + toBf16Grid(positive * w[h + i]) : __builtin_fmaf(positive, w[h + i], score);
      }
      h += count;
      query += static_cast<std::ptrdiff_t>(count) * d;
    }
    scores[b] = vendorRounding ? toBf16Grid(score) : score;
  }
}

/// Lanes behind the last value are kept out of the sum by reading back what was stored.
inline float softmaxExp(const float* x, float scale, int n, float* y) {
  float largest = x[0] * scale;
  const int whole = n & ~15;
  if (whole > 0) {
    F32x16 lanes = load(x) * broadcast(scale);
    for (int i = 16; i < whole; i += 16) lanes = maximum(load(x + i) * broadcast(scale), lanes);
    float spread[16];
    store(spread, lanes);
    for (const float v : spread) largest = v > largest ? v : largest;
  }
  for (int i = whole; i < n; ++i) largest = x[i] * scale > largest ? x[i] * scale : largest;
  F32x16 sum = broadcast(0.0F);
  for (int i = 0; i < n; i += 16) {
    const F32x16 z = loadUpTo(x + i, n - i) * broadcast(scale);
    storeUpTo(y + i, exponential(z - broadcast(largest)), n - i);
    sum = sum + loadUpTo(y + i, n - i);
  }
  return reduceAdd(sum);
}

inline void pool(const float* const* values, const float* const* scores, int n, int width, float* out) {
  for (int c = 0; c < width; c += 16) {
    const int count = width - c;
    F32x16 largest = loadUpTo(scores[0] + c, count);
    for (int t = 1; t < n; ++t) largest = maximum(loadUpTo(scores[t] + c, count), largest);
    F32x16 sum = broadcast(0.0F);
    F32x16 total = broadcast(0.0F);
    for (int t = 0; t < n; ++t) {
      const F32x16 e = exponential(loadUpTo(scores[t] + c, count) - largest);
      sum = fma(e, loadUpTo(values[t] + c, count), sum);
      total = total + e;
    }
    storeUpTo(out + c, sum / total, count);
  }
}

}  // namespace colibri::COLIBRI_ISA
