#include "plan/probe_json.h"

#include "base/json.h"
#include "plan/planned_drives.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace colibri {
namespace {

constexpr double kMostBytes = 0x1p60;
constexpr double kMostRate = 1e13;
constexpr double kMostCores = 4096;
constexpr std::size_t kMostDrives = 64;
constexpr std::size_t kMostText = 4096;
constexpr std::size_t kMostListed = 256;

OrderedJson numberOrNull(double value) {
  return value > 0 ? OrderedJson(value) : OrderedJson(nullptr);
}

/// Members of one object. The first that is wrong is kept as the error; absent ones and null give the default.
class ProbeReader {
public:
  ProbeReader(const Json& json, std::string where, Status& error)
      : m_json(json), m_where(std::move(where)), m_error(error) {
    if (!m_json.is_object()) fail("", "must be an object");
  }

  double number(const char* key, double least, double most, double absent, bool whole = false) {
    const Json* value = find(key);
    if (value == nullptr) return absent;
    const double read = value->is_number() ? value->get<double>() : std::nan("");
    if (!(read >= least && read <= most) || (whole && read != std::floor(read))) {
      fail(key, std::string("must be ") + (whole ? "a whole number" : "a number") + " from " + text(least) + " to " +
                    text(most));
      return absent;
    }
    return read;
  }
  std::uint64_t bytes(const char* key, std::uint64_t absent = 0) {
    return static_cast<std::uint64_t>(number(key, 0, kMostBytes, static_cast<double>(absent), true));
  }
  int count(const char* key, int least, int absent) {
    return static_cast<int>(number(key, least, kMostCores, absent, true));
  }
  double rate(const char* key) { return number(key, 0, kMostRate, 0); }
  std::string words(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string() || value->get_ref<const std::string&>().size() > kMostText) {
      fail(key, "must be a short text");
      return {};
    }
    return value->get<std::string>();
  }
  std::vector<std::string> wordList(const char* key) {
    std::vector<std::string> list;
    const Json* value = find(key);
    if (value == nullptr) return list;
    bool good = value->is_array() && value->size() <= kMostListed;
    for (const Json& word : good ? *value : Json::array()) {
      good = good && word.is_string() && word.get_ref<const std::string&>().size() <= kMostText;
      if (good) list.push_back(word.get<std::string>());
    }
    if (!good) fail(key, "must be a short list of texts");
    return list;
  }
  bool flag(const char* key, bool absent) {
    const Json* value = find(key);
    if (value == nullptr) return absent;
    if (!value->is_boolean()) fail(key, "must be true or false");
    return value->is_boolean() ? value->get<bool>() : absent;
  }
  const Json* find(const char* key) const {
    if (!m_json.is_object()) return nullptr;
    const auto at = m_json.find(key);
    return at == m_json.end() || at->is_null() ? nullptr : &*at;
  }
  void fail(const std::string& key, const std::string& why) {
    if (!m_error.isOk()) return;
    std::string name = m_where;
    if (!key.empty()) name += (name.empty() ? "" : ".") + key;
    m_error = Status(Code::kUsage, "bad_probe",
                     (name.empty() ? std::string("it") : "\"" + name + "\"") + " " + why +
                         ". Make the file with 'coli doctor --json'.");
  }

private:
  static std::string text(double value) {
    return value < 1e15 && value == std::floor(value) ? std::to_string(static_cast<std::int64_t>(value))
                                                      : Json(value).dump();
  }

  const Json& m_json;
  std::string m_where;
  Status& m_error;
};

PlannedDrive driveFrom(const Json& json, std::size_t index, Status& error) {
  ProbeReader read(json, "disks[" + std::to_string(index) + "]", error);
  PlannedDrive drive;
  drive.path = read.words("path");
  drive.kind = read.words("kind");
  if (drive.kind.empty()) drive.kind = "unknown";
  drive.device = read.words("device");
  drive.bytesPerSecond = read.rate("bytes_per_s");
  drive.iops4k = read.rate("iops_4k");
  drive.queueDepth = read.count("queue_depth", 0, 0);
  drive.direct = read.flag("direct", true);
  drive.isMirror = read.flag("mirror", index > 0);
  drive.weight = read.number("weight", 0, kMostRate, -1);
  drive.source = "probe file";
  if (drive.bytesPerSecond == 0) {
    drive.bytesPerSecond = assumedDriveRate(drive.kind);
    drive.source = "assumed for a drive of kind " + drive.kind;
  }
  for (const std::string& warning : read.wordList("warnings")) {
    drive.warning += (drive.warning.empty() ? "" : " ") + warning;
  }
  return drive;
}

/// The kernels that a processor with these features would use; a common machine's when nothing is known.
std::string isaFor(const std::vector<std::string>& features) {
  if (features.empty()) return "avx2";
  const auto has = [&](const char* word) {
    return std::find(features.begin(), features.end(), word) != features.end();
  };
  if (has("avx512f")) return has("avx512_vnni") ? "avx512-vnni" : "avx512";
  return has("avx2") ? "avx2" : has("asimd") ? "neon" : "scalar";
}

