#include "property/subject.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>

namespace colibri::test {
namespace {

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
  return cases;
}

std::vector<SubjectCase> someSubjects() {
  std::vector<SubjectCase> cases{{"edge", Numerics::kVendor}, {"demo", Numerics::kVendor}};
  const std::vector<SubjectCase> all = allSubjects();
  for (std::size_t i = 0; i < all.size(); i += 2) cases.push_back(all[i + i / 2 % 2]);
  return cases;
}

Subject openSubject(const std::string& name) {
  const std::filesystem::path golden(COLIBRI_GOLDEN_DIR);
  Subject subject;
  subject.name = name;
  const bool demo = name == "demo";
  subject.folder =
      demo ? std::filesystem::path(COLIBRI_RESOURCE_DIR) / "demo-model" : golden / "v4" / name / "checkpoint";
  const nlohmann::json cases = readJson((demo ? golden / name : golden / "v4" / name) / "golden.json").at("cases");
  for (auto entry = cases.rbegin(); entry != cases.rend(); ++entry) {
    append(subject.tokens, entry->at(demo ? "prompt_ids" : "prompt"));
    if (demo) append(subject.tokens, entry->at("output_ids"));
  }
  const nlohmann::json config = readJson(subject.folder / "config.json");
  subject.expertsPerToken = config.at("num_experts_per_tok");
  subject.vocabSize = config.at("vocab_size");
  subject.contextLimit = config.at("max_position_embeddings");
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
