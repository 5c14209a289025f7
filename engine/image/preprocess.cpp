#include "image/preprocess.h"

#include "base/hash.h"
#include "base/numeric_formats.h"
#include "image/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace colibri {
namespace {

constexpr std::uint8_t kGrey = 127;

/// Python's round(): half to even.
double roundEven(double x) {
  const double down = std::floor(x);
  const double part = x - down;
  if (part != 0.5) return part < 0.5 ? down : down + 1;
  return std::fmod(down, 2) == 0 ? down : down + 1;
}

struct Side {
  double pixels = 0;
  double patches = 0;
  double cells = 0;
};

Side sideOf(double pixels, const VisionConfig& config) {
  return {pixels, pixels / config.patch, std::ceil(pixels / config.patch / config.downsample)};
}

double spanTokens(const Side& height, const Side& width) {
  return height.cells * (width.cells + 1) + 2;
}

ImagePixels fitAndPad(const ImagePixels& source, int width, int height) {
  const double ratio = static_cast<double>(source.width) / source.height;
  const double wanted = static_cast<double>(width) / height;
  int innerWidth = width;
  int innerHeight = height;
  // A picture may be too thin for a whole pixel at this size; it keeps one.
  if (ratio > wanted) {
    innerHeight = static_cast<int>(roundEven(static_cast<double>(source.height) / source.width * width));
    innerHeight = std::max(innerHeight, 1);
  } else if (ratio < wanted) {
    innerWidth = std::max(static_cast<int>(roundEven(ratio * height)), 1);
  }
  ImagePixels inner = resampleBicubic(source, innerWidth, innerHeight);
  if (innerWidth == width && innerHeight == height) return inner;
  ImagePixels canvas;
  canvas.width = width;
  canvas.height = height;
  const std::size_t stride = static_cast<std::size_t>(width) * 3;
  canvas.rgb.assign(stride * static_cast<std::size_t>(height), kGrey);
  const auto left = static_cast<std::size_t>(roundEven((width - innerWidth) * 0.5));
  const auto top = static_cast<std::size_t>(roundEven((height - innerHeight) * 0.5));
  const std::size_t innerStride = static_cast<std::size_t>(innerWidth) * 3;
  for (std::size_t y = 0; y < static_cast<std::size_t>(innerHeight); ++y) {
    std::memcpy(&canvas.rgb[(top + y) * stride + left * 3], &inner.rgb[y * innerStride], innerStride);
  }
  return canvas;
}

std::vector<std::uint16_t> patchesOf(const PreparedImage& image, int patch) {
  std::array<std::uint16_t, 256> values{};
  for (std::size_t byte = 0; byte < values.size(); ++byte) {
    values[byte] = floatToBf16((static_cast<float>(byte) / 255.0F - 0.5F) / 0.5F);
  }
  std::vector<std::uint16_t> patches;
  patches.reserve(image.pixels.size());
  const std::size_t stride = static_cast<std::size_t>(image.size.width) * 3;
  const auto side = static_cast<std::size_t>(patch);
  for (std::size_t row = 0; row < static_cast<std::size_t>(image.size.patchRows); ++row) {
    for (std::size_t column = 0; column < static_cast<std::size_t>(image.size.patchColumns); ++column) {
      for (std::size_t channel = 0; channel < 3; ++channel) {
        for (std::size_t y = 0; y < side; ++y) {
          const std::uint8_t* line = &image.pixels[(row * side + y) * stride + column * side * 3 + channel];
          for (std::size_t x = 0; x < side; ++x) patches.push_back(values[line[3 * x]]);
        }
      }
    }
  }
  return patches;
}

}  // namespace

Result<int> imageTokenLimit(const VisionConfig& config, std::optional<int> wanted) {
  const int limit = wanted.value_or(config.maxImageTokens);
  if (limit >= kLeastImageTokens && limit <= config.maxImageTokens) return limit;
  return Status(Code::kUsage, "out_of_range",
                "An image may take " + std::to_string(kLeastImageTokens) + " to " +
                    std::to_string(config.maxImageTokens) + " tokens with this model, not " + std::to_string(limit) +
                    " (--max-image-tokens).");
}

