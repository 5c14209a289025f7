#pragma once
// A checkpoint file opened for reading with plain reads.

#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace colibri {

/// Owns one descriptor. Opening never blocks (a FIFO is refused) and never follows up with anything but regular files.
class ShardFile {
public:
  ShardFile() = default;
  /// kIo "missing_file" when it is not there, "not_a_file" for folders, devices and pipes, "read_failed" otherwise.
  static Result<ShardFile> open(const std::filesystem::path& path);
  ShardFile(ShardFile&& other) noexcept;
  ShardFile& operator=(ShardFile&& other) noexcept;
  ShardFile(const ShardFile&) = delete;
  ShardFile& operator=(const ShardFile&) = delete;
  ~ShardFile();

  /// Size when it was opened.
  [[nodiscard]] std::uint64_t size() const { return m_size; }
  /// Fills `out` from `offset`. kIo "read_failed"; "file_shrank" when the file ends before.
  Status read(std::uint64_t offset, std::span<std::byte> out) const;
  /// Whether `path` still names this file with this size.
  [[nodiscard]] bool unchanged(const std::filesystem::path& path) const;
  /// Tells the system that the bytes before `offset` will not be needed again.
  void forgetBefore(std::uint64_t offset) const;

private:
  int m_descriptor = -1;
  std::uint64_t m_size = 0;
  std::uint64_t m_inode = 0;
  std::uint64_t m_device = 0;
};

}  // namespace colibri
