// Images from the command line: `coli vision`, --image of run and logits, image blocks of messages, images of an
// oracle.
#include "cli_harness.h"
#include "support/golden_file.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

using testing::HasSubstr;

const std::string kVision = goldenPath("v41/vision");
const std::string kModel = kVision + "/checkpoint";

std::string imagePath(const std::string& name) {
  return kVision + "/" + name + ".png";
}

OrderedJson goldenCase(const std::string& name) {
  std::ifstream stream(kVision + "/golden.json");
  const OrderedJson golden = OrderedJson::parse(stream);
  for (const OrderedJson& entry : golden["cases"]) {
    if (entry["name"] == name) return entry;
  }
  ADD_FAILURE() << name;
  return {};
}

void expectNear(const test::GoldenTensor& mine, const test::GoldenTensor& theirs, double bound,
                const std::string& what) {
  ASSERT_EQ(mine.shape, theirs.shape) << what;
  const std::vector<float> a = mine.floats();
  const std::vector<float> b = theirs.floats();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  EXPECT_LE(worst, bound) << what;
}

std::string dataUrl(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  text.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                       reinterpret_cast<const unsigned char*>(bytes.data()),
                                                       static_cast<int>(bytes.size()))));
  return "data:image/png;base64," + text;
}

/// The answer's ids to a conversation of one image and a question.
OrderedJson answerTo(const Cli& coli, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"run", kModel, "--max-tokens", "6", "--ctx", "256", "--numerics", "fp32", "--json"});
  const CliResult result = coli(arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result.code == 0 ? result.lines().back()["tokens"] : OrderedJson();
}

void expectRefused(const CliResult& result, const std::string& id, const std::string& words) {
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\"" + id + "\""));
  EXPECT_THAT(result.err, HasSubstr(words));
}

