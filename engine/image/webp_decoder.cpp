// WebP by libwebp.
#include "image/decoders.h"

#include <webp/decode.h>
#include <webp/demux.h>

#include <cstring>
#include <memory>
#include <utility>

namespace colibri {
namespace {

const std::uint8_t* bytesOf(std::span<const std::byte> file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

struct DeleteDecoder {
  void operator()(WebPAnimDecoder* decoder) const { WebPAnimDecoderDelete(decoder); }
};

Result<ImagePixels> firstFrame(std::span<const std::byte> file, ImagePixels pixels) {
  WebPAnimDecoderOptions options;
  if (WebPAnimDecoderOptionsInit(&options) == 0) return damagedImage("WebP", "another version of the library");
  options.color_mode = MODE_RGBA;
  const WebPData data{bytesOf(file), file.size()};
  const std::unique_ptr<WebPAnimDecoder, DeleteDecoder> decoder(WebPAnimDecoderNew(&data, &options));
  WebPAnimInfo info;
  if (!decoder || WebPAnimDecoderGetInfo(decoder.get(), &info) == 0) return damagedImage("WebP", "its animation");
  // The canvas was checked by the header's size; the animation must have the same.
  if (static_cast<std::int64_t>(info.canvas_width) != pixels.width ||
      static_cast<std::int64_t>(info.canvas_height) != pixels.height) {
    return damagedImage("WebP", "two sizes");
  }
  std::uint8_t* canvas = nullptr;
  int time = 0;
  if (WebPAnimDecoderGetNext(decoder.get(), &canvas, &time) == 0) return damagedImage("WebP", "its first frame");
  const std::size_t count = pixels.rgb.size() / 3;
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&pixels.rgb[3 * i], canvas + 4 * i, 3);
  return pixels;
}

}  // namespace

bool isWebp(std::span<const std::byte> file) {
  return file.size() >= 12 && std::memcmp(file.data(), "RIFF", 4) == 0 && std::memcmp(file.data() + 8, "WEBP", 4) == 0;
}

Result<ImagePixels> decodeWebp(std::span<const std::byte> file, const ImageLimits& limits) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytesOf(file), file.size(), &features) != VP8_STATUS_OK)
    return damagedImage("WebP", "its header");
  COLIBRI_ASSIGN_OR_RETURN(ImagePixels pixels, emptyPixels(features.width, features.height, limits));
  if (features.has_animation != 0) return firstFrame(file, std::move(pixels));
  const auto stride = 3 * pixels.width;
  if (WebPDecodeRGBInto(bytesOf(file), file.size(), pixels.rgb.data(), pixels.rgb.size(), stride) == nullptr) {
    return damagedImage("WebP", "its picture data");
  }
  return pixels;
}

}  // namespace colibri
