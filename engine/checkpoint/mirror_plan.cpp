#include "checkpoint/mirror_plan.h"

#include "base/units.h"
#include "checkpoint/findings.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/replicas.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace colibri {
namespace {

std::string size(std::uint64_t bytes) {
  return decimalSize(static_cast<double>(bytes));
}

class Planner {
public:
  Planner(const MirrorSystem& system, const MirrorSource& source, const std::optional<MirrorReceipt>& receipt,
          const MirrorOptions& options)
      : m_system(system), m_source(source), m_receipt(receipt), m_options(options) {}

  Result<MirrorPlan> run() {
    m_plan.model = m_source.model;
    m_plan.folder = m_source.folder;
    m_plan.modelId = m_source.modelId;
    m_plan.reserveBytes = m_options.reserveBytes;
    COLIBRI_ASSIGN_OR_RETURN(m_plan.freeBytes, m_system.freeBytes(m_source.existing));
    COLIBRI_RETURN_IF_ERROR(readChoice());
    COLIBRI_RETURN_IF_ERROR(examine());
    choose();
    sumUp();
    warn();
    return std::move(m_plan);
  }

private:
  [[nodiscard]] std::string shownFolder() const { return printable(m_source.folder.string(), 300); }

  Status readChoice() {
    const auto& shards = m_source.shards->shards();
    for (const std::string& item : m_options.shards) {
      if (m_source.indexOf(item)) {
        m_chosen.insert(item);
        continue;
      }
      std::size_t first = 0;
      std::size_t last = 0;
      if (!readRange(item, first, last) || first == 0 || first > last || last > shards.size()) {
        return {Code::kUsage, "unknown_shard",
                inQuotes(item) + " names none of the model's " + counted(shards.size(), "shard") +
                    ". Give file names, or numbers and ranges such as 1-12."};
      }
      for (std::size_t i = first; i <= last; ++i) m_chosen.insert(shards[i - 1].name);
    }
    return Status::ok();
  }

  /// "7" or "3-12".
  static bool readRange(std::string_view text, std::size_t& first, std::size_t& last) {
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, first);
    last = first;
    if (error != std::errc() || at == end) return error == std::errc();
    if (*at != '-') return false;
    const auto [rest, badLast] = std::from_chars(at + 1, end, last);
    return badLast == std::errc() && rest == end;
  }

