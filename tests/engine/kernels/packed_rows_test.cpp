// Rows of the packed caches: the codes are those that a search over the whole grid finds, and unpacking gives the
// quantiser's bits.

#include "engine/kernels/kernel_test.h"

#include <random>

namespace colibri::test {
namespace {

using PackedRows = KernelTest;
INSTANTIATE_TEST_SUITE_P(Isa, PackedRows, testing::ValuesIn(availableKernels()), kernelTestName);

/// Rows that a quantiser can trip over; all of one width.
std::vector<std::vector<float>> difficultRows(std::size_t width) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<std::vector<float>> rows;
  for (const float size : {1.0F, 1e-3F, 1e-30F, 1e-39F, 3e4F, 1e36F}) {
    for (int round = 0; round < 4; ++round) {
      std::vector<float> row(width);
      for (float& v : row) v = normal(random) * size;
      row[random() % width] *= 50;  // an outlier in one block
      rows.push_back(row);
    }
  }
  // Values between two codes, for scale 1 and others: block maximum 6, ties on every half step, both signs.
  for (const float scale : {1.0F, 0.25F, 0x1p-20F}) {
    std::vector<float> row(width);
    for (std::size_t i = 0; i < width; ++i) {
      const float steps[] = {6, 0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5, 0.2499F, 0.2501F};
      row[i] = steps[i % 10] * scale * (i % 3 == 0 ? -1.0F : 1.0F);
    }
    rows.push_back(row);
  }
  rows.emplace_back(width, 0.0F);
  rows.emplace_back(width, -0.0F);
  rows.emplace_back(width, -1e-45F);
  rows.emplace_back(width, 3.4028235e38F);
  rows.emplace_back(width, 0x1p-9F);
  std::vector<float> steps(width);
  for (std::size_t i = 0; i < width; ++i) steps[i] = static_cast<float>(i);
  rows.push_back(steps);
  return rows;
}

/// The code whose value is nearest to v, of two equally near ones the even; beyond the grid its last one.
int nearestCode(double v, int codes, float (*value)(std::uint8_t)) {
  int best = 0;
  v = std::min(std::abs(v), static_cast<double>(value(static_cast<std::uint8_t>(codes - 1))));
  for (int code = 1; code < codes; ++code) {
    const double magnitude = static_cast<double>(value(static_cast<std::uint8_t>(code)));
    const double bestDistance = std::abs(v - static_cast<double>(value(static_cast<std::uint8_t>(best))));
    const double distance = std::abs(v - magnitude);
    if (distance < bestDistance || (distance == bestDistance && code % 2 == 0)) best = code;
  }
  return best;
}
int nearestE2m1(double v) {
  return nearestCode(v, 8, e2m1ToFloat) | (std::signbit(v) ? 8 : 0);
}
int nearestE4m3(double v) {
  return nearestCode(v, 0x7f, e4m3ToFloat) | (std::signbit(v) ? 0x80 : 0);
}
/// Smallest power of two that brings the block to at most `limit`.
int exponentOf(const float* x, int n, double least, double limit) {
  double largest = least;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(x[i])));
  int exponent = -200;
  while (largest > std::ldexp(limit, exponent)) ++exponent;
  return exponent;
}

void expectSameRow(const std::vector<float>& a, const std::vector<float>& b, const std::string& what) {
  for (std::size_t i = 0; i < b.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(a[i]), std::bit_cast<std::uint32_t>(b[i])) << what << " " << i;
}

TEST_P(PackedRows, E2m1InGroupsOf16) {
  constexpr int kWidth = 288;
  for (const auto& x : difficultRows(kWidth)) {
    std::vector<std::uint8_t> codes(kWidth / 2);
    std::vector<std::uint8_t> scales(kWidth / 16);
    kernels().encodeE2m1Groups16(x.data(), kWidth, codes.data(), scales.data());
    for (int i = 0; i < kWidth; ++i) {
      float largest = 6.0F / 512.0F;
      for (int j = i / 16 * 16; j < i / 16 * 16 + 16; ++j) largest = std::max(largest, std::abs(x[j]));
      const int scale = nearestE4m3(static_cast<double>(largest / 6.0F));
      ASSERT_EQ(scales[i / 16], scale) << i;
      const float quotient = x[i] / e4m3ToFloat(static_cast<std::uint8_t>(scale));
      ASSERT_EQ(codes[i / 2] >> (i % 2 * 4) & 15, nearestE2m1(static_cast<double>(quotient))) << x[i] << " at " << i;
    }
    std::vector<float> expected(kWidth);
    std::vector<float> actual(kWidth);
    kernels().qdqE2m1Groups16(x.data(), expected.data(), kWidth);
    kernels().decodeE2m1Groups16(codes.data(), scales.data(), kWidth, actual.data());
    expectSameRow(actual, expected, "groups of 16");
    for (int i = 0; i < kWidth; ++i) {
      ASSERT_EQ(actual[i], e2m1ToFloat(codes[i / 2] >> (i % 2 * 4) & 15) * e4m3ToFloat(scales[i / 16]));
      ASSERT_EQ(bf16ToFloat(floatToBf16(actual[i])), actual[i]);
    }
    kernels().qdqE2m1Groups16(expected.data(), expected.data(), kWidth);  // in place
  }
}

