#pragma once
// The identity of a checkpoint: what must agree before anything computed with one model may be used with another.

#include "base/json_fwd.h"
#include "checkpoint/shard_set.h"
#include <colibri/status.h>

#include <filesystem>
#include <string>

namespace colibri {

/// 32 hex digits from the parsed configuration and every header: tensor names, types, shapes and places. White space
/// and key order of config.json do not matter; tensor data is not read, so two trainings of one geometry share an id.
[[nodiscard]] std::string modelIdOf(const Json& config, const ShardSet& shards);

/// The same for a folder's config.json; errors as ModelConfig::load().
Result<std::string> modelIdOf(const std::filesystem::path& folder, const ShardSet& shards);

}  // namespace colibri
