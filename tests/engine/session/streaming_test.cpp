// A whole turn while drives fail, caches shrink and histories fill: the tokens stay what they were.

#include "base/process_memory.h"
#include "engine/io/fault_backend.h"
#include "session/memory_guard.h"
#include "session/session_core.h"
#include "store/usage_history.h"
#include <colibri/checkpoint.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Streaming : public ::testing::Test {
protected:
  void SetUp() override {
    m_folder = fs::path(::testing::TempDir()) /
               (std::string("streaming_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
                std::to_string(getpid()));
    fs::remove_all(m_folder);
    SynthOptions how;
    how.preset = "v4-tiny";
    how.out = model();
    ASSERT_TRUE(synthesizeCheckpoint(how).isOk());
    // Without a tokenizer only end-of-sentence ends a turn, and that is ignored here.
    fs::remove(model() / "tokenizer.json");
  }
  void TearDown() override { fs::remove_all(m_folder); }

  [[nodiscard]] fs::path model() const { return m_folder / "model"; }
  fs::path makeMirror(const std::string& name = "mirror") const {
    const fs::path mirror = m_folder / name;
    fs::create_directories(mirror);
    for (const fs::path& shard : shards(model())) fs::copy_file(shard, mirror / shard.filename());
    return mirror;
  }
  static std::vector<fs::path> shards(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".safetensors") found.push_back(entry.path());
    }
    return found;
  }
  [[nodiscard]] EngineOptions options() const {
    EngineOptions options;
    options.model = model();
    options.needTokenizer = false;
    options.context = 128;
    options.threads = 1;
    options.cacheExperts = 4;
    return options;
  }
  static std::shared_ptr<EngineCore> open(const EngineOptions& options) {
    auto engine = EngineCore::open(options, {}, {});
    EXPECT_TRUE(engine.isOk()) << engine.status().message();
    return engine.isOk() ? *engine : nullptr;
  }
  static Answer answer(Session& session, std::int64_t tokens = 12) {
    GenerateOptions how;
    how.maxTokens = tokens;
    how.ignoreEos = true;
    const std::vector<TokenId> prompt{5, 9, 100, 20, 33, 7, 81, 4};
    auto answer = session.generate(prompt, how, {});
    EXPECT_TRUE(answer.isOk()) << answer.status().message();
    return answer.isOk() ? *answer : Answer();
  }
  static std::unique_ptr<Session> sessionOf(EngineCore& engine) { return std::move(engine.newSession()).value(); }
  /// Empties every shard of a folder behind the engine's back, as a drive that comes loose would.
  static void loseDrive(const fs::path& folder) {
    for (const fs::path& shard : shards(folder)) fs::resize_file(shard, 0);
  }

  fs::path m_folder;
};

TEST_F(Streaming, AMirrorThatFailsHealsWithEqualTokensAndTheUserIsTold) {
  const auto plain = open(options());
  const std::vector<TokenId> expected = answer(*sessionOf(*plain)).tokens;
  EngineOptions mirrored = options();
  mirrored.mirrors.push_back(makeMirror());
  const auto engine = open(mirrored);
  EXPECT_THAT(engine->takeNotices(), ::testing::ElementsAre(HasSubstr("drive")));
  const auto session = sessionOf(*engine);
  const Answer first = answer(*session);
  EXPECT_EQ(first.tokens, expected);
  ASSERT_EQ(first.experts.disks.size(), 2U);
  EXPECT_GT(first.experts.disks[1].bytesRead, 0U);
  loseDrive(m_folder / "mirror");
  session->reset();
  const Answer healed = answer(*session);
  EXPECT_EQ(healed.finishReason, FinishReason::kLength);
  EXPECT_EQ(healed.tokens, expected);
  EXPECT_THAT(healed.notices, ::testing::ElementsAre(HasSubstr("not read any more")));
  EXPECT_FALSE(healed.experts.disks[1].fault.empty());
  session->reset();
  EXPECT_EQ(answer(*session).experts.disks[1].bytesRead, 0U);
}

TEST_F(Streaming, APrimaryThatFailsEndsTheTurnAndTheSessionStaysUsable) {
  const auto engine = open(options());
  const auto session = sessionOf(*engine);
  const std::vector<TokenId> expected = answer(*session).tokens;
  const fs::path kept = makeMirror("kept");
  loseDrive(model());
  session->reset();
  GenerateOptions how;
  how.maxTokens = 4;
  const std::vector<TokenId> prompt{5, 9, 100, 20, 33, 7, 81, 4};
  const auto failed = session->generate(prompt, how, {});
  ASSERT_FALSE(failed.isOk());
  EXPECT_EQ(failed.status().code(), Code::kIo);
  EXPECT_THAT(failed.status().message(), HasSubstr(".safetensors"));
  for (const fs::path& shard : shards(kept)) {
    std::ofstream(model() / shard.filename(), std::ios::binary | std::ios::in | std::ios::out)
        << std::ifstream(shard, std::ios::binary).rdbuf();
  }
  EXPECT_EQ(answer(*session).tokens, expected);
}

