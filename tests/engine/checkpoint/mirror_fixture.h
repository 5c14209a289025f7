#pragma once
// A model and an empty folder for its copies.

#include "checkpoint/mirror_plan.h"
#include "checkpoint_files.h"
#include <colibri/mirror.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace colibri::testing {

namespace fs = std::filesystem;

/// One tiny checkpoint for the whole program, whose files no test may change.
class Mirror : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    s_master = new TempFolder;
    SynthOptions options;
    options.preset = "v4-tiny";
    options.out = s_master->path() / "tiny";
    const Status status = synthesizeCheckpoint(options);
    ASSERT_TRUE(status.isOk()) << status.message();
    for (const auto& file : fs::directory_iterator(options.out)) {
      s_bytes[file.path().filename().string()] = readWhole(file.path());
    }
  }
  static void TearDownTestSuite() {
    delete s_master;
    s_master = nullptr;
    s_bytes.clear();
  }
  void TearDown() override {
    std::map<std::string, std::string> now;
    for (const auto& file : fs::directory_iterator(model())) {
      now[file.path().filename().string()] = readWhole(file.path());
    }
    EXPECT_TRUE(now == s_bytes) << "the model's folder was written to";
  }

  static fs::path model() { return s_master->path() / "tiny"; }
  [[nodiscard]] fs::path folder() const { return m_other.path() / "mirror"; }
  static const std::string& original(const std::string& name) { return s_bytes.at(name); }
  [[nodiscard]] std::string copyOf(const std::string& name) const { return readWhole(folder() / name); }
  /// Names in the mirror folder.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(folder())) names.insert(file.path().filename().string());
    return names;
  }

  static MirrorOptions small() {
    MirrorOptions options;
    options.reserveBytes = 0;
    return options;
  }
  static MirrorOptions only(std::vector<std::string> shards) {
    MirrorOptions options = small();
    options.shards = std::move(shards);
    return options;
  }
  [[nodiscard]] MirrorPlan plan(const MirrorOptions& options = small()) const {
    const auto result = planMirror(model(), folder(), options);
    EXPECT_TRUE(result) << result.status().message();
    return result ? *result : MirrorPlan{};
  }
  Result<MirrorStaged> stage(const MirrorOptions& options = small(), const MirrorEvents& events = {},
                             const Cancellation& cancellation = {}) const {
    return stageThrough(m_system, model(), folder(), options, events, cancellation);
  }
  void expectStaged(const MirrorOptions& options = small()) const {
    const auto staged = stage(options);
    ASSERT_TRUE(staged) << staged.status().message();
  }
  static void expectError(const Status& status, Code code, const std::string& id) {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_EQ(status.id(), id) << status.message();
  }
  /// Codes of all findings with their severity.
  std::multiset<std::string> verify(bool source = false) {
    MirrorVerifyOptions options;
    options.source = source;
    std::multiset<std::string> codes;
    m_findings.clear();
    const auto result = verifyMirror(model(), folder(), options, [&](const Finding& finding) {
      codes.insert((finding.severity == Severity::kError ? "E " : "W ") + finding.code);
      m_findings.push_back(finding);
    });
    EXPECT_TRUE(result) << result.status().message();
    if (result) m_verified = *result;
    return codes;
  }
  void flipByte(const std::string& name, std::size_t fromEnd) const {
    std::string bytes = copyOf(name);
    bytes[bytes.size() - fromEnd] = static_cast<char>(bytes[bytes.size() - fromEnd] ^ 1);
    writeFile(folder() / name, bytes);
  }
  /// The shards that hold experts.
  [[nodiscard]] std::vector<std::string> earning() const {
    std::vector<std::string> names;
    for (const MirrorShard& shard : plan().shards) {
      if (shard.expertBytes > 0) names.push_back(shard.name);
    }
    return names;
  }

  MirrorSystem m_system = MirrorSystem::real();
  TempFolder m_other;
  std::vector<Finding> m_findings;
  MirrorVerified m_verified;

  inline static TempFolder* s_master = nullptr;
  inline static std::map<std::string, std::string> s_bytes;
};

using Found = std::multiset<std::string>;
inline const std::string kLayer = "model-00003-of-00011.safetensors";
inline const std::string kEmbedding = "model-00001-of-00011.safetensors";

}  // namespace colibri::testing
