#pragma once
// Random weights of sensible size: every linear map has gain near 1, norms are near 1, router logits are N(0, 1), head
// logits N(0, 3).

#include "checkpoint/expected_tensors.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace colibri {

/// Draws the bytes of tensors. Not thread-safe; reusable for any number of tensors.
class SynthValues {
public:
  SynthValues(const ModelConfig& config, std::uint64_t seed);

  /// Starts `tensor`'s own stream. `inputs` are the columns of the weight that a scale tensor belongs to, in logical
  /// elements.
  void begin(const ExpectedTensor& tensor, std::uint64_t inputs, int experts);
  /// The next bytes; a multiple of 8 except at the tensor's end.
  void fill(std::span<std::byte> out);

private:
  void fillFromTable(std::span<std::byte> out);
  void fillFloats(std::span<std::byte> out);
  void fillRoutes(std::span<std::byte> out);

  const ModelConfig& m_config;
  std::uint64_t m_seed;
  std::vector<float> m_normal;        // 65536 equally likely values of N(0, 1)
  std::vector<std::uint8_t> m_e4m3;   // random byte -> code
  std::vector<std::uint8_t> m_scale;  // random byte -> scale of the current tensor
  std::mt19937_64 m_random;
  Dtype m_dtype = Dtype::kI8;
  double m_mean = 0;
  double m_deviation = 1;
  int m_experts = 0;
};

}  // namespace colibri
