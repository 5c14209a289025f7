#include "icon_provider.h"

#include <QDebug>
#include <QFile>
#include <QMutexLocker>
#include <QPainter>
#include <QSvgRenderer>

#include <algorithm>

namespace colibri::ui {

namespace {

constexpr int kGrid = 24;
constexpr int kLargestSide = 512;
// Bytes of pixels kept; the app's icons in three colours at 2x stay below.
constexpr int kCacheBytes = 4 << 20;

QImage draw(const QString& name, const QColor& colour, const QSize& pixels) {
  // A name is one word; anything else could leave the folder.
  const bool plain = std::all_of(name.cbegin(), name.cend(), [](QChar c) { return c.isLetterOrNumber(); });
  QFile file(QStringLiteral(":/colibri/icons/%1.svg").arg(name));
  if (!plain || !file.open(QIODevice::ReadOnly)) {
    qWarning().noquote() << "There is no icon named" << name;
    return {};
  }
  QByteArray svg = file.readAll();
  svg.replace("#000000", colour.name(QColor::HexRgb).toLatin1());
  QSvgRenderer renderer(svg);
  QImage image(pixels, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(colour.alphaF());
  renderer.render(&painter, QRectF(QPointF(0, 0), QSizeF(pixels)));
  return image;
}

}  // namespace

QColor colourOfId(const QString& text) {
  return text.size() == 6 || text.size() == 8 ? QColor(QLatin1Char('#') + text) : QColor();
}

IconProvider::IconProvider() : QQuickImageProvider(QQuickImageProvider::Image), m_cache(kCacheBytes) {}

QImage IconProvider::requestImage(const QString& id, QSize* size, const QSize& requestedSize) {
  const QString name = id.section(QLatin1Char('/'), 0, 0);
  const QColor colour = colourOfId(id.section(QLatin1Char('/'), 1, 1));
  const int width = requestedSize.width() > 0 ? requestedSize.width() : kGrid;
  const int height = requestedSize.height() > 0 ? requestedSize.height() : width;
  const QSize pixels(std::min(width, kLargestSide), std::min(height, kLargestSide));
  if (size) {
    *size = pixels;
  }
  if (!colour.isValid()) {
    qWarning().noquote() << "The icon address" << id << "names no colour";
    return {};
  }
  const QString key = QStringLiteral("%1@%2x%3").arg(id).arg(pixels.width()).arg(pixels.height());
  QMutexLocker lock(&m_mutex);
  if (const QImage* cached = m_cache.object(key)) {
    return *cached;
  }
  QImage image = draw(name, colour, pixels);
  if (!image.isNull()) {
    m_cache.insert(key, new QImage(image), static_cast<int>(image.sizeInBytes()));
  }
  return image;
}

}  // namespace colibri::ui
