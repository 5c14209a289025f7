#include "checkpoint/synth_presets.h"

#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace colibri {
namespace {

// DeepSeek V4 Flash.
ModelConfig flash() {
  ModelConfig c;
  c.modelType = "deepseek_v4";
  c.vocabSize = 129280;
  c.hiddenSize = 4096;
  c.layers = 43;
  c.heads = 64;
  c.headDim = 512;
  c.ropeDim = 64;
  c.qLoraRank = 1024;
  c.oGroups = 8;
  c.oLoraRank = 1024;
  c.slidingWindow = 128;
  c.ropeFactor = 16;
  c.originalContext = 65536;
  c.maxPositions = 1048576;
  c.indexHeads = 64;
  c.indexHeadDim = 128;
  c.indexTopK = 512;
  c.routedExperts = 256;
  c.expertsPerToken = 6;
  c.moeIntermediate = 2048;
  c.hashLayers = 3;
  c.routedScale = 1.5;
  c.swigluLimit = 10;
  return c;
}

// True sizes within a layer, few layers and experts.
ModelConfig wide() {
  ModelConfig c = flash();
  c.vocabSize = 4096;
  c.layers = 6;
  c.routedExperts = 48;
  return c;
}

// Every kind of layer at a few megabytes; short prompts already leave the trivial ranges.
ModelConfig tiny() {
  ModelConfig c = flash();
  c.vocabSize = 512;
  c.hiddenSize = 256;
  c.layers = 6;
  c.heads = 4;
  c.headDim = 192;
  c.qLoraRank = 128;
  c.oGroups = 2;
  c.oLoraRank = 128;
  c.slidingWindow = 8;
  c.indexHeads = 2;
  c.indexTopK = 2;
  c.routedExperts = 8;
  c.expertsPerToken = 2;
  c.moeIntermediate = 128;
  c.hashLayers = 1;
  return c;
}

// DeepSeek V4.1 Flash. Its lists of layers follow from the number of layers (addSources).
ModelConfig flash41() {
  ModelConfig c = flash();
  c.family = ModelFamily::kDeepSeekV41;
  c.modelType = "deepseek_v41";
  c.weightBlock = 32;
  c.hiddenSize = 5120;
  c.layers = 40;
  c.qLoraRank = 1280;
  c.indexHeads = 32;
  c.routedExperts = 384;
  c.moeIntermediate = 2304;
  c.hashLayers = 0;
  c.rmsEps = 1e-20;
  c.candidateBlocks = 2048;
  c.candidateBlockSize = 8;
  c.engram.maxNgram = 4;
  c.engram.heads = 8;
  c.engram.headDim = 256;
  c.engram.primeStart = 16000000;
  c.engram.rows = {384006168, 384016682};
  c.engram.padToken = 2;
  c.engram.classes = 129251;
  c.vision = {32, 1024, 16, 2816, 14, 10000, 3, 1024, 295936, 0};
  return c;
}

// The rows of a table are the sum of its primes, and the classes those of synthTokenizerJson(); a test derives both.
ModelConfig wide41() {
  ModelConfig c = flash41();
  c.vocabSize = 4096;
  c.layers = 8;
  c.routedExperts = 96;
  c.engram.primeStart = 83333;
  c.engram.rows = {2002908, 2009684};
  c.engram.classes = 4067;
  c.vision.layers = 2;
  return c;
}

ModelConfig tiny41() {
  ModelConfig c = flash41();
  const ModelConfig small = tiny();
  c.vocabSize = small.vocabSize;
  c.hiddenSize = small.hiddenSize;
  c.layers = 8;
  c.heads = small.heads;
  c.headDim = small.headDim;
  c.qLoraRank = small.qLoraRank;
  c.oGroups = small.oGroups;
  c.oLoraRank = small.oLoraRank;
  c.slidingWindow = small.slidingWindow;
  c.indexHeads = small.indexHeads;
  c.indexTopK = 4;
  c.candidateBlocks = 3;
  c.candidateBlockSize = 2;
  c.routedExperts = small.routedExperts;
  c.expertsPerToken = small.expertsPerToken;
  c.moeIntermediate = small.moeIntermediate;
  c.engram.headDim = 64;
  c.engram.primeStart = 200;
  c.engram.rows = {6660, 10150};
  c.engram.classes = 483;
  c.vision = {1, 64, 1, 96, 14, 10000, 3, 40, 7056, 0};
  return c;
}

struct Preset {
  const char* name;
  const char* description;
  ModelConfig (*config)();
  const char* draft;
  int markovRank;
  bool sparse;
};

constexpr Preset kPresets[] = {
    {"v4-tiny", "Every kind of layer in 12 MB; for tests.", tiny, "dspark", 32, false},
    {"v4-wide", "True V4 Flash layers, 6 of them with 48 experts, 4.8 GB; for benchmarks.", wide, "none", 256, false},
    {"v4-real-sparse", "V4 Flash's whole geometry without data: 159.6 GB of apparent size, a few MB of disk.", flash,
     "mtp", 256, true},
    {"v4-0731-real-sparse", "The same for the release with the three-stage drafter: 166.9 GB of apparent size.", flash,
     "dspark", 256, true},
    {"v41-tiny", "V4.1: every kind of layer, n-gram tables, three draft stages and an image tower in 18 MB; for tests.",
     tiny41, "dspark", 32, false},
    {"v41-wide", "True V4.1 Flash layers, 8 of them with 96 experts, two n-gram tables, 19.9 GB; for benchmarks.",
     wide41, "dspark", 256, false},
    {"v41-real-sparse", "V4.1 Flash's whole geometry without data: 510.3 GB of apparent size, a few MB of disk.",
     flash41, "dspark", 256, true},
};

Status usage(std::string id, std::string message) {
  return {Code::kUsage, std::move(id), std::move(message)};
}

// Roles of V4.1's layers in the proportions of the release, which 40 layers give: two layers without entries, then
// ratio 2 with three sources, then ratio 1 with one source of entries and four further layers that choose.
void addSources(ModelConfig& c) {
  const int paired = std::max(2, static_cast<int>(std::lround((c.layers - 2) * 18.0 / 38.0)));
  const int single = 2 + paired;  // first layer of ratio 1
  for (int layer = 0; layer < c.layers; ++layer) c.compressRatios.push_back(layer < 2 ? 0 : layer < single ? 2 : 1);
  const auto add = [](std::vector<int>& list, int from, int end, int step, std::size_t most) {
    for (int layer = from; layer < end && most > 0; layer += step, --most) list.push_back(layer);
  };
  add(c.kvSourceLayers, 2, single, std::max(2, paired / 3), 3);
  c.indexSourceLayers = c.kvSourceLayers;
  c.engram.layers = {1, c.kvSourceLayers.back()};
  c.kvSourceLayers.push_back(single);
  add(c.indexSourceLayers, single, c.layers, std::max(2, (c.layers - single) / 5), 5);
  c.candidateSourceLayer = single;
}

Status addDrafter(const std::string& draft, int markovRank, SynthPlan& plan) {
  ModelConfig& c = plan.config;
  const bool v41 = c.family == ModelFamily::kDeepSeekV41;
  if (draft == "none") return Status::ok();
  if (draft == "mtp" && !v41) {
    plan.draft = {DraftKind::kMtp, {c.routedExperts}, 0, 0};
    return Status::ok();
  }
  if (draft != "dspark") {
    return usage("bad_option",
                 "There is no drafter \"" + draft + "\" here; there are none, " + (v41 ? "" : "mtp ") + "and dspark.");
  }
  if (c.layers < 3) return usage("bad_option", "The dspark drafter reads the last three layers; there are fewer.");
  constexpr int kStages = 3;
  c.dsparkBlock = 5;
  c.dsparkMarkovRank = markovRank;
  c.dsparkTargetLayers = {c.layers - 3, c.layers - 2, c.layers - 1};
  if (v41) {
    c.dsparkStages = kStages;
    c.dsparkExperts = std::max(4, c.routedExperts / 3);
    c.dsparkExpertsPerToken = std::min(3, c.expertsPerToken);
    c.dsparkNoiseToken = synthTokenId(kSynthSystemToken, c.vocabSize);
  } else {
    c.dsparkNoiseToken = c.vocabSize == 129280 ? 128799 : c.vocabSize - 1;
  }
  plan.draft = {DraftKind::kDspark, std::vector<int>(kStages, v41 ? c.dsparkExperts : c.routedExperts), markovRank, 3};
  return Status::ok();
}

}  // namespace

