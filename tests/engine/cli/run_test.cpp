#include "cli_harness.h"

#include <gmock/gmock.h>

#include <cmath>
#include <thread>

namespace colibri {
namespace {

std::vector<OrderedJson> events(const CliResult& result, const std::string& kind) {
  std::vector<OrderedJson> found;
  for (const OrderedJson& line : result.lines()) {
    if (line.at("event") == kind) found.push_back(line);
  }
  return found;
}

TEST(Run, TextModePrintsTheAnswerAlone) {
  const Cli coli;
  const CliResult text = coli({"run", "--prompt", "Hello"});
  EXPECT_EQ(text.code, 0) << text.err;
  const CliResult json = coli({"run", demoModel(), "--prompt", "Hello", "--json", "--drafts", "off"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_EQ(text.out, events(json, "done").at(0).at("text").get<std::string>() + "\n");
  EXPECT_THAT(text.err, testing::HasSubstr("prompt tokens"));
  EXPECT_TRUE(json.err.empty()) << json.err;
}

TEST(Run, EventsHaveTheFieldsOfTheContractAndAddUp) {
  const CliResult result = Cli()({"run", "--prompt", "Hello", "--json", "--max-tokens", "12"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.lines().front().at("event"), "plan");
  EXPECT_EQ(result.lines().back().at("event"), "done");

  const OrderedJson plan = events(result, "plan").at(0);
  std::uint64_t used = 0;
  for (const auto& [name, bytes] : plan.at("ram").at("parts").items()) used += bytes.get<std::uint64_t>();
  EXPECT_EQ(used, plan.at("ram").at("used_bytes").get<std::uint64_t>());
  EXPECT_LE(used, plan.at("ram").at("budget_bytes").get<std::uint64_t>());
  for (const char* part : {"dense", "head", "kv", "scratch", "expert_cache", "engram_cache", "draft", "vision",
                           "pinned", "checkpoints", "reserve"}) {
    EXPECT_TRUE(plan.at("ram").at("parts").contains(part)) << part;
  }
  EXPECT_TRUE(plan.at("settings").contains("ram"));
  EXPECT_FALSE(plan.at("settings").contains("max_tokens")) << "what an answer wants is no part of the plan";
}

TEST(Run, DoneAddsUp) {
  const CliResult result = Cli()({"run", "--prompt", "Hello", "--json", "--max-tokens", "12", "--cache-experts", "3"});
  ASSERT_EQ(result.code, 0) << result.err;
  const OrderedJson done = events(result, "done").at(0);
  EXPECT_EQ(done.at("completion_tokens"), 12);
  EXPECT_EQ(done.at("finish_reason"), "length");
  EXPECT_EQ(done.at("tokens").size(), 12U);
  EXPECT_EQ(done.at("reused_tokens"), 0);
  EXPECT_GT(done.at("prompt_tokens"), 0);
  const auto tokens = events(result, "token");
  ASSERT_EQ(tokens.size(), 12U);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(tokens[i].at("id"), done.at("tokens")[i]);
    EXPECT_LE(tokens[i].at("logprob").get<double>(), 0.0);
    text += tokens[i].at("text").get<std::string>();
  }
  for (const OrderedJson& rest : events(result, "text")) text += rest.at("text").get<std::string>();
  EXPECT_EQ(text, done.at("text"));
  EXPECT_FALSE(events(result, "prefill").empty());
  EXPECT_EQ(events(result, "prefill").back().at("total"), done.at("prompt_tokens"));

  const OrderedJson& timings = done.at("timings");
  double split = 0;
  for (const auto& [name, seconds] : timings.at("split").items()) split += seconds.get<double>();
  EXPECT_NEAR(split, timings.at("prefill_s").get<double>() + timings.at("decode_s").get<double>(), 1e-6);
  const OrderedJson& experts = done.at("experts");
  EXPECT_EQ(experts.at("requests").get<int>(), experts.at("hits").get<int>() + experts.at("misses").get<int>());
  EXPECT_GT(experts.at("misses"), 0);
  EXPECT_EQ(experts.at("disks").size(), 1U);
  EXPECT_EQ(done.at("drafts").at("forwards"), 11);
  EXPECT_LE(done.at("memory").at("peak_bytes"), done.at("memory").at("budget_bytes"));
  const OrderedJson plan = events(result, "plan").at(0);
  EXPECT_EQ(plan.at("ram").at("expert_slots"), 3);
  EXPECT_EQ(plan.at("settings").at("cache_experts").at("source"), "cli");
  EXPECT_EQ(plan.at("settings").at("threads").at("source"), "plan");
}

TEST(Run, SettingsOfExecutionNeverChangeTheAnswer) {
  const Cli coli;
  const std::vector<std::string> base{"run", "--prompt", "Hello", "--json", "--max-tokens", "16"};
  const auto tokensWith = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    const CliResult result = coli(more);
    EXPECT_EQ(result.code, 0) << result.err;
    return events(result, "done").at(0).at("tokens");
  };
  const OrderedJson expected = tokensWith({});
  EXPECT_EQ(tokensWith({"--cache-experts", "1"}), expected);
  EXPECT_EQ(tokensWith({"--threads", "1", "--prefill-chunk", "2"}), expected);
  EXPECT_EQ(tokensWith({"--isa", "scalar", "--io", "threads", "--direct", "off"}), expected);
}

TEST(Run, TokensFileAndMessagesFileGiveTheSamePrompt) {
  Cli coli;
  coli.input = R"({"messages":[{"role":"user","content":"Hello"}],"thinking":false})";
  const OrderedJson rendered = coli({"render", "--messages", "-", "--json"}).json();
  const OrderedJson expected =
      events(coli({"run", "--prompt", "Hello", "--json", "--max-tokens", "6"}), "done").at(0).at("tokens");
  EXPECT_EQ(events(coli({"run", "--messages", "-", "--json", "--max-tokens", "6"}), "done").at(0).at("tokens"),
            expected);
  coli.input = R"([{"role":"user","content":"Hello"}])";
  EXPECT_EQ(events(coli({"run", "--messages", "-", "--json", "--max-tokens", "6"}), "done").at(0).at("tokens"),
            expected);
  coli.input = R"({"messages":[{"role":"user","content":"Hello"}],"thinking":true,"reasoning_effort":"high"})";
  const CliResult overruled = coli({"run", "--messages", "-", "--json", "--max-tokens", "6", "--think", "off"});
  ASSERT_EQ(overruled.code, 0) << overruled.err;
  EXPECT_EQ(events(overruled, "done").at(0).at("tokens"), expected);
  const Scratch scratch;
  const std::string file = scratch.write("tokens.json", rendered.at("tokens").dump());
  EXPECT_EQ(events(coli({"run", "--tokens", file, "--json", "--max-tokens", "6"}), "done").at(0).at("tokens"),
            expected);
}

TEST(Run, SystemAndThinkReachThePrompt) {
  const Cli coli;
  const auto promptTokens = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "--prompt", "Hello", "--json", "--max-tokens", "1"});
    return events(coli(more), "done").at(0).at("prompt_tokens").get<int>();
  };
  const int plain = promptTokens({});
  EXPECT_GT(promptTokens({"--system", "Be brief and friendly."}), plain);
  const CliResult thinking = coli({"run", "--prompt", "Hello", "--json", "--think", "on", "--max-tokens", "8"});
  ASSERT_EQ(thinking.code, 0) << thinking.err;
  EXPECT_FALSE(events(thinking, "done").at(0).at("reasoning").get<std::string>().empty());
}

