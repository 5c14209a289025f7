#include "system_appearance.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QGuiApplication>
#include <QPalette>

namespace colibri::ui {

namespace {

constexpr auto kService = "org.freedesktop.portal.Desktop";
constexpr auto kPath = "/org/freedesktop/portal/desktop";
constexpr auto kInterface = "org.freedesktop.portal.Settings";
constexpr auto kGroup = "org.freedesktop.appearance";
constexpr auto kKey = "color-scheme";

// The portal's Read wraps its value in two variants, its signal in one.
QVariant unwrapped(QVariant value) {
  while (value.canConvert<QDBusVariant>()) {
    value = value.value<QDBusVariant>().variant();
  }
  return value;
}

}  // namespace

SystemAppearance::SystemAppearance(QObject* parent) : QObject(parent) {
  const QPalette palette = QGuiApplication::palette();
  m_paletteDark = palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
  m_dark = m_paletteDark;
  askPortal();
}

void SystemAppearance::askPortal() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) {
    return;
  }
  bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), this,
              SLOT(onPortalSetting(QString, QString, QDBusVariant)));
  QDBusMessage question = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
  question << QString::fromLatin1(kGroup) << QString::fromLatin1(kKey);
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(question), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
    const QDBusPendingReply<QDBusVariant> reply = *watcher;
    if (reply.isValid()) {
      setScheme(unwrapped(QVariant::fromValue(reply.value())).toUInt());
    }
    watcher->deleteLater();
  });
}

void SystemAppearance::onPortalSetting(const QString& group, const QString& key, const QDBusVariant& value) {
  if (group == QLatin1String(kGroup) && key == QLatin1String(kKey)) {
    setScheme(unwrapped(value.variant()).toUInt());
  }
}

void SystemAppearance::setScheme(uint scheme) {
  const bool dark = scheme == 1 || (scheme != 2 && m_paletteDark);
  if (dark != m_dark) {
    m_dark = dark;
    emit darkChanged();
  }
}

}  // namespace colibri::ui
