#pragma once
// Images: from a file to pixels, and from pixels to what stands in a prompt.

#include <colibri/status.h>
#include <colibri/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace colibri {

/// Decoded pixels, rows from top to bottom, three bytes each (red, green, blue).
struct ImagePixels {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  ///< width * height * 3
};

/// What decodeImage() accepts at most, so that a small file cannot ask for a huge picture.
struct ImageLimits {
  std::uint64_t fileBytes = std::uint64_t{64} << 20;
  std::int64_t pixels = std::int64_t{1} << 26;
};

/// PNG, JPEG or WebP (its first frame), told apart by content. Transparency is dropped, not blended; the orientation in
/// the file's metadata is ignored, as in the released preprocessing. kUsage: "image_format" for anything else,
/// "image_damaged", "image_too_large".
Result<ImagePixels> decodeImage(std::span<const std::byte> file, const ImageLimits& limits = {});
/// The same for a file; kIo when it cannot be read. Errors name the file.
Result<ImagePixels> loadImage(const std::filesystem::path& file, const ImageLimits& limits = {});

/// Rows and columns of the language model's view of an image.
struct ImageGrid {
  int rows = 0;
  int columns = 0;
  /// Prompt tokens of the whole span: start, each row with its newline, end.
  [[nodiscard]] int tokens() const { return rows * (columns + 1) + 2; }
};

/// An image as the language model takes it. Immutable; made by Engine::encodeImage().
struct EncodedImage {
  ImageGrid grid;
  std::vector<float> rows;  ///< [grid.rows * grid.columns][hidden_size], reading order
  std::string id;           ///< hash of the preprocessed pixels: equal ids mean equal rows
};

/// An image's span in a prompt.
struct PlacedImage {
  std::int64_t first = 0;  ///< position of its start token
  std::shared_ptr<const EncodedImage> image;
};

/// A prompt: ids (every position of an image has the image id) and what stands at the image positions.
struct ModelInput {
  std::vector<TokenId> tokens;
  std::vector<PlacedImage> images;  ///< ascending, not overlapping
};

/// Replaces each `imageToken` of `tokens` by the span of the next image. kUsage "image_count" when their numbers
/// differ.
Result<ModelInput> placeImages(std::span<const TokenId> tokens, TokenId imageToken,
                               std::span<const std::shared_ptr<const EncodedImage>> images);

}  // namespace colibri
