// What sessions promise: the state is that of the tokens alone, whatever else happened on the engine or in the session.

#include "property/combination.h"
#include "session/session_core.h"

#include <functional>
#include <utility>

namespace colibri::test {
namespace {

constexpr std::size_t kTokens = 42;

class SessionState : public ::testing::TestWithParam<SubjectCase> {
protected:
  void SetUp() override {
    m_subject = openSubject(GetParam().name);
    m_prompt = m_subject.prompt(kTokens);
    m_expected = computeRows(m_subject, GetParam().numerics, {}, m_prompt);
  }

  void open(const Combination& combination) {
    m_control->longestDelay = combination.longestDelay;
    m_engine = openEngine(engineOptions(m_subject, GetParam().numerics, combination, kTokens), m_control);
    ASSERT_NE(m_engine, nullptr);
  }
  std::unique_ptr<Session> session() {
    auto session = m_engine->newSession();
    EXPECT_TRUE(session.isOk());
    return std::move(session).value();
  }
  [[nodiscard]] std::span<const TokenId> first(std::size_t count) const { return std::span(m_prompt).first(count); }
  /// The session holds the first `count` tokens of the prompt and their logits.
  void expectAt(const Session& session, std::size_t count) {
    ASSERT_EQ(session.tokens().size(), count);
    EXPECT_TRUE(std::equal(session.tokens().begin(), session.tokens().end(), m_prompt.begin()));
    EXPECT_TRUE(sameBits(m_expected.row(count - 1), session.logits())) << "after " << count << " tokens";
  }
  void expectSync(Session& session, std::size_t count) {
    const Status status = session.sync(first(count), {});
    ASSERT_TRUE(status.isOk()) << status.message();
    expectAt(session, count);
  }
  /// Calls `interrupt` at the `at`-th read from now on, or at the next one after it that half of what is asked for
  /// would not satisfy. Reads ahead are not counted: one that fails is read again when it is needed.
  void atRead(int at, std::function<testing::Fault()> interrupt) {
    m_control->choose = [left = at, interrupt = std::move(interrupt)](const ReadRequest& request) mutable {
      if (request.priority != ReadPriority::kDemand) return testing::Fault::kNone;
      if (--left > 0 || !interrupt || request.expected * 2 <= request.bytes) return testing::Fault::kNone;
      return std::exchange(interrupt, nullptr)();
    };
  }

