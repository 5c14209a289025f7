// A prompt of which only the last token's logits are wanted is computed no further than they and later tokens need it;
// nothing of that may show.

#include "property/combination.h"
#include "session/session_core.h"

#include <cstring>

namespace colibri::test {
namespace {

constexpr int kMore = 50;

class PromptEnd : public ::testing::TestWithParam<SubjectCase> {
protected:
  void SetUp() override { m_subject = openSubject(GetParam().name); }

  void open(int chunk, int segment, std::size_t length, int slots = 0) {
    Combination combination;
    combination.slots = slots;
    combination.chunk = chunk;
    combination.segment = segment;
    combination.context = kMore;
    m_engine = openEngine(engineOptions(m_subject, GetParam().numerics, combination, length), m_control);
    ASSERT_NE(m_engine, nullptr);
  }
  std::unique_ptr<SessionCore> session() {
    auto made = m_engine->newSession();
    EXPECT_TRUE(made.isOk());
    return std::unique_ptr<SessionCore>(static_cast<SessionCore*>(made.value().release()));
  }
  /// Expert reads that a prompt takes.
  int readsFor(std::span<const TokenId> prompt) {
    int reads = 0;
    m_control->choose = [&](const ReadRequest&) {
      ++reads;
      return testing::Fault::kNone;
    };
    EXPECT_TRUE(session()->sync(prompt, {}).isOk());
    m_control->choose = nullptr;
    return reads;
  }
  /// Every cache and ring byte of one state that later tokens can read.
  void expectSameState(SessionCore& expected, SessionCore& actual) {
    const SequenceState& want = expected.state();
    const SequenceState& have = actual.state();
    ASSERT_EQ(want.position(), have.position());
    EXPECT_EQ(have.incompleteUntil(), 0);
    const ModelConfig& c = m_engine->config();
    const CacheFormats& formats = want.formats();
    for (int layer = 0; layer < c.layers; ++layer) {
      const LayerSpec& spec = m_engine->layers().layers[static_cast<std::size_t>(layer)];
      const auto same = [&](const void* a, const void* b, std::size_t bytes) {
        return bytes == 0 || std::memcmp(a, b, bytes) == 0;
      };
      const auto ring = static_cast<std::size_t>(std::min(c.slidingWindow, want.position())) *
                        static_cast<std::size_t>(c.headDim) * sizeof(float);
      EXPECT_TRUE(same(want.layer(layer).window, have.layer(layer).window, ring)) << "window of layer " << layer;
      if (!spec.owns(layer)) continue;
      const auto entries = static_cast<std::size_t>(want.position() / spec.ratio);
      EXPECT_TRUE(same(want.layer(layer).entries, have.layer(layer).entries, entries * formats.entry.bytes()))
          << "entries of layer " << layer;
      if (spec.indexKeys != IndexKeys::kNone) {
        EXPECT_TRUE(same(want.layer(layer).indexKeys, have.layer(layer).indexKeys, entries * formats.indexKey.bytes()))
            << "index keys of layer " << layer;
      }
      const CompressorState& open = want.layer(layer).compressor;
      EXPECT_TRUE(same(open.values, have.layer(layer).compressor.values,
                       static_cast<std::size_t>(open.rows * open.width) * sizeof(float)));
    }
  }

