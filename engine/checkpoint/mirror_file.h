#pragma once
// Writing in a mirror folder: never through links, never over something else, and on the drive before it counts.

#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

namespace colibri {

/// The calls that tests replace to make a drive full or broken. The defaults are the system's.
struct MirrorSystem {
  /// As pwrite().
  std::function<std::int64_t(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset)> write;
  /// Bytes that an ordinary user may still write at `folder`; kIo when unknown.
  std::function<Result<std::uint64_t>(const std::filesystem::path& folder)> freeBytes;

  static MirrorSystem real();
};

/// Owns one descriptor.
class MirrorDescriptor {
public:
  explicit MirrorDescriptor(int descriptor = -1) : m_descriptor(descriptor) {}
  MirrorDescriptor(MirrorDescriptor&& other) noexcept;
  MirrorDescriptor& operator=(MirrorDescriptor&& other) noexcept;
  MirrorDescriptor(const MirrorDescriptor&) = delete;
  MirrorDescriptor& operator=(const MirrorDescriptor&) = delete;
  ~MirrorDescriptor();
  [[nodiscard]] int get() const { return m_descriptor; }
  [[nodiscard]] bool isOpen() const { return m_descriptor >= 0; }

private:
  int m_descriptor;
};

/// Sentence and code of a failed write: kIo "disk_full", "file_too_large" or "write_failed".
[[nodiscard]] Status writeProblem(const std::filesystem::path& file, int error);

/// Writes `folder`/`name` by way of a temporary file that replaces it in one step. kIo as writeProblem().
Status replaceFile(const std::filesystem::path& folder, const std::string& name, std::span<const std::byte> bytes);

/// Makes the folder's entries (renames, removals) last. kIo "write_failed".
Status syncFolder(const std::filesystem::path& folder);

/// Held while one call changes a folder. kUsage "mirror_busy" when another holds it; where a file system knows no
/// locks, nothing is held.
Result<MirrorDescriptor> lockFolder(const std::filesystem::path& folder);

}  // namespace colibri
