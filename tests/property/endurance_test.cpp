// Many turns hold no more memory than a few.

#include "base/process_memory.h"
#include "property/subject.h"
#include <colibri/session.h>

#include <algorithm>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace colibri::test {
namespace {

std::int64_t held() {
  return static_cast<std::int64_t>(anonymousMemoryBytes().value_or(0));
}

TEST(Endurance, TwoHundredTurnsDoNotGrow) {
  if (!anonymousMemoryBytes()) GTEST_SKIP() << "this system does not tell";
#if defined(__GLIBC__)
  // Otherwise the allocator keeps freed blocks of any size that it has seen before, and how much depends on chance.
  ASSERT_EQ(mallopt(M_MMAP_THRESHOLD, 1 << 16), 1);
#endif
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
  std::int64_t late = 0;
  for (int turn = 1; turn <= 200; ++turn) {
    // Continued, branched and new conversations, a stopped answer now and then, and a new session for every fifth turn.
    std::vector<TokenId> prompt = subject.prompt(static_cast<std::size_t>(8 + turn * 7 % 19 * 2));
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
    // After sixty turns all that is used at all has been touched.
    if (turn > 60 && turn <= 100) early = std::max(early, held());
    if (turn > 160) late = std::max(late, held());
  }
  // A leak of one page a turn is seen; the allocator's own ups and downs are not.
  EXPECT_LT(late - early, std::int64_t{100} * 4096);
}

}  // namespace
}  // namespace colibri::test
