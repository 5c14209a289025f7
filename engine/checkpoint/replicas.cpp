#include "checkpoint/replicas.h"

#include "checkpoint/findings.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/shard_file.h"
#include "checkpoint/shard_scan.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::size_t kMaxNotices = 3;  // refused files of one mirror that are told one by one

/// Device and inode.
using FileKey = std::pair<std::uint64_t, std::uint64_t>;

std::optional<FileKey> keyOf(const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileKey{facts.st_dev, facts.st_ino};
}

ReplicaFile refused(std::string why) {
  ReplicaFile file;
  file.state = ReplicaState::kRefused;
  file.why = std::move(why);
  return file;
}

std::string withoutStop(std::string sentence) {
  while (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return sentence;
}

/// Empty when the first `bytes` bytes are equal, else what is wrong. kIo when the original cannot be read. Nothing in
/// the copy is ever taken for a size.
Result<std::string> compareHeaders(const ShardFile& original, const ShardFile& copy, std::uint64_t bytes,
                                   const std::string& name) {
  std::vector<std::byte> first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kPiece)));
  std::vector<std::byte> second(first.size());
  for (std::uint64_t at = 0; at < bytes; at += kPiece) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, bytes - at));
    if (const Status read = original.read(at, std::span(first).first(size)); !read.isOk()) return read.within(name);
    if (const Status read = copy.read(at, std::span(second).first(size)); !read.isOk()) {
      return withoutStop(read.message());
    }
    if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(size), second.begin())) {
      return std::string("its header differs from the original's");
    }
  }
  return std::string();
}

/// The disk of a partition, as a path under /sys; empty when there is none (network, tmpfs, several disks in one).
std::filesystem::path diskOf(std::uint64_t device) {
  std::error_code error;
  std::filesystem::path place = std::filesystem::canonical(
      "/sys/dev/block/" + std::to_string(major(device)) + ":" + std::to_string(minor(device)), error);
  if (error) return {};
  return std::filesystem::exists(place / "partition", error) ? place.parent_path() : place;
}

/// Sums up what was found in one mirror.
class MirrorSearch {
public:
  MirrorSearch(std::filesystem::path folder, std::uint32_t index, ReplicaSet& out)
      : m_folder(std::move(folder)), m_index(index), m_out(out) {}

  Status run(const ShardSet& shards, std::map<FileKey, std::uint32_t>& owners) {
    std::error_code error;
    if (!std::filesystem::is_directory(m_folder, error)) {
      return {Code::kUsage, "mirror_missing",
              "The mirror " + shown() + " is not a folder" + (error ? " (" + error.message() + ")" : std::string()) +
                  ". Connect its drive, or leave the mirror out."};
    }
    for (std::size_t i = 0; i < shards.shards().size(); ++i) {
      const Shard& shard = shards.shards()[i];
      COLIBRI_ASSIGN_OR_RETURN(ReplicaFile file, examineReplica(shard, m_folder));
      if (file.state == ReplicaState::kRefused) refuse(shard, file.why);
      if (file.state == ReplicaState::kAccepted) accept(i, std::move(file), owners);
    }
    if (m_accepted == 0) return empty(shards.shards().size());
    tell();
    return Status::ok();
  }

private:
  [[nodiscard]] std::string shown() const { return printable(m_folder.string(), 300); }

  void refuse(const Shard& shard, const std::string& why) {
    if (m_refused++ == 0) m_firstReason = printable(shard.name, 300) + ": " + why;
    if (m_refused <= kMaxNotices) {
      m_notices.push_back(printable(shard.name, 300) + " in the mirror " + shown() + " is not used: " + why + ".");
    }
  }

  void accept(std::size_t shard, ReplicaFile file, std::map<FileKey, std::uint32_t>& owners) {
    ++m_accepted;
    if (file.isOriginal) {
      ++m_originals;
    } else if (file.sharesDrive) {
      ++m_sameDrive;
    }
    if (const auto key = keyOf(file.path); key && !file.isOriginal) {
      const auto [owner, isNew] = owners.try_emplace(*key, m_index);
      if (!isNew) ++m_shared;
    }
    m_out.byShard[shard].push_back({std::move(file.path), m_index});
  }

