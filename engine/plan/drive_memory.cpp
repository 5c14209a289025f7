#include "plan/drive_memory.h"

#include "base/json.h"
#include "base/whole_file.h"
#include "plan/probe.h"

#include <sys/statfs.h>

#include <array>
#include <cmath>
#include <cstring>
#include <ctime>
#include <system_error>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{1} << 20;
constexpr std::size_t kMostDrives = 64;
constexpr std::size_t kMostText = 512;

fs::path memoryFile(const fs::path& dataFolder) {
  return dataFolder / "drives.json";
}

bool isRate(double value) {
  return std::isfinite(value) && value > 0 && value < 1e15;
}

std::string textOf(const Json& entry, const char* key) {
  const auto it = entry.find(key);
  return it != entry.end() && it->is_string() ? it->get<std::string>().substr(0, kMostText) : std::string();
}

double numberOf(const Json& entry, const char* key) {
  const auto it = entry.find(key);
  return it != entry.end() && it->is_number() ? it->get<double>() : 0;
}

bool flagOf(const Json& entry, const char* key) {
  const auto it = entry.find(key);
  return it != entry.end() && it->is_boolean() && it->get<bool>();
}

std::optional<DriveFacts> factsOf(const std::string& key, const Json& entry) {
  if (!entry.is_object()) return std::nullopt;
  DriveFacts facts;
  facts.key = key;
  facts.kind = textOf(entry, "kind");
  facts.device = textOf(entry, "device");
  facts.bytesPerSecond = numberOf(entry, "bytes_per_s");
  facts.iops4k = numberOf(entry, "iops_4k");
  const double depth = numberOf(entry, "queue_depth");
  facts.direct = flagOf(entry, "direct");
  facts.reason = textOf(entry, "reason");
  facts.measured = textOf(entry, "measured");
  facts.isStale = flagOf(entry, "stale");
  if (!isRate(facts.bytesPerSecond) || !(depth >= 1 && depth <= 256) || !(facts.iops4k >= 0 && facts.iops4k < 1e12)) {
    return std::nullopt;
  }
  facts.queueDepth = static_cast<int>(depth);
  return facts;
}

Json entryOf(const DriveFacts& facts) {
  return {{"kind", facts.kind},      {"device", facts.device},          {"bytes_per_s", facts.bytesPerSecond},
          {"iops_4k", facts.iops4k}, {"queue_depth", facts.queueDepth}, {"direct", facts.direct},
          {"reason", facts.reason},  {"measured", facts.measured},      {"stale", facts.isStale}};
}

/// The object of drives by key; empty when the file is absent or not what it should be.
Json readDrives(const fs::path& dataFolder) {
  const Result<std::string> text = readFile(memoryFile(dataFolder), kMostFileBytes);
  if (!text) return Json::object();
  Result<Json> json = parseJson(*text, "drives.json", "drives", {kMostFileBytes, 8});
  if (!json || !json->is_object()) return Json::object();
  const auto drives = json->find("drives");
  if (drives == json->end() || !drives->is_object()) return Json::object();
  return std::move(*drives);
}

Status writeDrives(const fs::path& dataFolder, const Json& drives) {
  const fs::path path = memoryFile(dataFolder);
  const Json json{{"version", 1}, {"drives", drives}};
  const std::error_code error = replaceFile(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  if (!error) return Status::ok();
  return Status(Code::kIo, "drives_write",
                "What was measured about the drives cannot be kept in " + path.string() + " (" + error.message() +
                    "); it will be measured again.");
}

/// Puts an entry in; when there are too many, those measured longest ago go.
void put(Json& drives, const DriveFacts& facts) {
  drives[facts.key] = entryOf(facts);
  while (drives.size() > kMostDrives) {
    auto oldest = drives.end();
    for (auto it = drives.begin(); it != drives.end(); ++it) {
      if (it.key() == facts.key) continue;
      const std::string day = it->is_object() ? textOf(*it, "measured") : std::string();
      if (oldest == drives.end() || day < (oldest->is_object() ? textOf(*oldest, "measured") : std::string())) {
        oldest = it;
      }
    }
    drives.erase(oldest);
  }
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (gmtime_r(&now, &parts) == nullptr) return {};
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts);
  return std::string(text.data(), length);
}

