#include "base/json.h"
#include "checkpoint/expected_tensors.h"
#include "checkpoint/finding_reporter.h"
#include "checkpoint/full_check.h"
#include "checkpoint/json_cursor.h"
#include "checkpoint/model_config.h"
#include "checkpoint/shard_scan.h"
#include <colibri/checkpoint.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace colibri {
namespace {

// Endings that downloaders give to files that are not finished.
constexpr std::string_view kPartialEndings[] = {".incomplete", ".partial",  ".part", ".aria2",
                                                ".crdownload", ".download", ".tmp"};

bool isPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

class Verifier {
public:
  Verifier(const std::filesystem::path& folder, const VerifyOptions& options,
           const std::function<void(const Finding&)>& onFinding)
      : m_folder(folder), m_options(options), m_reporter(onFinding) {}

  Result<VerifySummary> run() {
    const auto start = std::chrono::steady_clock::now();
    readConfig();
    checkTokenizer();
    findLeftovers();
    m_scan = scanShards(m_folder, m_options.shardDirs, [&](Finding finding) { m_reporter.report(std::move(finding)); });
    if (m_scan.wantedShards == 0) {
      m_reporter.report(makeFinding("missing_shard", {}, {}, "There is no .safetensors file in the folder.",
                                    "Choose the folder that holds the whole checkpoint."));
    }
    if (m_config) {
      m_counts = expertCounts(*m_config, m_scan.tensors);
      compareWithConfig();
    }
    VerifySummary summary;
    if (m_options.level == VerifyLevel::kFull) {
      COLIBRI_RETURN_IF_ERROR(checkFully(filesToRead(), m_counts, m_options, m_reporter, summary.hashes));
    }
    m_reporter.finish();
    summary.errors = m_reporter.errors();
    summary.warnings = m_reporter.warnings();
    summary.ok = summary.errors == 0;
    summary.shards = m_scan.wantedShards;
    summary.tensors = m_scan.tensors.size();
    summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
  }

private:
  void readConfig() {
    auto config = ModelConfig::load(m_folder);
    if (!config) {
      m_reporter.report(makeFinding(config.status().id(), "config.json", {}, config.status().message()));
      return;
    }
    m_config = std::move(*config);
  }

  void checkTokenizer() {
    std::error_code error;
    const std::filesystem::path path = m_folder / "tokenizer.json";
    const auto size = std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
    if (!error && size > 0) return;
    m_reporter.report(makeFinding("tokenizer_missing", "tokenizer.json", {},
                                  "There is no tokenizer.json, so the model can neither read nor write text.",
                                  "Download tokenizer.json from the same place as the shards."));
  }

  void findLeftovers() {
    searchLeftovers(m_folder);
    searchLeftovers(m_folder / ".cache" / "huggingface" / "download");
    const std::filesystem::path cache = linkRoot(m_folder) / "blobs";
    searchLeftovers(cache);
  }

