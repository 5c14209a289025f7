// Choosing the best of a stream against sorting all of it.

#include "model/best_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace colibri {
namespace {

std::vector<std::int32_t> sorted(const std::vector<float>& scores, int k) {
  std::vector<std::int32_t> ids(scores.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto value = [&](std::int32_t id) { return scores[static_cast<std::size_t>(id)]; };
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    if (std::isnan(value(a)) || std::isnan(value(b))) return !std::isnan(value(a)) && std::isnan(value(b));
    return value(a) > value(b);
  });
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(k)));
  return ids;
}

std::vector<std::int32_t> chosen(const std::vector<float>& scores, int k, bool backwards = false) {
  std::vector<std::uint64_t> room(BestScores::roomFor(k));
  BestScores best(room.data(), k);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::size_t id = backwards ? scores.size() - 1 - i : i;
    best.add(scores[id], static_cast<std::uint32_t>(id));
  }
  std::vector<std::int32_t> ids(static_cast<std::size_t>(k));
  ids.resize(static_cast<std::size_t>(best.takeBestFirst(ids.data())));
  return ids;
}

TEST(BestScores, EqualsSortingEverything) {
  std::mt19937 random(7);
  for (const std::size_t n : {1U, 5U, 300U, 5000U}) {
    for (const int k : {1, 6, 512}) {
      std::vector<float> scores(n);
      // Few distinct values, so that many tie.
      for (float& score : scores) score = static_cast<float>(random() % 37) - 18.0F;
      EXPECT_EQ(chosen(scores, k), sorted(scores, k)) << n << " scores, best " << k;
      EXPECT_EQ(chosen(scores, k, true), sorted(scores, k)) << n << " scores backwards, best " << k;
    }
  }
}

TEST(BestScores, OrdersSpecialNumbers) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> scores{nan, -infinity, -0.0F, 0.0F, 1e-45F, -1e-45F, infinity, -3.0F, 3.0F};
  EXPECT_EQ(chosen(scores, 9), (std::vector<std::int32_t>{6, 8, 4, 2, 3, 5, 7, 1, 0}));
}

TEST(BestScores, AscendingIds) {
  std::vector<std::uint64_t> room(BestScores::roomFor(2));
  BestScores best(room.data(), 2);
  for (std::uint32_t id = 0; id < 4; ++id) best.add(static_cast<float>(id), id);
  std::vector<std::int32_t> ids(2);
  EXPECT_EQ(best.takeAscending(ids.data()), 2);
  EXPECT_EQ(ids, (std::vector<std::int32_t>{2, 3}));
}

}  // namespace
}  // namespace colibri
