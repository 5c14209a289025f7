#include "cli_harness.h"
#include <colibri/checkpoint.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

/// V4 Flash's whole geometry (the release with the three-stage drafter) in a few megabytes of disk; made once.
class RealGeometry : public testing::Test {
protected:
  static void SetUpTestSuite() { make("v4-0731-real-sparse"); }
  static void make(const char* preset) {
    folder() = fs::path(testing::TempDir()) / ("coli_plan_" + std::to_string(::getpid()));
    fs::remove_all(folder());
    SynthOptions options;
    options.preset = preset;
    options.out = folder();
    const Status status = synthesizeCheckpoint(options);
    ASSERT_TRUE(status.isOk()) << status.message();
  }
  static void TearDownTestSuite() { fs::remove_all(folder()); }
  static fs::path& folder() {
    static fs::path path;
    return path;
  }

  /// A machine of `gib` GiB, of which a sixteenth is in use.
  static OrderedJson machine(std::uint64_t gib, int drives) {
    const bool large = gib >= 128;
    OrderedJson disks = OrderedJson::array();
    for (int i = 0; i < drives; ++i) {
      disks.push_back({{"path", i == 0 ? "/models" : "/copies"},
                       {"device", i == 0 ? "nvme0n1" : "nvme1n1"},
                       {"kind", "nvme"},
                       {"bytes_per_s", large ? 6.5e9 : 3.2e9},
                       {"iops_4k", 600000},
                       {"queue_depth", 8},
                       {"direct", true},
                       {"mirror", i > 0}});
    }
    return {{"cpu",
             {{"model", "golden"},
              {"physical_cores", large ? 32 : 8},
              {"logical_cores", large ? 64 : 16},
              {"isa", large ? "avx512-vnni" : "avx2"}}},
            {"memory",
             {{"total_bytes", gib * kGib},
              {"usable_bytes", gib * kGib / 16 * 15},
              {"read_bytes_per_s", large ? 180e9 : 45e9}}},
            {"disks", disks}};
  }

  static CliResult plan(const std::string& probe, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"plan", folder().string(), "--probe", probe, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Cli()(arguments);
  }

  static void expectWhole(const OrderedJson& plan, std::uint64_t experts = 43 * 256) {
    const OrderedJson& ram = plan.at("ram");
    std::uint64_t sum = 0;
    for (const auto& [name, bytes] : ram.at("parts").items()) sum += bytes.get<std::uint64_t>();
    EXPECT_EQ(ram.at("parts").size(), 11U);
    EXPECT_EQ(sum, ram.at("used_bytes").get<std::uint64_t>());
    EXPECT_LE(sum, ram.at("budget_bytes").get<std::uint64_t>());
    if (ram.at("expert_slots").get<std::uint64_t>() < experts) {
      EXPECT_GE(static_cast<double>(sum), 0.95 * ram.at("budget_bytes").get<double>());
    }
    const OrderedJson& speed = plan.at("prediction").at("decode_tokens_per_s");
    ASSERT_EQ(speed.size(), 2U);
    EXPECT_GT(speed[0].get<double>(), 0);
    EXPECT_LT(speed[0].get<double>(), speed[1].get<double>());
  }

  static void compareGoldens(const std::string& prefix, std::initializer_list<std::uint64_t> sizes,
                             std::uint64_t experts);
};

/// What the goldens hold of a plan; the rest depends on where it runs.
OrderedJson kept(const OrderedJson& plan) {
  OrderedJson json;
  for (const char* key : {"ram", "vram", "disks", "prefill", "prediction", "advice"}) json[key] = plan.at(key);
  return json;
}

/// Equal but for the last digits of floating-point numbers, which differ between machines.
void expectSame(const OrderedJson& actual, const OrderedJson& golden, const std::string& where) {
  if (golden.is_number_float() && actual.is_number()) {
    EXPECT_NEAR(actual.get<double>(), golden.get<double>(), std::abs(golden.get<double>()) * 1e-9) << where;
    return;
  }
  ASSERT_EQ(actual.type(), golden.type()) << where;
  if (!golden.is_structured()) {
    EXPECT_EQ(actual, golden) << where;
    return;
  }
  ASSERT_EQ(actual.size(), golden.size()) << where << ": " << actual.dump();
  if (golden.is_array()) {
    for (std::size_t i = 0; i < golden.size(); ++i) expectSame(actual[i], golden[i], where + "/" + std::to_string(i));
    return;
  }
  for (const auto& [key, value] : golden.items()) {
    ASSERT_TRUE(actual.contains(key)) << where << "/" << key;
    expectSame(actual.at(key), value, where + "/" + key);
  }
}

