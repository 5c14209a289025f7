#include "checkpoint/shard_set.h"
#include "cli_harness.h"

#include <gmock/gmock.h>

#include <cstring>

namespace colibri {
namespace {

constexpr const char* kTokens = "[0, 5, 17, 42, 99, 7, 256, 300, 12]";

/// Bytes of a tensor of a safetensors file, read the simple way.
std::string tensorBytes(const std::string& path, const std::string& name, OrderedJson* entry = nullptr) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::uint64_t length = 0;
  std::memcpy(&length, all.data(), 8);
  const OrderedJson header = OrderedJson::parse(all.substr(8, length));
  if (entry != nullptr) *entry = header.at(name);
  const auto& offsets = header.at(name).at("data_offsets");
  return all.substr(8 + length + offsets[0].get<std::size_t>(),
                    offsets[1].get<std::size_t>() - offsets[0].get<std::size_t>());
}

TEST(Logits, OneHashForEveryWayOfComputing) {
  const Cli coli;
  const Scratch scratch;
  const std::string tokens = scratch.write("tokens.json", kTokens);
  const auto hashWith = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"logits", "--tokens", tokens, "--out", "-"});
    const CliResult result = coli(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  };
  const OrderedJson expected = hashWith({});
  EXPECT_EQ(expected.at("positions"), 9);
  EXPECT_EQ(expected.at("hash").get<std::string>().size(), 16U);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{"--via", "decode"},
                                                                                    {"--via", "split:3"},
                                                                                    {"--via", "split:0"},
                                                                                    {"--cache-experts", "1"},
                                                                                    {"--prefill-chunk", "2"},
                                                                                    {"--threads", "1"}}) {
    EXPECT_EQ(hashWith(more), expected) << more[1];
  }
  EXPECT_NE(hashWith({"--numerics", "fp32"}).at("hash"), expected.at("hash"));
  EXPECT_EQ(hashWith({"--positions", "last"}).at("positions"), 1);
}

