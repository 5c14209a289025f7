#pragma once
// Files with known bytes in a folder of their own.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace colibri::testing {

/// A new folder below `parent`, removed with everything in it at the end.
class TemporaryFolder {
public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::random_device random;
    for (int attempt = 0; attempt < 100 && m_path.empty(); ++attempt) {
      const std::filesystem::path path = parent / ("colibri-test-" + std::to_string(random()));
      std::error_code error;
      if (std::filesystem::create_directory(path, error)) m_path = path;
    }
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!m_path.empty()) std::filesystem::remove_all(m_path, ignored);
  }
  /// Empty when the folder could not be made.
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
  std::filesystem::path m_path;
};

/// The byte that stands at `offset` of a file with this seed: differs between neighbours, blocks and files.
inline std::byte byteAt(std::uint64_t seed, std::uint64_t offset) {
  std::uint64_t x = offset + seed * 0x9e3779b97f4a7c15U;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 29;
  return static_cast<std::byte>(x & 0xff);
}

inline void writeBytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::byte> patternBytes(std::uint64_t seed, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  for (std::uint64_t i = 0; i < size; ++i) bytes[i] = byteAt(seed, i);
  return bytes;
}

/// Memory aligned for direct reads.
class AlignedBytes {
public:
  explicit AlignedBytes(std::size_t size)
      : m_data(static_cast<std::byte*>(::operator new((size + 4095) / 4096 * 4096 + 4096, kAlignment))) {}
  AlignedBytes(AlignedBytes&& other) noexcept : m_data(std::exchange(other.m_data, nullptr)) {}
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  ~AlignedBytes() { ::operator delete(m_data, kAlignment); }
  [[nodiscard]] std::byte* data() const { return m_data; }

private:
  static constexpr std::align_val_t kAlignment{4096};
  std::byte* m_data;
};

}  // namespace colibri::testing