  Subject m_subject;
  std::shared_ptr<testing::FaultControl> m_control = std::make_shared<testing::FaultControl>();
  std::shared_ptr<EngineCore> m_engine;
};

TEST_P(PromptEnd, EqualsComputingEverything) {
  const Subject& subject = m_subject;
  open(1, 1, 2);
  const int reach = m_engine->transformer().promptReach();
  for (const int length : {2, reach - 9, reach - 1, reach, reach + 1, reach + 17, reach + 40}) {
    for (const int segment : {0, 5, 23}) {
      std::vector<TokenId> prompt = subject.prompt(static_cast<std::size_t>(length + kMore));
      const std::size_t total = std::min(prompt.size() - 1, static_cast<std::size_t>(length));
      open(segment == 0 ? 0 : 3, segment, total);
      SCOPED_TRACE(std::to_string(total) + " tokens in segments of " + std::to_string(segment));
      const auto ends = session();
      const auto whole = session();
      const std::span<const TokenId> first = std::span<const TokenId>(prompt).first(total);
      ASSERT_TRUE(ends->sync(first, {}).isOk());
      std::vector<float> rows;
      ASSERT_TRUE(whole->extend(Phase::kPrefill, first, {}, {}, nullptr, &rows).isOk());
      EXPECT_TRUE(sameBits(whole->logits(), ends->logits())) << "last token";
      expectSameState(*whole, *ends);
      const std::size_t last = std::min(prompt.size(), total + kMore);
      for (std::size_t i = total; i < last && !HasFailure(); ++i) {
        ASSERT_TRUE(ends->append(prompt[i], {}).isOk());
        ASSERT_TRUE(whole->append(prompt[i], {}).isOk());
        EXPECT_TRUE(sameBits(whole->logits(), ends->logits())) << "token " << i;
      }
    }
  }
}

// A prompt that was cancelled in one of its segments goes on, to whatever end comes next.
TEST_P(PromptEnd, GoesOnAfterACancel) {
  open(4, 11, 2);
  const auto length = static_cast<std::size_t>(m_engine->transformer().promptReach() + 40);
  const std::vector<TokenId> prompt = m_subject.prompt(length);
  ASSERT_GT(prompt.size(), 40U);
  open(4, 11, prompt.size(), 1);
  const int all = readsFor(prompt);
  int reads = 0;
  std::size_t kept = 0;
  for (const std::size_t next : {prompt.size(), prompt.size() - 5, prompt.size() - 18, std::size_t{30}}) {
    for (const int part : {2, 3, 5, 7}) {
      SCOPED_TRACE("cancelled at " + std::to_string(part) + " eighths, then to " + std::to_string(next));
      const auto cut = session();
      const Cancellation cancellation;
      reads = 0;
      m_control->choose = [&](const ReadRequest&) {
        if (++reads == all * part / 8) cancellation.cancel();
        return testing::Fault::kNone;
      };
      ASSERT_EQ(cut->sync(prompt, cancellation).code(), Code::kCancelled);
      kept += cut->tokens().size();
      m_control->choose = nullptr;
      const auto whole = session();
      std::vector<float> rows;
      const std::span<const TokenId> wanted = std::span<const TokenId>(prompt).first(next);
      ASSERT_TRUE(whole->extend(Phase::kPrefill, wanted, {}, {}, nullptr, &rows).isOk());
      ASSERT_TRUE(cut->sync(wanted, {}).isOk());
      EXPECT_TRUE(sameBits(whole->logits(), cut->logits()));
      expectSameState(*whole, *cut);
    }
  }
  EXPECT_GT(kept, 0U) << "nothing of a cancelled prompt was ever kept";
}

// One more token on a prompt that was cancelled is a prompt's token.
TEST_P(PromptEnd, ATokenCanFollowACancelledPrompt) {
  open(4, 11, 2);
  const auto length = static_cast<std::size_t>(m_engine->transformer().promptReach() + 40);
  const std::vector<TokenId> prompt = m_subject.prompt(length);
  open(4, 11, prompt.size(), 1);
  const auto cut = session();
  const Cancellation cancellation;
  const int all = readsFor(prompt);
  int reads = 0;
  m_control->choose = [&](const ReadRequest&) {
    if (++reads == all * 3 / 4) cancellation.cancel();
    return testing::Fault::kNone;
  };
  ASSERT_EQ(cut->sync(prompt, cancellation).code(), Code::kCancelled);
  m_control->choose = nullptr;
  const std::size_t held = cut->tokens().size();
  ASSERT_TRUE(cut->append(prompt[held], {}).isOk());
  const auto whole = session();
  std::vector<float> rows;
  ASSERT_TRUE(
      whole->extend(Phase::kPrefill, std::span<const TokenId>(prompt).first(held + 1), {}, {}, nullptr, &rows).isOk());
  EXPECT_TRUE(sameBits(whole->logits(), cut->logits()));
  expectSameState(*whole, *cut);
}

// An end that is one of a longer prompt's places: what is kept of it is whole.
TEST_P(PromptEnd, PrefixesAreReusedExactly) {
  open(4, 11, 2);
  const auto length = static_cast<std::size_t>(m_engine->transformer().promptReach() + 40);
  const std::vector<TokenId> prompt = m_subject.prompt(length);
  open(4, 11, prompt.size());
  const auto grown = session();
  for (std::size_t end = 7; end <= prompt.size(); end += 13) {
    const std::span<const TokenId> wanted = std::span<const TokenId>(prompt).first(end);
    ASSERT_TRUE(grown->sync(wanted, {}).isOk());
    const auto whole = session();
    std::vector<float> rows;
    ASSERT_TRUE(whole->extend(Phase::kPrefill, wanted, {}, {}, nullptr, &rows).isOk());
    EXPECT_TRUE(sameBits(whole->logits(), grown->logits())) << "to " << end;
    expectSameState(*whole, *grown);
  }
}

// Expert reads follow from the plan: with one slot each want is a read, so they count the rows that were computed.
TEST_P(PromptEnd, ReadsWhatTheReachSays) {
  open(1, 1, 2);
  const int reach = m_engine->transformer().promptReach();
  const auto length = static_cast<std::size_t>(reach + 30);
  const std::vector<TokenId> prompt = m_subject.prompt(length);
  open(1, 0, prompt.size());
  const auto sequence = session();
  const auto before = m_engine->experts().stats();
  ASSERT_TRUE(sequence->extend(Phase::kPrefill, prompt, {}, {}, nullptr, nullptr).isOk());
  const auto after = m_engine->experts().stats();
  std::uint64_t expected = 0;
  for (int layer = 0; layer < m_engine->config().layers; ++layer) {
    const int outputs = m_engine->layers().outputReach(layer, m_engine->config().slidingWindow);
    const auto rows =
        outputs == 0 ? static_cast<int>(prompt.size()) : std::min<int>(outputs, static_cast<int>(prompt.size()));
    expected += static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(m_subject.expertsPerToken);
  }
  // One row a pass: as many wants as chosen experts.
  EXPECT_EQ(after.requests - before.requests, expected);
}

INSTANTIATE_TEST_SUITE_P(Subjects, PromptEnd,
                         ::testing::Values(SubjectCase{"v41-long", Numerics::kVendor},
                                           SubjectCase{"v41-long-slot", Numerics::kFp32},
                                           SubjectCase{"shared-clamp", Numerics::kVendor}),
                         caseName);

}  // namespace
}  // namespace colibri::test
