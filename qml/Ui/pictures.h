#pragma once

#include <QColor>
#include <QObject>
#include <QQmlEngine>
#include <QString>

namespace colibri::ui {

/// Addresses of icons and patterns. QML singleton `Pictures`, one per engine; making it gives that engine the image
/// providers `icon` and `pattern`, so an address from here always has its provider. GUI thread.
class Pictures : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_SINGLETON

public:
  static Pictures* create(QQmlEngine* engine, QJSEngine* scriptEngine);

  /// The icon resources/icons/NAME.svg in one colour; empty for an empty name.
  Q_INVOKABLE QString icon(const QString& name, const QColor& colour) const;
  /// One tile of a pattern; empty for a name that has none.
  Q_INVOKABLE QString pattern(const QString& name, const QColor& colour) const;
  /// Side of that tile in logical pixels, 0 without a pattern.
  Q_INVOKABLE int tileSize(const QString& name) const;

private:
  explicit Pictures(QObject* parent = nullptr) : QObject(parent) {}
};

}  // namespace colibri::ui
