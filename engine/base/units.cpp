#include "base/units.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace colibri {
namespace {

std::string inWords(double bytes, double base, const std::array<const char*, 5>& units) {
  std::size_t unit = 0;
  while (bytes >= base && unit + 1 < units.size()) {
    bytes /= base;
    ++unit;
  }
  std::array<char, 32> text{};
  const int digits = unit == 0 || bytes >= 100 ? 0 : bytes >= 10 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, bytes, units[unit]);
  return text.data();
}

}  // namespace

Result<std::uint64_t> parseSize(std::string_view text, std::uint64_t bareUnit) {
  const auto wrong = [&] {
    std::string message = "'";
    message.append(text).append("' is no size; write it like 512M, 8G or 1.5GiB.");
    return Status(Code::kUsage, "bad_size", std::move(message));
  };
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return wrong();
  std::string unit(end, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  double factor = static_cast<double>(bareUnit);
  if (unit == "b") {
    factor = 1;
  } else if (!unit.empty()) {
    const std::size_t power = std::string_view("kmgt").find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return wrong();
    factor = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
  }
  const double bytes = number * factor;
  if (bytes > 0x1p62) return wrong();
  return static_cast<std::uint64_t>(bytes);
}

std::string binarySize(std::uint64_t bytes) {
  return inWords(static_cast<double>(bytes), 1024, {"bytes", "KiB", "MiB", "GiB", "TiB"});
}

std::string decimalSize(double bytes) {
  return inWords(bytes, 1000, {"bytes", "kB", "MB", "GB", "TB"});
}

}  // namespace colibri
