// Linears and quantisers against the released model's own numbers.

#include "engine/kernels/kernel_test.h"

namespace colibri::test {
namespace {

using GoldenLinear = KernelTest;
using GoldenQuantizer = KernelTest;

INSTANTIATE_TEST_SUITE_P(Isa, GoldenLinear, testing::ValuesIn(availableKernels()), kernelTestName);
INSTANTIATE_TEST_SUITE_P(Isa, GoldenQuantizer, testing::ValuesIn(availableKernels()), kernelTestName);

/// Both outputs of a linear: `vendor` within one bf16 step of the stored sum's rounding, `fp32` within 1e-5 of the row.
void expectLinear(const GoldenFile& file, const std::string& name, const std::vector<float>& vendor,
                  const std::vector<float>& fp32) {
  const auto width = static_cast<std::size_t>(file.tensor(name + "/y_fp32").dim(1));
  EXPECT_LE(compareBf16(vendor, file.tensor(name + "/y_vendor").floats()).worst, 1) << name;
  EXPECT_LE(rowError(vendor, file.tensor(name + "/y_vendor_before_rounding").floats(), width), 1e-6) << name;
  EXPECT_LE(rowError(fp32, file.tensor(name + "/y_fp32").floats(), width), 1e-5) << name;
}

TEST_P(GoldenLinear, Fp8) {
  const GoldenFile file("kernels/fp8_linear.safetensors");
  for (const std::string name : {"c0", "c1", "c2", "c3"}) {
    const auto x = file.tensor(name + "/x").floats();
    const int rows = file.tensor(name + "/x").dim(0);
    const int k = file.tensor(name + "/x").dim(1);
    const int n = file.tensor(name + "/weight").dim(0);
    const auto w = file.tensor(name + "/weight").as<std::uint8_t>();
    const auto scale = file.tensor(name + "/scale").as<std::uint8_t>();
    std::vector<float> quantized(x.size());
    for (int r = 0; r < rows; ++r) kernels().qdqE4m3(&x[r * k], &quantized[r * k], k, 128);
    std::vector<float> vendor(static_cast<std::size_t>(rows) * n);
    std::vector<float> fp32(vendor.size());
    std::vector<float> scratch(k);
    kernels().linearFp8({quantized.data(), rows, k}, w.data(), scale.data(), k, 128, {vendor.data(), n, 0, n},
                        scratch.data());
    kernels().linearFp8({x.data(), rows, k}, w.data(), scale.data(), k, 128, {fp32.data(), n, 0, n}, scratch.data());
    expectLinear(file, name, vendor, fp32);
  }
}

TEST_P(GoldenLinear, Fp4) {
  const GoldenFile file("kernels/fp4_linear.safetensors");
  for (const std::string name : {"c0", "c1", "c2"}) {
    const auto x = file.tensor(name + "/x").floats();
    const int rows = file.tensor(name + "/x").dim(0);
    const int k = file.tensor(name + "/x").dim(1);
    const int n = file.tensor(name + "/weight").dim(0);
    const auto w = file.tensor(name + "/weight").as<std::uint8_t>();
    const auto scale = file.tensor(name + "/scale").as<std::uint8_t>();
    std::vector<std::byte> prepared(static_cast<std::size_t>(rows) * fp4PreparedBytes(k));
    for (int r = 0; r < rows; ++r) kernels().prepareFp4(&x[r * k], k, 128, &prepared[r * fp4PreparedBytes(k)]);
    std::vector<float> vendor(static_cast<std::size_t>(rows) * n);
    std::vector<float> fp32(vendor.size());
    kernels().linearFp4(prepared.data(), rows, w.data(), scale.data(), k, {vendor.data(), n, 0, n});
    kernels().linearFp4F32({x.data(), rows, k}, w.data(), scale.data(), k, {fp32.data(), n, 0, n});
    expectLinear(file, name, vendor, fp32);

    // The decoded weights, column by column: a unit vector picks one out exactly.
    const auto dequantized = file.tensor(name + "/w_dequantised").floats();
    std::vector<float> unit(k);
    std::vector<float> column(n);
    for (int c = 0; c < k; ++c) {
      unit[c] = 1;
      kernels().linearFp4F32({unit.data(), 1, k}, w.data(), scale.data(), k, {column.data(), n, 0, n});
      unit[c] = 0;
      for (int i = 0; i < n; ++i) ASSERT_EQ(column[i], dequantized[i * k + c]) << name << " " << i << "," << c;
    }
  }
}

/// AQ codes and scales of x, from the quantiser that the packed caches use.
void expectCodes(const Kernels& kernels, const std::vector<float>& x, int n, int block,
                 const std::vector<std::uint8_t>& codes, const std::vector<float>& scales) {
  std::vector<std::uint8_t> actual(x.size());
  std::vector<std::int8_t> exponents(x.size() / static_cast<std::size_t>(block));
  for (std::size_t row = 0; row * n < x.size(); ++row) {
    kernels.quantizeE4m3(&x[row * n], n, block, &actual[row * n], &exponents[row * (n / block)]);
  }
  EXPECT_EQ(actual, codes);
  for (std::size_t i = 0; i < exponents.size(); ++i) EXPECT_EQ(std::ldexp(1.0F, exponents[i]), scales[i]) << i;
}

TEST_P(GoldenQuantizer, E4m3) {
  const GoldenFile file("kernels/act_quant_e4m3.safetensors");
  const auto x = file.tensor("x").floats();
  expectCodes(kernels(), x, 128, 128, file.tensor("q128").as<std::uint8_t>(), file.tensor("scale128").floats());
  expectCodes(kernels(), x, 128, 64, file.tensor("q64").as<std::uint8_t>(), file.tensor("scale64").floats());

  const auto expected = file.tensor("qdq64").floats();
  const auto codes = file.tensor("q128").floats();
  const auto scales = file.tensor("scale128").floats();
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += 128) kernels().qdqE4m3(&x[row], &y[row], 128, 64);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(sameValue(y[i], expected[i])) << i;
  for (std::size_t row = 0; row < x.size(); row += 128) kernels().qdqE4m3(&x[row], &y[row], 128, 128);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_TRUE(sameValue(y[i], codes[i] * scales[i / 128])) << i;
}

TEST_P(GoldenQuantizer, E4m3OfLinears) {
  for (const std::string kernel : {"fp8_linear", "fp4_linear"}) {
    const GoldenFile file("kernels/" + kernel + ".safetensors");
    for (const std::string name : {"c0", "c1", "c2", "c3"}) {
      if (!file.has(name + "/x")) continue;
      expectCodes(kernels(), file.tensor(name + "/x").floats(), file.tensor(name + "/x").dim(1), 128,
                  file.tensor(name + "/x_q").as<std::uint8_t>(), file.tensor(name + "/x_scale").floats());
    }
  }
}

TEST_P(GoldenQuantizer, E2m1) {
  const GoldenFile file("kernels/act_quant_e2m1.safetensors");
  const auto x = file.tensor("x").floats();
  const auto codes = file.tensor("codes").as<std::uint8_t>();
  const auto scales = file.tensor("scale").floats();
  std::vector<float> y(x.size());
  for (std::size_t row = 0; row < x.size(); row += 128) kernels().qdqE2m1(&x[row], &y[row], 128);
  EXPECT_EQ(y, file.tensor("qdq").floats());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(y[i], e2m1ToFloat(codes[i]) * scales[i / 32]) << i;
    EXPECT_EQ(std::signbit(y[i]), (codes[i] & 8) != 0) << i;
  }
}

TEST_P(GoldenQuantizer, Bf16RoundTripsAndRounds) {
  std::vector<std::uint16_t> bits(1 << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  std::vector<float> values(bits.size());
  kernels().decodeBf16(bits.data(), values.data(), static_cast<std::ptrdiff_t>(bits.size()));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), static_cast<std::uint32_t>(i) << 16);
  }
  // Between two bf16 numbers: below, at and above the middle.
  std::vector<float> between;
  for (const std::uint32_t high : {0U, 1U, 0x3f80U, 0x3f81U, 0x7f7fU, 0x8000U, 0xbf81U}) {
    for (const std::uint32_t low : {0x0U, 0x1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      between.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  std::vector<float> rounded = between;
  kernels().roundBf16(rounded.data(), static_cast<std::ptrdiff_t>(rounded.size()));
  for (std::size_t i = 0; i < between.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(rounded[i]), static_cast<std::uint32_t>(floatToBf16(between[i])) << 16) << i;
  }
}

}  // namespace
}  // namespace colibri::test
