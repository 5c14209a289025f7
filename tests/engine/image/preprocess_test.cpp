// The released preprocessing: pixels and patches of the golden images byte for byte, and sizes at the edges.
#include "image/preprocess.h"

#include "base/hash.h"
#include "image/resample.h"
#include "support/golden_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

namespace colibri {
namespace {

using testing::HasSubstr;

const std::filesystem::path kFixture = std::filesystem::path(COLIBRI_GOLDEN_DIR) / "v41" / "vision";

/// The released model's numbers.
VisionConfig released() {
  VisionConfig config;
  config.layers = 32;
  config.width = 1024;
  config.heads = 16;
  config.inner = 2816;
  config.patch = 14;
  config.downsample = 3;
  config.maxImageTokens = 1024;
  config.minPixels = 544 * 544;
  return config;
}

/// Those of the golden checkpoint (its config.json).
VisionConfig fixture() {
  VisionConfig config = released();
  config.maxImageTokens = 40;
  config.minPixels = 7056;
  return config;
}

ImagePixels grey(int width, int height, std::uint8_t value) {
  ImagePixels pixels{width, height, {}};
  pixels.rgb.assign(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3, value);
  return pixels;
}

class GoldenImages : public testing::TestWithParam<const char*> {};

TEST_P(GoldenImages, PixelsAndPatchesAreEqual) {
  const std::string name = GetParam();
  const test::GoldenFile golden(kFixture / "golden.safetensors");
  const Result<ImagePixels> source = loadImage(kFixture / (name + ".png"));
  ASSERT_TRUE(source) << source.status().message();
  const Result<PreparedImage> image = prepareImage(fixture(), *source);
  ASSERT_TRUE(image) << image.status().message();
  const test::GoldenTensor& pixels = golden.tensor("image." + name + ".pixels_u8");
  EXPECT_EQ(image->size.height, pixels.dim(0));
  EXPECT_EQ(image->size.width, pixels.dim(1));
  EXPECT_EQ(image->size.patchRows * 14, image->size.height);
  EXPECT_EQ(image->size.patchColumns * 14, image->size.width);
  EXPECT_TRUE(image->pixels == pixels.as<std::uint8_t>());
  EXPECT_TRUE(image->patches == golden.tensor("image." + name + ".patches").as<std::uint16_t>());
}

TEST_P(GoldenImages, TakeAsManyTokensAsTheReference) {
  std::ifstream stream(kFixture / "golden.json");
  const nlohmann::json facts = nlohmann::json::parse(stream)["images"][GetParam()];
  const Result<ImageSize> size = sizeForTower(fixture(), facts["width"], facts["height"], 40);
  ASSERT_TRUE(size) << size.status().message();
  EXPECT_EQ(size->patchRows, facts["n_vit_h"]);
  EXPECT_EQ(size->patchColumns, facts["n_vit_w"]);
  EXPECT_EQ(size->grid.rows, facts["n_llm_h"]);
  EXPECT_EQ(size->grid.columns, facts["n_llm_w"]);
  EXPECT_EQ(size->grid.tokens(), facts["n_tokens"]);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenImages,
                         testing::Values("up", "big", "exact", "alpha", "tall", "strip", "palette", "column"),
                         [](const auto& name) { return std::string(name.param); });

TEST(SizeForTower, NoShapeLeavesTheLimit) {
  const int sides[] = {1, 2, 3, 13, 14, 15, 41, 42, 43, 127, 544, 545, 1000, 4096, 99991, 1 << 26};
  for (const int limit : {4, 5, 6, 7, 10, 37, 1024}) {
    for (const int width : sides) {
      for (const int height : sides) {
        const Result<ImageSize> size = sizeForTower(released(), width, height, limit);
        ASSERT_TRUE(size) << width << " x " << height << " in " << limit << ": " << size.status().message();
        EXPECT_LE(size->grid.tokens(), limit) << width << " x " << height;
        EXPECT_GE(size->patchRows, 1);
        EXPECT_GE(size->patchColumns, 1);
        EXPECT_EQ((size->patchRows + 2) / 3, size->grid.rows);
        EXPECT_EQ((size->patchColumns + 2) / 3, size->grid.columns);
      }
    }
  }
}

TEST(SizeForTower, SmallImagesAreEnlargedToTheLeastArea) {
  const Result<ImageSize> size = sizeForTower(released(), 100, 100, 1024);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 546);  // 544 rounded up to whole patches
  EXPECT_EQ(size->height, 546);
}

TEST(SizeForTower, AWidthLimitIsObeyed) {
  VisionConfig config = released();
  config.maxWidthHeightRatio = 2;
  const Result<ImageSize> size = sizeForTower(config, 8000, 1000, 1024);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->width, 2 * size->height);  // 2000 x 1000 under the limit of tokens
  EXPECT_EQ(size->width, 1848);
  const Result<PreparedImage> image = prepareImage(config, grey(800, 100, 9));
  ASSERT_TRUE(image);
  // Stretched, not padded.
  EXPECT_EQ(std::count(image->pixels.begin(), image->pixels.end(), 9),
            static_cast<std::ptrdiff_t>(image->pixels.size()));
}

