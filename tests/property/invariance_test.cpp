// One hash for each model, prompt and profile, however it is computed: a reduced grid. full_grid_test.cpp has all of
// it.

#include "base/hash.h"
#include "property/combination.h"

#include <algorithm>

namespace colibri::test {
namespace {

class Invariance : public ::testing::TestWithParam<SubjectCase> {};

// Each model and profile takes another quarter of the axes' values.
TEST_P(Invariance, SingleAxes) {
  const Subject subject = openSubject(GetParam().name);
  const std::vector<TokenId> prompt = subject.prompt(35);
  const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
  const std::vector<Combination> all = singleAxes(subject, static_cast<int>(prompt.size()));
  std::vector<Combination> quarter;
  const std::vector<SubjectCase> cases = allSubjects();
  const auto own = std::find_if(cases.begin(), cases.end(), [](const SubjectCase& c) {
    return c.name == GetParam().name && c.numerics == GetParam().numerics;
  });
  for (auto i = static_cast<std::size_t>(own - cases.begin()) % 4; i < all.size(); i += 4) quarter.push_back(all[i]);
  expectInvariant(subject, GetParam().numerics, quarter, prompt, expected);
}

TEST_P(Invariance, RandomCombinations) {
  const Subject subject = openSubject(GetParam().name);
  const std::vector<TokenId> prompt = subject.prompt(37);
  const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
  const std::uint64_t seed = propertySeed();
  std::mt19937_64 random(seed + GetParam().name.size() * 2 + (GetParam().numerics == Numerics::kFp32 ? 0 : 1));
  std::vector<Combination> combinations;
  for (int i = 0; i < 2; ++i) {
    combinations.push_back(randomCombination(subject, static_cast<int>(prompt.size()), random));
  }
  SCOPED_TRACE("COLIBRI_PROPERTY_SEED=" + std::to_string(seed));
  expectInvariant(subject, GetParam().numerics, combinations, prompt, expected);
}

TEST_P(Invariance, TracesAndLastPositionAlone) {
  const Subject subject = openSubject(GetParam().name);
  const std::vector<TokenId> prompt = subject.prompt(19);
  const LogitRows expected = computeRows(subject, GetParam().numerics, {}, prompt);
  const auto engine = openEngine(engineOptions(subject, GetParam().numerics, {}, prompt.size()),
                                 std::make_shared<testing::FaultControl>());
  ASSERT_NE(engine, nullptr);
  for (const bool trace : {true, false}) {
    TeacherOptions options;
    options.trace = trace;
    options.allPositions = trace;
    const auto tensors = computeLogits(*engine, prompt, options, {});
    ASSERT_TRUE(tensors.isOk()) << tensors.status().message();
    EXPECT_EQ(tensors->size() > 1, trace);
    const std::span<const float> want = trace ? std::span(expected.values) : expected.row(prompt.size() - 1);
    EXPECT_EQ(shortHash(tensors->front().data), shortHash(std::as_bytes(want))) << (trace ? "trace" : "last position");
  }
}

// Another prompt, profile or model gives another hash, else the grid would compare nothing.
TEST(InvarianceHash, TellsResultsApart) {
  const Subject subject = openSubject("edge");
  const std::vector<TokenId> prompt = subject.prompt(9);
  std::vector<TokenId> other = prompt;
  other.back() = (other.back() + 1) % subject.vocabSize;
  const std::string hash = computeRows(subject, Numerics::kFp32, {}, prompt).hash();
  EXPECT_NE(hash, computeRows(subject, Numerics::kFp32, {}, other).hash());
  EXPECT_NE(hash, computeRows(subject, Numerics::kVendor, {}, prompt).hash());
}

INSTANTIATE_TEST_SUITE_P(Subjects, Invariance, ::testing::ValuesIn(allSubjects()), caseName);

}  // namespace
}  // namespace colibri::test
