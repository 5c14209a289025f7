#include "checkpoint/finding_reporter.h"

#include <utility>

namespace colibri {
namespace {

constexpr std::uint64_t kMaxPerCode = 100;

}  // namespace

void FindingReporter::report(Finding finding) {
  const std::lock_guard lock(m_mutex);
  const bool error = finding.severity == Severity::kError;
  ++(error ? m_errors : m_warnings);
  const std::uint64_t count = ++m_counts[finding.code];
  const auto [worst, added] = m_worst.try_emplace(finding.code, finding.severity);
  if (error) worst->second = Severity::kError;
  if (count > kMaxPerCode) return;
  m_reported.emplace(finding.code, finding.file);
  if (m_onFinding) m_onFinding(finding);
}

void FindingReporter::finish() {
  const std::lock_guard lock(m_mutex);
  for (const auto& [code, count] : m_counts) {
    if (count <= kMaxPerCode) continue;
    Finding finding = makeFinding(code, {}, {}, counted(count - kMaxPerCode, "further finding") + " of this kind.");
    finding.severity = m_worst[code];
    if (m_onFinding) m_onFinding(finding);
  }
}

bool FindingReporter::has(std::string_view code, std::string_view file) const {
  const std::lock_guard lock(m_mutex);
  return m_reported.count({std::string(code), std::string(file)}) != 0;
}

}  // namespace colibri
