#pragma once
// The open files of a backend: direct where the file system allows it, buffered with a reason where not.

#include "io/read_backend.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Owns the descriptors. All calls are thread-safe.
class FileTable {
public:
  struct Handle {
    int descriptor = -1;
    bool direct = false;
  };

  /// Opens every path read-only; kIo when one cannot be opened or is no regular file.
  static Result<std::unique_ptr<FileTable>> open(std::span<const std::filesystem::path> paths, bool direct);
  FileTable(const FileTable&) = delete;
  FileTable& operator=(const FileTable&) = delete;
  ~FileTable();

  [[nodiscard]] std::size_t size() const { return m_files.size(); }
  [[nodiscard]] Handle handle(std::uint32_t file) const;
  [[nodiscard]] FileAccess access(std::uint32_t file) const;
  /// File name without its folder, for messages.
  [[nodiscard]] std::string name(std::uint32_t file) const;
  /// Size of the file now; 0 when the system will not say.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t file) const;
  /// Goes on buffered after a direct read was refused; no effect when the file is buffered already. The old descriptor
  /// stays open for reads that still use it.
  Status demote(std::uint32_t file, std::string reason);
  /// Whether a backend may take `request` (file index, alignment of direct reads).
  [[nodiscard]] Status check(const ReadRequest& request) const;

private:
  struct File {
    std::filesystem::path path;
    int direct = -1;
    int buffered = -1;
    std::string reason;
  };
  FileTable() = default;
  static Status openOne(File& file, bool direct);

  mutable std::mutex m_mutex;
  std::vector<File> m_files;
};

}  // namespace colibri
