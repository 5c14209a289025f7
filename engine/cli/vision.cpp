// coli vision
#include "checkpoint/model_config.h"
#include "checkpoint/shard_set.h"
#include "cli/commands.h"
#include "cli/safetensors_writer.h"
#include "kernels/kernels.h"
#include "plan/probe.h"
#include "session/image_encoder.h"
#include <colibri/engine.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string model;
  std::string image;
  std::string out;
  GivenSettings given;
};

NamedTensor tensor(std::string name, const std::vector<float>& values, int width) {
  const auto columns = static_cast<std::uint64_t>(width);
  NamedTensor result{std::move(name), Dtype::kF32, {values.size() / columns, columns}, {}};
  result.data.resize(values.size() * sizeof(float));
  std::memcpy(result.data.data(), values.data(), result.data.size());
  return result;
}

/// Only what the tower alone can obey; the rest would be silently without effect.
Status checkSettings(const GivenSettings& given) {
  constexpr std::array kUsed{Setting::kShardDir, Setting::kThreads, Setting::kIsa, Setting::kNumerics,
                             Setting::kMaxImageTokens};
  for (const auto& [setting, values] : given) {
    if (std::find(kUsed.begin(), kUsed.end(), setting) != kUsed.end()) continue;
    return Status(Code::kUnavailable, "unavailable_option",
                  settingInfo(setting).flag() + " has no effect on 'coli vision', which runs the image tower alone.");
  }
  return Status::ok();
}

Status vision(Console& console, const Options& options, bool json) {
  COLIBRI_RETURN_IF_ERROR(checkSettings(options.given));
  COLIBRI_ASSIGN_OR_RETURN(const Settings settings, resolveSettings(console, options.given));
  COLIBRI_ASSIGN_OR_RETURN(const auto folder, resolveModel(console, options.model));
  const EngineOptions engine = settings.engineOptions(folder);
  COLIBRI_ASSIGN_OR_RETURN(const ModelConfig config, ModelConfig::load(folder));
  COLIBRI_ASSIGN_OR_RETURN(const Kernels* kernels, kernelsFor(engine.isa));
  const Interrupts::Work work(console.interrupts);
  COLIBRI_ASSIGN_OR_RETURN(const auto shards, ShardSet::open(folder, engine.shardDirs));
  std::vector<ReadFile> files;
  for (const Shard& shard : shards->shards()) files.push_back({FileCopy{shard.path, 0}});
  const Team team(engine.threads.value_or(physicalCores()));
  COLIBRI_ASSIGN_OR_RETURN(const auto encoder,
                           ImageEncoder::create(config, *shards, *kernels, team, engine.numerics, engine.maxImageTokens,
                                                files, std::make_shared<Ledger>()));
  COLIBRI_ASSIGN_OR_RETURN(const ImagePixels pixels, loadImage(options.image));
  COLIBRI_ASSIGN_OR_RETURN(const ImageEncoder::Encoding encoding, encoder->compute(pixels, true, work.cancellation()));
  const NamedTensor tensors[] = {tensor("tower", encoding.rows.tower, config.vision.width),
                                 tensor("aligner", encoding.rows.aligner, config.hiddenSize)};
  COLIBRI_RETURN_IF_ERROR(writeSafetensors(options.out, tensors));
  const ImageGrid grid = encoding.size.grid;
  if (json) {
    printJson(console, {{"width", encoding.size.width},
                        {"height", encoding.size.height},
                        {"patches", {encoding.size.patchRows, encoding.size.patchColumns}},
                        {"grid", {grid.rows, grid.columns}},
                        {"tokens", grid.tokens()},
                        {"id", encoding.id}});
  } else {
    console.err << pixels.width << " x " << pixels.height << " pixels became " << encoding.size.width << " x "
                << encoding.size.height << ", " << grid.tokens() << " tokens. Wrote tower and aligner to "
                << options.out << std::endl;
  }
  return Status::ok();
}

}  // namespace

void addVision(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  Command(root, invocation, "vision",
          "What the image tower makes of an image (DeepSeek V4.1), without the other weights")
      .model(options->model)
      .text("--image", options->image, "PNG, JPEG or WebP file", Need::kRequired)
      .text("--out", options->out, "safetensors file to write: tower and aligner", Need::kRequired)
      .settings(SettingScope::kEngine, options->given)
      .json()
      .runs([options](Console& console, bool json) { return vision(console, *options, json); });
}

}  // namespace colibri
