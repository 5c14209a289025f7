// coli mirror: exit codes, JSON and what people read.
#include "checkpoint/mirror_receipt.h"
#include "cli_harness.h"
#include <colibri/mirror.h>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace colibri {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class MirrorCommand : public testing::Test {
protected:
  void SetUp() override {
    const CliResult made = coli({"synth", "--preset", "v4-tiny", "--out", model()});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  [[nodiscard]] std::string model() const { return m_scratch.path("model"); }
  [[nodiscard]] std::string folder() const { return m_scratch.path("mirror"); }
  [[nodiscard]] CliResult mirror(const std::string& action, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"mirror", action, model(), folder()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return coli(arguments);
  }

  Cli coli;
  Scratch m_scratch;
};

TEST_F(MirrorCommand, PlanStageVerifyRemove) {
  const CliResult planned = mirror("plan", {"--json", "--reserve", "0"});
  ASSERT_EQ(planned.code, 0) << planned.err;
  const OrderedJson plan = planned.json();
  EXPECT_EQ(plan.at("shards").size(), 11U);
  EXPECT_EQ(plan.at("coverage"), 1.0);
  EXPECT_EQ(plan.at("rate_gain"), 1.0);  // one drive
  EXPECT_EQ(plan.at("reserve_bytes"), 0);
  EXPECT_EQ(plan.at("shards").at(0).at("state"), "planned");
  EXPECT_EQ(plan.at("covered_expert_bytes"), plan.at("expert_bytes"));
  EXPECT_FALSE(plan.at("warnings").empty());
  EXPECT_THAT(planned.err, HasSubstr("warning: "));

  const CliResult staged = mirror("stage", {"--json", "--reserve", "0"});
  ASSERT_EQ(staged.code, 0) << staged.err;
  const auto events = staged.lines();
  EXPECT_EQ(events.front().at("event"), "plan");
  EXPECT_EQ(events.front().at("copy_bytes"), plan.at("copy_bytes"));
  EXPECT_EQ(events.back().at("event"), "done");
  EXPECT_EQ(events.back().at("copied_bytes"), plan.at("copy_bytes"));
  std::size_t shards = 0;
  std::size_t progress = 0;
  for (const OrderedJson& event : events) {
    shards += event.at("event") == "shard" ? 1 : 0;
    progress += event.at("event") == "progress" ? 1 : 0;
    if (event.at("event") == "shard") {
      EXPECT_EQ(event.at("sha256").get<std::string>().size(), 64U);
    }
  }
  EXPECT_EQ(shards, events.back().at("shards"));
  EXPECT_GE(progress, 1U);

  const CliResult verified = mirror("verify", {"--json", "--source"});
  ASSERT_EQ(verified.code, 0) << verified.out;
  EXPECT_EQ(verified.json().at("summary").at("ok"), true);
  EXPECT_EQ(verified.json().at("summary").at("copies"), shards);
  EXPECT_EQ(verified.json().at("summary").at("bytes"), plan.at("copy_bytes"));

  const CliResult removed = mirror("remove", {"--json"});
  ASSERT_EQ(removed.code, 0) << removed.err;
  EXPECT_EQ(removed.json().at("freed_bytes"), plan.at("copy_bytes"));
  EXPECT_EQ(removed.json().at("removed").size(), shards);
  EXPECT_TRUE(fs::is_empty(folder()));
}

TEST_F(MirrorCommand, TextForPeople) {
  const CliResult planned = mirror("plan", {"--max", "2M"});
  EXPECT_EQ(planned.code, 0);
  EXPECT_THAT(planned.out, AllOf(HasSubstr("to copy"), HasSubstr("experts covered"), HasSubstr("no faster")));
  EXPECT_THAT(planned.err, HasSubstr("not fit"));
  const CliResult staged = mirror("stage", {"--shards", "3", "--reserve", "0"});
  EXPECT_EQ(staged.code, 0) << staged.err;
  EXPECT_THAT(staged.out, AllOf(HasSubstr("Copied model-00003-of-00011.safetensors"), HasSubstr("SHA-256"),
                                HasSubstr("--mirror " + folder())));
  EXPECT_THAT(mirror("stage", {"--shards", "3", "--reserve", "0"}).out, HasSubstr("Nothing to do"));
  EXPECT_THAT(mirror("verify").out, HasSubstr("Sound: 0 errors, 0 warnings in 1 copies"));
  EXPECT_THAT(mirror("remove").out, HasSubstr("Deleted 1 files"));
}

