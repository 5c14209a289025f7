#pragma once
// Runs `coli` in this process on its own streams.

#include "cli/run_cli.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace colibri {

struct CliResult {
  int code = 0;
  std::string out;
  std::string err;
  /// Standard output as one JSON object.
  [[nodiscard]] OrderedJson json() const { return OrderedJson::parse(out); }
  /// Standard output as JSON Lines.
  [[nodiscard]] std::vector<OrderedJson> lines() const {
    std::vector<OrderedJson> all;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) all.push_back(OrderedJson::parse(line));
    return all;
  }
};

/// Files of one test.
class Scratch {
public:
  Scratch() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    m_path = std::filesystem::path(testing::TempDir()) /
             (std::string("coli_") + test->test_suite_name() + "_" + test->name() + "_" + std::to_string(::getpid()));
    std::filesystem::create_directories(m_path);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(m_path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(m_path / name, std::ios::binary) << text;
    return (m_path / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (m_path / name).string(); }

private:
  std::filesystem::path m_path;
};

inline std::string demoModel() {
  return std::string(COLIBRI_RESOURCE_DIR) + "/demo-model";
}
inline std::string goldenPath(const std::string& name) {
  return std::string(COLIBRI_GOLDEN_DIR) + "/" + name;
}

class Cli {
public:
  std::map<std::string, std::string> environment{{"COLIBRI_DEMO_MODEL", demoModel()}};
  std::filesystem::path settingsFile;
  std::string input;

  CliResult operator()(const std::vector<std::string>& arguments) const {
    std::istringstream in(input);
    std::ostringstream out;
    std::ostringstream err;
    const auto lookUp = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
    };
    Console console{in, out, err, lookUp, settingsFile, false, false, false, {}};
    CliResult result;
    result.code = runCli(arguments, console);
    result.out = out.str();
    result.err = err.str();
    return result;
  }
};

/// One sentence on stderr, the same in the JSON on stdout, and the exit code.
inline void expectError(const CliResult& result, int code, const std::string& id) {
  EXPECT_EQ(result.code, code) << result.err;
  ASSERT_FALSE(result.out.empty()) << result.err;
  const OrderedJson error = result.lines().back().at("error");
  EXPECT_EQ(error.at("code"), id) << error.dump();
  EXPECT_EQ(result.err, "coli: " + error.at("message").get<std::string>() + "\n");
  EXPECT_TRUE(error.at("detail").is_object());
}

}  // namespace colibri
