#pragma once
// An open file of the system it runs on, and the one blocking read that all systems have. POSIX and Windows have a half
// each.

#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace colibri {

#if defined(_WIN32)
using NativeFile = std::intptr_t;  ///< a HANDLE opened for overlapped calls
#else
using NativeFile = int;  ///< a descriptor
#endif
inline constexpr NativeFile kNoFile = -1;

/// Owns what it has opened. All const calls are thread-safe and may be made at the same time.
class SystemFile {
public:
  SystemFile() = default;
  SystemFile(SystemFile&& other) noexcept : m_file(std::exchange(other.m_file, kNoFile)) {}
  SystemFile& operator=(SystemFile&& other) noexcept {
    std::swap(m_file, other.m_file);
    return *this;
  }
  ~SystemFile();

  /// Read-only, through the page cache. kIo when it cannot be opened or is no regular file.
  static Result<SystemFile> openBuffered(const std::filesystem::path& path);
  /// Read-only, past the page cache. Where that is not to be had the result is not open and `refusal` is the reason, a
  /// sentence; else `refusal` becomes empty. kIo as above.
  static Result<SystemFile> openDirect(const std::filesystem::path& path, std::string& refusal);

  [[nodiscard]] bool isOpen() const { return m_file != kNoFile; }
  [[nodiscard]] NativeFile native() const { return m_file; }
  /// Size of the file now; 0 when the system will not say.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Reads `bytes` at `offset` in one call and waits for it: bytes that arrived (0 at the end of the file), or -errno.
  [[nodiscard]] std::int64_t readAt(std::byte* target, std::uint64_t bytes, std::uint64_t offset) const;

private:
  explicit SystemFile(NativeFile file) : m_file(file) {}
  static Status openFailed(const std::filesystem::path& path, int error);
  static Status notRegular(const std::filesystem::path& path);
  NativeFile m_file = kNoFile;
};

}  // namespace colibri