TEST_F(Streaming, APrimaryThatFailsIsReadFromTheMirror) {
  EngineOptions mirrored = options();
  mirrored.mirrors.push_back(makeMirror());
  const auto engine = open(mirrored);
  (void)engine->takeNotices();
  const auto session = sessionOf(*engine);
  const std::vector<TokenId> expected = answer(*session).tokens;
  loseDrive(model());
  session->reset();
  const Answer healed = answer(*session);
  EXPECT_EQ(healed.tokens, expected);
  EXPECT_FALSE(healed.notices.empty());
}

TEST_F(Streaming, WrongDiskWeightsAreRefusedInWords) {
  EngineOptions mirrored = options();
  mirrored.mirrors.push_back(makeMirror());
  for (const char* weights : {"1", "1,2,3", "1,0", "1,-2", "1,x", "1,inf", "nan,1", "1,2x"}) {
    mirrored.diskWeights = weights;
    const auto engine = EngineCore::open(mirrored, {}, {});
    ASSERT_FALSE(engine.isOk()) << weights;
    EXPECT_EQ(engine.status().code(), Code::kUsage) << weights;
    EXPECT_THAT(engine.status().message(), HasSubstr("--disk-weights"));
  }
  mirrored.diskWeights = "1,1000";
  const auto engine = open(mirrored);
  const Answer weighted = answer(*sessionOf(*engine));
  EXPECT_GT(weighted.experts.disks[1].bytesRead, 20 * weighted.experts.disks[0].bytesRead);
}

TEST_F(Streaming, EqualReplicasShareTheBytes) {
  EngineOptions mirrored = options();
  mirrored.cacheExperts = 1;
  mirrored.diskWeights = "1,1";
  mirrored.mirrors.push_back(makeMirror());
  const auto engine = open(mirrored);
  const Answer shared = answer(*sessionOf(*engine), 50);
  const auto one = static_cast<double>(shared.experts.disks[0].bytesRead);
  const auto other = static_cast<double>(shared.experts.disks[1].bytesRead);
  EXPECT_NEAR(one / (one + other), 0.5, 0.05);
}

TEST_F(Streaming, PreloadedExpertsAreHitsAndTheTokensAreTheSame) {
  const std::vector<TokenId> expected = answer(*sessionOf(*open(options()))).tokens;
  EngineOptions filled = options();
  filled.cacheExperts.reset();
  filled.preload = true;
  std::uint64_t lastDone = 0;
  std::uint64_t total = 0;
  auto engine = EngineCore::open(filled,
                                 [&](const LoadProgress& progress) {
                                   EXPECT_GE(progress.doneBytes, lastDone);
                                   lastDone = progress.doneBytes;
                                   total = progress.totalBytes;
                                 },
                                 {});
  ASSERT_TRUE(engine.isOk());
  EXPECT_EQ(lastDone, total);
  const Answer warm = answer(*sessionOf(**engine));
  EXPECT_EQ(warm.tokens, expected);
  EXPECT_EQ(warm.experts.misses, 0U);
  EXPECT_EQ(warm.experts.bytesRead, 0U);
}

TEST_F(Streaming, HistoryFillsTheCacheWithWhatWasUsedAndChangesNoToken) {
  EngineOptions learning = options();
  learning.dataFolder = m_folder / "data";
  const std::vector<TokenId> expected = answer(*sessionOf(*open(learning))).tokens;
  ASSERT_TRUE(fs::exists(learning.dataFolder / "usage"));
  EngineOptions warm = learning;
  warm.preload = true;
  const auto engine = open(warm);
  const auto hottest = engine->log().usage().hottest(4);
  const std::vector<std::uint8_t> resident = engine->residency();
  for (const std::uint32_t flat : hottest) EXPECT_EQ(resident[flat], 1) << flat;
  const Answer again = answer(*sessionOf(*engine));
  EXPECT_EQ(again.tokens, expected);
  EXPECT_GT(again.prediction.decodeTokensPerSecond, 0);
  EXPECT_GT(engine->log().turns().size(), 1U);
  EngineOptions forgetful = learning;
  forgetful.recordUsage = false;
  EXPECT_EQ(open(forgetful)->log().usage().accesses(), 0U);
}

TEST_F(Streaming, ADataFolderThatCannotBeWrittenIsANoticeAndNothingElse) {
  EngineOptions blocked = options();
  std::ofstream(m_folder / "file") << "not a folder";
  blocked.dataFolder = m_folder / "file";
  const auto engine = open(blocked);
  const Answer first = answer(*sessionOf(*engine));
  EXPECT_EQ(first.finishReason, FinishReason::kLength);
  EXPECT_FALSE(first.notices.empty());
}

