// One pass over a trace against LRU caches of every size, simulated one by one.
#include "store/reuse_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <vector>

namespace colibri {
namespace {

struct Access {
  std::size_t item = 0;
  bool recorded = true;
};

/// Hit rate of an LRU cache over the recorded accesses, access i weighing `growth`^i.
double simulated(const std::vector<Access>& trace, std::size_t slots, double growth = 1) {
  std::deque<std::size_t> cache;  // most recent first
  double hits = 0;
  double all = 0;
  double weight = 1;
  for (const Access& access : trace) {
    const auto it = std::find(cache.begin(), cache.end(), access.item);
    const bool isHit = it != cache.end();
    if (isHit) cache.erase(it);
    cache.push_front(access.item);
    if (cache.size() > slots) cache.pop_back();
    if (!access.recorded) continue;
    weight *= growth;
    all += weight;
    if (isHit) hits += weight;
  }
  return all > 0 ? hits / all : 0;
}

std::vector<Access> trace(std::size_t items, std::size_t length, double skew, double recordedShare, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> weights;
  for (std::size_t i = 0; i < items; ++i) weights.push_back(std::pow(static_cast<double>(i + 1), -skew));
  std::discrete_distribution<std::size_t> item(weights.begin(), weights.end());
  std::bernoulli_distribution recorded(recordedShare);
  std::vector<Access> accesses;
  for (std::size_t i = 0; i < length; ++i) accesses.push_back({item(random), recorded(random)});
  return accesses;
}

ReuseCurve curveOf(const std::vector<Access>& accesses, std::size_t items, double halfLife = 0) {
  ReuseCurve curve(items, halfLife);
  for (const Access& access : accesses) curve.touch(access.item, access.recorded);
  return curve;
}

TEST(ReuseCurve, EqualsSimulatedCachesOfEverySize) {
  constexpr std::size_t kItems = 37;
  unsigned seed = 1;
  for (const double skew : {0.0, 0.8, 2.0}) {
    for (const double recordedShare : {1.0, 0.6}) {
      // Long enough for the stamps to run out many times.
      const auto accesses = trace(kItems, 3000, skew, recordedShare, seed++);
      const ReuseCurve curve = curveOf(accesses, kItems);
      for (std::size_t slots = 1; slots <= kItems + 2; ++slots) {
        EXPECT_NEAR(curve.hitRate(slots), simulated(accesses, slots), 1e-12) << skew << ' ' << slots;
      }
    }
  }
}

TEST(ReuseCurve, ItemsNotYetTouchedAndOneItem) {
  const auto sparse = trace(500, 200, 0.5, 1.0, 9);
  const ReuseCurve curve = curveOf(sparse, 500);
  for (const std::size_t slots : {1U, 5U, 60U, 499U, 500U}) {
    EXPECT_NEAR(curve.hitRate(slots), simulated(sparse, slots), 1e-12) << slots;
  }
  ReuseCurve one(1);
  for (int i = 0; i < 100; ++i) one.touch(0, true);
  EXPECT_DOUBLE_EQ(one.hitRate(1), 0.99);
  EXPECT_DOUBLE_EQ(one.firstTouchRate(), 0.01);
}

TEST(ReuseCurve, WithoutAccessesThereIsNoRate) {
  ReuseCurve curve(4);
  EXPECT_EQ(curve.hitRate(4), 0);
  curve.touch(2, false);
  curve.touch(9, true);  // no such item
  EXPECT_EQ(curve.hitRate(4), 0);
  EXPECT_EQ(curve.weight(), 0);
  curve.touch(2, true);
  EXPECT_EQ(curve.hitRate(1), 1) << "the unrecorded access still put it on the stack";
  EXPECT_EQ(curve.hitRate(0), 0);
}

TEST(ReuseCurve, OldAccessesDecay) {
  constexpr double kHalfLife = 100;
  auto accesses = trace(40, 1500, 0.0, 1.0, 3);
  const auto later = trace(40, 300, 2.5, 0.9, 4);
  accesses.insert(accesses.end(), later.begin(), later.end());
  const ReuseCurve curve = curveOf(accesses, 40, kHalfLife);
  for (std::size_t slots = 1; slots <= 40; slots += 3) {
    EXPECT_NEAR(curve.hitRate(slots), simulated(accesses, slots, std::exp2(1 / kHalfLife)), 1e-9) << slots;
  }
  EXPECT_NEAR(curve.weight(), 1 / (1 - std::exp2(-1 / kHalfLife)), 0.01) << "the sum of all halvings";
}

TEST(ReuseCurve, DecayForLongerThanNumbersReach) {
  ReuseCurve curve(8, 1);  // halves with each access: 2^10000 is beyond a double
  for (std::size_t i = 0; i < 10000; ++i) curve.touch(i % 8, true);
  EXPECT_NEAR(curve.weight(), 2, 1e-9);
  EXPECT_NEAR(curve.hitRate(8), 1, 1e-9);
  EXPECT_EQ(curve.hitRate(7), 0) << "a loop over all items misses in every smaller cache";
}

TEST(ReuseCurve, RestoresWhatItGave) {
  const auto accesses = trace(20, 700, 1.0, 1.0, 5);
  const ReuseCurve before = curveOf(accesses, 20, 50);
  ReuseCurve after(20, 50);
  ASSERT_TRUE(after.restore(before.distances(), before.firstTouches()));
  for (std::size_t slots = 0; slots <= 20; ++slots) EXPECT_NEAR(after.hitRate(slots), before.hitRate(slots), 1e-12);
  EXPECT_NEAR(after.weight(), before.weight(), 1e-9);

  const std::vector<double> wrongSize(19, 1.0);
  EXPECT_FALSE(after.restore(wrongSize, 0));
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> distances(20, 1.0);
    EXPECT_FALSE(after.restore(distances, bad));
    distances[7] = bad;
    EXPECT_FALSE(after.restore(distances, 0));
  }
  EXPECT_NEAR(after.hitRate(10), before.hitRate(10), 1e-12) << "a refused curve changes nothing";
}

}  // namespace
}  // namespace colibri
