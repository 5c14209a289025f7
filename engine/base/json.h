#pragma once
// Strict JSON reading for files from strangers: bounded size and depth, no duplicate keys, errors in words.

#include "base/json_fwd.h"
#include <colibri/status.h>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace colibri {

struct JsonLimits {
  std::size_t maxBytes = std::size_t{64} << 20;
  int maxDepth = 64;
};

/// Parses `text`. Refuses duplicate keys, depth beyond the limit, invalid UTF-8 and anything after the value.
/// `what` names the source in the message ("config.json"); errors are kCheckpoint with id `id`.
Result<Json> parseJson(std::string_view text, std::string_view what, std::string_view id, JsonLimits limits = {});

/// Whole file as bytes; kIo or kCheckpoint ("missing_…" is the caller's to word) when it is absent, no file, or too
/// large.
Result<std::string> readFile(const std::filesystem::path& path, std::size_t maxBytes);

}  // namespace colibri
