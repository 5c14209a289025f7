// Images' spans in a prompt.
#include <colibri/image.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace colibri {
namespace {

std::shared_ptr<const EncodedImage> image(int rows, int columns) {
  auto made = std::make_shared<EncodedImage>();
  made->grid = {rows, columns};
  return made;
}

TEST(PlaceImages, EachPlaceBecomesTheSpanOfTheNextImage) {
  const std::vector<TokenId> tokens{9, 5, 1, 9};
  const std::vector<std::shared_ptr<const EncodedImage>> images{image(1, 1), image(2, 3)};
  const Result<ModelInput> input = placeImages(tokens, 9, images);
  ASSERT_TRUE(input);
  std::vector<TokenId> expected(4, 9);
  expected.insert(expected.end(), {5, 1});
  expected.insert(expected.end(), 10, 9);
  EXPECT_EQ(input->tokens, expected);
  ASSERT_EQ(input->images.size(), 2U);
  EXPECT_EQ(input->images[0].first, 0);
  EXPECT_EQ(input->images[0].image, images[0]);
  EXPECT_EQ(input->images[1].first, 6);
  EXPECT_EQ(input->images[1].image, images[1]);
}

TEST(PlaceImages, NumbersMustMatch) {
  const std::vector<TokenId> tokens{1, 9, 2};
  const std::vector<std::shared_ptr<const EncodedImage>> two{image(1, 1), image(1, 1)};
  EXPECT_EQ(placeImages(tokens, 9, two).status().id(), "image_count");
  EXPECT_EQ(placeImages(tokens, 9, {}).status().id(), "image_count");
  EXPECT_THAT(placeImages(tokens, 9, two).status().message(), testing::HasSubstr("1 places"));
  EXPECT_TRUE(placeImages(tokens, 7, {}));
}

}  // namespace
}  // namespace colibri