  Subject m_subject;
  std::vector<TokenId> m_prompt;
  LogitRows m_expected;
  std::shared_ptr<testing::FaultControl> m_control = std::make_shared<testing::FaultControl>();
  std::shared_ptr<EngineCore> m_engine;
};

TEST_P(SessionState, TwoSessionsTokenByToken) {
  Combination combination;
  combination.slots = 1;
  combination.longestDelay = 3;
  combination.chunk = 5;
  open(combination);
  std::vector<TokenId> reversed(m_prompt.rbegin(), m_prompt.rend());
  const LogitRows expectedReversed = computeRows(m_subject, GetParam().numerics, {}, reversed);
  const auto forward = session();
  const auto backward = session();
  const std::size_t start = kTokens / 2;
  ASSERT_TRUE(forward->sync(first(start), {}).isOk());
  for (std::size_t i = 0; i < kTokens; ++i) {
    ASSERT_TRUE(backward->append(reversed[i], {}).isOk());
    ASSERT_TRUE(sameBits(expectedReversed.row(i), backward->logits())) << "second session, token " << i;
    if (start + i >= kTokens) continue;
    ASSERT_TRUE(forward->append(m_prompt[start + i], {}).isOk());
    expectAt(*forward, start + i + 1);
  }
}

TEST_P(SessionState, UsableAfterCancelAtAnyRead) {
  Combination combination;
  combination.slots = 1;
  combination.chunk = 7;
  combination.segment = 17;
  open(combination);
  const auto reused = session();
  for (const int at : {1, 2, 9, 30}) {
    const Cancellation cancellation;
    atRead(at, [&] {
      cancellation.cancel();
      return testing::Fault::kNone;
    });
    const Status status = reused->sync(first(kTokens - 4), cancellation);
    ASSERT_EQ(status.code(), Code::kCancelled) << "at read " << at;
    EXPECT_LT(reused->tokens().size(), kTokens - 4);
    m_control->choose = nullptr;
    expectSync(*reused, kTokens - 4);
    // A token that was interrupted is as if it had never been asked for.
    const Cancellation second;
    second.cancel();
    ASSERT_EQ(reused->append(m_prompt[kTokens - 4], second).code(), Code::kCancelled);
    expectSync(*reused, kTokens);
    reused->reset();
  }
}

// A token whose computation was cut short anywhere is taken back: nothing is held or lost because of it.
TEST_P(SessionState, AnInterruptedTokenLeavesEverythingAsItWas) {
  Combination combination;
  combination.slots = 1;
  open(combination);
  const auto reused = session();
  expectSync(*reused, kTokens / 2);
  std::size_t held = kTokens / 2;
  for (const int at : {1, 2, 3, 5, 8}) {
    const Cancellation cancellation;
    atRead(at, [&] {
      cancellation.cancel();
      return testing::Fault::kNone;
    });
    ASSERT_EQ(reused->append(m_prompt[held], cancellation).code(), Code::kCancelled) << "at read " << at;
    expectAt(*reused, held);
    atRead(at, [] { return testing::Fault::kFail; });
    ASSERT_EQ(reused->append(m_prompt[held], {}).code(), Code::kIo) << "at read " << at;
    expectAt(*reused, held);
    m_control->choose = nullptr;
    ASSERT_TRUE(reused->append(m_prompt[held], {}).isOk());
    expectAt(*reused, ++held);
  }
}

TEST_P(SessionState, UsableAfterAReadError) {
  Combination combination;
  combination.slots = m_subject.expertsPerToken;
  combination.chunk = 16;
  combination.segment = 20;
  combination.longestDelay = 2;
  open(combination);
  const auto reused = session();
  const auto bystander = session();
  expectSync(*bystander, 3);
  for (const testing::Fault fault : {testing::Fault::kFail, testing::Fault::kShort}) {
    for (const int at : {1, 8}) {
      atRead(at, [&] { return fault; });
      const Status status = reused->sync(first(kTokens - 1), {});
      ASSERT_EQ(status.code(), Code::kIo) << "at read " << at;
      m_control->choose = nullptr;
      expectSync(*reused, kTokens - 1);
      ASSERT_TRUE(reused->append(m_prompt.back(), {}).isOk());
      expectAt(*reused, kTokens);
      reused->reset();
    }
  }
  expectSync(*bystander, kTokens);
}

TEST_P(SessionState, SharedPrefixEqualsAColdSession) {
  open({});
  const auto warm = session();
  std::int64_t reused = 0;
  std::vector<TokenId> other = m_prompt;
  for (const std::size_t common : {kTokens - 1, kTokens - 2, std::size_t{30}, std::size_t{17}, std::size_t{1}}) {
    // First a prompt that leaves ours after `common` tokens, grown by some more, then ours.
    for (std::size_t i = common; i < kTokens; ++i) other[i] = (m_prompt[i] + 1) % m_subject.vocabSize;
    const std::size_t synced = std::min(common + 1, kTokens);
    const std::size_t grown = std::min(common + 6, kTokens);
    const LogitRows expectedOther =
        computeRows(m_subject, GetParam().numerics, {}, std::span<const TokenId>(other).first(grown));
    ASSERT_TRUE(warm->sync(std::span<const TokenId>(other).first(synced), {}).isOk());
    EXPECT_TRUE(sameBits(expectedOther.row(synced - 1), warm->logits())) << common << " tokens in common";
    for (std::size_t i = synced; i < grown; ++i) ASSERT_TRUE(warm->append(other[i], {}).isOk());
    EXPECT_TRUE(sameBits(expectedOther.row(grown - 1), warm->logits())) << common << " tokens in common, grown";
    expectSync(*warm, kTokens);
    reused += static_cast<SessionCore&>(*warm).reusedTokens();
  }
  EXPECT_GE(reused, 16) << "no prefix was reused, so nothing was compared";
  // A prompt that is a start of what is held.
  expectSync(*warm, 20);
  expectSync(*warm, kTokens);
  expectSync(*warm, kTokens);
}

INSTANTIATE_TEST_SUITE_P(Subjects, SessionState, ::testing::ValuesIn(someSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
