// Inputs whose width is no multiple of the lanes: the last ones count too. The parity tests cannot see this, since all
// instruction sets share the loop.

#include "base/numeric_formats.h"
#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace colibri {
namespace {

TEST(LinearTail, EveryInputCounts) {
  const auto kernels = kernelsFor(Isa::kScalar);
  ASSERT_TRUE(kernels.isOk());
  for (const int k : {1, 15, 16, 17, 37, 130}) {
    const auto n = static_cast<std::size_t>(k);
    std::vector<float> x(n);
    std::vector<float> w(n);
    std::vector<std::uint16_t> bits(n);
    double expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = 1.0F + static_cast<float>(i % 5);
      w[i] = 0.5F * static_cast<float>(1 + i % 3);  // exact in bf16
      bits[i] = floatToBf16(w[i]);
      expected += static_cast<double>(x[i]) * w[i];
    }
    float y = 0;
    kernels.value()->linearF32(RowsView{x.data(), 1, k}, w.data(), k, OutView{&y, 1, 0, 1});
    EXPECT_EQ(y, static_cast<float>(expected)) << "fp32, " << k << " inputs";
    kernels.value()->linearBf16(RowsView{x.data(), 1, k}, bits.data(), k, OutView{&y, 1, 0, 1});
    EXPECT_EQ(y, static_cast<float>(expected)) << "bf16, " << k << " inputs";
  }
}

}  // namespace
}  // namespace colibri
