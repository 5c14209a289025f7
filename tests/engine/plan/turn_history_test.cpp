#include "plan/turn_history.h"

#include "fake_turns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace colibri {
namespace {

namespace fs = std::filesystem;

constexpr const char* kId = "0123456789abcdef0123456789abcdef";

class TurnHistoryTest : public testing::Test {
protected:
  TurnHistoryTest()
      : m_folder(fs::path(testing::TempDir()) / ("colibri_turns_" + std::to_string(::getpid()) + "_" +
                                                 testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(m_folder);
  }
  ~TurnHistoryTest() override { fs::remove_all(m_folder); }
  void write(const std::string& text) const {
    fs::create_directories(file().parent_path());
    std::ofstream(file(), std::ios::binary) << text;
  }
  [[nodiscard]] fs::path file() const { return m_folder / "turns" / (std::string(kId) + ".json"); }
  fs::path m_folder;
};

TEST_F(TurnHistoryTest, ATurnComesBackAsItWas) {
  TurnRecord turn = measuredTurn(1e-10, 2e9, 0.5, 77);
  turn.residentAtStart = 12;
  turn.streamsDense = true;
  turn.prefill.tokens = 9;
  turn.prefill.seconds = 1.25;
  turn.prefill.split.attentionSeconds = 0.5;
  turn.predictedDecodeTokensPerSecond = 3.5;
  turn.predictedFirstTokenSeconds = 2.5;
  TurnHistory history = TurnHistory::load(m_folder, kId);
  EXPECT_TRUE(history.turns().empty());
  ASSERT_TRUE(history.record(turn).isOk());
  const TurnHistory again = TurnHistory::load(m_folder, kId);
  ASSERT_EQ(again.turns().size(), 1U);
  EXPECT_TRUE(again.notice().empty()) << again.notice();
  const TurnRecord& read = again.turns().front();
  EXPECT_EQ(read.isa, turn.isa);
  EXPECT_EQ(read.threads, 4);
  EXPECT_EQ(read.drives, turn.drives);
  EXPECT_EQ(read.slots, 77U);
  EXPECT_EQ(read.residentAtStart, 12U);
  EXPECT_TRUE(read.streamsDense);
  EXPECT_EQ(read.prefill.tokens, 9);
  EXPECT_EQ(read.prefill.seconds, 1.25);
  EXPECT_EQ(read.prefill.split.attentionSeconds, 0.5);
  EXPECT_EQ(read.decode.hits, turn.decode.hits);
  EXPECT_EQ(read.decode.bytesRead, turn.decode.bytesRead);
  EXPECT_EQ(read.decode.split.expertSeconds, turn.decode.split.expertSeconds);
  EXPECT_EQ(read.readBytesPerSecond, 2e9);
  EXPECT_EQ(read.predictedDecodeTokensPerSecond, 3.5);
  EXPECT_EQ(read.predictedFirstTokenSeconds, 2.5);
  // Nothing but the record itself is left in the folder.
  EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), fs::directory_iterator()), 1);
}

TEST_F(TurnHistoryTest, OnlyTheLatestTurnsAreKept) {
  TurnHistory history = TurnHistory::load(m_folder, kId);
  for (std::uint64_t i = 0; i < TurnHistory::kMostTurns + 5; ++i) {
    ASSERT_TRUE(history.record(measuredTurn(1e-10, 2e9, 0.5, i + 1)).isOk());
  }
  EXPECT_EQ(history.turns().size(), TurnHistory::kMostTurns);
  const TurnHistory again = TurnHistory::load(m_folder, kId);
  ASSERT_EQ(again.turns().size(), TurnHistory::kMostTurns);
  EXPECT_EQ(again.turns().front().slots, 6U);
  EXPECT_EQ(again.turns().back().slots, TurnHistory::kMostTurns + 5);
}

TEST_F(TurnHistoryTest, HostileFilesAreLeftOutWithAReason) {
  TurnHistory good = TurnHistory::load(m_folder, kId);
  ASSERT_TRUE(good.record(measuredTurn(1e-10, 2e9, 0.5, 5)).isOk());
  std::ifstream in(file());
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return changed.replace(at, from.size(), to);
  };
  const std::vector<std::string> hostile{"",
                                         "[]",
                                         "{\"version\":1}",
                                         "\xff\xfe",
                                         std::string(1000, '['),
                                         std::string(std::size_t{2} << 20, ' '),
                                         with("\"version\":1", "\"version\":2"),
                                         with("\"threads\":4", "\"threads\":-4"),
                                         with("\"threads\":4", "\"threads\":1e300"),
                                         with("\"slots\":5", "\"slots\":5.5"),
                                         with("\"slots\":5", "\"slots\":\"5\""),
                                         with("\"chunk\":128", "\"chunk\":0"),
                                         with("\"hits\":2400", "\"hits\":99999999"),
                                         with("\"isa\":\"avx2\"", "\"isa\":\"" + std::string(5000, 'x') + "\""),
                                         with("\"prefill\":{", "\"prefill\":[],\"x\":{"),
                                         text.substr(0, text.size() / 2)};
  for (const std::string& content : hostile) {
    write(content);
    const TurnHistory history = TurnHistory::load(m_folder, kId);
    EXPECT_TRUE(history.turns().empty()) << content.substr(0, 200);
    EXPECT_FALSE(history.notice().empty()) << content.substr(0, 200);
  }
  // And the next turn replaces it.
  TurnHistory history = TurnHistory::load(m_folder, kId);
  ASSERT_TRUE(history.record(measuredTurn(1e-10, 2e9, 0.5, 6)).isOk());
  EXPECT_EQ(TurnHistory::load(m_folder, kId).turns().size(), 1U);
}

TEST_F(TurnHistoryTest, NothingIsRememberedWithoutAFolderOrAnId) {
  for (const auto& [folder, id] : std::vector<std::pair<fs::path, std::string>>{
           {{}, kId}, {m_folder, "../../../../etc/passwd"}, {m_folder, std::string(kId) + "0"}, {m_folder, ""}}) {
    TurnHistory history = TurnHistory::load(folder, id);
    EXPECT_TRUE(history.record(measuredTurn(1e-10, 2e9, 0.5, 5)).isOk());
    EXPECT_EQ(history.turns().size(), 1U);
  }
  EXPECT_FALSE(fs::exists(m_folder));
}

TEST_F(TurnHistoryTest, AFolderThatCannotBeWrittenIsAnErrorOfTheRecordAlone) {
  std::ofstream(m_folder) << "a file where the folder should be";
  TurnHistory history = TurnHistory::load(m_folder, kId);
  const Status status = history.record(measuredTurn(1e-10, 2e9, 0.5, 5));
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(history.turns().size(), 1U);
}

TEST_F(TurnHistoryTest, ForgettingRemovesWhatIsStored) {
  TurnHistory history = TurnHistory::load(m_folder, kId);
  ASSERT_TRUE(history.record(measuredTurn(1e-10, 2e9, 0.5, 5)).isOk());
  EXPECT_EQ(TurnHistory::forget(m_folder, "../x").code(), Code::kUsage);
  EXPECT_TRUE(TurnHistory::forget(m_folder, kId).isOk());
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(TurnHistory::forget(m_folder, {}).isOk());
}

}  // namespace
}  // namespace colibri
