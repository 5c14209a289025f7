#pragma once
// One decoder a file format. Each checks the size that the header states against the limits before it asks for memory.

#include <colibri/image.h>
#include <colibri/status.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace colibri {

/// By content alone; the file may still be damaged behind its first bytes.
[[nodiscard]] bool isPng(std::span<const std::byte> file);
[[nodiscard]] bool isJpeg(std::span<const std::byte> file);
[[nodiscard]] bool isWebp(std::span<const std::byte> file);

/// Palettes are resolved, grey becomes three equal bytes, of 16-bit values the high byte counts, alpha is dropped.
Result<ImagePixels> decodePng(std::span<const std::byte> file, const ImageLimits& limits);
/// Baseline and progressive; grey, YCbCr, RGB and (with Adobe's inverted values) CMYK and YCCK.
Result<ImagePixels> decodeJpeg(std::span<const std::byte> file, const ImageLimits& limits);
/// Still pictures, and the first frame of an animation.
Result<ImagePixels> decodeWebp(std::span<const std::byte> file, const ImageLimits& limits);

/// "image_damaged"; `reason` are the decoding library's words.
[[nodiscard]] Status damagedImage(std::string_view format, std::string_view reason);
/// An allocated picture of that size, or "image_too_large" without having allocated anything.
Result<ImagePixels> emptyPixels(std::int64_t width, std::int64_t height, const ImageLimits& limits);

}  // namespace colibri
