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

INSTANTIATE_TEST_SUITE_P(Subjects, FullGrid, ::testing::ValuesIn(allSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