TEST(PrepareImage, ThinImagesKeepAPixel) {
  for (const auto& [width, height] : {std::pair{1, 100000}, std::pair{100000, 1}, std::pair{1, 1}}) {
    const Result<PreparedImage> image = prepareImage(released(), grey(width, height, 200));
    ASSERT_TRUE(image) << image.status().message();
    EXPECT_LE(image->size.grid.tokens(), 1024);
    EXPECT_EQ(image->pixels.size(), static_cast<std::size_t>(image->size.width) * image->size.height * 3U);
    EXPECT_GT(std::count(image->pixels.begin(), image->pixels.end(), 200), 0) << width << " x " << height;
  }
}

TEST(PrepareImage, ALimitMustBePossible) {
  EXPECT_EQ(prepareImage(released(), grey(50, 50, 1), 3).status().id(), "out_of_range");
  EXPECT_EQ(prepareImage(released(), grey(50, 50, 1), 1025).status().id(), "out_of_range");
  EXPECT_THAT(prepareImage(released(), grey(50, 50, 1), -7).status().message(), HasSubstr("4 to 1024"));
  const Result<PreparedImage> image = prepareImage(released(), grey(50, 50, 1), 4);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->size.grid.tokens(), 4);
}

TEST(PrepareImage, PixelsMustFitTheirSize) {
  EXPECT_EQ(prepareImage(released(), ImagePixels{}).status().id(), "bad_image");
  ImagePixels pixels = grey(10, 10, 1);
  pixels.rgb.pop_back();
  EXPECT_EQ(prepareImage(released(), pixels).status().id(), "bad_image");
}

TEST(ImageId, DependsOnSizeAndPixels) {
  PreparedImage image;
  image.size.width = 28;
  image.size.height = 14;
  image.pixels.assign(28 * 14 * 3, 5);
  const std::string id = imageId(image);
  EXPECT_EQ(id.size(), 64U);
  std::swap(image.size.width, image.size.height);
  EXPECT_NE(imageId(image), id);
  std::swap(image.size.width, image.size.height);
  EXPECT_EQ(imageId(image), id);
  image.pixels.back() = 6;
  EXPECT_NE(imageId(image), id);
}

// More taps than the coefficients that are kept at once, so the output is made in several blocks.
TEST(Resample, AVeryLongRowIsMadeInBlocks) {
  ImagePixels source = grey(300000, 1, 0);
  for (std::size_t x = 150000; x < 300000; ++x) source.rgb[3 * x] = 255;
  const ImagePixels scaled = resampleBicubic(source, 3000, 1);
  ASSERT_EQ(scaled.rgb.size(), 9000U);
  EXPECT_EQ(scaled.rgb[0], 0);
  EXPECT_EQ(scaled.rgb[3 * 1490], 0);
  EXPECT_EQ(scaled.rgb[3 * 1510], 255);
  EXPECT_EQ(scaled.rgb[3 * 2999], 255);
}

}  // namespace
}  // namespace colibri