/// Plans `folder` for machines of these sizes and compares them with their goldens.
void RealGeometry::compareGoldens(const std::string& prefix, std::initializer_list<std::uint64_t> sizes,
                                  std::uint64_t experts) {
  // COLIBRI_WRITE_GOLDEN_PLANS=1 writes them anew; read the difference before it is kept.
  const bool writes = std::getenv("COLIBRI_WRITE_GOLDEN_PLANS") != nullptr;
  for (const std::uint64_t gib : sizes) {
    for (const int drives : {1, 2}) {
      const std::string name = "plans/" + prefix + std::to_string(gib) + "g-" + std::to_string(drives) +
                               (drives == 1 ? "drive.json" : "drives.json");
      if (writes) {
        const Scratch scratch;
        const OrderedJson probe = machine(gib, drives);
        const CliResult result = plan(scratch.write("probe.json", probe.dump()));
        ASSERT_EQ(result.code, 0) << result.err;
        fs::create_directories(fs::path(goldenPath(name)).parent_path());
        std::ofstream(goldenPath(name)) << OrderedJson{{"probe", probe}, {"plan", kept(result.json())}}.dump(1) << '\n';
        continue;
      }
      // A golden is itself a probe file: what stands beside "probe" is not looked at.
      const CliResult result = plan(goldenPath(name));
      ASSERT_EQ(result.code, 0) << result.err;
      std::ifstream file(goldenPath(name));
      const OrderedJson golden = OrderedJson::parse(file);
      expectWhole(result.json(), experts);
      expectSame(kept(result.json()), golden.at("plan"), name);
    }
  }
  EXPECT_FALSE(writes) << "The goldens were written, not compared.";
}

TEST_F(RealGeometry, GoldenPlans) {
  compareGoldens("", {16, 24, 32, 64, 128, 192, 256, 384}, 43 * 256);
}

/// V4.1 Flash's whole geometry.
class RealGeometryV41 : public RealGeometry {
protected:
  static void SetUpTestSuite() { make("v41-real-sparse"); }
};

TEST_F(RealGeometryV41, GoldenPlans) {
  compareGoldens("v41-", {16, 24, 64, 192, 512}, 40 * 384);
}

TEST_F(RealGeometryV41, OnlyWhatIsNeededIsPlannedAndTheRestIsNamed) {
  const Scratch scratch;
  const std::string probe = scratch.write("probe.json", machine(64, 1).dump());
  const OrderedJson json = plan(probe).json();
  const OrderedJson& parts = json.at("ram").at("parts");
  EXPECT_EQ(parts.at("draft"), 0);
  EXPECT_EQ(parts.at("vision"), 0);
  EXPECT_GT(parts.at("engram_cache").get<std::uint64_t>(), 500U << 20);
  EXPECT_EQ(parts.at("head"), 2647654400U);
  EXPECT_EQ(json.at("not_loaded").at("draft"), 7932874632U);
  EXPECT_EQ(json.at("not_loaded").at("vision"), 970536960U);
  EXPECT_EQ(json.at("not_loaded").at("engram"), 202758032400U);
  // 890 bytes of packed caches and 4 of history a token, whatever else a session keeps.
  const OrderedJson longer = plan(probe, {"--ctx", "104096"}).json();
  const auto kv = [](const OrderedJson& one) { return one.at("ram").at("parts").at("kv").get<std::int64_t>(); };
  EXPECT_NEAR(static_cast<double>(kv(longer) - kv(json)), 100000.0 * (890 + 4), 100000.0 * 8);
  const OrderedJson few = plan(probe, {"--engram-rows", "1000"}).json();
  EXPECT_LT(few.at("ram").at("parts").at("engram_cache").get<std::uint64_t>(), 20U << 20);
  EXPECT_GT(few.at("ram").at("expert_slots"), json.at("ram").at("expert_slots"));
  expectError(plan(probe, {"--max-image-tokens", "1025"}), 2, "setting_has_no_effect");
  EXPECT_EQ(plan(probe, {"--max-image-tokens", "1024"}).code, 0);
}

TEST_F(RealGeometryV41, TheRefusalNamesABudgetThatWorks) {
  const Scratch scratch;
  const std::string probe = scratch.write("probe.json", machine(64, 1).dump());
  const CliResult refused = plan(probe, {"--ram", "2G"});
  expectError(refused, 4, "memory_budget");
  const std::size_t at = refused.err.find("--ram ");
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::string setting = refused.err.substr(at + 6, refused.err.find_first_of(" .,", at + 6) - at - 6);
  EXPECT_EQ(plan(probe, {"--ram", setting}).code, 0) << setting;
}