  Status examine() {
    const auto& shards = m_source.shards->shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      MirrorShard shard;
      shard.name = shards[i].name;
      shard.bytes = shards[i].fileBytes;
      shard.expertBytes = m_source.expertBytes[i];
      if (m_source.folderExists) {
        COLIBRI_ASSIGN_OR_RETURN(const ReplicaFile file, examineReplica(shards[i], m_source.folder));
        if (file.state == ReplicaState::kAccepted) shard.state = MirrorState::kPresent;
        if (file.state == ReplicaState::kRefused) {
          shard.state = MirrorState::kConflict;
          shard.note = file.why;
        }
        if (file.state == ReplicaState::kAbsent) shard.partialBytes = partialBytes(shard);
      }
      m_plan.shards.push_back(std::move(shard));
    }
    std::sort(m_plan.shards.begin(), m_plan.shards.end(), [](const MirrorShard& a, const MirrorShard& b) {
      return a.expertBytes != b.expertBytes ? a.expertBytes > b.expertBytes : a.name < b.name;
    });
    return Status::ok();
  }

  [[nodiscard]] std::uint64_t partialBytes(const MirrorShard& shard) const {
    struct stat facts {};
    const std::filesystem::path path = m_source.folder / partialName(shard.name);
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return 0;
    return std::min<std::uint64_t>(static_cast<std::uint64_t>(facts.st_size), shard.bytes);
  }

  void choose() {
    for (const MirrorShard& shard : m_plan.shards) {
      if (shard.state == MirrorState::kPresent) m_plan.presentBytes += shard.bytes;
    }
    std::uint64_t room = m_plan.freeBytes - std::min(m_plan.freeBytes, m_options.reserveBytes);
    std::uint64_t allowed = UINT64_MAX;
    if (m_options.maxBytes) allowed = *m_options.maxBytes - std::min(*m_options.maxBytes, m_plan.presentBytes);
    for (MirrorShard& shard : m_plan.shards) {
      if (shard.state != MirrorState::kPlanned) continue;
      const std::uint64_t toWrite = shard.bytes - shard.partialBytes;
      if (!m_chosen.empty() && m_chosen.count(shard.name) == 0) {
        shard.state = MirrorState::kNotChosen;
      } else if (m_chosen.empty() && shard.expertBytes == 0) {
        shard.state = MirrorState::kNoExperts;
      } else if (toWrite > room || shard.bytes > allowed) {
        shard.state = MirrorState::kNoRoom;
        m_missingBytes += shard.bytes;
        ++m_missing;
      } else {
        room -= toWrite;
        allowed -= shard.bytes;
        m_plan.copyBytes += toWrite;
      }
    }
  }

  void sumUp() {
    for (const MirrorShard& shard : m_plan.shards) {
      m_plan.expertBytes += shard.expertBytes;
      if (shard.state == MirrorState::kPresent || shard.state == MirrorState::kPlanned) {
        m_plan.coveredExpertBytes += shard.expertBytes;
      }
    }
    const std::size_t shared = sharedDrive();
    if (shared == m_plan.shards.size()) m_plan.rateGain = 1;  // one drive has one rate, however many copies it holds
    if (!m_options.modelBytesPerSecond || !m_options.mirrorBytesPerSecond || m_plan.expertBytes == 0) return;
    if (shared > 0) return;
    const double covered = static_cast<double>(m_plan.coveredExpertBytes) / static_cast<double>(m_plan.expertBytes);
    m_plan.rateGain = mirrorRateGain(*m_options.modelBytesPerSecond, *m_options.mirrorBytesPerSecond, covered);
  }

  /// How many of the model's shards are on the mirror's drive.
  [[nodiscard]] std::size_t sharedDrive() const {
    struct stat folder {};
    if (::stat(m_source.existing.c_str(), &folder) != 0) return 0;
    std::size_t count = 0;
    for (const Shard& shard : m_source.shards->shards()) {
      struct stat facts {};
      if (::stat(shard.path.c_str(), &facts) == 0 && isSameDrive(facts.st_dev, folder.st_dev)) ++count;
    }
    return count;
  }

  void warn() {
    auto& warnings = m_plan.warnings;
    if (const std::size_t shared = sharedDrive(); shared > 0) {
      warnings.push_back(
          shownFolder() + " is on the same drive as " +
          (shared == m_plan.shards.size() ? std::string("the model") : counted(shared, "shard") + " of the model") +
          ": two copies on one drive are not read faster than one.");
    }
    struct statfs facts {};
    if (::statfs(m_source.existing.c_str(), &facts) == 0 &&
        (facts.f_type == TMPFS_MAGIC || facts.f_type == RAMFS_MAGIC)) {
      warnings.push_back(shownFolder() + " is in memory: its copies take " +
                         binarySize(m_plan.copyBytes + m_plan.presentBytes) +
                         " of RAM and are gone after a restart. --preload on fills the expert cache without them.");
    }
    if (::access(m_source.existing.c_str(), W_OK | X_OK) != 0) {
      warnings.push_back(printable(m_source.existing.string(), 300) +
                         " cannot be written by you, so nothing can be copied there.");
    }
    for (const MirrorShard& shard : m_plan.shards) {
      if (shard.state != MirrorState::kConflict) continue;
      warnings.push_back(printable(shard.name, 300) + " in " + shownFolder() + " is no copy of the model's (" +
                         shard.note + ") and is not overwritten.");
    }
    if (m_missing > 0) {
      warnings.push_back(counted(m_missing, "shard") + " (" + size(m_missingBytes) + ") " +
                         (m_missing == 1 ? "does" : "do") + " not fit: " + size(m_plan.freeBytes) + " are free at " +
                         shownFolder() + ", " + size(m_options.reserveBytes) + " stay free" +
                         (m_options.maxBytes ? ", and at most " + size(*m_options.maxBytes) + " are asked for" : "") +
                         ".");
    }
    warnUnlisted();
  }

  void warnUnlisted() {
    std::size_t unlisted = 0;
    for (const MirrorShard& shard : m_plan.shards) {
      const bool listed = m_receipt && m_receipt->find(shard.name) != nullptr;
      if (shard.state == MirrorState::kPresent && !listed) ++unlisted;
    }
    if (unlisted == 0) return;
    m_plan.warnings.push_back(counted(unlisted, "file") + " in " + shownFolder() + (unlisted == 1 ? " has" : " have") +
                              " no entry in a receipt; 'coli mirror stage' compares them with the model.");
  }

  const MirrorSystem& m_system;
  const MirrorSource& m_source;
  const std::optional<MirrorReceipt>& m_receipt;
  const MirrorOptions& m_options;
  std::set<std::string> m_chosen;
  std::uint64_t m_missingBytes = 0;
  std::size_t m_missing = 0;
  MirrorPlan m_plan;
};

}  // namespace

const char* mirrorStateName(MirrorState state) {
  switch (state) {
    case MirrorState::kPresent:
      return "present";
    case MirrorState::kPlanned:
      return "planned";
    case MirrorState::kNoRoom:
      return "no_room";
    case MirrorState::kNoExperts:
      return "no_experts";
    case MirrorState::kNotChosen:
      return "not_chosen";
    case MirrorState::kConflict:
      break;
  }
  return "conflict";
}

double mirrorRateGain(double modelBytesPerSecond, double mirrorBytesPerSecond, double covered) {
  const double balanced = mirrorBytesPerSecond / (modelBytesPerSecond + mirrorBytesPerSecond);
  return 1 / (1 - std::min(balanced, covered));
}

Result<MirrorPlan> planOf(const MirrorSystem& system, const MirrorSource& source,
                          const std::optional<MirrorReceipt>& receipt, const MirrorOptions& options) {
  return Planner(system, source, receipt, options).run();
}

Result<MirrorPlan> planMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                              const MirrorOptions& options) {
  COLIBRI_ASSIGN_OR_RETURN(const MirrorSource source, openMirrorSource(model, folder, options.shardDirs));
  auto receipt = loadReceipt(source.folder);
  if (!receipt && receipt.status().code() != Code::kCheckpoint) return receipt.status();
  const std::optional<MirrorReceipt> known = receipt ? std::move(*receipt) : std::nullopt;
  if (known) COLIBRI_RETURN_IF_ERROR(requireSameModel(source, *known));
  COLIBRI_ASSIGN_OR_RETURN(MirrorPlan plan, planOf(MirrorSystem::real(), source, known, options));
  if (!receipt) plan.warnings.push_back(receipt.status().message());
  return plan;
}

}  // namespace colibri
