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
  /// [r(l)], exactly `layers` entries: 0 (window only), 4 (overlapping groups and the indexer) or another ratio of at
  /// least 2 (plain groups; 128 in the releases). V4.1 also has 1.
  std::vector<int> compressRatios;
  double ropeTheta = 10000;           ///< base of layers with ratio 0
  double compressRopeTheta = 160000;  ///< base of layers with ratio != 0
  double ropeFactor = 1;              ///< YaRN, only where ratio != 0
  int originalContext = 0;            ///< YaRN original_max_position_embeddings
  double betaFast = 32;
  double betaSlow = 1;
  int maxPositions = 0;   ///< context limit in tokens
  int indexHeads = 0;     ///< [HI]
  int indexHeadDim = 0;   ///< [dI]
  int indexTopK = 0;      ///< [KI]
  int routedExperts = 0;  ///< [E]
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

  /// Reads and checks a parsed config.json. kCheckpoint with id "config_invalid" or "unsupported_model". A V4.1
  /// configuration is read (what both families share) and is no error here; supported() tells.
  static Result<ModelConfig> fromJson(const Json& json);
  /// Reads `folder`/config.json; "missing_config" when it is absent.
  static Result<ModelConfig> load(const std::filesystem::path& folder);
  /// Ok when this version can load the family; else "unsupported_model", a sentence.
  [[nodiscard]] Status supported() const;
};

/// `folder`/config.json parsed, nothing checked beyond JSON. kCheckpoint "missing_config" or "config_invalid".
Result<Json> loadConfigJson(const std::filesystem::path& folder);

}  // namespace colibri
