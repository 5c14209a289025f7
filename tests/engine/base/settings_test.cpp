#include "base/units.h"
#include "base/words.h"
#include <colibri/settings.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace colibri {
namespace {

constexpr SettingScope kBoth[] = {SettingScope::kEngine, SettingScope::kAnswer};

Environment environmentOf(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

class SettingsFile {
public:
  explicit SettingsFile(const std::string& text)
      : m_path(std::filesystem::path(testing::TempDir()) /
               ("colibri_settings_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".json")) {
    std::ofstream(m_path) << text;
  }
  ~SettingsFile() { std::filesystem::remove(m_path); }
  [[nodiscard]] const std::filesystem::path& path() const { return m_path; }

private:
  std::filesystem::path m_path;
};

Result<SettingValue> parse(Setting setting, const std::string& text) {
  return parseSetting(setting, std::span(&text, 1), settingInfo(setting).flag());
}

TEST(Sizes, AreBinaryAndBareNumbersHaveTheUnitAsked) {
  EXPECT_EQ(parseSize("512M").value(), 512ULL << 20);
  EXPECT_EQ(parseSize("8G").value(), 8ULL << 30);
  EXPECT_EQ(parseSize("1.5GiB").value(), 3ULL << 29);
  EXPECT_EQ(parseSize("100kb").value(), 102400U);
  EXPECT_EQ(parseSize("4096B", 1 << 30).value(), 4096U);
  EXPECT_EQ(parseSize("8", 1ULL << 30).value(), 8ULL << 30);
  EXPECT_EQ(parseSize("2T").value(), 2ULL << 40);
}

TEST(Sizes, RefuseWhatIsNone) {
  for (const char* text :
       {"", "G", "-1G", "1X", "1GB2", "nan", "inf", "1e5000", "99999999999999999999G", "1 G", "0x10"}) {
    const auto size = parseSize(text);
    EXPECT_FALSE(size.isOk()) << text;
    EXPECT_EQ(size.status().code(), Code::kUsage) << text;
  }
}

TEST(Sizes, InWords) {
  EXPECT_EQ(binarySize(96), "96 bytes");
  EXPECT_EQ(binarySize(7768281308ULL), "7.23 GiB");
  EXPECT_EQ(decimalSize(159609485896.0), "160 GB");
  EXPECT_EQ(decimalSize(13369344.0), "13.4 MB");
}

TEST(SettingsTable, NamesAndFlagsAndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const SettingInfo& info : settingsTable()) {
    EXPECT_TRUE(seen.insert(std::string(info.name)).second) << info.name;
    EXPECT_TRUE(seen.insert(info.flag()).second) << info.name;
    for (const std::string& name : splitWords(info.environment, " ")) EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_EQ(findSetting(info.name), &info);
    EXPECT_FALSE(info.help.empty());
  }
  for (const RetiredName& row : retiredNames()) {
    EXPECT_TRUE(seen.insert(std::string(row.name)).second) << row.name;
    EXPECT_EQ(row.sentence.back(), '.') << row.name;
  }
}

TEST(SettingsTable, EveryDefaultIsLegal) {
  for (const SettingInfo& info : settingsTable()) {
    if (info.defaultText.empty()) continue;
    EXPECT_TRUE(parse(info.id, std::string(info.defaultText)).isOk()) << info.name;
    EXPECT_FALSE(std::holds_alternative<std::monostate>(Settings().value(info.id))) << info.name;
  }
}

TEST(SettingsTable, CommittedReferenceIsTheTable) {
  std::ifstream file(std::filesystem::path(COLIBRI_SOURCE_DIR) / "docs" / "settings.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == settingsMarkdown()) << "run: coli settings --markdown > docs/settings.md";
}

TEST(SettingsTable, HasEachNameOfTheRequirements) {
  const std::string page = settingsMarkdown();
  for (const char* name : {"RAM_GB",
                           "CTX",
                           "NGEN",
                           "OMP_NUM_THREADS",
                           "COLI_MODEL_MIRROR",
                           "SNAP_MIRROR",
                           "COLI_DISK_WEIGHTS",
                           "COLI_MODEL_DIRS",
                           "V4_DRAFT",
                           "V4_MTP",
                           "V4_MTP_GB",
                           "V4_MTP_MIN",
                           "V4_MTP_DRAFT",
                           "V4_MTP_PARTIAL_KEEP",
                           "V4_NGRAM",
                           "V4_NGRAM_PARTIAL_KEEP",
                           "COLI_V4_MARKOV_SPEC",
                           "COLI_V4_MARKOV_BLOCK",
                           "COLI_V4_MARKOV_KEEP",
                           "COLI_V4_DIRECT",
                           "COLI_V4_AUTOPIN",
                           "COLI_V4_PREWARM",
                           "COLI_V4_SAVE_USAGE",
                           "COLI_V4_ROWS16",
                           "V4_PREFILL_CHUNK",
                           "V4_PREFILL_SEGMENT",
                           "V4_PREFIX_CKPT",
                           "V4_PREFIX_CKPT_MIN",
                           "V4_PREFIX_CKPT_SLOTS",
                           "V4_PREFIX_CKPT_DISK",
                           "V4_PREFIX_LOG",
                           "V4_IDX_BATCH",
                           "V4_IDX_IDENTITY",
                           "V4_MOE_REFILL_GROUP",
                           "V4_LOADER_LANES",
                           "V4_EXPERT_UNION",
                           "V4_MOE_BANK_FULL",
                           "V4_MTP_GPU_MIRRORS",
                           "DSV4_CUDA",
                           "DSV4_CUDA_DEVICE",
                           "COLI_DSV4_DLL",
                           "COLI_CUDA",
                           "COLI_GPU",
                           "CUDA_DENSE",
                           "COLI_CUDA_PIPE",
                           "COLI_CUDA_ATTN_BATCH",
                           "COLI_CUDA_MOE_BATCH",
                           "COLI_CUDA_MOE_BATCH_MIN",
                           "DSV4_CUDA_EXPERT_MIRRORS",
                           "DSV4_CUDA_VRAM_RESERVE_MB",
                           "DSV4_CUDA_PIN_HOST",
                           "DSV4_CUDA_MOE_GROUPED",
                           "DSV4_CUDA_TC",
                           "DSV4_ATTN_PROF",
                           "DSV4_DECODE_PROF",
                           "DSV4_IDX_VERIFY",
                           "DSV4_CUDA_MOE_PROF",
                           "DSV4_CUDA_DG_PROFILE",
                           "COLI_NO_OMP_TUNE",
                           "COLI_KV_PREFIX",
                           "V41_STATS",
                           "V41_READ_DEPTH",
                           "V41_DIRECT",
                           "V41_ENGRAM_ROWS",
                           "V41_INDEX_OWNER",
                           "V41_MAX_IMAGE_TOKENS",
                           "V41_TRACE",
                           "V41_DSPARK",
                           "V41_DSPARK_MAX",
                           "V41_DSPARK_MINACC",
                           "V41_SPEC_FORCE"}) {
    EXPECT_NE(page.find("| `" + std::string(name) + "` |"), std::string::npos) << name;
  }
}

TEST(SettingValues, RamIsGibibytesWithoutAUnit) {
  EXPECT_EQ(std::get<std::int64_t>(parse(Setting::kRam, "8").value()), std::int64_t{8} << 30);
  EXPECT_EQ(std::get<std::int64_t>(parse(Setting::kRam, "8G").value()), std::int64_t{8} << 30);
  EXPECT_EQ(parse(Setting::kRam, "12k").status().code(), Code::kUsage);
}

TEST(SettingValues, OutOfRangeIsRefusedInWords) {
  for (const auto& [setting, text] : std::vector<std::pair<Setting, std::string>>{{Setting::kCtx, "0"},
                                                                                  {Setting::kCtx, "12x"},
                                                                                  {Setting::kTopP, "1.01"},
                                                                                  {Setting::kTemperature, "nan"},
                                                                                  {Setting::kTemperature, "-1"},
                                                                                  {Setting::kCacheExperts, "0"},
                                                                                  {Setting::kIsa, "sse"},
                                                                                  {Setting::kDirect, "maybe"},
                                                                                  {Setting::kThink, "101"},
                                                                                  {Setting::kThink, "often"},
                                                                                  {Setting::kSeed, "-1"}}) {
    const auto value = parse(setting, text);
    ASSERT_FALSE(value.isOk()) << text;
    EXPECT_EQ(value.status().code(), Code::kUsage);
    EXPECT_NE(value.status().message().find(settingInfo(setting).flag()), std::string::npos);
    EXPECT_NE(value.status().message().find("'" + text + "'"), std::string::npos) << value.status().message();
  }
  EXPECT_TRUE(parse(Setting::kThink, "37").isOk());
}

TEST(SettingValues, DraftsOffIsAcceptedAndTheRestHasAReason) {
  EXPECT_TRUE(parse(Setting::kDrafts, "off").isOk());
  for (const char* text : {"auto", "3", "on"}) {
    const auto value = parse(Setting::kDrafts, text);
    ASSERT_FALSE(value.isOk());
    EXPECT_EQ(value.status().code(), Code::kUnavailable);
    EXPECT_NE(value.status().message().find("drafting"), std::string::npos);
  }
}

TEST(SettingLayers, CommandLineThenEnvironmentThenFileThenDefault) {
  const SettingsFile file(
      R"({"ctx": 100, "threads": 1, "temperature": 0.5, "isa": "scalar", "stop": ["a", "b"], "app": {"theme": "dark"}})");
  const SettingLayers layers{{{Setting::kCtx, {"300"}}},
                             environmentOf({{"CTX", "200"}, {"OMP_NUM_THREADS", "2,4"}, {"RAM_GB", "3"}}),
                             file.path()};
  const auto settings = Settings::load(layers, kBoth);
  ASSERT_TRUE(settings.isOk()) << settings.status().message();
  EXPECT_EQ(settings->integer(Setting::kCtx), 300);
  EXPECT_EQ(settings->source(Setting::kCtx), SettingSource::kCommandLine);
  EXPECT_EQ(settings->integer(Setting::kThreads), 2);
  EXPECT_EQ(settings->source(Setting::kThreads), SettingSource::kEnvironment);
  EXPECT_EQ(settings->origin(Setting::kThreads), "OMP_NUM_THREADS");
  EXPECT_EQ(settings->integer(Setting::kRam), std::int64_t{3} << 30);
  EXPECT_EQ(settings->text(Setting::kIsa), "scalar");
  EXPECT_EQ(settings->source(Setting::kIsa), SettingSource::kFile);
  EXPECT_EQ(settings->number(Setting::kTemperature), 0.5);
  EXPECT_EQ(settings->list(Setting::kStop), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(settings->source(Setting::kNumerics), SettingSource::kDefault);
}

TEST(SettingLayers, OtherScopesAreNotRead) {
  constexpr SettingScope kEngineOnly[] = {SettingScope::kEngine};
  const auto settings = Settings::load({{}, environmentOf({{"NGEN", "nonsense"}}), {}}, kEngineOnly);
  EXPECT_TRUE(settings.isOk());
  EXPECT_FALSE(Settings::load({{}, environmentOf({{"NGEN", "nonsense"}}), {}}, kBoth).isOk());
}

TEST(SettingLayers, HostileFilesAreRefused) {
  for (const char* text : {"[1]", "{", R"({"ctx": 1, "ctx": 2})", R"({"contex": 1})", R"({"ctx": {"a": 1}})",
                           R"({"ctx": null})", R"({"ctx": 1.5})", R"({"ram": [1, 2]})", "\xff"}) {
    const SettingsFile file(text);
    const auto settings = Settings::load({{}, {}, file.path()}, kBoth);
    ASSERT_FALSE(settings.isOk()) << text;
    EXPECT_EQ(settings.status().code(), Code::kUsage) << text;
  }
}

TEST(SettingLayers, RetiredNamesExplainThemselvesUnlessTheyAskForNothing) {
  EXPECT_TRUE(
      Settings::load({{}, environmentOf({{"DSV4_CUDA", "0"}, {"V4_DRAFT", "0"}, {"CUDA_HOME", "/opt/x"}}), {}}, kBoth)
          .isOk());
  const auto gpu = Settings::load({{}, environmentOf({{"DSV4_CUDA", "1"}}), {}}, kBoth);
  ASSERT_FALSE(gpu.isOk());
  EXPECT_EQ(gpu.status().code(), Code::kUnavailable);
  EXPECT_NE(gpu.status().message().find("DSV4_CUDA=1"), std::string::npos);
  const auto lanes = Settings::load({{}, environmentOf({{"V4_LOADER_LANES", "3"}}), {}}, kBoth);
  ASSERT_FALSE(lanes.isOk());
  EXPECT_NE(lanes.status().message().find("--queue-depth"), std::string::npos);
  EXPECT_FALSE(Settings::load({{}, environmentOf({{"V4_MTP", "1"}}), {}}, kBoth).isOk());
}

TEST(SettingLayers, NamesOfV41MeanTheirSettings) {
  const auto options = [](std::map<std::string, std::string> values) {
    const auto settings = Settings::load({{}, environmentOf(std::move(values)), {}}, kBoth);
    EXPECT_TRUE(settings.isOk()) << settings.status().message();
    return settings.isOk() ? settings->engineOptions("m") : EngineOptions();
  };
  EXPECT_EQ(options({}).indexKeys, IndexKeyRule::kVendor);
  EXPECT_EQ(options({{"V41_INDEX_OWNER", "0"}}).indexKeys, IndexKeyRule::kVendor);
  EXPECT_EQ(options({{"V41_INDEX_OWNER", "1"}}).indexKeys, IndexKeyRule::kOwner);
  EXPECT_EQ(options({{"V41_INDEX_OWNER", ""}}).indexKeys, IndexKeyRule::kVendor);
  EXPECT_EQ(options({{"V41_ENGRAM_ROWS", "5000"}}).engramRows, 5000U);
  EXPECT_FALSE(options({}).engramRows.has_value());
  EXPECT_EQ(options({{"V41_MAX_IMAGE_TOKENS", "300"}}).maxImageTokens, 300);
  EXPECT_TRUE(options({{"COLI_KV_PREFIX", "1"}}).reuseGenerated);
  EXPECT_FALSE(options({{"COLI_KV_PREFIX", "0"}}).reuseGenerated);
  EXPECT_FALSE(Settings::load({{}, environmentOf({{"V41_INDEX_OWNER", "2"}}), {}}, kBoth).isOk());
}

TEST(SettingLayers, CapAndCacheExpertsExcludeEachOtherWithinALayer) {
  EXPECT_FALSE(Settings::load({{{Setting::kCap, {"1"}}, {Setting::kCacheExperts, {"2"}}}, {}, {}}, kBoth).isOk());
  const SettingsFile file(R"({"cap": 4})");
  const auto settings = Settings::load({{{Setting::kCacheExperts, {"2"}}}, {}, file.path()}, kBoth);
  ASSERT_TRUE(settings.isOk());
  EXPECT_FALSE(settings->isGiven(Setting::kCap));
  EXPECT_EQ(settings->engineOptions("m").cacheExperts, 2U);
  EXPECT_FALSE(settings->engineOptions("m").cap.has_value());
}

TEST(SettingsToOptions, EveryEngineSettingArrives) {
  const SettingLayers layers{{{Setting::kRam, {"1G"}},
                              {Setting::kCtx, {"77"}},
                              {Setting::kCap, {"3"}},
                              {Setting::kThreads, {"2"}},
                              {Setting::kIsa, {"avx2"}},
                              {Setting::kNumerics, {"fp32"}},
                              {Setting::kIndexKeys, {"owner"}},
                              {Setting::kEngramRows, {"9"}},
                              {Setting::kMaxImageTokens, {"11"}},
                              {Setting::kKvPrefix, {"on"}},
                              {Setting::kPrefillChunk, {"5"}},
                              {Setting::kPrefillSegment, {"6"}},
                              {Setting::kDirect, {"off"}},
                              {Setting::kQueueDepth, {"4"}},
                              {Setting::kIo, {"threads"}},
                              {Setting::kShardDir, {"a", "b"}}},
                             {},
                             {}};
  const auto settings = Settings::load(layers, kBoth);
  ASSERT_TRUE(settings.isOk()) << settings.status().message();
  const EngineOptions options = settings->engineOptions("model");
  EXPECT_EQ(options.ramBytes, 1ULL << 30);
  EXPECT_EQ(options.context, 77);
  EXPECT_EQ(options.cap, 3U);
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.isa, Isa::kAvx2);
  EXPECT_EQ(options.numerics, Numerics::kFp32);
  EXPECT_EQ(options.indexKeys, IndexKeyRule::kOwner);
  EXPECT_EQ(options.engramRows, 9U);
  EXPECT_EQ(options.maxImageTokens, 11);
  EXPECT_TRUE(options.reuseGenerated);
  EXPECT_EQ(options.prefillChunk, 5);
  EXPECT_EQ(options.prefillSegment, 6);
  EXPECT_FALSE(options.direct);
  EXPECT_EQ(options.queueDepth, 4);
  EXPECT_EQ(options.io, IoChoice::kThreads);
  EXPECT_EQ(options.shardDirs.size(), 2U);
}

TEST(SettingsToOptions, ThePlanFillsOnlyWhatWasLeftToIt) {
  auto settings = Settings::load({{{Setting::kThreads, {"7"}}}, {}, {}}, kBoth);
  ASSERT_TRUE(settings.isOk());
  EnginePlan plan;
  plan.budgetBytes = 100;
  plan.expertSlots = 9;
  plan.threads = 2;
  plan.isa = "avx2";
  settings->adoptPlan(plan);
  EXPECT_EQ(settings->integer(Setting::kThreads), 7);
  EXPECT_EQ(settings->integer(Setting::kRam), 100);
  EXPECT_EQ(settings->source(Setting::kRam), SettingSource::kPlan);
  EXPECT_EQ(settings->integer(Setting::kCacheExperts), 9);
  EXPECT_EQ(settings->text(Setting::kIsa), "avx2");
}

}  // namespace
}  // namespace colibri
