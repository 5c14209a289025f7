#pragma once

#include <QLocale>
#include <QObject>
#include <QQmlEngine>
#include <QString>

namespace colibri::ui {

/// Figures in words, by the rules of the visual guide, section 8. QML singleton `Format`.
/// A number and its unit are joined by U+00A0; separators are the locale's. What is not known (NaN, infinite, negative)
/// is an en dash. Ranges may come in either order. GUI thread.
class Format : public QObject {
  Q_OBJECT
  QML_ELEMENT
  QML_SINGLETON

public:
  explicit Format(QObject* parent = nullptr);

  /// Files and downloads, decimal units, three figures: 18.8 MB, 1,121 GB.
  Q_INVOKABLE QString size(double bytes) const;
  /// Done of total in the total's unit: 102 of 167 GB.
  Q_INVOKABLE QString sizeOf(double bytes, double total) const;
  /// Drive and download rates, decimal units, two figures: 6.8 GB/s, 24 MB/s.
  Q_INVOKABLE QString rate(double bytesPerSecond) const;
  /// A rate against its ceiling: 4.1 of 6.8 GB/s.
  Q_INVOKABLE QString rateOf(double bytesPerSecond, double ceiling) const;
  /// RAM and VRAM, binary, one decimal: 54.0 GiB.
  Q_INVOKABLE QString memory(double bytes) const;
  /// 53.1 of 54.0 GiB
  Q_INVOKABLE QString memoryOf(double bytes, double total) const;
  /// Measured speed, two figures: 2.4 tokens/s, 0.92 tokens/s.
  Q_INVOKABLE QString speed(double tokensPerSecond) const;
  /// Predicted speed, rounded outwards: 2.1–2.8 tokens/s, or "about 2.4 tokens/s" when the ends meet.
  Q_INVOKABLE QString speedRange(double low, double high) const;
  /// Time past: 168.6 s below 1,000 s, then 5 h 54 min.
  Q_INVOKABLE QString duration(double seconds) const;
  /// Predicted time, rounded outwards: 35–45 s, 20 s–3 min.
  Q_INVOKABLE QString durationRange(double low, double high) const;
  /// about 25 s left (steps of 5), about 45 min left, about 1 h 35 min left (steps of 5 min).
  Q_INVOKABLE QString timeLeft(double seconds) const;
  /// A share from 0 to 1 in whole percent: 62 %.
  Q_INVOKABLE QString percent(double share) const;
  /// Grouped, never abbreviated: 15,360.
  Q_INVOKABLE QString count(double number) const;
  /// The number with one of two words: "1 token", "2,233 tokens". `one` and `many` are translated already.
  Q_INVOKABLE QString counted(double number, const QString& one, const QString& many) const;
  /// The exact number of bytes, for tooltips and copying: 18,800,640 bytes.
  Q_INVOKABLE QString exactBytes(double bytes) const;
  /// The en dash of what is not known.
  Q_INVOKABLE QString unknown() const;

private:
  QLocale m_locale;
};

}  // namespace colibri::ui
