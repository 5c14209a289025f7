// Image files: an answer for any bytes; a picture that is decoded can be prepared for the tower within its limit.

#include "fuzz/require.h"
#include "image/preprocess.h"

#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace colibri;
  ImageLimits limits;
  limits.pixels = 1 << 18;  // a fuzzer's time is better spent on many small pictures
  const Result<ImagePixels> pixels = decodeImage(std::as_bytes(std::span(data, size)), limits);
  if (!pixels) {
    fuzz::require(!pixels.status().message().empty(), "an error has a sentence");
    return 0;
  }
  fuzz::require(pixels->width > 0 && pixels->height > 0, "a picture has a size");
  const auto count = static_cast<std::size_t>(pixels->width) * static_cast<std::size_t>(pixels->height);
  fuzz::require(count <= static_cast<std::size_t>(limits.pixels), "the limit holds");
  fuzz::require(pixels->rgb.size() == count * 3, "every pixel is there");
  VisionConfig config;
  config.patch = 14;
  config.downsample = 3;
  config.maxImageTokens = 24;
  config.minPixels = 56 * 56;
  const Result<PreparedImage> image = prepareImage(config, *pixels);
  fuzz::require(image.isOk(), "any picture can be prepared");
  fuzz::require(image->size.grid.tokens() <= config.maxImageTokens, "the limit of tokens holds");
  fuzz::require(image->patches.size() == image->pixels.size(), "every pixel is in a patch");
  return 0;
}