TEST(VisionCommand, WritesTowerAndAligner) {
  const Cli coli;
  const Scratch scratch;
  const test::GoldenFile golden(kVision + "/golden.safetensors");
  for (const std::string name : {"up", "strip", "alpha"}) {
    const std::string out = scratch.path(name + ".safetensors");
    const CliResult result =
        coli({"vision", kModel, "--image", imagePath(name), "--out", out, "--numerics", "fp32", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const test::GoldenFile written(out);
    for (const std::string part : {"tower", "aligner"}) {
      expectNear(written.tensor(part), golden.tensor("image." + name + ".fp32." + part), 1e-4, name + " " + part);
    }
  }
}

TEST(VisionCommand, ALimitOfTokensIsObeyed) {
  const Cli coli;
  const Scratch scratch;
  const std::string out = scratch.path("o.safetensors");
  const CliResult result =
      coli({"vision", kModel, "--image", imagePath("big"), "--out", out, "--max-image-tokens", "12", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_LE(result.json()["tokens"], 12);
  expectRefused(
      coli({"vision", kModel, "--image", imagePath("big"), "--out", out, "--max-image-tokens", "41", "--json"}),
      "out_of_range", "41");
}

TEST(VisionCommand, RefusesWhatItCannotDo) {
  const Cli coli;
  const Scratch scratch;
  const std::string out = scratch.path("o.safetensors");
  expectRefused(coli({"vision", "--image", imagePath("up"), "--out", out, "--json"}), "no_images", "takes no images");
  expectRefused(coli({"vision", kModel, "--image", imagePath("up"), "--out", out, "--ram", "8G", "--json"}),
                "unavailable_option", "--ram");
  expectRefused(coli({"vision", kModel, "--image", kVision + "/golden.json", "--out", out, "--json"}), "image_format",
                "PNG, JPEG and WebP");
  EXPECT_EQ(coli({"vision", kModel, "--image", imagePath("absent"), "--out", out}).code, 5);
}

TEST(ImageOption, LogitsOfTwoImagesAreTheGoldens) {
  const Cli coli;
  const Scratch scratch;
  const OrderedJson entry = goldenCase("two_images");
  const std::string tokens = scratch.write("tokens.json", entry["prompt_with_placeholders"].dump());
  const std::string out = scratch.path("logits.safetensors");
  const CliResult result = coli({"logits", kModel, "--tokens", tokens, "--image", imagePath("exact"), imagePath("big"),
                                 "--out", out, "--numerics", "fp32"});
  ASSERT_EQ(result.code, 0) << result.err;
  const test::GoldenFile golden(kVision + "/golden.safetensors");
  expectNear(test::GoldenFile(out).tensor("logits"), golden.tensor("two_images.fp32.prefill_logits"), 2e-4, "logits");
  const CliResult swapped = coli({"logits", kModel, "--tokens", tokens, "--image", imagePath("big"), "--image",
                                  imagePath("exact"), "--out", out, "--numerics", "fp32"});
  ASSERT_EQ(swapped.code, 0) << swapped.err;
  EXPECT_NE(test::GoldenFile(out).tensor("logits").floats(), golden.tensor("two_images.fp32.prefill_logits").floats());
}

TEST(ImageOption, RunAnswersTheGoldenTokens) {
  const Cli coli;
  const Scratch scratch;
  const OrderedJson entry = goldenCase("one_image");
  const std::string tokens = scratch.write("tokens.json", entry["prompt_with_placeholders"].dump());
  const OrderedJson greedy = entry["runs"]["fp32"]["greedy"];
  const OrderedJson answer = answerTo(coli, {"--tokens", tokens, "--image", imagePath("up")});
  EXPECT_EQ(answer, OrderedJson(std::vector<int>(greedy.begin(), greedy.begin() + 6)));
}

// One conversation, another image: another answer. However the image arrives, the answer is the same.
TEST(ImageOption, AnImageChangesTheAnswer) {
  const Cli coli;
  const Scratch scratch;
  const OrderedJson up = answerTo(coli, {"--prompt", "What is this", "--image", imagePath("up")});
  const OrderedJson big = answerTo(coli, {"--prompt", "What is this", "--image", imagePath("big")});
  EXPECT_NE(up, big);
  EXPECT_NE(up, answerTo(coli, {"--prompt", "What is this"}));
  const auto messages = [&](const OrderedJson& image) {
    return scratch.write(
        "messages.json",
        OrderedJson{{{"role", "user"}, {"content", {image, {{"type", "text"}, {"text", "What is this"}}}}}}.dump());
  };
  const OrderedJson url{{"url", dataUrl(imagePath("up"))}};
  EXPECT_EQ(answerTo(coli, {"--messages", messages({{"type", "image_url"}, {"image_url", url}})}), up);
  EXPECT_EQ(answerTo(coli, {"--messages", messages({{"type", "image"}, {"path", imagePath("big")}})}), big);
  std::filesystem::copy_file(imagePath("big"), scratch.path("beside.png"));
  EXPECT_EQ(answerTo(coli, {"--messages", messages({{"type", "image"}, {"path", "beside.png"}})}), big);
}

TEST(ImageOption, MistakesAreNamed) {
  const Cli coli;
  const Scratch scratch;
  const std::string tokens = scratch.write("tokens.json", "[0, 415, 9, 415]");
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--json", "--max-tokens", "1"});
    return coli(arguments);
  };
  expectRefused(run({kModel, "--tokens", tokens, "--image", imagePath("up")}), "image_count", "2 places");
  expectRefused(run({kModel, "--tokens", tokens}), "image_count", "0 images");
  expectRefused(run({goldenPath("v4/april") + "/checkpoint", "--tokens", tokens, "--image", imagePath("up")}),
                "no_images", "cannot see images");
  const auto record = [&](const OrderedJson& image) {
    return scratch.write("messages.json", OrderedJson{{{"role", "user"}, {"content", {image}}}}.dump());
  };
  const auto url = [](const std::string& text) {
    return OrderedJson{{"type", "image_url"}, {"image_url", {{"url", text}}}};
  };
  expectRefused(run({kModel, "--messages", record(url("https://example.org/a.png"))}), "bad_image", "network");
  expectRefused(run({kModel, "--messages", record(url("data:image/png;base64,!!!!"))}), "bad_image", "base64");
  expectRefused(run({kModel, "--messages", record(url("data:image/png;base64,"))}), "bad_image", "base64");
  expectRefused(run({kModel, "--messages", record(url("data:image/png,plain"))}), "bad_image", "base64");
  expectRefused(run({kModel, "--messages", record(url("data:image/png;base64,AAAA"))}), "image_format", "PNG");
  expectRefused(run({kModel, "--messages", record({{"type", "image"}})}), "bad_image", "names no file");
  expectRefused(run({kModel, "--messages", record(url("x")), "--image", imagePath("up")}), "usage", "image block");
}

TEST(OracleWithImages, HoldsInBothProfiles) {
  const Cli coli;
  const CliResult result = coli({"oracle", kModel, kVision + "/oracle.json", "--json"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_EQ(result.json()["cases"], 6);
  EXPECT_TRUE(result.json()["ok"]);
}

TEST(OracleWithImages, NeedsItsImages) {
  const Cli coli;
  const Scratch scratch;
  std::ifstream stream(kVision + "/oracle.json");
  OrderedJson oracle = OrderedJson::parse(stream);
  oracle["cases"].erase(oracle["cases"].begin() + 1, oracle["cases"].end());
  const std::string apart = scratch.write("oracle.json", oracle.dump());
  EXPECT_EQ(coli({"oracle", kModel, apart}).code, 5);
  oracle["cases"][0]["images"] = {imagePath("up"), imagePath("big")};
  expectRefused(coli({"oracle", kModel, scratch.write("oracle.json", oracle.dump()), "--json"}), "image_count",
                "2 images");
  oracle["cases"][0]["images"] = {imagePath("up")};
  EXPECT_EQ(coli({"oracle", kModel, scratch.write("oracle.json", oracle.dump())}).code, 0);
  oracle["cases"][0]["teacher"][0]["position"] = 999;
  expectRefused(coli({"oracle", kModel, scratch.write("oracle.json", oracle.dump()), "--json"}), "bad_oracle", "999");
  oracle["cases"][0]["index_keys"] = "mine";
  expectRefused(coli({"oracle", kModel, scratch.write("oracle.json", oracle.dump()), "--json"}), "bad_oracle",
                "index_keys");
  expectRefused(coli({"oracle", kModel, apart, "--index-keys", "owner", "--json"}), "unavailable_index_keys",
                "--index-keys");
}

}  // namespace
}  // namespace colibri
