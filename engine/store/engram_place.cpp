// Where the n-gram tables lie.

#include "checkpoint/dtype.h"
#include "store/engram_store.h"

#include <string>
#include <utility>

namespace colibri {
namespace {

Result<Extent> placeOf(const ShardSet& shards, const std::string& name, Dtype dtype, std::uint64_t rows,
                       std::uint64_t width) {
  const TensorInfo* tensor = shards.find(name);
  if (tensor == nullptr) {
    return Status(Code::kCheckpoint, "tensor_missing",
                  name + " is in none of the shards; download the missing files again ('coli verify' lists them).");
  }
  if (tensor->dtype != dtype) {
    return Status(Code::kCheckpoint, "tensor_dtype",
                  name + " is " + std::string(dtypeName(tensor->dtype)) + "; " + std::string(dtypeName(dtype)) +
                      " was expected. The files do not belong to this config.json.");
  }
  if (tensor->shape != std::vector<std::uint64_t>{rows, width}) {
    return Status(Code::kCheckpoint, "tensor_shape",
                  name + " has another shape than the [" + std::to_string(rows) + ", " + std::to_string(width) +
                      "] that config.json asks for. The files do not belong together.");
  }
  return Extent{tensor->shard, tensor->offset, tensor->bytes};
}

}  // namespace

Result<std::vector<EngramTable>> engramTables(const ModelConfig& config, const ShardSet& shards) {
  std::vector<EngramTable> tables;
  for (std::size_t i = 0; i < config.engram.layers.size(); ++i) {
    EngramTable table;
    table.layer = config.engram.layers[i];
    table.rows = config.engram.rows[i];
    table.dim = config.engram.headDim;
    const auto rows = static_cast<std::uint64_t>(table.rows);
    const auto dim = static_cast<std::uint64_t>(table.dim);
    const std::string prefix = "layers." + std::to_string(table.layer) + ".engram.embed.";
    COLIBRI_ASSIGN_OR_RETURN(table.codes, placeOf(shards, prefix + "weight", Dtype::kF8E4M3, rows, dim));
    COLIBRI_ASSIGN_OR_RETURN(table.scales,
                             placeOf(shards, prefix + "scale", Dtype::kF8E8M0, rows, dim / kEngramScaleBlock));
    tables.push_back(table);
  }
  return tables;
}

}  // namespace colibri
