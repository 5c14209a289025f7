#include "checkpoint/mirror_copy.h"

#include "base/hash.h"
#include "base/units.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/mirror_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

namespace colibri {
namespace {

constexpr std::uint64_t kPiece = std::uint64_t{8} << 20;
/// Written data goes to the drive at least this often: an error shows early, and stopping does not wait for gigabytes.
constexpr std::uint64_t kSyncEvery = std::uint64_t{256} << 20;

Status cancelled() {
  return {Code::kCancelled, "cancelled", "Stopped. What is copied stays; run the same command again to go on."};
}

Status conflict(const std::filesystem::path& file, const std::string& why) {
  return {Code::kUsage, "mirror_conflict",
          printable(file.string(), 300) + " is in the way: " + why +
              ". It is left as it is; move or delete it, then run the same command again."};
}

std::vector<std::byte> pieceBuffer(std::uint64_t bytes) {
  return std::vector<std::byte>(static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes, 1, kPiece)));
}

class Copier {
public:
  explicit Copier(const ShardCopy& copy)
      : m_copy(copy), m_partial(copy.folder / partialName(copy.shard.name)), m_final(copy.folder / copy.shard.name) {}

  Result<MirrorCopied> run(const std::function<Status(const MirrorCopied&)>& record) {
    COLIBRI_ASSIGN_OR_RETURN(m_source, ShardFile::open(m_copy.shard.path));
    COLIBRI_RETURN_IF_ERROR(checkSource());
    COLIBRI_RETURN_IF_ERROR(openPartial());
    MirrorCopied done;
    done.name = m_copy.shard.name;
    done.bytes = m_source.size();
    COLIBRI_RETURN_IF_ERROR(transfer(done.resumedBytes));
    COLIBRI_RETURN_IF_ERROR(checkSource());
    done.sha256 = m_hash.finishHex();
    COLIBRI_RETURN_IF_ERROR(readBack(done.sha256));
    COLIBRI_RETURN_IF_ERROR(checkNameIsFree());
    COLIBRI_RETURN_IF_ERROR(record(done));
    COLIBRI_RETURN_IF_ERROR(giveName());
    return done;
  }

private:
  Status checkSource() const {
    if (m_source.size() == m_copy.shard.fileBytes && m_source.unchanged(m_copy.shard.path)) return Status::ok();
    return {Code::kIo, "read_failed",
            printable(m_copy.shard.name, 300) +
                " of the model changed while it was copied. Check the model with 'coli verify', then run this again."};
  }

