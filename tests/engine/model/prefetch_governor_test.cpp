#include "model/prefetch_governor.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

using State = PrefetchGovernor::State;

/// Decodes `tokens`; those with guesses take `with` seconds, the others `without`. Each guess brings `used` and
/// `unused` reads.
void decode(PrefetchGovernor& governor, int tokens, double without, double with, int used, int unused,
            std::uint64_t totalUsed = 0, std::uint64_t totalUnused = 0) {
  for (int i = 0; i < tokens; ++i) {
    const bool guessed = governor.active();
    totalUsed += guessed ? static_cast<std::uint64_t>(used) : 0;
    totalUnused += guessed ? static_cast<std::uint64_t>(unused) : 0;
    governor.tokenDone(guessed ? with : without, totalUsed, totalUnused);
  }
}

TEST(PrefetchGovernor, DoesNothingUnlessItIsWanted) {
  PrefetchGovernor governor(false);
  decode(governor, 200, 1, 0.5, 3, 0);
  EXPECT_FALSE(governor.active());
  EXPECT_EQ(governor.state(), State::kOff);
}

TEST(PrefetchGovernor, StaysOnWhenGuessesAreFaster) {
  PrefetchGovernor governor(true);
  EXPECT_EQ(governor.state(), State::kTrying);
  EXPECT_FALSE(governor.active());
  decode(governor, 100, 1, 0.8, 4, 1);
  EXPECT_EQ(governor.state(), State::kOn);
  EXPECT_TRUE(governor.active());
}

TEST(PrefetchGovernor, StopsWhenTheyAreNot) {
  PrefetchGovernor governor(true);
  decode(governor, 100, 1, 0.99, 4, 1);
  EXPECT_EQ(governor.state(), State::kOff);
}

TEST(PrefetchGovernor, StopsWhenWasteExceedsUseHoweverFast) {
  PrefetchGovernor governor(true);
  decode(governor, 100, 1, 0.5, 1, 4);
  EXPECT_EQ(governor.state(), State::kOff);
  PrefetchGovernor later(true);
  decode(later, 100, 1, 0.8, 4, 1);
  ASSERT_EQ(later.state(), State::kOn);
  decode(later, 100, 1, 0.8, 1, 4, 1000, 1000);
  EXPECT_EQ(later.state(), State::kOff);
}

TEST(PrefetchGovernor, TriesBothInTurns) {
  PrefetchGovernor governor(true);
  int guessed = 0;
  for (int i = 0; i < 64; ++i) {
    guessed += governor.active() ? 1 : 0;
    governor.tokenDone(1, 0, 0);
  }
  EXPECT_EQ(guessed, 32);
}

}  // namespace
}  // namespace colibri
