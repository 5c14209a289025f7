#include "checkpoint/mirror_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace colibri {

MirrorSystem MirrorSystem::real() {
  MirrorSystem system;
  system.write = [](int descriptor, std::span<const std::byte> bytes, std::uint64_t offset) -> std::int64_t {
    return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  };
  system.freeBytes = [](const std::filesystem::path& folder) -> Result<std::uint64_t> {
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0) {
      return Status(Code::kIo, "read_failed",
                    "The free space at " + folder.string() + " cannot be found out: " + std::strerror(errno) + ".");
    }
    return std::uint64_t{facts.f_bavail} * facts.f_frsize;
  };
  return system;
}

MirrorDescriptor::MirrorDescriptor(MirrorDescriptor&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

MirrorDescriptor& MirrorDescriptor::operator=(MirrorDescriptor&& other) noexcept {
  std::swap(m_descriptor, other.m_descriptor);
  return *this;
}

MirrorDescriptor::~MirrorDescriptor() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

Status writeProblem(const std::filesystem::path& file, int error) {
  const std::string folder = file.parent_path().string();
  if (error == ENOSPC || error == EDQUOT) {
    return {Code::kIo, "disk_full",
            "The drive of " + folder + " is full (" + std::strerror(error) +
                "). What is copied stays; free some space and run the same command again to go on."};
  }
  if (error == EFBIG) {
    return {Code::kIo, "file_too_large",
            "The file system of " + folder + " cannot hold files as large as " + file.filename().string() +
                "; use a drive with another one (ext4, xfs, btrfs, NTFS, exFAT)."};
  }
  return {Code::kIo, "write_failed", file.string() + " cannot be written: " + std::strerror(error) + "."};
}

Status replaceFile(const std::filesystem::path& folder, const std::string& name, std::span<const std::byte> bytes) {
  const std::filesystem::path target = folder / name;
  const std::filesystem::path temporary = folder / (name + ".new");
  // Whatever stands under the temporary name is a leftover; it is removed, so that nothing is written through a link.
  (void)::unlink(temporary.c_str());
  const MirrorDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file.isOpen()) return writeProblem(temporary, errno);
  const auto failed = [&](int error) {
    (void)::unlink(temporary.c_str());
    return writeProblem(target, error);
  };
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t wrote = ::write(file.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return failed(wrote == 0 ? ENOSPC : errno);
    done += static_cast<std::size_t>(wrote);
  }
  if (::fsync(file.get()) != 0) return failed(errno);
  if (std::rename(temporary.c_str(), target.c_str()) != 0) return failed(errno);
  return syncFolder(folder);
}

Status syncFolder(const std::filesystem::path& folder) {
  const MirrorDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.isOpen()) return writeProblem(folder / ".", errno);
  // Some file systems cannot sync a folder; then there is nothing more to be done.
  if (::fsync(handle.get()) != 0 && errno != EINVAL && errno != ENOTSUP) return writeProblem(folder / ".", errno);
  return Status::ok();
}

Result<MirrorDescriptor> lockFolder(const std::filesystem::path& folder) {
  MirrorDescriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.isOpen()) {
    return Status(Code::kIo, "read_failed", folder.string() + " cannot be opened: " + std::strerror(errno) + ".");
  }
  if (::flock(handle.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Status(Code::kUsage, "mirror_busy",
                  "Another 'coli mirror' is at work in " + folder.string() + ". Wait for it to end, or stop it.");
  }
  return handle;
}

}  // namespace colibri
