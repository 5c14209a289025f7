#pragma once
// The open files of a backend with all their copies: direct where the file system allows it, buffered with a reason
// where not.

#include "io/read_backend.h"
#include "io/system_file.h"
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Names one copy of one file.
struct CopyIndex {
  std::uint32_t file = 0;
  std::uint32_t copy = 0;
};

/// Owns the open files. All calls are thread-safe.
class FileTable {
public:
  struct Handle {
    const SystemFile* file = nullptr;  ///< the table's, open until the table goes
    bool direct = false;
  };

  /// Opens every copy read-only; kIo when a primary cannot be opened or is no regular file. Further copies that cannot
  /// be opened are left out and named in takeNotices().
  static Result<std::unique_ptr<FileTable>> open(std::span<const ReadFile> files, bool direct);
  FileTable(const FileTable&) = delete;
  FileTable& operator=(const FileTable&) = delete;

  [[nodiscard]] std::size_t size() const { return m_files.size(); }
  [[nodiscard]] std::uint32_t copies(std::uint32_t file) const {
    return static_cast<std::uint32_t>(m_files[file].size());
  }
  [[nodiscard]] std::uint32_t drive(CopyIndex at) const { return m_files[at.file][at.copy].drive; }
  [[nodiscard]] Handle handle(CopyIndex at) const;
  [[nodiscard]] FileAccess access(CopyIndex at) const;
  /// File name without its folder, for messages.
  [[nodiscard]] std::string name(CopyIndex at) const;
  /// Size of the file now; 0 when the system will not say.
  [[nodiscard]] std::uint64_t bytes(CopyIndex at) const;
  /// Goes on buffered after a direct read was refused; no effect when the file is buffered already. The old handle
  /// stays open for reads that still use it.
  Status goBuffered(CopyIndex at, std::string reason);
  /// Whether a backend may take `request` (file index, alignment of direct reads).
  [[nodiscard]] Status check(const ReadRequest& request) const;

  /// The drive's files are not read any more.
  void setFault(std::uint32_t drive, std::string fault);
  /// Fills direct (all of the drive's files are read so), reason and fault.
  void describe(std::uint32_t drive, DriveCounters& counters) const;
  void addNotice(std::string notice);
  [[nodiscard]] std::vector<std::string> takeNotices();

private:
  struct File {
    std::filesystem::path path;
    std::uint32_t drive = 0;
    SystemFile direct;
    SystemFile buffered;  ///< once open, the one that is read
    std::string reason;
  };
  FileTable() = default;
  static Status openOne(File& file, bool direct);
  [[nodiscard]] const File& at(CopyIndex index) const { return m_files[index.file][index.copy]; }

  mutable std::mutex m_mutex;
  std::vector<std::vector<File>> m_files;
  std::vector<std::string> m_faults;  ///< by drive, as far as it goes
  std::vector<std::string> m_notices;
};

}  // namespace colibri
