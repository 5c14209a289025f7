#include "session/stop_matcher.h"

#include <gtest/gtest.h>

namespace colibri {
namespace {

struct Outcome {
  std::string text;
  bool matched = false;
  bool operator==(const Outcome&) const = default;
};

// The text fed in pieces of `size` bytes.
Outcome feed(const std::vector<std::string>& stops, const std::string& text, std::size_t size) {
  StopMatcher matcher(stops);
  Outcome outcome;
  for (std::size_t i = 0; i < text.size(); i += size) outcome.text += matcher.push(text.substr(i, size));
  outcome.text += matcher.finish();
  outcome.matched = matcher.matched();
  return outcome;
}

TEST(StopMatcher, AnySplitGivesTheSame) {
  const std::vector<std::string> stops{"STOP", "\n\nUser:", "ab"};
  for (std::size_t size = 1; size < 8; ++size) {
    EXPECT_EQ(feed(stops, "one two STOP three", size), (Outcome{"one two ", true}));
    EXPECT_EQ(feed(stops, "hi\n\nUser: more", size), (Outcome{"hi", true}));
    EXPECT_EQ(feed(stops, "STO STO ST", size), (Outcome{"STO STO ST", false}));
    EXPECT_EQ(feed(stops, "xSSTOPy", size), (Outcome{"xS", true}));
    EXPECT_EQ(feed(stops, "aab", size), (Outcome{"a", true}));
    EXPECT_EQ(feed({}, "anything", size), (Outcome{"anything", false}));
    EXPECT_EQ(feed({""}, "anything", size), (Outcome{"anything", false}));
  }
}

TEST(StopMatcher, TheEarliestMatchWins) {
  StopMatcher matcher({"later", "now"});
  EXPECT_EQ(matcher.push("a now then later"), "a ");
  EXPECT_TRUE(matcher.matched());
  EXPECT_EQ(matcher.push("more"), "");
  EXPECT_EQ(matcher.finish(), "");
}

TEST(StopMatcher, HoldsOnlyWhatCouldBecomeAStop) {
  StopMatcher matcher({"</end>"});
  EXPECT_EQ(matcher.push("text </"), "text ");
  EXPECT_EQ(matcher.push("x"), "</x");
}

}  // namespace
}  // namespace colibri
