// What does not depend on the instruction set: rotary tables, top-k, the choice of a table.

#include "engine/kernels/kernel_test.h"

#include <numbers>
#include <random>

namespace colibri::test {
namespace {

RopeParameters compressed() {
  return {64, 160000, 16, 65536, 32, 1};
}

TEST(RopeTables, FrequenciesAreTheReferences) {
  const GoldenFile file("kernels/rope.safetensors");
  std::vector<float> actual(32);
  ropeFrequencies({}, actual.data());
  EXPECT_EQ(actual, file.tensor("main/freq").floats());
  ropeFrequencies(compressed(), actual.data());
  EXPECT_EQ(actual, file.tensor("comp/freq").floats());
}

TEST(RopeTables, AnglesAreTheNearestNumbers) {
  const GoldenFile file("kernels/rope.safetensors");
  const auto positions = file.tensor("positions").as<std::int32_t>();
  for (const std::string kind : {"main", "comp"}) {
    const auto freq = file.tensor(kind + "/freq").floats();
    const auto expectedCos = file.tensor(kind + "/cos_f64").floats();
    const auto expectedSin = file.tensor(kind + "/sin_f64").floats();
    std::vector<float> cosines(expectedCos.size());
    std::vector<float> sines(expectedSin.size());
    for (std::size_t p = 0; p < positions.size(); ++p) {
      ropeAngles(positions[p], freq.data(), 32, &cosines[p * 32], &sines[p * 32]);
    }
    EXPECT_EQ(cosines, expectedCos) << kind;
    EXPECT_EQ(sines, expectedSin) << kind;
  }
}

TEST(RopeTables, AnglesUpToTwoMillionRadians) {
  std::mt19937 random(7);
  const float one = 1.0F;
  for (int i = 0; i < 20000; ++i) {
    const int position = i < 4096 ? i : static_cast<int>(random() % (1U << 21));
    float cosine = 0;
    float sine = 0;
    ropeAngles(position, &one, 1, &cosine, &sine);
    ASSERT_EQ(cosine, static_cast<float>(std::cos(static_cast<double>(position)))) << position;
    ASSERT_EQ(sine, static_cast<float>(std::sin(static_cast<double>(position)))) << position;
  }
}

TEST(TopK, BestFirstTiesToTheLowerIndex) {
  const float values[] = {1, 3, -0.0F, 3, 0.0F, 5, 3};
  int ids[7];
  topK(values, 7, 3, ids);
  EXPECT_EQ(std::vector<int>(ids, ids + 3), (std::vector<int>{5, 1, 3}));
  topK(values, 7, 7, ids);
  EXPECT_EQ(std::vector<int>(ids, ids + 7), (std::vector<int>{5, 1, 3, 6, 0, 2, 4}));
}

TEST(TopK, EqualsAStableSort) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const int n = 1 + static_cast<int>(random() % 300);
    const int k = 1 + static_cast<int>(random() % n);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 20)) - 10.0F;
    std::vector<int> expected(n);
    for (int i = 0; i < n; ++i) expected[i] = i;
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) { return values[a] > values[b]; });
    expected.resize(k);
    std::vector<int> actual(k);
    topK(values.data(), n, k, actual.data());
    ASSERT_EQ(actual, expected);
  }
}

TEST(Dispatch, AutoIsTheBestAndScalarIsAlwaysThere) {
  const auto tables = availableKernels();
  ASSERT_FALSE(tables.empty());
  EXPECT_EQ(tables.front()->isa, Isa::kScalar);
  EXPECT_EQ(*kernelsFor(Isa::kAuto), tables.back());
  for (const Kernels* table : tables) {
    const auto found = kernelsFor(table->isa);
    ASSERT_TRUE(found.isOk());
    EXPECT_EQ((*found)->isa, table->isa);
  }
}

TEST(Dispatch, AnAbsentSetIsUnavailableInWords) {
#if defined(__x86_64__)
  const auto absent = kernelsFor(Isa::kNeon);
  ASSERT_FALSE(absent.isOk());
  EXPECT_EQ(absent.status().code(), Code::kUnavailable);
  EXPECT_NE(absent.status().message().find("neon"), std::string::npos);
#endif
}

}  // namespace
}  // namespace colibri::test
