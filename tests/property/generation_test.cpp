// Generated tokens depend on prompt, profile and seed alone.

#include "property/combination.h"
#include "session/sampler.h"
#include "session/session_core.h"

namespace colibri::test {
namespace {

constexpr std::size_t kPrompt = 24;
constexpr int kAnswer = 10;

class Generation : public ::testing::TestWithParam<SubjectCase> {
protected:
  void SetUp() override { m_subject = openSubject(GetParam().name); }

  static GenerateOptions options(double temperature, std::uint64_t seed) {
    GenerateOptions options;
    options.maxTokens = kAnswer;
    options.ignoreEos = true;
    options.sampling.temperature = temperature;
    options.sampling.topK = 200;
    options.sampling.topP = 0.98;
    options.sampling.minP = 0.0001;
    options.sampling.seed = seed;
    return options;
  }

  std::shared_ptr<EngineCore> engine(const Combination& combination) {
    const auto control = std::make_shared<testing::FaultControl>();
    control->longestDelay = combination.longestDelay;
    return openEngine(engineOptions(m_subject, GetParam().numerics, combination, kPrompt + kAnswer), control);
  }

  std::vector<TokenId> generate(Session& session, const GenerateOptions& options) {
    const std::vector<TokenId> prompt = m_subject.prompt(kPrompt);
    const auto answer = session.generate(prompt, options, {});
    EXPECT_TRUE(answer.isOk()) << answer.status().message();
    if (!answer.isOk()) return {};
    EXPECT_EQ(answer->tokens.size(), static_cast<std::size_t>(kAnswer));
    return answer->tokens;
  }

  Subject m_subject;
};

TEST_P(Generation, DependsOnTheSeedAlone) {
  std::vector<Combination> combinations(4);
  combinations[1].slots = 1;
  combinations[1].longestDelay = 4;
  combinations[2].threads = 3;
  combinations[2].chunk = 7;
  combinations[3].isa = availableIsas()[availableIsas().size() / 2];
  combinations[3].segment = 10;
  combinations[3].slots = m_subject.expertsPerToken + 1;
  for (const double temperature : {0.0, 4.0}) {
    std::vector<TokenId> expected;
    for (const Combination& combination : combinations) {
      const auto model = engine(combination);
      ASSERT_NE(model, nullptr);
      auto session = model->newSession();
      ASSERT_TRUE(session.isOk());
      const std::vector<TokenId> tokens = generate(*session.value(), options(temperature, 7));
      if (expected.empty()) expected = tokens;
      EXPECT_EQ(expected, tokens) << describe(m_subject, GetParam().numerics, combination, m_subject.prompt(kPrompt));
      // Again in the same session, after another answer.
      const std::vector<TokenId> other = generate(*session.value(), options(temperature, 8));
      EXPECT_EQ(other == expected, temperature == 0.0);
      EXPECT_EQ(expected, generate(*session.value(), options(temperature, 7)));
    }
  }
}

// Sampling from teacher-forced logits, computed all at once, gives the same tokens as the loop that generated them.
TEST_P(Generation, EqualsSamplingFromAPrefill) {
  const auto model = engine({});
  ASSERT_NE(model, nullptr);
  auto session = model->newSession();
  ASSERT_TRUE(session.isOk());
  const GenerateOptions sampled = options(2.5, 99);
  const std::vector<TokenId> answer = generate(*session.value(), sampled);
  std::vector<TokenId> all = m_subject.prompt(kPrompt);
  all.insert(all.end(), answer.begin(), answer.end());
  const LogitRows rows = computeRows(m_subject, GetParam().numerics, {}, all);
  Sampler sampler;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const std::size_t position = kPrompt + i;
    EXPECT_EQ(answer[i], sampler.choose(rows.row(position - 1), sampled.sampling, position, model->config().eosToken))
        << "token " << i;
  }
}

// Among equal logits the random number is the choice, so it can be read off: each position has its own.
TEST(GenerationNumber, IsNamedBySeedAndPosition) {
  const std::vector<float> logits(1000, 0.25F);
  Sampling sampling;
  sampling.temperature = 1;
  Sampler sampler;
  for (const std::uint64_t seed : {0ULL, 7ULL, ~0ULL}) {
    sampling.seed = seed;
    for (std::uint64_t position = 0; position < 50; ++position) {
      EXPECT_EQ(sampler.choose(logits, sampling, position, -1),
                static_cast<TokenId>(counterUniform(seed, position) * 1000))
          << "seed " << seed << " position " << position;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, Generation, ::testing::ValuesIn(someSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
