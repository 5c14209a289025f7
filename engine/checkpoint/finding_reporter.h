#pragma once
// Counts findings, keeps one kind from drowning the others and hands them on, one at a time.

#include "checkpoint/findings.h"
#include <colibri/checkpoint.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace colibri {

/// Thread-safe. Of each code the first 100 findings are handed on; finish() adds one that counts the rest.
class FindingReporter {
public:
  explicit FindingReporter(const std::function<void(const Finding&)>& onFinding) : m_onFinding(onFinding) {}

  void report(Finding finding);
  void finish();

  [[nodiscard]] std::uint64_t errors() const { return m_errors; }
  [[nodiscard]] std::uint64_t warnings() const { return m_warnings; }
  /// Whether a finding of `code` about `file` has been reported.
  [[nodiscard]] bool has(std::string_view code, std::string_view file) const;

private:
  mutable std::mutex m_mutex;
  const std::function<void(const Finding&)>& m_onFinding;
  std::uint64_t m_errors = 0;
  std::uint64_t m_warnings = 0;
  std::map<std::string, std::uint64_t> m_counts;
  std::map<std::string, Severity> m_worst;
  std::set<std::pair<std::string, std::string>> m_reported;
};

}  // namespace colibri