TEST_F(MirrorCommand, FindingsAreJsonLinesAndExitOne) {
  ASSERT_EQ(mirror("stage", {"--shards", "2,3", "--reserve", "0"}).code, 0);
  const fs::path file = fs::path(folder()) / "model-00003-of-00011.safetensors";
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(-1, std::ios::end);
    const char last = static_cast<char>(stream.get());
    stream.seekp(-1, std::ios::end);
    stream.put(static_cast<char>(last ^ 8));
  }
  const CliResult verified = mirror("verify", {"--json"});
  EXPECT_EQ(verified.code, 1);
  const auto lines = verified.lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("finding").at("code"), "hash_mismatch");
  EXPECT_EQ(lines[0].at("finding").at("file"), file.filename().string());
  EXPECT_EQ(lines[1].at("summary").at("ok"), false);
  EXPECT_EQ(lines[1].at("summary").at("errors"), 1);
  EXPECT_THAT(verified.err, IsEmpty());
  EXPECT_THAT(mirror("verify").out, HasSubstr("error [hash_mismatch] "));
}

TEST_F(MirrorCommand, MistakesAndTheirExitCodes) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"mirror"},
                                             {"mirror", "copy", model(), folder()},
                                             {"mirror", "plan"},
                                             {"mirror", "plan", model()},
                                             {"mirror", "verify", model(), folder(), "--reserve", "1G"},
                                             {"mirror", "plan", model(), folder(), "--source"}}) {
    std::vector<std::string> withJson = arguments;
    withJson.emplace_back("--json");
    expectError(coli(withJson), 2, "usage");
  }
  expectError(mirror("plan", {"--reserve", "much", "--json"}), 2, "bad_size");
  expectError(mirror("plan", {"--shards", ",", "--json"}), 2, "usage");
  expectError(mirror("plan", {"--shards", "99", "--json"}), 2, "unknown_shard");
  expectError(mirror("verify", {"--json"}), 2, "mirror_missing");
  expectError(mirror("remove", {"--json"}), 2, "mirror_missing");
  expectError(coli({"mirror", "stage", model(), model(), "--json"}), 2, "bad_mirror_folder");
  expectError(coli({"mirror", "stage", folder(), m_scratch.path("other"), "--json"}), 3, "missing_folder");
  const CliResult full = mirror("stage", {"--reserve", "1000000T", "--json"});
  EXPECT_EQ(full.lines().front().at("event"), "plan");
  EXPECT_EQ(full.code, 5);
  EXPECT_EQ(full.lines().back().at("error").at("code"), "disk_full");
  ASSERT_EQ(mirror("stage", {"--shards", "3", "--reserve", "0"}).code, 0);
  m_scratch.write("mirror/colibri-mirror.json", "{");
  expectError(mirror("remove", {"--json"}), 3, "receipt_damaged");
}

TEST_F(MirrorCommand, InterruptKeepsWhatIsThereAndEndsWith130) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  Console console{in, out, err, [](const std::string&) { return std::nullopt; }, {}, false, false, false, {}};
  // Asked to stop as soon as there is work to stop.
  std::atomic<bool> done{false};
  std::thread ctrlC([&] {
    while (!done && !console.interrupts.interrupt()) std::this_thread::yield();
  });
  const int code = runCli({"mirror", "stage", model(), folder(), "--reserve", "0", "--json"}, console);
  done = true;
  ctrlC.join();
  EXPECT_EQ(code, 130) << err.str();
  EXPECT_THAT(err.str(), HasSubstr("run the same command again"));
  const CliResult again = mirror("stage", {"--reserve", "0", "--json"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(mirror("verify", {"--source", "--json"}).code, 0);
}

}  // namespace
}  // namespace colibri
