#pragma once
// Differences of rows that were rounded to bf16, in steps of that grid.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace colibri::test {

/// One bf16 step at the size of the row's largest value.
inline float bf16Step(const float* row, int n) {
  float largest = 0;
  for (int i = 0; i < n; ++i) largest = std::max(largest, std::abs(row[i]));
  return std::ldexp(1.0F, std::ilogb(largest) - 7);
}

/// Per row: largest difference in bf16 steps.
inline void addSteps(const float* got, const std::vector<float>& expected, int rows, int width,
                     std::vector<float>& steps) {
  for (int row = 0; row < rows; ++row) {
    const float* want = expected.data() + static_cast<std::ptrdiff_t>(row) * width;
    const float* have = got + static_cast<std::ptrdiff_t>(row) * width;
    float worst = 0;
    for (int i = 0; i < width; ++i) worst = std::max(worst, std::abs(have[i] - want[i]));
    steps.push_back(worst / bf16Step(want, width));
  }
}

/// The value below which a share of q lies.
inline float quantile(std::vector<float> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

}  // namespace colibri::test
