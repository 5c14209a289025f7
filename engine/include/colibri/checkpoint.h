#pragma once
// What is in a checkpoint folder, whether it is sound, and synthetic checkpoints: `coli info`, `verify`, `synth` and
// the app's open dialog. Nothing here loads a model.

#include <colibri/cancellation.h>
#include <colibri/status.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Sums of tensor payloads in bytes; every tensor counts in exactly one part, so the parts add up to `total`.
struct CheckpointBytes {
  std::uint64_t total = 0;
  std::uint64_t routedExperts = 0;  ///< main stack only
  std::uint64_t engram = 0;
  std::uint64_t dense = 0;  ///< everything not named by another part
  std::uint64_t embedding = 0;
  std::uint64_t head = 0;
  std::uint64_t draft = 0;  ///< draft stages with their own experts
  std::uint64_t vision = 0;
};

/// Facts from config.json and the shards' headers.
struct CheckpointInfo {
  std::string modelType;    ///< as in config.json ("deepseek_v4")
  std::string geometry;     ///< "43L x 256E"
  int layers = 0;           ///< main stack
  int expertsPerLayer = 0;  ///< largest layer
  int expertsPerToken = 0;
  std::uint64_t tensors = 0;
  std::uint64_t shards = 0;
  CheckpointBytes bytes;
  std::uint64_t expertBytes = 0;  ///< payload of the largest routed expert
  /// Weight bytes that one decoded token touches in the main stack: its chosen experts, and everything else except the
  /// embedding and hash-routing tables (of which it reads one row).
  std::uint64_t routedBytesPerToken = 0;
  std::uint64_t denseBytesPerToken = 0;
  int contextLimit = 0;  ///< tokens
  std::string modelId;   ///< 32 hex digits, from the configuration and all headers
  /// Sorted words: dspark, engram, hash_routing, indexer, mtp, scattered_experts, vision, yarn, …
  std::vector<std::string> features;
  bool supported = false;         ///< whether this version can run it
  std::string unsupportedReason;  ///< a sentence when it cannot
};

/// Reads headers only. Shards that are not in `folder` are looked for in `shardDirs`. Blocking; any thread. Errors are
/// kCheckpoint with the id of the first error that verifyCheckpoint() would report.
Result<CheckpointInfo> inspectCheckpoint(const std::filesystem::path& folder,
                                         std::span<const std::filesystem::path> shardDirs = {});

enum class Severity { kError, kWarning };

/// One thing that is wrong or odd in a checkpoint.
struct Finding {
  Severity severity = Severity::kError;
  std::string code;                            ///< stable word: missing_shard, tensor_shape, …
  std::string file;                            ///< plain file name, or empty
  std::string tensor;                          ///< tensor name, or empty
  std::optional<std::uint64_t> expectedBytes;  ///< where a size is wrong
  std::optional<std::uint64_t> actualBytes;
  std::optional<std::uint64_t> tensors;  ///< how many tensors are affected, where that is known
  std::string message;                   ///< a sentence, safe to print on a terminal
  std::string fix;                       ///< what to do, a sentence; may be empty
};

enum class VerifyLevel {
  kHeaders,  ///< files, sizes, headers, index, config; no tensor data
  kFull,     ///< also every byte: SHA-256 of each shard and values that no model can use
};

struct VerifyProgress {
  std::uint64_t doneBytes = 0;
  std::uint64_t totalBytes = 0;
};

struct VerifyOptions {
  VerifyLevel level = VerifyLevel::kHeaders;
  std::vector<std::filesystem::path> shardDirs;         ///< further folders with shards
  std::map<std::string, std::string> manifest;          ///< file name to SHA-256 in hex; used by kFull
  Cancellation cancellation;                            ///< seen within one read of at most 8 MiB
  std::function<void(const VerifyProgress&)> progress;  ///< kFull; called from worker threads, one call at a time
};

struct VerifySummary {
  bool ok = false;  ///< no error finding
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
  std::uint64_t shards = 0;
  std::uint64_t tensors = 0;
  double seconds = 0;
  std::map<std::string, std::string> hashes;  ///< kFull: file name to SHA-256 of what was read
};

/// Looks for everything wrong and goes on after each finding. `onFinding` is called from this or a worker thread, one
/// call at a time, never after the return. Errors: kCheckpoint "missing_folder", kCancelled.
Result<VerifySummary> verifyCheckpoint(const std::filesystem::path& folder, const VerifyOptions& options,
                                       const std::function<void(const Finding&)>& onFinding);

/// Reads a manifest file: a JSON object of file name to SHA-256 in hex. kUsage when it is anything else.
Result<std::map<std::string, std::string>> readManifest(const std::filesystem::path& file);

/// A synthetic checkpoint to make: random weights of sensible size in the released file layout, for tests and
/// benchmarks.
struct SynthOptions {
  std::string preset;         ///< one of synthPresets()
  std::filesystem::path out;  ///< folder to create; may exist when it is empty
  std::uint64_t seed = 0;     ///< with the tensor's name it decides every byte, whatever the layout
  std::optional<int> layers;  ///< overrides of the preset
  std::optional<int> experts;
  std::optional<std::string> draft;  ///< none, mtp or dspark
  Cancellation cancellation;         ///< what has been written by then is removed
  std::function<void(const VerifyProgress&)> progress;
};

struct SynthPreset {
  std::string name;
  std::string description;  ///< a sentence
};

[[nodiscard]] std::vector<SynthPreset> synthPresets();

/// Writes config.json, tokenizer.json, the index and the shards. Blocking; any thread. Errors: kUsage "unknown_preset",
/// "folder_not_empty", "bad_option"; kIo "disk_full" (before anything is written) or "write_failed"; kCancelled.
Status synthesizeCheckpoint(const SynthOptions& options);

}  // namespace colibri
