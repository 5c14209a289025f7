// Which prompt format a model folder speaks.

#include "text_goldens.h"
#include <colibri/chat.h>

namespace colibri::testing {
namespace {

namespace fs = std::filesystem;

// A folder that goes away with the test.
class Folder {
public:
  Folder() : m_path(fs::path(COLIBRI_BINARY_DIR) / "dialect_test_folder") {
    fs::remove_all(m_path);
    fs::create_directories(m_path / "encoding");
  }
  ~Folder() { fs::remove_all(m_path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(m_path / name, std::ios::binary) << text;
  }
  [[nodiscard]] const fs::path& path() const { return m_path; }

private:
  fs::path m_path;
};

TEST(DialectDetection, ConfigSaysTheFamily) {
  const Folder folder;
  const auto detected = [&](const std::string& config) {
    folder.write("config.json", config);
    const auto choice = detectDialect(folder.path());
    EXPECT_TRUE(choice.isOk()) << choice.status().message();
    EXPECT_FALSE(choice->reason.empty());
    return choice->dialect;
  };
  EXPECT_EQ(detected(R"({"model_type":"deepseek_v4"})"), Dialect::kA);
  EXPECT_EQ(detected(R"({"model_type":"deepseek_v4","dspark_block_size":5})"), Dialect::kB);
  EXPECT_EQ(detected(R"({"model_type":"deepseek_v41","text_config":{"dspark_block_size":5}})"), Dialect::kC);
  EXPECT_EQ(detected(R"({"model_type":"other","text_config":{"engram_layer_ids":[1]}})"), Dialect::kC);
  folder.write("encoding/encoding.py", "something newer");
  EXPECT_EQ(detected(R"({"model_type":"deepseek_v41"})"), Dialect::kC);
  EXPECT_NE(detectDialect(folder.path())->reason.find("encoding.py"), std::string::npos);
  folder.write("config.json", "{");
  EXPECT_EQ(detectDialect(folder.path()).status().code(), Code::kCheckpoint);
}

TEST(DialectDetection, TheTokenizerIsTheLastResort) {
  EXPECT_EQ(detectDialect(goldenPath("tokenizer/deepseek-v4"))->dialect, Dialect::kA);
  EXPECT_EQ(detectDialect(goldenPath("tokenizer/deepseek-v4.1"))->dialect, Dialect::kC);
  const Folder folder;
  EXPECT_EQ(detectDialect(folder.path()).status().id(), "unknown_dialect");
  EXPECT_EQ(detectDialect(fs::path(COLIBRI_RESOURCE_DIR) / "demo-model")->dialect, Dialect::kA);
}

TEST(DialectDetection, NamesOnTheCommandLine) {
  EXPECT_EQ(*parseDialect("auto"), std::nullopt);
  EXPECT_EQ(*parseDialect("a"), Dialect::kA);
  EXPECT_EQ(*parseDialect("b"), Dialect::kB);
  EXPECT_EQ(*parseDialect("c"), Dialect::kC);
  EXPECT_EQ(parseDialect("d").status().code(), Code::kUsage);
}

}  // namespace
}  // namespace colibri::testing
