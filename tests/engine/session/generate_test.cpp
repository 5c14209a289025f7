// Session::generate and sync on the demo model.

#include "session/session_core.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace colibri {
namespace {

class Generate : public testing::Test {
protected:
  static void SetUpTestSuite() {
    EngineOptions options;
    options.model = std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model";
    options.numerics = Numerics::kFp32;
    options.context = 512;
    options.ramBytes = std::uint64_t{200} << 20;
    auto engine = Engine::open(options);
    ASSERT_TRUE(engine.isOk()) << engine.status().message();
    s_engine = engine.value();
    std::ifstream in(std::filesystem::path(COLIBRI_GOLDEN_DIR) / "demo" / "golden.json");
    s_golden = nlohmann::json::parse(in);
  }
  static void TearDownTestSuite() { s_engine.reset(); }

  static std::unique_ptr<Session> session() { return std::move(s_engine->newSession()).value(); }
  static std::vector<TokenId> prompt(std::size_t i) {
    return s_golden["cases"][i]["prompt_ids"].get<std::vector<TokenId>>();
  }
  static Answer run(Session& session, const std::vector<TokenId>& prompt, const GenerateOptions& options = {}) {
    auto answer = session.generate(prompt, options, {});
    EXPECT_TRUE(answer.isOk()) << answer.status().message();
    return answer.isOk() ? answer.value() : Answer{};
  }

