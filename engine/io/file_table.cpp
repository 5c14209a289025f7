#include "io/file_table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

namespace colibri {
namespace {

Status openFailed(const std::filesystem::path& path, int error) {
  return Status(Code::kIo, "open_failed",
                path.filename().string() + " cannot be opened: " + std::generic_category().message(error) +
                    ". Check that the file is there and readable.",
                path.string());
}

/// Why the open file is better read through the page cache; empty when direct reads are fine.
std::string reasonAgainstDirect([[maybe_unused]] int descriptor) {
#if defined(__linux__)
  struct statfs system {};
  if (fstatfs(descriptor, &system) == 0 &&
      (system.f_type == TMPFS_MAGIC || static_cast<unsigned long>(system.f_type) == RAMFS_MAGIC)) {
    return "The file lies in memory (tmpfs), where direct reads do not exist.";
  }
#if defined(STATX_DIOALIGN)
  struct statx info {};
  if (statx(descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) != 0) {
    if (info.stx_dio_offset_align == 0 || info.stx_dio_mem_align == 0)
      return "The file system has no direct reads for this file.";
    if (kReadAlignment % info.stx_dio_offset_align != 0 || kReadAlignment % info.stx_dio_mem_align != 0) {
      return "The file system wants direct reads aligned to " + std::to_string(info.stx_dio_offset_align) + " bytes.";
    }
  }
#endif
#endif
  return {};
}

}  // namespace

Status FileTable::openOne(File& file, bool direct) {
  // O_NONBLOCK: a pipe put in a shard's place must not hang the open. It has no effect on regular files.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
  file.reason = "Direct reads are switched off.";
#if defined(O_DIRECT)
  if (direct) {
    file.direct = ::open(file.path.c_str(), kFlags | O_DIRECT);
    if (file.direct < 0 && errno != EINVAL && errno != EOPNOTSUPP) return openFailed(file.path, errno);
    file.reason =
        file.direct < 0 ? "The file system refuses direct reads (O_DIRECT)." : reasonAgainstDirect(file.direct);
    if (file.direct >= 0 && !file.reason.empty()) {
      (void)::close(file.direct);
      file.direct = -1;
    }
  }
#else
  if (direct) file.reason = "This system has no direct reads.";
#endif
  if (file.direct < 0) {
    file.buffered = ::open(file.path.c_str(), kFlags);
    if (file.buffered < 0) return openFailed(file.path, errno);
  }
  struct stat info {};
  if (fstat(file.direct >= 0 ? file.direct : file.buffered, &info) != 0) return openFailed(file.path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Status(Code::kIo, "open_failed", file.path.filename().string() + " is not a regular file.",
                  file.path.string());
  }
  return Status::ok();
}

Result<std::unique_ptr<FileTable>> FileTable::open(std::span<const std::filesystem::path> paths, bool direct) {
  std::unique_ptr<FileTable> table(new FileTable());
  table->m_files.resize(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    table->m_files[i].path = paths[i];
    COLIBRI_RETURN_IF_ERROR(openOne(table->m_files[i], direct));
  }
  return table;
}

FileTable::~FileTable() {
  for (const File& file : m_files) {
    if (file.direct >= 0) (void)::close(file.direct);
    if (file.buffered >= 0) (void)::close(file.buffered);
  }
}

FileTable::Handle FileTable::handle(std::uint32_t file) const {
  const std::lock_guard lock(m_mutex);
  const File& entry = m_files[file];
  return entry.buffered >= 0 ? Handle{entry.buffered, false} : Handle{entry.direct, true};
}

FileAccess FileTable::access(std::uint32_t file) const {
  const std::lock_guard lock(m_mutex);
  if (file >= m_files.size()) return {};
  return FileAccess{m_files[file].buffered < 0, m_files[file].reason};
}

std::string FileTable::name(std::uint32_t file) const {
  const std::lock_guard lock(m_mutex);
  return m_files[file].path.filename().string();
}

std::uint64_t FileTable::bytes(std::uint32_t file) const {
  struct stat info {};
  return fstat(handle(file).descriptor, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Status FileTable::demote(std::uint32_t file, std::string reason) {
  const std::lock_guard lock(m_mutex);
  File& entry = m_files[file];
  if (entry.buffered >= 0) return Status::ok();
  entry.buffered = ::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (entry.buffered < 0) return openFailed(entry.path, errno);
  entry.reason = std::move(reason);
  return Status::ok();
}

Status FileTable::check(const ReadRequest& request) const {
  if (request.file >= m_files.size()) {
    return Status(
        Code::kInternal, "read_no_such_file",
        "A read asked for file " + std::to_string(request.file) + " of " + std::to_string(m_files.size()) + ".");
  }
  if (request.expected > request.bytes || request.offset + request.bytes < request.offset) {
    return Status(Code::kInternal, "read_bad_range",
                  "A read asked for an impossible range of " + name(request.file) + ".");
  }
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(request.target);
  if (handle(request.file).direct && ((request.offset | request.bytes | address) & (kReadAlignment - 1)) != 0) {
    return Status(Code::kInternal, "read_misaligned",
                  "A direct read of " + name(request.file) + " at " + std::to_string(request.offset) +
                      " is not aligned to " + std::to_string(kReadAlignment) + " bytes.");
  }
  return Status::ok();
}

}  // namespace colibri