TEST(Logits, WritesALegalFileWithTheSameBits) {
  const Cli coli;
  const Scratch scratch;
  const std::string tokens = scratch.write("tokens.json", kTokens);
  const std::string out = scratch.path("model.safetensors");
  const OrderedJson hashes = coli({"logits", "--tokens", tokens, "--out", "-"}).json();
  const CliResult result = coli({"logits", "--tokens", tokens, "--out", out, "--trace", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json(), hashes);

  const auto shards = ShardSet::open(scratch.path(""));
  ASSERT_TRUE(shards.isOk()) << shards.status().message();
  const TensorInfo* logits = (*shards)->find("logits");
  ASSERT_NE(logits, nullptr);
  EXPECT_EQ(logits->dtype, Dtype::kF32);
  EXPECT_EQ(logits->shape, (std::vector<std::uint64_t>{9, 3072}));
  for (const char* name : {"layer.0", "layer.4", "router.0.ids", "router.4.weights", "indexer.2.ids"}) {
    EXPECT_NE((*shards)->find(name), nullptr) << name;
  }
  EXPECT_EQ((*shards)->find("layer.0")->shape, (std::vector<std::uint64_t>{9, 4, 128}));
  EXPECT_EQ((*shards)->find("router.0.ids")->dtype, Dtype::kI32);

  const std::string all = tensorBytes(out, "logits");
  const std::string lastOut = scratch.path("last.safetensors");
  ASSERT_EQ(coli({"logits", "--tokens", tokens, "--out", lastOut, "--positions", "last"}).code, 0);
  EXPECT_EQ(tensorBytes(lastOut, "logits"), all.substr(all.size() - 3072 * 4));
}

TEST(Logits, RefusesInWords) {
  const Cli coli;
  const Scratch scratch;
  const std::string tokens = scratch.write("tokens.json", kTokens);
  for (const char* via : {"split", "split:", "split:-1", "split:1x", "split:10", "both"}) {
    expectError(coli({"logits", "--tokens", tokens, "--out", "-", "--via", via, "--json"}), 2, "bad_value");
  }
  expectError(coli({"logits", "--tokens", tokens, "--out", "-", "--trace", "--json"}), 2, "usage");
  expectError(coli({"logits", "--tokens", tokens, "--out", "/no/such/folder/x", "--json"}), 5, "write_failed");
  EXPECT_EQ(coli({"logits", "--tokens", scratch.write("e", "[]"), "--out", "-", "--json"}).code, 2);
}

TEST(Oracle, TheDemoModelAgrees) {
  const CliResult result = Cli()({"oracle", demoModel(), goldenPath("demo/oracle.json"), "--json"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const OrderedJson json = result.json();
  EXPECT_EQ(json.at("ok"), true);
  EXPECT_EQ(json.at("cases"), 23);
  EXPECT_EQ(json.at("teacher_forced").at("positions"), 23);
  EXPECT_EQ(json.at("greedy").at("cases"), 23);
  EXPECT_EQ(json.at("greedy").at("token_equal"), 23);
  EXPECT_LE(json.at("teacher_forced").at("max_abs_diff").get<double>(), 1e-3);
}

TEST(Oracle, TinyGoldensAgreeInBothProfiles) {
  const Cli coli;
  for (const char* name : {"april", "shared-clamp", "dspark", "long", "edge", "yarn"}) {
    const std::string folder = goldenPath(std::string("v4/") + name);
    const CliResult result = coli({"oracle", folder + "/checkpoint", folder + "/oracle.json", "--json"});
    EXPECT_EQ(result.code, 0) << name << result.out << result.err;
  }
}

TEST(Oracle, AWrongReferenceIsFoundAndNamed) {
  const Cli coli;
  const Scratch scratch;
  std::ifstream file(goldenPath("demo/oracle.json"));
  OrderedJson oracle = OrderedJson::parse(file);
  oracle["cases"] = OrderedJson::array({oracle["cases"][0], oracle["cases"][1]});
  OrderedJson value = oracle;
  value["cases"][1]["teacher"][0]["values"][3] = value["cases"][1]["teacher"][0]["values"][3].get<double>() + 0.01;
  CliResult result = coli({"oracle", demoModel(), scratch.write("value.json", value.dump()), "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.err.empty()) << result.err;
  EXPECT_EQ(result.json().at("ok"), false);
  EXPECT_EQ(result.json().at("first_difference").at("case"), oracle["cases"][1]["name"]);
  EXPECT_EQ(result.json().at("first_difference").at("position"), oracle["cases"][1]["teacher"][0]["position"]);

  OrderedJson token = oracle;
  token["cases"][0]["continuation"][5] = token["cases"][0]["continuation"][5].get<int>() + 1;
  result = coli({"oracle", demoModel(), scratch.write("token.json", token.dump()), "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.json().at("greedy").at("token_equal"), 1);

  // Without a tolerance a case only reports.
  value["cases"][1].erase("tolerance");
  EXPECT_EQ(coli({"oracle", demoModel(), scratch.write("free.json", value.dump()), "--json"}).code, 0);

  // Log-probabilities: the same values less the normaliser must be refused as logits.
  OrderedJson logprobs = oracle;
  logprobs["values"] = "logprobs";
  EXPECT_EQ(coli({"oracle", demoModel(), scratch.write("logprobs.json", logprobs.dump()), "--json"}).code, 1);
}

// The statistics of a chaotic profile count over the whole file, and a miss in them is a miss.
TEST(Oracle, StatisticsAreJudgedOverAllCases) {
  const Cli coli;
  const Scratch scratch;
  std::ifstream file(goldenPath("v4/yarn/oracle.json"));
  OrderedJson oracle = OrderedJson::parse(file);
  for (OrderedJson& entry : oracle["cases"]) {
    if (entry["numerics"] == "vendor") entry["tolerance"]["rms_median"] = 1e-4;
  }
  const CliResult result =
      coli({"oracle", goldenPath("v4/yarn/checkpoint"), scratch.write("strict.json", oracle.dump()), "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.json().at("first_difference").at("reason").get<std::string>().find("over 43 positions"),
            std::string::npos)
      << result.out;
}

TEST(Oracle, MalformedFilesAreUsageErrors) {
  const Cli coli;
  const Scratch scratch;
  for (const char* text :
       {"[]", "{}", R"({"format":2,"cases":[]})", R"({"format":1,"values":"x","cases":[]})",
        R"({"format":1,"cases":[{"prompt":[]}]})",
        R"({"format":1,"cases":[{"prompt":[0],"teacher":[{"position":1,"ids":[1],"values":[1]}]}]})",
        R"({"format":1,"cases":[{"prompt":[0],"teacher":[{"position":0,"ids":[1],"values":[1,2]}]}]})",
        R"({"format":1,"cases":[{"prompt":[0],"teacher":[{"position":0,"ids":[99999],"values":[1]}]}]})",
        R"({"format":1,"cases":[{"prompt":[0],"tolerance":{"max":1}}]})"}) {
    const CliResult result = coli({"oracle", demoModel(), scratch.write("oracle.json", text), "--json"});
    EXPECT_EQ(result.code, 2) << text << result.out;
  }
}

TEST(Doctor, ReportsMachineDriveKernelsAndPlan) {
  const Cli coli;
  const CliResult result = coli({"doctor", "--json", "--cache-experts", "7"});
  ASSERT_EQ(result.code, 0) << result.err;
  const OrderedJson json = result.json();
  EXPECT_GE(json.at("probe").at("cpu").at("physical_cores"), 1);
  EXPECT_GT(json.at("probe").at("memory").at("usable_bytes"), 0);
  ASSERT_EQ(json.at("drives").size(), 1U);
  EXPECT_GT(json.at("drives")[0].at("bytes_per_s").get<double>(), 0.0);
  EXPECT_TRUE(json.at("gpu").at("devices").empty());
  EXPECT_FALSE(json.at("gpu").at("reason").get<std::string>().empty());
  EXPECT_EQ(json.at("plan").at("ram").at("expert_slots"), 7);
  EXPECT_EQ(json.at("kernels").at("sets").size(), 4U);
  EXPECT_TRUE(json.at("kernels").at("chosen").is_string());
  const CliResult text = coli({"doctor"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, testing::HasSubstr("Plan"));
  EXPECT_EQ(coli({"doctor", "/no/such/model", "--json"}).code, 3);
}

TEST(Doctor, PlansAsRunDoes) {
  const Cli coli;
  const OrderedJson doctor = coli({"doctor", "--json", "--ram", "200M"}).json().at("plan");
  const OrderedJson run =
      coli({"run", "--prompt", "a", "--max-tokens", "1", "--json", "--ram", "200M"}).lines().front();
  EXPECT_EQ(doctor.at("ram"), run.at("ram"));
  EXPECT_EQ(doctor.at("prefill"), run.at("prefill"));
}

TEST(Synth, WritesACheckpointThatRuns) {
  const Cli coli;
  const Scratch scratch;
  const CliResult made = coli({"synth", "--preset", "v4-tiny", "--out", scratch.path("m"), "--json"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_GT(made.json().at("tensors"), 0);
  const CliResult verified = coli({"verify", scratch.path("m"), "--level", "full", "--json"});
  EXPECT_EQ(verified.code, 0) << verified.out;
  const CliResult run =
      coli({"run", scratch.path("m"), "--prompt", "a", "--max-tokens", "3", "--ignore-eos", "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(coli({"synth", "--preset", "v4-tiny", "--out", scratch.path("m"), "--json"}).code, 2);
}

}  // namespace
}  // namespace colibri