  [[nodiscard]] Status empty(std::size_t shards) const {
    std::string message = "The mirror " + shown() + " holds no copy that can be used: ";
    if (m_refused == 0) {
      message += "none of the model's " + counted(shards, "shard") + " is there";
    } else {
      message += counted(m_refused, "file") + " of the right name " + (m_refused == 1 ? "was" : "were") +
                 " refused, the first of them " + m_firstReason;
    }
    return {Code::kUsage, "mirror_empty", message + ". Copy shards there with 'coli mirror stage', or leave it out."};
  }

  void tell() {
    auto& notices = m_out.notices;
    notices.insert(notices.end(), m_notices.begin(), m_notices.end());
    if (m_refused > kMaxNotices) {
      notices.push_back(counted(m_refused - kMaxNotices, "further file") + " in the mirror " + shown() +
                        (m_refused - kMaxNotices == 1 ? " is" : " are") + " not used for differing from the original.");
    }
    if (m_originals > 0) {
      notices.push_back(std::to_string(m_originals) + " of " + counted(m_accepted, "file") + " in the mirror " +
                        shown() + (m_originals == 1 ? " is" : " are") +
                        " the model's own, not a copy: reading there gains nothing.");
    }
    if (m_sameDrive > 0) {
      notices.push_back(std::to_string(m_sameDrive) + " of " + counted(m_accepted, "file") + " in the mirror " +
                        shown() + (m_sameDrive == 1 ? " lies" : " lie") +
                        " on the same drive as the original: two copies on one drive are not read faster than one.");
    }
    if (m_shared > 0) {
      notices.push_back(std::to_string(m_shared) + " of " + counted(m_accepted, "file") + " in the mirror " + shown() +
                        (m_shared == 1 ? " is" : " are") + " in another mirror too, as the same file.");
    }
  }

  std::filesystem::path m_folder;
  std::uint32_t m_index;
  ReplicaSet& m_out;
  std::vector<std::string> m_notices;
  std::string m_firstReason;
  std::size_t m_accepted = 0;
  std::size_t m_refused = 0;
  std::size_t m_originals = 0;
  std::size_t m_sameDrive = 0;
  std::size_t m_shared = 0;
};

}  // namespace

bool isSameDrive(std::uint64_t a, std::uint64_t b) {
  if (a == b) return true;
  const std::filesystem::path disk = diskOf(a);
  return !disk.empty() && disk == diskOf(b);
}

Result<ReplicaFile> examineReplica(const Shard& shard, const std::filesystem::path& folder) {
  std::error_code error;
  const auto link = std::filesystem::symlink_status(folder / shard.name, error);
  if (link.type() == std::filesystem::file_type::not_found) return ReplicaFile{};
  if (error) return refused("it cannot be looked at: " + error.message());

  COLIBRI_ASSIGN_OR_RETURN(const ShardFile original, ShardFile::open(shard.path));
  const auto originalKey = keyOf(shard.path);
  const auto entryKey = keyOf(folder / shard.name);
  ReplicaFile file;
  file.isOriginal = originalKey && entryKey && *originalKey == *entryKey;
  if (file.isOriginal) {
    file.path = std::filesystem::canonical(folder / shard.name, error);
    if (error) return refused("it cannot be looked at: " + error.message());
  } else {
    std::string why;
    file.path = locateShard(folder, {}, shard.name, why).path;
    const std::string shown = printable(shard.name, 300);
    if (file.path.empty()) return refused(why.starts_with(shown) ? "it" + why.substr(shown.size()) : why);
  }
  const auto copy = ShardFile::open(file.path);
  if (!copy) return refused(withoutStop(copy.status().message()));
  if (copy->size() != shard.fileBytes) {
    return refused("it has " + counted(copy->size(), "byte") + ", the original " + std::to_string(shard.fileBytes));
  }
  COLIBRI_ASSIGN_OR_RETURN(const std::string difference,
                           compareHeaders(original, *copy, shard.headerBytes, shard.name));
  if (!difference.empty()) return refused(difference);
  file.state = ReplicaState::kAccepted;
  file.sharesDrive = originalKey && entryKey && isSameDrive(originalKey->first, entryKey->first);
  return file;
}

Result<ReplicaSet> findReplicas(const ShardSet& shards, std::span<const std::filesystem::path> mirrors) {
  ReplicaSet set;
  set.byShard.resize(shards.shards().size());
  std::map<FileKey, std::uint32_t> owners;
  for (std::size_t i = 0; i < mirrors.size(); ++i) {
    COLIBRI_RETURN_IF_ERROR(MirrorSearch(mirrors[i], static_cast<std::uint32_t>(i), set).run(shards, owners));
  }
  return set;
}

}  // namespace colibri
