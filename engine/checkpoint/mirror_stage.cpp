#include "base/units.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/mirror_copy.h"
#include "checkpoint/mirror_plan.h"
#include "checkpoint/mirror_receipt.h"
#include "checkpoint/mirror_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

class Stage {
public:
  Stage(const MirrorSystem& system, MirrorSource& source, const MirrorOptions& options, const MirrorEvents& events,
        const Cancellation& cancellation)
      : m_system(system), m_source(source), m_options(options), m_events(events), m_cancellation(cancellation) {}

  Result<MirrorStaged> run() {
    const auto start = std::chrono::steady_clock::now();
    MirrorDescriptor lock;
    if (m_source.folderExists) {
      COLIBRI_ASSIGN_OR_RETURN(lock, lockFolder(m_source.folder));
    }
    COLIBRI_ASSIGN_OR_RETURN(auto known, loadReceipt(m_source.folder));
    if (known) COLIBRI_RETURN_IF_ERROR(requireSameModel(m_source, *known));
    COLIBRI_ASSIGN_OR_RETURN(m_plan, planOf(m_system, m_source, known, m_options));
    if (m_events.planned) m_events.planned(m_plan);
    if (known) m_receipt = std::move(*known);
    m_receipt.modelId = m_source.modelId;
    m_receipt.modelName = m_source.model.filename().string();
    COLIBRI_RETURN_IF_ERROR(checkPlan());
    if (!m_source.folderExists) {
      COLIBRI_ASSIGN_OR_RETURN(lock, createFolder());
    }
    COLIBRI_RETURN_IF_ERROR(work());
    m_staged.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(m_staged);
  }

private:
  [[nodiscard]] std::string shownFolder() const { return printable(m_source.folder.string(), 300); }

  [[nodiscard]] Status checkPlan() const {
    bool noRoom = false;
    bool useful = false;
    for (const MirrorShard& shard : m_plan.shards) {
      if (shard.state == MirrorState::kConflict) {
        return {Code::kUsage, "mirror_conflict",
                printable((m_source.folder / shard.name).string(), 300) + " is in the way: " + shard.note +
                    ". It is left as it is; move or delete it, then run the same command again."};
      }
      useful = useful || shard.state == MirrorState::kPlanned || shard.state == MirrorState::kPresent;
      noRoom = noRoom || shard.state == MirrorState::kNoRoom;
    }
    if (noRoom && (!useful || !m_options.shards.empty())) return noRoomStatus();
    if (useful) return Status::ok();
    return {Code::kUsage, "mirror_useless",
            "No shard of this model holds routed experts, so no copy would ever be read. Name shards to copy them "
            "anyway."};
  }

  [[nodiscard]] Status noRoomStatus() const {
    std::uint64_t needed = 0;
    for (const MirrorShard& shard : m_plan.shards) {
      const bool wanted = shard.state == MirrorState::kNoRoom || shard.state == MirrorState::kPlanned;
      if (wanted) needed += shard.bytes - shard.partialBytes;
    }
    const auto words = [](std::uint64_t bytes) { return decimalSize(static_cast<double>(bytes)); };
    return {Code::kIo, "disk_full",
            "There is no room for the copies: they take " + words(needed) + ", " + words(m_plan.freeBytes) +
                " are free at " + shownFolder() + ", of which " + words(m_plan.reserveBytes) + " are to stay free" +
                (m_options.maxBytes ? ", and at most " + words(*m_options.maxBytes) + " are asked for" : "") +
                ". Free some space, choose fewer shards or lower --reserve."};
  }

  Result<MirrorDescriptor> createFolder() {
    std::error_code error;
    std::filesystem::create_directories(m_source.folder, error);
    if (error) {
      return Status(Code::kIo, "write_failed", shownFolder() + " cannot be created: " + error.message() + ".");
    }
    m_source.folderExists = true;
    return lockFolder(m_source.folder);
  }

  Status work() {
    for (const MirrorShard& shard : m_plan.shards) {
      if (shard.state == MirrorState::kPlanned || needsCompare(shard)) m_totalBytes += 2 * shard.bytes;
    }
    for (const MirrorShard& shard : m_plan.shards) {
      if (m_cancellation.isCancelled()) {
        return {Code::kCancelled, "cancelled", "Stopped. What is copied stays; run the same command again to go on."};
      }
      if (shard.state == MirrorState::kPlanned) {
        COLIBRI_RETURN_IF_ERROR(copy(shard));
      } else if (needsCompare(shard)) {
        COLIBRI_RETURN_IF_ERROR(compare(shard));
      }
    }
    return Status::ok();
  }

