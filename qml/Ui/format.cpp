#include "format.h"

#include <algorithm>
#include <cmath>

namespace colibri::ui {

namespace {

constexpr QChar kNoBreak(0x00A0);
constexpr QChar kEnDash(0x2013);
constexpr double kGibi = 1024.0 * 1024.0 * 1024.0;
constexpr int kSizeFigures = 3;
constexpr int kRateFigures = 2;

bool known(double value) {
  return std::isfinite(value) && value >= 0;
}

int magnitude(double value) {
  return value > 0 ? static_cast<int>(std::floor(std::log10(value))) : 0;
}

enum class Rounding { nearest, down, up };

double roundedTo(double value, int figures, Rounding rounding) {
  if (value <= 0) {
    return 0;
  }
  const double step = std::pow(10.0, magnitude(value) - figures + 1);
  // The tolerance keeps 2.3, stored as 2.2999…, from becoming 2.2 when rounded down.
  const double steps = value / step;
  const double exact = std::round(steps);
  const bool whole = std::abs(steps - exact) < 1e-9 * std::max(1.0, exact);
  const double result = whole                        ? exact
                        : rounding == Rounding::down ? std::floor(steps)
                        : rounding == Rounding::up   ? std::ceil(steps)
                                                     : exact;
  return result * step;
}

// Decimals that show `figures` significant figures of an already rounded value; large values stay whole.
int decimalsFor(double value, int figures) {
  constexpr int kMost = 6;
  return value <= 0 ? 0 : std::clamp(figures - 1 - magnitude(value * (1 + 1e-12)), 0, kMost);
}

QString number(const QLocale& locale, double value, int decimals) {
  return locale.toString(value, 'f', decimals);
}

// Two or three figures; from 10^figures on the number is whole and keeps all its digits.
QString figuresOf(const QLocale& locale, double value, int figures) {
  if (value >= std::pow(10.0, figures)) {
    return number(locale, value, 0);
  }
  const double rounded = roundedTo(value, figures, Rounding::nearest);
  return number(locale, rounded, decimalsFor(rounded, figures));
}

struct Unit {
  double scale;
  QString name;
};

// Decimal unit of a size. Gigabytes reach to 9,999, so that a model and the drive it lies on share their unit.
Unit unitOf(double bytes, int figures) {
  static constexpr double kScales[] = {1, 1e3, 1e6, 1e9, 1e12};
  static constexpr double kLimits[] = {1e3, 1e3, 1e3, 1e4, 0};
  int index = 0;
  while (index < 4 && roundedTo(bytes / kScales[index], std::max(figures, 4), Rounding::nearest) >= kLimits[index]) {
    ++index;
  }
  if (index < 3 && index > 0 && roundedTo(bytes / kScales[index], figures, Rounding::nearest) >= 1e3) {
    ++index;
  }
  const QString names[] = {Format::tr("B"), Format::tr("kB"), Format::tr("MB"), Format::tr("GB"), Format::tr("TB")};
  return {kScales[index], names[index]};
}

QString withUnit(const QString& figure, const QString& unit) {
  return figure + kNoBreak + unit;
}

QString ofTotal(const QString& part, const QString& whole) {
  return Format::tr("%1 of %2").arg(part, whole);
}

QString perSecond(const QString& unit) {
  return Format::tr("%1/s", "a unit of bytes per second").arg(unit);
}

QString range(const QString& low, const QString& high) {
  return low + kEnDash + high;
}

// A part in the unit of its whole; with a unit of its own when it would vanish there.
QString partOf(const QLocale& locale, double part, const Unit& unit, int figures, bool rate) {
  if (part > 0 && part < 0.05 * unit.scale) {
    const Unit own = unitOf(part, figures);
    return withUnit(figuresOf(locale, part / own.scale, figures), rate ? perSecond(own.name) : own.name);
  }
  return figuresOf(locale, part / unit.scale, figures);
}

struct Span {
  QString figure;
  QString unit;
};

// One end of a predicted time.
Span spanOf(const QLocale& locale, double seconds, Rounding rounding) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  const double limit = 100;
  const double scale = seconds < limit ? 1 : seconds < limit * kMinute ? kMinute : kHour;
  const double rounded = roundedTo(seconds / scale, 2, rounding);
  const QString unit = scale == 1 ? Format::tr("s") : scale == kMinute ? Format::tr("min") : Format::tr("h");
  return {number(locale, rounded, decimalsFor(rounded, 2)), unit};
}

}  // namespace

// The C locale groups no digits and belongs to nobody; machines without a language setting get English figures.
Format::Format(QObject* parent)
    : QObject(parent),
      m_locale(QLocale().language() == QLocale::C ? QLocale(QLocale::English, QLocale::UnitedStates) : QLocale()) {}

QString Format::unknown() const {
  return kEnDash;
}

QString Format::size(double bytes) const {
  if (!known(bytes)) {
    return unknown();
  }
  const Unit unit = unitOf(bytes, kSizeFigures);
  return unit.scale == 1 ? withUnit(number(m_locale, std::round(bytes), 0), unit.name)
                         : withUnit(figuresOf(m_locale, bytes / unit.scale, kSizeFigures), unit.name);
}

