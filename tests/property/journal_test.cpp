// Tokens that are taken back leave nothing behind: computing and rolling back is the identity at every place of the
// window's ring and of a group, and what remains has the bits of the remaining tokens computed alone.

#include "property/combination.h"

namespace colibri::test {
namespace {

constexpr int kWindow = 128;
constexpr int kDrafts = 6;
constexpr int kPositions = 2 * kWindow + 9;

class Rollback : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    // The window is as long as the released one.
    m_subject = withConfig(openSubject(GetParam()), "sliding_window", kWindow);
    Combination combination;
    combination.context = kPositions + kDrafts;
    m_engine = openEngine(engineOptions(m_subject, Numerics::kVendor, combination, 1),
                          std::make_shared<testing::FaultControl>());
    ASSERT_NE(m_engine, nullptr);
    ASSERT_EQ(m_engine->config().slidingWindow, kWindow);
    m_tokens.resize(kPositions + kDrafts);
    for (std::size_t i = 0; i < m_tokens.size(); ++i) m_tokens[i] = m_subject.tokens[i % m_subject.tokens.size()];
  }
  void TearDown() override { std::filesystem::remove_all(m_subject.folder); }

  std::unique_ptr<SequenceState> state() {
    auto made = SequenceState::create(m_engine->config(), m_engine->layers(), m_engine->options().context,
                                      m_engine->options().numerics, nullptr);
    EXPECT_TRUE(made.isOk());
    return std::move(made).value();
  }
  /// Logits of `tokens`, one row each.
  std::vector<float> forward(SequenceState& state, Phase phase, std::span<const TokenId> tokens) {
    std::vector<float> logits(tokens.size() * static_cast<std::size_t>(m_subject.vocabSize));
    ForwardOutput output;
    output.want = ForwardOutput::Logits::kAll;
    output.phase = phase;
    output.logits = logits.data();
    TimeLedger time;
    const Status status = m_engine->transformer().forward(state, {tokens, {}}, output, {}, time);
    EXPECT_TRUE(status.isOk()) << status.message();
    return logits;
  }
  std::vector<float> oneByOne(SequenceState& state, std::span<const TokenId> tokens) {
    std::vector<float> all;
    for (const TokenId& token : tokens) {
      const std::vector<float> row = forward(state, Phase::kDecode, {&token, 1});
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }
  static std::vector<std::byte> volatileBytes(const SequenceState& state) {
    auto copy = state.snapshot();
    EXPECT_TRUE(copy.isOk());
    const Buffer& rows = copy->volatileRows;
    return {rows.data(), rows.data() + rows.size()};
  }

  Subject m_subject;
  std::shared_ptr<EngineCore> m_engine;
  std::vector<TokenId> m_tokens;
};

TEST_P(Rollback, IsTheIdentityEverywhere) {
  const auto drafted = state();
  const auto plain = state();
  for (int at = 0; at < kPositions && !HasFailure(); ++at) {
    SCOPED_TRACE("position " + std::to_string(at));
    std::vector<TokenId> drafts;
    for (int i = 0; i < kDrafts; ++i)
      drafts.push_back((m_tokens[static_cast<std::size_t>(at + i)] + 3 + i) % m_subject.vocabSize);
    const int kept = at % (kDrafts + 1);
    const std::vector<std::byte> before = volatileBytes(*drafted);

    drafted->beginJournal();
    const std::vector<float> verified = forward(*drafted, Phase::kVerify, drafts);
    ASSERT_TRUE(drafted->rollBack(at + kept));
    ASSERT_EQ(drafted->position(), at + kept);
    auto mark = plain->snapshot();
    ASSERT_TRUE(mark.isOk());
    const std::vector<float> alone = oneByOne(*plain, std::span(drafts).first(static_cast<std::size_t>(kept)));
    EXPECT_TRUE(sameBits(alone, std::span(verified).first(alone.size()))) << kept << " kept";
    EXPECT_EQ(volatileBytes(*drafted), volatileBytes(*plain)) << kept << " kept";
    plain->restore(*mark);

    ASSERT_TRUE(drafted->rollBack(at));
    EXPECT_EQ(volatileBytes(*drafted), before) << "all taken back";
    const std::span<const TokenId> next(&m_tokens[static_cast<std::size_t>(at)], 1);
    EXPECT_TRUE(sameBits(oneByOne(*plain, next), oneByOne(*drafted, next))) << "the token after it";
  }
}

// More tokens than there is room for are computed, but cannot be taken back.
TEST_P(Rollback, SaysWhenItCannot) {
  const auto sequence = state();
  sequence->beginJournal();
  forward(*sequence, Phase::kVerify, std::span(m_tokens).first(kWindow));
  EXPECT_FALSE(sequence->rollBack(3));
  EXPECT_EQ(sequence->position(), kWindow);
}

INSTANTIATE_TEST_SUITE_P(Models, Rollback, ::testing::Values("shared-clamp", "v41-long", "v41-long-slot"),
                         [](const auto& subject) {
                           std::string name = subject.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace colibri::test
