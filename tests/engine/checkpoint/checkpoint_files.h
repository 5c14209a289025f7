#pragma once
// Small checkpoint files for tests, sound or broken in a chosen way.

#include "checkpoint/findings.h"
#include "checkpoint/header.h"
#include <colibri/checkpoint.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::testing {

/// A folder of its own, removed at the end.
class TempFolder {
public:
  TempFolder() {
    static std::atomic<int> count{0};
    m_path = std::filesystem::temp_directory_path() /
             ("colibri-checkpoint-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::remove_all(m_path);
    std::filesystem::create_directories(m_path);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(m_path, error);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
  std::filesystem::path m_path;
};

inline void writeFile(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string readWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string littleEndian(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

/// A whole shard: length, header, `dataBytes` bytes of data.
inline std::string shardBytes(const std::string& header, std::size_t dataBytes) {
  return littleEndian(header.size()) + header + std::string(dataBytes, '\x01');
}

/// One entry of a header.
inline std::string entry(const std::string& name, const std::string& dtype, const std::string& shape,
                         std::uint64_t begin, std::uint64_t end) {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}

/// Codes of everything that reading `bytes` as a shard reports, in order; empty when it is sound.
inline std::vector<std::string> codesOf(const std::string& bytes, std::vector<std::string>* messages = nullptr) {
  const TempFolder folder;
  const auto path = folder.path() / "model.safetensors";
  writeFile(path, bytes);
  std::vector<std::string> codes;
  readShardHeader(path, "model.safetensors", [&](Finding finding) {
    codes.push_back(finding.code);
    if (messages != nullptr) messages->push_back(finding.message);
  });
  return codes;
}

using Codes = std::vector<std::string>;

}  // namespace colibri::testing