  void searchLeftovers(const std::filesystem::path& place) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      const bool partial = std::any_of(std::begin(kPartialEndings), std::end(kPartialEndings),
                                       [&](std::string_view ending) { return name.ends_with(ending); });
      if (!partial) continue;
      Finding finding = makeWarning("leftover_partial", name, {},
                                    printable(name, 300) + " is left over from a download that was not finished.",
                                    "Resume the download, or delete this file when the checkpoint is complete.");
      std::error_code sizeError;
      if (const auto size = it->file_size(sizeError); !sizeError) finding.actualBytes = size;
      m_reporter.report(std::move(finding));
    }
  }

  void compareWithConfig() {
    const auto& tensors = m_scan.tensors;
    std::vector<bool> known(tensors.size(), false);
    forEachExpected(*m_config, m_counts, detectDraft(*m_config, tensors), [&](const ExpectedTensor& expected) {
      const TensorInfo* tensor = findTensor(tensors, expected.name);
      if (tensor == nullptr) {
        missing(expected.name);
        return;
      }
      known[static_cast<std::size_t>(tensor - tensors.data())] = true;
      if (auto finding = compareTensor(expected, *tensor, m_scan.shards[tensor->shard].name))
        m_reporter.report(std::move(*finding));
    });
    const auto unknown = static_cast<std::uint64_t>(std::count(known.begin(), known.end(), false));
    if (unknown == 0) return;
    const auto first = static_cast<std::size_t>(std::find(known.begin(), known.end(), false) - known.begin());
    Finding finding = makeWarning("index_mismatch", m_scan.shards[tensors[first].shard].name, tensors[first].name,
                                  counted(unknown, "tensor") + (unknown == 1 ? " is" : " are") +
                                      " not part of the model that config.json describes; the first is " +
                                      inQuotes(tensors[first].name) + ".");
    finding.tensors = unknown;
    m_reporter.report(std::move(finding));
  }

  // A tensor of a shard that could not be read is that shard's finding, not one of its own.
  void missing(const std::string& name) {
    if (!m_scan.namesKnown) return;
    const auto at =
        std::lower_bound(m_scan.unread.begin(), m_scan.unread.end(), name,
                         [](const IndexEntry& entry, const std::string& wanted) { return entry.tensor < wanted; });
    if (at != m_scan.unread.end() && at->tensor == name) return;
    m_reporter.report(makeFinding("tensor_missing", {}, name,
                                  "Tensor " + inQuotes(name) + " is in no shard, but config.json needs it.",
                                  "Download the whole checkpoint from one revision."));
  }

  std::vector<FullCheckFile> filesToRead() {
    std::vector<FullCheckFile> files;
    for (const Shard& shard : m_scan.shards) files.push_back({shard.name, shard.path, {}});
    for (const TensorInfo& tensor : m_scan.tensors) files[tensor.shard].tensors.push_back(&tensor);
    for (FullCheckFile& file : files) {
      std::sort(file.tensors.begin(), file.tensors.end(),
                [](const TensorInfo* a, const TensorInfo* b) { return a->offset < b->offset; });
    }
    const std::size_t shards = files.size();
    for (const auto& [name, hash] : m_options.manifest) {
      const auto same = [&name = name](const FullCheckFile& file) { return file.name == name; };
      if (std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(shards), same)) continue;
      if (!isPlainName(name)) continue;  // readManifest() refuses these; a caller's own map may hold anything
      std::string why;
      auto path = locateShard(m_folder, m_options.shardDirs, name, why).path;
      if (!path.empty()) {
        files.push_back({name, std::move(path), {}});
      } else if (!m_reporter.has("missing_shard", printable(name, 300))) {
        m_reporter.report(
            makeFinding("missing_shard", name, {}, why + "; the manifest lists it.", std::string(kDownloadAgain)));
      }
    }
    return files;
  }

  const std::filesystem::path& m_folder;
  const VerifyOptions& m_options;
  FindingReporter m_reporter;
  std::optional<ModelConfig> m_config;
  std::vector<int> m_counts;
  ShardScan m_scan;
};

}  // namespace

Result<VerifySummary> verifyCheckpoint(const std::filesystem::path& folder, const VerifyOptions& options,
                                       const std::function<void(const Finding&)>& onFinding) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return Status(Code::kCheckpoint, "missing_folder",
                  folder.string() + " is not a folder. Choose the folder that holds config.json and the shards.");
  }
  return Verifier(folder, options, onFinding).run();
}

Result<std::map<std::string, std::string>> readManifest(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return Status(
        Code::kUsage, "bad_manifest",
        file.filename().string() + " is no manifest: " + why + " It must be a JSON object of file name to SHA-256.");
  };
  const auto text = readFile(file, kMaxIndexBytes);
  if (!text) return refuse(text.status().message());
  const auto json = parseJson(*text, file.filename().string(), "bad_manifest");
  if (!json) return refuse(json.status().message());
  if (!json->is_object()) return refuse("it is not an object.");
  std::map<std::string, std::string> manifest;
  for (const auto& [name, value] : json->items()) {
    if (!isPlainName(name)) return refuse(inQuotes(name) + " is not a plain file name.");
    const std::string hash = value.is_string() ? value.get<std::string>() : std::string();
    if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
      return refuse("the value of " + inQuotes(name) + " is not 64 hex digits.");
    }
    manifest.emplace(name, hash);
  }
  return manifest;
}

}  // namespace colibri
