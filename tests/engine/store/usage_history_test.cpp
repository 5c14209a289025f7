// Uses, heat, the hottest experts, and what the file survives.
#include "store/usage_history.h"

#include "base/hash.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kModel = "0123456789abcdef0123456789abcdef";
constexpr const char* kOther = "fedcba98765432100123456789abcdef";

class UsageHistoryFile : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = fs::path(testing::TempDir()) /
               (std::string("usage_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(m_folder);
  }
  void TearDown() override { fs::remove_all(m_folder); }

  static std::unique_ptr<UsageHistory> filled(std::size_t experts) {
    auto history = std::make_unique<UsageHistory>(experts);
    std::mt19937 random(7);
    for (int i = 0; i < 4000; ++i) {
      const std::size_t expert = std::min<std::size_t>(random() % experts, random() % experts);
      history->used(expert, i % 5 != 0);
    }
    return history;
  }
  std::unique_ptr<UsageHistory> load(std::size_t experts, const char* model = kModel) {
    auto loaded = UsageHistory::load(m_folder, model, experts);
    EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
    return loaded ? std::move(*loaded) : nullptr;
  }
  [[nodiscard]] fs::path file() const { return UsageHistory::file(m_folder, kModel); }
  [[nodiscard]] std::string bytes() const { return *readFile(file(), std::size_t{1} << 20); }
  void write(const std::string& text) const {
    std::ofstream(file(), std::ios::binary | std::ios::trunc)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
  }

  fs::path m_folder;
};

TEST(UsageHistory, CountsDecayAndOrder) {
  UsageHistory history(6);
  EXPECT_THAT(history.hottest(6), IsEmpty());
  EXPECT_THAT(history.heat(), ElementsAre(0, 0, 0, 0, 0, 0));
  for (int i = 0; i < 5; ++i) history.used(4, true);
  history.used(1, true);
  history.used(3, false);
  history.used(6, true);  // no such expert
  EXPECT_EQ(history.accesses(), 7U);
  EXPECT_EQ(history.recordedAccesses(), 6U);
  EXPECT_EQ(history.expertsSeen(), 3U);
  EXPECT_THAT(history.hottest(2), ElementsAre(4, 3)) << "3 was used later than 1, so it has decayed less";
  EXPECT_THAT(history.hottest(99), ElementsAre(4, 3, 1));
  const auto heat = history.heat();
  EXPECT_GT(heat[4], heat[1]);
  EXPECT_GT(heat[1], 0);
  EXPECT_EQ(heat[0], 0);

  const double before = history.uses(4);
  const auto halfLife = static_cast<int>(kUsageHalfLifePerExpert * 6);
  for (int i = 0; i < halfLife; ++i) history.used(0, false);
  EXPECT_NEAR(history.uses(4), before / 2, 1e-6);
  EXPECT_THAT(history.hottest(1), ElementsAre(0)) << "the curve of use follows the user";
}

TEST(UsageHistory, HeatMayBeReadWhileItIsWritten) {
  UsageHistory history(64);
  std::thread writer([&] {
    for (std::size_t i = 0; i < 20000; ++i) history.used(i % 64, true);
  });
  std::size_t sum = 0;
  for (int i = 0; i < 50; ++i) sum += history.heat().size() + history.hottest(3).size() + history.expertsSeen();
  writer.join();
  EXPECT_GE(sum, 50U * 64U);
  EXPECT_EQ(history.accesses(), 20000U);
}

TEST_F(UsageHistoryFile, ComesBack) {
  constexpr std::size_t kExperts = 50;
  const auto owned = filled(kExperts);
  const UsageHistory& before = *owned;
  EXPECT_THAT(load(kExperts)->notice(), IsEmpty()) << "the first run is no news";
  ASSERT_TRUE(before.save(m_folder, kModel).isOk());
  const auto after = load(kExperts);
  EXPECT_THAT(after->notice(), IsEmpty());
  EXPECT_EQ(after->accesses(), before.accesses());
  EXPECT_EQ(after->recordedAccesses(), before.recordedAccesses());
  EXPECT_EQ(after->heat(), before.heat());
  EXPECT_EQ(after->hottest(10), before.hottest(10));
  for (std::size_t slots = 0; slots <= kExperts; slots += 5) {
    EXPECT_NEAR(after->hitRate(slots), before.hitRate(slots), 1e-12);
  }
  EXPECT_GT(after->hitRate(kExperts), 0.9);
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder / "usage"), {}), 1) << "no temporary file is left";
  EXPECT_EQ(load(kExperts, kOther)->accesses(), 0U);
}

TEST_F(UsageHistoryFile, TiesGoByIndex) {
  ASSERT_TRUE(filled(20)->save(m_folder, kModel).isOk());
  std::string tied = bytes().substr(0, bytes().size() - 64);
  const double same = 5;
  for (const std::size_t expert : {3U, 11U, 12U, 19U}) std::memcpy(&tied[(5 + expert) * 8], &same, 8);
  const double more = 5.5;
  std::memcpy(&tied[(5 + 15) * 8], &more, 8);
  for (std::size_t expert = 0; expert < 20; ++expert) {
    double uses = 0;
    std::memcpy(&uses, &tied[(5 + expert) * 8], 8);
    if (uses != same && uses != more) std::memset(&tied[(5 + expert) * 8], 0, 8);
  }
  write(tied + sha256Hex(std::as_bytes(std::span(tied))));
  EXPECT_THAT(load(20)->hottest(99), ElementsAre(15, 3, 11, 12, 19));
}

