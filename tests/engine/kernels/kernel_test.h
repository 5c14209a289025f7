#pragma once
// What the kernel tests share: a fixture that runs over every table of this machine, and comparisons.

#include "base/numeric_formats.h"
#include "kernels/isa_tables.h"
#include "support/golden_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace colibri::test {

/// Parameter: a table of kernels that this processor can run.
class KernelTest : public testing::TestWithParam<const Kernels*> {
protected:
  [[nodiscard]] const Kernels& kernels() const { return *GetParam(); }
};

inline std::string kernelTestName(const testing::TestParamInfo<const Kernels*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// Largest |a - b| relative to the largest |b| of each row of `width`.
inline double rowError(std::span<const float> a, std::span<const float> b, std::size_t width) {
  EXPECT_EQ(a.size(), b.size());
  double worst = 0;
  for (std::size_t row = 0; row + width <= b.size(); row += width) {
    double largest = 0;
    double difference = 0;
    for (std::size_t i = row; i < row + width; ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(b[i])));
      difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    if (difference > 0) worst = std::max(worst, difference / largest);
    if (!(difference >= 0)) worst = INFINITY;
  }
  return worst;
}

/// Equal values, or both NaN.
inline bool sameValue(float a, float b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Steps between two bf16 numbers on the bf16 number line.
inline int bf16Steps(float a, float b) {
  const auto order = [](float v) {
    const int bits = floatToBf16(v);
    return (bits & 0x8000) != 0 ? -(bits & 0x7fff) : bits;
  };
  return std::abs(order(a) - order(b));
}

/// Number of values whose bf16 rounding differs from b's, and the largest distance in bf16 steps.
struct Bf16Comparison {
  int different = 0;
  int worst = 0;
};
inline Bf16Comparison compareBf16(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  Bf16Comparison result;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const int steps = bf16Steps(a[i], b[i]);
    if (steps != 0) ++result.different;
    result.worst = std::max(result.worst, steps);
  }
  return result;
}

}  // namespace colibri::test
