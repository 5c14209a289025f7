#pragma once

#include <QCache>
#include <QColor>
#include <QImage>
#include <QMutex>
#include <QQuickImageProvider>

namespace colibri::ui {

/// `image://icon/NAME/COLOUR`: the icon resources/icons/NAME.svg with its stroke in COLOUR (rrggbb or aarrggbb, no
/// '#'). The image has the requested size, which QML gives in device pixels, or the 24-pixel grid without one; an
/// unknown name gives an empty image and a warning. Images are cached by name, colour and size. Any thread.
class IconProvider : public QQuickImageProvider {
public:
  IconProvider();
  QImage requestImage(const QString& id, QSize* size, const QSize& requestedSize) override;

private:
  QMutex m_mutex;
  QCache<QString, QImage> m_cache;
};

/// The colour written as rrggbb or aarrggbb; invalid when it is neither.
QColor colourOfId(const QString& text);

}  // namespace colibri::ui
