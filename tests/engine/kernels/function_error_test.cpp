// The stated error bounds of the polynomials (docs/numerics.md), against the C library in double.

#define COLIBRI_ISA isa_under_test
// clang-format off
#include "kernels/scalar/vector.h"
#include "kernels/lanes/all.h"
// clang-format on

#include "engine/kernels/kernel_test.h"

namespace colibri::test {
namespace {

/// Distance from the exact value in units of the last place of the fp32 number nearest to it.
double ulps(float actual, double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(actual)) return actual == nearest ? 0 : INFINITY;
  const float magnitude = std::abs(nearest);
  const double unit = std::max(static_cast<double>(std::nextafterf(magnitude, INFINITY)) - magnitude, 0x1p-149);
  return std::abs(static_cast<double>(actual) - exact) / unit;
}

/// Every `step`-th fp32 number of [low, high], both of one sign.
std::vector<float> between(float low, float high, std::uint32_t step) {
  const auto a = std::bit_cast<std::uint32_t>(low);
  const auto b = std::bit_cast<std::uint32_t>(high);
  std::vector<float> out;
  for (std::uint32_t bits = std::min(a, b); bits <= std::max(a, b); bits += step)
    out.push_back(std::bit_cast<float>(bits));
  while (out.size() % 16 != 0) out.push_back(out.back());
  return out;
}

template <typename Function, typename Exact>
double worstUlps(const std::vector<float>& arguments, Function function, Exact exact) {
  double worst = 0;
  for (std::size_t i = 0; i < arguments.size(); i += 16) {
    float y[16];
    isa_under_test::store(y, function(isa_under_test::load(&arguments[i])));
    for (std::size_t j = 0; j < 16; ++j)
      worst = std::max(worst, ulps(y[j], exact(static_cast<double>(arguments[i + j]))));
  }
  return worst;
}

TEST(FunctionError, Exponential) {
  using isa_under_test::F32x16;
  const auto function = [](F32x16 x) { return isa_under_test::exponential(x); };
  const auto exact = [](double x) { return std::exp(x); };
  const double positive = worstUlps(between(1e-10F, 100.0F, 2503), function, exact);
  const double negative = worstUlps(between(-1e-10F, -87.3F, 2503), function, exact);
  const double denormal = worstUlps(between(-87.3F, -120.0F, 17), function, exact);
  RecordProperty("positive", std::to_string(positive));
  RecordProperty("negative", std::to_string(negative));
  EXPECT_LE(positive, 1.0);
  EXPECT_LE(negative, 1.0);
  EXPECT_LE(denormal, 1.0);
  const auto one = [](float x) { return isa_under_test::exponential(x); };
  EXPECT_EQ(one(0.0F), 1.0F);
  EXPECT_EQ(one(-0.0F), 1.0F);
  EXPECT_EQ(one(-INFINITY), 0.0F);
  EXPECT_EQ(one(INFINITY), INFINITY);
  EXPECT_EQ(one(-3e38F), 0.0F);
  EXPECT_GT(one(-103.9F), 0.0F);
  EXPECT_TRUE(std::isnan(one(NAN)));
}

/// A NaN must reach the result, where it is seen, not turn into a number on its way.
class NanTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Isa, NanTest, testing::ValuesIn(availableKernels()), kernelTestName);

TEST_P(NanTest, ReachesTheResult) {
  std::vector<float> x(128, 1.0F);
  x[5] = NAN;
  std::vector<float> y(128);
  const std::vector<float> ones(128, 1.0F);
  for (const float limit : {0.0F, 7.0F}) {
    kernels().swiglu(x.data(), ones.data(), 128, limit, 1, y.data());
    EXPECT_TRUE(std::isnan(y[5]));
    kernels().swiglu(ones.data(), x.data(), 128, limit, 1, y.data());
    EXPECT_TRUE(std::isnan(y[5]));
    EXPECT_FALSE(std::isnan(y[6]));
  }
  kernels().sqrtSoftplus(x.data(), y.data(), 128);
  EXPECT_TRUE(std::isnan(y[5]));
  EXPECT_FALSE(std::isnan(y[4]));
  const float* keys[] = {ones.data(), x.data()};
  float scratch[2];
  const float sink = 0;
  kernels().attention(ones.data(), 1, 128, keys, 2, &sink, 1.0F, false, y.data(), scratch);
  EXPECT_TRUE(std::isnan(y[0]));
  std::vector<std::byte> prepared(fp4PreparedBytes(128));
  kernels().prepareFp4(x.data(), 128, 128, prepared.data());
  const std::vector<std::uint8_t> weights(64, 0x22);
  const std::vector<std::uint8_t> scales(4, 127);
  kernels().linearFp4(prepared.data(), 1, weights.data(), scales.data(), 128, {y.data(), 1, 0, 1});
  EXPECT_TRUE(std::isnan(y[0]));
  kernels().roundBf16(x.data(), 128);
  EXPECT_TRUE(std::isnan(x[5]));
}

TEST(FunctionError, Log1p) {
  using isa_under_test::F32x16;
  EXPECT_LE(worstUlps(
                between(1e-30F, 1.0F, 1009), [](F32x16 x) { return isa_under_test::log1pUnit(x); },
                [](double x) { return std::log1p(x); }),
            2.0);
}

TEST(FunctionError, Sigmoid) {
  using isa_under_test::F32x16;
  const auto function = [](F32x16 x) { return isa_under_test::sigmoid(x); };
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LE(worstUlps(between(1e-6F, 80.0F, 1009), function, exact), 2.0);
  EXPECT_LE(worstUlps(between(-1e-6F, -80.0F, 1009), function, exact), 2.5);
}

TEST(FunctionError, SqrtSoftplus) {
  const auto exact = [](double x) { return std::sqrt(x > 20 ? x : std::log1p(std::exp(x))); };
  for (const auto& arguments : {between(1e-6F, 100.0F, 1009), between(-1e-6F, -80.0F, 1009)}) {
    std::vector<float> y(arguments.size());
    kScalarKernels.sqrtSoftplus(arguments.data(), y.data(), static_cast<int>(y.size()));
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      worst = std::max(worst, ulps(y[i], exact(static_cast<double>(arguments[i]))));
    EXPECT_LE(worst, 2.0);
  }
}

TEST(FunctionError, Silu) {
  const auto exact = [](double x) { return x / (1 + std::exp(-x)); };
  for (const auto& arguments : {between(1e-6F, 80.0F, 1009), between(-1e-6F, -80.0F, 1009)}) {
    std::vector<float> y(arguments.size());
    const std::vector<float> ones(y.size(), 1.0F);
    kScalarKernels.swiglu(arguments.data(), ones.data(), static_cast<int>(y.size()), 0, 1, y.data());
    double worst = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      worst = std::max(worst, ulps(y[i], exact(static_cast<double>(arguments[i]))));
    EXPECT_LE(worst, 2.5);
  }
}

}  // namespace
}  // namespace colibri::test
