#pragma once

#include <QObject>
#include <QQmlEngine>
#include <QString>

namespace colibri::shell {

/// What the user chose about the look, kept in `appearance.ini` in the app's configuration folder (or in `file`).
/// Without `persistent` nothing is read or written: pictures and tests then start from the defaults. Values that a
/// damaged file holds are replaced by the defaults. GUI thread; the file has three lines.
class Appearance : public QObject {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(bool persistent READ persistent WRITE setPersistent NOTIFY persistentChanged)
  Q_PROPERTY(QString file READ file WRITE setFile NOTIFY fileChanged)
  /// "system", "light", "dark" or "contrast"
  Q_PROPERTY(QString theme READ theme WRITE setTheme NOTIFY themeChanged)
  /// 0.8 to 2
  Q_PROPERTY(double textScale READ textScale WRITE setTextScale NOTIFY textScaleChanged)
  Q_PROPERTY(bool reducedMotion READ reducedMotion WRITE setReducedMotion NOTIFY reducedMotionChanged)

public:
  explicit Appearance(QObject* parent = nullptr) : QObject(parent) {}

  bool persistent() const { return m_persistent; }
  void setPersistent(bool persistent);
  QString file() const { return m_file; }
  void setFile(const QString& file);
  QString theme() const { return m_theme; }
  void setTheme(const QString& theme);
  double textScale() const { return m_textScale; }
  void setTextScale(double scale);
  bool reducedMotion() const { return m_reducedMotion; }
  void setReducedMotion(bool reduced);

signals:
  void persistentChanged();
  void fileChanged();
  void themeChanged();
  void textScaleChanged();
  void reducedMotionChanged();

private:
  QString path() const;
  void read();
  void write() const;

  bool m_persistent = false;
  bool m_reading = false;
  QString m_file;
  QString m_theme = QStringLiteral("system");
  double m_textScale = 1.0;
  bool m_reducedMotion = false;
};

}  // namespace colibri::shell
