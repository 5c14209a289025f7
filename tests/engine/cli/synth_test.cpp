// Synthetic V4.1 checkpoints: their numbers agree with what the engine derives, and they run.
#include "checkpoint/model_config.h"
#include "checkpoint/synth_presets.h"
#include "cli_harness.h"
#include "model/engram_hash.h"
#include "text/token_classes.h"
#include <colibri/tokenizer.h>

#include <gmock/gmock.h>

#include <algorithm>

namespace colibri {
namespace {

// Whatever is overridden, primes and classes are those that the presets name.
TEST(SynthCommand, NumbersOfNGramTablesAreConsistent) {
  for (const char* preset : {"v41-tiny", "v41-wide", "v41-real-sparse"}) {
    for (const bool smaller : {false, true}) {
      SynthOptions options;
      options.preset = preset;
      if (smaller) {
        options.layers = 9;
        options.experts = 7;
      }
      const auto plan = planSynth(options);
      ASSERT_TRUE(plan) << preset << ": " << plan.status().message();
      const ModelConfig& config = plan->config;
      const Scratch scratch;
      const std::string file = scratch.write("tokenizer.json", synthTokenizerJson(config.vocabSize).dump());
      const auto tokenizer = Tokenizer::load(std::filesystem::path(file).parent_path());
      ASSERT_TRUE(tokenizer) << tokenizer.status().message();
      const auto classes = tokenClasses(**tokenizer, config.vocabSize);
      ASSERT_TRUE(classes) << classes.status().message();
      EXPECT_EQ(*std::max_element(classes->begin(), classes->end()) + 1, config.engram.classes) << preset;
      const auto hash = EngramHash::make(config.engram, (*classes)[static_cast<std::size_t>(config.engram.padToken)]);
      EXPECT_TRUE(hash) << preset << ": " << hash.status().message();
    }
  }
}

TEST(SynthCommand, TinyV41RunsAndItsNumericsDiffer) {
  const Cli coli;
  const Scratch scratch;
  const std::string folder = scratch.path("tiny");
  const CliResult made = coli({"synth", "--preset", "v41-tiny", "--out", folder, "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json().at("geometry"), "8L x 8E");
  const auto answer = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"run",          folder, "--prompt", "A prompt that leaves the trivial ranges.",
                                       "--max-tokens", "12",   "--ctx",    "256"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CliResult result = coli(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  };
  const std::string text = answer({});
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(answer({"--prefill-chunk", "3", "--cache-experts", "1", "--engram-rows", "0"}), text);
  EXPECT_NE(answer({"--numerics", "fp32"}), text);
}

}  // namespace
}  // namespace colibri
