#include "pattern_provider.h"

#include "icon_provider.h"

#include <QPainter>

#include <algorithm>

namespace colibri::ui {

namespace {

constexpr int kDiagonal = 8;  // two diagonals, 4 apart
constexpr int kLines = 4;
constexpr int kCross = 6;
constexpr int kDots = 5;
constexpr int kLargestSide = 64;

// Diagonals are stepped pixel by pixel: a tile of antialiased lines would show a seam at its edges.
void drawDiagonals(QImage& image, QRgb colour, bool rising) {
  const int side = image.width();
  const int spacing = side / 2;
  const int thickness = std::max(1, side / kDiagonal);
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int offset = rising ? x + y : x - y + 2 * side;
      if (offset % spacing < thickness) {
        image.setPixel(x, y, colour);
      }
    }
  }
}

}  // namespace

PatternProvider::PatternProvider() : QQuickImageProvider(QQuickImageProvider::Image) {}

int PatternProvider::tileSize(const QString& name) {
  if (name == QLatin1String("rise") || name == QLatin1String("fall")) {
    return kDiagonal;
  }
  return name == QLatin1String("lines")   ? kLines
         : name == QLatin1String("cross") ? kCross
         : name == QLatin1String("dots")  ? kDots
                                          : 0;
}

QImage PatternProvider::requestImage(const QString& id, QSize* size, const QSize& requestedSize) {
  const QString name = id.section(QLatin1Char('/'), 0, 0);
  const QColor colour = colourOfId(id.section(QLatin1Char('/'), 1, 1));
  const int tile = tileSize(name);
  if (tile == 0 || !colour.isValid()) {
    return {};
  }
  const int side = std::clamp(requestedSize.width() > 0 ? requestedSize.width() : tile, tile, kLargestSide);
  const int line = std::max(1, side / tile);
  QImage image(side, side, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  if (name == QLatin1String("lines") || name == QLatin1String("cross")) {
    painter.fillRect(0, 0, side, line, colour);
  }
  if (name == QLatin1String("cross")) {
    painter.fillRect(0, line, line, side - line, colour);
  }
  if (name == QLatin1String("dots")) {
    painter.fillRect(side / 2 - line, side / 2 - line, 2 * line, 2 * line, colour);
  }
  painter.end();
  if (tile == kDiagonal) {
    drawDiagonals(image, qPremultiply(colour.rgba()), name == QLatin1String("rise"));
  }
  if (size) {
    *size = image.size();
  }
  return image;
}

}  // namespace colibri::ui
