#pragma once
// What the text tests share: golden files, tokenizers loaded once, random text.

#include <colibri/tokenizer.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace colibri::testing {

inline std::filesystem::path goldenPath(std::string_view relative) {
  return std::filesystem::path(COLIBRI_GOLDEN_DIR) / relative;
}

inline std::string readWholeFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string goldenText(std::string_view relative) {
  return readWholeFile(goldenPath(relative));
}

inline nlohmann::json goldenJson(std::string_view relative) {
  return nlohmann::json::parse(goldenText(relative));
}

inline std::shared_ptr<const Tokenizer> loadTokenizer(const std::filesystem::path& folder) {
  auto loaded = Tokenizer::load(folder);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  return loaded.isOk() ? *loaded : nullptr;
}

/// V4's tokenizer, loaded once a program.
inline const Tokenizer& v4Tokenizer() {
  static const auto tokenizer = loadTokenizer(goldenPath("tokenizer/deepseek-v4"));
  return *tokenizer;
}
/// V4.1's.
inline const Tokenizer& v41Tokenizer() {
  static const auto tokenizer = loadTokenizer(goldenPath("tokenizer/deepseek-v4.1"));
  return *tokenizer;
}
/// The demo model's small one.
inline const Tokenizer& demoTokenizer() {
  static const auto tokenizer = loadTokenizer(std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model");
  return *tokenizer;
}

/// `text` cut at random places, empty pieces included.
inline std::vector<std::string> randomChunks(std::string_view text, std::mt19937& random, std::size_t longest) {
  std::vector<std::string> chunks;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t length = random() % (longest + 1);
    chunks.emplace_back(text.substr(position, length));
    position += chunks.back().size();
  }
  return chunks;
}

}  // namespace colibri::testing
