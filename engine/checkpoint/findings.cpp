#include "checkpoint/findings.h"

#include "checkpoint/json_cursor.h"

#include <utility>

namespace colibri {

Finding makeFinding(std::string_view code, std::string_view file, std::string_view tensor, std::string message,
                    std::string fix) {
  Finding finding;
  finding.code = code;
  finding.file = printable(file, 300);
  finding.tensor = printable(tensor, 512);
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

Finding makeWarning(std::string_view code, std::string_view file, std::string_view tensor, std::string message,
                    std::string fix) {
  Finding finding = makeFinding(code, file, tensor, std::move(message), std::move(fix));
  finding.severity = Severity::kWarning;
  return finding;
}

Status findingStatus(const Finding& finding) {
  return {Code::kCheckpoint, finding.code, finding.fix.empty() ? finding.message : finding.message + " " + finding.fix,
          finding.tensor.empty() ? finding.file : finding.file + ": " + finding.tensor};
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace colibri