void readDrives(const Json& list, RecordedMachine& machine, Status& error) {
  for (std::size_t i = 0; i < list.size() && error.isOk(); ++i) machine.drives.push_back(driveFrom(list[i], i, error));
  // Recorded weights are for the same folders; without them copies share by their rates and originals stand alone.
  double originals = 0;
  for (const PlannedDrive& drive : machine.drives) originals += drive.isMirror ? 0 : 1;
  for (PlannedDrive& drive : machine.drives) {
    if (drive.weight >= 0) continue;
    drive.weight = drive.isMirror ? drive.bytesPerSecond : drive.bytesPerSecond / std::max(1.0, originals);
  }
}

}  // namespace

PlanSurroundings RecordedMachine::surroundings() const {
  PlanSurroundings around;
  around.freeBytes = machine.memory.usableBytes();
  around.physicalCores = machine.cpu.physicalCores;
  around.isa = isa;
  around.memoryBytesPerSecond = memoryBytesPerSecond;
  around.drives = drives;
  return around;
}

OrderedJson driveJson(const PlannedDrive& drive) {
  OrderedJson warnings = OrderedJson::array();
  if (!drive.warning.empty()) warnings.push_back(drive.warning);
  return {{"path", drive.path.string()},
          {"bytes_per_s", numberOrNull(drive.bytesPerSecond)},
          {"iops_4k", numberOrNull(drive.iops4k)},
          {"direct", drive.direct},
          {"kind", drive.kind},
          {"device", drive.device},
          {"queue_depth", drive.queueDepth > 0 ? OrderedJson(drive.queueDepth) : OrderedJson(nullptr)},
          {"mirror", drive.isMirror},
          {"weight", drive.weight},
          {"source", drive.source},
          {"warnings", std::move(warnings)}};
}

OrderedJson probeJson(const RecordedMachine& recorded) {
  const MachineProbe& machine = recorded.machine;
  const MemoryProbe& memory = machine.memory;
  OrderedJson disks = OrderedJson::array();
  for (const PlannedDrive& drive : recorded.drives) disks.push_back(driveJson(drive));
  return {{"cpu",
           {{"model", machine.cpu.model},
            {"logical_cores", machine.cpu.logicalCores},
            {"physical_cores", machine.cpu.physicalCores},
            {"numa_nodes", machine.numaNodes},
            {"features", machine.cpu.features},
            {"isa", recorded.isa}}},
          {"memory",
           {{"total_bytes", memory.totalBytes},
            {"available_bytes", memory.availableBytes},
            {"limit_bytes", memory.limitBytes ? OrderedJson(*memory.limitBytes) : OrderedJson(nullptr)},
            {"limit_used_bytes", memory.limitBytes ? OrderedJson(memory.limitUsedBytes) : OrderedJson(nullptr)},
            {"usable_bytes", memory.usableBytes()},
            {"read_bytes_per_s", numberOrNull(recorded.memoryBytesPerSecond)}}},
          {"page_bytes", machine.pageBytes},
          {"huge_pages", machine.hugePages},
          {"huge_page_bytes", machine.hugePageBytes},
          {"free_huge_page_bytes", machine.freeHugePageBytes},
          {"disks", std::move(disks)}};
}

Result<RecordedMachine> probeFromJson(const Json& json, const std::string& what) {
  const auto wrap = [&](const Status& status) { return status.within(what + " is no usable probe"); };
  const auto inner = json.is_object() ? json.find("probe") : json.end();
  const Json& probe = json.is_object() && inner != json.end() ? *inner : json;
  Status error;
  ProbeReader top(probe, "", error);
  if (!error.isOk()) return wrap(error);
  const Json absent = Json::object();
  const auto part = [&](const char* key) -> const Json& {
    const Json* value = top.find(key);
    if (value == nullptr) top.fail(key, "is missing");
    return value == nullptr ? absent : *value;
  };
  RecordedMachine recorded;
  ProbeReader cpu(part("cpu"), "cpu", error);
  recorded.machine.cpu.model = cpu.words("model");
  if (cpu.find("physical_cores") == nullptr) cpu.fail("physical_cores", "is missing");
  recorded.machine.cpu.physicalCores = cpu.count("physical_cores", 1, 1);
  recorded.machine.cpu.logicalCores = cpu.count("logical_cores", 1, recorded.machine.cpu.physicalCores);
  recorded.machine.numaNodes = cpu.count("numa_nodes", 1, 1);
  recorded.machine.cpu.features = cpu.wordList("features");
  recorded.isa = cpu.words("isa");
  if (recorded.isa.empty()) recorded.isa = isaFor(recorded.machine.cpu.features);

  ProbeReader memory(part("memory"), "memory", error);
  MemoryProbe& m = recorded.machine.memory;
  if (memory.find("usable_bytes") == nullptr) memory.fail("usable_bytes", "is missing");
  m.availableBytes = memory.bytes("usable_bytes");
  m.totalBytes = memory.bytes("total_bytes", m.availableBytes);
  recorded.memoryBytesPerSecond = memory.rate("read_bytes_per_s");

  if (const Json* disks = top.find("disks"); disks != nullptr) {
    if (!disks->is_array() || disks->size() > kMostDrives) {
      top.fail("disks", "must be a list of at most " + std::to_string(kMostDrives) + " drives");
    } else {
      readDrives(*disks, recorded, error);
    }
  }
  if (!error.isOk()) return wrap(error);
  return recorded;
}

}  // namespace colibri
