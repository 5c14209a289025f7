// Every kernel of every instruction set against the scalar reference, bit for bit, on data with outliers, denormal
// numbers and negative zeros, and on shapes that end inside a vector and inside a block.

#include "engine/kernels/kernel_test.h"

#include <cstring>
#include <random>

namespace colibri::test {
namespace {

using Parity = KernelTest;
INSTANTIATE_TEST_SUITE_P(Isa, Parity, testing::ValuesIn(availableKernels()), kernelTestName);

class Data {
public:
  explicit Data(unsigned seed) : m_random(seed) {}

  int below(int n) { return static_cast<int>(m_random() % static_cast<unsigned>(n)); }
  float normal() { return m_normal(m_random); }
  /// Mostly normal values; some large, some tiny or denormal, some zero of either sign.
  float value() {
    switch (below(40)) {
      case 0:
        return normal() * 1000;
      case 1:
        return normal() * 1e-39F;
      case 2:
        return -0.0F;
      case 3:
        return 0.0F;
      case 4:
        return normal() * 1e-6F;
      default:
        return normal();
    }
  }
  std::vector<float> values(std::size_t n) {
    std::vector<float> out(n);
    for (float& v : out) v = value();
    return out;
  }
  std::vector<float> scaled(std::size_t n, float factor) {
    std::vector<float> out(n);
    for (float& v : out) v = normal() * factor;
    return out;
  }
  std::vector<std::uint16_t> bf16(std::size_t n) {
    std::vector<std::uint16_t> out(n);
    for (auto& v : out) v = floatToBf16(value());
    return out;
  }
  /// Any byte but the two NaNs of e4m3.
  std::vector<std::uint8_t> e4m3(std::size_t n) {
    auto out = bytes(n, 0, 255);
    for (auto& v : out) {
      if ((v & 0x7f) == 0x7f) v = 0;
    }
    return out;
  }
  std::vector<std::uint8_t> bytes(std::size_t n, int low, int high) {
    std::vector<std::uint8_t> out(n);
    for (auto& v : out) v = static_cast<std::uint8_t>(low + below(high - low + 1));
    return out;
  }

private:
  std::mt19937 m_random;
  std::normal_distribution<float> m_normal;
};

void expectSameBits(const std::vector<float>& actual, const std::vector<float>& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  int different = 0;
  int nans = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    different += std::bit_cast<std::uint32_t>(actual[i]) != std::bit_cast<std::uint32_t>(expected[i]) ? 1 : 0;
    nans += std::isnan(expected[i]) ? 1 : 0;
  }
  EXPECT_EQ(different, 0) << what;
  EXPECT_EQ(nans, 0) << what;
}

/// `linear(kernels, firstRow, rows, OutView)` writes some rows of outputs. Compares all rows at once, each row alone
/// and every split of the outputs at a multiple of 16 with the scalar result.
template <typename Linear>
void expectLinearParity(const Kernels& kernels, int rows, int n, const std::string& what, Linear linear) {
  const std::size_t size = static_cast<std::size_t>(rows) * n;
  std::vector<float> expected(size);
  linear(kScalarKernels, 0, rows, OutView{expected.data(), n, 0, n});
  std::vector<float> whole(size);
  linear(kernels, 0, rows, OutView{whole.data(), n, 0, n});
  expectSameBits(whole, expected, what + " whole");
  std::vector<float> alone(size);
  for (int r = 0; r < rows; ++r) linear(kernels, r, 1, OutView{&alone[static_cast<std::size_t>(r) * n], n, 0, n});
  expectSameBits(alone, expected, what + " row by row");
  for (int split = kRowTile; split < n; split += kRowTile) {
    std::vector<float> parts(size);
    linear(kernels, 0, rows, OutView{parts.data(), n, 0, split});
    linear(kernels, 0, rows, OutView{parts.data(), n, split, n});
    expectSameBits(parts, expected, what + " split at " + std::to_string(split));
  }
}

TEST_P(Parity, LinearsOfAnyWidth) {
  Data data(1);
  for (const int k : {1, 15, 16, 17, 100, 128, 144, 257}) {
    for (const int rows : {1, 2, 3, 4, 5}) {
      constexpr int kOutputs = 53;
      const auto x = data.values(static_cast<std::size_t>(rows) * (k + 3));
      const auto bf16 = data.bf16(static_cast<std::size_t>(kOutputs) * k);
      const auto f32 = data.values(static_cast<std::size_t>(kOutputs) * k);
      const auto e4m3 = data.e4m3(static_cast<std::size_t>(kOutputs) * k);
      const std::string shape = " k " + std::to_string(k) + " rows " + std::to_string(rows);
      const auto view = [&](int first, int count) {
        return RowsView{x.data() + static_cast<std::ptrdiff_t>(first) * (k + 3), count, k + 3};
      };
      expectLinearParity(
          kernels(), rows, kOutputs, "bf16" + shape,
          [&](const Kernels& t, int r, int count, OutView out) { t.linearBf16(view(r, count), bf16.data(), k, out); });
      expectLinearParity(
          kernels(), rows, kOutputs, "f32" + shape,
          [&](const Kernels& t, int r, int count, OutView out) { t.linearF32(view(r, count), f32.data(), k, out); });
      for (const int block : {128, 32}) {
        const int blocks = (k + block - 1) / block;
        const auto scale = data.bytes(static_cast<std::size_t>((kOutputs + block - 1) / block * blocks), 100, 140);
        std::vector<float> scratch(k);
        expectLinearParity(kernels(), rows, kOutputs, "fp8" + shape,
                           [&](const Kernels& t, int r, int count, OutView out) {
                             t.linearFp8(view(r, count), e4m3.data(), scale.data(), k, block, out, scratch.data());
                           });
      }
    }
  }
}

TEST_P(Parity, LinearsOfExperts) {
  Data data(2);
  for (const int k : {128, 256, 640}) {
    for (const int rows : {1, 2, 3, 4, 5}) {
      for (const int block : {128, 32}) {
        constexpr int kOutputs = 37;
        const auto x = data.values(static_cast<std::size_t>(rows) * k);
        const auto w = data.bytes(static_cast<std::size_t>(kOutputs) * k / 2, 0, 255);
        auto scale = data.bytes(static_cast<std::size_t>(kOutputs) * k / 32, 90, 150);
        scale[0] = 0;
        scale[1] = 1;
        const std::size_t rowBytes = fp4PreparedBytes(k);
        std::vector<std::byte> prepared(rows * rowBytes);
        std::vector<std::byte> reference(prepared.size());
        for (int r = 0; r < rows; ++r) {
          kernels().prepareFp4(&x[r * k], k, block, &prepared[r * rowBytes]);
          kScalarKernels.prepareFp4(&x[r * k], k, block, &reference[r * rowBytes]);
        }
        ASSERT_EQ(prepared, reference) << k;
        const std::string shape = " k " + std::to_string(k) + " rows " + std::to_string(rows);
        expectLinearParity(kernels(), rows, kOutputs, "fp4" + shape,
                           [&](const Kernels& t, int r, int count, OutView out) {
                             t.linearFp4(&prepared[r * rowBytes], count, w.data(), scale.data(), k, out);
                           });
        expectLinearParity(kernels(), rows, kOutputs, "fp4 fp32" + shape,
                           [&](const Kernels& t, int r, int count, OutView out) {
                             t.linearFp4F32({&x[r * k], count, k}, w.data(), scale.data(), k, out);
                           });
      }
    }
  }
}

/// The integer path's sums are exact: the same numbers from a plain double computation, for the largest values there
/// are.
TEST_P(Parity, ExpertSumsAreExactAtTheExtremes) {
  constexpr int kWidth = 128;
  for (const std::uint8_t code : {std::uint8_t{0x77}, std::uint8_t{0xff}, std::uint8_t{0x7f}}) {
    const std::vector<float> x(kWidth, 448.0F);
    const std::vector<std::uint8_t> w(kWidth / 2, code);
    const std::vector<std::uint8_t> scale(kWidth / 32, 127);
    std::vector<std::byte> prepared(fp4PreparedBytes(kWidth));
    kernels().prepareFp4(x.data(), kWidth, 128, prepared.data());
    float y = 0;
    kernels().linearFp4(prepared.data(), 1, w.data(), scale.data(), kWidth, {&y, 1, 0, 1});
    double expected = 0;
    for (int i = 0; i < kWidth; ++i)
      expected += 448.0 * e2m1ToFloat(static_cast<std::uint8_t>(code >> (i % 2 * 4) & 15));
    EXPECT_EQ(static_cast<double>(y), expected) << int{code};
  }
}

TEST_P(Parity, Quantizers) {
  Data data(3);
  for (const int n : {32, 64, 100, 128, 448, 500}) {
    auto x = data.values(n);
    for (float& v : x) v *= 1 + static_cast<float>(data.below(100));
    std::vector<float> actual(n);
    std::vector<float> expected(n);
    for (const int block : {128, 64, 32}) {
      kernels().qdqE4m3(x.data(), actual.data(), n, block);
      kScalarKernels.qdqE4m3(x.data(), expected.data(), n, block);
      expectSameBits(actual, expected, "qdqE4m3 " + std::to_string(n));
      const std::size_t blocks = static_cast<std::size_t>((n + block - 1) / block);
      std::vector<std::uint8_t> codes(n);
      std::vector<std::uint8_t> expectedCodes(n);
      std::vector<std::int8_t> exponents(blocks);
      std::vector<std::int8_t> expectedExponents(blocks);
      kernels().quantizeE4m3(x.data(), n, block, codes.data(), exponents.data());
      kScalarKernels.quantizeE4m3(x.data(), n, block, expectedCodes.data(), expectedExponents.data());
      EXPECT_EQ(codes, expectedCodes);
      EXPECT_EQ(exponents, expectedExponents);
      for (int i = 0; i < n; ++i) {
        EXPECT_EQ(e4m3ToFloat(codes[i]) * std::ldexp(1.0F, exponents[i / block]), actual[i]);
      }
    }
    kernels().qdqE2m1(x.data(), actual.data(), n);
    kScalarKernels.qdqE2m1(x.data(), expected.data(), n);
    expectSameBits(actual, expected, "qdqE2m1 " + std::to_string(n));
    actual = x;
    expected = x;
    kernels().roundBf16(actual.data(), n);
    kScalarKernels.roundBf16(expected.data(), n);
    expectSameBits(actual, expected, "roundBf16 " + std::to_string(n));
  }
}

TEST_P(Parity, NormsAndRotations) {
  Data data(4);
  for (const int n : {1, 15, 16, 33, 128, 500, 512}) {
    const auto x = data.values(n);
    const auto w = data.values(n);
    std::vector<float> actual(n);
    std::vector<float> expected(n);
    for (const float* weights : {w.data(), static_cast<const float*>(nullptr)}) {
      kernels().rmsNorm(x.data(), weights, actual.data(), n, 1e-6F);
      kScalarKernels.rmsNorm(x.data(), weights, expected.data(), n, 1e-6F);
      expectSameBits(actual, expected, "rmsNorm " + std::to_string(n));
    }
    expectSameBits({kernels().inverseRms(x.data(), n, 1e-6F)}, {kScalarKernels.inverseRms(x.data(), n, 1e-6F)},
                   "inverseRms");
    actual = x;
    expected = x;
    kernels().queryNormVendor(actual.data(), n, 1e-6F);
    kScalarKernels.queryNormVendor(expected.data(), n, 1e-6F);
    expectSameBits(actual, expected, "queryNormVendor " + std::to_string(n));
    actual = x;
    expected = x;
    kernels().add(w.data(), actual.data(), n);
    kScalarKernels.add(w.data(), expected.data(), n);
    expectSameBits(actual, expected, "add " + std::to_string(n));
  }
  for (const int pairs : {1, 7, 8, 9, 32}) {
    const auto angles = data.scaled(2 * static_cast<std::size_t>(pairs), 1.0F);
    for (const bool inverse : {false, true}) {
      auto actual = data.values(2 * static_cast<std::size_t>(pairs));
      auto expected = actual;
      kernels().rope(actual.data(), &angles[0], &angles[pairs], pairs, inverse);
      kScalarKernels.rope(expected.data(), &angles[0], &angles[pairs], pairs, inverse);
      expectSameBits(actual, expected, "rope " + std::to_string(pairs));
    }
  }
  for (int n = 1; n <= 256; n *= 2) {
    auto actual = data.values(n);
    auto expected = actual;
    kernels().hadamard(actual.data(), n);
    kScalarKernels.hadamard(expected.data(), n);
    expectSameBits(actual, expected, "hadamard " + std::to_string(n));
  }
}

TEST_P(Parity, HyperConnections) {
  Data data(5);
  for (const float spread : {1.0F, 30.0F}) {
    for (const int iterations : {1, 2, 20}) {
      const auto u = data.scaled(24, spread);
      const auto base = data.values(24);
      const auto scale = data.scaled(3, 1.0F);
      std::vector<float> actual(24);
      std::vector<float> expected(24);
      kernels().hcSplit(u.data(), base.data(), scale.data(), iterations, 1e-6F, &actual[0], &actual[4], &actual[8]);
      kScalarKernels.hcSplit(u.data(), base.data(), scale.data(), iterations, 1e-6F, &expected[0], &expected[4],
                             &expected[8]);
      expectSameBits(actual, expected, "hcSplit");
      kernels().hcHeadSplit(u.data(), base.data(), scale[0], 1e-6F, actual.data());
      kScalarKernels.hcHeadSplit(u.data(), base.data(), scale[0], 1e-6F, expected.data());
      expectSameBits(actual, expected, "hcHeadSplit");
    }
  }
  for (const int d : {1, 16, 100, 256}) {
    const auto streams = data.values(4 * static_cast<std::size_t>(d));
    const auto f = data.values(d);
    const auto gates = data.scaled(24, 1.0F);
    std::vector<float> actual(streams.size());
    std::vector<float> expected(streams.size());
    kernels().hcExpand(f.data(), &gates[4], &gates[8], streams.data(), d, actual.data());
    kScalarKernels.hcExpand(f.data(), &gates[4], &gates[8], streams.data(), d, expected.data());
    expectSameBits(actual, expected, "hcExpand");
    kernels().hcCollapse(streams.data(), gates.data(), d, actual.data());
    kScalarKernels.hcCollapse(streams.data(), gates.data(), d, expected.data());
    expectSameBits(actual, expected, "hcCollapse");
  }
}

TEST_P(Parity, Attention) {
  Data data(6);
  for (const int d : {16, 64, 80, 128, 192}) {
    for (const int n : {1, 2, 5, 16, 17, 131}) {
      constexpr int kHeads = 3;
      const auto q = data.scaled(static_cast<std::size_t>(kHeads) * d, 3.0F);
      const auto kv = data.values(static_cast<std::size_t>(n) * d);
      const auto sinks = data.scaled(kHeads, 5.0F);
      std::vector<const float*> keys;
      for (int t = 0; t < n; ++t) keys.push_back(&kv[static_cast<std::size_t>((t * 7) % n) * d]);
      std::vector<float> scratch(n);
      for (const bool rounded : {false, true}) {
        std::vector<float> actual(q.size());
        std::vector<float> expected(q.size());
        kernels().attention(q.data(), kHeads, d, keys.data(), n, sinks.data(), 0.1F, rounded, actual.data(),
                            scratch.data());
        kScalarKernels.attention(q.data(), kHeads, d, keys.data(), n, sinks.data(), 0.1F, rounded, expected.data(),
                                 scratch.data());
        expectSameBits(actual, expected, "attention d " + std::to_string(d) + " n " + std::to_string(n));
        const auto w = data.values(kHeads);
        std::vector<float> scores(n);
        std::vector<float> expectedScores(n);
        kernels().indexScores(q.data(), w.data(), kHeads, d, kv.data(), n, rounded, scores.data());
        kScalarKernels.indexScores(q.data(), w.data(), kHeads, d, kv.data(), n, rounded, expectedScores.data());
        expectSameBits(scores, expectedScores, "indexScores");
      }
    }
  }
}

TEST_P(Parity, IndexScoresOfManyHeads) {
  Data data(7);
  for (const int heads : {1, 4, 6, 64}) {
    const auto q = data.scaled(static_cast<std::size_t>(heads) * 128, 1.0F);
    const auto k = data.scaled(9 * 128, 1.0F);
    const auto w = data.scaled(heads, 1.0F);
    for (const bool rounded : {false, true}) {
      std::vector<float> actual(9);
      std::vector<float> expected(9);
      kernels().indexScores(q.data(), w.data(), heads, 128, k.data(), 9, rounded, actual.data());
      kScalarKernels.indexScores(q.data(), w.data(), heads, 128, k.data(), 9, rounded, expected.data());
      expectSameBits(actual, expected, "indexScores " + std::to_string(heads));
    }
  }
}

TEST_P(Parity, Pooling) {
  Data data(8);
  for (const int n : {1, 8, 128}) {
    for (const int width : {1, 16, 100, 128}) {
      std::vector<std::vector<float>> values;
      std::vector<std::vector<float>> scores;
      std::vector<const float*> valueRows;
      std::vector<const float*> scoreRows;
      for (int t = 0; t < n; ++t) {
        values.push_back(data.values(width));
        scores.push_back(data.scaled(width, 20.0F));
        if (n > 1 && t < n / 2) scores.back().assign(width, -INFINITY);
      }
      for (int t = 0; t < n; ++t) {
        valueRows.push_back(values[t].data());
        scoreRows.push_back(scores[t].data());
      }
      std::vector<float> actual(width);
      std::vector<float> expected(width);
      kernels().pool(valueRows.data(), scoreRows.data(), n, width, actual.data());
      kScalarKernels.pool(valueRows.data(), scoreRows.data(), n, width, expected.data());
      expectSameBits(actual, expected, "pool");
    }
  }
}

TEST_P(Parity, Gates) {
  Data data(9);
  for (const int n : {1, 15, 16, 100, 2048}) {
    auto gate = data.values(n);
    for (float& v : gate) v *= static_cast<float>(1 + data.below(30));
    const auto up = data.values(n);
    std::vector<float> actual(n);
    std::vector<float> expected(n);
    for (const float limit : {0.0F, 7.0F}) {
      kernels().swiglu(gate.data(), up.data(), n, limit, 0.37F, actual.data());
      kScalarKernels.swiglu(gate.data(), up.data(), n, limit, 0.37F, expected.data());
      expectSameBits(actual, expected, "swiglu");
    }
    kernels().sqrtSoftplus(gate.data(), actual.data(), n);
    kScalarKernels.sqrtSoftplus(gate.data(), expected.data(), n);
    expectSameBits(actual, expected, "sqrtSoftplus");
  }
}

}  // namespace
}  // namespace colibri::test
