#pragma once
// Pillow's bicubic resampling, byte for byte.

#include <colibri/image.h>

namespace colibri {

/// Scales to exactly width x height (each at least 1): the kernel with a = -0.5, widened by the scale where the picture
/// shrinks, coefficients in double, normalised, in fixed point with 22 fractional bits; rows first, then columns, each
/// rounded to a byte. A direction that keeps its size is left alone. The source is used up.
[[nodiscard]] ImagePixels resampleBicubic(ImagePixels source, int width, int height);

}  // namespace colibri
