#include "checkpoint/shard_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace colibri {

Result<ShardFile> ShardFile::open(const std::filesystem::path& path) {
  ShardFile file;
  file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const std::string name = path.filename().string();
  if (file.m_descriptor < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) {
      return Status(Code::kIo, "missing_file", name + " does not exist.");
    }
    if (error == ENXIO) return Status(Code::kIo, "not_a_file", name + " is not a regular file.");
    return Status(Code::kIo, "read_failed", name + " cannot be opened: " + std::strerror(error) + ".");
  }
  struct stat facts {};
  if (::fstat(file.m_descriptor, &facts) != 0) {
    return Status(Code::kIo, "read_failed", name + " cannot be read: " + std::strerror(errno) + ".");
  }
  if (!S_ISREG(facts.st_mode)) return Status(Code::kIo, "not_a_file", name + " is not a regular file.");
  file.m_size = static_cast<std::uint64_t>(facts.st_size);
  file.m_inode = facts.st_ino;
  file.m_device = facts.st_dev;
  return file;
}

ShardFile::ShardFile(ShardFile&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)),
      m_size(other.m_size),
      m_inode(other.m_inode),
      m_device(other.m_device) {}

ShardFile& ShardFile::operator=(ShardFile&& other) noexcept {
  std::swap(m_descriptor, other.m_descriptor);
  std::swap(m_size, other.m_size);
  std::swap(m_inode, other.m_inode);
  std::swap(m_device, other.m_device);
  return *this;
}

ShardFile::~ShardFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

Status ShardFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(m_descriptor, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return {Code::kIo, "read_failed", std::string("reading failed: ") + std::strerror(errno) + "."};
    if (got == 0) return {Code::kIo, "file_shrank", "the file became shorter while it was read."};
    done += static_cast<std::size_t>(got);
  }
  return Status::ok();
}

bool ShardFile::unchanged(const std::filesystem::path& path) const {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && facts.st_ino == m_inode && facts.st_dev == m_device &&
         static_cast<std::uint64_t>(facts.st_size) == m_size;
}

void ShardFile::forgetBefore(std::uint64_t offset) const {
  // Advice only: a refusal costs nothing but page cache.
  (void)::posix_fadvise(m_descriptor, 0, static_cast<off_t>(offset), POSIX_FADV_DONTNEED);
}

}  // namespace colibri
