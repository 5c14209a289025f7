#include "store/reuse_curve.h"

#include <algorithm>
#include <cmath>

namespace colibri {
namespace {

/// Above this unit the bins are scaled down, long before the sums lose digits.
constexpr double kLargestUnit = 1e60;

bool isWeight(double value) {
  return std::isfinite(value) && value >= 0 && value < kLargestUnit;
}

}  // namespace

ReuseCurve::ReuseCurve(std::size_t items, double halfLife)
    : m_stampOf(items, kNever),
      m_itemAt(2 * items + 1, kNever),
      m_tree(2 * items + 2, 0),
      m_growth(halfLife > 0 ? std::exp2(1 / halfLife) : 1),
      m_distances(items, 0) {}

void ReuseCurve::mark(std::size_t stamp, bool present) {
  for (std::size_t i = stamp + 1; i < m_tree.size(); i += i & (~i + 1)) {
    if (present) {
      ++m_tree[i];
    } else {
      --m_tree[i];
    }
  }
}

std::size_t ReuseCurve::markedUpTo(std::size_t stamp) const {
  std::size_t sum = 0;
  for (std::size_t i = stamp + 1; i > 0; i &= i - 1) sum += m_tree[i];
  return sum;
}

void ReuseCurve::renumber() {
  // At most one stamp an item is in use, so at least half of them come free.
  std::fill(m_tree.begin(), m_tree.end(), 0U);
  std::uint32_t next = 0;
  for (std::uint32_t stamp = 0; stamp < m_nextStamp; ++stamp) {
    const std::uint32_t item = m_itemAt[stamp];
    if (item == kNever) continue;
    m_itemAt[stamp] = kNever;
    m_itemAt[next] = item;
    m_stampOf[item] = next;
    ++next;
  }
  m_nextStamp = next;
  // Sums of a run of ones: node i covers as many stamps as its lowest bit says.
  for (std::size_t i = 1; i < m_tree.size(); ++i) {
    const std::size_t width = i & (~i + 1);
    const std::size_t first = i - width;
    m_tree[i] = static_cast<std::uint32_t>(std::min<std::size_t>(i, next) - std::min<std::size_t>(first, next));
  }
}

void ReuseCurve::add(double& bin) {
  m_unit *= m_growth;
  if (m_unit > kLargestUnit) {
    for (double& weight : m_distances) weight /= m_unit;
    m_firstTouches /= m_unit;
    m_unit = 1;
  }
  bin += m_unit;
}

void ReuseCurve::touch(std::size_t item, bool record) {
  if (item >= m_stampOf.size()) return;
  if (m_nextStamp == m_itemAt.size()) renumber();
  const std::uint32_t last = m_stampOf[item];
  if (last == kNever) {
    ++m_touched;
    if (record) add(m_firstTouches);
  } else {
    if (record) add(m_distances[m_touched - markedUpTo(last)]);
    m_itemAt[last] = kNever;
    mark(last, false);
  }
  m_stampOf[item] = m_nextStamp;
  m_itemAt[m_nextStamp] = static_cast<std::uint32_t>(item);
  mark(m_nextStamp, true);
  ++m_nextStamp;
}

double ReuseCurve::weight() const {
  double sum = m_firstTouches;
  for (const double value : m_distances) sum += value;
  return sum / m_unit;
}

double ReuseCurve::hitRate(std::uint64_t slots) const {
  double hits = 0;
  double all = m_firstTouches;
  for (std::size_t d = 0; d < m_distances.size(); ++d) {
    if (d < slots) hits += m_distances[d];
    all += m_distances[d];
  }
  return all > 0 ? hits / all : 0;
}

double ReuseCurve::firstTouchRate() const {
  const double all = weight();
  return all > 0 ? firstTouches() / all : 0;
}

std::vector<double> ReuseCurve::distances() const {
  std::vector<double> weights = m_distances;
  for (double& value : weights) value /= m_unit;
  return weights;
}

bool ReuseCurve::restore(std::span<const double> distances, double firstTouches) {
  if (distances.size() != m_distances.size() || !isWeight(firstTouches)) return false;
  if (!std::all_of(distances.begin(), distances.end(), isWeight)) return false;
  std::copy(distances.begin(), distances.end(), m_distances.begin());
  m_firstTouches = firstTouches;
  m_unit = 1;
  return true;
}

}  // namespace colibri