TEST(Run, StopEndsBeforeTheTextAndRepeatUsesTheSeeds) {
  const Cli coli;
  const std::string whole = events(coli({"run", "--prompt", "Hello", "--json"}), "done").at(0).at("text");
  const std::string stop = whole.substr(whole.size() / 2, 3);
  const OrderedJson cut =
      events(coli({"run", "--prompt", "Hello", "--json", "--stop", stop, "--stop", "zzz"}), "done").at(0);
  EXPECT_EQ(cut.at("text"), whole.substr(0, whole.find(stop)));
  EXPECT_EQ(cut.at("finish_reason"), "stop");

  // Long enough for keeping the state behind it to be worth it.
  std::string system;
  for (int i = 0; i < 30; ++i) system += "Be brief and friendly. ";
  const std::vector<std::string> sampled{"run",           "--prompt", "Tell me something", "--system", system, "--json",
                                         "--temperature", "5",        "--max-tokens",      "12"};
  std::vector<std::string> repeated = sampled;
  repeated.insert(repeated.end(), {"--repeat", "3", "--seed", "5"});
  const CliResult all = coli(repeated);
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_TRUE(events(all, "token").empty());
  const auto done = events(all, "done");
  ASSERT_EQ(done.size(), 3U);
  EXPECT_GT(done[1].at("reused_tokens").get<int>(), 0);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::string> one = sampled;
    one.insert(one.end(), {"--seed", std::to_string(5 + i)});
    EXPECT_EQ(events(coli(one), "done").at(0).at("tokens"), done[static_cast<std::size_t>(i)].at("tokens")) << i;
  }
  EXPECT_NE(done[0].at("tokens"), done[1].at("tokens"));
}

