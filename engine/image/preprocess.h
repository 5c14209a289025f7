#pragma once
// The released preprocessing: how large an image is for the tower, its pixels at that size, and the tower's input.

#include "checkpoint/model_config.h"
#include <colibri/image.h>
#include <colibri/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace colibri {

/// What an image of some size becomes (spec deepseek-v41 6.1).
struct ImageSize {
  int width = 0;  ///< pixels, a multiple of the patch size
  int height = 0;
  int patchRows = 0;
  int patchColumns = 0;
  ImageGrid grid;
};

struct PreparedImage {
  ImageSize size;
  std::vector<std::uint8_t> pixels;    ///< [height][width][3], scaled and padded
  std::vector<std::uint16_t> patches;  ///< bf16 [patchRows * patchColumns][3 * patch * patch]: channel, row, column
};

/// Least tokens that an image can take: start, one row of the grid with its newline, end.
inline constexpr int kLeastImageTokens = 4;

/// The limit that holds: `wanted`, or the checkpoint's own where it is absent. kUsage "out_of_range" when `wanted` is
/// below kLeastImageTokens or above the checkpoint's.
Result<int> imageTokenLimit(const VisionConfig& config, std::optional<int> wanted);

/// The size for an image of width x height pixels (each at least 1) under a limit of `maxTokens`, all in double
/// precision as the released code. kUsage "out_of_range" when no image fits the limit.
Result<ImageSize> sizeForTower(const VisionConfig& config, int width, int height, int maxTokens);

/// `maxTokens` as in imageTokenLimit(). kUsage when it is out of range or `pixels` are not those of a picture; kMemory.
Result<PreparedImage> prepareImage(const VisionConfig& config, const ImagePixels& pixels,
                                   std::optional<int> maxTokens = std::nullopt);

/// SHA-256 over size and pixels: images of equal ids have equal rows in one model.
[[nodiscard]] std::string imageId(const PreparedImage& image);

}  // namespace colibri
