#pragma once
// What looking up n-grams needs besides the checkpoint's own tensors: derived once, kept in the data folder.

#include "checkpoint/model_config.h"
#include "model/engram_hash.h"
#include <colibri/status.h>
#include <colibri/tokenizer.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace colibri {

struct EngramTables {
  std::vector<std::int32_t> classOf;  ///< [vocab] class of each token
  EngramHash hash;

  friend bool operator==(const EngramTables&, const EngramTables&) = default;
};

/// The tables of a model with n-gram tables: those of an existing dsv41_engram.json beside its config.json, which must
/// agree with what Colibri derives (kCheckpoint "engram_tables_invalid" says where not); else those that were kept in
/// `dataFolder` under `modelId`; else derived from `tokenizer` and kept there. `tokenizer` may be null, `dataFolder`
/// and `modelId` empty. What was kept and is damaged is made again; a folder that cannot be written is a sentence in
/// `notices` (may be null). Nothing is written into `modelFolder`. kCheckpoint "tokenizer_missing" when there is
/// nothing to derive from, errors as tokenClasses() and EngramHash::make().
Result<EngramTables> openEngramTables(const ModelConfig& config, const std::filesystem::path& modelFolder,
                                      const Tokenizer* tokenizer, const std::filesystem::path& dataFolder,
                                      const std::string& modelId, std::vector<std::string>* notices);

/// Derived from the tokenizer alone. kCheckpoint also when the tokenizer does not give EngramConfig::classes classes.
Result<EngramTables> deriveEngramTables(const ModelConfig& config, const Tokenizer& tokenizer);

/// Reads the text of a dsv41_engram.json and checks it against the config: sizes, class numbers, and all constants
/// against the derived ones. `what` names the source. kCheckpoint "engram_tables_invalid".
Result<EngramTables> parseEngramTables(const ModelConfig& config, std::string_view json, std::string_view what);

/// The same as text of a dsv41_engram.json; multipliers are decimal strings, since they may exceed 2^53.
[[nodiscard]] std::string engramTablesJson(const ModelConfig& config, const EngramTables& tables);

/// Where a model's tables are kept; empty without a folder or an id.
[[nodiscard]] std::filesystem::path engramTablesFile(const std::filesystem::path& dataFolder,
                                                     const std::string& modelId);

}  // namespace colibri
