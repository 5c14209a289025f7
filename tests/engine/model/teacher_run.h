#pragma once
// One teacher-forced run, and comparisons of its rows.

#include "session/teacher_forcing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace colibri::test {

/// Tensors of one teacher-forced run by name.
class TeacherRun {
public:
  TeacherRun(Engine& engine, const std::vector<TokenId>& tokens, TeacherOptions options) {
    auto result = computeLogits(engine, tokens, options, {});
    EXPECT_TRUE(result.isOk()) << result.status().message();
    if (result.isOk()) m_tensors = std::move(result).value();
  }
  template <typename T = float>
  [[nodiscard]] std::vector<T> get(const std::string& name) const {
    for (const NamedTensor& tensor : m_tensors) {
      if (tensor.name != name) continue;
      std::vector<T> values(tensor.data.size() / sizeof(T));
      std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
      return values;
    }
    ADD_FAILURE() << "no tensor " << name;
    return {};
  }

private:
  std::vector<NamedTensor> m_tensors;
};

/// Largest distance of n values; NaN when one of them is.
inline float largestDifference(const float* a, const float* b, int n) {
  float worst = 0;
  for (int i = 0; i < n; ++i) {
    const float d = std::abs(a[i] - b[i]);
    worst = d > worst || std::isnan(d) ? d : worst;
  }
  return worst;
}

/// Index of the largest of n values.
inline int best(const float* row, int n) {
  return static_cast<int>(std::max_element(row, row + n) - row);
}

}  // namespace colibri::test
