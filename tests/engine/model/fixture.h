#pragma once
// The golden checkpoints of tests/golden/v4 and v41 as loaded engines with their reference values.

#include "session/engine_core.h"
#include "session/session_core.h"
#include "support/golden_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace colibri::test {

inline const std::vector<std::string>& fixtureNames() {
  static const std::vector<std::string> names{"april", "shared-clamp", "dspark", "long", "edge", "yarn"};
  return names;
}

/// One prompt of a fixture.
struct GoldenCase {
  std::string name;
  std::vector<TokenId> prompt;
  nlohmann::json json;
};

class Fixture {
public:
  explicit Fixture(const std::string& name, const std::string& family = "v4")
      : m_folder(std::filesystem::path(COLIBRI_GOLDEN_DIR) / family / name),
        m_name(name),
        m_tensors(m_folder / "golden.safetensors") {
    const nlohmann::json json = read("golden.json");
    for (const auto& entry : json.at("cases")) {
      m_cases.push_back({entry.at("name"), entry.at("prompt").get<std::vector<TokenId>>(), entry});
    }
  }

  /// Options that suit a tiny model; change what the test is about.
  [[nodiscard]] EngineOptions options(Numerics numerics) const {
    EngineOptions options;
    options.model = m_folder / "checkpoint";
    options.needTokenizer = false;
    options.numerics = numerics;
    options.context = 512;
    nlohmann::json config = read("checkpoint/config.json");
    if (config.contains("text_config")) config = config.at("text_config");
    options.context = std::min(options.context, config.at("max_position_embeddings").get<int>());
    options.prefillSegment = options.context;
    options.prefillChunk = options.context;
    return options;
  }

  [[nodiscard]] std::shared_ptr<EngineCore> open(const EngineOptions& options) const {
    auto engine = EngineCore::open(options, {}, {});
    EXPECT_TRUE(engine.isOk()) << engine.status().message();
    return engine.isOk() ? engine.value() : nullptr;
  }

  /// A JSON file of the fixture's folder.
  [[nodiscard]] nlohmann::json read(const std::string& file) const {
    std::ifstream in(m_folder / file);
    EXPECT_TRUE(in.is_open()) << m_folder / file;
    return nlohmann::json::parse(in);
  }
  [[nodiscard]] const std::vector<GoldenCase>& cases() const { return m_cases; }
  [[nodiscard]] const GoldenFile& tensors() const { return m_tensors; }
  [[nodiscard]] const std::string& name() const { return m_name; }
  /// What the reference calls the profile: this engine always clamps the shared expert, which april stores apart.
  [[nodiscard]] std::string fp32Profile() const { return m_name == "april" ? "fp32_shared_clamp" : "fp32"; }
  [[nodiscard]] std::string vendorProfile() const { return m_name == "april" ? "vendor_kv8" : "vendor"; }

private:
  std::filesystem::path m_folder;
  std::string m_name;
  GoldenFile m_tensors;
  std::vector<GoldenCase> m_cases;
};

}  // namespace colibri::test
