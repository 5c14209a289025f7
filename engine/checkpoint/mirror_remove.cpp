#include "checkpoint/json_cursor.h"
#include "checkpoint/mirror_file.h"
#include "checkpoint/mirror_receipt.h"
#include "checkpoint/mirror_source.h"
#include <colibri/mirror.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace colibri {
namespace {

class Removal {
public:
  Removal(const MirrorSource& source, MirrorReceipt receipt) : m_source(source), m_receipt(std::move(receipt)) {}

  Result<MirrorRemoved> run() {
    std::string failed;
    for (const ReceiptEntry& entry : MirrorReceipt(m_receipt).entries) {
      if (entry.copied) {
        // Under its partial name when only the last step, the renaming, is missing.
        remove(entry.name, partialName(entry.name), failed);
        remove(entry.name, entry.name, failed);
      } else {
        keep(entry.name, "was there before the first copy");
      }
    }
    for (const std::string& shard : MirrorReceipt(m_receipt).partials) remove(shard, partialName(shard), failed);
    if (!failed.empty()) {
      COLIBRI_RETURN_IF_ERROR(saveReceipt(m_source.folder, m_receipt));
      return Status(Code::kIo, "remove_failed", failed + ". The receipt names what is left; run this again.");
    }
    return finish();
  }

private:
  void keep(const std::string& name, const std::string& why) {
    m_removed.kept.push_back(printable(name, 300) + " " + why + " and stays.");
  }

  void remove(const std::string& shard, const std::string& name, std::string& failed) {
    const std::filesystem::path path = m_source.folder / name;
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0) {
      if (errno != ENOENT) failed = printable(path.string(), 300) + " cannot be looked at: " + std::strerror(errno);
      return;
    }
    if (!S_ISREG(facts.st_mode)) return keep(name, "is no regular file any more");
    if (isLastNameOfOriginal(facts)) return keep(name, "is the model's own file");
    if (::unlink(path.c_str()) != 0) {
      failed = printable(path.string(), 300) + " cannot be deleted: " + std::strerror(errno);
      return;
    }
    if (facts.st_nlink == 1) m_removed.freedBytes += static_cast<std::uint64_t>(facts.st_size);
    m_removed.removed.push_back(name);
    if (name != partialName(shard) || m_receipt.hasPartial(shard)) m_receipt.forget(shard);
  }

  /// Seen through a second mount, a model's file may stand where a copy was.
  [[nodiscard]] bool isLastNameOfOriginal(const struct stat& facts) const {
    if (facts.st_nlink > 1) return false;
    for (const Shard& shard : m_source.shards->shards()) {
      struct stat original {};
      if (::stat(shard.path.c_str(), &original) == 0 && original.st_dev == facts.st_dev &&
          original.st_ino == facts.st_ino) {
        return true;
      }
    }
    return false;
  }

  Result<MirrorRemoved> finish() {
    const std::filesystem::path receipt = m_source.folder / kReceiptName;
    if (::unlink(receipt.c_str()) != 0 && errno != ENOENT) {
      return Status(Code::kIo, "remove_failed",
                    printable(receipt.string(), 300) + " cannot be deleted: " + std::strerror(errno) + ".");
    }
    COLIBRI_RETURN_IF_ERROR(syncFolder(m_source.folder));
    return std::move(m_removed);
  }

  const MirrorSource& m_source;
  MirrorReceipt m_receipt;
  MirrorRemoved m_removed;
};

}  // namespace

Result<MirrorRemoved> removeMirror(const std::filesystem::path& model, const std::filesystem::path& folder,
                                   const std::vector<std::filesystem::path>& shardDirs) {
  COLIBRI_ASSIGN_OR_RETURN(const MirrorSource source, openMirrorSource(model, folder, shardDirs));
  COLIBRI_RETURN_IF_ERROR(requireMirrorFolder(source));
  COLIBRI_ASSIGN_OR_RETURN(const MirrorDescriptor lock, lockFolder(source.folder));
  COLIBRI_ASSIGN_OR_RETURN(auto receipt, loadReceipt(source.folder));
  if (!receipt) {
    return Status(Code::kUsage, "mirror_no_receipt",
                  printable(source.folder.string(), 300) + " has no " + std::string(kReceiptName) +
                      ", so nothing there is known to be a copy made by Colibri. Delete files there by hand.");
  }
  COLIBRI_RETURN_IF_ERROR(requireSameModel(source, *receipt));
  return Removal(source, std::move(*receipt)).run();
}

}  // namespace colibri
