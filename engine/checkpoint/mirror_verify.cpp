#include "checkpoint/finding_reporter.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/mirror_copy.h"
#include "checkpoint/mirror_receipt.h"
#include "checkpoint/mirror_source.h"
#include "checkpoint/replicas.h"
#include <colibri/mirror.h>

#include <chrono>
#include <system_error>
#include <utility>

namespace colibri {
namespace {

constexpr const char* kCopyAgain = "Delete the file and run 'coli mirror stage' again.";

class MirrorCheck {
public:
  MirrorCheck(const MirrorSource& source, const MirrorVerifyOptions& options, FindingReporter& reporter)
      : m_source(source), m_options(options), m_reporter(reporter) {}

  Status run(MirrorVerified& out) {
    COLIBRI_RETURN_IF_ERROR(readReceipt());
    COLIBRI_RETURN_IF_ERROR(lookAtFiles());
    for (const auto& [shard, path] : m_present) {
      COLIBRI_RETURN_IF_ERROR(readCopy(m_source.shards->shards()[shard], path));
    }
    if (!m_hasReceipt) reportNoReceipt();
    out.copies = m_copies;
    out.bytes = m_bytes;
    return Status::ok();
  }

private:
  Status readReceipt() {
    auto loaded = loadReceipt(m_source.folder);
    if (!loaded) {
      if (loaded.status().code() != Code::kCheckpoint) return loaded.status();
      m_hasReceipt = true;  // there is one, only of no use
      m_reporter.report(makeFinding("receipt_damaged", kReceiptName, {}, loaded.status().message()));
      return Status::ok();
    }
    if (!*loaded) return Status::ok();
    m_hasReceipt = true;
    if (const Status same = requireSameModel(m_source, **loaded); !same.isOk()) {
      m_reporter.report(makeFinding("receipt_other_model", kReceiptName, {}, same.message()));
      return Status::ok();
    }
    m_receipt = std::move(**loaded);
    return Status::ok();
  }

  Status lookAtFiles() {
    const auto& shards = m_source.shards->shards();
    for (std::size_t i = 0; i < shards.size(); ++i) {
      const std::string& name = shards[i].name;
      COLIBRI_ASSIGN_OR_RETURN(ReplicaFile file, examineReplica(shards[i], m_source.folder));
      if (file.state == ReplicaState::kAbsent && m_receipt.find(name) != nullptr) {
        m_reporter.report(makeFinding("replica_missing", name, {},
                                      printable(name, 300) + " is in the receipt, but not there any more.",
                                      "Run 'coli mirror stage' again."));
      } else if (file.state == ReplicaState::kRefused) {
        m_reporter.report(makeFinding("replica_refused", name, {},
                                      printable(name, 300) + " is not used as a copy: " + file.why + ".", kCopyAgain));
      } else if (file.state == ReplicaState::kAccepted) {
        m_totalBytes += shards[i].fileBytes * (m_options.source ? 2 : 1);
        m_present.emplace_back(i, std::move(file.path));
      }
      std::error_code error;
      const std::string partial = partialName(name);
      if (std::filesystem::exists(std::filesystem::symlink_status(m_source.folder / partial, error))) {
        m_reporter.report(makeWarning("leftover_partial", partial, {},
                                      printable(partial, 300) + " is a copy that was not finished.",
                                      "Run 'coli mirror stage' again to finish it."));
      }
    }
    for (const ReceiptEntry& entry : m_receipt.entries) {
      if (m_source.indexOf(entry.name)) continue;
      m_reporter.report(makeFinding("replica_refused", entry.name, {},
                                    printable(entry.name, 300) + " is in the receipt, but no shard of this model."));
    }
    return Status::ok();
  }

  /// Empty when the file cannot be read, which is reported.
  Result<std::string> digestOf(const std::string& name, const std::filesystem::path& path, bool isCopy) {
    const auto file = ShardFile::open(path);
    Status problem = file.status();
    if (file) {
      auto digest = hashOnDrive(*file, m_options.cancellation, [&](std::uint64_t bytes) {
        m_doneBytes += bytes;
        if (m_options.progress) m_options.progress({name, true, m_doneBytes, m_totalBytes});
      });
      if (digest) {
        if (isCopy) {
          ++m_copies;
          m_bytes += file->size();
        }
        return digest;
      }
      problem = digest.status();
    }
    if (problem.code() == Code::kCancelled) return problem;
    m_reporter.report(makeFinding("replica_unread", name, {},
                                  printable(name, 300) + (isCopy ? " (the copy)" : " (the original)") +
                                      " cannot be read to its end: " + problem.message(),
                                  "Its drive may be failing; look at the system's log."));
    return std::string();
  }