TEST_F(RealGeometryV41, InfoAndVerifyReadTheWholeGeometry) {
  const OrderedJson info = Cli()({"info", folder().string(), "--json"}).json();
  EXPECT_EQ(info.at("geometry"), "40L x 384E");
  EXPECT_EQ(info.at("tensors"), 96085);
  EXPECT_EQ(info.at("bytes").at("total"), 510286023000U);
  EXPECT_TRUE(info.at("supported").get<bool>());
  EXPECT_EQ(Cli()({"verify", folder().string(), "--level", "headers"}).code, 0);
}

TEST_F(RealGeometry, EveryBudgetIsUsedAndMoreIsNeverSlower) {
  const Scratch scratch;
  const std::string probe = scratch.write("probe.json", machine(256, 1).dump());
  double speedBefore = 0;
  std::uint64_t slotsBefore = 0;
  bool streamedBefore = true;
  int plans = 0;
  for (std::uint64_t mib = 2048; mib < 200000; mib += mib < 16384 ? 512 : 9000) {
    const CliResult result = plan(probe, {"--ram", std::to_string(mib) + "M"});
    if (result.code == 4) {
      EXPECT_EQ(plans, 0) << mib;
      continue;
    }
    ASSERT_EQ(result.code, 0) << result.err;
    ++plans;
    const OrderedJson json = result.json();
    expectWhole(json);
    EXPECT_EQ(json.at("ram").at("budget_bytes"), mib << 20);
    EXPECT_EQ(json.at("settings").at("ram").at("source"), "cli");
    EXPECT_EQ(json.at("settings").at("cache_experts").at("source"), "plan");
    const bool streams = json.at("ram").at("streams_dense");
    const auto slots = json.at("ram").at("expert_slots").get<std::uint64_t>();
    const double speed = json.at("prediction").at("decode_tokens_per_s")[0];
    EXPECT_GE(speed, speedBefore * (1 - 1e-9)) << mib;
    if (streams == streamedBefore) {
      EXPECT_GE(slots, slotsBefore) << mib;
    }
    EXPECT_TRUE(streamedBefore || !streams) << mib;
    speedBefore = speed;
    slotsBefore = slots;
    streamedBefore = streams;
  }
  EXPECT_GT(plans, 30);
  EXPECT_FALSE(streamedBefore);
  EXPECT_EQ(slotsBefore, 43U * 256U);
}

