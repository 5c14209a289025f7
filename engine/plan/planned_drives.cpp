#include "plan/planned_drives.h"

#include "base/hash.h"
#include "base/words.h"
#include "plan/drive_memory.h"
#include "plan/probe.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace colibri {
namespace {

struct KindRate {
  std::string_view kind;
  double bytesPerSecond;
};
// What a plain example of each kind gives for scattered reads of several megabytes.
constexpr std::array<KindRate, 6> kAssumed{
    {{"nvme", 3e9}, {"ssd", 0.5e9}, {"hdd", 0.13e9}, {"network", 0.1e9}, {"memory", 5e9}, {"virtual", 1e9}}};
constexpr double kUnknownRate = 0.5e9;

PlannedDrive driveOf(const std::filesystem::path& folder, const EngineOptions& options, bool isMirror) {
  const FileSystemProbe probe = probeFileSystem(folder);
  PlannedDrive drive;
  drive.path = folder;
  drive.kind = probe.kind;
  drive.device = probe.device;
  drive.warning = probe.warning;
  drive.direct = options.direct && probe.type != "tmpfs" && probe.type != "ramfs";
  drive.isMirror = isMirror;
  drive.bytesPerSecond = assumedDriveRate(probe.kind);
  drive.source = "assumed for a drive of kind " + probe.kind;
  if (const auto known = knownDrive(options.dataFolder, folder); known && known->bytesPerSecond > 0) {
    drive.bytesPerSecond = known->bytesPerSecond;
    drive.iops4k = known->iops4k;
    drive.queueDepth = known->queueDepth;
    drive.source = "measured " + known->measured;
    if (known->isStale) drive.source += ", since then seen at another rate";
  }
  return drive;
}

/// Same block device: two folders on one drive share its rate.
bool sharesDrive(std::span<const PlannedDrive> drives, std::size_t index) {
  if (drives[index].device.empty()) return false;
  for (std::size_t i = 0; i < index; ++i) {
    if (drives[i].device == drives[index].device) return true;
  }
  return false;
}

}  // namespace

std::vector<std::filesystem::path> weightFolders(const EngineOptions& options) {
  std::vector<std::filesystem::path> folders{options.model};
  folders.insert(folders.end(), options.shardDirs.begin(), options.shardDirs.end());
  folders.insert(folders.end(), options.mirrors.begin(), options.mirrors.end());
  return folders;
}

std::filesystem::path largestShard(const ShardSet& shards, const std::filesystem::path& folder) {
  const Shard* largest = nullptr;
  for (const Shard& shard : shards.shards()) {
    std::error_code error;
    const bool isHere = std::filesystem::is_regular_file(folder / shard.name, error);
    if (isHere && (largest == nullptr || shard.fileBytes > largest->fileBytes)) largest = &shard;
  }
  return largest == nullptr ? std::filesystem::path() : folder / largest->name;
}

double assumedDriveRate(std::string_view kind) {
  for (const KindRate& known : kAssumed) {
    if (known.kind == kind) return known.bytesPerSecond;
  }
  return kUnknownRate;
}

Result<std::vector<double>> parseDiskWeights(const EngineOptions& options) {
  std::vector<double> weights;
  if (options.diskWeights.empty()) return weights;
  const std::size_t wanted = 1 + options.mirrors.size();
  bool good = true;
  for (const std::string& word : splitWords(options.diskWeights, ";,")) {
    double weight = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), weight);
    good = good && error == std::errc() && end == word.data() + word.size() && std::isfinite(weight) && weight > 0;
    weights.push_back(weight);
  }
  if (good && weights.size() == wanted) return weights;
  return Status(Code::kUsage, "disk_weights",
                "--disk-weights must be " + std::to_string(wanted) +
                    " positive numbers separated by commas, one for the model's folder and one for each --mirror; \"" +
                    options.diskWeights + "\" is not.");
}

std::vector<PlannedDrive> plannedDrives(const EngineOptions& options, std::span<const std::uint64_t> expertBytesIn) {
  std::vector<PlannedDrive> drives{driveOf(options.model, options, false)};
  for (const auto& folder : options.shardDirs) drives.push_back(driveOf(folder, options, false));
  const std::size_t originals = drives.size();
  for (const auto& folder : options.mirrors) drives.push_back(driveOf(folder, options, true));

  // Shares of the reads: originals by what they hold, and all originals together against each mirror.
  double held = 0;
  for (const std::uint64_t bytes : expertBytesIn) held += static_cast<double>(bytes);
  for (std::size_t i = 0; i < originals; ++i) {
    const double share = i < expertBytesIn.size() && held > 0 ? static_cast<double>(expertBytesIn[i]) / held
                         : i == 0                             ? 1.0
                                                              : 0.0;
    drives[i].weight = share;
  }
  if (drives.size() == originals) return drives;
  // Weights that are wrong are refused when the files are opened.
  const auto parsed = parseDiskWeights(options);
  const std::vector<double> given = parsed ? *parsed : std::vector<double>();
  const double originalRate = combinedRate(std::span(drives).first(originals));
  for (std::size_t i = 0; i < originals; ++i) drives[i].weight *= given.empty() ? originalRate : given[0];
  for (std::size_t i = originals; i < drives.size(); ++i) {
    const double own = sharesDrive(drives, i) ? 0 : drives[i].bytesPerSecond;
    drives[i].weight = given.empty() ? own : given[i - originals + 1];
  }
  return drives;
}

double combinedRate(std::span<const PlannedDrive> drives) {
  double weights = 0;
  for (const PlannedDrive& drive : drives) weights += drive.weight;
  if (!(weights > 0)) return 0;
  double slowest = 0;  // seconds for one byte in all, until the last drive has done its share
  for (std::size_t i = 0; i < drives.size(); ++i) {
    if (sharesDrive(drives, i)) continue;
    double share = 0;
    for (std::size_t j = i; j < drives.size(); ++j) {
      if (j == i || (!drives[i].device.empty() && drives[j].device == drives[i].device)) share += drives[j].weight;
    }
    if (share <= 0) continue;
    if (!(drives[i].bytesPerSecond > 0)) return 0;
    slowest = std::max(slowest, share / weights / drives[i].bytesPerSecond);
  }
  return slowest > 0 ? 1 / slowest : 0;
}

std::string driveSetName(std::span<const PlannedDrive> drives) {
  std::string text;
  for (const PlannedDrive& drive : drives) text += drive.path.string() + '\n';
  return shortHash(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace colibri
