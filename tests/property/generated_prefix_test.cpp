// What a session may keep of its own answers: all of them where a prompt would have given the same bits, else none that
// a prompt would compute otherwise.

#include "property/combination.h"
#include "session/session_core.h"

namespace colibri::test {
namespace {

constexpr std::size_t kPrompt = 11;
constexpr std::size_t kAll = 40;

class GeneratedPrefix : public ::testing::Test {
protected:
  void open(const std::string& name, bool reuseGenerated) {
    m_subject = openSubject(name);
    m_tokens = m_subject.prompt(kAll);
    Combination combination;
    combination.context = 8;
    EngineOptions options = engineOptions(m_subject, Numerics::kFp32, combination, kAll);
    options.reuseGenerated = reuseGenerated;
    m_engine = openEngine(options, std::make_shared<testing::FaultControl>());
    ASSERT_NE(m_engine, nullptr);
  }
  std::unique_ptr<SessionCore> session() {
    auto made = m_engine->newSession();
    EXPECT_TRUE(made.isOk());
    return std::unique_ptr<SessionCore>(static_cast<SessionCore*>(made.value().release()));
  }
  /// A session that read the first tokens as a prompt and the others one at a time, as an answer.
  std::unique_ptr<SessionCore> answered() {
    auto warm = session();
    EXPECT_TRUE(warm->sync(std::span<const TokenId>(m_tokens).first(kPrompt), {}).isOk());
    for (std::size_t i = kPrompt; i + 1 < kAll; ++i) EXPECT_TRUE(warm->append(m_tokens[i], {}).isOk());
    return warm;
  }
  /// The same as one prompt.
  std::unique_ptr<SessionCore> cold() {
    auto fresh = session();
    EXPECT_TRUE(fresh->sync(m_tokens, {}).isOk());
    return fresh;
  }

  Subject m_subject;
  std::vector<TokenId> m_tokens;
  std::shared_ptr<EngineCore> m_engine;
};

TEST_F(GeneratedPrefix, IsKeptUnderTheOwnersKeys) {
  open("v41-long", false);
  const auto warm = answered();
  ASSERT_TRUE(warm->sync(m_tokens, {}).isOk());
  EXPECT_EQ(warm->reusedTokens(), static_cast<std::int64_t>(kAll) - 1);
  EXPECT_TRUE(sameBits(cold()->logits(), warm->logits()));
}

TEST_F(GeneratedPrefix, IsReadAgainWhereThePublishedKeysWereOthers) {
  open("v41-long-slot", false);
  ASSERT_LT(m_engine->layers().firstDivergence(m_engine->config().indexTopK), static_cast<int>(kAll));
  const auto warm = answered();
  // Both rules give other numbers, else this test would say nothing.
  const auto fresh = session();
  ASSERT_TRUE(fresh->sync(std::span<const TokenId>(m_tokens).first(kAll - 1), {}).isOk());
  ASSERT_FALSE(sameBits(fresh->logits(), warm->logits()));
  ASSERT_TRUE(warm->sync(m_tokens, {}).isOk());
  EXPECT_LT(warm->reusedTokens(), static_cast<std::int64_t>(kAll) - 1);
  EXPECT_TRUE(sameBits(cold()->logits(), warm->logits()));
}

TEST_F(GeneratedPrefix, IsKeptWhenAskedFor) {
  open("v41-long-slot", true);
  const auto warm = answered();
  ASSERT_TRUE(warm->sync(m_tokens, {}).isOk());
  EXPECT_EQ(warm->reusedTokens(), static_cast<std::int64_t>(kAll) - 1);
  EXPECT_FALSE(sameBits(cold()->logits(), warm->logits()));
}

TEST_F(GeneratedPrefix, ShortAnswersAreKeptUnderAnyRule) {
  open("v41-long-slot", false);
  const auto divergence = static_cast<std::size_t>(m_engine->layers().firstDivergence(m_engine->config().indexTopK));
  ASSERT_GT(divergence, kPrompt + 1);
  const std::span<const TokenId> all(m_tokens);
  const auto warm = session();
  ASSERT_TRUE(warm->sync(all.first(kPrompt), {}).isOk());
  for (std::size_t i = kPrompt; i < divergence; ++i) ASSERT_TRUE(warm->append(m_tokens[i], {}).isOk());
  ASSERT_TRUE(warm->sync(all.first(divergence + 1), {}).isOk());
  EXPECT_EQ(warm->reusedTokens(), static_cast<std::int64_t>(divergence));
  const auto fresh = session();
  ASSERT_TRUE(fresh->sync(all.first(divergence + 1), {}).isOk());
  EXPECT_TRUE(sameBits(fresh->logits(), warm->logits()));
}

// N-gram rows of every place of a session that was restored there: they follow from the tokens alone.
TEST_F(GeneratedPrefix, TablesRowsAreThoseOfTheTokensAfterARestoreAnywhere) {
  open("v41-text", false);
  const auto whole = session();
  Trace expected;
  std::vector<float> rows;
  ASSERT_TRUE(whole->extend(Phase::kPrefill, m_tokens, {}, {}, &expected, &rows).isOk());
  const auto& layers = m_engine->layers().layers;
  for (std::size_t cut = 1; cut < kAll; ++cut) {
    const auto part = session();
    const std::span<const TokenId> all(m_tokens);
    ASSERT_TRUE(part->extend(Phase::kPrefill, all.first(cut), {}, {}, nullptr, nullptr).isOk());
    auto mark = part->state().snapshot();
    ASSERT_TRUE(mark.isOk());
    ASSERT_TRUE(part->extend(Phase::kDecode, all.subspan(cut, 1), {}, {}, nullptr, nullptr).isOk());
    part->state().restore(*mark);
    Trace actual;
    std::vector<float> rest;
    ASSERT_TRUE(part->extend(Phase::kPrefill, all.subspan(cut), {}, {}, &actual, &rest).isOk());
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      if (layers[layer].engram < 0) continue;
      const auto& want = expected.layers[layer].engramRows;
      const auto& have = actual.layers[layer].engramRows;
      ASSERT_EQ(have.size(), (kAll - cut) * static_cast<std::size_t>(m_engine->config().engram.columns()));
      EXPECT_TRUE(std::equal(have.begin(), have.end(), want.end() - static_cast<std::ptrdiff_t>(have.size())))
          << "layer " << layer << " from " << cut;
    }
    EXPECT_TRUE(sameBits(std::span(rows).last(rest.size()), rest)) << "from " << cut;
  }
}

}  // namespace
}  // namespace colibri::test