TEST_F(UsageHistoryFile, AnotherGeometryStartsAnew) {
  ASSERT_TRUE(filled(50)->save(m_folder, kModel).isOk());
  for (const std::size_t experts : {49U, 51U, 1U, 100000U}) {
    const auto history = load(experts);
    EXPECT_EQ(history->accesses(), 0U);
    EXPECT_EQ(history->experts(), experts);
    EXPECT_FALSE(history->notice().empty());
  }
}

TEST_F(UsageHistoryFile, DamageStartsAnew) {
  ASSERT_TRUE(filled(20)->save(m_folder, kModel).isOk());
  const std::string good = bytes();
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    switch (round % 4) {
      case 0:
        bad[random() % bad.size()] ^= static_cast<char>(1 + random() % 255);
        break;
      case 1:
        bad.resize(random() % bad.size());
        break;
      case 2:
        bad += std::string(1 + random() % 100000, 'x');
        break;
      default:
        for (char& c : bad) c = static_cast<char>(random());
    }
    write(bad);
    const auto history = load(20);
    ASSERT_EQ(history->accesses(), 0U) << round;
    ASSERT_EQ(history->expertsSeen(), 0U) << round;
    ASSERT_EQ(history->hitRate(20), 0) << round;
    ASSERT_THAT(history->notice(), HasSubstr("starts anew")) << round;
  }
}

TEST_F(UsageHistoryFile, ImpossibleValuesWithTheRightChecksumAreRefused) {
  ASSERT_TRUE(filled(20)->save(m_folder, kModel).isOk());
  const std::string good = bytes();
  const auto words = (good.size() - 64) / 8;
  for (std::size_t word = 4; word < words; ++word) {
    for (const double value :
         {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      std::string bad = good.substr(0, words * 8);
      std::memcpy(&bad[word * 8], &value, 8);
      bad += sha256Hex(std::as_bytes(std::span(bad)));
      write(bad);
      ASSERT_EQ(load(20)->accesses(), 0U) << word;
    }
  }
  std::string bad = good.substr(0, words * 8);
  std::memset(&bad[3 * 8], 0x7f, 8);  // more recorded accesses than accesses
  write(bad + sha256Hex(std::as_bytes(std::span(bad))));
  EXPECT_EQ(load(20)->recordedAccesses(), 0U);
}

TEST_F(UsageHistoryFile, ForgetsOneOrAll) {
  const auto owned = filled(20);
  const UsageHistory& history = *owned;
  EXPECT_TRUE(UsageHistory::forget(m_folder, kModel).isOk()) << "nothing there is fine";
  EXPECT_TRUE(UsageHistory::forget(m_folder, "").isOk());
  ASSERT_TRUE(history.save(m_folder, kModel).isOk());
  ASSERT_TRUE(history.save(m_folder, kOther).isOk());
  std::ofstream(m_folder / "usage" / "notes.txt") << "mine";
  ASSERT_TRUE(UsageHistory::forget(m_folder, kModel).isOk());
  EXPECT_EQ(load(20)->accesses(), 0U);
  EXPECT_GT(load(20, kOther)->accesses(), 0U);
  ASSERT_TRUE(history.save(m_folder, kModel).isOk());
  ASSERT_TRUE(UsageHistory::forget(m_folder, "").isOk());
  EXPECT_EQ(load(20)->accesses() + load(20, kOther)->accesses(), 0U);
  EXPECT_TRUE(fs::exists(m_folder / "usage" / "notes.txt"));
}

TEST_F(UsageHistoryFile, BadNamesAndPlacesAreRefused) {
  const auto owned = filled(20);
  const UsageHistory& history = *owned;
  for (const char* id : {"../../etc/passwd", "ABC", "a/b", "..", ""}) {
    EXPECT_EQ(history.save(m_folder, id).code(), Code::kUsage) << id;
    EXPECT_EQ(UsageHistory::load(m_folder, id, 20).status().code(), Code::kUsage) << id;
  }
  EXPECT_EQ(UsageHistory::forget(m_folder, "../x").code(), Code::kUsage);
  EXPECT_EQ(UsageHistory::load(m_folder, kModel, std::size_t{1} << 40).status().code(), Code::kUsage);
  EXPECT_TRUE(history.save({}, kModel).isOk()) << "no data folder: nothing is remembered";
  EXPECT_TRUE(UsageHistory::load({}, kModel, 20).isOk());

  std::ofstream(m_folder) << "a file where the folder should be";
  const Status status = history.save(m_folder, kModel);
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_THAT(status.message(), HasSubstr("not kept"));
}

}  // namespace
}  // namespace colibri