TEST_P(PackedRows, E2m1InBlocksOf32) {
  constexpr int kWidth = 144;  // the last block is half a one
  for (const auto& x : difficultRows(kWidth)) {
    std::vector<std::uint8_t> codes(kWidth / 2);
    std::vector<std::int8_t> exponents(5);
    kernels().encodeE2m1(x.data(), kWidth, codes.data(), exponents.data());
    for (int i = 0; i < kWidth; ++i) {
      const int block = i / 32 * 32;
      const int exponent = exponentOf(&x[block], std::min(32, kWidth - block), 6 * 0x1p-126, 6);
      ASSERT_EQ(exponents[i / 32], exponent);
      ASSERT_EQ(codes[i / 2] >> (i % 2 * 4) & 15, nearestE2m1(std::ldexp(static_cast<double>(x[i]), -exponent))) << i;
    }
    std::vector<float> expected(kWidth);
    std::vector<float> actual(kWidth);
    kernels().qdqE2m1(x.data(), expected.data(), kWidth);
    kernels().decodeE2m1(codes.data(), exponents.data(), kWidth, actual.data());
    expectSameRow(actual, expected, "blocks of 32");
  }
}

TEST_P(PackedRows, E4m3InBlocksOf64) {
  for (const int width : {48, 100, 448}) {
    for (auto x : difficultRows(static_cast<std::size_t>(width))) {
      kernels().roundBf16(x.data(), width);
      const auto blocks = static_cast<std::size_t>((width + 63) / 64);
      std::vector<std::uint8_t> codes(static_cast<std::size_t>(width));
      std::vector<std::int8_t> exponents(blocks);
      kernels().quantizeE4m3(x.data(), width, 64, codes.data(), exponents.data());
      for (int i = 0; i < width; ++i) {
        if (!std::isfinite(x[i / 64 * 64])) break;  // the largest bf16 rounds up to infinity
        const int block = i / 64 * 64;
        const int exponent = exponentOf(&x[block], std::min(64, width - block), static_cast<double>(1e-4F), 448);
        ASSERT_EQ(exponents[i / 64], exponent);
        ASSERT_EQ(codes[i], nearestE4m3(std::ldexp(static_cast<double>(x[i]), -exponent))) << x[i];
      }
      std::vector<float> expected(x.size());
      std::vector<float> actual(x.size());
      kernels().qdqE4m3(x.data(), expected.data(), width, 64);
      kernels().decodeE4m3(codes.data(), exponents.data(), width, 64, actual.data());
      expectSameRow(actual, expected, "e4m3");
    }
  }
}

TEST_P(PackedRows, EveryCodeDecodes) {
  std::vector<std::uint8_t> codes(256);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
  const std::vector<std::int8_t> exponents(2, 0);
  std::vector<float> y(256);
  kernels().decodeE4m3(codes.data(), exponents.data(), 256, 128, y.data());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    EXPECT_TRUE(sameValue(y[i], e4m3ToFloat(codes[i]))) << i;
    EXPECT_EQ(std::signbit(y[i]), i >= 128) << i;
  }
}

