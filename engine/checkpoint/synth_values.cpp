#include "checkpoint/synth_values.h"

#include "base/hash.h"
#include "base/numeric_formats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>

namespace colibri {
namespace {

constexpr double kE4m3Deviation = 80;  // of the stored e4m3 values; the scale brings the product to its size
constexpr double kE2m1Rms = 2.926;     // of uniform codes
constexpr double kScaleRms = 1.25;     // of 2^{-1, 0, 0, 1}, the spread of block scales

// Inverse of the normal distribution function by bisection: slow, exact, and made only once.
double normalQuantile(double probability) {
  double low = -9;
  double high = 9;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (0.5 * std::erfc(-middle / std::sqrt(2.0)) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::uint8_t nearestE4m3(double value) {
  std::uint8_t best = 0;
  for (unsigned code = 0; code < 0x7F; ++code) {
    const auto distance = [&](unsigned c) {
      return std::abs(std::abs(value) - double{e4m3ToFloat(static_cast<std::uint8_t>(c))});
    };
    if (distance(code) < distance(best)) best = static_cast<std::uint8_t>(code);
  }
  return value < 0 ? static_cast<std::uint8_t>(best | 0x80) : best;
}

struct Spread {
  std::string_view ending;
  double mean;
  double deviation;  // 0: 1 / sqrt(columns)
};

// First match counts.
constexpr Spread kSpreads[] = {
    {"norm.weight", 1, 0.1}, {"norm1.weight", 1, 0.1}, {"norm2.weight", 1, 0.1}, {"q_weight", 1, 0.1},
    {"k_weight", 1, 0.1},    {"_scale", 0.4, 0.05},    {"_base", 0, 0.5},        {".ape", 0, 0.5},
    {"attn_sink", 0, 1},     {".bias", 0, 0.02},       {".bias_vl", 0, 0.02},    {"embed.weight", 0, 1},
    {"image_start", 0, 1},   {"image_end", 0, 1},      {"image_newline", 0, 1},  {"markov_w1.weight", 0, 1},
};

}  // namespace

SynthValues::SynthValues(const ModelConfig& config, std::uint64_t seed) : m_config(config), m_seed(seed) {
  constexpr int kValues = 65536;
  m_normal.resize(kValues);
  for (int i = 0; i < kValues / 2; ++i) {
    const auto quantile = static_cast<float>(normalQuantile((i + 0.5) / kValues));
    m_normal[static_cast<std::size_t>(i)] = quantile;
    m_normal[static_cast<std::size_t>(kValues - 1 - i)] = -quantile;
  }
  for (int i = 0; i < 256; ++i) {
    m_e4m3.push_back(nearestE4m3(double{m_normal[static_cast<std::size_t>(i) * 256 + 128]} * kE4m3Deviation));
  }
}

void SynthValues::begin(const ExpectedTensor& tensor, std::uint64_t inputs, int experts) {
  const std::string label = std::to_string(m_seed) + "/" + tensor.name;
  m_random.seed(std::stoull(shortHash(std::as_bytes(std::span(label))), nullptr, 16));
  m_dtype = tensor.dtype;
  m_experts = experts;
  m_mean = 0;
  m_deviation = 0;
  for (const Spread& spread : kSpreads) {
    if (!tensor.name.ends_with(spread.ending)) continue;
    m_mean = spread.mean;
    m_deviation = spread.deviation;
    break;
  }
  if (m_deviation == 0) m_deviation = 1 / std::sqrt(static_cast<double>(tensor.shape.back()));
  if (tensor.name == "head.weight") m_deviation *= 3;
  if (m_dtype != Dtype::kF8E8M0) return;
  const bool expert = tensor.name.find(".ffn.experts.") != std::string::npos;
  const bool halves =
      tensor.name.ends_with("e_proj.scale") || tensor.name.ends_with("h_proj.scale");  // their outputs are added
  // Rows of a table are used as they are, so they need no gain of 1 but values near 1.
  const double sum = tensor.name.ends_with("engram.embed.scale") ? 1 : static_cast<double>(inputs);
  const double size = (halves ? 0.7 : 1) / std::sqrt(sum) / ((expert ? kE2m1Rms : kE4m3Deviation) * kScaleRms);
  const int exponent = 127 + static_cast<int>(std::lround(std::log2(size)));
  m_scale.resize(256);
  constexpr int kSteps[4] = {-1, 0, 0, 1};
  for (std::size_t byte = 0; byte < 256; ++byte) m_scale[byte] = static_cast<std::uint8_t>(exponent + kSteps[byte & 3]);
}

void SynthValues::fill(std::span<std::byte> out) {
  switch (m_dtype) {
    case Dtype::kBf16:
    case Dtype::kF32:
      fillFloats(out);
      return;
    case Dtype::kI64:
      fillRoutes(out);
      return;
    default:
      fillFromTable(out);
      return;
  }
}

void SynthValues::fillFromTable(std::span<std::byte> out) {
  for (std::size_t at = 0; at < out.size(); at += 8) {
    std::uint64_t word = m_random();
    if (m_dtype != Dtype::kI8) {
      const auto& table = m_dtype == Dtype::kF8E4M3 ? m_e4m3 : m_scale;
      std::uint64_t mapped = 0;
      for (int i = 0; i < 64; i += 8) mapped |= std::uint64_t{table[word >> i & 255]} << i;
      word = mapped;
    }
    std::memcpy(out.data() + at, &word, std::min<std::size_t>(8, out.size() - at));
  }
}

void SynthValues::fillFloats(std::span<std::byte> out) {
  const std::size_t element = m_dtype == Dtype::kBf16 ? 2 : 4;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < out.size() / element; ++i) {
    if (i % 4 == 0) word = m_random();
    const auto value = static_cast<float>(m_mean + m_deviation * double{m_normal[word & 0xFFFF]});
    word >>= 16;
    if (element == 2) {
      const std::uint16_t bits = floatToBf16(value);
      std::memcpy(out.data() + i * 2, &bits, 2);
    } else {
      std::memcpy(out.data() + i * 4, &value, 4);
    }
  }
}

// Rows of distinct experts, all equally likely.
void SynthValues::fillRoutes(std::span<std::byte> out) {
  const auto row = static_cast<std::size_t>(m_config.expertsPerToken);
  std::vector<std::int64_t> ids;
  for (std::size_t at = 0; at + 8 <= out.size(); at += 8) {
    if (ids.size() == row) ids.clear();
    std::int64_t id = 0;
    do {
      id = static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(m_experts));
    } while (std::find(ids.begin(), ids.end(), id) != ids.end());
    ids.push_back(id);
    std::memcpy(out.data() + at, &id, 8);
  }
}

}  // namespace colibri