TEST(Run, IgnoreEosGoesOnToTheLimit) {
  const OrderedJson done =
      events(Cli()({"run", "--prompt", "Hello", "--json", "--ignore-eos", "--max-tokens", "120"}), "done").at(0);
  EXPECT_EQ(done.at("completion_tokens"), 120);
  EXPECT_EQ(done.at("finish_reason"), "length");
}

TEST(Run, HostileInputHasItsExitCode) {
  Cli coli;
  const Scratch scratch;
  expectError(coli({"run", "--tokens", scratch.path("absent"), "--json"}), 5, "read_failed");
  expectError(coli({"run", "--tokens", scratch.write("a", "[1, \"x\"]"), "--json"}), 2, "bad_tokens");
  expectError(coli({"run", "--tokens", scratch.write("b", "[-1]"), "--json"}), 2, "bad_tokens");
  expectError(coli({"run", "--tokens", scratch.write("c", "{"), "--json"}), 2, "bad_json");
  EXPECT_EQ(coli({"run", "--tokens", scratch.write("d", "[]"), "--json"}).code, 2);
  EXPECT_EQ(coli({"run", "--tokens", scratch.write("e", "[99999999]"), "--json"}).code, 2);
  EXPECT_EQ(coli({"run", "--prompt", "Hello there", "--ctx", "2", "--json"}).code, 2);
  EXPECT_EQ(coli({"run", "--prompt", "Hello", "--ctx", "999999", "--json"}).code, 2);
  EXPECT_EQ(coli({"run", scratch.path("absent"), "--prompt", "a", "--json"}).code, 3);
  expectError(coli({"run", "--prompt", "a", "--ram", "2M", "--json"}), 4, "memory_budget");
  expectError(coli({"run", "--prompt", "a", "--ram", "45M", "--cache-experts", "160", "--ctx", "4096", "--json"}), 4,
              "memory_budget");
  coli.environment["COLIBRI_DEMO_MODEL"] = scratch.path("absent");
  expectError(coli({"run", "--prompt", "a", "--json"}), 3, "missing_demo_model");
}

TEST(Run, AnUnwritableStandardOutputIsAnError) {
  std::istringstream in;
  std::ofstream full("/dev/full");
  std::ostringstream err;
  Console console{in, full,  err,   [](const std::string&) { return std::optional<std::string>(demoModel()); },
                  {}, false, false, false,
                  {}};
  console.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name != "COLIBRI_DEMO_MODEL") return std::nullopt;
    return demoModel();
  };
  EXPECT_EQ(runCli({"tokenize", "--text", "a", "--json"}, console), 5);
  EXPECT_THAT(err.str(), testing::HasSubstr("cannot be written"));
}

/// Interrupts when the first token has been printed.
class InterruptingBuffer : public std::stringbuf {
public:
  explicit InterruptingBuffer(Interrupts*& interrupts) : m_interrupts(interrupts) {}

protected:
  int sync() override {
    if (m_interrupts != nullptr && str().find("\"token\"") != std::string::npos) m_interrupts->interrupt();
    return 0;
  }

private:
  Interrupts*& m_interrupts;
};

TEST(Run, AnInterruptKeepsWhatWasAnswered) {
  std::istringstream in;
  std::ostringstream err;
  Interrupts* interrupts = nullptr;
  InterruptingBuffer buffer(interrupts);
  std::ostream out(&buffer);
  Console console{in,
                  out,
                  err,
                  [](const std::string& name) -> std::optional<std::string> {
                    if (name != "COLIBRI_DEMO_MODEL") return std::nullopt;
                    return demoModel();
                  },
                  {},
                  false,
                  false,
                  false,
                  {}};
  interrupts = &console.interrupts;
  const int code = runCli({"run", "--prompt", "Hello", "--json", "--ignore-eos"}, console);
  EXPECT_EQ(code, 130);
  CliResult result{code, buffer.str(), err.str()};
  const OrderedJson done = result.lines().back();
  EXPECT_EQ(done.at("event"), "done");
  EXPECT_EQ(done.at("finish_reason"), "cancelled");
  EXPECT_GE(done.at("completion_tokens"), 1);
  EXPECT_LT(done.at("completion_tokens"), 100);
  EXPECT_TRUE(err.str().empty()) << err.str();
}

TEST(Chat, AnswersLineByLineWithMemory) {
  Cli coli;
  coli.input = "Hello\n\n/new\nHello\n/quit\nnever\n";
  const CliResult result = coli({"chat", "--max-tokens", "20"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::string once = coli({"run", "--prompt", "Hello", "--max-tokens", "20"}).out;
  EXPECT_EQ(result.out, once + once);
}

}  // namespace
}  // namespace colibri
