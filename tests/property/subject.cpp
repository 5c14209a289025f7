#include "property/subject.h"

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace colibri::test {
namespace {

constexpr std::size_t kLeastTokens = 160;

nlohmann::json readJson(const std::filesystem::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.is_open()) << path;
  return nlohmann::json::parse(in);
}

void append(std::vector<TokenId>& tokens, const nlohmann::json& ids) {
  for (const auto& id : ids) tokens.push_back(id.get<TokenId>());
}

}  // namespace

std::vector<SubjectCase> allSubjects() {
  std::vector<SubjectCase> cases;
  for (const char* name : {"april", "shared-clamp", "dspark", "long", "edge", "yarn", "demo"}) {
    for (const Numerics numerics : {Numerics::kFp32, Numerics::kVendor}) cases.push_back({name, numerics});
  }
  cases.push_back({"v41-text", Numerics::kVendor});
  cases.push_back({"v41-text-slot", Numerics::kFp32});
  cases.push_back({"v41-long", Numerics::kFp32});
  cases.push_back({"v41-long-slot", Numerics::kVendor});
  cases.push_back({"v41-edge", Numerics::kVendor});
  return cases;
}

std::vector<SubjectCase> someSubjects() {
  std::vector<SubjectCase> cases{{"edge", Numerics::kVendor}, {"demo", Numerics::kVendor}};
  const std::vector<SubjectCase> all = allSubjects();
  const auto isPaired = [](const SubjectCase& one) { return one.name.compare(0, 4, "v41-") != 0; };
  const auto paired = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), isPaired));
  for (std::size_t i = 0; i < paired; i += 2) cases.push_back(all[i + i / 2 % 2]);
  // What is said about sessions holds where a token's result does not depend on how it came.
  cases.push_back({"v41-text", Numerics::kFp32});
  cases.push_back({"v41-long", Numerics::kVendor});
  return cases;
}

Subject openSubject(const std::string& name) {
  const std::filesystem::path golden(COLIBRI_GOLDEN_DIR);
  Subject subject;
  subject.name = name;
  const bool demo = name == "demo";
  constexpr std::string_view kSecond = "v41-";
  constexpr std::string_view kSlot = "-slot";
  std::filesystem::path folder = golden / (demo ? "demo" : "v4/" + name);
  if (name.compare(0, kSecond.size(), kSecond) == 0) {
    std::string fixture = name.substr(kSecond.size());
    subject.viaMatters =
        fixture.size() > kSlot.size() && fixture.compare(fixture.size() - kSlot.size(), kSlot.size(), kSlot) == 0;
    if (subject.viaMatters) fixture.resize(fixture.size() - kSlot.size());
    subject.indexKeys = subject.viaMatters ? IndexKeyRule::kVendor : IndexKeyRule::kOwner;
    folder = golden / "v41" / fixture;
  }
  subject.folder = demo ? std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model" : folder / "checkpoint";
  const nlohmann::json cases = readJson(folder / "golden.json").at("cases");
  for (auto entry = cases.rbegin(); entry != cases.rend(); ++entry) {
    append(subject.tokens, entry->at(demo ? "prompt_ids" : "prompt"));
    if (demo) append(subject.tokens, entry->at("output_ids"));
  }
  // Long enough for every length that a test asks for, with every prompt in it.
  const std::size_t whole = subject.tokens.size();
  for (std::size_t i = 0; subject.tokens.size() < kLeastTokens; ++i)
    subject.tokens.push_back(subject.tokens[i % whole]);
  nlohmann::json config = readJson(subject.folder / "config.json");
  if (config.contains("text_config")) config = config.at("text_config");
  subject.expertsPerToken = config.at("num_experts_per_tok");
  subject.vocabSize = config.at("vocab_size");
  subject.contextLimit = config.at("max_position_embeddings");
  return subject;
}

Subject withConfig(Subject subject, const std::string& key, int value) {
  const std::filesystem::path folder =
      std::filesystem::path(COLIBRI_BINARY_DIR) / (key + "-" + subject.name + "-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const auto& entry : std::filesystem::directory_iterator(subject.folder)) {
    if (!entry.is_regular_file()) continue;
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename(),
                               std::filesystem::copy_options::overwrite_existing);
  }
  nlohmann::json config = readJson(subject.folder / "config.json");
  (config.contains("text_config") ? config["text_config"] : config)[key] = value;
  std::ofstream(folder / "config.json") << config.dump();
  subject.folder = folder;
  return subject;
}

std::string caseName(const ::testing::TestParamInfo<SubjectCase>& info) {
  std::string name = info.param.name + "_" + numericsName(info.param.numerics);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::ostream& operator<<(std::ostream& out, const SubjectCase& value) {
  return out << value.name << " " << numericsName(value.numerics);
}

}  // namespace colibri::test