  [[nodiscard]] const Shard& original(const MirrorShard& shard) const {
    return m_source.shards->shards()[m_source.indexOf(shard.name).value_or(0)];
  }

  /// A copy that is there and that the receipt does not vouch for, at least not as a copy of the original as it is now.
  [[nodiscard]] bool needsCompare(const MirrorShard& shard) const {
    if (shard.state != MirrorState::kPresent) return false;
    const ReceiptEntry* entry = m_receipt.find(shard.name);
    return entry == nullptr || entry->bytes != shard.bytes ||
           entry->sourceModified != modifiedNanoseconds(original(shard).path);
  }

  Status copy(const MirrorShard& shard) {
    const std::filesystem::path partial = m_source.folder / partialName(shard.name);
    std::error_code error;
    const auto present = std::filesystem::symlink_status(partial, error);
    const bool onRecord = m_receipt.hasPartial(shard.name) || m_receipt.find(shard.name) != nullptr;
    const bool ours = onRecord || !std::filesystem::exists(present);
    // On record before the file appears: whatever an interrupted call leaves is known as ours.
    if (ours && !m_receipt.hasPartial(shard.name)) {
      m_receipt.enterPartial(shard.name);
      COLIBRI_RETURN_IF_ERROR(saveReceipt(m_source.folder, m_receipt));
    }
    const std::int64_t modified = modifiedNanoseconds(original(shard).path);
    const auto record = [&](const MirrorCopied& done) { return enter(done, modified); };
    COLIBRI_ASSIGN_OR_RETURN(const MirrorCopied done, copyShard(request(shard, ours), record));
    m_staged.copiedBytes += done.bytes - done.resumedBytes;
    tell(done);
    return Status::ok();
  }

  Status compare(const MirrorShard& shard) {
    const ReceiptEntry* entry = m_receipt.find(shard.name);
    const bool copied = entry != nullptr && entry->copied;
    const std::int64_t modified = modifiedNanoseconds(original(shard).path);
    COLIBRI_ASSIGN_OR_RETURN(MirrorCopied done, compareShard(request(shard, true), m_source.folder / shard.name));
    done.copied = copied;
    COLIBRI_RETURN_IF_ERROR(enter(done, modified));
    tell(done);
    return Status::ok();
  }

  ShardCopy request(const MirrorShard& shard, bool ours) {
    return {m_system,
            original(shard),
            m_source.folder,
            m_options.reserveBytes,
            ours,
            m_cancellation,
            [this, name = shard.name](std::uint64_t bytes, bool checking) {
              m_doneBytes += bytes;
              if (m_events.progress) m_events.progress({name, checking, m_doneBytes, m_totalBytes});
            }};
  }

  Status enter(const MirrorCopied& done, std::int64_t modified) {
    m_receipt.enter({done.name, done.bytes, done.sha256, modified, receiptDate(), done.copied});
    return saveReceipt(m_source.folder, m_receipt);
  }

  void tell(const MirrorCopied& done) {
    if (m_events.copied) m_events.copied(done);
    m_staged.shards.push_back(done);
  }

  const MirrorSystem& m_system;
  MirrorSource& m_source;
  const MirrorOptions& m_options;
  const MirrorEvents& m_events;
  const Cancellation& m_cancellation;
  MirrorPlan m_plan;
  MirrorReceipt m_receipt;
  MirrorStaged m_staged;
  std::uint64_t m_doneBytes = 0;
  std::uint64_t m_totalBytes = 0;
};

}  // namespace

Result<MirrorStaged> stageThrough(const MirrorSystem& system, const std::filesystem::path& model,
                                  const std::filesystem::path& folder, const MirrorOptions& options,
                                  const MirrorEvents& events, const Cancellation& cancellation) {
  COLIBRI_ASSIGN_OR_RETURN(MirrorSource source, openMirrorSource(model, folder, options.shardDirs));
  return Stage(system, source, options, events, cancellation).run();
}

Result<MirrorStaged> stageMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                 const MirrorOptions& options, const MirrorEvents& events,
                                 const Cancellation& cancellation) {
  return stageThrough(MirrorSystem::real(), model, folder, options, events, cancellation);
}

}  // namespace colibri
