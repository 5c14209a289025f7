// coli info
#include "base/units.h"
#include "cli/commands.h"
#include <colibri/checkpoint.h>

#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> shardDirs;
};

OrderedJson infoJson(const CheckpointInfo& info) {
  const CheckpointBytes& bytes = info.bytes;
  return {{"model_type", info.modelType},
          {"geometry", info.geometry},
          {"layers", info.layers},
          {"experts_per_layer", info.expertsPerLayer},
          {"experts_per_token", info.expertsPerToken},
          {"tensors", info.tensors},
          {"shards", info.shards},
          {"bytes",
           {{"total", bytes.total},
            {"routed_experts", bytes.routedExperts},
            {"engram", bytes.engram},
            {"dense", bytes.dense},
            {"embedding", bytes.embedding},
            {"head", bytes.head},
            {"draft", bytes.draft},
            {"vision", bytes.vision}}},
          {"expert_bytes", info.expertBytes},
          {"routed_bytes_per_token", info.routedBytesPerToken},
          {"dense_bytes_per_token", info.denseBytesPerToken},
          {"context_limit", info.contextLimit},
          {"model_id", info.modelId},
          {"features", info.features},
          {"supported", info.supported},
          {"unsupported_reason", info.unsupportedReason}};
}

void printText(std::ostream& out, const CheckpointInfo& info) {
  const auto size = [](std::uint64_t bytes) { return decimalSize(static_cast<double>(bytes)); };
  const auto part = [&](const char* name, std::uint64_t bytes) {
    if (bytes > 0) out << "  " << name << size(bytes) << '\n';
  };
  out << info.modelType << ", " << info.geometry << ", " << info.expertsPerToken << " experts a token\n"
      << info.tensors << " tensors in " << info.shards << (info.shards == 1 ? " shard, " : " shards, ")
      << size(info.bytes.total) << '\n';
  part("routed experts  ", info.bytes.routedExperts);
  part("dense           ", info.bytes.dense);
  part("embedding       ", info.bytes.embedding);
  part("head            ", info.bytes.head);
  part("draft           ", info.bytes.draft);
  part("engram          ", info.bytes.engram);
  part("vision          ", info.bytes.vision);
  out << "One token reads " << size(info.routedBytesPerToken) << " of experts and " << size(info.denseBytesPerToken)
      << " that every token needs\n"
      << "Context up to " << info.contextLimit << " tokens\nFeatures:";
  for (const std::string& feature : info.features) out << ' ' << feature;
  out << "\nModel id " << info.modelId << '\n';
  if (!info.supported) out << "This version cannot run it: " << info.unsupportedReason << '\n';
}

Status inspect(Console& console, const Options& options, bool json) {
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  const std::vector<std::filesystem::path> folders(options.shardDirs.begin(), options.shardDirs.end());
  COLIBRI_ASSIGN_OR_RETURN(const CheckpointInfo info, inspectCheckpoint(folder, folders));
  if (json) {
    printJson(console, infoJson(info));
  } else {
    printText(console.out, info);
  }
  return Status::ok();
}

}  // namespace

void addInfo(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "info", "What is in a checkpoint, from its headers")
      .model(options->model)
      .list("--shard-dir", options->shardDirs, "Further folder with shards (repeat for more)")
      .json()
      .runs([options](Console& console, bool json) { return inspect(console, *options, json); });
}

}  // namespace colibri
