#pragma once
// config.json as numbers that have been checked: both spellings (the hub's and the vendor's own), nested or flat.

#include "base/json_fwd.h"
#include <colibri/status.h>
#include <colibri/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace colibri {

enum class ModelFamily { kDeepSeekV4, kDeepSeekV41 };

/// Image tower and preprocessing of V4.1 (spec deepseek-v41 1.3, 6). All zero without one.
struct VisionConfig {
  int layers = 0;  ///< 0: no tower
  int width = 0;
  int heads = 0;
  int inner = 0;  ///< width of the gate and of the up branch
  int patch = 0;  ///< pixels a side
  double ropeTheta = 10000;
  int downsample = 0;      ///< patches a side that become one row of the language model
  int maxImageTokens = 0;  ///< of a whole span: start, rows with their newlines, end
  std::int64_t minPixels = 0;
  double maxWidthHeightRatio = 0;  ///< 0: no limit

  [[nodiscard]] bool present() const { return layers > 0; }
};

/// Tables that are looked up by n-gram (V4.1; spec deepseek-v41 3.9). Empty lists without any.
struct EngramConfig {
  std::vector<int> layers;         ///< ascending; a table each
  std::vector<std::int64_t> rows;  ///< of each table
  int maxNgram = 0;                ///< n-grams of 2 to maxNgram tokens
  int heads = 0;                   ///< hashes of one n-gram
  int headDim = 0;                 ///< values a row
  std::int64_t primeStart = 0;     ///< engram_vocab_size: where the search for primes begins
  TokenId padToken = 0;            ///< its class fills what is missing before the first token
  int classes = 0;                 ///< engram_compressed_vocab_size

  [[nodiscard]] bool present() const { return !layers.empty(); }
  /// Rows of one table that one token reads.
  [[nodiscard]] int columns() const { return (maxNgram - 1) * heads; }
};

/// Symbols in brackets are those of the V4 specification. All sizes are in elements; every product that the engine
/// forms has been checked against absurd values.
struct ModelConfig {
  ModelFamily family = ModelFamily::kDeepSeekV4;
  std::string modelType;  ///< "deepseek_v4"
  int vocabSize = 0;      ///< [V]
  int hiddenSize = 0;     ///< [D]
  int layers = 0;         ///< [L], main stack only
  int heads = 0;          ///< [H]
  int headDim = 0;        ///< [dh]
  int ropeDim = 0;        ///< [dr], the last channels of a head
  int qLoraRank = 0;      ///< [Rq]
  int oGroups = 0;        ///< [G]
  int oLoraRank = 0;      ///< [Ro], per group
  int slidingWindow = 0;  ///< [W]
  /// [r(l)], exactly `layers` entries: 0 (window only); in V4 4 (overlapping groups and the indexer) or another ratio
  /// of at least 2 (plain groups; 128 in the release); in V4.1 any from 1 (released: 2 and 1).
  std::vector<int> compressRatios;
  double ropeTheta = 10000;           ///< base of layers with ratio 0
  double compressRopeTheta = 160000;  ///< base of layers with ratio != 0
  double ropeFactor = 1;              ///< YaRN, only where ratio != 0
  int originalContext = 0;            ///< YaRN original_max_position_embeddings
  double betaFast = 32;
  double betaSlow = 1;
  int maxPositions = 0;   ///< context limit in tokens
  int weightBlock = 128;  ///< side of an fp8 weight's scale block, and length of an activation's: 128, V4.1 32
  /// V4.1: layers that own compressed entries and their index keys, ascending; each serves the layers up to the next.
  /// Empty in V4, where each layer with a ratio owns its own.
  std::vector<int> kvSourceLayers;
  std::vector<int> indexSourceLayers;  ///< V4.1: layers that choose entries, ascending; each for those up to the next
  int candidateSourceLayer = -1;       ///< V4.1: chooses blocks of entries for the index sources above it; -1: none
  int candidateBlocks = 0;             ///< candidate_topk_blocks
  int candidateBlockSize = 0;          ///< entries a block
  int indexHeads = 0;                  ///< [HI]
  int indexHeadDim = 0;                ///< [dI]
  int indexTopK = 0;                   ///< [KI]
  int routedExperts = 0;               ///< [E]
  int sharedExperts = 1;
  int expertsPerToken = 0;  ///< [K]
  int moeIntermediate = 0;  ///< [I]
  int hashLayers = 0;       ///< layers below this choose experts by token id
  double routedScale = 1;   ///< routed_scaling_factor
  double swigluLimit = 0;   ///< 0: no clamp
  int hcMult = 4;           ///< [m]
  int hcSinkhornIters = 20;
  double hcEps = 1e-6;
  double rmsEps = 1e-6;
  TokenId bosToken = 0;
  TokenId eosToken = 1;
  int dsparkBlock = 0;  ///< 0: no dspark_* keys
  int dsparkMarkovRank = 0;
  TokenId dsparkNoiseToken = 0;         ///< filler input of draft positions
  std::vector<int> dsparkTargetLayers;  ///< main layers that the drafter reads; empty without dspark_* keys
  int dsparkStages = 0;                 ///< V4.1: num_nextn_predict_layers (n_mtp_layers)
  int dsparkExperts = 0;                ///< V4.1: routed experts of a stage
  int dsparkExpertsPerToken = 0;
  EngramConfig engram;
  TokenId imageToken = -1;  ///< id of every position of an image; -1: the model takes no images
  VisionConfig vision;

  /// Reads and checks a parsed config.json. kCheckpoint with id "config_invalid" or "unsupported_model".
  static Result<ModelConfig> fromJson(const Json& json);
  /// Reads `folder`/config.json; "missing_config" when it is absent.
  static Result<ModelConfig> load(const std::filesystem::path& folder);
};

/// `folder`/config.json parsed, nothing checked beyond JSON. kCheckpoint "missing_config" or "config_invalid".
Result<Json> loadConfigJson(const std::filesystem::path& folder);

}  // namespace colibri
