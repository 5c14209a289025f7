#include "checkpoint/json_cursor.h"
#include "checkpoint/shard_scan.h"

#include <system_error>
#include <utility>

namespace colibri {
namespace {

bool isInside(const std::filesystem::path& path, const std::filesystem::path& root) {
  auto at = path.begin();
  for (const auto& part : root) {
    if (part.empty()) continue;  // trailing separator
    if (at == path.end() || *at != part) return false;
    ++at;
  }
  return true;
}

}  // namespace

std::filesystem::path linkRoot(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path root = std::filesystem::canonical(folder, error);
  if (error) return folder;
  // Hub cache: models--owner--name/snapshots/<revision>/file -> ../../blobs/<hash>
  if (root.parent_path().filename() == "snapshots") {
    std::filesystem::path repository = root.parent_path().parent_path();
    if (std::filesystem::is_directory(repository / "blobs", error)) return repository;
  }
  return root;
}

ShardPlace locateShard(const std::filesystem::path& folder, std::span<const std::filesystem::path> moreFolders,
                       std::string_view name, std::string& why) {
  const std::string shown = printable(name, 300);
  why = shown + " is missing";
  for (std::size_t i = 0; i <= moreFolders.size(); ++i) {
    const std::filesystem::path& place = i == 0 ? folder : moreFolders[i - 1];
    const std::filesystem::path candidate = place / name;
    std::error_code error;
    const auto link = std::filesystem::symlink_status(candidate, error);
    if (error || !std::filesystem::exists(link)) continue;
    std::filesystem::path resolved = std::filesystem::canonical(candidate, error);
    if (error) {
      why = shown + " is a link to a file that is not there";
      continue;
    }
    if (std::filesystem::is_symlink(link) && !isInside(resolved, linkRoot(place))) {
      why = shown +
            " is a link that leads out of the checkpoint's folder (name the other folder as a shard folder instead)";
      continue;
    }
    if (!std::filesystem::is_regular_file(resolved, error)) {
      why = shown + " is not a regular file";
      continue;
    }
    return {std::move(resolved), static_cast<std::uint32_t>(i)};
  }
  return {};
}

}  // namespace colibri
