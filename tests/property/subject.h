#pragma once
// The models whose results must not depend on how they are computed: the golden checkpoints and the demo model.

#include "session/engine_core.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace colibri::test {

/// A model with tokens to feed it. Every start of `tokens` is a prompt.
struct Subject {
  std::string name;
  std::filesystem::path folder;
  std::vector<TokenId> tokens;  ///< the golden prompts one after the other
  int expertsPerToken = 0;
  int vocabSize = 0;
  int contextLimit = 0;
  IndexKeyRule indexKeys = IndexKeyRule::kVendor;
  bool viaMatters = false;  ///< a prompt and the same tokens one at a time may differ, by the rule for index keys

  [[nodiscard]] std::vector<TokenId> prompt(std::size_t length) const {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(std::min(length, tokens.size()))};
  }
};

/// What a suite runs over: one model in one profile.
struct SubjectCase {
  std::string name;
  Numerics numerics = Numerics::kFp32;
};

/// All models in both profiles.
[[nodiscard]] std::vector<SubjectCase> allSubjects();
/// Every model at least once and both profiles about as often, for tests that take long.
[[nodiscard]] std::vector<SubjectCase> someSubjects();
/// Reads the golden prompts and the config of a model named in allSubjects(): a folder of golden/v4; "v41-" and one of
/// golden/v41, with the owner's index keys, or with those of the vendor's slot where "-slot" follows; "demo".
[[nodiscard]] Subject openSubject(const std::string& name);

[[nodiscard]] inline const char* numericsName(Numerics numerics) {
  return numerics == Numerics::kFp32 ? "fp32" : "vendor";
}
/// The subject as a copy of its folder beside the test program, with another number in config.json; nothing in the
/// other files may depend on it. The caller removes the folder.
[[nodiscard]] Subject withConfig(Subject subject, const std::string& key, int value);
/// Name of a case in a test's name.
[[nodiscard]] std::string caseName(const ::testing::TestParamInfo<SubjectCase>& info);
std::ostream& operator<<(std::ostream& out, const SubjectCase& value);

}  // namespace colibri::test
