// coli synth
#include "base/units.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include <colibri/checkpoint.h>

#include <iostream>

namespace colibri {
namespace {

struct Options {
  std::string preset;
  std::string out;
  std::int64_t seed = 0;
  std::int64_t layers = 0;
  std::int64_t experts = 0;
  std::string draft;
};

Status synth(Console& console, const Options& options, bool json) {
  const Interrupts::Work work(console.interrupts);
  ProgressLine line(console.err, console.errIsTerminal);
  SynthOptions how;
  how.preset = options.preset;
  how.out = options.out;
  how.seed = static_cast<std::uint64_t>(options.seed);
  if (options.layers > 0) how.layers = static_cast<int>(options.layers);
  if (options.experts > 0) how.experts = static_cast<int>(options.experts);
  if (!options.draft.empty()) how.draft = options.draft;
  how.cancellation = work.cancellation();
  how.progress = [&line](const VerifyProgress& progress) {
    line.show("Writing " + decimalSize(static_cast<double>(progress.totalBytes)), progress.doneBytes,
              progress.totalBytes);
  };
  COLIBRI_RETURN_IF_ERROR(synthesizeCheckpoint(how));
  line.clear();
  COLIBRI_ASSIGN_OR_RETURN(const CheckpointInfo info, inspectCheckpoint(options.out));
  if (json) {
    printJson(console, {{"preset", options.preset},
                        {"out", options.out},
                        {"geometry", info.geometry},
                        {"shards", info.shards},
                        {"tensors", info.tensors},
                        {"bytes", info.bytes.total},
                        {"model_id", info.modelId}});
  } else {
    console.out << "Wrote " << info.geometry << ", " << info.tensors << " tensors in " << info.shards << " shards, "
                << decimalSize(static_cast<double>(info.bytes.total)) << ", to " << options.out << '\n';
  }
  return Status::ok();
}

}  // namespace

void addSynth(CLI::App& root, Invocation& invocation) {
  auto options = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const SynthPreset& preset : synthPresets()) names.push_back(preset.name);
  Command(root, invocation, "synth", "Make a synthetic checkpoint with random weights, for benchmarks")
      .choice("--preset", options->preset, names, "Which geometry", Need::kRequired)
      .text("--out", options->out, "Folder to create", Need::kRequired)
      .number("--seed", options->seed, 0, INT64_MAX, "Decides every byte (default 0)")
      .number("--layers", options->layers, 1, 1024, "Layers instead of the preset's")
      .number("--experts", options->experts, 1, 65536, "Experts in a layer instead of the preset's")
      .choice("--draft", options->draft, {"none", "mtp", "dspark"}, "Draft stages to include")
      .json()
      .runs([options](Console& console, bool json) { return synth(console, *options, json); });
}

}  // namespace colibri
