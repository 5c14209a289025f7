#pragma once
// A loaded model. One Engine holds the weights; Sessions hold everything that changes.

#include <colibri/cancellation.h>
#include <colibri/drive_counters.h>
#include <colibri/image.h>
#include <colibri/plan.h>
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

class Session;
class Tokenizer;
class ChatFormat;

enum class IoChoice { kAuto, kUring, kThreads };

/// How to load a model. Defaults are those of the settings table (docs/settings.md).
struct EngineOptions {
  std::filesystem::path model;                   ///< folder with config.json
  std::vector<std::filesystem::path> shardDirs;  ///< further folders with distinct shards
  std::vector<std::filesystem::path> mirrors;    ///< folders with byte-identical copies of shards
  std::string diskWeights;                       ///< "1,2": split over the model's folder and the mirrors; "": measured
  std::optional<std::uint64_t> ramBytes;         ///< budget; absent: from free memory
  int context = 4096;                            ///< tokens
  std::optional<std::uint64_t> cacheExperts;     ///< slots in all; absent: planned
  std::optional<std::uint64_t> cap;              ///< slots per layer; excludes cacheExperts
  std::optional<int> threads;                    ///< absent: physical cores
  Isa isa = Isa::kAuto;
  Numerics numerics = Numerics::kVendor;
  IndexKeyRule indexKeys = IndexKeyRule::kVendor;
  std::optional<std::uint64_t> engramRows;  ///< rows of engram cache for each table; absent: planned
  std::optional<int> maxImageTokens;        ///< absent: the checkpoint's own limit, which it cannot exceed
  bool reuseGenerated = false;      ///< keep generated tokens' state for a next prompt also where a prompt would differ
  std::optional<int> prefillChunk;  ///< rows per pass
  std::optional<int> prefillSegment;  ///< tokens per sweep over the layers
  bool direct = true;
  std::optional<int> queueDepth;
  IoChoice io = IoChoice::kAuto;
  bool prefetch = false;             ///< also read experts that are only likely to be needed
  bool preload = false;              ///< fill the expert cache at load, most used experts first
  bool recordUsage = true;           ///< keep a usage history in dataFolder
  std::filesystem::path dataFolder;  ///< measured drives, usage history, past predictions; empty: nothing is remembered
  bool recordSpans = false;          ///< keep a timeline for Engine::writeTrace()
  bool needTokenizer = true;         ///< false: a missing tokenizer.json is no error, texts are empty
};

/// Facts about the loaded model.
struct ModelSummary {
  std::string name;  ///< folder name
  std::string modelType;
  std::string modelId;
  int layers = 0;
  int expertsPerLayer = 0;  ///< largest layer
  int vocabSize = 0;
  int contextLimit = 0;
  std::uint64_t expertBytes = 0;
  TokenId imageToken = -1;  ///< -1: takes no images
};

/// Live counters for displays; a consistent enough snapshot, cheap to take from any thread.
struct LiveCounters {
  std::uint64_t expertRequests = 0;
  std::uint64_t expertHits = 0;
  std::uint64_t bytesRead = 0;
  double readSeconds = 0;
  std::uint64_t expertsPrefetched = 0;  ///< read before they were asked for
  std::uint64_t prefetchedUsed = 0;     ///< of those, asked for later
  std::uint64_t prefetchedUnused = 0;   ///< of those, given up unused
  std::uint64_t engramRows = 0;         ///< table rows asked for
  std::uint64_t engramHits = 0;         ///< of those, found in the cache
  std::uint64_t engramBytesRead = 0;
  std::uint64_t expertSlots = 0;  ///< now; the memory guard may have taken some away
  std::int64_t memoryBytes = 0;
  std::int64_t memoryBudgetBytes = 0;
  std::int64_t anonymousBytes = 0;  ///< of the process, as last sampled; 0: unknown
};

struct LoadProgress {
  std::uint64_t doneBytes = 0;
  std::uint64_t totalBytes = 0;
};

/// Owns the weights, the expert cache and the compute team. Sessions of one engine run one at a time, on the thread
/// that calls them; live() may be called from any thread.
class Engine {
public:
  /// Plans, allocates and reads the resident weights. Errors: kCheckpoint, kMemory, kIo, kUnavailable, kCancelled.
  static Result<std::shared_ptr<Engine>> open(const EngineOptions& options,
                                              const std::function<void(const LoadProgress&)>& progress = {},
                                              const Cancellation& cancellation = {});
  virtual ~Engine() = default;

  [[nodiscard]] virtual const EngineOptions& options() const = 0;
  [[nodiscard]] virtual const EnginePlan& plan() const = 0;
  [[nodiscard]] virtual const ModelSummary& model() const = 0;
  [[nodiscard]] virtual double loadSeconds() const = 0;
  /// nullptr when the model has no tokenizer.json (and none was needed).
  [[nodiscard]] virtual const Tokenizer* tokenizer() const = 0;
  [[nodiscard]] virtual LiveCounters live() const = 0;
  /// 1 where an expert is in RAM, by layer then expert. Thread-safe.
  [[nodiscard]] virtual std::vector<std::uint8_t> residency() const = 0;
  /// Decayed use of each expert, 0 to 255, by layer then expert. Thread-safe.
  [[nodiscard]] virtual std::vector<std::uint8_t> heat() const = 0;
  /// One entry a folder that experts are read from. Thread-safe.
  [[nodiscard]] virtual std::vector<DriveCounters> drives() const = 0;
  /// What the engine expects of a turn that computes so many tokens of a prompt and answers with so many, given what
  /// the cache holds now. Called by the thread that runs the sessions.
  [[nodiscard]] virtual Prediction predict(std::int64_t promptTokens, std::int64_t answerTokens) const = 0;
  /// Notices since the last call: a drive that failed, a cache that was made smaller. Thread-safe; each is given once.
  [[nodiscard]] virtual std::vector<std::string> takeNotices() = 0;
  /// Writes the recorded timeline as a Chrome trace (chrome://tracing, Perfetto). kUsage without recordSpans, kIo.
  virtual Status writeTrace(const std::filesystem::path& file) const = 0;
  /// Preprocesses an image and runs the image tower over it, which is loaded for the first one and may be dropped when
  /// memory is short. On the thread that runs the sessions. kUnavailable when the model takes no images, kUsage,
  /// kMemory, kIo, kCancelled.
  virtual Result<std::shared_ptr<const EncodedImage>> encodeImage(const ImagePixels& pixels,
                                                                  const Cancellation& cancellation) = 0;
  /// A new, empty session. It keeps the engine alive.
  virtual Result<std::unique_ptr<Session>> newSession() = 0;
};

}  // namespace colibri
