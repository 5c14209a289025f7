// Many turns hold no more memory than a few.

#include "base/process_memory.h"
#include "property/subject.h"
#include <colibri/session.h>

namespace colibri::test {
namespace {

std::int64_t held() {
  return static_cast<std::int64_t>(anonymousMemoryBytes().value_or(0));
}

TEST(Endurance, TwoHundredTurnsDoNotGrow) {
  if (!anonymousMemoryBytes()) GTEST_SKIP() << "this system does not tell";
  const Subject subject = openSubject("demo");
  EngineOptions options;
  options.model = subject.folder;
  options.context = 96;
  options.cacheExperts = 6;  // most experts are read again in every turn
  options.prefillSegment = 16;
  const auto engine = Engine::open(options);
  ASSERT_TRUE(engine.isOk()) << engine.status().message();
  auto session = (*engine)->newSession();
  ASSERT_TRUE(session.isOk());
  GenerateOptions generate;
  generate.maxTokens = 6;
  generate.ignoreEos = true;
  std::int64_t early = 0;
  for (int turn = 1; turn <= 200; ++turn) {
    // Continued, branched and new conversations, a stopped answer now and then, and a new session for every fifth turn.
    std::vector<TokenId> prompt = subject.prompt(static_cast<std::size_t>(8 + turn % 40));
    prompt[static_cast<std::size_t>(turn) % 3 * 3] = turn % subject.vocabSize;
    if (turn % 5 == 0) {
      session = (*engine)->newSession();
      ASSERT_TRUE(session.isOk());
    }
    const Cancellation cancellation;
    GenerateCallbacks callbacks;
    if (turn % 7 == 0) callbacks.token = [&](const TokenEvent&) { cancellation.cancel(); };
    const auto answer = (*session)->generate(prompt, generate, cancellation, callbacks);
    ASSERT_TRUE(answer.isOk()) << answer.status().message();
    ASSERT_GT(answer->completionTokens, 0);
    (void)(*engine)->takeNotices();
    if (turn == 20) early = held();
  }
  // A leak of one page a turn is seen; the allocator's own ups and downs are not.
  EXPECT_LT(held() - early, std::int64_t{180} * 4096);
}

}  // namespace
}  // namespace colibri::test