std::vector<SynthPreset> synthPresets() {
  std::vector<SynthPreset> presets;
  for (const Preset& preset : kPresets) presets.push_back({preset.name, preset.description});
  return presets;
}

Result<SynthPlan> planSynth(const SynthOptions& options) {
  const auto* preset = std::find_if(std::begin(kPresets), std::end(kPresets),
                                    [&](const Preset& candidate) { return options.preset == candidate.name; });
  if (preset == std::end(kPresets)) {
    std::string names;
    for (const Preset& candidate : kPresets) names += (names.empty() ? "" : ", ") + std::string(candidate.name);
    return usage("unknown_preset", "There is no preset \"" + options.preset + "\"; there are " + names + ".");
  }
  SynthPlan plan;
  plan.sparse = preset->sparse;
  ModelConfig& c = plan.config;
  c = preset->config();
  c.layers = options.layers.value_or(c.layers);
  c.routedExperts = options.experts.value_or(c.routedExperts);
  const std::string draft = options.draft.value_or(preset->draft);
  if (c.layers < 1) return usage("bad_option", "A model needs at least one layer.");
  c.hashLayers = std::min(c.hashLayers, c.layers);
  if (c.family == ModelFamily::kDeepSeekV41) {
    constexpr int kLeast = 6;
    if (c.layers < kLeast) return usage("bad_option", "A V4.1 model with every kind of layer has at least 6 layers.");
    addSources(c);
    c.imageToken = synthTokenId(kSynthImageToken, c.vocabSize);
  } else {
    for (int layer = 0; layer < c.layers; ++layer) c.compressRatios.push_back(layer < 2 ? 0 : layer % 2 == 0 ? 4 : 128);
  }
  COLIBRI_RETURN_IF_ERROR(addDrafter(draft, preset->markovRank, plan));
  // What is written must be what the reader accepts.
  const auto checked = ModelConfig::fromJson(Json::parse(synthConfigJson(plan).dump()));
  if (!checked) return usage("bad_option", checked.status().message());
  return plan;
}

}  // namespace colibri
