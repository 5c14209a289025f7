#pragma once

#include <QDBusVariant>
#include <QObject>
#include <QQmlEngine>

namespace colibri::ui {

/// Whether the desktop asks for a dark look, and follows it. Asks the settings portal (org.freedesktop.portal.Settings,
/// color-scheme 1 is dark, 2 light, 0 no preference) without waiting for it; without a portal or a preference, the
/// palette of the application decides. GUI thread.
class SystemAppearance : public QObject {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(bool dark READ dark NOTIFY darkChanged)

public:
  explicit SystemAppearance(QObject* parent = nullptr);
  bool dark() const { return m_dark; }

signals:
  void darkChanged();

private slots:
  void onPortalSetting(const QString& group, const QString& key, const QDBusVariant& value);

private:
  void askPortal();
  void setScheme(uint scheme);

  bool m_dark = false;
  bool m_paletteDark = false;
};

}  // namespace colibri::ui
