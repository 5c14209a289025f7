#include "checkpoint/mirror_source.h"

#include "checkpoint/expected_tensors.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/model_id.h"
#include "checkpoint/shard_scan.h"

#include <sys/stat.h>

#include <set>
#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

std::string shown(const fs::path& path) {
  return printable(path.string(), 300);
}

/// Every folder that must not be written to. A shard lies nowhere else (see locateShard()).
std::set<fs::path> modelFolders(const MirrorSource& source, std::span<const fs::path> shardDirs) {
  std::set<fs::path> folders{source.model, linkRoot(source.model)};
  for (const fs::path& dir : shardDirs) folders.insert(linkRoot(dir));
  return folders;
}

Status checkPlace(const MirrorSource& source, std::span<const fs::path> shardDirs) {
  const auto bad = [&](const std::string& why) {
    return Status(Code::kUsage, "bad_mirror_folder",
                  shown(source.folder) + " cannot hold copies: " + why + ". Choose a folder on another drive.");
  };
  std::error_code error;
  if (!fs::is_directory(source.existing, error)) return bad(shown(source.existing) + " is not a folder");
  // Parents are compared as files, not as text, so that no link or second mount leads into the model's folder.
  const std::set<fs::path> folders = modelFolders(source, shardDirs);
  for (fs::path place = source.existing;; place = place.parent_path()) {
    for (const fs::path& folder : folders) {
      if (!fs::equivalent(place, folder, error) || error) continue;
      const bool same = place == source.folder;
      return bad(same ? "it is the model's own folder" : "it lies inside the model's folder " + shown(folder));
    }
    if (place == place.parent_path()) break;
  }
  return Status::ok();
}

}  // namespace

std::optional<std::size_t> MirrorSource::indexOf(std::string_view name) const {
  for (std::size_t i = 0; i < shards->shards().size(); ++i) {
    if (shards->shards()[i].name == name) return i;
  }
  return std::nullopt;
}

Result<MirrorSource> openMirrorSource(const fs::path& model, const fs::path& folder,
                                      std::span<const fs::path> shardDirs) {
  if (folder.empty()) return Status(Code::kUsage, "bad_mirror_folder", "Name the folder for the copies.");
  MirrorSource source;
  source.model = model;
  COLIBRI_ASSIGN_OR_RETURN(source.shards, ShardSet::open(model, shardDirs));
  COLIBRI_ASSIGN_OR_RETURN(source.modelId, modelIdOf(model, *source.shards));
  source.expertBytes.assign(source.shards->shards().size(), 0);
  for (const TensorInfo& tensor : source.shards->tensors()) {
    if (tensorRole(tensor.name) == TensorRole::kRoutedExpert) source.expertBytes[tensor.shard] += tensor.bytes;
  }
  std::error_code error;
  source.folder = fs::weakly_canonical(fs::absolute(folder, error), error);
  if (error) {
    return Status(Code::kUsage, "bad_mirror_folder", shown(folder) + " cannot be used: " + error.message() + ".");
  }
  if (source.folder.filename().empty()) source.folder = source.folder.parent_path();  // trailing separator
  source.folderExists = fs::is_directory(source.folder, error);
  source.existing = source.folder;
  while (!fs::exists(fs::status(source.existing, error)) && source.existing != source.existing.parent_path()) {
    source.existing = source.existing.parent_path();
  }
  COLIBRI_RETURN_IF_ERROR(checkPlace(source, shardDirs));
  return source;
}

Status requireMirrorFolder(const MirrorSource& source) {
  if (source.folderExists) return Status::ok();
  return {Code::kUsage, "mirror_missing",
          "There is no folder " + shown(source.folder) + ". Connect its drive, or name the folder with the copies."};
}

Status requireSameModel(const MirrorSource& source, const MirrorReceipt& receipt) {
  if (receipt.modelId == source.modelId) return Status::ok();
  const std::string name =
      receipt.modelName.empty() ? "another model" : "another model, " + inQuotes(receipt.modelName);
  return {Code::kUsage, "mirror_other_model",
          shown(source.folder) + " holds copies of " + name + ". Use a folder of its own for each model."};
}

std::int64_t modifiedNanoseconds(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return 0;
  return std::int64_t{facts.st_mtim.tv_sec} * 1000000000 + facts.st_mtim.tv_nsec;
}

}  // namespace colibri
