// The eviction policy beside LRU and beside Belady's bound, which knows the future.

#include "store/clock_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace colibri {
namespace {

/// Steps of a run, each with the experts that one layer wants, numbered through all layers.
using Route = std::vector<std::vector<int>>;

Route recordedRoute() {
  std::ifstream file(COLIBRI_SOURCE_DIR "/tests/engine/store/recorded_route.txt");
  Route route;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::vector<int>& step = route.emplace_back();
    for (int expert = 0; words >> expert;) step.push_back(expert);
  }
  return route;
}

/// A route of a wide model: some experts are liked more (Zipf), and a token likes some of what the last one had.
Route wideRoute(double zipf, double stickiness) {
  constexpr int kTokens = 150;
  constexpr int kLayers = 20;
  constexpr int kExperts = 64;
  constexpr std::size_t kWanted = 6;
  std::mt19937_64 random(1);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<double> cumulative;
  for (int i = 0; i < kExperts; ++i) {
    cumulative.push_back((cumulative.empty() ? 0 : cumulative.back()) + std::pow(i + 1, -zipf));
  }
  Route last(kLayers);
  Route route;
  for (int token = 0; token < kTokens; ++token) {
    for (std::size_t layer = 0; layer < kLayers; ++layer) {
      std::vector<int> step;
      for (const int expert : last[layer]) {
        if (unit() < stickiness) step.push_back(expert);
      }
      while (step.size() < kWanted) {
        const auto rank = std::lower_bound(cumulative.begin(), cumulative.end(), unit() * cumulative.back());
        // Every layer likes other experts.
        const auto liked = (static_cast<std::size_t>(rank - cumulative.begin()) * 37 + layer * 11) % kExperts;
        const int expert = static_cast<int>(layer * kExperts + liked);
        if (std::find(step.begin(), step.end(), expert) == step.end()) step.push_back(expert);
      }
      last[layer] = step;
      route.push_back(step);
    }
  }
  return route;
}

std::size_t clockHits(const Route& route, std::size_t slots) {
  ClockPolicy policy(slots);
  std::vector<int> tenant(slots, -1);
  std::map<int, std::size_t> slotOf;
  std::size_t hits = 0;
  std::size_t filled = 0;
  for (const auto& step : route) {
    for (const int expert : step) {
      if (const auto place = slotOf.find(expert); place != slotOf.end()) {
        ++hits;
        policy.used(place->second);
        continue;
      }
      std::size_t slot = filled;
      if (filled < slots) {
        ++filled;
      } else {
        slot = policy
                   .victim([&](std::size_t candidate) {
                     return std::find(step.begin(), step.end(), tenant[candidate]) == step.end();
                   })
                   .value();
        slotOf.erase(tenant[slot]);
      }
      tenant[slot] = expert;
      slotOf[expert] = slot;
      policy.filled(slot);
    }
  }
  return hits;
}

std::size_t lruHits(const Route& route, std::size_t slots) {
  std::list<int> order;
  std::size_t hits = 0;
  for (const auto& step : route) {
    for (const int expert : step) {
      const auto place = std::find(order.begin(), order.end(), expert);
      if (place != order.end()) {
        ++hits;
        order.erase(place);
      } else if (order.size() == slots) {
        order.pop_front();
      }
      order.push_back(expert);
    }
  }
  return hits;
}

/// Gives up what is wanted latest: no policy has more hits.
std::size_t beladyHits(const Route& route, std::size_t slots) {
  std::vector<int> wants;
  for (const auto& step : route) wants.insert(wants.end(), step.begin(), step.end());
  std::vector<std::size_t> next(wants.size());
  std::map<int, std::size_t> seen;
  for (std::size_t i = wants.size(); i-- > 0;) {
    const auto later = seen.find(wants[i]);
    next[i] = later == seen.end() ? std::numeric_limits<std::size_t>::max() : later->second;
    seen[wants[i]] = i;
  }
  std::map<int, std::size_t> resident;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < wants.size(); ++i) {
    if (resident.contains(wants[i])) {
      ++hits;
    } else if (resident.size() == slots) {
      resident.erase(std::max_element(resident.begin(), resident.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; }));
    }
    resident[wants[i]] = next[i];
  }
  return hits;
}

struct Outcome {
  double clock;  ///< hits as a share of Belady's
  double lru;
};

Outcome compare(const std::string& name, const Route& route, std::size_t slots) {
  const auto best = static_cast<double>(beladyHits(route, slots));
  const Outcome outcome{static_cast<double>(clockHits(route, slots)) / best,
                        static_cast<double>(lruHits(route, slots)) / best};
  std::cout << name << ", " << slots << " slots: clock " << outcome.clock << ", LRU " << outcome.lru
            << " of Belady's hits\n";
  return outcome;
}

TEST(ClockPolicy, RecordedRouteAgainstBelady) {
  const Route route = recordedRoute();
  ASSERT_EQ(route.size(), 60U);
  EXPECT_GE(compare("recorded", route, 12).clock, 0.55);
  EXPECT_GE(compare("recorded", route, 20).clock, 0.72);
  EXPECT_GE(compare("recorded", route, 30).clock, 0.85);
  EXPECT_EQ(compare("recorded", route, 40).clock, 1.0) << "where all fit, only first wants miss";
}

TEST(ClockPolicy, WideRoutesAgainstBelady) {
  for (const auto& [zipf, stickiness] : {std::pair(0.3, 0.5), std::pair(0.8, 0.3), std::pair(1.1, 0.2)}) {
    const Route route = wideRoute(zipf, stickiness);
    const std::string name = "zipf " + std::to_string(zipf).substr(0, 3);
    for (const std::size_t slots : {192U, 384U, 640U, 960U}) {
      const Outcome outcome = compare(name, route, slots);
      EXPECT_GE(outcome.clock, outcome.lru - 0.01);
      EXPECT_GE(outcome.clock, slots == 192 ? 0.65 : 0.75);
    }
  }
}

TEST(ClockPolicy, PassesWhatMayNotGo) {
  ClockPolicy policy(3);
  for (std::size_t slot = 0; slot < 3; ++slot) policy.filled(slot);
  EXPECT_EQ(policy.victim([](std::size_t slot) { return slot == 2; }), 2U);
  EXPECT_EQ(policy.victim([](std::size_t) { return false; }), std::nullopt);
  EXPECT_EQ(ClockPolicy(0).victim([](std::size_t) { return true; }), std::nullopt);
}

TEST(ClockPolicy, UsedStaysLonger) {
  ClockPolicy policy(3);
  for (std::size_t slot = 0; slot < 3; ++slot) policy.filled(slot);
  policy.used(0);
  policy.used(0);
  policy.used(1);
  const auto any = [](std::size_t) { return true; };
  EXPECT_EQ(policy.victim(any), 2U);
  policy.filled(2);
  policy.used(2);
  EXPECT_EQ(policy.victim(any), 1U);
}

}  // namespace
}  // namespace colibri
