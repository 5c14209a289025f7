// A checkpoint that Colibri writes itself is one that it can load and run.

#include "session/session_core.h"
#include <colibri/checkpoint.h>
#include <colibri/tokenizer.h>

#include <gtest/gtest.h>

#include <filesystem>

namespace colibri {
namespace {

TEST(Synthetic, TinyCheckpointLoadsAndAnswers) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "colibri-synthetic-tiny";
  std::filesystem::remove_all(folder);
  SynthOptions synth;
  synth.preset = "v4-tiny";
  synth.out = folder;
  const auto made = synthesizeCheckpoint(synth);
  ASSERT_TRUE(made.isOk()) << made.message();
  EngineOptions options;
  options.model = folder;
  options.context = 256;
  options.ramBytes = std::uint64_t{400} << 20;
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine.isOk()) << engine.status().message();
  ASSERT_NE(engine.value()->tokenizer(), nullptr);
  auto session = engine.value()->newSession();
  ASSERT_TRUE(session.isOk());
  GenerateOptions generate;
  generate.maxTokens = 8;
  generate.ignoreEos = true;
  const auto answer =
      session.value()->generate(engine.value()->tokenizer()->encode("Hello, world\r\n", false), generate, {});
  ASSERT_TRUE(answer.isOk()) << answer.status().message();
  EXPECT_EQ(answer.value().finishReason, FinishReason::kLength);
  EXPECT_EQ(answer.value().tokens.size(), 8U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace colibri
