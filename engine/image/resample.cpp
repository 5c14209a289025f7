#include "image/resample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace colibri {
namespace {

constexpr int kPrecisionBits = 22;
constexpr double kSupport = 2.0;
/// Coefficients kept at once. A picture of millions by one pixel would ask for gigabytes of them otherwise.
constexpr std::size_t kCoefficients = std::size_t{1} << 18;

double bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

/// Which source elements make an output, and how much of each.
struct Tap {
  std::size_t first = 0;
  std::vector<std::int32_t> weights;
};

class Axis {
public:
  Axis(int in, int out) : m_in(in), m_scale(static_cast<double>(in) / out) {
    m_filterScale = std::max(m_scale, 1.0);
    m_support = kSupport * m_filterScale;
  }

  /// Outputs whose taps are made at once.
  [[nodiscard]] int blockSize() const {
    return static_cast<int>(std::max<std::size_t>(1, kCoefficients / (2 * static_cast<std::size_t>(m_support) + 3)));
  }

  void fill(int output, Tap& tap) {
    const double center = (output + 0.5) * m_scale;
    const int first = std::max(static_cast<int>(std::trunc(center - m_support + 0.5)), 0);
    const int last = std::min(static_cast<int>(std::trunc(center + m_support + 0.5)), m_in);
    m_exact.clear();
    double total = 0;
    const double step = 1.0 / m_filterScale;
    for (int x = 0; x < last - first; ++x) {
      m_exact.push_back(bicubic((x + first - center + 0.5) * step));
      total += m_exact.back();
    }
    tap.first = static_cast<std::size_t>(first);
    tap.weights.clear();
    for (double weight : m_exact) {
      if (total != 0.0) weight /= total;
      const double scaled = weight * (1 << kPrecisionBits);
      tap.weights.push_back(static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5));
    }
  }

private:
  int m_in;
  double m_scale;
  double m_filterScale = 1;
  double m_support = kSupport;
  std::vector<double> m_exact;
};

std::uint8_t toByte(std::int32_t fixed) {
  return static_cast<std::uint8_t>(std::clamp(fixed >> kPrecisionBits, 0, 255));
}

/// One output value: elements `stride` bytes apart from `source` on.
std::uint8_t weigh(const std::uint8_t* source, std::size_t stride, const Tap& tap) {
  std::int32_t sum = 1 << (kPrecisionBits - 1);
  for (const std::int32_t weight : tap.weights) {
    sum += *source * weight;
    source += stride;
  }
  return toByte(sum);
}

ImagePixels blank(int width, int height) {
  ImagePixels pixels;
  pixels.width = width;
  pixels.height = height;
  pixels.rgb.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  return pixels;
}

/// Calls use(output, tap) for every output of the axis, in blocks; `use` gets a whole block.
template <typename Use>
void forBlocks(int in, int out, const Use& use) {
  Axis axis(in, out);
  const int size = std::min(axis.blockSize(), out);
  std::vector<Tap> taps(static_cast<std::size_t>(size));
  for (int start = 0; start < out; start += size) {
    const int count = std::min(size, out - start);
    for (int i = 0; i < count; ++i) axis.fill(start + i, taps[static_cast<std::size_t>(i)]);
    use(start, std::span(taps).first(static_cast<std::size_t>(count)));
  }
}

ImagePixels scaleRows(const ImagePixels& source, int width) {
  ImagePixels target = blank(width, source.height);
  const std::size_t inStride = static_cast<std::size_t>(source.width) * 3;
  const std::size_t outStride = static_cast<std::size_t>(width) * 3;
  forBlocks(source.width, width, [&](int start, std::span<const Tap> taps) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(source.height); ++y) {
      const std::uint8_t* row = &source.rgb[y * inStride];
      std::uint8_t* out = &target.rgb[y * outStride + static_cast<std::size_t>(start) * 3];
      for (const Tap& tap : taps) {
        for (std::size_t c = 0; c < 3; ++c) *out++ = weigh(row + tap.first * 3 + c, 3, tap);
      }
    }
  });
  return target;
}

ImagePixels scaleColumns(const ImagePixels& source, int height) {
  ImagePixels target = blank(source.width, height);
  const std::size_t stride = static_cast<std::size_t>(source.width) * 3;
  std::vector<std::int32_t> sums(stride);
  forBlocks(source.height, height, [&](int start, std::span<const Tap> taps) {
    std::uint8_t* out = &target.rgb[static_cast<std::size_t>(start) * stride];
    for (const Tap& tap : taps) {
      std::fill(sums.begin(), sums.end(), 1 << (kPrecisionBits - 1));
      const std::uint8_t* in = &source.rgb[tap.first * stride];
      for (const std::int32_t weight : tap.weights) {
        for (std::size_t i = 0; i < stride; ++i) sums[i] += in[i] * weight;
        in += stride;
      }
      for (std::size_t i = 0; i < stride; ++i) *out++ = toByte(sums[i]);
    }
  });
  return target;
}

}  // namespace

ImagePixels resampleBicubic(ImagePixels source, int width, int height) {
  if (source.width != width) source = scaleRows(source, width);
  if (source.height != height) source = scaleColumns(source, height);
  return source;
}

}  // namespace colibri
