#if !defined(_WIN32)

#include "io/read_backend.h"
#include "io/system_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

namespace colibri {
namespace {

// O_NONBLOCK: a pipe put in a shard's place must not hang the open. It has no effect on regular files.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

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

/// 0, or the errno of a file whose kind is not known; `regular` otherwise.
int askKind(int descriptor, bool& regular) {
  struct stat info {};
  if (fstat(descriptor, &info) != 0) return errno;
  regular = S_ISREG(info.st_mode);
  return 0;
}

}  // namespace

SystemFile::~SystemFile() {
  if (isOpen()) (void)::close(m_file);
}

Result<SystemFile> SystemFile::openBuffered(const std::filesystem::path& path) {
  SystemFile file(::open(path.c_str(), kOpenFlags));
  if (!file.isOpen()) return openFailed(path, errno);
  bool regular = false;
  if (const int error = askKind(file.m_file, regular); error != 0) return openFailed(path, error);
  if (!regular) return notRegular(path);
  return file;
}

Result<SystemFile> SystemFile::openDirect(const std::filesystem::path& path, std::string& refusal) {
#if defined(O_DIRECT)
  SystemFile file(::open(path.c_str(), kOpenFlags | O_DIRECT));
  if (!file.isOpen()) {
    if (errno != EINVAL && errno != EOPNOTSUPP) return openFailed(path, errno);
    refusal = "The file system refuses direct reads (O_DIRECT).";
    return SystemFile();
  }
  bool regular = false;
  if (const int error = askKind(file.m_file, regular); error != 0) return openFailed(path, error);
  if (!regular) return notRegular(path);
  refusal = reasonAgainstDirect(file.m_file);
  if (!refusal.empty()) return SystemFile();
  return file;
#else
  (void)path;
  refusal = "This system has no direct reads.";
  return SystemFile();
#endif
}

std::uint64_t SystemFile::bytes() const {
  struct stat info {};
  return fstat(m_file, &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

std::int64_t SystemFile::readAt(std::byte* target, std::uint64_t bytes, std::uint64_t offset) const {
  const ssize_t got = ::pread(m_file, target, bytes, static_cast<off_t>(offset));
  return got < 0 ? -errno : got;
}

}  // namespace colibri

#endif
