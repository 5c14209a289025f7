// The whole grid: every value of every axis alone and many random combinations, on prompts that fill several blocks of
// every compressor, wrap the window many times and let the indexer choose.

#include "property/combination.h"

namespace colibri::test {
namespace {

class FullGrid : public ::testing::TestWithParam<SubjectCase> {};

TEST_P(FullGrid, EveryAxisAlone) {
  const Subject subject = openSubject(GetParam().name);
  const std::vector<TokenId> prompt = subject.prompt(149);
  ASSERT_GT(prompt.size(), 129U);
  const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
  expectInvariant(subject, GetParam().numerics, singleAxes(subject, static_cast<int>(prompt.size())), prompt, expected);
}

TEST_P(FullGrid, RandomCombinations) {
  const Subject subject = openSubject(GetParam().name);
  const std::uint64_t seed = propertySeed();
  std::mt19937_64 random(seed);
  SCOPED_TRACE("COLIBRI_PROPERTY_SEED=" + std::to_string(seed));
  for (const std::size_t length : {1U, 4U, 130U, 157U}) {
    const std::vector<TokenId> prompt = subject.prompt(length);
    const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
    std::vector<Combination> combinations;
    for (int i = 0; i < 3; ++i) {
      combinations.push_back(randomCombination(subject, static_cast<int>(prompt.size()), random));
    }
    expectInvariant(subject, GetParam().numerics, combinations, prompt, expected);
  }
}

TEST(FullGridLong, ManyBlocks) {
  const Subject subject = openSubject("long");
  const std::vector<TokenId> prompt = subject.prompt(420);
  std::vector<Combination> combinations(3);
  combinations[0].chunk = 33;
  combinations[0].segment = 200;
  combinations[0].slots = subject.expertsPerToken;
  combinations[1].via = TeacherOptions::Via::kDecode;
  combinations[1].isa = availableIsas()[availableIsas().size() / 2];
  combinations[2].via = TeacherOptions::Via::kSplit;
  combinations[2].split = 300;
  combinations[2].threads = 2;
  combinations[2].longestDelay = 4;
  for (const Numerics numerics : {Numerics::kFp32, Numerics::kVendor}) {
    const LogitRows expected = computeRows(subject, numerics, {}, prompt);
    expectInvariant(subject, numerics, combinations, prompt, expected);
  }
}

// Positions beyond 4,096 and far beyond the context that the rotary scaling starts from, with thousands of entries to
// choose from.
TEST(FullGridLong, BeyondTheRotaryOrigin) {
  constexpr std::size_t kLength = 4400;
  for (const char* name : {"v41-long", "v41-long-slot"}) {
    constexpr int kContext = 8192;
    Subject subject = withConfig(openSubject(name), "max_position_embeddings", kContext);
    subject.contextLimit = kContext;
    std::vector<TokenId> prompt(kLength);
    for (std::size_t i = 0; i < kLength; ++i) prompt[i] = subject.tokens[i * i % subject.tokens.size()];
    std::vector<Combination> combinations(3);
    combinations[0].chunk = 33;
    combinations[0].segment = 500;
    combinations[1].threads = 2;
    combinations[1].isa = availableIsas()[availableIsas().size() / 2];
    combinations[1].context = 500;
    combinations[2].chunk = 128;
    combinations[2].slots = subject.expertsPerToken;
    if (!subject.viaMatters) {
      combinations[2].via = TeacherOptions::Via::kSplit;
      combinations[2].split = 4250;
    }
    const LogitRows expected = computeRows(subject, Numerics::kVendor, {}, prompt);
    expectInvariant(subject, Numerics::kVendor, combinations, prompt, expected);
    std::filesystem::remove_all(subject.folder);
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, FullGrid, ::testing::ValuesIn(allSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