QString Format::sizeOf(double bytes, double total) const {
  if (!known(bytes) || !known(total)) {
    return known(bytes) ? size(bytes) : unknown();
  }
  const Unit unit = unitOf(total, kSizeFigures);
  return ofTotal(partOf(m_locale, bytes, unit, kSizeFigures, false), size(total));
}

QString Format::rate(double bytesPerSecond) const {
  if (!known(bytesPerSecond)) {
    return unknown();
  }
  const Unit unit = unitOf(bytesPerSecond, kRateFigures);
  return withUnit(figuresOf(m_locale, bytesPerSecond / unit.scale, kRateFigures), perSecond(unit.name));
}

QString Format::rateOf(double bytesPerSecond, double ceiling) const {
  if (!known(bytesPerSecond) || !known(ceiling) || ceiling == 0) {
    return known(bytesPerSecond) ? rate(bytesPerSecond) : unknown();
  }
  const Unit unit = unitOf(ceiling, kRateFigures);
  return ofTotal(partOf(m_locale, bytesPerSecond, unit, kRateFigures, true), rate(ceiling));
}

QString Format::memory(double bytes) const {
  return known(bytes) ? withUnit(number(m_locale, bytes / kGibi, 1), tr("GiB")) : unknown();
}

QString Format::memoryOf(double bytes, double total) const {
  if (!known(bytes) || !known(total)) {
    return memory(bytes);
  }
  return ofTotal(number(m_locale, bytes / kGibi, 1), memory(total));
}

QString Format::speed(double tokensPerSecond) const {
  return known(tokensPerSecond) ? withUnit(figuresOf(m_locale, tokensPerSecond, 2), tr("tokens/s")) : unknown();
}

QString Format::speedRange(double low, double high) const {
  if (!known(low) || !known(high)) {
    return unknown();
  }
  const auto [first, last] = std::minmax(low, high);
  const double down = roundedTo(first, 2, Rounding::down);
  const double up = roundedTo(last, 2, Rounding::up);
  const QString lowText = number(m_locale, down, decimalsFor(down, 2));
  const QString highText = number(m_locale, up, decimalsFor(up, 2));
  return lowText == highText ? tr("about %1").arg(withUnit(lowText, tr("tokens/s")))
                             : withUnit(range(lowText, highText), tr("tokens/s"));
}

QString Format::duration(double seconds) const {
  constexpr double kTable = 1000;
  constexpr double kMost = 1e15;
  if (!known(seconds) || seconds > kMost) {
    return unknown();
  }
  if (std::round(seconds * 10) / 10 < kTable) {
    return withUnit(number(m_locale, seconds, 1), tr("s"));
  }
  const qint64 minutes = std::llround(seconds / 60);
  const QString rest = withUnit(m_locale.toString(minutes % 60), tr("min"));
  return minutes < 60 ? rest : withUnit(m_locale.toString(minutes / 60), tr("h")) + kNoBreak + rest;
}

QString Format::durationRange(double low, double high) const {
  if (!known(low) || !known(high)) {
    return unknown();
  }
  const auto [first, last] = std::minmax(low, high);
  const Span from = spanOf(m_locale, first, Rounding::down);
  const Span to = spanOf(m_locale, last, Rounding::up);
  if (from.unit != to.unit) {
    return range(withUnit(from.figure, from.unit), withUnit(to.figure, to.unit));
  }
  return from.figure == to.figure ? tr("about %1").arg(withUnit(to.figure, to.unit))
                                  : withUnit(range(from.figure, to.figure), to.unit);
}

QString Format::timeLeft(double seconds) const {
  constexpr double kMost = 1e15;
  if (!known(seconds) || seconds > kMost) {
    return unknown();
  }
  const qint64 fives = std::max<qint64>(1, std::llround(seconds / 5)) * 5;
  QString text;
  if (fives < 60) {
    text = withUnit(m_locale.toString(fives), tr("s"));
  } else if (const qint64 minutes = std::llround(seconds / 60); minutes < 60) {
    text = withUnit(m_locale.toString(std::max<qint64>(1, minutes)), tr("min"));
  } else {
    const qint64 rounded = std::llround(seconds / 300) * 5;
    text = withUnit(m_locale.toString(rounded / 60), tr("h"));
    if (rounded % 60 != 0) {
      text += kNoBreak + withUnit(m_locale.toString(rounded % 60), tr("min"));
    }
  }
  return tr("about %1 left").arg(text);
}

QString Format::percent(double share) const {
  return known(share) ? withUnit(number(m_locale, share * 100, 0), QString(m_locale.percent())) : unknown();
}

QString Format::count(double amount) const {
  return known(amount) ? number(m_locale, std::round(amount), 0) : unknown();
}

QString Format::counted(double amount, const QString& one, const QString& many) const {
  return withUnit(count(amount), std::round(amount) == 1 ? one : many);
}

QString Format::exactBytes(double bytes) const {
  return counted(bytes, tr("byte"), tr("bytes"));
}

}  // namespace colibri::ui