Result<ImageSize> sizeForTower(const VisionConfig& config, int width, int height, int maxTokens) {
  const double patch = config.patch;
  const double cell = patch * config.downsample;
  const double limit = maxTokens;
  double w = width;
  double h = height;
  if (config.maxWidthHeightRatio > 0 && w > h * config.maxWidthHeightRatio) w = h * config.maxWidthHeightRatio;
  const auto least = static_cast<double>(config.minPixels);
  if (0 < w * h && w * h < least) {
    const double scale = std::sqrt(least / (w * h));
    w = std::trunc(w * scale);
    h = std::trunc(h * scale);
  }
  Side across = sideOf(std::ceil(w / patch) * patch, config);
  Side down = sideOf(std::ceil(h / patch) * patch, config);
  if (spanTokens(down, across) > limit) {
    const double aspect = h / w;
    const double cellsAcross = std::sqrt((limit - 2) / aspect + 0.25) - 0.5;
    const double cellsDown = cellsAcross * aspect;
    if (cellsAcross < 1) {
      down = sideOf(std::floor((limit - 2) / 2) * cell, config);
      across = sideOf(cell, config);
    } else if (cellsDown < 1) {
      down = sideOf(cell, config);
      across = sideOf((limit - 3) * cell, config);
    } else {
      const double scale = std::min(std::floor(cellsAcross) * cell / w, std::floor(cellsDown) * cell / h);
      down = sideOf(std::floor(h * scale / patch) * patch, config);
      across = sideOf(std::floor(w * scale / patch) * patch, config);
    }
  }
  if (!(down.cells >= 1) || !(across.cells >= 1) || spanTokens(down, across) > limit) {
    return Status(Code::kUsage, "out_of_range",
                  "An image of " + std::to_string(width) + " x " + std::to_string(height) +
                      " pixels cannot be put into " + std::to_string(maxTokens) +
                      " tokens. Allow more tokens for an image or crop it.");
  }
  ImageSize size;
  size.width = static_cast<int>(across.pixels);
  size.height = static_cast<int>(down.pixels);
  size.patchColumns = static_cast<int>(across.patches);
  size.patchRows = static_cast<int>(down.patches);
  size.grid = {static_cast<int>(down.cells), static_cast<int>(across.cells)};
  return size;
}

Result<PreparedImage> prepareImage(const VisionConfig& config, const ImagePixels& pixels,
                                   std::optional<int> maxTokens) {
  if (pixels.width < 1 || pixels.height < 1 ||
      pixels.rgb.size() != static_cast<std::size_t>(pixels.width) * static_cast<std::size_t>(pixels.height) * 3) {
    return Status(Code::kUsage, "bad_image", "The image has no pixels, or not as many as its size says.");
  }
  COLIBRI_ASSIGN_OR_RETURN(const int limit, imageTokenLimit(config, maxTokens));
  PreparedImage image;
  COLIBRI_ASSIGN_OR_RETURN(image.size, sizeForTower(config, pixels.width, pixels.height, limit));
  try {
    const bool isTooWide = config.maxWidthHeightRatio > 0 && pixels.width >= config.maxWidthHeightRatio * pixels.height;
    ImagePixels scaled = isTooWide ? resampleBicubic(pixels, image.size.width, image.size.height)
                                   : fitAndPad(pixels, image.size.width, image.size.height);
    image.pixels = std::move(scaled.rgb);
    image.patches = patchesOf(image, config.patch);
  } catch (const std::bad_alloc&) {
    return Status(Code::kMemory, "out_of_memory", "The system has no memory left for this image.");
  }
  return image;
}

std::string imageId(const PreparedImage& image) {
  const std::array<std::int32_t, 2> size{image.size.width, image.size.height};
  Sha256 hash;
  hash.update(std::as_bytes(std::span(size)));
  hash.update(std::as_bytes(std::span(image.pixels)));
  return hash.finishHex();
}

}  // namespace colibri
