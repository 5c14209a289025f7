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

void closeBoth(int direct, int buffered) {
  if (direct >= 0) (void)::close(direct);
  if (buffered >= 0) (void)::close(buffered);
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

Result<std::unique_ptr<FileTable>> FileTable::open(std::span<const ReadFile> files, bool direct) {
  std::unique_ptr<FileTable> table(new FileTable());
  table->m_files.resize(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<File>& copies = table->m_files[i];
    for (const FileCopy& copy : files[i]) {
      File& file = copies.emplace_back();
      file.path = copy.path;
      file.drive = copy.drive;
      const Status status = openOne(file, direct);
      if (status.isOk()) continue;
      const bool isPrimary = copies.size() == 1;
      closeBoth(file.direct, file.buffered);
      copies.pop_back();
      if (isPrimary) return status;
      table->m_notices.push_back("The copy in " + copy.path.parent_path().string() +
                                 " is not used: " + status.message());
    }
    if (copies.empty()) return Status(Code::kInternal, "read_no_such_file", "A file to read has no place.");
  }
  return table;
}

FileTable::~FileTable() {
  for (const std::vector<File>& copies : m_files) {
    for (const File& file : copies) closeBoth(file.direct, file.buffered);
  }
}

FileTable::Handle FileTable::handle(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  const File& file = at(index);
  return file.buffered >= 0 ? Handle{file.buffered, false} : Handle{file.direct, true};
}

FileAccess FileTable::access(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  if (index.file >= m_files.size()) return {};
  return FileAccess{at(index).buffered < 0, at(index).reason};
}

std::string FileTable::name(CopyIndex index) const {
  const std::lock_guard lock(m_mutex);
  return at(index).path.filename().string();
}

std::uint64_t FileTable::bytes(CopyIndex index) const {
  struct stat info {};
  return fstat(handle(index).descriptor, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

Status FileTable::goBuffered(CopyIndex index, std::string reason) {
  const std::lock_guard lock(m_mutex);
  File& file = m_files[index.file][index.copy];
  if (file.buffered >= 0) return Status::ok();
  file.buffered = ::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.buffered < 0) return openFailed(file.path, errno);
  file.reason = std::move(reason);
  return Status::ok();
}

void FileTable::setFault(std::uint32_t drive, std::string fault) {
  const std::lock_guard lock(m_mutex);
  if (m_faults.size() <= drive) m_faults.resize(drive + 1);
  m_faults[drive] = std::move(fault);
}

void FileTable::describe(std::uint32_t drive, DriveCounters& counters) const {
  const std::lock_guard lock(m_mutex);
  bool any = false;
  counters.direct = true;
  for (const std::vector<File>& copies : m_files) {
    for (const File& file : copies) {
      if (file.drive != drive) continue;
      any = true;
      if (file.buffered < 0) continue;
      counters.direct = false;
      counters.reason = file.reason;
    }
  }
  counters.direct = counters.direct && any;
  if (drive < m_faults.size()) counters.fault = m_faults[drive];
}

void FileTable::addNotice(std::string notice) {
  const std::lock_guard lock(m_mutex);
  m_notices.push_back(std::move(notice));
}

std::vector<std::string> FileTable::takeNotices() {
  const std::lock_guard lock(m_mutex);
  return std::exchange(m_notices, {});
}

Status FileTable::check(const ReadRequest& request) const {
  if (request.file >= m_files.size()) {
    return Status(
        Code::kInternal, "read_no_such_file",
        "A read asked for file " + std::to_string(request.file) + " of " + std::to_string(m_files.size()) + ".");
  }
  if (request.expected > request.bytes || request.offset + request.bytes < request.offset) {
    return Status(Code::kInternal, "read_bad_range",
                  "A read asked for an impossible range of " + name({request.file, 0}) + ".");
  }
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(request.target);
  if (((request.offset | request.bytes | address) & (kReadAlignment - 1)) == 0) return Status::ok();
  for (std::uint32_t copy = 0; copy < copies(request.file); ++copy) {
    if (!handle({request.file, copy}).direct) continue;
    return Status(Code::kInternal, "read_misaligned",
                  "A direct read of " + name({request.file, copy}) + " at " + std::to_string(request.offset) +
                      " is not aligned to " + std::to_string(kReadAlignment) + " bytes.");
  }
  return Status::ok();
}

}  // namespace colibri