  Status openPartial() {
    m_target = MirrorDescriptor(
        ::open(m_partial.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
    if (!m_target.isOpen()) {
      const int error = errno;
      if (error == ELOOP) return conflict(m_partial, "it is a link");
      if (error == EISDIR || error == ENXIO) return conflict(m_partial, "it is no regular file");
      return writeProblem(m_partial, error);
    }
    struct stat facts {};
    if (::fstat(m_target.get(), &facts) != 0) return writeProblem(m_partial, errno);
    if (!S_ISREG(facts.st_mode)) return conflict(m_partial, "it is no regular file");
    // A second name of the same file may be the model's.
    if (facts.st_nlink > 1) return conflict(m_partial, "it is a hard link to a file that has other names too");
    m_have = static_cast<std::uint64_t>(facts.st_size);
    return Status::ok();
  }

  Status transfer(std::uint64_t& resumed) {
    const std::uint64_t size = m_source.size();
    std::vector<std::byte> original = pieceBuffer(size);
    std::vector<std::byte> present = pieceBuffer(size);
    std::uint64_t unsynced = 0;
    for (std::uint64_t at = 0; at < size; at += kPiece) {
      if (m_copy.cancellation.isCancelled()) return cancelled();
      const auto piece = std::span(original).first(static_cast<std::size_t>(std::min(kPiece, size - at)));
      if (const Status read = m_source.read(at, piece); !read.isOk()) return read.within(m_copy.shard.name);
      m_hash.update(piece);
      m_source.forgetBefore(at + piece.size());
      const std::size_t same = sameBytes(at, piece, present);
      resumed += same;
      if (same < piece.size()) {
        if (at == 0 && same == 0 && m_have > 0 && !m_copy.partialIsOurs) {
          return conflict(m_partial, "its content is not the beginning of this shard");
        }
        COLIBRI_RETURN_IF_ERROR(write(at + same, piece.subspan(same)));
        unsynced += piece.size() - same;
      }
      if (unsynced >= kSyncEvery) {
        COLIBRI_RETURN_IF_ERROR(sync());
        unsynced = 0;
      }
      m_copy.pieceDone(piece.size(), false);
    }
    if (::ftruncate(m_target.get(), static_cast<off_t>(size)) != 0) return writeProblem(m_partial, errno);
    return sync();
  }

  /// How many bytes of `piece` the partial copy has already, from its start; 0 when those it has differ. A piece that
  /// cannot be read counts as absent and is written anew.
  std::size_t sameBytes(std::uint64_t at, std::span<const std::byte> piece, std::span<std::byte> buffer) const {
    if (m_have <= at) return 0;
    const auto known = static_cast<std::size_t>(std::min<std::uint64_t>(m_have - at, piece.size()));
    std::size_t got = 0;
    while (got < known) {
      const ssize_t read = ::pread(m_target.get(), buffer.data() + got, known - got, static_cast<off_t>(at + got));
      if (read < 0 && errno == EINTR) continue;
      if (read <= 0) return 0;
      got += static_cast<std::size_t>(read);
    }
    return std::memcmp(piece.data(), buffer.data(), known) == 0 ? known : 0;
  }

  Status write(std::uint64_t at, std::span<const std::byte> bytes) {
    COLIBRI_RETURN_IF_ERROR(checkRoom(bytes.size()));
    while (!bytes.empty()) {
      const std::int64_t wrote = m_copy.system.write(m_target.get(), bytes, at);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return writeProblem(m_partial, wrote == 0 ? ENOSPC : errno);
      bytes = bytes.subspan(static_cast<std::size_t>(wrote));
      at += static_cast<std::uint64_t>(wrote);
    }
    return Status::ok();
  }

  // Others may fill the drive meanwhile; the reserve is theirs.
  [[nodiscard]] Status checkRoom(std::uint64_t bytes) const {
    if (m_copy.reserveBytes == 0) return Status::ok();
    COLIBRI_ASSIGN_OR_RETURN(const std::uint64_t available, m_copy.system.freeBytes(m_copy.folder));
    if (available >= bytes && available - bytes >= m_copy.reserveBytes) return Status::ok();
    return {Code::kIo, "disk_full",
            "Only " + decimalSize(static_cast<double>(available)) + " are free at " +
                printable(m_copy.folder.string(), 300) + ", of which " +
                decimalSize(static_cast<double>(m_copy.reserveBytes)) +
                " are to stay free (--reserve). What is copied stays; free some space and run the same command again."};
  }

  Status sync() {
    if (::fdatasync(m_target.get()) != 0) return writeProblem(m_partial, errno);
    (void)::posix_fadvise(m_target.get(), 0, 0, POSIX_FADV_DONTNEED);
    return Status::ok();
  }

  Status readBack(const std::string& digest) const {
    COLIBRI_ASSIGN_OR_RETURN(const ShardFile written, ShardFile::open(m_partial));
    const auto pieceDone = [this](std::uint64_t bytes) { m_copy.pieceDone(bytes, true); };
    COLIBRI_ASSIGN_OR_RETURN(const std::string found, hashOnDrive(written, m_copy.cancellation, pieceDone));
    if (found == digest && written.size() == m_source.size()) return Status::ok();
    return {Code::kIo, "copy_differs",
            "What was written to " + printable(m_partial.string(), 300) +
                " reads back as something else: its drive or cable may be failing. Run the same command again; what "
                "differs is written anew."};
  }

  [[nodiscard]] Status checkNameIsFree() const {
    struct stat facts {};
    if (::lstat(m_final.c_str(), &facts) != 0) return Status::ok();
    return conflict(m_final, "it appeared while the shard was copied");
  }

  [[nodiscard]] Status giveName() const {
    COLIBRI_RETURN_IF_ERROR(checkNameIsFree());
    if (std::rename(m_partial.c_str(), m_final.c_str()) != 0) return writeProblem(m_final, errno);
    return syncFolder(m_copy.folder);
  }

  const ShardCopy& m_copy;
  std::filesystem::path m_partial;
  std::filesystem::path m_final;
  ShardFile m_source;
  MirrorDescriptor m_target;
  std::uint64_t m_have = 0;  // length of the partial copy that was there
  Sha256 m_hash;
};

}  // namespace

Result<std::string> hashOnDrive(const ShardFile& file, const Cancellation& cancellation,
                                const std::function<void(std::uint64_t)>& pieceDone) {
  std::vector<std::byte> buffer = pieceBuffer(file.size());
  Sha256 hash;
  file.forgetBefore(file.size());
  for (std::uint64_t at = 0; at < file.size(); at += kPiece) {
    if (cancellation.isCancelled()) return cancelled();
    const auto piece = std::span(buffer).first(static_cast<std::size_t>(std::min(kPiece, file.size() - at)));
    COLIBRI_RETURN_IF_ERROR(file.read(at, piece));
    hash.update(piece);
    file.forgetBefore(at + piece.size());
    pieceDone(piece.size());
  }
  return hash.finishHex();
}

Result<MirrorCopied> copyShard(const ShardCopy& copy, const std::function<Status(const MirrorCopied&)>& record) {
  return Copier(copy).run(record);
}

Result<MirrorCopied> compareShard(const ShardCopy& copy, const std::filesystem::path& present) {
  MirrorCopied done;
  done.name = copy.shard.name;
  done.copied = false;
  const auto pieceDone = [&](std::uint64_t bytes) { copy.pieceDone(bytes, true); };
  const auto digestOf = [&](const std::filesystem::path& path) -> Result<std::string> {
    COLIBRI_ASSIGN_OR_RETURN(const ShardFile file, ShardFile::open(path));
    done.bytes = file.size();
    auto digest = hashOnDrive(file, copy.cancellation, pieceDone);
    if (!digest && digest.status().code() == Code::kIo) return digest.status().within(path.string());
    return digest;
  };
  COLIBRI_ASSIGN_OR_RETURN(const std::string original, digestOf(copy.shard.path));
  COLIBRI_ASSIGN_OR_RETURN(done.sha256, digestOf(present));
  if (done.sha256 == original) return done;
  return conflict(present, "its content differs from the model's " + printable(copy.shard.name, 300));
}

}  // namespace colibri