TEST_F(RealGeometry, TheRefusalNamesABudgetThatWorks) {
  const Scratch scratch;
  const std::string probe = scratch.write("probe.json", machine(64, 1).dump());
  const CliResult refused = plan(probe, {"--ram", "2G"});
  expectError(refused, 4, "memory_budget");
  const std::string text = refused.err;
  const std::size_t at = text.find("--ram ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string setting = text.substr(at + 6, text.find_first_of(" .,", at + 6) - at - 6);
  const CliResult taken = plan(probe, {"--ram", setting});
  ASSERT_EQ(taken.code, 0) << taken.err;
  EXPECT_TRUE(taken.json().at("ram").at("streams_dense").get<bool>());
  // Less than a MiB below it is refused again.
  const std::uint64_t mib = std::stoull(setting);
  EXPECT_EQ(plan(probe, {"--ram", std::to_string(mib - 1) + "M"}).code, 4);
  EXPECT_THAT(refused.json().at("error").at("detail").dump(), HasSubstr("shortfall_bytes"));
}

TEST_F(RealGeometry, WhatTheUserNamesWinsAndShows) {
  const Scratch scratch;
  const std::string probe = scratch.write("probe.json", machine(64, 1).dump());
  const OrderedJson capped = plan(probe, {"--cap", "3"}).json();
  EXPECT_EQ(capped.at("ram").at("expert_slots"), 43 * 3);
  EXPECT_EQ(capped.at("settings").at("cap").at("source"), "cli");
  const auto hasAdvice = [](const OrderedJson& plan, const char* part) {
    return std::any_of(plan.at("advice").begin(), plan.at("advice").end(), [&](const OrderedJson& sentence) {
      return sentence.get<std::string>().find(part) != std::string::npos;
    });
  };
  EXPECT_TRUE(hasAdvice(capped, "Without --cap")) << capped.at("advice");
  const OrderedJson slots = plan(probe, {"--cache-experts", "77"}).json();
  EXPECT_EQ(slots.at("ram").at("expert_slots"), 77);
  EXPECT_EQ(slots.at("settings").at("cache_experts").at("source"), "cli");
  const OrderedJson longer = plan(probe, {"--ctx", "65536"}).json();
  const OrderedJson usual = plan(probe).json();
  EXPECT_GT(longer.at("ram").at("parts").at("kv"), usual.at("ram").at("parts").at("kv"));
  EXPECT_LT(longer.at("ram").at("expert_slots"), usual.at("ram").at("expert_slots"));
  EXPECT_TRUE(hasAdvice(usual, "8 GiB more memory would give")) << usual.at("advice");
  EXPECT_TRUE(hasAdvice(usual, "second drive")) << usual.at("advice");
  const OrderedJson low = plan(probe, {"--ram", "16G"}).json();
  EXPECT_TRUE(hasAdvice(low, "--ram 56G would use the memory that is free")) << low.at("advice");
  const OrderedJson least = plan(probe, {"--ram", "6G"}).json();
  EXPECT_TRUE(hasAdvice(least, "read again for each token")) << least.at("advice");
  const OrderedJson threads = plan(probe, {"--threads", "3", "--prefill-segment", "1000"}).json();
  EXPECT_EQ(threads.at("settings").at("threads").at("value"), 3);
  EXPECT_EQ(threads.at("prefill").at("segment"), 1000);
  EXPECT_EQ(threads.at("prefill").at("sweeps_per_1k_tokens"), 1);
}

TEST_F(RealGeometry, TwoDrivesAreFasterThanOne) {
  const Scratch scratch;
  const OrderedJson one = plan(scratch.write("one.json", machine(16, 1).dump())).json();
  const OrderedJson two = plan(scratch.write("two.json", machine(16, 2).dump())).json();
  EXPECT_EQ(one.at("prediction").at("bound_by"), "disk");
  EXPECT_GT(two.at("prediction").at("decode_tokens_per_s")[0].get<double>(),
            1.3 * one.at("prediction").at("decode_tokens_per_s")[0].get<double>());
  EXPECT_LT(two.at("prediction").at("first_token_s")[0].get<double>(),
            one.at("prediction").at("first_token_s")[0].get<double>());
}

TEST(PlanCommand, PlansTheDemoHereAndInWords) {
  const Cli coli;
  const CliResult json = coli({"plan", "--json"});
  ASSERT_EQ(json.code, 0) << json.err;
  const OrderedJson plan = json.json();
  EXPECT_EQ(plan.at("disks").size(), 1U);
  EXPECT_EQ(plan.at("disks")[0].at("path"), demoModel());
  EXPECT_TRUE(plan.at("model").at("supported").get<bool>());
  EXPECT_EQ(plan.at("prediction").at("source"), "assumed");
  EXPECT_GT(plan.at("prediction").at("decode_tokens_per_s")[1].get<double>(), 0);
  const CliResult text = coli({"plan"});
  EXPECT_EQ(text.code, 0);
  for (const char* word : {"Memory", "expert_cache", "Drive", "Expected", "tokens/s"}) {
    EXPECT_THAT(text.out, HasSubstr(word));
  }
}

TEST(PlanCommand, ADoctorsReportIsAProbe) {
  const Cli coli;
  const CliResult doctor = coli({"doctor", "--json"});
  ASSERT_EQ(doctor.code, 0) << doctor.err;
  const OrderedJson report = doctor.json();
  const OrderedJson& probe = report.at("probe");
  for (const char* key : {"cpu", "memory", "page_bytes", "huge_pages", "disks"})
    EXPECT_TRUE(probe.contains(key)) << key;
  EXPECT_GT(probe.at("memory").at("read_bytes_per_s").get<double>(), 0);
  EXPECT_TRUE(report.at("plan").contains("ram"));
  const Scratch scratch;
  for (const std::string& file :
       {scratch.write("report.json", doctor.out), scratch.write("probe.json", probe.dump())}) {
    const CliResult plan = coli({"plan", "--probe", file, "--json"});
    ASSERT_EQ(plan.code, 0) << plan.err;
    EXPECT_EQ(plan.json().at("settings").at("threads").at("value"), probe.at("cpu").at("physical_cores"));
    EXPECT_EQ(plan.json().at("disks")[0].at("bytes_per_s"), probe.at("disks")[0].at("bytes_per_s"));
  }
}

TEST(PlanCommand, MistakesAreNamed) {
  const Cli coli;
  const Scratch scratch;
  expectError(coli({"plan", "--probe", scratch.path("absent.json"), "--json"}), 5, "read_failed");
  expectError(coli({"plan", "--probe", scratch.write("text.json", "{"), "--json"}), 2, "bad_json");
  expectError(coli({"plan", "--probe", scratch.write("empty.json", "{}"), "--json"}), 2, "bad_probe");
  expectError(coli({"plan", scratch.path("nowhere"), "--json"}), 3, "missing_config");
}

}  // namespace
}  // namespace colibri