std::string uuidOf(const std::string& device) {
  std::error_code error;
  const fs::path wanted = fs::canonical(fs::path("/dev") / device, error);
  if (device.empty() || error) return {};
  for (fs::directory_iterator entry("/dev/disk/by-uuid", error), end; !error && entry != end; entry.increment(error)) {
    std::error_code linkError;
    if (fs::canonical(entry->path(), linkError) == wanted && !linkError) return entry->path().filename().string();
  }
  return {};
}

}  // namespace

std::string driveKey(const fs::path& path) {
  struct statfs info {};
  if (statfs(path.c_str(), &info) != 0) return {};
  const FileSystemProbe probe = probeFileSystem(path);
  if (const std::string uuid = uuidOf(probe.device); !uuid.empty()) return "uuid:" + uuid;
  std::uint64_t id = 0;
  static_assert(sizeof info.f_fsid == sizeof id);
  std::memcpy(&id, &info.f_fsid, sizeof id);
  const auto bytes = static_cast<std::uint64_t>(info.f_blocks) * static_cast<std::uint64_t>(info.f_bsize);
  // tmpfs ids change with every mount, and its name says all there is to know.
  const std::string own = probe.kind == "memory" ? std::string() : ":" + std::to_string(id);
  return probe.type + ":" + probe.device + own + ":" + std::to_string(bytes);
}

std::optional<DriveFacts> knownDrive(const fs::path& dataFolder, const fs::path& path) {
  if (dataFolder.empty()) return std::nullopt;
  const std::string key = driveKey(path);
  if (key.empty()) return std::nullopt;
  const Json drives = readDrives(dataFolder);
  const auto it = drives.find(key);
  if (it == drives.end()) return std::nullopt;
  return factsOf(key, *it);
}

Result<DriveFacts> measureAndRemember(const fs::path& dataFolder, const fs::path& file,
                                      const DriveProbeOptions& options, const Cancellation& cancellation,
                                      std::string* notice) {
  COLIBRI_ASSIGN_OR_RETURN(const DriveMeasurement measured, measureDrive(file, options, cancellation));
  const FileSystemProbe probe = probeFileSystem(file);
  DriveFacts facts;
  facts.key = driveKey(file);
  facts.kind = probe.kind;
  facts.device = probe.device;
  facts.bytesPerSecond = measured.bytesPerSecond;
  facts.iops4k = measured.iops4k;
  facts.queueDepth = measured.queueDepth;
  facts.direct = measured.direct;
  facts.reason = measured.reason;
  facts.measured = today();
  facts.warning = measured.warning;
  if (dataFolder.empty() || facts.key.empty() || !facts.warning.empty() || !isRate(facts.bytesPerSecond)) return facts;
  Json drives = readDrives(dataFolder);
  put(drives, facts);
  const Status written = writeDrives(dataFolder, drives);
  if (!written.isOk() && notice != nullptr) *notice = written.message();
  return facts;
}

Status noteObserved(const fs::path& dataFolder, const fs::path& path, double bytesPerSecond) {
  if (dataFolder.empty() || !isRate(bytesPerSecond)) return Status::ok();
  const std::string key = driveKey(path);
  Json drives = readDrives(dataFolder);
  const auto it = key.empty() ? drives.end() : drives.find(key);
  if (it == drives.end()) return Status::ok();
  std::optional<DriveFacts> facts = factsOf(key, *it);
  if (!facts || facts->isStale) return Status::ok();
  if (std::abs(bytesPerSecond - facts->bytesPerSecond) <= kDriveDisagreement * facts->bytesPerSecond) {
    return Status::ok();
  }
  facts->isStale = true;
  put(drives, *facts);
  return writeDrives(dataFolder, drives);
}

}  // namespace colibri
