#include "appearance.h"

#include <QSettings>
#include <QStandardPaths>
#include <QStringList>

#include <algorithm>
#include <cmath>

namespace colibri::shell {

namespace {

constexpr double kSmallest = 0.8;
constexpr double kLargest = 2.0;

bool knownTheme(const QString& theme) {
  static const QStringList kThemes = {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark"),
                                      QStringLiteral("contrast")};
  return kThemes.contains(theme);
}

}  // namespace

QString Appearance::path() const {
  return m_file.isEmpty()
             ? QStandardPaths::writableLocation(QStandardPaths::AppConfigLocation) + QStringLiteral("/appearance.ini")
             : m_file;
}

void Appearance::read() {
  if (!m_persistent) {
    return;
  }
  const QSettings settings(path(), QSettings::IniFormat);
  m_reading = true;
  setTheme(settings.value(QStringLiteral("theme"), m_theme).toString());
  bool isNumber = false;
  const double scale = settings.value(QStringLiteral("textScale"), m_textScale).toDouble(&isNumber);
  setTextScale(isNumber ? scale : m_textScale);
  setReducedMotion(settings.value(QStringLiteral("reducedMotion"), m_reducedMotion).toBool());
  m_reading = false;
}

void Appearance::write() const {
  if (!m_persistent || m_reading) {
    return;
  }
  QSettings settings(path(), QSettings::IniFormat);
  settings.setValue(QStringLiteral("theme"), m_theme);
  settings.setValue(QStringLiteral("textScale"), m_textScale);
  settings.setValue(QStringLiteral("reducedMotion"), m_reducedMotion);
}

void Appearance::setPersistent(bool persistent) {
  if (persistent == m_persistent) {
    return;
  }
  m_persistent = persistent;
  read();
  emit persistentChanged();
}

void Appearance::setFile(const QString& file) {
  if (file == m_file) {
    return;
  }
  m_file = file;
  read();
  emit fileChanged();
}

void Appearance::setTheme(const QString& theme) {
  if (theme == m_theme || !knownTheme(theme)) {
    return;
  }
  m_theme = theme;
  write();
  emit themeChanged();
}

void Appearance::setTextScale(double scale) {
  if (!std::isfinite(scale)) {
    return;
  }
  const double clamped = std::clamp(std::round(scale * 100) / 100, kSmallest, kLargest);
  if (clamped == m_textScale) {
    return;
  }
  m_textScale = clamped;
  write();
  emit textScaleChanged();
}

void Appearance::setReducedMotion(bool reduced) {
  if (reduced == m_reducedMotion) {
    return;
  }
  m_reducedMotion = reduced;
  write();
  emit reducedMotionChanged();
}

}  // namespace colibri::shell