  static std::shared_ptr<Engine> s_engine;
  static nlohmann::json s_golden;
};

std::shared_ptr<Engine> Generate::s_engine;
nlohmann::json Generate::s_golden;

TEST_F(Generate, EveryGoldenAnswerIsEqual) {
  const auto s = session();
  for (const auto& golden : s_golden["cases"]) {
    GenerateOptions options;
    options.maxTokens = 120;
    options.startsInReasoning = golden["thinking"];
    const Answer answer = run(*s, golden["prompt_ids"].get<std::vector<TokenId>>(), options);
    EXPECT_EQ(answer.tokens, golden["output_ids"].get<std::vector<TokenId>>()) << golden["name"];
    EXPECT_EQ(answer.finishReason, FinishReason::kStop) << golden["name"];
    const std::string text = golden["output_text"];
    const std::size_t close = text.find("</think>");
    const std::string content = options.startsInReasoning ? text.substr(close + 8) : text;
    // The golden text may end in the end-of-sentence token's own text.
    EXPECT_EQ(content.rfind(answer.text, 0), 0U) << golden["name"] << ": " << answer.text;
    if (options.startsInReasoning) {
      EXPECT_EQ(answer.reasoning, text.substr(0, close)) << golden["name"];
    }
  }
}

TEST_F(Generate, TokenEventsAreTheAnswer) {
  const auto s = session();
  std::string text;
  std::vector<TokenId> ids;
  GenerateCallbacks callbacks;
  callbacks.token = [&](const TokenEvent& event) {
    text += event.text;
    if (event.id >= 0) ids.push_back(event.id);
    EXPECT_LE(event.logprob, 0);
  };
  const auto answer = s->generate(prompt(1), {}, {}, callbacks);
  ASSERT_TRUE(answer.isOk());
  EXPECT_EQ(text, answer->text);
  EXPECT_EQ(ids, answer->tokens);
  EXPECT_FALSE(text.empty());
}

TEST_F(Generate, StopStringEndsTheAnswerBeforeIt) {
  const auto s = session();
  const std::string whole = run(*s, prompt(1)).text;
  ASSERT_GT(whole.size(), 12U);
  GenerateOptions options;
  options.stop = {whole.substr(7, 5)};
  const Answer cut = run(*s, prompt(1), options);
  EXPECT_EQ(cut.text, whole.substr(0, whole.find(options.stop[0])));
  EXPECT_EQ(cut.finishReason, FinishReason::kStop);
}

TEST_F(Generate, LimitsEndWithLength) {
  const auto s = session();
  GenerateOptions options;
  options.maxTokens = 3;
  Answer answer = run(*s, prompt(1), options);
  EXPECT_EQ(answer.completionTokens, 3);
  EXPECT_EQ(answer.finishReason, FinishReason::kLength);
  options.maxTokens = 0;
  answer = run(*s, prompt(1), options);
  EXPECT_EQ(answer.completionTokens, 0);
  options.maxTokens = -1;
  options.ignoreEos = true;
  answer = run(*s, prompt(1), options);
  EXPECT_EQ(answer.promptTokens + answer.completionTokens, 512);
  EXPECT_EQ(answer.finishReason, FinishReason::kLength);
  EXPECT_EQ(std::count(answer.tokens.begin(), answer.tokens.end(), 1), 0);
}

TEST_F(Generate, SecondTurnReusesTheFirst) {
  const auto s = session();
  std::vector<TokenId> tokens(40);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(100 + i * 7);
  (void)run(*s, tokens);
  std::vector<TokenId> other = tokens;
  other.back() = 55;  // as when the last header changes
  other.push_back(66);
  const Answer warm = run(*s, other);
  EXPECT_EQ(warm.reusedTokens, 39);
  const Answer cold = run(*session(), other);
  EXPECT_EQ(cold.reusedTokens, 0);
  EXPECT_EQ(warm.tokens, cold.tokens);
}

TEST_F(Generate, BadPromptsAreRefusedAndChangeNothing) {
  const auto s = session();
  ASSERT_TRUE(s->sync(prompt(1), {}).isOk());
  const std::vector<float> logits(s->logits().begin(), s->logits().end());
  for (const std::vector<TokenId>& bad : {std::vector<TokenId>{}, {0, -1}, {0, 3072}, std::vector<TokenId>(513, 5)}) {
    const Status status = s->sync(bad, {});
    EXPECT_EQ(status.code(), Code::kUsage) << status.message();
  }
  EXPECT_EQ(std::vector<float>(s->logits().begin(), s->logits().end()), logits);
}

TEST_F(Generate, CancelKeepsWhatWasSaidAndTheSessionGoesOn) {
  const auto s = session();
  const Answer whole = run(*s, prompt(1));
  const Cancellation cancellation;
  int seen = 0;
  GenerateCallbacks callbacks;
  callbacks.token = [&](const TokenEvent&) {
    if (++seen == 4) cancellation.cancel();
  };
  const auto partial = s->generate(prompt(1), {}, cancellation, callbacks);
  ASSERT_TRUE(partial.isOk());
  EXPECT_EQ(partial->finishReason, FinishReason::kCancelled);
  EXPECT_EQ(partial->completionTokens, 4);
  EXPECT_EQ(whole.text.rfind(partial->text, 0), 0U);
  EXPECT_EQ(run(*s, prompt(1)).tokens, whole.tokens);
}

TEST_F(Generate, CancelDuringThePromptGivesAnEmptyAnswer) {
  const auto s = session();
  const Cancellation cancellation;
  cancellation.cancel();
  const auto answer = s->generate(prompt(2), {}, cancellation);
  ASSERT_TRUE(answer.isOk());
  EXPECT_EQ(answer->finishReason, FinishReason::kCancelled);
  EXPECT_EQ(answer->completionTokens, 0);
  EXPECT_EQ(run(*s, prompt(2)).tokens, run(*session(), prompt(2)).tokens);
}

TEST_F(Generate, FiguresAddUp) {
  const auto s = session();
  const Answer a = run(*s, prompt(3));
  const TimeSplit& t = a.timings.split;
  const double parts = t.diskWaitSeconds + t.expertSeconds + t.denseSeconds + t.attentionSeconds + t.otherSeconds;
  EXPECT_NEAR(parts, a.timings.prefillSeconds + a.timings.decodeSeconds, 1e-3);
  EXPECT_EQ(a.experts.requests, a.experts.hits + a.experts.misses);
  EXPECT_EQ(a.experts.bytesMissed, a.experts.misses * s_engine->model().expertBytes);
  EXPECT_LE(a.memoryPeakBytes, a.memoryBudgetBytes);
  std::uint64_t used = 0;
  for (const MemoryPart& part : s_engine->plan().parts) used += part.bytes;
  EXPECT_EQ(used, s_engine->plan().usedBytes);
}

}  // namespace
}  // namespace colibri
