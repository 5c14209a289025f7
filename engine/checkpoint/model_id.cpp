#include "checkpoint/model_id.h"

#include "base/hash.h"
#include "base/json.h"
#include "checkpoint/model_config.h"

#include <cstring>
#include <span>
#include <string_view>

namespace colibri {
namespace {

// Every field is followed by its length or is of fixed size, so no two checkpoints give the same bytes.
void append(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

void append(std::string& out, std::string_view text) {
  append(out, static_cast<std::uint64_t>(text.size()));
  out.append(text);
}

}  // namespace

std::string modelIdOf(const Json& config, const ShardSet& shards) {
  constexpr std::size_t kFlush = std::size_t{1} << 20;
  Sha256 hash;
  std::string block;
  append(block, config.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (const Shard& shard : shards.shards()) {
    append(block, shard.name);
    append(block, shard.fileBytes);
  }
  for (const TensorInfo& tensor : shards.tensors()) {
    append(block, tensor.name);
    append(block, static_cast<std::uint64_t>(tensor.dtype));
    append(block, static_cast<std::uint64_t>(tensor.shape.size()));
    for (const std::uint64_t dimension : tensor.shape) append(block, dimension);
    append(block, static_cast<std::uint64_t>(tensor.shard));
    append(block, tensor.offset);
    if (block.size() >= kFlush) {
      hash.update(std::as_bytes(std::span(block)));
      block.clear();
    }
  }
  hash.update(std::as_bytes(std::span(block)));
  return hash.finishHex().substr(0, 32);
}

Result<std::string> modelIdOf(const std::filesystem::path& folder, const ShardSet& shards) {
  COLIBRI_ASSIGN_OR_RETURN(const Json json, loadConfigJson(folder));
  return modelIdOf(json, shards);
}

}  // namespace colibri
