#include "pictures.h"

#include "icon_provider.h"
#include "pattern_provider.h"

namespace colibri::ui {

Pictures* Pictures::create(QQmlEngine* engine, QJSEngine* scriptEngine) {
  Q_UNUSED(scriptEngine);
  engine->addImageProvider(QStringLiteral("icon"), new IconProvider);  // the engine owns both
  engine->addImageProvider(QStringLiteral("pattern"), new PatternProvider);
  return new Pictures;
}

QString Pictures::icon(const QString& name, const QColor& colour) const {
  return name.isEmpty() ? QString()
                        : QStringLiteral("image://icon/%1/%2").arg(name, colour.name(QColor::HexArgb).mid(1));
}

QString Pictures::pattern(const QString& name, const QColor& colour) const {
  return tileSize(name) == 0 ? QString()
                             : QStringLiteral("image://pattern/%1/%2").arg(name, colour.name(QColor::HexArgb).mid(1));
}

int Pictures::tileSize(const QString& name) const {
  return PatternProvider::tileSize(name);
}

}  // namespace colibri::ui
