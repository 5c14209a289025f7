// Image files to pixels: every form against Pillow's reading of the same file, and files that must be refused.
#include <colibri/image.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace colibri {
namespace {

using testing::HasSubstr;

std::filesystem::path imageFile(const std::string& name) {
  return std::filesystem::path(COLIBRI_GOLDEN_DIR) / "image" / name;
}

std::string bytesOf(const std::string& name) {
  std::ifstream stream(imageFile(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result<ImagePixels> decode(const std::string& bytes, const ImageLimits& limits = {}) {
  return decodeImage(std::as_bytes(std::span(bytes)), limits);
}

struct Form {
  const char* file;
  int tolerance;  ///< of a byte: releases of the JPEG and WebP libraries differ in the last bit
};

class Decoding : public testing::TestWithParam<Form> {};

TEST_P(Decoding, GivesTheSamePixelsAsPillow) {
  const std::string name = GetParam().file;
  const Result<ImagePixels> pixels = loadImage(imageFile(name));
  ASSERT_TRUE(pixels) << pixels.status().message();
  const Result<ImagePixels> expected = loadImage(imageFile(name.substr(0, name.find('.')) + ".expected.png"));
  ASSERT_TRUE(expected) << expected.status().message();
  EXPECT_EQ(pixels->width, 23);
  EXPECT_EQ(pixels->height, 17);
  ASSERT_EQ(pixels->rgb.size(), expected->rgb.size());
  int worst = 0;
  for (std::size_t i = 0; i < pixels->rgb.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<int>(pixels->rgb[i]) - static_cast<int>(expected->rgb[i])));
  }
  EXPECT_LE(worst, GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(Forms, Decoding,
                         testing::Values(Form{"interlaced.png", 0}, Form{"rgba16.png", 0}, Form{"grey16.png", 0},
                                         Form{"grey2.png", 0}, Form{"palette4.png", 0}, Form{"grey_alpha.png", 0},
                                         Form{"colour.jpg", 2}, Form{"progressive.jpg", 2}, Form{"grey.jpg", 2},
                                         Form{"cmyk.jpg", 2}, Form{"rotated.jpg", 2}, Form{"lossless.webp", 0},
                                         Form{"lossy.webp", 2}, Form{"animated.webp", 0}),
                         [](const auto& form) {
                           std::string name = form.param.file;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(DecodingRefusals, NamesWhatCanBeRead) {
  for (const std::string text : {"", "GIF89a......", "\x89PNG", "RIFF", "hello, this is no picture"}) {
    const Result<ImagePixels> pixels = decode(text);
    ASSERT_FALSE(pixels) << text;
    EXPECT_EQ(pixels.status().id(), "image_format");
    EXPECT_THAT(pixels.status().message(), HasSubstr("PNG, JPEG and WebP"));
  }
}

TEST(DecodingRefusals, EveryCutOfAFileIsAnErrorInWords) {
  for (const char* name : {"interlaced.png", "palette4.png", "colour.jpg", "progressive.jpg", "cmyk.jpg",
                           "lossless.webp", "lossy.webp", "animated.webp"}) {
    const std::string whole = bytesOf(name);
    ASSERT_TRUE(decode(whole)) << name;
    // An animation's first frame is complete long before its file.
    const std::size_t last = std::string(name) == "animated.webp" ? whole.size() / 2 : whole.size();
    for (std::size_t size = 0; size < last; size += 1 + size / 16) {
      const Result<ImagePixels> pixels = decode(whole.substr(0, size));
      ASSERT_FALSE(pixels) << name << " cut to " << size;
      EXPECT_THAT(pixels.status().id(), testing::AnyOf("image_damaged", "image_format")) << name << " cut to " << size;
      EXPECT_FALSE(pixels.status().message().empty());
    }
  }
}

TEST(DecodingRefusals, ChangedBytesNeverEndTheProgram) {
  for (const char* name : {"interlaced.png", "palette4.png", "progressive.jpg", "cmyk.jpg", "lossless.webp",
                           "lossy.webp", "animated.webp"}) {
    const std::string whole = bytesOf(name);
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 97) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x55);
      ImageLimits limits;
      limits.pixels = 1 << 16;
      const Result<ImagePixels> pixels = decode(changed, limits);
      EXPECT_TRUE(pixels || pixels.status().code() == Code::kUsage) << name << " at " << at;
    }
  }
}

// The size stands in the header; 61,680 x 61,680 pixels would take 11 GB.
TEST(DecodingRefusals, AHugeSizeIsRefusedBeforeItIsAllocated) {
  std::string jpeg = bytesOf("colour.jpg");
  const std::size_t frame = jpeg.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\xf0\xf0\xf0\xf0");
  const Result<ImagePixels> pixels = decode(jpeg);
  ASSERT_FALSE(pixels);
  EXPECT_EQ(pixels.status().id(), "image_too_large");
  EXPECT_THAT(pixels.status().message(), HasSubstr("61680 x 61680"));
}

TEST(DecodingRefusals, LimitsHoldForEveryFormat) {
  ImageLimits limits;
  limits.pixels = 23 * 17 - 1;
  for (const char* name : {"interlaced.png", "colour.jpg", "lossless.webp", "animated.webp"}) {
    EXPECT_EQ(decode(bytesOf(name), limits).status().id(), "image_too_large") << name;
    EXPECT_EQ(loadImage(imageFile(name), limits).status().id(), "image_too_large") << name;
  }
  limits = {};
  limits.fileBytes = 100;
  EXPECT_EQ(decode(bytesOf("grey.jpg"), limits).status().id(), "image_too_large");
  EXPECT_EQ(loadImage(imageFile("grey.jpg"), limits).status().id(), "image_too_large");
}

TEST(DecodingRefusals, AMissingFileIsNamed) {
  const Result<ImagePixels> pixels = loadImage(imageFile("absent.png"));
  ASSERT_FALSE(pixels);
  EXPECT_EQ(pixels.status().code(), Code::kIo);
  EXPECT_THAT(pixels.status().message(), HasSubstr("absent.png"));
  const Result<ImagePixels> folder = loadImage(std::filesystem::path(COLIBRI_GOLDEN_DIR));
  EXPECT_EQ(folder.status().code(), Code::kIo);
}

}  // namespace
}  // namespace colibri
