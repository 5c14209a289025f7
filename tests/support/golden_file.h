#pragma once
// Reads the safetensors files of tests/golden, for tests only: trusted input, the whole file in memory, errors as test
// failures.

#include "base/numeric_formats.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace colibri::test {

/// One tensor; `bytes` points into its GoldenFile, which must outlive it.
struct GoldenTensor {
  std::string dtype;  ///< as in the file: F64 F32 BF16 F8_E4M3 F8_E8M0 I64 I32 I8 U8
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;

  [[nodiscard]] int dim(std::size_t axis) const { return static_cast<int>(shape.at(axis)); }

  /// The raw elements; sizeof(T) must be the dtype's.
  template <typename T>
  [[nodiscard]] std::vector<T> as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  /// Every element as fp32 (exact but for F64, I64 and large I32).
  [[nodiscard]] std::vector<float> floats() const {
    if (dtype == "F32") return as<float>();
    std::vector<float> out;
    const auto convert = [&out](const auto& values, auto function) {
      out.reserve(values.size());
      for (const auto value : values) out.push_back(function(value));
    };
    if (dtype == "F64") convert(as<double>(), [](double v) { return static_cast<float>(v); });
    if (dtype == "BF16") convert(as<std::uint16_t>(), bf16ToFloat);
    if (dtype == "F8_E4M3") convert(as<std::uint8_t>(), e4m3ToFloat);
    if (dtype == "F8_E8M0") convert(as<std::uint8_t>(), e8m0ToFloat);
    if (dtype == "I64") convert(as<std::int64_t>(), [](std::int64_t v) { return static_cast<float>(v); });
    if (dtype == "I32") convert(as<std::int32_t>(), [](std::int32_t v) { return static_cast<float>(v); });
    if (dtype == "I8") convert(as<std::int8_t>(), [](std::int8_t v) { return static_cast<float>(v); });
    if (dtype == "U8") convert(as<std::uint8_t>(), [](std::uint8_t v) { return static_cast<float>(v); });
    EXPECT_FALSE(out.empty()) << "no conversion for " << dtype;
    return out;
  }
};

/// A golden file by its path below tests/golden, e.g. "kernels/rope.safetensors", or by an absolute path.
class GoldenFile {
public:
  explicit GoldenFile(const std::filesystem::path& name) : m_name(name.string()) {
    std::ifstream stream(std::filesystem::path(COLIBRI_GOLDEN_DIR) / name, std::ios::binary);
    m_content.assign(std::istreambuf_iterator<char>(stream), {});
    std::uint64_t headerSize = 0;
    if (m_content.size() > sizeof(headerSize)) std::memcpy(&headerSize, m_content.data(), sizeof(headerSize));
    if (headerSize == 0 || headerSize > m_content.size() - sizeof(headerSize)) {
      ADD_FAILURE() << "cannot read " << m_name;
      return;
    }
    const std::size_t dataStart = sizeof(headerSize) + headerSize;
    const auto header = nlohmann::json::parse(m_content.substr(sizeof(headerSize), headerSize));
    const std::span<const std::byte> data = std::as_bytes(std::span(m_content)).subspan(dataStart);
    for (const auto& [key, entry] : header.items()) {
      if (key == "__metadata__") continue;
      const auto begin = entry["data_offsets"][0].get<std::size_t>();
      const auto end = entry["data_offsets"][1].get<std::size_t>();
      m_tensors[key] = {entry["dtype"].get<std::string>(), entry["shape"].get<std::vector<std::int64_t>>(),
                        data.subspan(begin, end - begin)};
    }
  }
  GoldenFile(const GoldenFile&) = delete;
  GoldenFile& operator=(const GoldenFile&) = delete;

  [[nodiscard]] bool has(const std::string& name) const { return m_tensors.contains(name); }
  /// The tensor; a test failure and an empty one when the file has none of that name.
  [[nodiscard]] const GoldenTensor& tensor(const std::string& name) const {
    static const GoldenTensor kNone;
    const auto found = m_tensors.find(name);
    if (found != m_tensors.end()) return found->second;
    ADD_FAILURE() << m_name << " has no tensor " << name;
    return kNone;
  }
  [[nodiscard]] const std::map<std::string, GoldenTensor>& tensors() const { return m_tensors; }

private:
  std::string m_name;
  std::string m_content;
  std::map<std::string, GoldenTensor> m_tensors;
};

}  // namespace colibri::test