  Status readCopy(const Shard& shard, const std::filesystem::path& path) {
    COLIBRI_ASSIGN_OR_RETURN(const std::string copy, digestOf(shard.name, path, true));
    if (copy.empty()) return Status::ok();
    const std::string shown = printable(shard.name, 300);
    const ReceiptEntry* entry = m_receipt.find(shard.name);
    if (entry != nullptr && entry->sha256 != copy) {
      m_reporter.report(makeFinding("hash_mismatch", shard.name, {},
                                    shown + " has SHA-256 " + copy + "; the receipt says " + entry->sha256 + ".",
                                    kCopyAgain));
    }
    if (m_options.source) return compareWithOriginal(shard, copy);
    if (entry == nullptr) {
      m_reporter.report(makeFinding("replica_unlisted", shard.name, {},
                                    shown + " has no entry in the receipt, so its content is not vouched for.",
                                    "Compare it with the model by --source, or run 'coli mirror stage'."));
    } else if (entry->sourceModified != modifiedNanoseconds(shard.path)) {
      m_reporter.report(makeWarning("source_changed", shard.name, {},
                                    shown + " of the model has another time than when it was copied.",
                                    "Compare it with the model by --source, or run 'coli mirror stage'."));
    }
    return Status::ok();
  }

  Status compareWithOriginal(const Shard& shard, const std::string& copy) {
    COLIBRI_ASSIGN_OR_RETURN(const std::string original, digestOf(shard.name, shard.path, false));
    if (original.empty() || original == copy) return Status::ok();
    const ReceiptEntry* entry = m_receipt.find(shard.name);
    const std::string shown = printable(shard.name, 300);
    if (entry != nullptr && entry->sha256 == copy) {
      m_reporter.report(makeFinding(
          "source_changed", shard.name, {},
          shown + " of the model has SHA-256 " + original + "; when it was copied it was " + entry->sha256 + ".",
          "Check the model with 'coli verify --level full'; delete the copy if the model is "
          "right."));
    } else {
      m_reporter.report(makeFinding("hash_mismatch", shard.name, {},
                                    shown + " has SHA-256 " + copy + ", the model's " + original + ".", kCopyAgain));
    }
    return Status::ok();
  }

  void reportNoReceipt() {
    const std::string what = printable(m_source.folder.string(), 300) + " has no " + std::string(kReceiptName);
    if (m_present.empty()) {
      m_reporter.report(makeFinding("receipt_missing", kReceiptName, {}, what + " and no copy of this model.",
                                    "Make copies with 'coli mirror stage'."));
    } else {
      m_reporter.report(makeWarning("receipt_missing", kReceiptName, {}, what + ".",
                                    "'coli mirror stage' compares the files with the model and writes one."));
    }
  }

  const MirrorSource& m_source;
  const MirrorVerifyOptions& m_options;
  FindingReporter& m_reporter;
  MirrorReceipt m_receipt;
  bool m_hasReceipt = false;
  std::vector<std::pair<std::size_t, std::filesystem::path>> m_present;
  std::uint64_t m_doneBytes = 0;
  std::uint64_t m_totalBytes = 0;
  std::uint64_t m_copies = 0;
  std::uint64_t m_bytes = 0;
};

}  // namespace

Result<MirrorVerified> verifyMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                    const MirrorVerifyOptions& options,
                                    const std::function<void(const Finding&)>& onFinding) {
  const auto start = std::chrono::steady_clock::now();
  COLIBRI_ASSIGN_OR_RETURN(const MirrorSource source, openMirrorSource(model, folder, options.shardDirs));
  COLIBRI_RETURN_IF_ERROR(requireMirrorFolder(source));
  FindingReporter reporter(onFinding);
  MirrorVerified result;
  COLIBRI_RETURN_IF_ERROR(MirrorCheck(source, options, reporter).run(result));
  reporter.finish();
  result.errors = reporter.errors();
  result.warnings = reporter.warnings();
  result.ok = result.errors == 0;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace colibri