TEST_F(Streaming, ACacheThatShrinksWithinATurnChangesNoToken) {
  EngineOptions wide = options();
  wide.cacheExperts = 24;
  const auto engine = open(wide);
  const auto session = sessionOf(*engine);
  const std::vector<TokenId> expected = answer(*session).tokens;
  session->reset();
  GenerateOptions how;
  how.maxTokens = 12;
  how.ignoreEos = true;
  GenerateCallbacks calls;
  int events = 0;
  calls.token = [&](const TokenEvent& event) {
    if (event.id >= 0 && ++events % 3 == 0) (void)engine->experts().shrink(engine->model().expertBytes * 4);
  };
  const std::vector<TokenId> prompt{5, 9, 100, 20, 33, 7, 81, 4};
  const auto shrinking = session->generate(prompt, how, {}, calls);
  ASSERT_TRUE(shrinking.isOk());
  EXPECT_EQ(shrinking->tokens, expected);
  EXPECT_LT(engine->live().expertSlots, 24U);
}

TEST_F(Streaming, ExpertsOfHashRoutedLayersAreReadBeforeTheyAreAskedFor) {
  const auto control = std::make_shared<testing::FaultControl>();
  EngineOptions wide = options();
  wide.cacheExperts.reset();
  auto engine = EngineCore::open(wide, {}, {}, [&](std::unique_ptr<ReadBackend> inner) {
    return std::make_unique<testing::FaultBackend>(std::move(inner), control);
  });
  ASSERT_TRUE(engine.isOk());
  const Answer done = answer(*sessionOf(**engine));
  std::size_t ahead = 0;
  for (const ReadRequest& request : control->log) ahead += request.priority == ReadPriority::kCertain ? 1 : 0;
  EXPECT_GT(ahead, 0U);
  EXPECT_GT(done.experts.prefetched, 0U);
  // With room for all, what is certain is used, and what a table routes is never left to demand.
  EXPECT_EQ(done.experts.prefetchedUnused, 0U);
  EXPECT_EQ(done.experts.prefetched, done.experts.prefetchedUsed);
  EXPECT_EQ(done.experts.bytesMissed, done.experts.misses * (*engine)->model().expertBytes);
  const auto& layout = (*engine)->experts().layout();
  int hashLayers = 0;
  for (int layer = 0; layer < layout.layers(); ++layer) {
    if ((*engine)->layers().layers[static_cast<std::size_t>(layer)].router != RouterKind::kHash) continue;
    ++hashLayers;
    for (int expert = 0; expert < layout.experts(layer); ++expert) {
      for (const Extent& extent : layout.place(layer, expert).extents) {
        for (const ReadRequest& request : control->log) {
          if (request.priority != ReadPriority::kDemand) continue;
          EXPECT_FALSE(request.file == extent.shard && request.offset == alignDown(extent.offset))
              << "layer " << layer << ", expert " << expert;
        }
      }
    }
  }
  EXPECT_GT(hashLayers, 0);
}

TEST_F(Streaming, TheGuardShrinksTheCacheOfAProcessThatHoldsTooMuchAndSaysSo) {
  EngineOptions wide = options();
  wide.cacheExperts = 24;
  const auto engine = open(wide);
  const auto session = sessionOf(*engine);
  const std::vector<TokenId> expected = answer(*session).tokens;
  const std::uint64_t held = anonymousMemoryBytes().value_or(0);
  if (held == 0) GTEST_SKIP() << "the system does not tell";
  const auto nothing = [] { return std::uint64_t{0}; };
  MemoryGuard roomy(held + (std::uint64_t{64} << 20), 0, 0);
  EXPECT_EQ(roomy.check(engine->experts(), nothing), "");
  // What was there before counts as far as the plan leaves no room for it.
  MemoryGuard based(held / 2, held, 0);
  EXPECT_EQ(based.check(engine->experts(), nothing), "");
  // What can be loaded again is given up before any slot.
  MemoryGuard spared(held - 1, 0, 0);
  EXPECT_EQ(spared.check(engine->experts(), [] { return std::uint64_t{1} << 40; }), "");
  EXPECT_EQ(engine->experts().slots(), 24U);
  MemoryGuard tight(held - 1, 0, 0);
  EXPECT_THAT(tight.check(engine->experts(), nothing), HasSubstr("23 slots"));
  session->reset();
  EXPECT_EQ(answer(*session).tokens, expected);
}

TEST_F(Streaming, DriveCountersAddUpToWhatTheStoreAsked) {
  const auto engine = open(options());
  const Answer done = answer(*sessionOf(*engine));
  ASSERT_EQ(done.experts.disks.size(), 1U);
  EXPECT_EQ(done.experts.disks[0].path, model().string());
  // The last block of a file may be shorter than what was asked.
  EXPECT_NEAR(static_cast<double>(done.experts.disks[0].bytesRead), static_cast<double>(done.experts.bytesRead),
              8192.0 * static_cast<double>(done.experts.misses));
  EXPECT_LE(done.experts.busySeconds, done.timings.prefillSeconds + done.timings.decodeSeconds + 0.01);
}

}  // namespace
}  // namespace colibri