/// A NaN stays one, in its block and nowhere else; infinities are held at the grid's end.
TEST_P(PackedRows, NotFinite) {
  constexpr int kWidth = 128;
  std::vector<float> x(kWidth, 1.0F);
  x[40] = NAN;
  x[100] = -INFINITY;
  std::vector<std::uint8_t> codes(kWidth);
  std::vector<std::uint8_t> scales(kWidth / 16);
  std::vector<std::int8_t> exponents(kWidth / 32);
  std::vector<float> y(kWidth);
  kernels().encodeE2m1Groups16(x.data(), kWidth, codes.data(), scales.data());
  kernels().decodeE2m1Groups16(codes.data(), scales.data(), kWidth, y.data());
  for (int i = 0; i < kWidth; ++i) EXPECT_EQ(std::isnan(y[i]), i / 16 == 40 / 16) << i;
  EXPECT_EQ(y[100], -2688.0F);
  std::vector<float> direct(kWidth);
  kernels().qdqE2m1Groups16(x.data(), direct.data(), kWidth);
  for (int i = 0; i < kWidth; ++i) EXPECT_TRUE(sameValue(direct[i], y[i])) << i;

  kernels().encodeE2m1(x.data(), kWidth, codes.data(), exponents.data());
  EXPECT_EQ(exponents[1], kNanExponent);
  kernels().decodeE2m1(codes.data(), exponents.data(), kWidth, y.data());
  for (int i = 0; i < kWidth; ++i) EXPECT_EQ(std::isnan(y[i]), i / 32 == 40 / 32) << i;
  EXPECT_EQ(y[100], -6.0F);

  kernels().quantizeE4m3(x.data(), kWidth, 64, codes.data(), exponents.data());
  kernels().decodeE4m3(codes.data(), exponents.data(), kWidth, 64, y.data());
  kernels().qdqE4m3(x.data(), direct.data(), kWidth, 64);
  for (int i = 0; i < kWidth; ++i) EXPECT_TRUE(sameValue(direct[i], y[i])) << i;
  EXPECT_TRUE(std::isnan(y[40]));
  EXPECT_EQ(y[100], -448.0F);
}

TEST_P(PackedRows, GoldenE2m1) {
  const GoldenFile file("kernels/act_quant_e2m1.safetensors");
  const auto x = file.tensor("x").floats();
  const auto expected = file.tensor("codes").as<std::uint8_t>();
  const auto scales = file.tensor("scale").floats();
  for (std::size_t row = 0; row < x.size(); row += 128) {
    std::uint8_t codes[64];
    std::int8_t exponents[4];
    kernels().encodeE2m1(&x[row], 128, codes, exponents);
    for (std::size_t i = 0; i < 128; ++i) {
      EXPECT_EQ(codes[i / 2] >> (i % 2 * 4) & 15, expected[row + i]);
      EXPECT_EQ(std::ldexp(1.0F, exponents[i / 32]), scales[(row + i) / 32]);
    }
  }
}

TEST_P(PackedRows, Bf16AtAnyAddress) {
  std::vector<float> x;
  for (std::uint32_t bits = 0; bits < 0x10000; bits += 7)
    x.push_back(std::bit_cast<float>(bits << 16 | (bits & 0xfff)));
  const auto n = static_cast<int>(x.size());
  std::vector<std::uint8_t> bytes(2 * x.size() + 1);
  kernels().encodeBf16(x.data(), n, &bytes[1]);
  std::vector<float> y(x.size());
  kernels().decodeBf16Bytes(&bytes[1], n, y.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(bytes[1 + 2 * i] | bytes[2 + 2 * i] << 8, floatToBf16(x[i]));
    EXPECT_TRUE(sameValue(y[i], bf16ToFloat(floatToBf16(x[i]))));
  }
}

TEST_P(PackedRows, IndexScoresOfPackedKeys) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  for (const int d : {32, 48, 128}) {
    for (const int heads : {1, 4, 7, 64}) {
      constexpr int kKeys = 11;
      const std::ptrdiff_t stride = d / 2 + (d + 31) / 32 + 3;
      std::vector<float> q(static_cast<std::size_t>(heads * d));
      std::vector<float> w(static_cast<std::size_t>(heads));
      for (float& v : q) v = normal(random);
      for (float& v : w) v = normal(random);
      std::vector<std::uint8_t> rows(static_cast<std::size_t>(kKeys * stride), 0xff);
      std::vector<float> keys(static_cast<std::size_t>(kKeys * d));
      for (int b = 0; b < kKeys; ++b) {
        std::vector<float> x(static_cast<std::size_t>(d));
        for (float& v : x) v = normal(random) * static_cast<float>(1 + b);
        std::uint8_t* row = &rows[b * stride];
        kernels().encodeE2m1(x.data(), d, row, reinterpret_cast<std::int8_t*>(row + d / 2));
        kernels().qdqE2m1(x.data(), &keys[b * d], d);
      }
      for (const bool rounded : {false, true}) {
        std::vector<float> expected(kKeys);
        std::vector<float> actual(kKeys);
        std::vector<float> scratch(static_cast<std::size_t>(d));
        kScalarKernels.indexScores(q.data(), w.data(), heads, d, keys.data(), kKeys, rounded, expected.data());
        kernels().indexScoresPacked(q.data(), w.data(), heads, d, rows.data(), stride, kKeys, rounded, actual.data(),
                                    scratch.data());
        expectSameRow(actual, expected, "scores");
      }
    }
  }
}

}  // namespace
}  // namespace colibri::test
