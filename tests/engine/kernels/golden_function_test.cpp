// Norms, rotations, hyper-connections and gates against the released model's own numbers.

#include "engine/kernels/kernel_test.h"

namespace colibri::test {
namespace {

using GoldenFunction = KernelTest;
INSTANTIATE_TEST_SUITE_P(Isa, GoldenFunction, testing::ValuesIn(availableKernels()), kernelTestName);

TEST_P(GoldenFunction, RmsNorm) {
  const GoldenFile file("kernels/rmsnorm.safetensors");
  const auto x = file.tensor("x").floats();
  const auto w = file.tensor("w").floats();
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += 256) kernels().rmsNorm(&x[row], w.data(), &y[row], 256, 1e-6F);
  EXPECT_LE(rowError(y, file.tensor("y_fp32").floats(), 256), 1e-6);
  const auto vendor = compareBf16(y, file.tensor("y_vendor").floats());
  EXPECT_EQ(vendor.different, 0);

  auto q = file.tensor("q").floats();
  std::vector<float> normed(q.size());
  for (std::size_t row = 0; row < q.size(); row += 128) {
    kernels().rmsNorm(&q[row], nullptr, &normed[row], 128, 1e-6F);
    kernels().queryNormVendor(&q[row], 128, 1e-6F);
  }
  EXPECT_LE(rowError(normed, file.tensor("q_fp32").floats(), 128), 1e-6);
  EXPECT_EQ(q, file.tensor("q_vendor").floats());
}

TEST_P(GoldenFunction, Hadamard) {
  const GoldenFile file("kernels/hadamard.safetensors");
  for (const int n : {128, 64, 32}) {
    const std::string name = "n" + std::to_string(n);
    auto x = file.tensor(name + "/x").floats();
    auto rounded = file.tensor(name + "/x_bf16").floats();
    for (int row = 0; row < 5; ++row) {
      kernels().hadamard(&x[row * n], n);
      kernels().hadamard(&rounded[row * n], n);
    }
    EXPECT_LE(rowError(x, file.tensor(name + "/y").floats(), n), 1e-6) << n;
    const auto vendor = compareBf16(rounded, file.tensor(name + "/y_bf16").floats());
    EXPECT_LE(vendor.different, 1) << n;
    EXPECT_LE(vendor.worst, 1) << n;
  }
}

TEST_P(GoldenFunction, Rope) {
  const GoldenFile file("kernels/rope.safetensors");
  const auto positions = file.tensor("positions").as<std::int32_t>();
  for (const std::string kind : {"main", "comp"}) {
    const auto x = file.tensor(kind + "/x").floats();
    const auto freq = file.tensor(kind + "/freq").floats();
    std::vector<float> forward = x;
    std::vector<float> backward = x;
    for (std::size_t p = 0; p < positions.size(); ++p) {
      float cosines[32];
      float sines[32];
      ropeAngles(positions[p], freq.data(), 32, cosines, sines);
      for (std::size_t head = 0; head < 3; ++head) {
        kernels().rope(&forward[(p * 3 + head) * 64], cosines, sines, 32, false);
        kernels().rope(&backward[(p * 3 + head) * 64], cosines, sines, 32, true);
      }
    }
    EXPECT_LE(rowError(forward, file.tensor(kind + "/y_fp32").floats(), 64), 1e-6) << kind;
    for (const auto& [actual, name] : {std::pair{&forward, "/y"}, std::pair{&backward, "/y_inverse"}}) {
      const auto vendor = compareBf16(*actual, file.tensor(kind + name).floats());
      EXPECT_LE(vendor.different, 3) << kind << name;
      EXPECT_LE(vendor.worst, 1) << kind << name;
    }
  }
}

/// The three outputs of a split within 1e-5 of their row's largest value.
void expectSplit(const Kernels& kernels, const GoldenFile& file, const std::string& mixes, const std::string& name,
                 int iterations) {
  const auto u = file.tensor(mixes).floats();
  const auto base = file.tensor("hc_base").floats();
  const auto scale = file.tensor("hc_scale").floats();
  std::vector<float> pre(24);
  std::vector<float> post(24);
  std::vector<float> comb(96);
  for (int r = 0; r < 6; ++r) {
    kernels.hcSplit(&u[r * 24], base.data(), scale.data(), iterations, 1e-6F, &pre[r * 4], &post[r * 4], &comb[r * 16]);
  }
  EXPECT_LE(rowError(pre, file.tensor(name + "/pre").floats(), 4), 1e-5) << name;
  EXPECT_LE(rowError(post, file.tensor(name + "/post").floats(), 4), 1e-5) << name;
  EXPECT_LE(rowError(comb, file.tensor(name + "/comb").floats(), 16), 1e-5) << name;
}

TEST_P(GoldenFunction, HyperConnectionSplit) {
  const GoldenFile file("kernels/hyper_connection.safetensors");
  expectSplit(kernels(), file, "mixes", "split20", 20);
  expectSplit(kernels(), file, "mixes", "split1", 1);
  expectSplit(kernels(), file, "mixes", "split2", 2);
  expectSplit(kernels(), file, "extreme/mixes", "extreme", 20);
}

TEST_P(GoldenFunction, HyperConnectionSplitByHand) {
  std::vector<float> u(24);
  std::vector<float> base(24);
  for (int i = 0; i < 24; ++i) {
    u[i] = (i % 2 == 0 ? 0.1F : -0.1F) * static_cast<float>(i + 1);
    base[i] = 0.01F * static_cast<float>(i);
  }
  const float scale[3] = {0.5F, 0.25F, 1.0F};
  float pre[4];
  float post[4];
  float comb[16];
  kernels().hcSplit(u.data(), base.data(), scale, 20, 1e-6F, pre, post, comb);
  const float expectedPre[4] = {0.5124984F, 0.4775162F, 0.5423989F, 0.4576031F};
  const float expectedPost[4] = {1.0823133F, 0.9500416F, 1.1169622F, 0.9350914F};
  const float expectedComb[16] = {0.1157428F, 0.3842580F, 0.1157428F, 0.3842554F, 0.2006607F, 0.2993393F,
                                  0.2006607F, 0.2993384F, 0.2993429F, 0.2006561F, 0.2993429F, 0.2006571F,
                                  0.3842527F, 0.1157455F, 0.3842527F, 0.1157481F};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(pre[i], expectedPre[i], 2e-7);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(post[i], expectedPost[i], 2e-7);
  for (int i = 0; i < 16; ++i) EXPECT_NEAR(comb[i], expectedComb[i], 2e-7);
}

TEST_P(GoldenFunction, HyperConnectionStreams) {
  const GoldenFile file("kernels/hyper_connection.safetensors");
  const auto streams = file.tensor("streams").floats();
  const auto f = file.tensor("f").floats();
  const auto fn = file.tensor("hc_fn").floats();
  const auto base = file.tensor("hc_base").floats();
  const auto scale = file.tensor("hc_scale").floats();
  const auto headFn = file.tensor("hc_head_fn").floats();
  const auto headBase = file.tensor("hc_head_base").floats();
  const float headScale = file.tensor("hc_head_scale").floats()[0];
  constexpr int kRows = 6;
  constexpr int kWidth = 128;
  std::vector<float> y(kRows * kWidth);
  std::vector<float> out(streams.size());
  std::vector<float> head(y.size());
  std::vector<float> post(kRows * 4);
  std::vector<float> comb(kRows * 16);
  for (int r = 0; r < kRows; ++r) {
    const float* x = &streams[r * 4 * kWidth];
    const float rms = kernels().inverseRms(x, 4 * kWidth, 1e-6F);
    float u[24];
    float pre[4];
    kernels().linearF32({x, 1, 4 * kWidth}, fn.data(), 4 * kWidth, {u, 24, 0, 24});
    for (float& value : u) value *= rms;
    kernels().hcSplit(u, base.data(), scale.data(), 20, 1e-6F, pre, &post[r * 4], &comb[r * 16]);
    kernels().hcCollapse(x, pre, kWidth, &y[r * kWidth]);
    kernels().hcExpand(&f[r * kWidth], &post[r * 4], &comb[r * 16], x, kWidth, &out[r * 4 * kWidth]);
    kernels().linearF32({x, 1, 4 * kWidth}, headFn.data(), 4 * kWidth, {u, 4, 0, 4});
    for (int j = 0; j < 4; ++j) u[j] *= rms;
    kernels().hcHeadSplit(u, headBase.data(), headScale, 1e-6F, pre);
    kernels().hcCollapse(x, pre, kWidth, &head[r * kWidth]);
  }
  EXPECT_LE(rowError(y, file.tensor("fp32/y").floats(), kWidth), 1e-5);
  EXPECT_LE(rowError(out, file.tensor("fp32/streams_out").floats(), kWidth), 1e-5);
  EXPECT_LE(rowError(head, file.tensor("fp32/head").floats(), kWidth), 1e-5);
  for (const std::string profile : {"vendor", "fp32"}) {
    EXPECT_LE(rowError(post, file.tensor(profile + "/post").floats(), 4), 1e-5) << profile;
    EXPECT_LE(rowError(comb, file.tensor(profile + "/comb").floats(), 16), 1e-5) << profile;
  }
  EXPECT_LE(compareBf16(y, file.tensor("vendor/y").floats()).worst, 1);
  EXPECT_LE(compareBf16(out, file.tensor("vendor/streams_out").floats()).worst, 1);
  EXPECT_LE(compareBf16(head, file.tensor("vendor/head").floats()).worst, 1);
}

TEST_P(GoldenFunction, Swiglu) {
  const GoldenFile file("kernels/swiglu.safetensors");
  const auto gate = file.tensor("gate").floats();
  const auto up = file.tensor("up").floats();
  const auto weight = file.tensor("weight").floats();
  for (const int limit : {10, 2, 0}) {
    const std::string name = "limit" + std::to_string(limit);
    std::vector<float> plain(gate.size());
    std::vector<float> weighted(gate.size());
    for (int r = 0; r < 4; ++r) {
      const auto bound = static_cast<float>(limit);
      kernels().swiglu(&gate[r * 64], &up[r * 64], 64, bound, 1.0F, &plain[r * 64]);
      kernels().swiglu(&gate[r * 64], &up[r * 64], 64, bound, weight[r], &weighted[r * 64]);
    }
    EXPECT_LE(rowError(plain, file.tensor(name + "/h").floats(), 64), 1e-6) << name;
    EXPECT_LE(rowError(weighted, file.tensor(name + "/h_weighted").floats(), 64), 1e-6) << name;
  }
}

TEST_P(GoldenFunction, Router) {
  const GoldenFile file("kernels/router.safetensors");
  for (const std::string name : {"c0", "c1", "c2"}) {
    const auto x = file.tensor(name + "/x").floats();
    const auto w = file.tensor(name + "/weight").as<std::uint16_t>();
    const auto bias = file.tensor(name + "/bias").floats();
    const auto tokens = file.tensor(name + "/tokens").as<std::int32_t>();
    const auto table = file.tensor(name + "/tid2eid").as<std::int64_t>();
    const int experts = file.tensor(name + "/weight").dim(0);
    const float factor = name == "c2" ? 2.5F : 1.5F;
    std::vector<float> scores(static_cast<std::size_t>(9 * experts));
    kernels().linearBf16({x.data(), 9, 128}, w.data(), 128, {scores.data(), experts, 0, experts});
    kernels().sqrtSoftplus(scores.data(), scores.data(), 9 * experts);
    EXPECT_LE(rowError(scores, file.tensor(name + "/scores").floats(), experts), 1e-5) << name;
    std::vector<int> ids(9 * 6);
    std::vector<int> hashIds(9 * 6);
    std::vector<float> weights(9 * 6);
    std::vector<float> hashWeights(9 * 6);
    for (int r = 0; r < 9; ++r) {
      std::vector<float> biased(experts);
      for (int e = 0; e < experts; ++e) biased[e] = scores[r * experts + e] + bias[e];
      topK(biased.data(), experts, 6, &ids[r * 6]);
      for (int i = 0; i < 6; ++i) hashIds[r * 6 + i] = static_cast<int>(table[tokens[r] * 6 + i]);
      for (const auto& [chosen, out] : {std::pair{&ids, &weights}, std::pair{&hashIds, &hashWeights}}) {
        float sum = 0;
        for (int i = 0; i < 6; ++i) sum += scores[r * experts + (*chosen)[r * 6 + i]];
        for (int i = 0; i < 6; ++i) {
          (*out)[r * 6 + i] = scores[r * experts + (*chosen)[r * 6 + i]] / sum * factor;
        }
      }
    }
    EXPECT_EQ(ids, file.tensor(name + "/ids").as<std::int32_t>()) << name;
    EXPECT_EQ(hashIds, file.tensor(name + "/hash_ids").as<std::int32_t>()) << name;
    EXPECT_LE(rowError(weights, file.tensor(name + "/weights").floats(), 6), 1e-5) << name;
    EXPECT_LE(rowError(hashWeights, file.tensor(name + "/hash_weights").floats(), 6), 1e-5) << name;
  }
}

}  // namespace
}  // namespace colibri::test
