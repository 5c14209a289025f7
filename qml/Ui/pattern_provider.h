#pragma once

#include <QImage>
#include <QQuickImageProvider>

namespace colibri::ui {

/// `image://pattern/NAME/COLOUR`: one tile of a pattern of 1-pixel drawings (rise, fall, lines, cross, dots), for an
/// Image with fillMode Tile. COLOUR is rrggbb or aarrggbb. The tile is painted at the requested size, so its lines stay
/// one logical pixel wide at every device ratio; tileSize() gives the logical size. Other names give an empty image.
/// Any thread.
class PatternProvider : public QQuickImageProvider {
public:
  PatternProvider();
  QImage requestImage(const QString& id, QSize* size, const QSize& requestedSize) override;

  /// Side of the tile in logical pixels, 0 for a name that has no pattern (solid, empty).
  static int tileSize(const QString& name);
};

}  // namespace colibri::ui
