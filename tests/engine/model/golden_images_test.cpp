// Prompts with images, from the picture's file to logits, against the reference; and that a picture matters.

#include "engine/model/fixture.h"
#include "engine/model/teacher_run.h"
#include <colibri/image.h>

namespace colibri::test {
namespace {

constexpr float kLogits = 2e-4F;

class Images : public ::testing::Test {
protected:
  void open(Numerics numerics) {
    EngineOptions options = m_fixture.options(numerics);
    options.threads = 2;
    m_engine = m_fixture.open(options);
    ASSERT_NE(m_engine, nullptr);
  }
  std::shared_ptr<const EncodedImage> encode(const std::string& file) {
    const auto pixels = loadImage(std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v41" / "vision" / file);
    EXPECT_TRUE(pixels.isOk()) << pixels.status().message();
    auto image = m_engine->encodeImage(*pixels, {});
    EXPECT_TRUE(image.isOk()) << image.status().message();
    return image.isOk() ? *image : nullptr;
  }
  ModelInput input(const GoldenCase& golden) {
    std::vector<std::shared_ptr<const EncodedImage>> images;
    for (const std::string file : golden.json.at("images")) images.push_back(encode(file));
    const auto placeholders = golden.json.at("prompt_with_placeholders").get<std::vector<TokenId>>();
    auto placed = placeImages(placeholders, m_engine->model().imageToken, images);
    EXPECT_TRUE(placed.isOk()) << placed.status().message();
    EXPECT_EQ(placed->tokens, golden.prompt);
    return std::move(placed).value();
  }
  [[nodiscard]] const GoldenCase& named(const std::string& name) const {
    for (const GoldenCase& golden : m_fixture.cases()) {
      if (golden.name == name) return golden;
    }
    ADD_FAILURE() << "no case " << name;
    return m_fixture.cases().front();
  }
  std::vector<float> logits(const ModelInput& prompt, std::size_t split) {
    TeacherOptions teacher;
    teacher.via = TeacherOptions::Via::kSplit;
    teacher.split = static_cast<int>(split);
    const auto tensors = computeLogits(*m_engine, prompt, teacher, {});
    EXPECT_TRUE(tensors.isOk()) << tensors.status().message();
    std::vector<float> values(tensors->front().data.size() / sizeof(float));
    std::memcpy(values.data(), tensors->front().data.data(), tensors->front().data.size());
    return values;
  }

  Fixture m_fixture{"vision", "v41"};
  std::shared_ptr<EngineCore> m_engine;
};

TEST_F(Images, SplicedPromptsHaveTheReferencesLogits) {
  open(Numerics::kFp32);
  for (const GoldenCase& golden : m_fixture.cases()) {
    ModelInput prompt = input(golden);
    const std::string base = golden.name + ".fp32.";
    const auto greedy = golden.json.at("runs").at("fp32").at("greedy").get<std::vector<TokenId>>();
    prompt.tokens.insert(prompt.tokens.end(), greedy.begin(), greedy.end() - 1);
    const std::vector<float> actual = logits(prompt, golden.prompt.size());
    std::vector<float> expected = m_fixture.tensors().tensor(base + "prefill_logits").floats();
    const std::vector<float> decoded = m_fixture.tensors().tensor(base + "decode_logits").floats();
    expected.insert(expected.end(), decoded.begin(), decoded.end());
    ASSERT_EQ(actual.size(), expected.size());
    EXPECT_LE(largestDifference(expected.data(), actual.data(), static_cast<int>(actual.size())), kLogits)
        << golden.name;
    const int vocab = m_engine->model().vocabSize;
    for (std::size_t i = 0; i < greedy.size(); ++i) {
      EXPECT_EQ(best(actual.data() + (golden.prompt.size() - 1 + i) * static_cast<std::size_t>(vocab), vocab),
                greedy[i])
          << golden.name << " step " << i;
    }
  }
}

// The same prompt with another picture of the same size is another prompt, for a warm session too.
TEST_F(Images, AnotherPictureIsAnotherPrompt) {
  open(Numerics::kVendor);
  const ModelInput one = input(named("one_image"));
  ModelInput other = one;
  auto changed = std::make_shared<EncodedImage>(*encode("alpha.png"));
  ASSERT_EQ(changed->grid.tokens(), one.images.front().image->grid.tokens());
  other.images.front().image = changed;
  const auto session = m_engine->newSession();
  ASSERT_TRUE(session.isOk());
  const auto after = [&](Session& on, const ModelInput& prompt) {
    EXPECT_TRUE(on.sync(prompt, {}).isOk());
    return std::vector<float>(on.logits().begin(), on.logits().end());
  };
  const std::vector<float> first = after(**session, one);
  const std::vector<float> second = after(**session, other);
  EXPECT_NE(first, second);
  const auto cold = m_engine->newSession();
  ASSERT_TRUE(cold.isOk());
  EXPECT_EQ(second, after(**cold, other)) << "a session that held another picture";
  EXPECT_EQ(first, after(**session, one)) << "and back";
  // Text before the picture is reused, the picture is not.
  auto* core = static_cast<SessionCore*>(session->get());
  EXPECT_LE(core->reusedTokens(), one.images.front().first);
  // The same picture is.
  ModelInput longer = one;
  longer.tokens.push_back(7);
  after(**session, longer);
  EXPECT_GE(core->reusedTokens(), static_cast<std::int64_t>(one.tokens.size()) - 1);
}

// Spans may be cut by segments and passes.
TEST_F(Images, CutAnywhereGivesTheSameBits) {
  open(Numerics::kVendor);
  const ModelInput prompt = input(named("two_images"));
  const std::vector<float> expected = logits(prompt, prompt.tokens.size());
  for (const int segment : {1, 7, 23}) {
    EngineOptions options = m_fixture.options(Numerics::kVendor);
    options.prefillSegment = segment;
    options.prefillChunk = std::min(segment, 3);
    m_engine = m_fixture.open(options);
    ASSERT_NE(m_engine, nullptr);
    EXPECT_EQ(expected, logits(input(named("two_images")), prompt.tokens.size())) << segment;
  }
}

TEST_F(Images, WrongPlacesAreRefusedBeforeAnythingChanges) {
  open(Numerics::kVendor);
  const ModelInput good = input(named("one_image"));
  const auto session = m_engine->newSession();
  ASSERT_TRUE(session.isOk());
  ASSERT_TRUE((*session)->sync(good, {}).isOk());
  const std::vector<float> before((*session)->logits().begin(), (*session)->logits().end());
  ModelInput moved = good;
  moved.images.front().first += 1;
  ModelInput outside = good;
  outside.images.front().first = static_cast<std::int64_t>(good.tokens.size()) - 1;
  ModelInput twice = good;
  twice.images.push_back(twice.images.front());
  ModelInput foreign = good;
  auto small = std::make_shared<EncodedImage>(*good.images.front().image);
  small->rows.pop_back();
  foreign.images.front().image = small;
  for (const ModelInput& bad : {moved, outside, twice, foreign}) {
    EXPECT_EQ((*session)->sync(bad, {}).code(), Code::kUsage);
    EXPECT_EQ((*session)->tokens().size(), good.tokens.size());
    EXPECT_EQ(before, std::vector<float>((*session)->logits().begin(), (*session)->logits().end()));
  }
}

}  // namespace
}  // namespace colibri::test
